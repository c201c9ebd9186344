r"""Certified bounds on delta and epsilon of a composition, from the transforms of its privacy losses.

Theorem.  Let L be the sum of independent losses, M(z) = E e^(zL) finite on Re z = c > 0, and H either of
    delta(E) = E (1 - e^(E - L))_+ ,  whose Laplace transform is M(z) / (z (z + 1)),    the kernel of order 2,
    tail(E) = P[L > E],               whose Laplace transform is M(z) / z,              the kernel of order 1.
For a probability density f on [-w, 0] put D(E) = integral f(s) H(E + s) ds and K(z) = integral f(s) e^(-zs) ds.
Since H falls,   H(E) <= D(E) <= H(E - w).   For every step h > 0, with k(z) the kernel,

    T(E) = (h / 2 pi) sum over all integers n of  M(z) K(z) k(z) e^(-zE),   z = c + i n h,
         = sum over all integers j of  e^(c j p) D(E + j p),   p = 2 pi / h,

by Poisson's summation formula.  No term on the right is negative, so T >= D >= H: the trapezoidal sum errs on the
safe side.  It exceeds D by at most
    e^(-cp) / (1 - e^(-cp))  +  M(b) e^(-b (E - w)) / (e^((b - c) p) - 1)     for any b > c,
since H <= 1 and H(E) <= M(b) e^(-bE).  What is left out by stopping at |n| = N is at most
    (M(c) e^(-cE) / pi) integral over y > Nh of |K(c + iy)| e^(-g y^2/2) / y^order dy,
for |M(c + iy)| <= M(c) e^(-g y^2/2), g >= 0 being the part of Var L that is normal.  Rounding is bounded by
2^-46 (1 + the number of mechanisms) times the sum of absolute values.

f is Kaiser's window, K(z) = e^(zw/2) S(zw/2) / S(0) with S(u) = sinh(v)/v, v = sqrt(B^2 + u^2); where
|y| w > 4 B it is at most 2 e^(cw) / (S(0) |y| w / 2).  w is a fixed share of E: by so much may the upper bound on
epsilon lie above the truth; for tails, of the standard deviation of L.  The same sum at E + w, less all errors, is a
lower bound on H(E).

References.  Zhu, Dong, Wang, AISTATS 2022, and ALGORITHMS of characteristic functions; Trefethen and Weideman, SIAM
Review 56 (2014), for the trapezoidal rule; Kaiser and Schafer, IEEE TASSP 28 (1980), for the window.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .lattice import Composed, Lattice
from .pairs import Coin, Pair

_TINY = 5e-324  # what is positive never underflows to nothing
_BETA = 12.0  # B
_PEAK = math.sinh(_BETA) / _BETA  # S(0)
_WIDTH = 2e-4  # w as a share of epsilon
_TERMS = 2**17  # about so many are summed for a tail at most, and twice as many for delta
_ALIAS = 16.0  # the copies at E + jp lie below delta by so many nats

_LARGER = np.array([1.02, 1.05, 1.1, 1.15, 1.2, 1.3, 1.4, 1.5, 1.7, 2, 3, 5, 10])  # b as a multiple of c

Complex = NDArray[np.complex128]
Floats = NDArray[np.float64]
Height = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True)
class Bounds:
    """The truth lies between."""

    lower: float
    upper: float


@dataclass(frozen=True)
class Sum:
    """A sum of privacy losses: how often each pair occurs."""

    pairs: Mapping[Pair, int]

    @cached_property
    def count(self) -> int:
        return sum(self.pairs.values())

    @cached_property
    def infinite(self) -> float:
        """The probability of an infinite loss, at most."""
        return math.fsum(n * pair.infinite for pair, n in self.pairs.items())

    @cached_property
    def largest(self) -> float:
        return math.fsum(n * pair.largest for pair, n in self.pairs.items()) * (1 + 2.0**-50)

    @cached_property
    def mean(self) -> float:
        return math.fsum(n * pair.mean for pair, n in self.pairs.items())

    @cached_property
    def variance(self) -> float:
        return math.fsum(n * pair.variance for pair, n in self.pairs.items())

    @cached_property
    def smoothness(self) -> float:
        return math.fsum(n * pair.smoothness for pair, n in self.pairs.items()) * (1 - 1e-9)

    @cached_property
    def spacing(self) -> float:
        """The common spacing of those losses that live on a grid of ours, or 0."""
        return max(pair.spacing for pair in self.pairs)

    def cumulants(self, c: Floats) -> Floats:
        """ln M at real points."""
        return np.asarray(sum(n * pair.cumulant(c) for pair, n in self.pairs.items()))

    def least(self, height: Height, near: float | None = None) -> float:
        """The c > 0 at which a convex height(c, ln M(c)) is least, to a few per cent: grids of nine, ever finer."""
        scale = max(self.variance, 1e-12 * self.mean**2, 1e-300)  # where L hardly varies, a millionth of its mean
        centre, reach = (-0.5 * math.log(scale), 8.0) if near is None else (math.log(near), 0.5)
        while 0.1 < reach < 100:
            c = np.exp(np.clip(centre + np.linspace(-reach, reach, 9), -200, 200))
            with np.errstate(over="ignore", invalid="ignore"):
                heights = np.nan_to_num(height(c, self.cumulants(c)), nan=math.inf)
            best = int(np.argmin(heights))
            centre = math.log(c[best])
            reach = reach / 4 if 0 < best < 8 else 2 * reach
        return math.exp(centre)

    def chernoff(self, delta: float) -> tuple[float, float]:
        """An epsilon from the best order, and c: delta(E) <= M(c) e^(-cE) c^c / (1 + c)^(1 + c)."""

        def bound(c: Floats, log_m: Floats) -> Floats:
            return np.asarray((log_m - c * np.log1p(1 / c) - np.log1p(c) - math.log(delta)) / c)

        best = np.array([self.least(bound)])
        log_m = self.cumulants(best)
        rounding = 2.0**-46 * (1 + self.count + np.abs(log_m)) / best
        return max(0.0, float((bound(best, log_m) + rounding)[0])), float(best[0])

    def _crossing(self, delta: float) -> tuple[Line, float]:
        """A line, and where its sum crosses delta: found with a wide window, then with a narrow one."""
        at, c = self.chernoff(delta)
        at = min(at, self.largest)
        for share in (30 * _WIDTH, 30 * _WIDTH, _WIDTH, _WIDTH):
            line = Line.at(self, at, delta, share, c)
            found = line.solve(delta)
            at, before, c = min(at, found - line.width / 2), at, line.c  # the window's middle
            if at <= 0 or (share == _WIDTH and abs(at - before) < 0.05 * math.sqrt(self.variance)):
                break
        return line, found

    def _composed(self, epsilon: float, near: float | None) -> Composed | None:
        """All on one grid: then one transform gives the whole curve about epsilon."""
        if len(self.pairs) == 1 and isinstance(coin := next(iter(self.pairs)), Coin) and self.largest < 600:
            return Composed.of_coins(coin.epsilon, self.count)
        lattices = {pair: n for pair, n in self.pairs.items() if isinstance(pair, Lattice)}
        if len(lattices) < len(self.pairs):
            return None
        c = self.least(lambda c, log_m: log_m - c * epsilon - np.log(c) - np.log1p(c), near)
        nats = _ALIAS + c * epsilon - float(self.cumulants(np.array([c]))[0]) + math.log1p(c) + 3
        period = max(nats / c, _upper_period(self, c, epsilon, nats), 8 * math.sqrt(self.variance))
        lowest = epsilon - 2 * math.sqrt(self.variance)
        return Composed.of(lattices, c, lowest, 2 ** math.ceil(math.log2(period / self.spacing)))

    def upper_epsilon(self, delta: float) -> float:
        """At this epsilon delta(E) is at most delta."""
        at, c = self.chernoff(delta)
        if (first := self._composed(at, c)) is not None:
            found = first.epsilon(delta)
            again = self._composed(found, c) if found < at - math.sqrt(self.variance) else first
            return min(at, again.epsilon(delta) if again else found)
        if at > 0.95 * self.largest and self._near_largest(delta) is not None:
            return min(at, self.largest)
        line, found = self._crossing(delta)
        if found <= line.width:
            return 0.0 if Line.at(self, 0.0, delta, _WIDTH).upper(0.0) <= delta else min(at, self.largest)
        step = 1e-7 * found
        while found < at and not line.upper(found) <= delta:
            found, step = found + step, 2 * step
        return min(found, at, self.largest)

    def lower_epsilon(self, delta: float) -> float:
        """At this epsilon delta(E) is at least delta, or it is 0."""
        near = self._near_largest(delta) if self.largest < math.inf else None
        if near is not None:
            return near
        line, found = self._crossing(delta)
        low, step = found - line.width, 1e-7 * abs(found)
        while low > 0 and line.lower(low) < delta:
            low, step = low - step, 2 * step
        return max(0.0, low)

    def _near_largest(self, delta: float) -> float | None:
        """An epsilon just below the largest loss, if delta(E) is still at least delta there."""
        near = self.largest * (1 - 1.5 * _WIDTH)
        return near if Line.at(self, near, delta, _WIDTH / 2).lower(near) >= delta else None

    def delta(self, epsilon: float) -> Bounds:
        """Between what it lies at this epsilon."""
        if epsilon >= self.largest:
            return Bounds(0.0, 0.0)
        if (composed := self._composed(epsilon, None)) is not None:
            return Bounds(0.0, min(1.0, max(_TINY, composed.delta(epsilon))))
        line = Line.at(self, epsilon, None, _WIDTH)
        return Bounds(max(0.0, line.lower(epsilon)), min(1.0, max(_TINY, line.upper(epsilon))))


@dataclass(frozen=True)
class Line:
    """The trapezoidal sum on one vertical line, with steps that suit epsilons near a given one."""

    total: Sum
    epsilon: float
    c: float
    period: float
    width: float
    log_m: float  # ln M(c)
    z: Complex
    log_terms: Complex  # ln of M K k, without e^(-zE)
    left_out: float  # bounds relative to M(c) e^(-cE): truncation,
    rounding: float  # and rounding

    @classmethod
    def at(
        cls, total: Sum, epsilon: float, delta: float | None, share: float, near: float | None = None, *, order: int = 2
    ) -> Line:
        further = order - 1  # whether the kernel has its factor 1 / (z + 1)
        c = total.least(lambda c, log_m: log_m - c * epsilon - np.log(c) - further * np.log1p(c), near)
        log_m = float(total.cumulants(np.array([c]))[0])
        nats = _ALIAS - (math.log(delta) if delta else log_m - c * epsilon - math.log1p(c) - 3)
        deviation = math.sqrt(total.variance)
        width = min(share * (max(epsilon, 0.05 * deviation) if order == 2 else deviation), 10 / c)
        period = max(nats / c, _upper_period(total, c, epsilon - width, nats), 4 * width)
        if total.spacing:
            period = total.spacing * 2 ** max(0, math.ceil(math.log2(period / total.spacing)))
        step = 2 * math.pi / period
        width = min(max(width, 4 * _BETA / (_TERMS * order * step)), period / 4)  # a wide period costs accuracy
        reach, g = 4 * _BETA / width, total.smoothness
        if g and math.sqrt(90 / g) < reach:
            reach = math.sqrt(90 / g)
        count = math.ceil(reach / step) + 2
        z = np.asarray(c + 1j * step * np.arange(count), np.complex128)
        u = z * (width / 2)
        v = np.sqrt(_BETA**2 + u**2)
        log_window = u + v + np.log(-np.expm1(-2 * v) / (2 * v * _PEAK))
        log_terms = log_window - np.log(z) - further * np.log1p(z)
        for pair, n in total.pairs.items():
            log_terms += n * pair.on_line(c, step, count)
        far = (count - 1) * step
        if far * width >= 4 * _BETA:
            rest = 4 / (_PEAK * width * order * far**order)
        else:
            rest = 1 / far if order == 2 else 1 / (g * far**2)
        rest *= math.exp(-g * far**2 / 2)
        absolute = step / math.pi * float(np.sum(np.exp(log_terms.real - log_m)))
        rounding = 2.0**-46 * (1 + total.count + abs(log_m) + float(np.abs(z[-1])) * abs(epsilon)) * absolute
        return cls(
            total, epsilon, c, period, width, log_m, z, log_terms, math.exp(c * width) * rest / math.pi, rounding
        )

    def _scale(self, epsilon: float) -> float:
        return math.exp(self.log_m - self.c * epsilon)

    def trapezoid(self, epsilon: float) -> tuple[float, float]:
        """T and its derivative."""
        terms = np.exp(self.log_terms - self.z * epsilon)
        terms[0] /= 2
        return 2 / self.period * float(terms.real.sum()), -2 / self.period * float((terms * self.z).real.sum())

    def upper(self, epsilon: float) -> float:
        return self.trapezoid(epsilon)[0] + (self.left_out + self.rounding) * self._scale(epsilon)

    def lower(self, epsilon: float) -> float:
        at = epsilon + self.width
        copies = math.exp(-self.c * self.period) / -math.expm1(-self.c * self.period)
        copies += _upper_copies(self.total, self.c, epsilon, self.period)
        return self.trapezoid(at)[0] - (self.left_out + self.rounding) * self._scale(at) - copies

    def solve(self, delta: float) -> float:
        """Where T crosses delta, by Newton's rule on ln T; at most 0 if below delta from the start."""
        at, stride = self.epsilon, min(4 * math.sqrt(self.total.variance), 50 / self.c)
        for _ in range(40):
            value, slope = self.trapezoid(at)
            if not (value > 0 and slope < 0):  # so far out that rounding hides it
                at -= stride / 8
                continue
            move = math.log(value / delta) * value / -slope
            at += max(-stride, min(move, stride))
            if abs(move) < 1e-7 * abs(at) or at <= 0:
                break
        return at


def _upper_copies(total: Sum, c: float, epsilon: float, period: float) -> float:
    """sum over j >= 1 of e^(c j p) delta(E + j p) is at most this; E is the least the window reaches."""
    if epsilon + period >= total.largest:
        return 0.0
    b = c * _LARGER
    with np.errstate(over="ignore", invalid="ignore"):
        logs = total.cumulants(b) - b * epsilon - np.log(np.expm1((b - c) * period))
    return float(np.exp(min(700.0, np.nanmin(logs))))


def _upper_period(total: Sum, c: float, epsilon: float, nats: float) -> float:
    """A period at which those copies are below e^-nats."""
    b = c * _LARGER
    with np.errstate(over="ignore", invalid="ignore"):
        periods = (total.cumulants(b) - b * epsilon + nats) / (b - c)
    return min(float(np.nanmin(periods)), total.largest - epsilon)
