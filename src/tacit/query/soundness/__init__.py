"""Checks of a question before it is priced: nothing that a question states about itself is trusted."""
