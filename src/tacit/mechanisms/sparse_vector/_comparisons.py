r"""Comparisons of a stream of values with one noisy threshold: what the sparse vector mechanisms share.

The noisy threshold, `bar` in a state, is threshold + Z + m with Z drawn once and m = round(E Z_i - E Z), a public
constant that takes the bias out of a comparison and costs nothing.  Value q_i is TOP if q_i + Z_i reaches the noisy
threshold, with Z_i drawn afresh.  The transcript is the indices of the TOPs, and ends with the last of `count`.  Given
the noisy threshold, answers are independent: the law of a transcript is a sum over Z of products of tails of Z_i.

Every proof of privacy shifts noises up.  If values move by at most d, noise on the threshold by d and that of each TOP
by 2 d; if all move the same way, by d, as the moves then lie in an interval of length d that contains 0.  On a grid the
moves of a group may be rounded apart, one step further.

Errors.  Let S(t) = P[Z_i >= t] and F(t) = P[Z_i < t].  Given Z, a value more than a below the threshold is TOP with
probability at most s = S(Z + m + a + 1), and one more than a above it is not with at most f = F(Z + m - a - 1).  As
long as nothing has gone wrong, all values that far above were TOP, so there were at most `count`.  Over k values, even
chosen by one who sees Z and all answers, nothing goes wrong with probability at least
    sum_z P[Z = z] min over h <= min(count, k) of (1 - s)^(k - h) (1 - f)^h,
which values that all lie below attain with h = 0.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.distance import Distance, Substitute
from ...core.distance import distance as read_distance
from ...core.errors import BadData, BadParameter, Exhausted
from ...core.exact import down, up
from ...core.interactive import A, Interactive
from ...core.law import Finite
from ...core.mechanism import Y
from ...core.parameters import Number, flag, probability, rational, whole
from ...core.randomness import Source
from ...core.search import least_whole
from ...storage import stored
from .._grid import MAX_STEPS, as_array, max_move_in_steps, power_of_two, steps
from ._comparison_noise import ComparisonNoise, Integers, Masses

StreamValues = Sequence[int] | Sequence[float] | NDArray[Any]
Hits = tuple[int, ...]

_CHUNK = 1 << 14  # comparisons made at a time: noise and values stay in a core's cache
_BLOCKS = 1 << 12  # groups of threshold noises; single ones for scales up to about 100
_CUT = 2.0**-40  # threshold noise that is left out, relative to beta, and counted as wrong
_TAIL = 1e-300  # threshold noise left out of a law, so that what is rarer than that has no mass


@stored("SparseState", ("bar", "asked", "hits"))
@dataclass(frozen=True)
class ComparisonState:
    """A session between two values: the noisy threshold, which is private, and how many values were asked and TOP."""

    bar: int = field(repr=False)
    asked: int = 0
    hits: int = 0


def transcripts(
    masses: Masses, thresholds: Integers, noise: ComparisonNoise, values: Sequence[int], count: int
) -> dict[Any, float]:
    """The probability of each transcript (`Hits`), the noisy threshold being one of these with these masses."""
    ended: dict[Any, float] = {}
    live: dict[Hits, Masses] = {(): masses}
    for i, value in enumerate(values):
        top, bottom = noise.at_least(thresholds - value), noise.below(thresholds - value)
        going, live = live, {}
        for hits, weight in going.items():
            live[hits] = weight * bottom
            if len(hits) + 1 < count:
                live[*hits, i] = weight * top
            else:
                ended[*hits, i] = float(np.sum(weight * top))
    return ended | {hits: float(np.sum(weight)) for hits, weight in live.items()}


@dataclass(frozen=True, init=False, repr=False)
class Comparisons(Interactive[StreamValues, Y, ComparisonState, int | float, A]):
    """Compares the values of a stream with a threshold, until `count` of them have reached it."""

    threshold: Fraction
    sensitivity: Distance[Any]
    grid: Fraction | None
    count: int
    queries: int
    monotone: bool

    def __init__(
        self,
        *,
        threshold: Number,
        sensitivity: Number | Distance[Any],
        grid: Number | None,
        count: int,
        queries: int,
        monotone: bool,
    ) -> None:
        object.__setattr__(self, "threshold", rational("threshold", threshold))
        object.__setattr__(self, "sensitivity", read_distance(sensitivity, "sensitivity"))
        object.__setattr__(self, "grid", None if grid is None else power_of_two("grid", grid))
        object.__setattr__(self, "count", whole("count", count))
        object.__setattr__(self, "queries", whole("queries", queries))
        object.__setattr__(self, "monotone", flag("monotone", monotone))
        if monotone and isinstance(self.sensitivity.relation, Substitute):
            raise BadParameter("monotone", monotone, "False under substitution, which moves values both ways")
        if self.grid is None and self.threshold.denominator != 1:
            raise BadParameter("threshold", threshold, "whole for integer values; for reals, give the mechanism a grid")
        if abs(self._level) > MAX_STEPS:
            raise BadParameter("threshold", threshold, "within +-2^60 steps of the grid")

    @property
    @abstractmethod
    def threshold_noise(self) -> ComparisonNoise:
        """The noise on the threshold, in steps of the grid."""

    @property
    @abstractmethod
    def query_noise(self) -> ComparisonNoise:
        """The noise on each value compared, in steps of the grid."""

    @abstractmethod
    def compared(self, at: int, top: bool, source: Source) -> A:
        """The answer about a value at this step of the grid, which is TOP or not."""

    @property
    def allowed(self) -> str:
        """What one session gives, in words."""
        return f"{self.count} answer{'s' if self.count > 1 else ''} above the threshold"

    def over(self, state: ComparisonState) -> bool:
        """Whether the session has ended."""
        return state.hits >= self.count

    @property
    def folds(self) -> int:
        """How many times as far as the noise on the threshold that of a TOP is shifted, at worst."""
        return 1 if self.monotone else 2

    def shifts(self, by: Number | Distance[Any] | None = None) -> tuple[Distance[Any], int, int]:
        """A distance, and how far it shifts the noise on the threshold and on each TOP, in steps of the grid."""
        d = self.sensitivity if by is None else read_distance(by, zero=True)
        most = max_move_in_steps(d, self.grid, "values")
        if not self.monotone or isinstance(d.relation, Substitute):
            return d, most, 2 * most
        apart = self.grid is not None and most > 0 and d != self.sensitivity
        return d, most, most + apart

    @cached_property
    def _level(self) -> int:
        """The threshold in steps of the grid, rounded as values are."""
        return math.floor(self.threshold / (self.grid or 1) + Fraction(1, 2))

    @cached_property
    def _shift(self) -> int:
        return round(self.query_noise.mean - self.threshold_noise.mean)

    def begin(self, source: Source) -> ComparisonState:
        return ComparisonState(self._level + self._shift + int(self.threshold_noise.draw(source)))

    def step(self, state: ComparisonState, value: int | float, source: Source) -> tuple[ComparisonState, A]:
        if self.over(state):
            raise Exhausted(type(self).__name__, self.allowed)
        at = steps("value", value, self.grid)
        if not isinstance(at, int):
            raise BadData("value", f"an array of shape {at.shape}", "one number")
        top = bool(at + self.query_noise.draw(source) >= state.bar)
        return ComparisonState(state.bar, state.asked + 1, state.hits + top), self.compared(at, top, source)

    def steps(self, values: StreamValues) -> Integers:
        """A stream in steps of the grid."""
        at = steps("values", as_array("values", values), self.grid)
        if isinstance(at, int) or at.ndim != 1:
            raise BadData("values", f"{np.ndim(at)}-dimensional", "a sequence of numbers, one for each query")
        return at

    def hits(self, at: Integers, source: Source) -> Hits:
        """Draw a transcript; every value is compared, so that the time does not depend on where the last TOP is."""
        noisy_threshold, top = self.begin(source).bar, np.empty(at.size, np.bool_)
        for start in range(0, at.size, _CHUNK):
            part = at[start : start + _CHUNK]
            noisy = self.query_noise.draw(source, part.size)
            noisy += part
            top[start : start + _CHUNK] = noisy >= noisy_threshold
        tops = np.searchsorted(np.cumsum(top), np.arange(1, min(self.count, at.size) + 1))
        return tuple(tops[tops < at.size].tolist())

    def transcripts(self, values: StreamValues) -> dict[Any, float]:
        """The law of the transcript."""
        thresholds, masses = self.noisy_thresholds()
        return transcripts(masses, thresholds, self.query_noise, self.steps(values).tolist(), self.count)

    def noisy_thresholds(self) -> tuple[Integers, Masses]:
        """The values of the noisy threshold, in steps of the grid, and their probabilities."""
        low, high = self.threshold_noise.interval(_TAIL)
        z = np.arange(low, high + 1)
        return z + (self._level + self._shift), self.threshold_noise.mass(z)

    def error(self, beta: Number = 0.05, queries: int | None = None) -> float:
        """Over so many queries no TOP is further than this below the threshold, and no other further above it."""
        return self.error_at(down(probability("beta", beta)), queries)

    def error_at(self, beta: float, queries: int | None) -> float:
        """The error at a probability that may be smaller than any beta that `error` takes."""
        a = error_in_steps(
            self.threshold_noise,
            self.query_noise,
            shift=self._shift,
            count=self.count,
            queries=self.queries if queries is None else whole("queries", queries),
            beta=beta,
            log_numbers_within=self.log_numbers_within,
        )
        if self.grid is None:
            return float(a)
        return up((a + Fraction(1, 2) + abs(self._level - self.threshold / self.grid)) * self.grid)

    def log_numbers_within(self, a: int) -> float:
        """ln P[no number that is released is more than a steps off]."""
        return 0.0

    def worst_miss(self, values: StreamValues, hits: Hits, count: int | None = None) -> float:
        """The farthest that a TOP lies below the threshold, or another value that was asked lies above it."""
        reached = hits[-1] + 1 if len(hits) == (count or self.count) else len(values)
        above = np.asarray(values, float)[:reached] - float(self.threshold)
        above[list(hits)] *= -1
        return float(np.max(above, initial=0.0))


class ReleasesIndices(Comparisons[Hits, bool]):
    """Comparisons that release which values are TOP, and nothing more."""

    def compared(self, at: int, top: bool, source: Source) -> bool:
        return top

    def output(self, answers: Sequence[bool]) -> Hits:
        return tuple(i for i, top in enumerate(answers) if top)

    def law(self, x: StreamValues) -> Finite:
        return Finite(self.transcripts(x))

    def sample(self, x: StreamValues, source: Source) -> Hits:
        return self.hits(self.steps(x), source)

    def miss(self, x: StreamValues, y: Hits) -> float:
        return self.worst_miss(x, y)


def error_in_steps(
    threshold_noise: ComparisonNoise,
    query_noise: ComparisonNoise,
    *,
    shift: int,
    count: int,
    queries: int,
    beta: float,
    log_numbers_within: Callable[[int], float],
) -> int:
    """The least a, in steps, for which the bound on errors proves 1 - beta; a group of noises counts as its worst."""
    low, high = threshold_noise.interval(beta * _CUT)
    edges = low + np.arange(_BLOCKS + 1) * -(-(high - low + 1) // _BLOCKS)
    weights = threshold_noise.at_least(edges[:-1]) - threshold_noise.at_least(edges[1:])
    first, last, h = edges[:-1] + shift, edges[1:] - 1 + shift, min(count, queries)

    def good(a: int) -> bool:
        below = _log_not(query_noise.at_least(first + (a + 1)))
        above = _log_not(query_noise.below(last - (a + 1)))
        log_right = (queries - h) * below + h * np.minimum(below, above) + log_numbers_within(a)
        return float(np.sum(weights * -np.expm1(log_right))) + beta * _CUT <= beta

    return least_whole(good)


def _log_not(p: Masses) -> Masses:
    """ln(1 - p), with p cut down to 1 - 2^-53."""
    return np.asarray(np.log1p(-np.minimum(p, 1 - 2.0**-53)))
