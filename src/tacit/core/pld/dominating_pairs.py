r"""Dominating pairs: two laws P, Q whose every hockey-stick divergence is at least that of a mechanism's neighbours.

A pair is represented by its privacy loss L = ln P(y)/Q(y), y ~ P, through the transform m(z) = E e^(zL) on vertical
lines z = c + iy, c > 0.  Losses of independent, or adaptively composed, mechanisms add, so transforms multiply;
`composition_bounds.py` turns a product of them into bounds on delta.  A symmetric mechanism has one pair, an asymmetric
mechanism a pair for each direction.

The pairs of local reports come last: a report speaks for one of two answers, by odds of e^epsilon, or for neither.

Each `log_transform` is good to 2^-48 (1 + |ln m|): a few complex elementary functions, each within a few ulps.

References.  Zhu, Dong, Wang, AISTATS 2022, on dominating pairs; Dwork and Rothblum 2016 on the privacy loss variable.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..exact import FEW_ULPS

Complex = NDArray[np.complex128]


class Multiples(NamedTuple):
    """Losses unit (first + stride j), j = 0, 1, ..., and their masses, each good to a relative 2^-43."""

    unit: float
    first: int
    stride: int
    masses: NDArray[np.float64]


class Pair(ABC):
    """A privacy loss variable, by its transform, its moments and its supremum."""

    @abstractmethod
    def log_transform(self, z: Complex) -> Complex:
        """ln E e^(zL), on any branch."""

    def on_line(self, c: float, stride: float, count: int) -> Complex:
        """ln E e^(zL) at z = c + i stride n, n = 0 .. count - 1."""
        return self.log_transform(np.asarray(c + 1j * stride * np.arange(count), np.complex128))

    def cumulant(self, c: NDArray[np.float64]) -> NDArray[np.float64]:
        """ln E e^(cL) at real points c."""
        return self.log_transform(c.astype(complex)).real

    def multiples(self, max_values: int) -> Multiples | None:
        """The law of L itself, if L takes at most `max_values` values, all multiples of one unit; else None."""
        return None

    @property
    def spacing(self) -> float:
        """The spacing of the grid that L was put on, or 0."""
        return 0.0

    @property
    def infinite(self) -> float:
        """P[L is infinite], which the transform excludes."""
        return 0.0

    @property
    def smoothness(self) -> float:
        """A g such that |m(c + iy)| <= m(c) e^(-g y^2 / 2)."""
        return 0.0

    @property
    @abstractmethod
    def largest(self) -> float:
        """sup L."""

    @property
    @abstractmethod
    def mean(self) -> float:
        """E L, the KL divergence of P from Q."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """Var L."""


@dataclass(frozen=True)
class Coin(Pair):
    """L = +-epsilon with odds e^epsilon: dominates every epsilon-private mechanism (Kairouz, Oh, Viswanath 2015)."""

    epsilon: float

    def log_transform(self, z: Complex) -> Complex:
        """cosh((z + 1/2) e) / cosh(e / 2)."""
        e, w = self.epsilon, (z + 0.5) * self.epsilon
        return w + np.log1p(np.exp(-2 * w)) - e / 2 - math.log1p(math.exp(-e))

    def multiples(self, max_values: int) -> Multiples | None:
        lie = math.exp(-self.epsilon)
        return Multiples(self.epsilon, -1, 2, np.array([lie, 1]) / (1 + lie))

    @property
    def largest(self) -> float:
        return self.epsilon

    @property
    def mean(self) -> float:
        return self.epsilon * math.tanh(self.epsilon / 2)

    @property
    def variance(self) -> float:
        deviation = self.epsilon / math.cosh(min(self.epsilon, 600.0) / 2)
        return deviation * deviation


@dataclass(frozen=True)
class BoundedRangePair(Pair):
    """L has a density proportional to e^(L/2) on [-epsilon, epsilon]: dominates all whose ln P/Q has range epsilon.

    Its profile is the supremum of their profiles, (1 - e^-(epsilon - e)/2)^2 / (1 - e^-epsilon) for |e| <= epsilon
    (`loss.BoundedRange`): P[L > e] = delta(e) - delta'(e) = (1 - e^-(epsilon - e)/2) / (1 - e^-epsilon).  A supremum of
    profiles is the profile of a pair, and dominating pairs compose adaptively (Zhu, Dong, Wang 2022, theorem 10).
    """

    epsilon: float

    def log_transform(self, z: Complex) -> Complex:
        """sinh((z + 1/2) e) / ((2 z + 1) sinh(e / 2))."""
        e, w = self.epsilon, 2 * z + 1
        return z * e + np.log(-np.expm1(-w * e)) - np.log(w) - math.log(-math.expm1(-e))

    @property
    def largest(self) -> float:
        return self.epsilon

    @property
    def mean(self) -> float:
        """e coth(e / 2) - 2, about e^2 / 6."""
        e = self.epsilon
        return e / math.tanh(e / 2) - 2 if e > 0.01 else e * e / 6

    @property
    def variance(self) -> float:
        """4 - (e / sinh(e / 2))^2, about e^2 / 3."""
        e = self.epsilon
        return 4 - (e / math.sinh(min(e, 1400.0) / 2)) ** 2 if e > 0.01 else e * e / 3


@dataclass(frozen=True)
class LaplaceShift(Pair):
    """Continuous Laplace noise, sensitivity over scale = epsilon."""

    epsilon: float

    def log_transform(self, z: Complex) -> Complex:
        """e^(-e/2) (cosh(w e) + sinh(w e) / (2 w)), w = z + 1/2."""
        e, w = self.epsilon, z + 0.5
        less = np.expm1(-2 * w * e)
        return w * e - e / 2 + np.log(1 + less * (0.5 - 0.25 / w))

    @property
    def largest(self) -> float:
        return self.epsilon

    @property
    def mean(self) -> float:
        """e - 1 + e^-e; for small e by its series, from above."""
        e = self.epsilon
        if e > 0.01:
            return e + math.expm1(-e)
        return e * e / 2 * (1 - e / 3 * (1 - e / 4 * (1 - e / 5 * (1 - e / 6)))) * FEW_ULPS

    @property
    def variance(self) -> float:
        e = self.epsilon
        return 3 - math.exp(-2 * e) - (2 + 4 * e) * math.exp(-e) if e > 0.01 else e * e * (1 - e / 3)


@dataclass(frozen=True)
class DiscreteLaplaceShift(Pair):
    """Discrete Laplace noise of the given scale on an integer that moves by `shift`."""

    scale: Fraction
    shift: int

    def log_transform(self, z: Complex) -> Complex:
        """((e^u + q^d e^-u) + (1 - q) sum_{0<k<d} q^k e^(u - 2zk/s)) / (1 + q), u = z d / s, q = e^(-1/s)."""
        rate = float(1 / self.scale)
        u, w = z * (self.shift * rate), (2 * z + 1) * rate
        inner = -np.exp(-w) * np.expm1(-w * (self.shift - 1)) / -np.expm1(-w)
        total = 1 + np.exp(-w * self.shift) - math.expm1(-rate) * inner
        return u + np.log(total) - math.log1p(math.exp(-rate))

    def multiples(self, max_values: int) -> Multiples | None:
        if self.shift >= max_values or self.largest > 700:
            return None
        return Multiples(float(1 / self.scale), -self.shift, 2, self._losses[1][::-1])

    @property
    def largest(self) -> float:
        return float(self.shift / self.scale)

    @cached_property
    def _moments(self) -> tuple[float, float]:
        """Mean and variance; for long shifts those of continuous noise, whose mean is less by rate / (3 shift)."""
        if self.shift > 2**16:
            smooth, e = LaplaceShift(self.largest), self.largest
            return min(e, smooth.mean * (1 + e / self.shift**2)), smooth.variance
        losses, masses = self._losses
        rate, k = float(1 / self.scale), np.arange((self.shift + 1) // 2)
        high = (self.shift - 2 * k) * rate  # losses; the masses of their negatives differ by a factor
        with np.errstate(over="ignore", invalid="ignore"):
            mean = float(masses[: k.size] @ (high * -np.expm1(-high)))
            return mean, float((losses - mean) ** 2 @ masses)

    @property
    def _losses(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        rate, k = float(1 / self.scale), np.arange(1, self.shift, dtype=float)
        q, d = math.exp(-rate), self.shift
        losses = np.concatenate([[d], d - 2 * k, [-d]]) * rate
        masses = np.concatenate([[1.0], -math.expm1(-rate) * np.exp(-k * rate), [math.exp(-d * rate)]]) / (1 + q)
        return losses, masses

    @property
    def mean(self) -> float:
        return self._moments[0]

    @property
    def variance(self) -> float:
        return self._moments[1]


@dataclass(frozen=True)
class GaussianShift(Pair):
    """Continuous Gaussian noise, sensitivity over sigma = mu: L is normal, of mean mu^2 / 2 and variance mu^2."""

    mu: float

    def log_transform(self, z: Complex) -> Complex:
        """mu^2 z (z + 1) / 2."""
        return self.mu**2 / 2 * z * (z + 1)

    @property
    def smoothness(self) -> float:
        return self.mu**2

    @property
    def largest(self) -> float:
        return math.inf if self.mu else 0.0

    @property
    def mean(self) -> float:
        return self.mu**2 / 2

    @property
    def variance(self) -> float:
        return self.mu**2


@dataclass(frozen=True)
class DiscreteGaussianShift(Pair):
    """Discrete Gaussian noise on an integer that moves by `shift`."""

    sigma2: Fraction
    shift: int

    def log_transform(self, z: Complex) -> Complex:
        """d^2 z (z + 1) / (2 s) + ln R(zd), R(a) = sum_k e^(-(k - a)^2/(2 s)) / sum_k e^(-k^2/(2 s)), s = sigma^2.

        L lies on a lattice, so the imaginary part of z may be taken modulo 2 pi s / d, up to a phase.  There, by
        Poisson summation, R(a) = sum_j e^(-2 pi^2 s j^2) cos(2 pi j a) / sum_j e^(-2 pi^2 s j^2).
        """
        s, d = float(self.sigma2), self.shift
        turns = np.rint(z.imag * d / (2 * math.pi * s))
        z = z - 2j * math.pi * s / d * turns
        smooth = d * d / (2 * s) * z * (z + 1) + 1j * math.pi * d * turns
        return np.asarray(smooth + self._log_ripple(z * d, s))

    @staticmethod
    def _log_ripple(a: Complex, s: float) -> Complex:
        if s < 0.2:  # few terms of the sum matter; the largest is factored out
            off = np.rint(a.real) - a
            largest = (-(off**2) / (2 * s)).real
            k = np.arange(1, 3 + int(math.sqrt(1600 * s)))[:, None]
            terms = np.exp(-((off - k) ** 2) / (2 * s) - largest) + np.exp(-((off + k) ** 2) / (2 * s) - largest)
            whole = math.log1p(2 * float(np.exp(-(k**2) / (2 * s)).sum()))
            return np.asarray(np.log(np.exp(-(off**2) / (2 * s) - largest) + terms.sum(axis=0)) + largest - whole)
        j = np.arange(1, 6)[:, None]
        damp = -2 * math.pi**2 * s * j**2
        waves = np.exp(damp + 2j * math.pi * j * a) + np.exp(damp - 2j * math.pi * j * a)
        return np.asarray(np.log(1 + waves.sum(axis=0)) - math.log1p(2 * float(np.exp(damp).sum())))

    def multiples(self, max_values: int) -> Multiples | None:
        """Losses (d + 2 z) d / (2 sigma^2), except for noises z with a mass below 1e-304 each."""
        if self.sigma2 * 1400 > max_values**2:
            return None
        far = math.isqrt(math.ceil(1400 * self.sigma2)) + 1
        weights = np.exp(-(np.arange(-far, far + 1.0) ** 2) / float(2 * self.sigma2))
        unit = float(Fraction(self.shift) / (2 * self.sigma2))
        return Multiples(unit, self.shift - 2 * far, 2, weights / weights.sum())

    @property
    def largest(self) -> float:
        return math.inf

    @property
    def mean(self) -> float:
        return self.shift**2 / float(2 * self.sigma2)

    @property
    def variance(self) -> float:
        from ..law import DiscreteGaussianLaw

        exact = float(self.sigma2) if self.sigma2 > 4 else DiscreteGaussianLaw(self.sigma2).variance()
        return (self.shift / float(self.sigma2)) ** 2 * exact


@dataclass(frozen=True)
class _ThreeLosses(Pair):
    """L is epsilon, -epsilon or 0."""

    epsilon: float

    @cached_property
    @abstractmethod
    def _chances(self) -> tuple[float, float, float]:
        """The probabilities of epsilon, of -epsilon and of 0."""

    def log_transform(self, z: Complex) -> Complex:
        own, other, third = self._chances
        lead = z * self.epsilon
        return lead + np.log(own + third * np.exp(-lead) + other * np.exp(-2 * lead))

    def multiples(self, max_values: int) -> Multiples | None:
        own, other, third = self._chances
        return Multiples(self.epsilon, -1, 1, np.array([other, third, own]))

    @property
    def largest(self) -> float:
        return self.epsilon

    @property
    def mean(self) -> float:
        return self.epsilon * (self._chances[0] - self._chances[1])

    @property
    def variance(self) -> float:
        own, other, third = self._chances
        return self.epsilon * self.epsilon * (4 * own * other + third * (own + other))


@dataclass(frozen=True)
class Response(_ThreeLosses):
    """Randomized response over k categories: the loss is 0 where the report is a third category."""

    categories: int

    @cached_property
    def _chances(self) -> tuple[float, float, float]:
        own = 1 / (1 + (self.categories - 1) * math.exp(-self.epsilon))
        low = math.exp(-self.epsilon) * own
        return own, low, (self.categories - 2) * low


@dataclass(frozen=True)
class RareCoin(_ThreeLosses):
    """A coin of odds e^epsilon that is shown only with probability `shown`."""

    shown: float

    @cached_property
    def _chances(self) -> tuple[float, float, float]:
        own = self.shown / (1 + math.exp(-self.epsilon))
        return own, math.exp(-self.epsilon) * own, 1 - self.shown
