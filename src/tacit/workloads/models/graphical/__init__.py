"""Distributions on a junction tree, fitted to noisy tables, that grow with what is measured."""
