"""The mechanisms, against their own laws and against golden values."""
