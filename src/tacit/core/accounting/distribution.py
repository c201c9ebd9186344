r"""The privacy loss as a random variable.

Definition.  P and Q are the laws of the output of a mechanism on two neighbours; L = ln P(y)/Q(y), y ~ P.  Losses of
mechanisms used one after the other add, even if each is chosen after seeing the last.  The mean of L is KL(P || Q).

Two ways to a delta.     delta(E) = E (1 - e^(E - L))_+  <=  P[L > E].
The left side is the hockey-stick divergence, the least delta at E.  The right side is the delta that a bound on the
tail of L proves.  It is valid, since the variable under the expectation is at most the indicator of L > E, and loose,
since it counts a loss just above E as infinite.

A mechanism is known by a pair that dominates it: no hockey-stick divergence of the mechanism exceeds that of the pair.
L, its moments, tails and quantiles are those of the pair; under sampling, of the pair on a grid.  If the pair is
`attained`, all of this holds for the mechanism itself, on the worst neighbours.  If not, as for the exponential
mechanism and for bare guarantees of privacy, only upper bounds on divergences carry over: the mean is at least the KL
divergence, `delta` is an upper bound with 0 as its lower end, and `tail_delta` is a valid delta.  The law of the
mechanism's own loss is then unknown.

Tails.  The upper tail is the sum of order 1 in `pld/fourier.py`; the lower tail is the upper tail of -L.  A pair in
closed form is symmetric: read backwards, -L under Q has the law of L under P.  So E e^(-zL) = E_Q e^((1 - z) L) =
E e^((z - 1) L).  By Cantelli, P[L <= mean - 2 sd] <= 1/5, from which crossings of levels up to 1/2 are sought.

References.  Dwork and Rothblum 2016 (the privacy loss variable); Dwork and Roth 2014, Lemma 3.17 (from tails to delta);
Cantelli 1928.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from ..errors import BadParameter
from ..exact import Floats, down, up
from ..parameters import Number, probability, rational
from ..pld.composition_bounds import Interval, Sum
from ..pld.dominating_pairs import Complex, Pair
from ..pld.fourier import TrapezoidalSum
from ..pld.grid import Lattice
from .accountants import PLD, Basic, failures
from .loss import Loss

_WIDE, _NARROW = 2.0**-5, 2.0**-9  # windows, as shares of a standard deviation


@dataclass(frozen=True)
class Distribution:
    """The law of the privacy loss of a pair; `reverse` means from Q to P, which differs only under sampling."""

    loss: Loss
    reverse: bool = False

    def __post_init__(self) -> None:
        unknown = [atom for atom in self.loss.terms if not atom.pairs(2.0**-8)]
        if unknown:
            raise BadParameter(
                "loss",
                unknown[0],
                "made of mechanisms with a known dominating pair",
                says=f"The distribution of a loss needs dominating pairs, and {unknown[0]} has none.",
            )

    @cached_property
    def _sum(self) -> Sum:
        spacing, direction = PLD.spacing(self.loss), -1 if self.reverse else 0
        counts: Counter[Pair] = Counter()
        for atom, n in self.loss.terms.items():
            counts[atom.pairs(spacing)[direction]] += n
        return Sum(counts)

    @cached_property
    def _mirrored(self) -> Sum:
        return mirror(self._sum)

    @cached_property
    def _failure(self) -> Fraction:
        return failures(self.loss)

    @property
    def attained(self) -> bool:
        """Whether the mechanisms attain the pair on some neighbours, and are not merely dominated by it."""
        return all(atom.attained for atom in self.loss.terms)

    @property
    def mean(self) -> float:
        """E L where L is finite: the KL divergence of the pair, an upper bound on that of the mechanism."""
        return self._sum.mean

    @property
    def variance(self) -> float:
        """Var L where L is finite."""
        return self._sum.variance

    @property
    def deviation(self) -> float:
        """The standard deviation of L where L is finite."""
        return math.sqrt(self.variance)

    @property
    def infinite(self) -> float:
        """An upper bound on P[L is infinite]: that a guarantee fails, or that a loss lies beyond the grid."""
        return self._with_failure(0.0, 0.0).upper

    def times(self, k: int) -> Distribution:
        """The distribution of the loss of k independent copies together."""
        return Distribution(k * self.loss, self.reverse)

    def delta(self, epsilon: Number) -> Interval:
        """The hockey-stick divergence of the mechanism at epsilon >= 0, from 0 unless the pair is attained."""
        e = rational("epsilon", epsilon)
        if e < 0:
            raise BadParameter("epsilon", epsilon, "at least 0")
        at = down(e)
        if not self.attained:
            return Interval(0.0, self._with_failure(0.0, self._sum.upper_delta(at)).upper)
        delta = self._sum.delta(at)
        return self._with_failure(delta.lower - math.ulp(at), delta.upper)  # delta falls by less than epsilon rises

    def tail_delta(self, epsilon: Number) -> float:
        """An upper bound on P[L > epsilon]: a valid delta at epsilon, never less than the hockey-stick divergence."""
        return self.tail(epsilon).upper

    def tail(self, epsilon: Number) -> Interval:
        """P[L > epsilon] for the loss L of the pair."""
        e, largest = rational("epsilon", epsilon), Basic().total(self.loss)
        if e >= largest:
            return self._with_failure(0.0, 0.0)
        if e < -largest:
            return self._with_failure(down(1 - Fraction(self._sum.infinite)), 1.0)
        if e >= self.mean:
            right = above(self._sum, down(e))
            return self._with_failure(right.lower, right.upper)
        left = above(self._mirrored, down(-e))
        rest = 1 - Fraction(left.upper) - Fraction(self._sum.infinite)
        return self._with_failure(down(rest), up(1 - Fraction(left.lower)))

    def quantile(self, p: Number) -> Interval:
        """The least x for which P[L <= x] is at least p, for the loss L of the pair."""
        below = probability("p", p) / (1 - self._failure) if self._failure < 1 else Fraction(2)
        if below >= 1:
            return Interval(math.inf if below > 1 else self.mean, math.inf)
        if not self._sum.largest:  # L = 0
            return Interval(0.0, 0.0)
        if below < Fraction(1, 2):
            mirrored = crossing(self._mirrored, down(below), up(below))
            return Interval(-mirrored.upper, -mirrored.lower)
        high, low = up(1 - below), down(1 - below - Fraction(self._sum.infinite))
        place = crossing(self._sum, low if low > 0 else high, high)
        return place if low > 0 else Interval(place.lower, math.inf)

    def _with_failure(self, lower: float, upper: float) -> Interval:
        """f + (1 - f) times the probability, infinite losses included: with probability f a guarantee fails."""
        f, highest = self._failure, Fraction(upper) + Fraction(self._sum.infinite)
        return Interval(down(f + (1 - f) * Fraction(max(0.0, lower))), min(1.0, up(f + (1 - f) * highest)))

    def density(self, points: Floats, blur: float) -> Floats:
        """The density of L + N(0, blur^2) for plots, by Fourier's integral, to some seven digits."""
        period = 2 * float(np.abs(points - self.mean).max()) + 16 * (self.deviation + blur)
        if self._sum.spacing:
            period = self._sum.spacing * 2 ** math.ceil(math.log2(period / self._sum.spacing))
        y = np.arange(math.ceil(6 / blur * period / (2 * math.pi))) * (2 * math.pi / period)
        log_wave = np.asarray(-((blur * y) ** 2) / 2 - 1j * y * self.mean)
        with np.errstate(divide="ignore"):
            for pair, n in self._sum.pairs.items():
                log_wave += n * pair.on_line(0.0, y[1], y.size)
        wave = np.exp(log_wave)
        wave[0] /= 2
        return np.asarray((np.exp(-1j * np.outer(points - self.mean, y)) @ wave).real * 2 / period)


