"""Private selection: the best of several candidates by a score."""
