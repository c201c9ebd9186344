"""Models of a table, fitted to noisy measurements, from which answers are read."""
