"""The Python front end: questions written as expressions on a table."""
