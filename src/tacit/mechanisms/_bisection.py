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


def cumulated(counts: Counts, cells: int | None) -> NDArray[np.int64]:
    """The number of records below each edge, from counts in cells."""
    array = as_array("counts", counts)
    if array.ndim != 1 or not array.size or cells not in (None, array.size):
        allowed = f"whole numbers, one for each of {'the' if cells is None else cells} cells"
        raise BadData("counts", f"an array of shape {array.shape}", allowed)
    whole = np.asarray(steps("counts", array, None))
    if whole.min() < 0 or whole.sum(dtype=float) > _MOST_RECORDS:
        raise BadData("counts", "others", "none of them negative, and at most 2^40 in all")
    return np.append(0, np.cumsum(whole))


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

    def gaps(self, below: NDArray[np.int64], low: int, high: int) -> Gaps:
        """The gaps of the scores -|b C_t - a n| of the edges from low to high."""
        inside = below[low : high + 1] - below[low]
        short = np.abs(self.share.denominator * inside - self.share.numerator * inside[-1])
        return np.asarray(short - short.min())


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
