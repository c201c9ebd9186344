"""What a question selects: keys, aggregates, and outputs computed from released columns."""
