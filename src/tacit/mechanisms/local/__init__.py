"""Local privacy: every person randomizes a report of their own."""
