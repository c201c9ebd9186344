"""Zero-concentrated privacy: from rho to (eps, delta) and back.

rho-zCDP bounds the Renyi divergence of every order a > 1 by a rho; rho adds up under composition
(Bun & Steinke 2016). CKS20 = Canonne, Kamath, Steinke 2020.
"""

from __future__ import annotations

import math

from . import _validate as check
from ._numeric import rising_root


def classical_epsilon(delta: float, rho: float) -> float:
    """rho + 2 sqrt(rho ln(1/delta)) (Bun & Steinke 2016, Prop 1.3)."""
    check.positive(rho=rho)
    check.probability(delta=delta)
    return rho + 2 * math.sqrt(-rho * math.log(delta))


def classical_rho(epsilon: float, delta: float) -> float:
    """(sqrt(ln(1/delta) + eps) - sqrt(ln(1/delta)))^2, the inverse of classical_epsilon."""
    check.positive(epsilon=epsilon)
    check.probability(delta=delta)
    log = -math.log(delta)
    return (epsilon / (math.sqrt(log + epsilon) + math.sqrt(log))) ** 2


def optimal_order(delta: float, rho: float) -> float:
    """The order a of the minimum in `epsilon_at`: the root of rho (a-1)^2 = ln(1/(a delta))."""
    check.positive(rho=rho)
    check.probability(delta=delta)
    log = -math.log(delta)
    return 1 + rising_root(lambda s: rho * s * s + math.log1p(s) - log)


def epsilon_at(delta: float, rho: float) -> float:
    """min over a > 1 of a rho + ln(1-1/a) - ln(a delta)/(a-1), or 0 if that is negative (CKS20, Prop 12)."""
    a = optimal_order(delta, rho)
    # there -ln(a delta)/(a-1) = rho (a-1)
    return max(0.0, rho * (2 * a - 1) + math.log1p(-1 / a)) if a > 1 else 0.0


def rho_for(epsilon: float, delta: float) -> float:
    """The largest rho with epsilon_at(delta, rho) <= eps."""
    check.positive(epsilon=epsilon)
    check.probability(delta=delta)
    return rising_root(lambda rho: epsilon_at(delta, rho) - epsilon)
