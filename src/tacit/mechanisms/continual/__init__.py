"""Running totals of a stream of counts, released as the stream goes on."""
