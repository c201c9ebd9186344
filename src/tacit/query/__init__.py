"""Sensitive tables: public schemas, questions about them, and closed plans."""
