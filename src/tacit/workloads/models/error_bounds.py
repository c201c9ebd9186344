r"""Error bounds for sums of independent noises.

The error of a query is sum a_i Z_i.  Let Z_i have scale b_i (Laplace) or sigma_i (Gaussian), V = sum (a_i b_i)^2, and C
at least the largest |a_i b_i|.

One noise.  A discrete Laplace noise in steps of g exceeds b ln(1 / beta) + g / 2 with probability at most beta, since
P[|Z| > t] <= 2 q^t / (1 + q) and 1 + q >= 2 sqrt(q), q = exp(-g / b).

Mean.  |k| is the mean of (1 - cos k t) / (1 - cos t) over t, and a discrete Laplace noise of variance v, in steps, has
E cos t Z = 1 / (1 + v (1 - cos t)).  So for the sum S of m of them, by powers of v and Pfaff's transformation,
    E|S| = m v F(1/2, m + 1; 2; -2 v) = sd sqrt(m x / 2) F(1/2, 1 - m; 2; x),      x = 2 v / (1 + 2 v).
If m grows and r = m v stays, this is r e^-r (I_0(r) + I_1(r)), which serves for many noises and for Gaussian ones: it
is right if r is small, as E|S| is then r, and if it is large, when E|S| is sd sqrt(2 / pi); between, an eighth too low
for one Gaussian noise, and less for more.  For unequal coefficients r is that of equal ones with the same sums of a and
of a^2: (sum |a|)^2 / sum a^2 of them.

Tails.  P[|sum| > t] <= 2 exp(-l t) prod E exp(l a_i Z_i) by Markov's inequality.  For discrete Laplace noise
E exp(l Z) = 1 / (1 - (cosh l - 1) / (cosh(1/b) - 1)) <= 1 / (1 - (b l)^2), as cosh(sqrt u) - 1 is convex and 0 at 0.
-ln(1 - u) is such a function too, so the product is at most (1 - (C l)^2)^(-V / C^2).  With x = C l, m = V / C^2 and
every x < 1 valid,  t = C min_x (ln(2 / beta) - m ln(1 - x^2)) / x  is enough; the best of a grid is taken.  For a
discrete Gaussian noise E exp(l Z) <= exp((l sigma)^2 / 2) gives t = sqrt(2 V ln(2 / beta)).

Steps of Gaussian noise.  A discrete Gaussian Z in steps of 1 and a normal N of the same sigma can be drawn together so
that |Z - N| <= 1: by one quantile, as P[N > m] <= P[Z >= m] <= P[N >= m - 1] for m >= 1.  Compare the sums of f(k) =
exp(-k^2 / (2 sigma^2)) with integrals.  On the right, that of all f is at least its integral.  On the left, it is at
most 1 + 1 / (2 sigma) times that, and from sigma = 1 on 1 + 3 exp(-2 pi^2 sigma^2) times, by Poisson's formula; but the
sum from m on is at least 1 + 1 / (2 sigma^2) times its integral, as f(k) is of the mean of f on [k, k + 1].  So
D = Z - N is bounded and symmetric.  With steps g_i and G = sum (a_i g_i)^2, Hoeffding's inequality has sum a_i g_i D_i
within sqrt(2 G ln(2 / b)) but for b.  Then t = sqrt(V) z + sqrt(2 G ln(2 / b)) is enough, P[|N(0, 1)| > z] = beta - b,
and t = sqrt(V) z + sqrt(G) for one noise, b = 0.  The best b is about sqrt(G / V) beta / 2; any is right.

The largest of k errors S_j.  With X = sum_j (e^(l S_j) + e^(-l S_j)) >= 2 k, max |S_j| <= ln X / l.  From e on, and so
for k >= 2, the square of ln is concave: E max |S_j|^2 <= (ln E X / l)^2 by Jensen's inequality, which is t^2 at beta =
1 / k in the bounds by Markov's inequality above, of the largest V and C.  It is at most sum_j E S_j^2, too.

One above all.  If a Z has c = a b, and the rest R of the sum V - c^2 < c^2, then P[|a Z + R| > t] given R is at most
exp(-(t - a g / 2) / c) cosh(R / c), also where |R| > t, and E cosh(R / c) <= 1 / (1 - (V - c^2) / c^2) as above.  So
t = c ln(1 / beta) + a g / 2 - c ln(2 - V / c^2)  is enough, which for one noise is the bound above.

References.  Kotz, Kozubowski, Podgorski, The Laplace Distribution (2001), 2.3; Boucheron, Lugosi, Massart (2013), 2.4
and 2.6; Canonne, Kamath, Steinke, NeurIPS 2020, for the moments of the discrete Gaussian and its upper tail; DLMF 15.8
and 10.32.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import hyp2f1, ive, ndtri

from ...mechanisms import Laplace
from ...storage import stored
from ..price import Noise, variance
from ..queries.data import Floats

_MANY = 40.0  # noises, whose sum has about the law of a sum of any number more
_MIN_PART = 2.0**-40  # of beta, that steps have
_SMOOTH = 1e8  # a variance, in steps, that makes steps invisible
_TILTS = np.concatenate([np.geomspace(1e-5, 0.5, 200), 1 - np.geomspace(0.5, 1e-4, 80)[1:]])


@stored("ErrorBounds", ("laplace", "deviations", "energies", "largest", "grain", "steps", "rates"))
@dataclass(frozen=True)
class Spread:
    """The errors of queries: `energies` is V, `largest` is C, and `grain` is added where one noise is above all others.

    `steps` is G, which serves for Gaussian noise.  `rates` is r: the variance of each error in steps of its
    coefficients, or infinite, if steps are ignored.
    """

    laplace: bool
    deviations: Floats
    energies: Floats
    largest: Floats
    grain: Floats
    steps: Floats
    rates: Floats

    @classmethod
    def of(
        cls, noise: Noise, squares: Floats, largest: Floats | float | None = None, terms: Floats | float | None = None
    ) -> Spread:
        """The errors of sums of noises of one law; `squares` are the sums of the squared coefficients.

        Without `largest`, coefficients are 0 and 1.  Otherwise they are any that do not exceed `largest`, and even a
        query with a square of 1 may be made of many noises: like `terms` equal ones, or else as few as can be.
        """
        step = float(noise.grid or 1)
        size = noise.noise_scale
        top = np.broadcast_to(np.asarray(1.0 if largest is None else largest), squares.shape)
        deviations = np.sqrt(squares * variance(noise)) * step
        laplace, alone = isinstance(noise, Laplace), (squares == 1) & (largest is None)
        grain = np.where(alone, step / 2 if laplace else step, 0.0)
        if terms is None:
            terms = np.divide(squares, top**2, out=np.ones_like(squares), where=(top > 0) & np.isfinite(top))
        rates = np.broadcast_to(terms * variance(noise), squares.shape)
        return cls(laplace, deviations, squares * size**2, top * size, grain, squares * step**2, rates)

    def __len__(self) -> int:
        return len(self.deviations)

    @cached_property
    def _terms(self) -> Floats:
        """V / C^2: how many equal noises each error is like."""
        bounded = (self.largest > 0) & np.isfinite(self.largest)
        return np.divide(self.energies, self.largest**2, out=np.ones_like(self.energies), where=bounded)

    @cached_property
    def means(self) -> Floats:
        """The expected absolute value of each error."""
        r = np.minimum(self.rates, _SMOOTH)
        m = np.maximum(self._terms, 1.0) if self.laplace else np.full_like(r, np.inf)
        few = np.minimum(m, _MANY)
        x = 2 * r / (few + 2 * r)
        keys = np.rint(1000 * np.log10(few)).astype(np.int64) << 20 | np.rint(10_000 * x).astype(np.int64)
        _, first, at = np.unique(keys, return_index=True, return_inverse=True)  # to three digits
        several = np.sqrt(few * x / 2) * hyp2f1(0.5, 1 - few[first], 2, x[first])[at]
        return np.asarray(self.deviations * np.where(m > _MANY, np.sqrt(r) * (ive(0, r) + ive(1, r)), several))

    def bounds(self, beta: float) -> Floats:
        """A bound on each error, which holds with probability at least 1 - beta each."""
        if not self.laplace:
            tails = np.minimum(self._normal(beta), np.sqrt(2 * self.energies * math.log(2 / beta)))
            return np.minimum(tails, self.deviations / math.sqrt(beta)) * (1 + 1e-12)  # the latter by Chebyshev
        digits = 10.0 ** (np.floor(np.log10(np.maximum(self._terms, 1e-9))) - 2)
        few, at = np.unique(np.ceil(self._terms / digits) * digits, return_inverse=True)  # upward, to three digits
        sums = np.min((math.log(2 / beta) - few[:, None] * np.log1p(-(_TILTS**2))) / _TILTS, axis=1)
        alone = self.largest * math.log(1 / beta) + self.grain
        together = np.minimum(self.largest * sums[at], self.deviations / math.sqrt(beta))
        least: Floats = np.where(self.grain > 0, np.minimum(alone, together), together) * (1 + 1e-12)
        return least

    def _normal(self, beta: float) -> Floats:
        """Bounds on errors of Gaussian noise, by nearby normal noises."""
        deviations, steps = np.sqrt(self.energies), np.sqrt(self.steps)
        bounded = (self.energies > 0) & np.isfinite(self.energies)
        b = beta * np.clip(np.divide(steps, deviations, out=np.ones_like(steps), where=bounded), _MIN_PART, 1) / 2
        together = deviations * -ndtri((beta - b) / 2) + steps * np.sqrt(2 * np.log(2 / b))
        alone = deviations * -ndtri(beta / 2) + self.grain
        return np.asarray(np.where(self.grain > 0, np.minimum(alone, together), together))

    def worst(self, beta: float) -> float:
        """A bound on the largest of all errors, with probability 1 - beta, by a union bound."""
        return float(self.bounds(beta / len(self)).max())

    def root_mean_square_of_largest(self, size: int | None = None) -> float:
        """A bound on the root mean square, and so the mean, of the largest of all errors, or of `size` such errors."""
        k, deviation = len(self) if size is None else size, float(self.deviations.max())
        together = deviation * math.sqrt(k)
        energy, most = float(self.energies.max()), float(self.largest.max())
        if k == 1 or not (math.isfinite(energy) and 0 < most < math.inf):
            return together
        if not self.laplace:
            return min(together, math.sqrt(2 * energy * math.log(2 * k))) * (1 + 1e-12)
        tails = (math.log(2 * k) - energy / most**2 * np.log1p(-(_TILTS**2))) / _TILTS
        return min(together, most * float(tails.min())) * (1 + 1e-12)


def joined(spreads: list[Spread], times: list[int]) -> Spread:
    """The errors of several workloads one after the other, each repeated so many times, under one kind of noise."""
    names = ("deviations", "energies", "largest", "grain", "steps", "rates")
    each = (np.concatenate([getattr(s, name) for s in spreads]) for name in names)
    return Spread(spreads[0].laplace, *(np.repeat(values, times) for values in each))
