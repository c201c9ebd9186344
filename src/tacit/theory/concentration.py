"""Simulations of the inequalities behind advanced composition, beside certified values.

Azuma: k losses, each within +-eps, exceed the sum of their means by t with probability at most
exp(-t^2 / (2 k eps^2)). A Gaussian loss is unbounded, but normal with deviation mu, and Chernoff's bound for a normal
variable is Azuma's bound with mu for eps.
Pinsker: TV(P, Q) <= sqrt(KL(P || Q) / 2). The simulation estimates TV(P, Q) = E (1 - e^-L)_+.

Draws are words of the system's generator rounded to 53 bits: good enough for a plot, not for a release.
DR16 = Dwork & Rothblum 2016.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.special import ndtri

from ..composition import azuma, hoeffding_inverse, pinsker
from ..core.accounting.atoms import GaussianNoise, KaryResponse, LaplaceNoise
from ..core.accounting.distribution import Distribution
from ..core.accounting.loss import Loss
from ..core.exact import logistic
from ..core.parameters import Number, rational
from ..core.pld.composition_bounds import Interval
from ..core.randomness import SYSTEM, Source
from ..core.samplers import bernoulli
from . import _validate as check
from ._validate import Vector

PAIRS = ("coin", "laplace", "gaussian")
DOUBT = 1e-9  # the chance that a simulation is off by more than its margin


@dataclass(frozen=True, slots=True)
class Deviation:
    """P[the loss of k mechanisms exceeds its mean by more than t]: simulated, certified, and Azuma's bound."""

    k: int
    t: float
    seen: float
    margin: float
    certified: Interval
    azuma: float


@dataclass(frozen=True, slots=True)
class Variation:
    """The total variation distance of a pair: simulated, certified, and Pinsker's bound from its KL divergence."""

    kl: float
    seen: float
    margin: float
    certified: Interval
    pinsker: float


def losses(pair: str, epsilon: Number, size: int, source: Source = SYSTEM) -> Vector:
    """Draws of the privacy loss of a coin of odds e^eps, or of noise shifted by eps scales (or mu deviations)."""
    check.one_of(PAIRS, pair=pair)
    epsilon = check.positive(epsilon=epsilon)
    size = check.count(size=size)
    if pair == "coin":
        heads = bernoulli(logistic(rational("epsilon", epsilon)), source, size)
        return np.asarray(np.where(heads, epsilon, -epsilon))
    uniform = ((source.words(size) >> np.uint64(11)) + 0.5) * 2.0**-53
    if pair == "gaussian":
        return np.asarray(epsilon**2 / 2 + epsilon * ndtri(uniform))
    noise = np.sign(uniform - 0.5) * -np.log1p(-np.abs(2 * uniform - 1))  # in scales: the loss is |y - eps| - |y|
    return np.asarray(np.clip(epsilon - 2 * noise, -epsilon, epsilon))


def deviation(
    pair: str, epsilon: Number, k: int, t: Number, *, samples: int = 10_000, source: Source = SYSTEM
) -> Deviation:
    """The simulated tail of k losses, beside its certified value and Azuma's bound (DR16, Thm 3.3)."""
    k = check.count(k=k)
    samples = check.count(samples=samples)
    t = check.nonnegative(t=t)
    total = losses(pair, epsilon, samples, source)
    for _ in range(k - 1):
        total += losses(pair, epsilon, samples, source)
    law = _law(pair, epsilon).times(k)
    seen = float(np.mean(total > law.mean + t))
    return Deviation(k, t, seen, _margin(samples), law.tail(law.mean + t), azuma(k, epsilon, t))


def variation(pair: str, epsilon: Number, *, samples: int = 10_000, source: Source = SYSTEM) -> Variation:
    """The simulated total variation distance of a pair, beside its certified value and Pinsker's bound."""
    samples = check.count(samples=samples)
    seen = float(np.mean(np.maximum(0, -np.expm1(-losses(pair, epsilon, samples, source)))))
    law = _law(pair, epsilon)
    return Variation(law.mean, seen, _margin(samples), law.delta(0), pinsker(law.mean) / 2)


def _law(pair: str, epsilon: Number) -> Distribution:
    e: Fraction = rational("epsilon", epsilon)
    atom = {"coin": KaryResponse(e, 2), "laplace": LaplaceNoise(e), "gaussian": GaussianNoise(e**2)}[pair]
    return Loss({atom: 1}).distribution()


def _margin(samples: int) -> float:
    """How far the mean of so many numbers in [0, 1] may be from its expectation, except with probability DOUBT."""
    return hoeffding_inverse(samples, DOUBT)
