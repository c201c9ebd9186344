"""Integer noise for comparisons: three laws whose masses and tails are arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...core import law, samplers
from ...core.exact import TINY
from ...core.randomness import Source

Integers = NDArray[np.int64]
Masses = NDArray[np.float64]


class ComparisonNoise(Protocol):
    """A law on the integers.  Each tail is computed for itself, so that small ones keep their digits."""

    @property
    def mean(self) -> float: ...

    def mass(self, z: Integers) -> Masses:
        """P[Z = z]."""

    def at_least(self, t: Integers) -> Masses:
        """P[Z >= t]."""

    def below(self, t: Integers) -> Masses:
        """P[Z < t]."""

    def interval(self, tail: float) -> tuple[int, int]:
        """The ends of an interval outside of which lies mass at most `tail`."""

    def draw(self, source: Source, n: int | None = None) -> Any:
        """One draw, or an array of n."""


@dataclass(frozen=True)
class Geometric:
    """The geometric law, P[Z = z] = (1 - q) q^z for z >= 0, q = exp(-1/scale)."""

    scale: Fraction

    @cached_property
    def _rate(self) -> float:
        return float(1 / self.scale)

    @property
    def mean(self) -> float:
        return math.exp(-self._rate) / -math.expm1(-self._rate)

    def mass(self, z: Integers) -> Masses:
        return np.where(z < 0, 0.0, -math.expm1(-self._rate) * self.at_least(z))

    def at_least(self, t: Integers) -> Masses:
        return np.exp(-self._rate * np.maximum(t, 0))

    def below(self, t: Integers) -> Masses:
        return -np.expm1(-self._rate * np.maximum(t, 0))

    def interval(self, tail: float) -> tuple[int, int]:
        return 0, law.GeometricLaw(self.scale).tail_quantile(tail)

    def draw(self, source: Source, n: int | None = None) -> Any:
        return samplers.geometric(self.scale, source, n)


@dataclass(frozen=True)
class DiscreteLaplace:
    """The discrete Laplace law, P[Z = z] proportional to exp(-|z| / scale)."""

    scale: Fraction
    mean = 0.0

    @cached_property
    def _rate(self) -> float:
        return float(1 / self.scale)

    def mass(self, z: Integers) -> Masses:
        return np.asarray(math.tanh(self._rate / 2) * np.exp(-self._rate * np.abs(z)))

    def at_least(self, t: Integers) -> Masses:
        far = np.exp(-self._rate * np.where(t > 0, t, 1 - t)) / (1 + math.exp(-self._rate))
        return np.where(t > 0, far, 1 - far)

    def below(self, t: Integers) -> Masses:
        return self.at_least(1 - t)

    def interval(self, tail: float) -> tuple[int, int]:
        end = law.DiscreteLaplaceLaw(self.scale).tail_quantile(tail)
        return -end, end

    def draw(self, source: Source, n: int | None = None) -> Any:
        return samplers.laplace(self.scale, source, n)


@dataclass(frozen=True)
class DiscreteGaussian:
    """The discrete Gaussian law, P[Z = z] proportional to exp(-z^2 / (2 sigma2))."""

    sigma2: Fraction
    mean = 0.0

    @cached_property
    def _law(self) -> law.DiscreteGaussianLaw:
        return law.DiscreteGaussianLaw(self.sigma2)

    @cached_property
    def _upper(self) -> Masses:
        """P[Z >= t] for t = 0, 1, ...; for a large sigma only at 0, since the table would be long."""
        end = self._law.tail_quantile(TINY) if self.sigma2 <= 10**6 else 0
        return np.array([self._law.at_least(t) for t in range(end + 1)])

    def mass(self, z: Integers) -> Masses:
        return np.asarray(np.exp(-(z.astype(float) ** 2) / float(2 * self.sigma2)) / self._law.total)

    def at_least(self, t: Integers) -> Masses:
        far = np.where(t > 0, t, 1 - t)
        if self.sigma2 > 10**6:
            tails = np.array([self._law.at_least(k) for k in far.tolist()])
        else:
            tails = self._upper[np.minimum(far, self._upper.size - 1)]
        return np.where(t > 0, tails, 1 - tails)

    def below(self, t: Integers) -> Masses:
        return self.at_least(1 - t)

    def interval(self, tail: float) -> tuple[int, int]:
        end = self._law.tail_quantile(tail)
        return -end, end

    def draw(self, source: Source, n: int | None = None) -> Any:
        return samplers.gaussian(self.sigma2, source, n)
