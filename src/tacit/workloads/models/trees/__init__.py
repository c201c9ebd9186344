"""Counts on a line of values, read from noisy counts on a tree of intervals."""
