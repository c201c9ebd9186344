"""Odometers: a bound on what has been spent so far, valid at all times at once, whenever one stops.

Definition.  A running bound e_t, known before the t-th answer, with P[L_t > e_t for some t] <= delta, where L_t is the
realised loss ln P/Q of the first t answers.  A filter needs its limit beforehand; an odometer does not, at the price of
a wider bound: at V = 1 and delta = 1e-6 the bound is 8.03, and that of a filter set for exactly this V is 5.76.

Theorem.  With delta = 0 the sum of the epsilons is an odometer.  For any g > 0 so is, with V = 2 (sum of rho_i),

    e_t = sqrt((V + g) ln((V + g) / (g delta^2))) + V/2,

and therefore the lesser of the two.  An epsilon_i-private step has 2 rho_i <= epsilon_i^2.
Proof.  exp(b (L - V/2) - b^2 V/2) is a supermartingale for each b > 0, for the step's Renyi divergence of order 1 + b
is at most (1 + b) rho_i.  Mixed over b, half-normal with precision g, it is at least
sqrt(g / (V + g)) exp((L - V/2)^2 / (2 (V + g))) wherever L >= V/2, and by Ville it reaches 1/delta with probability at
most delta.

References.  Rogers, Roth, Ullman, Vadhan, NeurIPS 2016; Whitehouse, Ramdas, Rogers, Wu, ICML 2023; Robbins, Annals of
Mathematical Statistics 41 (1970), and Howard et al., Annals of Statistics 49 (2021), for the mixture.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from ..exact import MANY_ULPS, up
from ..parameters import Number, failure, instance, positive, probability
from .accountants import failures
from .currency import Amount, Epsilon, Rho, ln
from .loss import Loss


def _nats(delta: Fraction) -> float:
    """ln(1/delta), from above."""
    return up(-ln(delta)[0])


def mixture(variance: Amount, tuning: Fraction, delta: Fraction) -> float:
    """The normal-mixture bound at V = variance, rounded outward."""
    if not isinstance(variance, Fraction):
        return math.inf
    nats = math.log1p(up(variance / tuning)) + 2 * _nats(delta)
    return (math.sqrt(up(variance + tuning) * nats) + up(variance) / 2) * MANY_ULPS


@dataclass(frozen=True, init=False)
class Odometer:
    """A bound on what has been spent, ever wrong with probability at most delta; `tuning` is the g of the theorem."""

    delta: Fraction
    tuning: Fraction

    def __init__(self, *, delta: Number = 0, tuning: Number = 1) -> None:
        object.__setattr__(self, "delta", failure("delta", delta))
        object.__setattr__(self, "tuning", positive("tuning", tuning))

    @classmethod
    def tightest(cls, *, rho: Number, delta: Number) -> Odometer:
        """The odometer that is tightest when `rho` has been spent: u = V/g solves u = ln(1 + u) + 2 ln(1/delta)."""
        nats = 2 * _nats(probability("delta", delta))
        u = nats
        for _ in range(60):
            u = nats + math.log1p(u)
        return cls(delta=delta, tuning=2 * positive("rho", rho) / Fraction(u))

    def epsilon(self, loss: Loss) -> Amount:
        """The bound on epsilon once `loss` is spent."""
        pure = Epsilon().total(instance("loss", loss, Loss))
        if not self.delta or not loss.terms:
            return pure
        return min(pure, mixture(2 * Rho().total(loss), self.tuning, self.delta))

    def guarantee(self, loss: Loss) -> tuple[Amount, Fraction]:
        """(epsilon, delta): the bound, and the probability that it is ever wrong or that an atom fails."""
        return self.epsilon(loss), self.delta + failures(loss)
