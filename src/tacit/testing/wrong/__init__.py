"""Wrong mechanisms, methods, engines and ledgers: the suites must refute each of them, by the check that it names."""
