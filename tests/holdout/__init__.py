"""The holdout: its theorems against exact small cases, its rules against their promises."""
