"""The domain of a table, and linear queries on it."""
