"""Certified bounds on delta and epsilon of a composition, from the transforms of its privacy losses.

Coins of one kind, losses that together take few values, and losses on one grid, are summed outright (`grid.py`); all
others on vertical lines (`fourier.py`), with windows that narrow until the result settles.  The lower bound takes the
narrowest window.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..exact import FEW_ULPS, TINY, Floats
from .dominating_pairs import Coin, Pair
from .fourier import ALIAS, TrapezoidalSum, size, upper_period
from .grid import BinnedPair, Composed, Discrete, Lattice

_WINDOW_SHARES = (0.05, 0.0125, 0.003, 1e-3)  # w over epsilon or the standard deviation of L, the larger of the two
_LOWER_WINDOW_SHARE = 2e-4  # for lower bounds
_MAX_TERMS = 2**17  # about so many are summed for a tail, and twice as many for delta
_TOLERANCE = 1e-4  # an epsilon has settled when a narrower window moves it by this share; a delta, by a fifth of it
_MAX_MEAN = 1e8  # losses this large are left to other accountants
_MAX_COUNT = 2**42  # and so are so many losses: rounding errs by 2^-52 of each in the exponent
_COARSE, _FINE = np.linspace(-1, 1, 9), np.linspace(-1, 1, 33)  # for expensive and for cheap transforms

Height = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True)
class Interval:
    """Certified bounds: the exact value lies between."""

    lower: float
    upper: float


@dataclass(frozen=True)
class Sum:
    """A sum of independent privacy losses, by the number of times that each pair occurs."""

    pairs: Mapping[Pair, int]

    @cached_property
    def count(self) -> int:
        return sum(self.pairs.values())

    @cached_property
    def infinite(self) -> float:
        """An upper bound on the probability that any loss is infinite: 1 - prod (1 - i)^n."""
        if any(pair.infinite >= 1 for pair in self.pairs):
            return 1.0
        none = math.fsum(n * math.log1p(-pair.infinite) for pair, n in self.pairs.items())
        return min(1.0, -math.expm1(none) * FEW_ULPS)

    @cached_property
    def largest(self) -> float:
        return math.fsum(n * pair.largest for pair, n in self.pairs.items()) * FEW_ULPS

    @cached_property
    def mean(self) -> float:
        return math.fsum(n * pair.mean for pair, n in self.pairs.items())

    @cached_property
    def variance(self) -> float:
        return math.fsum(n * pair.variance for pair, n in self.pairs.items())

    @cached_property
    def tractable(self) -> bool:
        """Whether floats can resolve the losses."""
        return self.count <= _MAX_COUNT and abs(self.mean) < _MAX_MEAN and self.variance > 0

    @cached_property
    def smoothness(self) -> float:
        return math.fsum(n * pair.smoothness for pair, n in self.pairs.items()) * (1 - 1e-9)

    @cached_property
    def terms(self) -> int:
        """The largest number of terms to sum, about."""
        return _MAX_TERMS >> 3 if any(isinstance(pair, BinnedPair) for pair in self.pairs) else _MAX_TERMS

    @cached_property
    def spacing(self) -> float:
        """The common spacing of the losses on a grid, or 0 if none is on a grid."""
        return max((pair.spacing for pair in self.pairs), default=0.0)

    @cached_property
    def _highest(self) -> float:
        """ln of a c beyond which c L has lost its digits; any smaller c is as valid."""
        size = self.largest if self.largest < math.inf else abs(self.mean) + math.sqrt(self.variance)
        return min(200.0, math.log(2.0**50 / max(size, 1e-60)))

    def cumulants(self, c: Floats) -> Floats:
        """ln M at real points."""
        return np.asarray(sum(n * pair.cumulant(c) for pair, n in self.pairs.items()))

    def least(self, height: Height, near: float | None = None) -> float:
        """The minimiser c > 0 of a convex height(c, ln M(c)), to a few per cent, on ever finer grids."""
        scale = max(self.variance, 1e-12 * self.mean**2, 1e-300)  # where L hardly varies, a millionth of its mean
        centre, radius = (-0.5 * math.log(scale), 8.0) if near is None else (math.log(near), 0.5)
        grid = _COARSE if any(isinstance(pair, Discrete) for pair in self.pairs) else _FINE
        while 0.1 < radius < 100:
            c = np.exp(np.clip(centre + radius * grid, -200, self._highest))
            with np.errstate(over="ignore", invalid="ignore"):
                heights = height(c, self.cumulants(c))
            best = int(np.argmin(np.where(np.isnan(heights), math.inf, heights)))
            centre = math.log(c[best])
            radius = radius / (grid.size // 2) if 0 < best < grid.size - 1 else 2 * radius
        return math.exp(centre)

    def _saddle(self, epsilon: float, near: float | None = None) -> float:
        return self.least(lambda c, log_m: log_m - c * epsilon - np.log(c) - np.log1p(c), near)

    def _log_chernoff(self, epsilon: float, c: float) -> float:
        """An upper bound on ln delta(E), up to rounding."""
        return float(self.cumulants(np.array([c]))[0]) - c * (epsilon + math.log1p(1 / c)) - math.log1p(c)

    def _chernoff_delta(self, epsilon: float) -> float:
        """An upper bound on delta(E)."""
        c = self._saddle(epsilon)
        exponent, log_m = self._log_chernoff(epsilon, c), float(self.cumulants(np.array([c]))[0])
        rounding = 2.0**-46 * (1 + self.count + abs(log_m) + c * abs(epsilon))
        return max(TINY, math.exp(min(0.0, exponent + rounding)))

    def chernoff(self, delta: float) -> tuple[float, float]:
        """The epsilon of the best order, and its c: delta(E) <= M(c) e^(-cE) c^c / (1 + c)^(1 + c)."""

        def bound(c: Floats, log_m: Floats) -> Floats:
            return np.asarray((log_m - c * np.log1p(1 / c) - np.log1p(c) - math.log(delta)) / c)

        best = np.array([self.least(bound)])
        log_m = self.cumulants(best)
        rounding = 2.0**-46 * (1 + self.count + np.abs(log_m)) / best
        return max(0.0, float((bound(best, log_m) + rounding)[0])), float(best[0])

    @cached_property
    def optimistic(self) -> Sum:
        """A sum that the true one dominates: losses on a grid are joined within cells, not split over their ends."""
        return Sum(
            {pair.inside if isinstance(pair, Lattice) and pair.inside else pair: n for pair, n in self.pairs.items()}
        )

    def _crossing(self, delta: float) -> tuple[TrapezoidalSum, float]:
        """A trapezoidal sum and where it crosses delta, with ever narrower windows until the crossing settles."""
        at, c = self.chernoff(delta)
        at, before = min(at, self.largest), math.inf
        for share in _WINDOW_SHARES:
            line = TrapezoidalSum.at(self, max(at, 0.0), delta, share, c)
            crossing = line.solve(delta)
            if abs(crossing - before) < _TOLERANCE * max(crossing, math.sqrt(self.variance)):
                break
            at, before, c = min(at, crossing), crossing, line.c
        return line, crossing

    def _composed(self, epsilon: float, near: float | None) -> Composed | None:
        """The sum outright, if all losses are on one grid: one transform gives the whole curve about epsilon."""
        one = next(iter(self.pairs)) if len(self.pairs) == 1 else None
        if isinstance(one, Coin) and self.count < 2**22:
            return Composed.of_coins(one.epsilon, self.count)
        if (enumerated := Composed.enumerated(self.pairs)) is not None:
            return enumerated
        lattices = {pair: n for pair, n in self.pairs.items() if isinstance(pair, Lattice)}
        if len(lattices) < len(self.pairs):
            return None
        c = self._saddle(epsilon, near)
        nats = ALIAS + c * epsilon - float(self.cumulants(np.array([c]))[0]) + math.log1p(c) + 3
        period = max(nats / c, upper_period(self, c, epsilon, nats), 8 * math.sqrt(self.variance))
        back = 2 * math.sqrt(self.variance) + ALIAS / c
        cells = (period + back) / self.spacing
        orders = np.array([c] if cells <= size(cells) else [c, 2 * c, 5 * c, 10 * c])
        return Composed.of(lattices, c, epsilon - back, size(cells), orders)

    def upper_epsilon(self, delta: float) -> float:
        """An epsilon E at which delta(E) is at most delta."""
        if not self.tractable:
            return self.largest
        at, c = self.chernoff(delta)
        if (first := self._composed(at, c)) is not None:
            epsilon = max(0.0, first.epsilon(delta)) * FEW_ULPS
            while self.spacing and epsilon < at - math.sqrt(self.variance) and (again := self._composed(epsilon, None)):
                at, epsilon = epsilon, max(0.0, again.epsilon(delta)) * FEW_ULPS
            return min(at, epsilon, self.largest)
        if at > 0.95 * self.largest and self._near_largest(delta) is not None:
            return min(at, self.largest)
        line, crossing = self._crossing(delta)
        epsilon = max(0.0, crossing)
        step = 1e-7 * max(epsilon, line.width)
        while epsilon < at and not line.upper(epsilon) <= delta:
            epsilon, step = epsilon + step, 2 * step
        return min(epsilon, at, self.largest)

    def lower_epsilon(self, delta: float) -> float:
        """An epsilon E at which delta(E) is at least delta, or 0."""
        if self.spacing:
            return self.optimistic.lower_epsilon(delta) if not self.optimistic.spacing else 0.0
        if not self.tractable:
            return 0.0
        near = self._near_largest(delta) if self.largest < math.inf else None
        if near is not None:
            return near
        wide, crossing = self._crossing(delta)
        line = TrapezoidalSum.at(self, max(crossing, 0.0), delta, _LOWER_WINDOW_SHARE, wide.c)
        crossing = line.solve(delta)
        low, step = crossing - line.before, 1e-7 * abs(crossing)
        while low > 0 and line.lower(low) < delta:
            low, step = low - step, 2 * step
        return max(0.0, low)

    def _near_largest(self, delta: float) -> float | None:
        """An epsilon just below the largest loss, if delta(E) is still at least delta there."""
        near = self.largest * (1 - 1.5 * _LOWER_WINDOW_SHARE)
        return near if TrapezoidalSum.at(self, near, delta, _LOWER_WINDOW_SHARE).lower(near) >= delta else None

    def upper_delta(self, epsilon: float) -> float:
        """An upper bound on delta(E)."""
        if epsilon >= self.largest:
            return 0.0
        if not self.tractable:
            return min(1.0, -math.expm1(epsilon - self.largest) * FEW_ULPS)
        if (composed := self._composed(epsilon, None)) is not None:
            rough = self._chernoff_delta(epsilon) if self.spacing else 1.0  # the better bound where a grid is too short
            return min(rough, max(TINY, composed.delta(epsilon)))
        bound, c = math.inf, self._saddle(epsilon)
        if self._log_chernoff(epsilon, c) < -745:
            return TINY
        for share in _WINDOW_SHARES[1:]:
            line = TrapezoidalSum.at(self, epsilon, None, share, c)
            before, bound, c = bound, line.upper(epsilon), line.c
            if bound >= 1 or abs(bound - before) < _TOLERANCE / 5 * bound:  # averages of delta are not above 1
                break
        return min(1.0, max(TINY, bound))

    def lower_delta(self, epsilon: float) -> float:
        """A lower bound on delta(E)."""
        if self.spacing:
            return self.optimistic.lower_delta(epsilon) if not self.optimistic.spacing else 0.0
        if epsilon >= self.largest or not self.tractable or self._log_chernoff(epsilon, self._saddle(epsilon)) < -745:
            return 0.0
        return max(0.0, TrapezoidalSum.at(self, epsilon, None, _LOWER_WINDOW_SHARE).lower(epsilon))

    def delta(self, epsilon: float) -> Interval:
        """Certified bounds on delta(E) at E = epsilon."""
        return Interval(self.lower_delta(epsilon), self.upper_delta(epsilon))
