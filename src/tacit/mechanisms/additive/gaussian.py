r"""The Gaussian mechanism, on the integers.

Definition.  M(x) = x + Z with independent Z_i, P[Z_i = k] proportional to exp(-k^2 / (2 sigma^2)).  Reals go on a
grid first, and sigma is then counted in its steps.

Privacy.  If |x - x'|_2 <= d then M is (d^2 / (2 sigma^2))-zCDP, as for continuous noise.  If only one coordinate
moves, by at most the integer d, the privacy profile is exactly
    delta(e) = P[Z > e sigma^2/d - d/2] - exp(e) P[Z > e sigma^2/d + d/2]:
the ratio is monotone, so the best event is a half-line, and sup_t F(t - d) - exp(e) F(t) grows with d.  If several
move, it is at most the profile of continuous noise of variance sigma^2 - t, t about 0.4
(`core/pld/discrete_gaussian.py`).

Utility.  `error` is the exact quantile of the largest of k noises; `classical_error` is
sigma sqrt(2 ln(2 k / beta)), by sub-Gaussian tails and a union bound.

References.  Canonne, Kamath, Steinke, NeurIPS 2020, theorems 4, 7 and corollary 9; Balle and Wang, ICML 2018, for
calibration by the profile; Bun and Steinke, TCC 2016, for zCDP.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ...core import law as laws
from ...core import samplers
from ...core.accounting.atoms import ApproximateConcentrated, DiscreteGaussianNoise, DiscreteGaussianVector
from ...core.accounting.loss import Loss
from ...core.distance import Distance
from ...core.distance import distance as read_distance
from ...core.errors import BadParameter
from ...core.exact import down
from ...core.mechanism import Example
from ...core.parameters import Number, positive, probability, whole
from ...core.randomness import Source
from ...core.search import least_positive
from ...storage import bare, stored
from .._grid import GridValue
from ._additive import Additive

LARGEST_VARIANCE = Fraction(1 << 120)
_NARROW_SIGMA = 3.0  # sigma in steps of the grid, below which epsilon may rise with sigma
_SHORTEST, _MAX_UNDECIDED = 2.0**-20, 1000  # relative length of an interval of variances; how many stay undecided


@stored("Gaussian", ("sensitivity", "grid", "sigma2"), make=bare)
@dataclass(frozen=True, init=False, repr=False)
class Gaussian(Additive):
    """Add discrete Gaussian noise; pass `rho`, or `sigma` in the units of the value, or `epsilon` and `delta`."""

    sigma2: Fraction

    def __init__(
        self,
        *,
        rho: Number | None = None,
        sigma: Number | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        sensitivity: Number | Distance[Any] = 1,
        grid: Number | None = None,
    ) -> None:
        super().__init__(sensitivity, grid)
        named = [name for name, v in (("rho", rho), ("sigma", sigma), ("epsilon", epsilon)) if v is not None]
        if len(named) != 1 or (epsilon is None) != (delta is None):
            raise BadParameter(
                "parameters",
                named,
                "one of rho, sigma, or epsilon together with delta",
                says="Pass one of rho, sigma, or epsilon together with delta.",
            )
        unit = (self.grid or Fraction(1)) ** 2
        if rho is not None:
            sigma2 = self.moves(None).l2_squared / (2 * positive("rho", rho)) * unit
        elif sigma is not None:
            sigma2 = positive("sigma", sigma) ** 2
        elif epsilon is not None and delta is not None:
            sigma2 = unit * _calibrated(positive("epsilon", epsilon), probability("delta", delta), self.moves(None))
        object.__setattr__(self, "sigma2", sigma2)
        _drawable(self._step_variance)

    @cached_property
    def _step_variance(self) -> Fraction:
        return self.sigma2 if self.grid is None else self.sigma2 / self.grid**2

    @property
    def sigma(self) -> float:
        """The noise's sigma parameter; its standard deviation is never larger."""
        return math.sqrt(self.sigma2)

    def moves(self, by: Number | Distance[Any] | None) -> Distance[Any]:
        """How far data move, in steps of the grid; of a vector only l2 counts, which need not be whole."""
        d = self.sensitivity if by is None else read_distance(by, zero=True)
        return d if self.grid is None and d.l0 != 1 and d.l2_squared >= 1 else super().moves(by)

    theorem = "the exact quantile of discrete Gaussian noise"

    def described(self) -> dict[str, Any]:
        return {"noise": "discrete Gaussian", "sigma": self.sigma}

    @property
    def noise_scale(self) -> float:
        return self.sigma

    @property
    def variance_bound(self) -> Fraction:
        return self.sigma2

    def atom_with_failure(self, d: Distance[Any], failure: Fraction) -> ApproximateConcentrated:
        return ApproximateConcentrated(d.l2_squared / (2 * self._step_variance), failure)

    def noise(self, centre: int = 0) -> laws.DiscreteGaussianLaw:
        return laws.DiscreteGaussianLaw(self._step_variance, centre)

    def draw(self, source: Source, n: int | None) -> Any:
        return samplers.gaussian(self._step_variance, source, n)

    def loss(self, distance: Number | Distance[Any] | None = None) -> Loss:
        return _loss_at(self._step_variance, self.moves(distance))

    def classical_error(self, beta: Number = 0.05, size: int = 1) -> float:
        """sigma sqrt(2 ln(2 k / beta))."""
        nats = math.log(2 * whole("size", size)) - math.log(probability("beta", beta))
        return math.sqrt(self.sigma2 * 2 * nats)

    @classmethod
    def examples(cls) -> Iterable[Example[GridValue]]:
        for sigma in (Fraction(1, 2), Fraction(2), Fraction(15, 2)):
            for d in (1, 3):
                yield Example(cls(sigma=sigma), 0, d, d, draws=200_000)
        yield Example(cls(epsilon=1, delta="1e-6"), 0, 1, 1)
        yield Example(cls(rho="0.5", sensitivity=2), np.array([3, 5]), np.array([4, 4]), 2, {"size": 2})
        yield Example(cls(rho="0.5", sensitivity="0.3", grid="0.25"), 0.12, 0.42, "0.3")


