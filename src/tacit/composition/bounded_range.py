r"""Optimal composition of mechanisms of bounded range, such as the exponential mechanism.

Theorem (Dong, Durfee, Rogers 2020) [quoted].  Let ln P(y)/Q(y) of each of k mechanisms, all chosen *beforehand*, lie in
an interval of length epsilon.  The worst of them has two losses, t with probability a = (1 - e^-s)/(1 - e^-epsilon) and
t - epsilon, where s = epsilon - t, with one t for all.  At E the worst t is a t_l = (E + (l+1) epsilon)/(k+1), so that
    delta(E) = max over l of  sum over i <= l of  C(k, i) a^(k-i) (1-a)^i (1 - e^-(s_l + (l-i) epsilon)),
for a sum with i losses of t - epsilon exceeds E, by s_l + (l-i) epsilon, if and only if i <= l.  Here
s_l = ((k-l) epsilon - E)/(k+1).

The theorem does not cover adaptive choices, where t may depend on earlier answers; then use the loss of `Exponential`,
by its dominating pair or by zCDP.

Reference.  Dong, Durfee, Rogers, ICML 2020, "Optimal differential privacy composition for exponential mechanisms".
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ..core.errors import BadParameter
from ..core.exact import down, up
from ..core.parameters import Number, probability, whole
from ..core.search import least
from ._parameters import positive

MAX_K = 1000  # some seconds
_OUTWARD = 1 + 2.0**-36  # logarithms of terms that count add up to at most 2^11, and have 3 roundings each


def optimal_bounded_range(epsilon: Number, k: int, delta: Number) -> float:
    """The least epsilon at delta of k mechanisms of this range, chosen beforehand; to 10^-11 and never below."""
    e, n, d = positive("epsilon", epsilon), whole("k", k), down(probability("delta", delta))
    if n > MAX_K:
        raise BadParameter("k", k, f"at most {MAX_K}")
    basic = up(n * e)
    return least(lambda total: _delta(e, n, Fraction(total)) <= d, basic * 2.0**-60, basic)


def _delta(e: Fraction, k: int, total: Fraction) -> float:
    """An upper bound on delta(total): the maximum of the theorem."""
    count = max(0, math.ceil(k - total / e))  # of the l with s > 0; for others no loss exceeds the total
    if not count:
        return 0.0
    one, i = float(e), np.arange(count)
    s, t = (
        np.array([float(x / (k + 1)) for x in xs])
        for xs in (
            [(k - j) * e - total for j in range(count)],
            [(j + 1) * e + total for j in range(count)],
        )
    )
    span = math.log(-math.expm1(-one))
    high = np.log(-np.expm1(-s)) - span  # ln a
    low = -s + np.log(-np.expm1(-t)) - span  # ln (1 - a)
    ways = np.array([math.log(math.comb(k, j)) for j in range(count)])
    above = np.maximum(0, s[:, None] + (i[:, None] - i) * one)  # E, for each l and i
    mass = np.exp(ways + (k - i) * high[:, None] + i * low[:, None])
    return float(np.max(np.sum(mass * -np.expm1(-above), axis=1))) * _OUTWARD
