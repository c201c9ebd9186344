"""The Gaussian mechanism on the real line, in terms of mu = D/sigma, with D the L2 sensitivity.

The privacy loss of f(x) + N(0, sigma^2) is itself normal, L ~ N(mu^2/2, mu^2), so the privacy of the mechanism
is a function of mu alone (Balle & Wang 2018; Dong, Roth, Su 2022). k mechanisms compose exactly to one mechanism
with mu = sqrt(mu_1^2 + ... + mu_k^2). An error at beta is a bound that holds with probability 1 - beta.
DR14 = Dwork & Roth 2014.
"""

from __future__ import annotations

import math

from scipy.special import erfcx, log_ndtr, ndtr, ndtri

from ..core.errors import BadParameter
from ..core.parameters import Number
from . import _validate as check
from ._numeric import increasing_root, legendre

_NODES = 16


def profile(epsilon: Number, mu: Number) -> float:
    """delta(eps) = Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu) (Balle & Wang 2018, Thm 8)."""
    return _profile(check.nonnegative(epsilon=epsilon), check.positive(mu=mu))


def _profile(epsilon: float, mu: float) -> float:
    near, far = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    if mu < 1:  # phi(near) (R(near) - R(near + mu)), and R' = t R - 1 for Mills' ratio R
        node, weight = legendre(_NODES)
        t = near + mu * node
        fall = mu * float(weight @ (1 - t * math.sqrt(math.pi / 2) * erfcx(t / math.sqrt(2))))
        return math.exp(-near * near / 2) * fall / math.sqrt(2 * math.pi)
    if near < 0:
        return float(ndtr(-near) - math.exp(epsilon + float(log_ndtr(-far))))
    # e^eps phi(far) = phi(near): a density times a difference of Mills ratios, which does not underflow early
    mills = float(erfcx(near / math.sqrt(2)) - erfcx(far / math.sqrt(2))) / 2
    return math.exp(-near * near / 2) * mills


def tail_delta(epsilon: Number, mu: Number) -> float:
    """Pr[L > eps] = Phi(mu/2 - eps/mu), a valid delta but not the least (DR14, proof of Thm A.1)."""
    epsilon = check.nonnegative(epsilon=epsilon)
    mu = check.positive(mu=mu)
    return math.exp(float(log_ndtr(mu / 2 - epsilon / mu)))


def epsilon_at(delta: Number, mu: Number) -> float:
    """The least eps with delta(eps) <= delta."""
    level, at = check.probability(delta=delta), check.positive(mu=mu)
    if _profile(0.0, at) <= level:
        return 0.0
    return increasing_root(lambda epsilon: level - _profile(epsilon, at))


def sigma(epsilon: Number, delta: Number, sensitivity: Number = 1.0) -> float:
    """The least sigma that is (eps, delta)-DP: the analytic Gaussian mechanism (Balle & Wang 2018, Alg 1)."""
    at, level = check.positive(epsilon=epsilon), check.probability(delta=delta)
    return check.positive(sensitivity=sensitivity) / increasing_root(lambda mu: _profile(at, mu) - level)


def classical_sigma(epsilon: Number, delta: Number, sensitivity: Number = 1.0) -> float:
    """D sqrt(2 ln(1.25/delta)) / eps, proved only for eps < 1, and at 1 by continuity (DR14 Thm A.1)."""
    epsilon = check.positive(epsilon=epsilon)
    sensitivity = check.positive(sensitivity=sensitivity)
    delta = check.probability(delta=delta)
    if epsilon > 1:
        raise BadParameter(
            "epsilon",
            epsilon,
            "at most 1",
            says=f"epsilon must be at most 1, where the classical theorem holds; got {epsilon:g}. Use sigma instead.",
        )
    return sensitivity * math.sqrt(2 * math.log(1.25 / delta)) / epsilon


def zcdp(mu: Number) -> float:
    """rho = mu^2/2 of zero-concentrated privacy (Bun & Steinke 2016, Prop 1.6)."""
    mu = check.positive(mu=mu)
    return mu * mu / 2


def renyi_divergence(order: Number, mu: Number) -> float:
    """The Renyi divergence of order a: a mu^2/2 (Mironov 2017, Prop 7)."""
    order = check.above_one(order=order)
    return order * zcdp(mu)


# Errors of k answers with independent N(0, sigma^2).


def simultaneous_error(beta: Number, queries: int, sigma: Number) -> float:
    """sigma Phi^-1((1 + (1-beta)^(1/k)) / 2): the exact quantile of the largest of k |N(0, sigma^2)|."""
    beta = check.probability(beta=beta)
    queries = check.count(queries=queries)
    sigma = check.positive(sigma=sigma)
    each = -math.expm1(math.log1p(-beta) / queries)
    return -sigma * float(ndtri(each / 2))


def error(beta: Number, sigma: Number) -> float:
    """sigma Phi^-1(1 - beta/2): the error of one answer."""
    return simultaneous_error(beta, 1, sigma)


def union_error(beta: Number, queries: int, sigma: Number) -> float:
    """sigma sqrt(2 ln(2k/beta)), from Pr[|N(0,1)| >= t] <= 2 e^(-t^2/2) and the union bound."""
    beta = check.probability(beta=beta)
    queries = check.count(queries=queries)
    sigma = check.positive(sigma=sigma)
    return sigma * math.sqrt(2 * (math.log(2 * queries) - math.log(beta)))
