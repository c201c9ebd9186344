"""Noisy counts on trees of intervals, for range queries."""