def _drawable(variance: Fraction) -> Fraction:
    return positive("sigma^2 in steps of the grid", variance, LARGEST_VARIANCE)


def _loss_at(variance: Fraction, d: Distance[Any]) -> Loss:
    """The loss of noise of this variance at a distance, both in steps of the grid."""
    rho = d.l2_squared / (2 * variance)
    if not rho:
        return Loss({}, d.relation)
    if d.l0 == 1:
        return Loss({DiscreteGaussianNoise(rho, math.ceil(d.linf), variance): 1}, d.relation)
    return Loss({DiscreteGaussianVector(rho, variance, d.coordinates): 1}, d.relation)


def _calibrated(epsilon: Fraction, delta: Fraction, d: Distance[Any]) -> Fraction:
    """A variance at which the loss is at most (epsilon, delta), while at a sigma less by a relative 2^-20 it is not.

    If one coordinate moves, sigma is below _NARROW_SIGMA and delta at most 1/4, it is also the least that is private.
    """

    def good(variance: Fraction) -> bool:
        return _loss_at(_drawable(variance), d).epsilon(delta) <= epsilon

    start = max(1.0, float(d.linf))
    sigma = least_positive(lambda x: good(Fraction(x) ** 2), start, floor=2.0**-20, precision=2.0**-20)
    if d.l0 == 1 and d.linf and sigma < _NARROW_SIGMA and epsilon < 600 and delta <= Fraction(1, 4):
        return _least_variance(float(epsilon), down(delta), math.ceil(d.linf), Fraction(sigma) ** 2, good)
    return Fraction(sigma) ** 2


def _least_variance(
    epsilon: float, delta: float, shift: int, most: Fraction, good: Callable[[Fraction], bool]
) -> Fraction:
    """The least variance that is good, up to `most`, which is: to a relative 2^-20, with all below ruled out.

    Narrow noise is not the better the wider it is, so no bisection finds the least.  But let F_s(t) = P[Z >= t] at
    variance s.  For every t, delta >= F_s(t - d) - e^epsilon F_s(t); and F_s(t) grows with s if t >= 1, since the
    likelihood ratio of wide to narrow noise grows with z^2, while F_s(t) = 1 - F_s(1 - t) falls if t <= 0.  So

        F_a(t - d) or F_b(t - d), the one that is less,  less  e^epsilon F_b(t),   t >= 1,

    bounds delta from below on all of [a, b], and where it is above `delta` no variance in there will do.  Nor will one
    below d^2 / (2 epsilon + 8), where t = d leaves 1/2 - e^epsilon exp(-d^2 / (2 s)) > 1/4.  From there upwards
    intervals are ruled out, each as long as that allows.  Where one of a relative length 2^-20 is not, `delta` is as
    good as met; its upper end is taken if it is good, and passed over if not, up to _MAX_UNDECIDED times.
    """
    grown = math.exp(epsilon) * (1 + 1e-9)

    def ruled_out(a: float, b: float) -> bool:
        narrow, wide = (laws.DiscreteGaussianLaw(Fraction(x)) for x in (a, b))
        for s in (a, b):
            t = max(1, math.floor(epsilon * s / shift + shift / 2) + 1)
            near = (narrow if t > shift else wide).at_least(t - shift)
            if near * (1 - 1e-9) - grown * wide.at_least(t) > delta:
                return True
        return False

    low, ratio, passed = shift**2 / (2 * epsilon + 8), 2.0, 0
    while low * ratio < most and passed < _MAX_UNDECIDED:
        if ruled_out(low, low * ratio):
            low, ratio = low * ratio, min(2.0, ratio**1.5)
        elif ratio > 1 + _SHORTEST:
            ratio = 1 + (ratio - 1) / 2
        elif good(variance := Fraction(low * ratio)):
            return variance
        else:
            low, passed = low * ratio, passed + 1
    return most
