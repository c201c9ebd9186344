"""The Laplace mechanism on the real line: its law, its errors and its privacy.

f(x) + Lap(b) in each coordinate, with b = D/eps and D the L1 sensitivity of the vector f, is eps-DP
(Dwork, McSherry, Nissim, Smith 2006; Dwork & Roth 2014, called DR14 below, Thm 3.6). Logarithms are natural.
An error at beta is a bound that holds with probability 1 - beta.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import betainc, gammaln, xlogy

from ..core.errors import BadParameter
from ..core.parameters import Number
from . import _validate as check
from ._numeric import exp_excess, increasing_root

_MAX_TERMS = 1 << 24


def scale_for(epsilon: Number, sensitivity: Number = 1.0) -> float:
    """The scale b = D/eps (DR14 Def 3.3)."""
    epsilon = check.positive(epsilon=epsilon)
    sensitivity = check.positive(sensitivity=sensitivity)
    return sensitivity / epsilon


def epsilon_per_query(epsilon: Number, queries: int) -> float:
    """eps/k: the share of each of k queries under basic composition (DR14 Cor 3.15)."""
    epsilon = check.positive(epsilon=epsilon)
    queries = check.count(queries=queries)
    return epsilon / queries


# The law of one noise Y ~ Lap(b).


def density(x: Number, scale: Number) -> float:
    """The density e^(-|x|/b) / (2b)."""
    x = check.real(x=x)
    scale = check.positive(scale=scale)
    return math.exp(-abs(x) / scale) / (2 * scale)


def cdf(x: Number, scale: Number) -> float:
    """Pr[Y <= x] = e^(x/b)/2 for x <= 0, and 1 - e^(-x/b)/2 for x >= 0."""
    x = check.real(x=x)
    scale = check.positive(scale=scale)
    half = math.exp(-abs(x) / scale) / 2
    return half if x <= 0 else 1 - half


def quantile(p: Number, scale: Number) -> float:
    """The x with Pr[Y <= x] = p: b ln(2p) below the median, -b ln(2(1-p)) above."""
    p = check.probability(p=p)
    scale = check.positive(scale=scale)
    return scale * (math.log(2 * p) if p <= 0.5 else -math.log(2 * (1 - p)))


def tail(t: Number, scale: Number) -> float:
    """Pr[|Y| >= t] = e^(-t/b) (DR14 Fact 3.7)."""
    t = check.nonnegative(t=t)
    scale = check.positive(scale=scale)
    return math.exp(-t / scale)


def variance(scale: Number) -> float:
    """Var Y = 2 b^2; and E|Y| = b."""
    scale = check.positive(scale=scale)
    return 2 * scale * scale


def chebyshev_error(beta: Number, scale: Number) -> float:
    """b sqrt(2/beta): |Y| exceeds this bound with probability at most beta, by Chebyshev's inequality.

    The exact quantile is -b ln(beta). For the mean of n bits under substitution b = 1/(n eps), and the error is
    O(1/(n eps)) by either bound.
    """
    beta = check.probability(beta=beta)
    return math.sqrt(variance(scale) / beta)


# The largest of k independent noises.


def union_error(beta: Number, queries: int, scale: Number) -> float:
    """b ln(k/beta): the largest of k |Y| is at most this, by the union bound (DR14 Thm 3.8)."""
    beta = check.probability(beta=beta)
    queries = check.count(queries=queries)
    scale = check.positive(scale=scale)
    return scale * (math.log(queries) - math.log(beta))


def simultaneous_error(beta: Number, queries: int, scale: Number) -> float:
    """-b ln(1 - (1-beta)^(1/k)): the exact quantile of the largest of k independent |Y|."""
    beta = check.probability(beta=beta)
    queries = check.count(queries=queries)
    scale = check.positive(scale=scale)
    return -scale * math.log(-math.expm1(math.log1p(-beta) / queries))


def sample_size(alpha: Number, beta: Number, queries: int, epsilon: Number) -> float:
    """n = k ln(k/beta)/(eps alpha), to be rounded up: then k counts over n are all within alpha (DR14 Thm 3.8)."""
    alpha = check.positive(alpha=alpha)
    return queries * union_error(beta, queries, scale_for(epsilon)) / alpha


# The sum S of m independent noises: a counting query over m cells of a noisy histogram.


def sum_tail(t: Number, terms: int, scale: Number) -> float:
    """Pr[|S| >= t] = 2 sum_{j<m} Poisson(j; t/b) I_{1/2}(m, m-j): S is a difference of two Gamma(m).

    I, the regularised incomplete beta, is the chance of fewer than m-j heads before m tails of a fair coin.
    """
    return _sum_tail(check.nonnegative(t=t) / check.positive(scale=scale), _terms(terms))


def _sum_tail(x: float, terms: int) -> float:
    j = np.arange(terms)
    poisson = np.exp(xlogy(j, x) - x - gammaln(j + 1))
    return min(1.0, float(2 * (poisson * betainc(terms, terms - j, 0.5)).sum()))


def sum_error_bound(beta: Number, terms: int, scale: Number) -> float:
    """b sqrt(8 ln(2/beta)) max(sqrt m, sqrt(2 ln(2/beta))) (Chan, Shi, Song 2011; DR14 Lemma 12.2)."""
    beta = check.probability(beta=beta)
    terms = check.count(terms=terms)
    scale = check.positive(scale=scale)
    log = math.log(2) - math.log(beta)
    return scale * math.sqrt(8 * log * max(terms, 2 * log))


def sum_error(beta: Number, terms: int, scale: Number) -> float:
    """The exact quantile of |S|: the t with Pr[|S| >= t] = beta."""
    level, m = check.probability(beta=beta), _terms(terms)
    return check.positive(scale=scale) * increasing_root(lambda x: level - _sum_tail(x, m))


def _terms(terms: int) -> int:
    m = check.count(terms=terms)
    if m > _MAX_TERMS:
        raise BadParameter("terms", terms, f"at most {_MAX_TERMS} (sum_error_bound takes any number)")
    return m


def histogram_query_error(
    beta: Number, cells: int, n: int, epsilon: Number, *, queries: int = 1, sensitivity: Number = 1.0
) -> float:
    """sqrt(8 |X| ln(2k/beta)) D/(n eps) if |X| >= 2 ln(2k/beta): the error of k linear queries of a histogram, over n.

    Weights lie in [0, 1]; this is sum_error_bound at beta/k. D is 1 under add/remove, and 2 under substitution.
    """
    beta = check.probability(beta=beta)
    cells = check.count(cells=cells)
    n = check.count(n=n)
    queries = check.count(queries=queries)
    return sum_error_bound(beta / queries, cells, scale_for(epsilon, sensitivity)) / n


# Privacy beyond a single epsilon; eps0 = D/b is the pure guarantee.


def profile(epsilon: Number, epsilon0: Number) -> float:
    """delta(eps) = 1 - e^((eps - eps0)/2) up to eps0, and 0 beyond: the least valid delta."""
    epsilon = check.nonnegative(epsilon=epsilon)
    epsilon0 = check.positive(epsilon0=epsilon0)
    return -math.expm1(min(0.0, epsilon - epsilon0) / 2)


def kl_divergence(epsilon0: Number) -> float:
    """The mean privacy loss: eps0 - 1 + e^-eps0."""
    epsilon0 = check.positive(epsilon0=epsilon0)
    return exp_excess(-epsilon0)


def renyi_divergence(order: Number, epsilon0: Number) -> float:
    """ln( a/(2a-1) e^((a-1) eps0) + (a-1)/(2a-1) e^(-a eps0) ) / (a-1) (Mironov 2017, Prop 6)."""
    order = check.above_one(order=order)
    epsilon0 = check.positive(epsilon0=epsilon0)
    up, down, total = order, order - 1, 2 * order - 1
    if down * epsilon0 > 1:
        return epsilon0 + math.log1p(down / total * math.expm1(-total * epsilon0)) / down
    # the linear terms cancel, which leaves second order in eps0
    excess = (up * exp_excess(down * epsilon0) + down * exp_excess(-up * epsilon0)) / total
    return math.log1p(excess) / down


def staircase_magnitude(epsilon: Number, sensitivity: Number = 1.0) -> float:
    """D e^(eps/2) / (e^eps - 1): the least E|noise| of any eps-DP noise (Geng & Viswanath 2014)."""
    epsilon = check.positive(epsilon=epsilon)
    sensitivity = check.positive(sensitivity=sensitivity)
    return sensitivity * math.exp(-epsilon / 2) / -math.expm1(-epsilon)


def inverse_cdf_values(bits: int = 53) -> int:
    """2^bits: at most so many values of the noise arise from inverting the cdf at a uniform number of this many bits.

    Added to two neighbouring answers, these values leave different gaps among the floats, which reveal the answer
    (Mironov 2012).
    """
    bits = check.count(bits=bits)
    return 1 << int(bits)
