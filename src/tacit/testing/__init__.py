"""Public suites: run them on your own mechanisms, methods, engines and ledger stores.

    mechanisms   one example of a mechanism against its own law, and on bad input; `wrong.mechanisms` is a gallery
    workloads    a method for linear queries against what it states; `wrong.methods`
    engines      an engine against the reference, on the random tables of `worlds`, `nodes` and `typed`; `wrong.engines`
    ledgers      a place where a ledger is kept; `wrong.ledgers`
    curators     a curator, in this process or behind a service, by what its methods do
    attacks      a system that answers questions, by default the curator, against every attack
    fuzz         an engine, and a curator above it, against random SQL text (`questions`) about hostile tables
    registry     what no suite runs on
    pytest_plugin    `@private(epsilon=1)`, which makes the claim of any function a test

`sources` and `certify` drive samplers without randomness, and `postgres` starts a server for tests.
"""

from importlib import import_module
from typing import Any

_MODULES = {
    *("attacks", "certify", "curators", "engines", "fuzz", "ledgers", "mechanisms", "postgres", "pytest_plugin"),
    *("registry", "sources", "typed", "workloads", "worlds", "wrong"),
}


def __getattr__(name: str) -> Any:
    """A suite is imported when it is first named."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f".{name}", __name__)
