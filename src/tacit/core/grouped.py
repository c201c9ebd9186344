"""The atom of group privacy: what k units together pay for a loss, where no more is known than what one pays.

From one table to another k steps lead, each of which adds or removes a unit.  So where a loss is (epsilon,
delta)-private, a group of k is (k epsilon, delta (e^(k epsilon) - 1) / (e^epsilon - 1))-private, by the hybrid sum
(Dwork and Roth 2014, theorem 2.2), and rho-zCDP becomes k^2 rho (Bun and Steinke 2016, proposition 1.9).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from .exact import MANY_ULPS, hybrid_sum
from .loss import Atom, Loss
from .search import least_positive
from .views import Basic, Zcdp, failures

_LEAST = 1e-300  # of delta: below, nothing is sought
_MOST = 700.0  # of epsilon


@dataclass(frozen=True)
class Grouped(Atom):
    """k units pay for a loss together."""

    of: Loss
    k: int

    def pure(self) -> Fraction | float:
        return self.k * Basic().total(self.of) if not failures(self.of) else math.inf

    def concentrated(self) -> float:
        return self.k**2 * float(Zcdp().total(self.of)[0]) * MANY_ULPS if not failures(self.of) else math.inf

    def profile(self, epsilon: float) -> float:
        return min(1.0, self.of.delta(Fraction(epsilon) / self.k) * hybrid_sum(self.k, epsilon / self.k))

    def epsilon_at(self, delta: float) -> float:
        """k times the least epsilon of one unit, to 2^-12, at the delta that its own multiple leaves of this one."""

        def good(each: float) -> bool:
            left = delta / hybrid_sum(self.k, each)
            return left >= _LEAST and self.of.epsilon(Fraction(left)) <= each

        if good(0.0):
            return 0.0
        start = max(self.of.epsilon(Fraction(delta)), 2.0**-40)
        return self.k * least_positive(good, start, floor=start, ceiling=_MOST, precision=2.0**-12) * MANY_ULPS

    def group(self, k: int) -> Grouped:
        return Grouped(self.of, k * self.k)
