"""What a ledger keeps of linear queries stays readable: releases that were stored once, one for each method.

A class, module or field of `tacit.workloads` that is renamed changes what is written, and with it the names of
questions: who bought an answer would pay again.  To add a method, run this file as a program: it writes what is not
there yet.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from tacit import SUBSTITUTE
from tacit.curator import archive
from tacit.testing.sources import Seeded
from tacit.workloads import METHODS, Domain, Histogram, Price, marginals, prefixes

STORED = Path(__file__).parents[1] / "golden" / "archive.json"
LINE = Domain.of({"x": range(4)})
TABLE = Domain.of({"a": ["x", "y"], "b": ["u", "v", "w"]})
CASES = [
    (prefixes(LINE), [5, 0, 7, 9]),
    (marginals(TABLE, k=1), [3, 1, 4, 1, 5, 7]),
]
PRICES = [Price.of(rho="0.5"), Price.of(epsilon=2), Price.of(epsilon=2, unit=SUBSTITUTE.histogram())]


def purchases(method):
    """What the method would answer, and at which price: the first that it does not refuse, of each workload."""
    for workload, counts in CASES:
        price = next((p for p in PRICES if method.refusal(workload, 21, p) is None), None)
        if price is not None:
            yield workload, Histogram(workload.domain, counts, price.unit), price


def texts(method):
    """What is stored of its releases, and what names them."""
    for workload, data, price in purchases(method):
        released = method.release(workload, data, price, Seeded(1), n=21)
        name = archive.dumps((workload, method, price, 21, None)).decode()
        yield {"name": name, "release": archive.dumps(released).decode()}


def stored():
    return json.loads(STORED.read_text()) if STORED.exists() else {}


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_what_was_stored_is_read_and_named_as_then(method):
    kept = stored()[method.name]
    assert kept and [entry["name"] for entry in kept] == [
        archive.dumps((workload, method, price, 21, None)).decode() for workload, _, price in purchases(method)
    ]
    for entry, (workload, _, _) in zip(kept, purchases(method), strict=True):
        released = archive.loads(entry["release"].encode())
        assert released.method == method.name
        assert released.answers.shape == (workload.queries,) and np.isfinite(released.answers).all()
        assert archive.dumps(released).decode() == entry["release"]


if __name__ == "__main__":
    known = stored()
    known |= {method.name: list(texts(method)) for method in METHODS if method.name not in known}
    STORED.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
