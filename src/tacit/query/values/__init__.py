"""Integer expressions over one row, and their public domains."""
