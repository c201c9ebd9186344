"""Noisy marginals, their residuals, and weighted records that have them."""
