"""Exact laws: the probability distributions of what mechanisms release, and divergences between them.

Masses are floats good to a relative 1e-14, and below e^-20 to 5e-16 for each nat of -ln mass, since no law subtracts
near numbers.  Tails and divergences are sums of masses.  A law on infinitely many points lists, for any `tail`, some
finitely many points that carry all but `tail` of the mass.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sized
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import islice, product
from numbers import Rational
from typing import Any, Protocol, runtime_checkable

import numpy as np

from .exact import MANY_ULPS
from .search import least_whole

_LEAST_TAIL = 1e-300  # that is compared in floats


class Law(Protocol):
    """A law with exact masses and bounded tails."""

    def mass(self, y: Any, /) -> float:
        """P[Y = y]."""

    def support(self, tail: float) -> Iterable[Any]:
        """Points that carry all but `tail` of the mass."""


MAX_COUNTED = 1 << 20  # outcomes; counting stops beyond


@runtime_checkable
class CountsOutcomes(Protocol):
    """A law that counts the points of its support without listing them."""

    def outcomes(self, tail: float) -> int: ...


def rounding(masses: Iterable[object]) -> Fraction:
    """How far a sum of masses may be from 1: not at all if all masses are exact, else 2^-50 for each of them.

    A larger gap is refused: normalising would hide missing mass, and with it a way to tell two laws apart.
    """
    listed = list(masses)
    exact = all(isinstance(mass, Rational | Decimal | str) for mass in listed)
    return Fraction(0 if exact else len(listed), 2**50)


def outcomes(law: Law, tail: float) -> int:
    """The number of points that carry all but `tail` of the mass; above `MAX_COUNTED` it may be an undercount."""
    if isinstance(law, CountsOutcomes):
        return law.outcomes(tail)
    points = law.support(tail)
    if isinstance(points, range):
        return points.stop - points.start  # a range may be too long for len
    return len(points) if isinstance(points, Sized) else sum(1 for _ in islice(points, MAX_COUNTED + 1))


@dataclass(frozen=True)
class Finite:
    """A law on finitely many points."""

    masses: Mapping[Any, float]

    def mass(self, y: Hashable) -> float:
        return self.masses.get(y, 0.0)

    def support(self, tail: float) -> Iterable[Hashable]:
        return self.masses.keys()

    def through(self, channel: Callable[[Any], Finite]) -> Finite:
        """The law after a random or deterministic map of each point: no divergence grows (post-processing)."""
        masses: dict[Any, float] = {}
        for y, mass in self.masses.items():
            for z, share in channel(y).masses.items():
                masses[z] = masses.get(z, 0.0) + mass * share
        return Finite(masses)


@dataclass(frozen=True)
class Product:
    """The law of independent coordinates."""

    parts: tuple[Law, ...]

    def mass(self, y: tuple[Hashable, ...]) -> float:
        return math.prod(part.mass(v) for part, v in zip(self.parts, y, strict=True))

    def support(self, tail: float) -> Iterable[Hashable]:
        return product(*(part.support(tail / len(self.parts)) for part in self.parts))

    def outcomes(self, tail: float) -> int:
        return math.prod(outcomes(part, tail / len(self.parts)) for part in self.parts)


@dataclass(frozen=True)
class OnGrid:
    """An integer law times a grid: a law on the multiples of the grid."""

    steps: Law
    grid: float

    def mass(self, y: float) -> float:
        step = y / self.grid
        return self.steps.mass(int(step)) if step == int(step) else 0.0

    def support(self, tail: float) -> Iterable[Hashable]:
        return [k * self.grid for k in self.steps.support(tail)]

    def outcomes(self, tail: float) -> int:
        return outcomes(self.steps, tail)


@dataclass(frozen=True)
class DiscreteLaplaceLaw:
    """The discrete Laplace law: P[k] = (1 - q)/(1 + q) q^|k - centre|, q = exp(-1/scale)."""

    scale: Fraction
    centre: int = 0

    @cached_property
    def _rate(self) -> float:
        return float(1 / self.scale)

    def mass(self, k: int) -> float:
        return math.tanh(self._rate / 2) * math.exp(-abs(k - self.centre) * self._rate) if k == int(k) else 0.0

    def tail(self, t: int) -> float:
        """P[|Y - centre| >= t] = 2 q^t / (1 + q)."""
        return 1.0 if t <= 0 else 2 * math.exp(-t * self._rate) / (1 + math.exp(-self._rate))

    def at_least(self, k: int) -> float:
        """P[Y >= k]."""
        k -= self.centre
        return self.tail(k) / 2 if k > 0 else 1 - self.tail(1 - k) / 2

    def variance(self) -> float:
        """2 q / (1 - q)^2."""
        return 2 * math.exp(-self._rate) / math.expm1(-self._rate) ** 2

    def tail_quantile(self, tail: float) -> int:
        """The least t with P[|Y - centre| > t] <= tail; below a tail of 1e-300, up to a relative 2^-48 more."""
        nats = math.log(2) - math.log(tail) - math.log1p(math.exp(-self._rate))
        if tail < _LEAST_TAIL:
            return math.ceil(nats * MANY_ULPS / self._rate)
        t = max(0, math.ceil(nats / self._rate) - 1)
        while self.tail(t + 1) > tail:  # if rounding moved the ceiling
            t += 1
        return t

    def support(self, tail: float) -> range:
        radius = self.tail_quantile(tail)
        return range(self.centre - radius, self.centre + radius + 1)


@dataclass(frozen=True)
class GeometricLaw:
    """The geometric law on centre, centre + 1, ...: P[centre + k] = (1 - q) q^k, q = exp(-1/scale)."""

    scale: Fraction
    centre: int = 0

    def mass(self, k: int) -> float:
        rate = float(1 / self.scale)
        return -math.expm1(-rate) * math.exp(-(k - self.centre) * rate) if k >= self.centre and k == int(k) else 0.0

    def at_least(self, k: int) -> float:
        return math.exp(-max(0, k - self.centre) * float(1 / self.scale))

    def tail_quantile(self, tail: float) -> int:
        """The least t with P[Y - centre > t] <= tail."""
        return max(0, math.ceil(-math.log(tail) * float(self.scale)) - 1)

    def support(self, tail: float) -> range:
        return range(self.centre, self.centre + self.tail_quantile(tail) + 1)


@dataclass(frozen=True)
class DiscreteGaussianLaw:
    """The discrete Gaussian law: P[k] proportional to exp(-(k - centre)^2 / (2 sigma2))."""

    sigma2: Fraction
    centre: int = 0

    @cached_property
    def _upper(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """sum over k >= t of exp(-k^2 / (2 sigma2)), for t = 0, 1, ... until the sum underflows."""
        top = math.isqrt(math.ceil(1500 * self.sigma2)) + 2
        weights = np.exp(-(np.arange(top + 1, dtype=float) ** 2) / float(2 * self.sigma2))
        return np.cumsum(weights[::-1])[::-1]

    @cached_property
    def _large(self) -> bool:
        """Whether sigma exceeds 1000: then tails are integrals of the density, by the midpoint rule."""
        return self.sigma2 > 10**6

    def tail_accuracy(self, k: int) -> float:
        """The relative error of `at_least`: rounding, or the midpoint rule's (1 + (t/sigma)^2) / (24 sigma2)."""
        t2 = float(Fraction((k - self.centre) ** 2) / self.sigma2)
        return min(1.0, (1 + t2) / float(24 * self.sigma2) + 1e-12) if self._large else 1e-13

    @cached_property
    def total(self) -> float:
        """The sum of all weights: sqrt(2 pi sigma2) by Poisson summation, to a relative 2 exp(-2 pi^2 sigma2)."""
        s2 = float(self.sigma2)
        return math.sqrt(2 * math.pi * s2) if s2 > 4 else float(2 * self._upper[0] - 1)

    def mass(self, k: int) -> float:
        weight = math.exp(-float(Fraction((k - self.centre) ** 2) / (2 * self.sigma2)))
        return weight / self.total if k == int(k) else 0.0

    def at_least(self, k: int) -> float:
        """P[Y >= k]."""
        k -= self.centre
        if k <= 0:
            return 1 - self.at_least(1 - k + self.centre)
        if self._large:
            return 0.5 * math.erfc((k - 0.5) / math.sqrt(2 * float(self.sigma2)))
        return float(self._upper[k]) / self.total if k < len(self._upper) else 0.0

    def tail(self, t: int) -> float:
        """P[|Y - centre| >= t]."""
        return 1.0 if t <= 0 else 2 * self.at_least(self.centre + t)

    def variance(self) -> float:
        """sigma^2, less 4 pi^2 sigma^4 e^(-2 pi^2 sigma^2) or so by Poisson summation, which vanishes above sigma 4."""
        if self.sigma2 > 16:
            return float(self.sigma2)
        k = np.arange(1, math.isqrt(math.ceil(1500 * self.sigma2)) + 2, dtype=float)
        return float(2 * np.sum(k**2 * np.exp(-(k**2) / float(2 * self.sigma2)))) / self.total

    def tail_quantile(self, tail: float) -> int:
        """The least t with P[|Y - centre| > t] <= tail; below a tail of 1e-300, by P <= 2 exp(-t^2 / (2 sigma2))."""
        if tail < _LEAST_TAIL:
            nats = (math.log(2) - math.log(tail)) * MANY_ULPS
            return math.isqrt(math.ceil(2 * self.sigma2 * Fraction(nats)))
        return least_whole(lambda t: self.tail(t + 1) <= tail)

    def support(self, tail: float) -> range:
        radius = self.tail_quantile(tail)
        return range(self.centre - radius, self.centre + radius + 1)


