"""Rows that belong to units, and what can be known of them from the question alone."""
