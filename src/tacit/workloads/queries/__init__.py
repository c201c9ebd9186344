"""What is asked: the domain of a table, and linear queries on it."""
