"""The selections of a question: keys, aggregates, and outputs computed from released columns."""
