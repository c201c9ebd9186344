"""The sparse vector technique: which of a stream of values lie above a threshold."""
