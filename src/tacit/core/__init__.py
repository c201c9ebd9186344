"""The privacy-critical core: pure functions of values.  No I/O, no clock, no state but the keystream."""
