r"""Group privacy: the guarantee of k units together, from the guarantee of one unit.

Between databases k steps apart lie k - 1 others, each a neighbour of the one before.

Pure and approximate.  P(S) <= e^epsilon P1(S) + delta at each step, so after k steps
P(S) <= e^(k epsilon) Pk(S) + delta (1 + e^epsilon + ... + e^((k-1) epsilon)), and the sum is
(e^(k epsilon) - 1) / (e^epsilon - 1).  Textbooks bound each of its k terms by the last.
Concentrated and Gaussian.  rho grows as k^2, mu as k: the mean of a Gaussian moves k times as far, and in general by
the triangle inequality of Renyi divergences.  These rules are far better than to convert first and group then.
Renyi.  D_(a/2)(P || R) <= (3/2) D_a(P || Q) + D_a(Q || R) for a >= 4, at most 3 times the larger; so 2^c steps cost
3^c times as much, at order a/2^c (Mironov 2017, proposition 2).

References.  Dwork and Roth (2014), theorem 2.2; Vadhan (2017), section 2; Bun and Steinke, TCC 2016; Dong, Roth, Su,
JRSS B 84 (2022), section 2.5; Mironov, CSF 2017.
"""

from __future__ import annotations

from fractions import Fraction

from ..core.errors import BadParameter
from ..core.exact import down, up
from ..core.parameters import Number, failure, whole
from ._enclosure import upper
from ._parameters import above_one, nonnegative


def group(epsilon: Number, delta: Number, k: int) -> tuple[float, float]:
    """(k epsilon, delta (e^(k epsilon) - 1) / (e^epsilon - 1)): the exact sum over the steps."""
    e, d, n = nonnegative("epsilon", epsilon), failure("delta", delta), whole("k", k)
    if not (e and d):
        return up(n * e), up(min(Fraction(1), n * d))
    return up(n * e), min(1.0, upper(lambda at: ((at(n * e).exp() - 1) / (at(e).exp() - 1)) * d))


def group_classical(epsilon: Number, delta: Number, k: int) -> tuple[float, float]:
    """(k epsilon, k e^((k-1) epsilon) delta): each step bounded by the last."""
    e, d, n = nonnegative("epsilon", epsilon), failure("delta", delta), whole("k", k)
    return up(n * e), min(1.0, upper(lambda at: at((n - 1) * e).exp() * (n * d))) if d else 0.0


def group_zcdp(rho: Number, k: int) -> float:
    """k^2 rho (Bun and Steinke 2016)."""
    return up(whole("k", k) ** 2 * nonnegative("rho", rho))


def group_gdp(mu: Number, k: int) -> float:
    """k mu (Dong, Roth, Su 2022)."""
    return up(whole("k", k) * nonnegative("mu", mu))


def group_renyi(order: Number, value: Number, k: int) -> tuple[float, float]:
    """(order / 2^c, 3^c value) for the least 2^c >= k; the order must be at least 2^(c+1)."""
    a, r = above_one("order", order), nonnegative("value", value)
    c = (whole("k", k) - 1).bit_length()
    if c and a < 2 << c:
        raise BadParameter("order", order, f"at least {2 << c} for a group of {k}")
    return down(a / 2**c), up(3**c * r)
