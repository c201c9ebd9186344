"""Several quantiles by bisection: the middle one first, then the others on either side, among the records there."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import BadData
from ...core.law import DiscreteLaplaceLaw
from .._grid import as_array, steps
from ._rule import Gaps

BinCountsLike = Sequence[int] | NDArray[Any]
MAX_DENOMINATOR = 1 << 20  # of a share
_MAX_RECORDS = 1 << 40  # so that a score stays within 2^60
_MAX_NOISE = 1 << 61  # more than any score: beyond it nothing changes
Below = NDArray[np.int64]
Ranks = NDArray[np.int64]
CellIndices = NDArray[np.int64]


def cumulated(counts: BinCountsLike, cells: int | None, rows: bool = False) -> Below:
    """The number of records below each edge, from counts in cells; of several tables, each a row, at once."""
    array = as_array("counts", counts)
    if array.ndim != 1 + rows or not array.shape[-1] or cells not in (None, array.shape[-1]):
        allowed = f"whole numbers, one for each of {'the' if cells is None else cells} cells"
        raise BadData("counts", f"an array of shape {array.shape}", allowed)
    whole = np.asarray(steps("counts", array, None))
    if whole.min(initial=0) < 0 or whole.sum(axis=-1, dtype=float).max(initial=0) > _MAX_RECORDS:
        raise BadData("counts", "other counts", "at least 0 each, and at most 2^40 in all")
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
        """The range of the moves of the scores, 2 max(a, b - a), for a share a / b."""
        return 2 * max(self.share.numerator, self.share.denominator - self.share.numerator)

    @property
    def inner(self) -> bool:
        """Whether other quantiles are chosen on either side of this one."""
        return max(self.at - self.left, self.right - self.at) > 1

    def aim(self, first: Any, last: Any) -> Any:
        """b times the rank that is aimed at, between cuts at ranks `first` and `last`."""
        a, b = self.share.numerator, self.share.denominator
        return (b - a) * first + a * last

    def gaps(self, below: Below, aim: Any) -> Gaps:
        """b times the rank distance of each cell, max(0, b #(x < v) - aim, aim - b #(x <= v)): for one of them 0."""
        over = self.share.denominator * below
        over -= aim
        short = -over[..., 1:]
        np.maximum(short, over[..., :-1], out=short)
        return np.maximum(short, 0, out=short)

    def row_gaps(self, below: Below, low: CellIndices, high: CellIndices, aim: Ranks) -> Gaps:
        """The gaps of several tables, each a row with its own low, high and aim; -1 where a cell is not between."""
        short = self.gaps(below, aim[:, None])
        if low.any() or (high < short.shape[1] - 1).any():
            cell = np.arange(short.shape[1])
            np.copyto(short, -1, where=(cell < low[:, None]) | (cell > high[:, None]))
        return short

    def cut(self, noise: Any, aim: Any, least: Any, most: Any) -> Any:
        """The aim with noise, rounded to a rank and clamped to the ranks of the chosen cell, from least to most."""
        b = self.share.denominator
        return np.clip((np.clip(noise, -_MAX_NOISE, _MAX_NOISE) + (aim + b // 2)) // b, least, most)

    def cut_law(self, noise: DiscreteLaplaceLaw, aim: int, least: int, most: int) -> Iterator[tuple[int, float]]:
        """Each rank of a cut with its probability."""
        b = self.share.denominator
        starts = [rank * b - aim - b // 2 for rank in range(least + 1, most + 1)]  # the least noise for each rank
        for rank, first, end in zip(range(least, most + 1), (None, *starts), (*starts, None), strict=True):
            yield rank, _between(noise, first, None if end is None else end - 1)


def _between(noise: DiscreteLaplaceLaw, first: int | None, last: int | None) -> float:
    """P[first <= Z <= last] of noise about 0, to full relative precision; None is no end."""
    if first is not None and first > 0:
        length = math.inf if last is None else last - first + 1
        return -math.expm1(-length / float(noise.scale)) * noise.at_least(first)
    if last is not None and last < 0:
        return _between(noise, -last, None if first is None else -first)
    ends = (last, None if first is None else -first)
    return noise.mass(0) + sum(_between(noise, 1, end) for end in ends)


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


def carry(
    tree: Sequence[Node], own: Callable[[Node], Fraction], cut: Callable[[Node], Fraction]
) -> tuple[Fraction, ...]:
    """The error of each quantile: that of its own choice, and in proportion those of the two cuts that bound it.

    A cut lies in the chosen cell, and as near to the aim as its noise where the cell has the aim.
    """
    values, cuts = ([Fraction(0)] * (len(tree) + 2) for _ in range(2))
    for node in tree:
        passed = (1 - node.share) * cuts[node.left] + node.share * cuts[node.right]
        values[node.at] = passed + own(node)
        cuts[node.at] = passed + max(own(node), cut(node)) if node.inner else Fraction(0)
    return tuple(values[:-2])