@dataclass(frozen=True)
class Mirror(Pair):
    """-L, for the L of a symmetric pair."""

    pair: Pair

    def log_transform(self, z: Complex) -> Complex:
        return self.pair.log_transform(np.asarray(z - 1))

    @property
    def smoothness(self) -> float:
        return self.pair.smoothness

    @property
    def largest(self) -> float:
        return self.pair.largest

    @property
    def mean(self) -> float:
        return -self.pair.mean

    @property
    def variance(self) -> float:
        return self.pair.variance


def mirror(total: Sum) -> Sum:
    """The sum of -L."""
    return Sum({_mirror(pair): n for pair, n in total.pairs.items()})


def _mirror(pair: Pair) -> Pair:
    if isinstance(pair, Lattice):
        return Lattice(pair.step, 1 - pair.first - pair.masses.size, pair.masses[::-1], 0.0)
    return Mirror(pair)


def above(total: Sum, at: float) -> Interval:
    """P[L > e] and P[L >= e] for every e from `at` up to the next float; tightest where below 1/2."""
    if at >= total.largest:
        return Interval(0.0, 0.0)
    if not total.tractable:
        return Interval(0.0, 1.0)
    line = TrapezoidalSum.at(total, at, None, _NARROW, order=1)
    return Interval(max(0.0, _lower(line, math.nextafter(at, math.inf))), min(1.0, line.upper(at)))


def crossing(total: Sum, low: float, high: float) -> Interval:
    """x < y with P[L > x] > high and P[L > y] < low, for nearby levels low <= high <= 1/2."""
    if not total.tractable:
        return Interval(-total.largest, total.largest)
    from scipy.special import ndtri  # imported here, as scipy is slow to load

    deviation = math.sqrt(total.variance)
    bottom, top = total.mean - 2 * deviation, min(_chernoff(total, low), total.largest)
    at = total.mean - deviation * float(ndtri(low))
    for share in (_WIDE, _WIDE, _NARROW):
        line = TrapezoidalSum.at(total, min(at, top - share * deviation), low, share, order=1)
        first, last = max(bottom, line.epsilon - 300 / line.c), top
        while last - first > line.width / 8:
            at = (first + last) / 2
            first, last = (at, last) if line.upper(at) > low else (first, at)
    x, y, step = at - 1.1 * line.width, last, line.width / 8
    while x > bottom and above(total, x).lower <= high:
        x, step = x - step, 2 * step
    step = line.width / 8
    while y < top and above(total, y).upper >= low:
        y, step = y + step, 2 * step
    return Interval(max(x, bottom), min(y, top))


def _lower(line: TrapezoidalSum, at: float) -> float:
    """The lower bound on a tail; masses on a grid were raised, and here that is undone."""
    return line.lower(at) * (1 - line.total.count * 2.0**-31 if line.total.spacing else 1)


def _chernoff(total: Sum, level: float) -> float:
    """An x with P[L > x] <= level, by P[L > x] <= M(c) e^(-cx)."""

    def bound(c: Floats, log_m: Floats) -> Floats:
        return np.asarray((log_m - math.log(level)) / c)

    best = np.array([total.least(bound)])
    return float(bound(best, total.cumulants(best))[0]) + 1e-12 * math.sqrt(total.variance)
