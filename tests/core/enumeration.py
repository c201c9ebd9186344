"""The privacy loss of a composition, enumerated exactly: an oracle that shares no code with the accountants.

Losses are exact Fractions, so equal losses merge; masses are mpmath numbers of sixty digits, in which the sums below
lose nothing that matters.

    delta(E) = sum over losses x > E of p(x) (1 - e^(E - x)) = A(E) - e^E B(E).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate

import mpmath
from mpmath import mpf

Law = dict[Fraction, mpf]
DIGITS = 60
LOST = mpf(10) ** -45  # masses below this are left out: an epsilon at a delta above 1e-30 does not notice


def exact(x: Fraction | float) -> mpf:
    x = Fraction(x)
    return mpf(x.numerator) / x.denominator


def three(epsilon: Fraction, idle: mpf) -> Law:
    """+-epsilon with odds e^epsilon, or 0 with probability `idle`."""
    own = (1 - idle) / (1 + mpmath.exp(-exact(epsilon)))
    return {epsilon: own, Fraction(0): idle, -epsilon: 1 - idle - own}


def response(epsilon: Fraction, categories: int) -> Law:
    return three(epsilon, (categories - 2) / (mpmath.exp(exact(epsilon)) + categories - 1))


def shifted(mass: Callable[[int], mpf], loss: Callable[[int], Fraction], far: int) -> Law:
    """Noise on an integer: of mass(k) at k, and of this loss where it is k."""
    law: Law = {}
    for k in range(-far, far + 1):
        law[loss(k)] = law.get(loss(k), mpf(0)) + mass(k)
    return law


def laplace(epsilon: Fraction, shift: int) -> Law:
    """P[Z = k] = (1 - q)/(1 + q) q^|k|, q = e^(-epsilon/shift): L = (|Z + d| - |Z|) epsilon/shift."""
    rate = exact(epsilon / shift)
    q = mpmath.exp(-rate)
    far = shift + int(130 / rate) + 2
    law = shifted(
        lambda k: (1 - q) / (1 + q) * mpmath.exp(-rate * abs(k)),
        lambda k: (abs(k + shift) - abs(k)) * epsilon / shift,
        far,
    )
    rest = 1 - mpmath.fsum(law.values())
    law[epsilon] += rest / 2  # both tails lie where the loss is +-epsilon
    law[-epsilon] += rest / 2
    return law


def gaussian(sigma2: Fraction, shift: int) -> Law:
    """P[Z = k] proportional to e^(-k^2/(2 s)): L = (2 Z + d) d / (2 s)."""
    s = exact(sigma2)
    far = int(mpmath.sqrt(300 * s)) + 2
    total = mpmath.fsum(mpmath.exp(-(mpf(k) ** 2) / (2 * s)) for k in range(-far - 20, far + 21))
    return shifted(
        lambda k: mpmath.exp(-(mpf(k) ** 2) / (2 * s)) / total,
        lambda k: (2 * k + shift) * shift / (2 * sigma2),
        far,
    )


def plus(a: Law, b: Law) -> Law:
    """The law of the sum of two independent losses; equal losses merge."""
    total: Law = {}
    for x, p in a.items():
        for y, q in b.items():
            total[x + y] = total.get(x + y, 0) + p * q
    return {x: p for x, p in total.items() if p > LOST}


def sum_of(laws: list[tuple[Law, int]]) -> Law:
    """The law of the sum of independent losses, each so many times."""
    total: Law = {Fraction(0): mpf(1)}
    for law, n in laws:
        own = law
        for _ in range(n - 1):
            own = plus(own, law)
        total = plus(total, own)
    return total


class Enumerated:
    """delta of a law of losses beside a loss of another kind, of which `other(E)` is the profile at every real E."""

    def __init__(self, law: Law, other: Callable[[mpf], mpf] | None = None) -> None:
        self.other = other
        self.losses = sorted(law)
        self.masses = [law[x] for x in self.losses]
        self.at = [exact(x) for x in self.losses]
        decayed = [p * mpmath.exp(-x) for p, x in zip(self.masses, self.at, strict=True)]
        self.above = [*list(accumulate(reversed(self.masses)))[::-1], mpf(0)]
        self.decayed = [*list(accumulate(reversed(decayed)))[::-1], mpf(0)]

    def delta(self, epsilon: float | mpf) -> mpf:
        e = mpf(epsilon)
        if self.other is not None:
            return mpmath.fsum(p * self.other(e - x) for x, p in zip(self.at, self.masses, strict=True))
        i = bisect_right(self.at, e)
        return self.above[i] - mpmath.exp(e) * self.decayed[i]

    def epsilon(self, delta: float, digits: int = 9) -> mpf:
        """The least epsilon >= 0 with delta(epsilon) <= delta, to so many digits and not above it."""
        low, high = mpf(0), mpf(1)
        if self.delta(low) <= delta:
            return low
        while self.delta(high) > delta:
            low, high = high, 2 * high
        while high - low > high * mpf(10) ** -digits:
            middle = (low + high) / 2
            low, high = (middle, high) if self.delta(middle) > delta else (low, middle)
        return low


def both_signs(profile: Callable[[mpf], mpf]) -> Callable[[mpf], mpf]:
    """The profile of a symmetric pair at every real E, from that at E >= 0: delta(-E) = 1 - e^-E (1 - delta(E))."""
    return lambda e: profile(e) if e >= 0 else 1 - mpmath.exp(e) * (1 - profile(-e))


def normal(mu: float | Fraction) -> Callable[[mpf], mpf]:
    m = exact(mu)
    return lambda e: mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)


def continuous_laplace(epsilon: Fraction) -> Callable[[mpf], mpf]:
    top = exact(epsilon)
    return both_signs(lambda e: -mpmath.expm1((e - top) / 2) if e < top else mpf(0))


def bounded_range(epsilon: Fraction) -> Callable[[mpf], mpf]:
    top = exact(epsilon)

    def profile(e: mpf) -> mpf:
        return mpmath.expm1((e - top) / 2) ** 2 / -mpmath.expm1(-top) if e < top else mpf(0)

    return both_signs(profile)
