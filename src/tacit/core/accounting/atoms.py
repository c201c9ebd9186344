"""The atoms of particular mechanisms (additive noise, local reports) and of weaker guarantees.

Each atom states what is proved: pure and Renyi losses, the privacy profile of a single use, and a dominating pair.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ...storage import stored
from .. import law
from ..exact import FEW_ULPS, TINY, hybrid_sum, up
from ..pld.discrete_gaussian import mu_squared
from ..pld.dominating_pairs import (
    DiscreteGaussianShift,
    DiscreteLaplaceShift,
    GaussianShift,
    LaplaceShift,
    Pair,
    RareCoin,
    Response,
)
from .loss import Atom, Concentrated, Loss, Pure

_LEAST_TAIL = 1e-300  # below, floats lose their digits
_ROOT_HALF = math.sqrt(0.5)


@stored("Approximate", ("epsilon", "delta"))
@dataclass(frozen=True)
class Approximate(Pure):
    """(epsilon, delta)-differential privacy and nothing more: epsilon, except with probability delta."""

    delta: Fraction

    def failure(self) -> Fraction:
        return self.delta

    def group(self, k: int) -> Approximate:
        """delta (e^(k epsilon) - 1) / (e^epsilon - 1), the hybrid sum."""
        if k == 1:
            return self
        times = hybrid_sum(k, up(self.epsilon)) if self.epsilon else k
        grown = min(self.delta * Fraction(times), Fraction(1)) if times < math.inf else Fraction(1)
        return Approximate(k * self.epsilon, grown)


@stored("ApproximateConcentrated", ("rho", "delta"))
@dataclass(frozen=True)
class ApproximateConcentrated(Concentrated):
    """(rho, delta)-zCDP: rho, except with probability delta (Bun and Steinke 2016, section 8)."""

    delta: Fraction

    def failure(self) -> Fraction:
        return self.delta

    def group(self, k: int) -> Atom:
        """The hybrid sum: events of probability delta grow with every step from one unit to the next."""
        from .grouped import Grouped  # imported here, as it builds on losses

        return self if k == 1 else Grouped(Loss({self: 1}), k)


@stored("RenyiCurve", ("points",))
@dataclass(frozen=True)
class RenyiCurve(Atom):
    """Renyi divergences at some orders; at any other order, the divergence of the next larger one."""

    points: tuple[tuple[float, float], ...]  # increasing orders

    def renyi(self, order: float) -> float:
        return next((value for at, value in self.points if at >= order), math.inf)

    @property
    def orders(self) -> tuple[float, ...]:
        return tuple(at for at, _ in self.points)

    def group(self, k: int) -> Atom:
        """The loss of k units by doubling orders, where the curve is known, and by the hybrid sum (`grouped.py`)."""
        from .grouped import Grouped  # imported here, as it builds on losses

        return self if k == 1 else Grouped(Loss({self: 1}), k)


@stored("KaryResponse", ("epsilon", "categories"))
@dataclass(frozen=True)
class KaryResponse(Pure):
    """Randomized response over k = `categories` categories (Warner 1965; Kairouz, Oh, Viswanath 2016)."""

    categories: int
    attained = True

    def profile(self, epsilon: float) -> float:
        """p - e^epsilon q = p (1 - e^(epsilon - e0))."""
        own = 1 / (1 + (self.categories - 1) * math.exp(-up(self.epsilon)))
        gap = up(self.epsilon - Fraction(epsilon))
        return min(1.0, -math.expm1(-gap) * own * (1 + 2.0**-40)) if gap > 0 else 0.0

    def pairs(self, spacing: float) -> tuple[Pair, ...]:
        return (Response(up(self.epsilon), self.categories),)

    def group(self, k: int) -> Pure:
        """Reports are independent, so the losses of k people add up."""
        return self if k == 1 else Pure(k * self.epsilon)


@stored("LocalReport", ("epsilon", "telling"))
@dataclass(frozen=True)
class LocalReport(Pure):
    """A report that separates two answers only with probability `telling`, and then by odds of e^epsilon.

    The loss is +-epsilon with that probability and 0 otherwise, as for every frequency oracle.
    """

    telling: Fraction
    attained = True

    def profile(self, epsilon: float) -> float:
        """t (1 - e^(epsilon - e0)) / (1 + e^-e0)."""
        gap = up(self.epsilon - Fraction(epsilon))
        own = up(self.telling) / (1 + math.exp(-up(self.epsilon)))
        return min(1.0, -math.expm1(-gap) * own * (1 + 2.0**-40)) if gap > 0 else 0.0

    def pairs(self, spacing: float) -> tuple[Pair, ...]:
        return (RareCoin(up(self.epsilon), up(self.telling)),)

    def group(self, k: int) -> Pure:
        """Reports are independent, so the losses of k people add up."""
        return self if k == 1 else Pure(k * self.epsilon)


@stored("LaplaceNoise", ("epsilon",))
@dataclass(frozen=True)
class LaplaceNoise(Pure):
    """Continuous Laplace noise, sensitivity over scale = epsilon."""

    attained = True

    def renyi(self, order: float) -> float:
        """ln(a/(2a-1) e^((a-1)e) + (a-1)/(2a-1) e^(-ae)) / (a-1) (Mironov 2017, Proposition 6)."""
        e, a = self._epsilon_up, order
        inner = a / (2 * a - 1) + (a - 1) / (2 * a - 1) * math.exp((1 - 2 * a) * e)
        exact = e + math.log(inner) / (a - 1) + 2.0**-50 / (a - 1)
        return min(super().renyi(order), exact * FEW_ULPS)

    def profile(self, epsilon: float) -> float:
        """1 - e^((epsilon - e0)/2) (Balle, Barthe, Gaboardi 2020, theorem 3)."""
        return -math.expm1(min(0.0, epsilon - up(self.epsilon)) / 2) * FEW_ULPS

    def pairs(self, spacing: float) -> tuple[Pair, ...]:
        return (LaplaceShift(up(self.epsilon)),)

    def group(self, k: int) -> LaplaceNoise:
        return LaplaceNoise(k * self.epsilon)


@stored("DiscreteLaplaceNoise", ("epsilon", "shift"))
@dataclass(frozen=True)
class DiscreteLaplaceNoise(Pure):
    """Discrete Laplace noise on one integer that moves by at most `shift`; epsilon is shift over scale."""

    shift: int
    attained = True

    @property
    def scale(self) -> Fraction:
        return self.shift / self.epsilon

    def profile(self, epsilon: float) -> float:
        """The best event is a half-line: sup over t of F(t - shift) - e^epsilon F(t), with F(t) = P[Z >= t]."""
        at, noise, factor = (
            self._last_within(epsilon),
            law.DiscreteLaplaceLaw(self.scale),
            math.exp(min(epsilon, float(self.epsilon), 700.0)),
        )
        slack = (8 + 4 * float(self.epsilon)) * 2.0**-52  # of e^(-t / scale), and of the factor
        bounds = (
            noise.at_least(t - self.shift) * (1 + slack) - factor * noise.at_least(t) * (1 - slack)
            for t in range(at, at + 3)
        )
        return min(max(0.0, *bounds), super().profile(epsilon)) if epsilon < self.epsilon else 0.0

    def _last_within(self, epsilon: float) -> int:
        """The largest y at which the loss (2 y - d) / scale is at most epsilon."""
        return math.floor((self.shift + Fraction(epsilon) * self.scale) / 2)

    def pairs(self, spacing: float) -> tuple[Pair, ...]:
        return (DiscreteLaplaceShift(self.scale, self.shift),)

    def group(self, k: int) -> DiscreteLaplaceNoise:
        return DiscreteLaplaceNoise(k * self.epsilon, k * self.shift)


@stored("GaussianNoise", ("mu_squared",))
@dataclass(frozen=True)
class GaussianNoise(Atom):
    """Continuous Gaussian noise, sensitivity over sigma = mu."""

    mu_squared: Fraction
    attained = True

    @cached_property
    def mu(self) -> float:
        return math.sqrt(up(self.mu_squared)) * FEW_ULPS

    def gaussian(self) -> Fraction | float:
        return self.mu_squared

    def concentrated(self) -> float:
        return self._rho

    @cached_property
    def _rho(self) -> float:
        return up(self.mu_squared) / 2 * FEW_ULPS

    def _sides(self, epsilon: float) -> tuple[float, float]:
        """Phi(mu/2 - e/mu) and e^e Phi(-mu/2 - e/mu), each good to a relative (2 + (e/mu + mu)^2) 2^-50."""
        a, b = self.mu / 2 - epsilon / self.mu, -self.mu / 2 - epsilon / self.mu
        if b > -16:
            return math.erfc(-a * _ROOT_HALF) / 2, math.exp(epsilon) * math.erfc(-b * _ROOT_HALF) / 2
        from scipy.special import log_ndtr, ndtr  # imported here, as scipy is slow to load

        return float(ndtr(a)), math.exp(min(epsilon + float(log_ndtr(b)), 700.0))

    def profile(self, epsilon: float) -> float:
        """Phi(mu/2 - e/mu) - e^e Phi(-mu/2 - e/mu) (Balle and Wang 2018); at most mu / sqrt(2 pi), the slope at 0."""
        if not self.mu_squared:
            return 0.0
        if self.mu > 2.0**20:
            return 1.0
        near, far = self._sides(epsilon)
        if near < _LEAST_TAIL:
            from scipy.special import log_ndtr  # imported here, as scipy is slow to load

            return math.exp(float(log_ndtr(self.mu / 2 - epsilon / self.mu)) + 1e-9) + TINY
        size = epsilon / self.mu + self.mu
        error = min((2 + size * size) * 2.0**-50, 1.0)
        return max(TINY, min(near * (1 + error) - far * (1 - error), self.mu / math.sqrt(2 * math.pi) * FEW_ULPS))

    def epsilon_at(self, delta: float) -> float:
        """The least epsilon at delta, by Newton's rule from above on ln delta(e), which is concave; delta' = -far.

        ln delta is concave because P[L > t] is log-concave.
        """
        if self.profile(0.0) <= delta:
            return 0.0
        rho = self.concentrated()
        at, move = rho + 2 * math.sqrt(rho * -math.log(delta)), math.inf
        if not at < 2.0**16:
            return super().epsilon_at(delta)
        while move > at * 2.0**-40 and at > 0:
            near, far = self._sides(at)
            if not near > far > 0:  # floats cannot separate them
                return super().epsilon_at(delta)
            move = math.log(delta / (near - far)) * (near - far) / far
            at -= move
        at = max(at, self.mu * 2.0**-60)  # rounding may have led past 0
        step = at * 2.0**-41
        while not self.profile(at) <= delta:
            at, step = at + step, 2 * step
        return at

    def pairs(self, spacing: float) -> tuple[Pair, ...]:
        return (GaussianShift(self.mu),)

    @property
    def determined_by_pairs(self) -> bool:
        return True

    def group(self, k: int) -> GaussianNoise:
        return GaussianNoise(k * k * self.mu_squared)


@stored("GaussianPrivacy", ("mu_squared",))
@dataclass(frozen=True)
class GaussianPrivacy(GaussianNoise):
    """mu-Gaussian differential privacy and nothing more: continuous Gaussian noise dominates it (Dong et al. 2022)."""

    attained = False

    def group(self, k: int) -> GaussianPrivacy:
        return GaussianPrivacy(k * k * self.mu_squared)


@stored("DiscreteGaussianNoise", ("rho", "shift", "sigma2"))
@dataclass(frozen=True)
class DiscreteGaussianNoise(Concentrated):
    """Discrete Gaussian noise on one integer that moves by at most `shift` (Canonne, Kamath, Steinke 2020)."""

    shift: int
    sigma2: Fraction
    attained = True

    def gaussian(self) -> Fraction | float:
        return mu_squared(self.sigma2, Fraction(self.shift**2), 1)

    @cached_property
    def _law(self) -> law.DiscreteGaussianLaw:
        return law.DiscreteGaussianLaw(self.sigma2)

    def profile(self, epsilon: float) -> float:
        """P[Z > e s/d - d/2] - e^e P[Z > e s/d + d/2], s = sigma^2, with both tails rounded outward."""
        centre, half = Fraction(epsilon) * self.sigma2 / self.shift, Fraction(self.shift, 2)
        low, high = math.floor(centre - half) + 1, math.floor(centre + half) + 1
        if low > 0 and low**2 > 1500 * self.sigma2:
            return TINY  # P[Z >= t] is at most e^(-t^2 / (2 sigma^2))
        near = self._law.at_least(low) * (1 + self._law.tail_accuracy(low))
        # less 1e-318, as subnormal floats lack bits
        far = max(0.0, self._law.at_least(high) * (1 - self._law.tail_accuracy(high)) - 1e-318)
        return min(1.0, max(TINY, (near - math.exp(min(epsilon, 700.0)) * far) * (1 + 1e-14)))

    def pairs(self, spacing: float) -> tuple[Pair, ...]:
        return (DiscreteGaussianShift(self.sigma2, self.shift),)

    @property
    def determined_by_pairs(self) -> bool:
        return True

    def group(self, k: int) -> DiscreteGaussianNoise:
        return DiscreteGaussianNoise(k * k * self.rho, k * self.shift, self.sigma2)


@stored("DiscreteGaussianVector", ("rho", "sigma2", "moved"))
@dataclass(frozen=True)
class DiscreteGaussianVector(Concentrated):
    """Discrete Gaussian noise on integers of which at most `moved` move; rho is l2^2 / (2 sigma^2).

    Unless sigma is very small, this hides as much as continuous noise of a little less variance
    (`pld/discrete_gaussian.py`).
    """

    sigma2: Fraction
    moved: int

    def gaussian(self) -> Fraction | float:
        return mu_squared(self.sigma2, 2 * self.rho * self.sigma2, self.moved)

    @cached_property
    def _smooth(self) -> Atom:
        square = self.gaussian()
        return GaussianNoise(square) if isinstance(square, Fraction) else Concentrated(self.rho)

    def profile(self, epsilon: float) -> float:
        return self._smooth.profile(epsilon)

    def epsilon_at(self, delta: float) -> float:
        return self._smooth.epsilon_at(delta)

    def pairs(self, spacing: float) -> tuple[Pair, ...]:
        return self._smooth.pairs(spacing)

    def group(self, k: int) -> DiscreteGaussianVector:
        """k units move k times as many coordinates, or k^2 times if only the length of a move bounds their number."""
        return DiscreteGaussianVector(k * k * self.rho, self.sigma2, k * k * self.moved)
