"""The SQL front end: questions written as text."""