def _points(p: Law, q: Law, tail: float) -> list[Hashable]:
    return list(dict.fromkeys([*p.support(tail), *q.support(tail)]))


def hockey_stick(p: Law, q: Law, epsilon: float, tail: float = 1e-15) -> float:
    """sup over events E of P(E) - e^epsilon Q(E), less at most 2 tail: the least delta at this epsilon."""
    return math.fsum(max(0.0, p.mass(y) - math.exp(epsilon) * q.mass(y)) for y in _points(p, q, tail))


def max_divergence(p: Law, q: Law, tail: float = 1e-15) -> float:
    """sup of ln P(y)/Q(y) over the points that carry all but `tail` of the mass: the pure epsilon."""
    masses = [(p.mass(y), q.mass(y)) for y in _points(p, q, tail)]
    return max((math.log(a / b) if b else math.inf) for a, b in masses if a)


def renyi_divergence(p: Law, q: Law, order: float, tail: float = 1e-15) -> float:
    """ln(sum P^a Q^(1 - a)) / (a - 1), summed over the points that carry all but `tail` of the mass."""
    masses = [(p.mass(y), q.mass(y)) for y in _points(p, q, tail)]
    if any(a and not b for a, b in masses):
        return math.inf
    logs = [order * math.log(a) + (1 - order) * math.log(b) for a, b in masses if a and b]
    top = max(logs)
    return (top + math.log(math.fsum(math.exp(x - top) for x in logs))) / (order - 1)
