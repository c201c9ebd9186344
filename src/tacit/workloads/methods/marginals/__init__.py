"""Noisy marginals, planned or chosen adaptively, for tables with many attributes."""
