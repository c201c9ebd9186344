r"""Both tails of a sum of privacy losses, and where they cross a level, with certified bounds.

The upper tail is the sum of order 1 in `line.py`; the lower one is the upper tail of -L.  A pair in closed form is
symmetric: read backwards, -L under Q has the law of L under P; so E e^(-zL) = E_Q e^((1 - z) L) = E e^((z - 1) L).

References.  Cantelli 1928: P[L <= mean - 2 sd] <= 1/5, from which crossings of levels up to 1/2 are sought.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..exact import Floats
from .composition_bounds import Bounds, Sum
from .dominating_pairs import Complex, Pair
from .fourier import Line
from .grid import Lattice

_WIDE, _NARROW = 2.0**-5, 2.0**-9  # windows, as shares of a standard deviation


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


def above(total: Sum, at: float) -> Bounds:
    """P[L > e], and P[L >= e] too, for every e from `at` up to the next float; best where it is below 1/2."""
    if at >= total.largest:
        return Bounds(0.0, 0.0)
    if not total.tractable:
        return Bounds(0.0, 1.0)
    line = Line.at(total, at, None, _NARROW, order=1)
    return Bounds(max(0.0, _lower(line, math.nextafter(at, math.inf))), min(1.0, line.upper(at)))


def crossing(total: Sum, low: float, high: float) -> Bounds:
    """x < y with P[L > x] > high and P[L > y] < low, for nearby levels low <= high of at most 1/2."""
    if not total.tractable:
        return Bounds(-total.largest, total.largest)
    from scipy.special import ndtri  # here, since it takes long to load

    deviation = math.sqrt(total.variance)
    bottom, top = total.mean - 2 * deviation, min(_chernoff(total, low), total.largest)
    at = total.mean - deviation * float(ndtri(low))
    for share in (_WIDE, _WIDE, _NARROW):
        line = Line.at(total, min(at, top - share * deviation), low, share, order=1)
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
    return Bounds(max(x, bottom), min(y, top))


def _lower(line: Line, at: float) -> float:
    """Masses on a grid of ours were raised; here that is undone."""
    return line.lower(at) * (1 - line.total.count * 2.0**-31 if line.total.spacing else 1)


def _chernoff(total: Sum, level: float) -> float:
    """P[L > x] <= M(c) e^(-cx), so at this x it is at most `level`."""

    def bound(c: Floats, log_m: Floats) -> Floats:
        return np.asarray((log_m - math.log(level)) / c)

    best = np.array([total.least(bound)])
    return float(bound(best, total.cumulants(best))[0]) + 1e-12 * math.sqrt(total.variance)
