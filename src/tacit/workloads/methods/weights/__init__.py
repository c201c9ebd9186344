"""Multiplicative weights and SmallDB: synthetic tables that answer many queries."""
