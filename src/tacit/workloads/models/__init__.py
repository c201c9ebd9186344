"""What answers are read from: models of a table, fitted to noisy measurements."""
