"""Several quantiles by bisection: the middle one first, then those on either side of it among the records there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import BadData
from ._grid import as_array, steps
from ._rule import Gaps

Counts = Sequence[int] | NDArray[Any]
FINEST = 1 << 20  # the largest denominator of a share
_MOST_RECORDS = 1 << 40  # so that a score stays within 2^60
_FARTHEST = 1 << 62
Below = NDArray[np.int64]
Edges = NDArray[np.int64]


def cumulated(counts: Counts, cells: int | None, rows: bool = False) -> Below:
    """The number of records below each edge, from counts in cells; of several tables, each a row, at once."""
    array = as_array("counts", counts)
    if array.ndim != 1 + rows or not array.shape[-1] or cells not in (None, array.shape[-1]):
        allowed = f"whole numbers, one for each of {'the' if cells is None else cells} cells"
        raise BadData("counts", f"an array of shape {array.shape}", allowed)
    whole = np.asarray(steps("counts", array, None))
    if whole.min(initial=0) < 0 or whole.sum(axis=-1, dtype=float).max(initial=0) > _MOST_RECORDS:
        raise BadData("counts", "others", "none of them negative, and at most 2^40 in all")
    below = np.zeros((*array.shape[:-1], array.shape[-1] + 1), np.int64)
    np.cumsum(whole, axis=-1, out=below[..., 1:])
    return below


@dataclass(frozen=True)
class Node:
    """One choice: quantile `at`, between those chosen before on its left and right, at this share of the way."""

    at: int
    left: int
    right: int
    share: Fraction

    @property
    def range(self) -> int:
        """2 max(a, b - a)."""
        return 2 * max(self.share.numerator, self.share.denominator - self.share.numerator)

    def _short(self, below: Below, first: Any, last: Any) -> Gaps:
        """|b C_t - a n|, between edges with `first` and `last` records below them."""
        a, b = self.share.numerator, self.share.denominator
        return np.asarray(np.abs(b * below - ((b - a) * first + a * last)))

    def gaps(self, below: Below, low: int, high: int) -> Gaps:
        """The gaps of the scores -|b C_t - a n| of the edges from low to high."""
        short = self._short(below[low : high + 1], below[low], below[high])
        return np.asarray(short - short.min())

    def row_gaps(self, below: Below, low: Edges, high: Edges) -> Gaps:
        """The same of several tables, each a row with a low and a high of its own; -1 where an edge is not between."""
        row, edge = np.arange(len(below)), np.arange(below.shape[1])
        short = self._short(below, below[row, low][:, None], below[row, high][:, None])
        inside = (edge >= low[:, None]) & (edge <= high[:, None])
        short -= short.min(axis=1, where=inside, initial=_FARTHEST, keepdims=True)
        return np.where(inside, short, -1)


def bisect(quantiles: Sequence[Fraction]) -> tuple[Node, ...]:
    """The choices for increasing quantiles, each after those that bound it; -1 and k are the ends, 0 and 1."""
    aims = (*quantiles, Fraction(1), Fraction(0))

    def split(left: int, right: int) -> Iterator[Node]:
        if right - left > 1:
            at = (left + right) // 2
            yield Node(at, left, right, (aims[at] - aims[left]) / (aims[right] - aims[left]))
            yield from split(left, at)
            yield from split(at, right)

    return tuple(split(-1, len(quantiles)))


def carry(tree: Sequence[Node], own: Callable[[Node], Fraction]) -> list[Fraction]:
    """The error of each quantile: that of its own choice, and in proportion those of the two that bound it."""
    errors = [Fraction(0)] * (len(tree) + 2)
    for node in tree:
        passed = (1 - node.share) * errors[node.left] + node.share * errors[node.right]
        errors[node.at] = passed + own(node)
    return errors[:-2]
