"""Many marginals of one table at once.

The axes are visited in order, each either kept or summed over, and sums that marginals share are computed once:
all 560 three-way marginals of sixteen bits take about as many additions as thirty passes over the table.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from .data import Floats
from .domain import Axes, Domain

Number = TypeVar("Number", np.int64, np.float64)


@dataclass(frozen=True)
class _Node:
    """A table on the `kept` axes and those not yet visited: sum over the first `skip` of these, split on the next."""

    kept: Axes
    skip: int = 0
    summed: _Node | None = None
    split: _Node | None = None


def _plan(wanted: list[Axes], kept: Axes, axis: int) -> _Node:
    if wanted == [kept]:
        return _Node(kept)
    at = len(kept)  # all begin with what is kept
    first = min(axes[at] for axes in wanted if len(axes) > at)
    without, among = [axes for axes in wanted if first not in axes], [axes for axes in wanted if first in axes]
    return _Node(
        kept,
        first - axis,
        _plan(without, kept, first + 1) if without else None,
        _plan(among, (*kept, first), first + 1),
    )


class AllMarginals:
    """The wanted marginals of any table, each on places among its axes."""

    def __init__(self, wanted: Iterable[Axes]) -> None:
        self._root = _plan(list(dict.fromkeys(wanted)), (), 0)

    def of(self, values: NDArray[Number]) -> dict[Axes, NDArray[Number]]:
        """The marginals of a table; the one on all axes is the table itself, not a copy."""
        marginals: dict[Axes, NDArray[Number]] = {}
        todo = [(self._root, values)]
        while todo:
            node, table = todo.pop()
            at = len(node.kept)
            if node.split is None:
                marginals[node.kept] = table.sum(axis=tuple(range(at, table.ndim))) if table.ndim > at else table
                continue
            if node.skip:
                table = table.sum(axis=tuple(range(at, at + node.skip)))
            if node.summed is not None:
                todo.append((node.summed, table.sum(axis=at)))
            todo.append((node.split, table))
        return marginals


@dataclass(frozen=True)
class Marginalised:
    """Counts on the axes of some tables, and no others."""

    domain: Domain
    tables: dict[Axes, Floats]

    def marginal(self, axes: Axes) -> Floats:
        return self.tables[axes]
