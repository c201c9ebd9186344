"""Searches and feature selectors of scikit-learn on a holdout set.  Only `search` imports scikit-learn."""
