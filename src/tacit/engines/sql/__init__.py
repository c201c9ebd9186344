"""Plans as SQL, shared by every database."""
