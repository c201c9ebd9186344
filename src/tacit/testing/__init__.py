"""Public suites: run them on your own mechanisms, methods, engines and ledger stores.

    mechanisms   one example of a mechanism against its own law; `wrong` is a gallery that it must refute
    workloads    a way of answering linear queries against what it states
    engines      an engine against the reference, on the random tables of `worlds`, `nodes` and `typed`
    fuzz         an engine, and a curator above it, against random SQL text (`questions`) about hostile tables
    ledgers      a place where a ledger is kept

`sources` and `certify` drive samplers without randomness, and `postgres` is a server of one's own.
"""
