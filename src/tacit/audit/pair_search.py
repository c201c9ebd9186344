"""The search for the pair of inputs that a program keeps apart worst.

A lower bound holds for the pair that was tested, so an audit is as good as its pair.  `neighbours` lists the pairs
around one table, and `worst_pair` finds a hard one among any: each round spends the same number of runs on the pairs
that are left and keeps the better half (successive halving).  The pair is then tested with fresh runs, so its bound is
valid although the pair was chosen.

References.  Karnin, Koren, Somekh, ICML 2013, on successive halving.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..core.distance import ADD_REMOVE, AddRemove, Neighbours, Substitute
from ..core.errors import BadParameter
from ..core.parameters import Number, instances, kind_of, whole
from .estimation import MIN_SAMPLES, estimate

Pair = tuple[Any, Any]

_SURE_ENOUGH = "0.999"  # confidence at which pairs are ranked: at less, luck ranks them


def neighbours(records: Sequence[Any], values: Iterable[Any] = (), relation: Neighbours = ADD_REMOVE) -> list[Pair]:
    """Every pair of a list of records and a neighbour of it: one record less, one more, or another in its place.

    `values` are the records that may be added or put in another's place: name extreme ones.
    """
    table, others = list(instances("records", records, object)), list(instances("values", values, object))
    if isinstance(relation, Substitute):
        changed = [[*table[:i], value, *table[i + 1 :]] for i in range(len(table)) for value in others]
    elif isinstance(relation, AddRemove):
        changed = [[*table[:i], *table[i + 1 :]] for i in range(len(table))] + [[*table, value] for value in others]
    else:
        raise BadParameter("relation", kind_of(relation), "ADD_REMOVE or SUBSTITUTE")
    return [(table, other) for other in changed]


def pairs_of(pairs: Iterable[Pair]) -> list[Pair]:
    """The pairs, each checked to be two inputs."""
    listed: tuple[Any, ...] = instances("pairs", pairs, object)
    if not listed or not all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in listed):
        raise BadParameter("pairs", "something else", "pairs of inputs that are neighbours, such as [(0, 1)]")
    return [(x, y) for x, y in listed]


def worst_pair(
    run: Callable[..., Any],
    pairs: Iterable[Pair],
    samples: int = 100_000,
    *,
    delta: Number = 0,
    batch: bool = False,
    last_bits: bool = True,
) -> Pair:
    """The pair on which samples prove the largest epsilon, with `samples` runs on x and on y in each round."""
    left, n = pairs_of(pairs), whole("samples", samples, at_least=MIN_SAMPLES)
    while len(left) > 1:
        each = max(MIN_SAMPLES, n // len(left))
        proved = [
            estimate(run, x, y, each, delta=delta, confidence=_SURE_ENOUGH, batch=batch, last_bits=last_bits).epsilon
            for x, y in left
        ]
        order = sorted(range(len(left)), key=lambda i: -proved[i])
        left = [left[i] for i in order[: (len(left) + 1) // 2]]
    return left[0]
