"""The public facts about a table, and the location of its data."""
