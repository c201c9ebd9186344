"""What is public about a table, and where its data are."""
