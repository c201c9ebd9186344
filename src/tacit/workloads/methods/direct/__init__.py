"""Noise on the answers, on the histogram, or on a strategy chosen for the queries."""
