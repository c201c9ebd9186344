r"""How far sums of independent noises stray.

The error of a query is sum a_i Z_i.  Let Z_i have scale b_i (Laplace) or sigma_i (Gaussian), V = sum (a_i b_i)^2, and C
at least the largest |a_i b_i|.

One noise.  A discrete Laplace noise in steps of g exceeds b ln(1 / beta) + g / 2 with probability at most beta, since
P[|Z| > t] <= 2 q^t / (1 + q) and 1 + q >= 2 sqrt(q), q = exp(-g / b).

Mean.  The sum of m Laplace noises is a difference of two Gamma(m), so that
E|sum| = sd sqrt(2 m / pi) Gamma(m + 1/2) / Gamma(m + 1); for Gaussian noises, or many, it is sd sqrt(2 / pi).  One
discrete Laplace noise has E|Z| = sd sqrt(2 q) / (1 + q).

Tails.  P[|sum| > t] <= 2 exp(-l t) prod E exp(l a_i Z_i) by Markov's inequality.  For discrete Laplace noise
E exp(l Z) = 1 / (1 - (cosh l - 1) / (cosh(1/b) - 1)) <= 1 / (1 - (b l)^2), as cosh(sqrt u) - 1 is convex and 0 at 0.
-ln(1 - u) is such a function too, so the product is at most (1 - (C l)^2)^(-V / C^2).  With x = C l, m = V / C^2 and
every x < 1 valid,  t = C min_x (ln(2 / beta) - m ln(1 - x^2)) / x  is enough; the best of a grid is taken.  For a
discrete Gaussian noise E exp(l Z) <= exp((l sigma)^2 / 2) gives t = sqrt(2 V ln(2 / beta)).

References.  Kotz, Kozubowski, Podgorski, The Laplace Distribution (2001), 2.3; Boucheron, Lugosi, Massart (2013), 2.4;
Canonne, Kamath, Steinke, NeurIPS 2020, for the moments of the discrete Gaussian.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammaln

from ..mechanisms import Laplace
from .data import Floats
from .price import Noise

_TILTS = np.concatenate([np.geomspace(1e-5, 0.5, 200), 1 - np.geomspace(0.5, 1e-4, 80)[1:]])


@dataclass(frozen=True)
class Spread:
    """Errors of queries: `energies` is V, `largest` is C, and `grain` half a step where the error is a single noise."""

    laplace: bool
    deviations: Floats
    energies: Floats
    largest: Floats
    grain: Floats

    @classmethod
    def of(cls, noise: Noise, squares: Floats, largest: Floats | float | None = None) -> Spread:
        """Sums of noises of one law: coefficients 0 and 1, `squares` of them 1, or any whose squares add up to this.

        Then none is above `largest`, and even a query with a square of 1 may be made of many noises.
        """
        step = float(noise.grid or 1)
        size = float(noise.scale) if isinstance(noise, Laplace) else noise.sigma
        top = np.broadcast_to(np.asarray(1.0 if largest is None else largest), squares.shape)
        deviations = np.sqrt(squares * noise.noise().variance()) * step
        grain = np.where((squares == 1) & (largest is None), step / 2, 0.0)
        return cls(isinstance(noise, Laplace), deviations, squares * size**2, top * size, grain)

    def __len__(self) -> int:
        return len(self.deviations)

    @cached_property
    def _terms(self) -> Floats:
        """V / C^2: how many equal noises each error is like."""
        known = (self.largest > 0) & np.isfinite(self.largest)
        return np.divide(self.energies, self.largest**2, out=np.ones_like(self.energies), where=known)

    @cached_property
    def means(self) -> Floats:
        """The expected absolute value of each error."""
        if not self.laplace:
            return self.deviations * math.sqrt(2 / math.pi)
        m = np.maximum(self._terms, 2.0)
        several = np.exp(0.5 * np.log(2 * m / math.pi) + gammaln(m + 0.5) - gammaln(m + 1))
        q = np.exp(-2 * self.grain / np.where(self.grain > 0, self.largest, 1.0))
        return self.deviations * np.where(self.grain > 0, np.sqrt(2 * q) / (1 + q), several)

    def reach(self, beta: float) -> Floats:
        """What each error is within, with probability at least 1 - beta each."""
        if not self.laplace:
            return np.sqrt(2 * self.energies * math.log(2 / beta))
        digits = 10.0 ** (np.floor(np.log10(np.maximum(self._terms, 1e-9))) - 2)
        few, at = np.unique(np.ceil(self._terms / digits) * digits, return_inverse=True)  # upward, to three digits
        sums = np.min((math.log(2 / beta) - few[:, None] * np.log1p(-(_TILTS**2))) / _TILTS, axis=1)
        alone = self.largest * math.log(1 / beta) + self.grain
        together = np.minimum(self.largest * sums[at], self.deviations / math.sqrt(beta))  # the latter by Chebyshev
        return np.where(self.grain > 0, alone, together) * (1 + 1e-12)

    def worst(self, beta: float) -> float:
        """What the largest of all errors is within, by a union bound."""
        return float(self.reach(beta / len(self)).max())


def joined(spreads: list[Spread], times: list[int]) -> Spread:
    """Errors one after the other, each of them so many times, under one kind of noise."""
    names = ("deviations", "energies", "largest", "grain")
    each = (np.concatenate([getattr(s, name) for s in spreads]) for name in names)
    return Spread(spreads[0].laplace, *(np.repeat(values, times) for values in each))
