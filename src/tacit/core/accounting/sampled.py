"""Additive noise on a Poisson sample: each record takes part with probability q, independently (add or remove).

With P the law of the noise moved and Q that of the noise, a neighbour sees (1 - q) Q + q P against Q, and

    the hockey stick at ln(1 + q (e^e - 1)) is q times that of P and Q at e
    Renyi moments of whole order a are at most 1 + sum_j C(a, j) (1 - q)^(a - j) q^j (e^(mu^2 j (j - 1) / 2) - 1)

(Li, Qardaji, Su 2012; Balle, Barthe, Gaboardi 2018), the latter for Gaussian noise, in both directions (Mironov,
Talwar, Zhang 2019).  The logarithm of a moment is convex in a: between whole orders it is at most the chord, and at
a = 1 it is 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ...storage import stored
from ..exact import FEW_ULPS, MANY_ULPS, TINY, up
from ..pld.dominating_pairs import Pair
from ..pld.grid import sampled_gaussian, sampled_laplace
from .atoms import GaussianNoise, LaplaceNoise
from .loss import Atom, Loss

_MAX_ORDER = 1 << 12  # of moments that are summed
_MAX_MU = 1e100


@stored("Sampled", ("rate", "noise"))
@dataclass(frozen=True)
class Sampled(Atom):
    """Additive noise on a Poisson sample of this `rate`."""

    rate: Fraction
    noise: GaussianNoise | LaplaceNoise

    @property
    def attained(self) -> bool:
        """Whether the noise attains its pairs; then so does a sample of a lone record."""
        return self.noise.attained

    def pure(self) -> Fraction | float:
        """ln(1 + q (e^epsilon - 1)), outward; never above epsilon."""
        exact = self.noise.pure()
        if not isinstance(exact, Fraction) or exact > 2**16:
            return exact
        e, q = up(exact), up(self.rate)
        over = max(0.0, e - 600)  # taken out of the exponential, and of the logarithm at most
        return min(exact, Fraction(max(TINY, (over + math.log1p(q * math.expm1(e - over) * FEW_ULPS)) * FEW_ULPS)))

    def concentrated(self) -> float:
        return self.noise.concentrated()  # sampling never hurts

    def renyi(self, order: float) -> float:
        """A bound by moments of whole orders, for Gaussian noise; high orders and other noise are not amplified."""
        plain = self.noise.renyi(order)
        rate = up(self.rate)
        if not isinstance(self.noise, GaussianNoise) or order > _MAX_ORDER or rate == 1:
            return plain
        below = math.floor(order)
        low, high = (_log_moment(rate, self.noise.mu, a) for a in (below, below + 1))
        chord = low + (order - below) * (high - low) if high < math.inf else math.inf
        return min(plain, max(TINY, chord / (order - 1) * MANY_ULPS))

    def profile(self, epsilon: float) -> float:
        """At ln(1 + q (e^e - 1)), q times the profile of the noise at e when removing; adding costs no more."""
        if epsilon >= self.pure():
            return 0.0
        inner = math.expm1(min(epsilon, 700.0)) / up(self.rate)
        # a profile falls, so its argument is rounded down
        own = self.noise.profile(math.log1p(inner / MANY_ULPS) / MANY_ULPS)
        return min(1.0, max(TINY, up(self.rate) * own * (1 + 1e-12)))

    @property
    def max_loss(self) -> float:
        """A loss beyond which lies less than 1e-22 of either law."""
        own = (
            self.noise.mu * (9.8 + 1.5 * self.noise.mu)
            if isinstance(self.noise, GaussianNoise)
            else up(self.noise.epsilon)
        )
        return math.log1p(up(self.rate) * math.expm1(own)) if own < 700 else own

    def pairs(self, spacing: float) -> tuple[Pair, ...]:
        if not 1e-60 < self.max_loss < 2.0**16:
            return ()  # no grid is long and fine enough
        rate = up(self.rate)
        if rate == 1:
            return self.noise.pairs(spacing)
        if isinstance(self.noise, GaussianNoise):
            return sampled_gaussian(rate, self.noise.mu, spacing)
        return sampled_laplace(rate, up(self.noise.epsilon), spacing)

    @property
    def determined_by_pairs(self) -> bool:
        return True

    def group(self, k: int) -> Atom:
        """The hybrid sum: some of a group may join and others leave, so that neither law is that of the noise."""
        from .grouped import Grouped  # imported here, as it builds on losses

        return self if k == 1 else Grouped(Loss({self: 1}), k)


@lru_cache(maxsize=1 << 10)
def _log_moment(rate: float, mu: float, order: int) -> float:
    """ln E_Q[((1 - q) + q P/Q)^a], outward: sums of logarithms of at most 10^7 err by less than 2^-30."""
    if order == 1 or mu > _MAX_MU:
        return 0.0 if order == 1 else math.inf
    from scipy.special import gammaln, logsumexp  # imported here, as scipy is slow to load

    j = np.arange(2, order + 1)
    chosen = gammaln(order + 1) - gammaln(j + 1) - gammaln(order - j + 1)
    grown = mu * mu * j * (j - 1) / 2
    risen = np.where(grown > 30, grown, np.log(np.expm1(np.minimum(grown, 31))))
    excess = float(logsumexp(chosen + (order - j) * math.log1p(-rate) + j * math.log(rate) + risen)) + 2.0**-30
    return (excess if excess > 40 else math.log1p(math.exp(excess))) * MANY_ULPS
