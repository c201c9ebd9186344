r"""Certified bounds on the hockey stick and the tail of a sum of losses, by a sum over its transform.

Theorem.  Let L be the sum of independent losses, M(z) = E e^(zL) finite on Re z = c > 0, and H either of
    delta(E) = E (1 - e^(E - L))_+ ,  whose Laplace transform is M(z) / (z (z + 1)),    the kernel of order 2,
    tail(E) = P[L > E],               whose Laplace transform is M(z) / z,              the kernel of order 1.
For a probability density f on an interval of length w put D(E) = integral f(s) H(E + s) ds and
K(z) = integral f(s) e^(-zs) ds.  Then H <= D
    for delta, if K(-1) = integral f(s) e^s ds = 1:  by Jensen, since delta is convex in e^E; and by O(w^2) only;
    for tail, if f vanishes outside [-w, 0]:  since tail falls.
For every step h > 0, with k(z) the kernel,

    T(E) = (h / 2 pi) sum over all integers n of  M(z) K(z) k(z) e^(-zE),   z = c + i n h,
         = sum over all integers j of  e^(c j p) D(E + j p),   p = 2 pi / h,

by Poisson's summation formula.  No term on the right is negative, so T >= D >= H: the trapezoidal sum errs on the
safe side, at every E, also near 0.  If f vanishes outside [-a, a'], T exceeds D by at most
    e^(-cp) / (1 - e^(-cp))  +  M(b) e^(-b (E - a)) / (e^((b - c) p) - 1)     for any b > c,
since H <= 1 and H(E) <= M(b) e^(-bE).  The terms omitted by stopping at |n| = N add up to at most
    (M(c) e^(-cE) / pi) integral over y > Nh of |K(c + iy)| e^(-g y^2/2) / y^order dy,
for |M(c + iy)| <= M(c) e^(-g y^2/2), g >= 0 being the part of Var L that is normal.  Rounding is bounded by
2^-46 (1 + the number of mechanisms) times the sum of absolute values.  As D(E) <= H(E - a), the sum at E + a, less all
errors, is a lower bound on H(E).

f is Kaiser's window about -m, K(z) = e^(zm) S(zw/2) / S(0) with S(u) = sinh(v)/v, v = sqrt(B^2 + u^2), m = w/2 or
ln S(w/2)/S(0); where |y| w > 4 B it is at most 2 e^(cw) / (S(0) |y| w / 2).

References.  Zhu, Dong, Wang, AISTATS 2022, on characteristic functions of privacy losses; Trefethen and Weideman, SIAM
Review 56 (2014), for the trapezoidal rule; Kaiser and Schafer, IEEE TASSP 28 (1980), for the window.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .dominating_pairs import Complex

if TYPE_CHECKING:
    from .composition_bounds import Sum

ALIAS = 16.0  # nats by which the copies at E + jp lie below delta
_BETA = 12.0  # B
_PEAK = math.sinh(_BETA) / _BETA  # S(0)
_LARGER = np.array([1.02, 1.05, 1.1, 1.15, 1.2, 1.3, 1.4, 1.5, 1.7, 2, 3, 5, 10])  # b as a multiple of c


@dataclass(frozen=True)
class TrapezoidalSum:
    """The trapezoidal sum on one vertical line, with steps that suit epsilons near a given one."""

    total: Sum
    epsilon: float
    c: float
    period: float
    width: float
    before: float  # the window reaches from E - before to E - before + width
    log_m: float  # ln M(c)
    z: Complex
    log_terms: Complex  # ln of M K k, without e^(-zE)
    left_out: float  # bounds relative to M(c) e^(-cE): truncation,
    rounding: float  # and rounding

    @classmethod
    def at(
        cls, total: Sum, epsilon: float, delta: float | None, share: float, near: float | None = None, *, order: int = 2
    ) -> TrapezoidalSum:
        """The line of least M(c) k(c) e^(-cE), with a period p as long, and a window w as wide, as delta needs.

        In the terms of the theorem: copies lie below delta by `nats`, the sum stops at `end` after `count` terms, and
        `rest` bounds the omitted terms, relative to M(c) e^(-cE).
        """
        further = order - 1  # whether the kernel has its factor 1 / (z + 1)
        c = total.least(lambda c, log_m: log_m - c * epsilon - np.log(c) - further * np.log1p(c), near)
        log_m = float(total.cumulants(np.array([c]))[0])
        nats = ALIAS - (math.log(delta) if delta else log_m - c * epsilon - math.log1p(c) - 3)
        deviation = math.sqrt(total.variance)
        width = share * min(max(epsilon, deviation) if order == 2 else deviation, 20 / c)
        period = max(nats / c, upper_period(total, c, epsilon - width, nats), 4 * width)
        if total.spacing:
            period = total.spacing * size(period / total.spacing)
        step = 2 * math.pi / period
        width = max(width, 4 * _BETA / (total.terms * order * step))  # a wide period costs accuracy
        width = min(width, period / 4, 10 / c)
        middle = width / 2 if order == 1 else _log_s(width / 2)
        end, g = 4 * _BETA / width, total.smoothness
        if g and math.sqrt(90 / g) < end:
            end = math.sqrt(90 / g)
        count = min(math.ceil(end / step), 2 * total.terms * order) + 2
        z = np.asarray(c + 1j * step * np.arange(count), np.complex128)
        v = np.sqrt(_BETA**2 + (z * (width / 2)) ** 2)
        kernel = z * (z + 1) if order == 2 else z
        log_terms = z * middle + v + np.log(-np.expm1(-2 * v) / (2 * _PEAK * v * kernel))
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
        left_out = math.exp(c * width) * rest / math.pi
        return cls(total, epsilon, c, period, width, middle + width / 2, log_m, z, log_terms, left_out, rounding)

    def _scale(self, epsilon: float) -> float:
        return math.exp(self.log_m - self.c * epsilon)

    def trapezoid(self, epsilon: float) -> tuple[float, float]:
        """T(E) and its derivative at E = epsilon."""
        terms = np.exp(self.log_terms - self.z * epsilon)
        terms[0] /= 2
        return 2 / self.period * float(terms.real.sum()), -2 / self.period * float((terms * self.z).real.sum())

    def upper(self, epsilon: float) -> float:
        """An upper bound on H(E)."""
        return self.trapezoid(epsilon)[0] + (self.left_out + self.rounding) * self._scale(epsilon)

    def lower(self, epsilon: float) -> float:
        """A lower bound on H(E)."""
        at = epsilon + self.before
        copies = math.exp(-self.c * self.period) / -math.expm1(-self.c * self.period)
        copies += _upper_copies(self.total, self.c, epsilon, self.period)
        return self.trapezoid(at)[0] - (self.left_out + self.rounding) * self._scale(at) - copies

    def solve(self, delta: float) -> float:
        """The E at which T crosses delta, or 0 if T is at most delta from the start.

        T falls, but ln T need not be concave: losses that lie far apart turn it into steps.  So Newton's rule on ln T
        is kept within a bracket, which is bisected whenever two Newton steps have not halved it.
        """
        at, low, high, before = max(self.epsilon, 0.0), -math.inf, math.inf, (math.inf, math.inf)
        stride = min(max(4 * math.sqrt(self.total.variance), 0.1 * at), 50 / self.c)
        for _ in range(200):
            value, slope = self.trapezoid(at)
            low, high = (at, high) if value > delta else (low, at)
            if high <= 0 or high - low < 1e-7 * high:
                break
            steep = value > 0 and slope < 0  # false where rounding hides T
            move = math.log(value / delta) * value / -slope if steep else math.copysign(stride, value - delta)
            if steep and abs(move) < 1e-7 * at:
                break
            there, width = max(0.0, at + max(-stride, min(move, stride))), high - low
            if width < math.inf and (width > before[0] / 2 or not low < there < high):
                there = (low + high) / 2
            at, before = there, (before[1], width)
        return at


def size(count: float) -> int:
    """The size of a transform: a power of two, of at most 2^21, since a shorter period is only less tight."""
    return 1 << min(max(0, math.ceil(math.log2(count))), 21)


def _log_s(u: float) -> float:
    """ln S(u) / S(0) for real u, rounded up."""
    more = u * u / (math.hypot(_BETA, u) + _BETA)  # v - B
    last = math.exp(-2 * _BETA) * math.expm1(-2 * more) / math.expm1(-2 * _BETA)
    return (more + math.log1p(last) - math.log1p((u / _BETA) ** 2) / 2) * (1 + 2.0**-44)


def _upper_copies(total: Sum, c: float, epsilon: float, period: float) -> float:
    """An upper bound on sum over j >= 1 of e^(c j p) delta(E + j p), where E is the low end of the window."""
    if epsilon + period >= total.largest:
        return 0.0
    b = c * _LARGER
    with np.errstate(over="ignore", invalid="ignore"):
        logs = total.cumulants(b) - b * epsilon - np.log(np.expm1((b - c) * period))
    return float(np.exp(min(700.0, np.nanmin(logs))))


def upper_period(total: Sum, c: float, epsilon: float, nats: float) -> float:
    """A period at which the copies above E add up to less than e^-nats."""
    b = c * _LARGER
    with np.errstate(over="ignore", invalid="ignore"):
        periods = (total.cumulants(b) - b * epsilon + nats) / (b - c)
    return min(float(np.nanmin(periods)), total.largest - epsilon)
