"""All neighbouring tables over a small universe, for claims that are checked by enumeration.

A table is a multiset of records, given as a tuple in the order of the universe.  Under ADD_REMOVE a pair is (with a
record, without it), of tables of at most so many records; under SUBSTITUTE the tables have exactly so many records, and
each pair comes in both orders.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement
from typing import Any

from .distance import AddRemove, Neighbours, Substitute
from .errors import BadParameter
from .parameters import whole

MOST = 1 << 20  # pairs
Table = tuple[Any, ...]


def neighbours(universe: Sequence[Any], size: int, relation: Neighbours) -> Iterator[tuple[Table, Table]]:
    """Every pair of neighbouring tables of at most (ADD_REMOVE) or exactly (SUBSTITUTE) `size` records."""
    whole("size", size)
    given: object = universe
    if not isinstance(given, Sequence) or not given:
        raise BadParameter("universe", type(universe).__name__, "a list of at least one record")
    records = tuple(given)
    if not isinstance(relation, AddRemove | Substitute):
        raise BadParameter("relation", relation, "ADD_REMOVE or SUBSTITUTE")
    if (pairs := count(len(records), size, relation)) > MOST:
        raise BadParameter(
            "size",
            size,
            "small enough to list all pairs",
            says=f"There are {pairs:,} pairs of neighbouring tables of {size} records from a universe of"
            f" {len(records)}; at most {MOST:,} are listed. Use fewer records or a smaller universe.",
        )
    return _removing(records, size) if isinstance(relation, AddRemove) else _substituting(records, size)


def count(universe: int, size: int, relation: Neighbours) -> int:
    """How many pairs there are: u tables with one record more for each of C(u + size - 1, u) smaller ones."""
    if isinstance(relation, AddRemove):
        return universe * math.comb(universe + size - 1, universe)
    return universe * (universe - 1) * math.comb(universe + size - 2, universe - 1)


def _removing(records: Table, size: int) -> Iterator[tuple[Table, Table]]:
    for rest in range(size):
        for places in combinations_with_replacement(range(len(records)), rest):
            smaller = tuple(records[i] for i in places)
            for i in range(len(records)):
                yield tuple(records[j] for j in sorted((*places, i))), smaller


def _substituting(records: Table, size: int) -> Iterator[tuple[Table, Table]]:
    for places in combinations_with_replacement(range(len(records)), size - 1):
        tables = [tuple(records[j] for j in sorted((*places, i))) for i in range(len(records))]
        yield from ((x, y) for i, x in enumerate(tables) for j, y in enumerate(tables) if i != j)
