"""The privacy-critical core: pure functions of values, with no I/O, no clock and no state but the keystream."""
