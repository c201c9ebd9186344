r"""How far a weighted sum of independent noises lies from zero: bounds that hold exactly, at any number of noises.

Let S = sum_j w_j Z_j with integer noises Z_j.

Gaussian.  If Z is a discrete Gaussian and N a continuous one of the same sigma, then P[N >= k + 1] <= P[Z >= k] <=
P[N >= k - 1] for every integer k, so both can be drawn together with |Z - N| <= 1 (the tests compare these tails).
Hence |S| <= |w|_2 sigma z + |w|_1 with probability 1 - beta, where z is the normal quantile at 1 - beta / 2.  On a fine
grid, noise has many steps and the second term is nothing.

Laplace.  E exp(x Z) = 1 / (1 - (cosh x - 1) / (cosh(1/s) - 1)) <= 1 / (1 - (s x)^2) for |x| < 1/s, since (cosh x - 1) /
x^2 grows with |x|.  So by Chernoff |S| <= (ln(2 / beta) - sum_j ln(1 - (s w_j x)^2)) / x with probability 1 - beta, for
every x between 0 and 1 / (s max |w|); the least over a few x is taken.

References.  Canonne, Kamath, Steinke, NeurIPS 2020, proposition 25, for the tails of discrete Gaussians.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..additive.gaussian import Gaussian
from ..additive.laplace import Laplace

Floats = NDArray[np.float64]

_UP = 1 + 1e-9  # on what floating point computes
PLACES = np.linspace(0.02, 0.98, 49)  # of x, as shares of the largest that is allowed


def radius(noise: Laplace | Gaussian, weights: Floats, beta: float) -> float:
    """The sum of noises with these weights is no further from zero, with probability at least 1 - beta."""
    used = np.abs(weights[weights != 0])
    if not used.size:
        return 0.0
    if isinstance(noise, Gaussian):
        return float(gaussian_radii(noise, np.sum(used**2), np.sum(used), beta))
    largest, scale = float(np.max(used)), float(noise.scale)
    sizes, repeats = np.unique(used / largest, return_counts=True)
    logs = np.log1p(-np.square(np.outer(sizes, PLACES)))
    return float(laplace_radii(repeats.astype(float) @ logs, scale * largest, beta))


def gaussian_radii(noise: Gaussian, l2_squared: Floats | float, l1: Floats | float, beta: float) -> Floats:
    """The radii of sums whose weights have these norms."""
    return np.asarray((np.sqrt(l2_squared) * noise.sigma * normal_quantile(beta) + l1) * _UP)


@lru_cache(maxsize=64)
def normal_quantile(beta: float) -> float:
    """The least z, to 2^-40, at which a standard normal is further from zero with probability at most beta."""
    low, high = 0.0, 40.0
    while high - low > 2.0**-40:
        middle = (low + high) / 2
        low, high = (low, middle) if math.erfc(middle / math.sqrt(2)) <= beta else (middle, high)
    return high


def laplace_radii(logs: Floats, largest: float, beta: float) -> Floats:
    """The least over x = `PLACES` / `largest` of the Chernoff bound; `logs` are the sums of ln(1 - (s w x)^2)."""
    return np.asarray(np.min((math.log(2 / beta) - logs) / PLACES, axis=-1) * largest * _UP)
