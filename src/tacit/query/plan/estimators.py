r"""Estimators: from noisy measures to an estimate with an interval, which is post-processing and so free.

A recipe holds public numbers alone.  Let T, N be the true total and count of a cell, known to lie in intervals; then

    count, sum   the interval itself; of counts, and of sums of what is never negative, the part that is not negative
    mean         centre + T / N, N >= 1: the extremes of a quotient lie at the ends of both intervals
    variance     E (x - c)^2 - (E x - c)^2, each part of it in an interval; at most a quarter of the squared range
    quantile     the middle of the cell that was chosen; its error is in rows, and the interval the public range
    top          the label that was chosen

Each is clamped to the public range.  Where the noisy count is not positive the estimate is missing, and the interval
is the whole range.  An interval bounds the statistic of the rows in the cell, and holds whenever the intervals of its
measures hold; for a cell without rows, which has no mean, it makes no statement.

Where keys are selected privately, a count y = n + Z is shown only if it is at least the threshold T, so large noise is
seen more often.  The interval [y - r, y + r], with P[|Z| > r] <= beta, then begins at 1 unless y > T + r; and
for every n >= 1 it holds with probability 1 - beta, given that the key is shown.  Proof, for Z symmetric and
log-concave, as Laplace's and Gauss's are.  If n >= T, it fails only if |Z| > r.  Let a = n - T.  Given Z >= -a, that is
P[Z > r] / P[Z >= -a] <= 2 P[Z > r] if a <= r, and 1 - P[|Z| <= r] / P[Z >= -a] if not, both at most P[|Z| > r].  If
n < T, it fails only if y > T + r, and P[Z > T - n + r | Z >= T - n] <= P[Z > r | Z >= 0] <= P[|Z| > r].

Squares are taken of values rounded down to multiples of g steps, so coarse that a square is below 2^30.  If x is
g (y + u), 0 <= u < 1, then x^2 - g^2 y^2 - g x = g^2 (y (2 u - 1) - u (1 - u)): the mean of x^2 is g^2 E y^2 + g E x,
but for at most g^2 (E |y| + 1/4), and E |y| <= sqrt(E y^2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.exact import down, up
from ...storage import stored
from ..select.outputs import ColumnEstimate, Floats, labels, numbers
from ..select.query import AggregateKind
from ..values.domain import ValueDomain

_WORDS = {"date": " days", "timestamp": " seconds"}
_LARGEST_ROOT = 1 << 15
_EXACT = 2.0**53
_ROUNDING = 2.0**-48  # of sums of a few terms, outward


@dataclass(frozen=True)
class NoisyMeasure:
    """A released measure: integers with noise of at most `error_bound`, or the indices that were chosen.

    Counts by which keys were selected are at least `threshold`.  `sum_error` bounds the noise of a sum of so many.
    """

    values: NDArray[Any]
    error_bound: float = 0.0
    threshold: int | None = None
    sum_error: Callable[[int], float] | None = None

    @cached_property
    def floats(self) -> Floats:
        return np.asarray(self.values, np.float64)

    def interval(self) -> tuple[Floats, Floats]:
        size, low = np.abs(self.floats) + self.error_bound, self.floats - self.error_bound
        if self.threshold is not None:
            low = np.where(low > self.threshold, low, 1)
        return _outward(low, self.floats + self.error_bound, np.where(size < _EXACT, 0, size))


@dataclass(frozen=True)
class Squares:
    """Squares of y = floor((x - centre) / coarse), less `middle`: they lie within +-middle, or nearly."""

    coarse: int
    low: int
    high: int

    @classmethod
    def of(cls, domain: ValueDomain, centre: int) -> Squares:
        lower, upper = domain.lower - centre, domain.upper - centre
        coarse = 1
        while max(-(lower // coarse), upper // coarse) > _LARGEST_ROOT:
            coarse *= 2
        return cls(coarse, lower // coarse, upper // coarse)

    @property
    def largest(self) -> int:
        return max(self.low**2, self.high**2)

    @property
    def middle(self) -> int:
        return self.largest // 2


@stored("Recipe", ("kind", "parts", "domain", "centre", "shift", "coarse", "place", "per_unit"), keep=True)
@dataclass(frozen=True)
class Recipe:
    """How an aggregate is computed: `parts` are the indices of its measures, -1 for the counts of selected keys."""

    kind: AggregateKind
    parts: tuple[int, ...]
    domain: ValueDomain
    centre: int = 0  # steps subtracted from each value before it was squared
    shift: int = 0  # steps subtracted from each value in the total for a mean
    coarse: int = 1  # steps in a cell of a quantile
    place: int = 0  # the index of this quantile or label among those chosen together
    per_unit: tuple[int, int] | None = None  # the interval to which a unit's share of a sum is clamped

    @property
    def own(self) -> Fraction:
        """The grid of the result."""
        return Fraction(1) if self.kind in ("count", "units", "distinct") else self.domain.grid

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The public range of a value."""
        d = self.domain
        return down(d.lower * d.grid) + 0.0, up(d.upper * d.grid)  # no minus in front of a zero

    @property
    def width(self) -> str:
        """The width of a cell of a quantile, as text."""
        return f"{float(self.coarse * self.domain.grid):g}{_WORDS.get(self.domain.kind, '')}"

    @property
    def steps(self) -> tuple[Fraction, ...]:
        """The value of one step of each measure."""
        match self.kind:
            case "sum":
                return (self.domain.grid,)
            case "mean":
                return Fraction(1), self.domain.grid
            case "variance" | "deviation":
                coarse = Squares.of(self.domain, self.centre).coarse
                return Fraction(1), self.domain.grid, (coarse * self.domain.grid) ** 2
        return (Fraction(1),)

    def estimate(self, measures: Sequence[NoisyMeasure]) -> ColumnEstimate:
        """The estimate of each cell."""
        parts = [measures[i] for i in self.parts]
        match self.kind:
            case "count" | "units" | "distinct" | "sum":
                return self._additive(parts[0])
            case "mean":
                return self._mean(*parts)
            case "variance" | "deviation":
                return self._variance(*parts)
        return self._chosen(parts[0])

    def _additive(self, part: NoisyMeasure) -> ColumnEstimate:
        low, high = _scaled(*part.interval(), self.own)
        values = times(part.values, self.own)
        counted, d = self.kind != "sum", self.domain
        if counted or d.lower >= 0:  # the truth is not negative; what is shown, if it is, stays within its interval
            low, high = np.minimum(np.maximum(low, 0), values), np.maximum(high, 0)
        elif d.upper <= 0:
            low, high = np.minimum(low, 0), np.maximum(np.minimum(high, 0), values)
        return replace(numbers(values, low, high), sum_error=self._sum_error(part))

    def _sum_error(self, part: NoisyMeasure) -> Callable[[int], float] | None:
        error = part.sum_error
        return None if error is None else lambda terms: up(Fraction(error(terms)) * self.own)

    def _mean(self, count: NoisyMeasure, total: NoisyMeasure) -> ColumnEstimate:
        grid, (least, most) = float(self.domain.grid), self.ends
        low, high = _ratio(total.interval(), count.interval())
        low, high = _outward(low + self.shift, high + self.shift, np.abs([low, high]).max(0) + abs(self.shift))
        value = np.where(count.floats > 0, (total.floats / _positive(count) + self.shift) * grid, np.nan)
        low, high = _scaled(low, high, self.domain.grid)
        return numbers(np.clip(value, least, most), *_within(low, high, value, least, most), count.interval()[0] <= 0)

    def _variance(self, count: NoisyMeasure, total: NoisyMeasure, squares: NoisyMeasure) -> ColumnEstimate:
        s, n = Squares.of(self.domain, self.centre), count.interval()
        moved = self.shift - self.centre  # from the measured mean to the one that is squared
        near = self.domain.lower - self.centre, self.domain.upper - self.centre
        first = [np.clip(end + moved, *near) for end in _ratio(total.interval(), n)]
        second = [np.clip(end + s.middle, 0, s.largest) for end in _ratio(squares.interval(), n)]
        if s.coarse > 1:
            off = s.coarse**2 * (np.sqrt(second[1]) + 0.25)
            low, high = (s.coarse**2 * square + s.coarse * mean for square, mean in zip(second, first, strict=True))
            second = [np.maximum(low - off, 0), high + off]
        nearest = np.where((first[0] <= 0) & (first[1] >= 0), 0, np.minimum(np.abs(first[0]), np.abs(first[1])))
        farthest = np.maximum(np.abs(first[0]), np.abs(first[1]))
        low, high = _outward(second[0] - farthest**2, second[1] - nearest**2, farthest**2 + second[1])
        mean = np.clip(total.floats / _positive(count) + moved, *near)
        value = np.clip(squares.floats / _positive(count) + s.middle, 0, s.largest) * s.coarse**2 - mean**2
        value += s.coarse * mean if s.coarse > 1 else 0
        value = np.where(count.floats > 0, value, np.nan)
        widest = Fraction(self.domain.upper - self.domain.lower) ** 2 / 4
        low, high = (np.clip(end, 0, up(widest)) for end in _within(low, high, value, 0.0, up(widest)))
        value, root = np.clip(value, 0, up(widest)), self.kind == "deviation"
        if root:
            low, high, value = np.sqrt(low), np.sqrt(high), np.sqrt(value)
        grid = self.domain.grid if root else self.domain.grid**2
        return numbers(value * float(grid), *_scaled(low, high, grid), n[0] <= 0)

    def _chosen(self, part: NoisyMeasure) -> ColumnEstimate:
        least = self.domain.lower + np.asarray(part.values)[:, self.place] * self.coarse
        steps = np.minimum(least + (self.coarse - 1) // 2, self.domain.upper)
        if self.domain.kind == "number":
            low, high = (np.full(steps.shape, end) for end in self.ends)
            return numbers(times(steps, self.domain.grid), low, high)
        if self.domain.kind == "boolean":
            return ColumnEstimate("boolean", np.asarray(steps, float), np.zeros(steps.shape), np.ones(steps.shape))
        return labels([self.domain.label(int(step)) for step in steps], noisy=True)


def times(steps: NDArray[Any], grid: Fraction) -> NDArray[Any]:
    """Steps as numbers, which stay integers where they fit 64 bits."""
    largest = max((abs(int(end)) for end in (steps.max(initial=0), steps.min(initial=0))), default=0)
    if grid.denominator == 1 and largest * grid.numerator < 1 << 62:
        return np.asarray(steps, np.int64) * int(grid)
    return np.asarray(steps, np.float64) * float(grid)


def _positive(count: NoisyMeasure) -> Floats:
    return np.maximum(count.floats, 1.0)


def _outward(low: Floats, high: Floats, size: Floats) -> tuple[Floats, Floats]:
    return np.asarray(low - size * _ROUNDING), np.asarray(high + size * _ROUNDING)


def _scaled(low: Floats, high: Floats, grid: Fraction) -> tuple[Floats, Floats]:
    if 1 in grid.as_integer_ratio() and max(grid.as_integer_ratio()).bit_count() == 1:  # a power of two is exact
        return low * float(grid), high * float(grid)
    return _outward(low * float(grid), high * float(grid), np.maximum(np.abs(low), np.abs(high)) * float(grid))


def _ratio(total: tuple[Floats, Floats], count: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """T / N for every T and every N >= 1 in these intervals."""
    few, many = np.maximum(count[0], 1.0), np.maximum(count[1], 1.0)
    low = total[0] / np.where(total[0] < 0, few, many)
    high = total[1] / np.where(total[1] > 0, few, many)
    return _outward(low, high, np.maximum(np.abs(low), np.abs(high)))


def _within(low: Floats, high: Floats, value: Floats, least: float, most: float) -> tuple[Floats, Floats]:
    """An interval clipped to the public range; the whole range where the estimate is missing."""
    unknown = np.isnan(value)
    return np.where(unknown, least, np.clip(low, least, most)), np.where(unknown, most, np.clip(high, least, most))
