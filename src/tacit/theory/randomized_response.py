"""Randomised response: each person adds noise to their own answer, and no curator sees the truth.

Binary: the true bit is kept with probability p = e^eps/(1+e^eps) (Warner 1965; Dwork & Roth 2014, section
3.2), and 1/2 + (Y-1/2)/(2p-1) is an unbiased estimate of it, where 2p-1 = tanh(eps/2). The reports cost eps
once: any number of queries on them is post-processing. Categorical: a frequency oracle takes one answer
from each person and counts, for each category, the answers that support it; a person supports their own
category with probability p and any other with probability q. WBLJ17 = Wang, Blocki, Li, Jha 2017.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from ..core.errors import BadParameter
from ..core.parameters import Number
from . import _validate as check


def keep_probability(epsilon: Number) -> float:
    """The probability of the true bit, p = e^eps/(1 + e^eps); 3/4 at eps = ln 3."""
    epsilon = check.positive(epsilon=epsilon)
    return 1 / (1 + math.exp(-epsilon))


def flip_probability(epsilon: Number) -> float:
    """The probability of the other bit, 1 - p = 1/(1 + e^eps)."""
    epsilon = check.positive(epsilon=epsilon)
    return math.exp(-epsilon) * keep_probability(epsilon)


def epsilon_of(p: Number) -> float:
    """|ln(p/(1-p))|: the epsilon of keeping the bit with probability p."""
    p = check.probability(p=p)
    return abs(math.log(p / (1 - p)))


def estimate(reported: Number, epsilon: Number) -> float:
    """1/2 + (Y - 1/2) coth(eps/2): the unbiased estimate from the reported share Y of ones."""
    reported = check.real(reported=reported)
    epsilon = check.positive(epsilon=epsilon)
    return 0.5 + (reported - 0.5) / math.tanh(epsilon / 2)


def estimate_range(epsilon: Number) -> tuple[float, float]:
    """1/2 -+ coth(eps/2)/2: the range of the estimate of one bit; its width coth(eps/2) enters Hoeffding's bound."""
    half = 0.5 / math.tanh(check.positive(epsilon=epsilon) / 2)
    return 0.5 - half, 0.5 + half


def variance(epsilon: Number, n: int = 1) -> float:
    """e^eps/(e^eps - 1)^2 / n: the variance of the estimated mean of n bits, whatever the bits are."""
    epsilon = check.positive(epsilon=epsilon)
    n = check.count(n=n)
    return math.exp(-epsilon) / math.expm1(-epsilon) ** 2 / n


def hoeffding_error(beta: Number, n: int, epsilon: Number, queries: int = 1) -> float:
    """coth(eps/2) sqrt(ln(2Q/beta)/(2n)): the error of Q linear queries with weights in [0, 1] (Hoeffding).

    It does not vanish as eps grows.
    """
    beta = check.probability(beta=beta)
    n = check.count(n=n)
    queries = check.count(queries=queries)
    epsilon = check.positive(epsilon=epsilon)
    return math.sqrt((math.log(2 * queries) - math.log(beta)) / (2 * n)) / math.tanh(epsilon / 2)


def bernstein_error(beta: Number, n: int, epsilon: Number, queries: int = 1) -> float:
    """The root t of n t^2 = 2 ln(2Q/beta) (v + M t/3), M = (1 + coth(eps/2))/2, v the variance: by Bernstein."""
    beta = check.probability(beta=beta)
    n = check.count(n=n)
    queries = check.count(queries=queries)
    each = (math.log(2 * queries) - math.log(beta)) / n
    spread = variance(epsilon)
    linear = each * (1 + 1 / math.tanh(check.positive(epsilon=epsilon) / 2)) / 6
    return linear + math.sqrt(linear * linear + 2 * each * spread)


def exact_error(beta: Number, n: int, epsilon: Number, ones: int) -> float:
    """The least t with Pr[|estimated mean - mean| <= t] >= 1 - beta, if `ones` of the n bits are ones.

    The error comes from the flips: the difference of two binomials with n - ones and ones trials.  Values farther
    than sqrt(n ln(2/s)/2) from the mean, of mass at most s = beta 2^-60 by Hoeffding, count as errors.
    """
    beta = check.probability(beta=beta)
    n = check.count(n=n)
    ones = check.count(least=0, ones=ones)
    if ones > n:
        raise BadParameter("ones", ones, "at most n")
    flip = flip_probability(epsilon)
    radius = math.sqrt(n * (61 * math.log(2) - math.log(beta)) / 2)

    def flips(bits: int) -> tuple[range, NDArray[np.float64]]:
        values = range(max(0, math.floor(bits * flip - radius)), min(bits, math.ceil(bits * flip + radius)) + 1)
        return values, binom.pmf(np.array(values), bits, flip)

    (added, up), (lost, down) = flips(n - ones), flips(ones)
    error = np.abs(np.arange(added[0] - lost[-1], added[-1] - lost[0] + 1) - (n - 2 * ones) * flip)
    order = np.argsort(error)
    covered = np.cumsum(np.convolve(up, down[::-1])[order])
    at = min(int(np.searchsorted(covered, 1 - beta)), error.size - 1)
    return float(error[order][at]) / (n * math.tanh(check.positive(epsilon=epsilon) / 2))


def sample_size(alpha: Number, beta: Number, epsilon: Number, queries: int = 1) -> float:
    """coth^2(eps/2) ln(2Q/beta) / (2 alpha^2), to be rounded up: the n with hoeffding_error <= alpha."""
    alpha = check.positive(alpha=alpha)
    return (hoeffding_error(beta, 1, epsilon, queries) / alpha) ** 2


@dataclass(frozen=True, slots=True)
class Oracle:
    """A frequency oracle: a report supports the true category with chance p and another with chance q; gain = p - q."""

    name: str
    p: float
    q: float
    gain: float

    def variance(self, frequency: Number = 0.0) -> float:
        """n Var of (supports/n - q)/(p - q): q(1-q)/(p-q)^2 + f (1-p-q)/(p-q) (WBLJ17 Thm 2)."""
        frequency = check.share(frequency=frequency)
        return self.q * (1 - self.q) / self.gain**2 + frequency * (1 - self.p - self.q) / self.gain

    def error(self, beta: Number, n: int, categories: int = 1) -> float:
        """sqrt(ln(2k/beta)/(2n)) / (p-q): Hoeffding for the estimated frequencies of k categories at once."""
        beta = check.probability(beta=beta)
        n = check.count(n=n)
        categories = check.count(categories=categories)
        return math.sqrt((math.log(2 * categories) - math.log(beta)) / (2 * n)) / self.gain

    def sample_size(self, alpha: Number, beta: Number, categories: int = 1) -> float:
        """ln(2k/beta) / (2 alpha^2 (p-q)^2), to be rounded up: the n with error <= alpha."""
        alpha = check.positive(alpha=alpha)
        return (self.error(beta, 1, categories) / alpha) ** 2


def k_ary(categories: int, epsilon: Number) -> Oracle:
    """k-ary randomised response: p = e^eps/(e^eps+k-1), n Var(0) = (e^eps+k-2)/(e^eps-1)^2."""
    categories = check.count(least=2, categories=categories)
    epsilon = check.positive(epsilon=epsilon)
    shrink = math.exp(-epsilon)
    p = 1 / (1 + (categories - 1) * shrink)
    return Oracle("k-ary randomised response", p, shrink * p, -math.expm1(-epsilon) * p)


def unary(epsilon: Number) -> Oracle:
    """Optimised unary encoding: p = 1/2, q = 1/(e^eps+1), n Var(0) = 4e^eps/(e^eps-1)^2 (WBLJ17)."""
    epsilon = check.positive(epsilon=epsilon)
    return Oracle("optimised unary encoding", 0.5, flip_probability(epsilon), math.tanh(epsilon / 2) / 2)


def hash_range(epsilon: Number) -> int:
    """g = round(e^eps) + 1: the best range of a local hash (WBLJ17), capped at e^42."""
    epsilon = check.positive(epsilon=epsilon)
    return round(math.exp(min(epsilon, 42.0))) + 1


def local_hashing(epsilon: Number, hashes: int | None = None) -> Oracle:
    """Optimised local hashing with ideal hashes to g values: p = e^eps/(e^eps+g-1), q = 1/g (WBLJ17)."""
    g = check.count(least=2, hashes=hash_range(epsilon) if hashes is None else hashes)
    inner = k_ary(g, epsilon)
    return Oracle("optimised local hashing", inner.p, 1 / g, inner.gain * (1 - 1 / g))


def subset_size(categories: int, epsilon: Number) -> int:
    """omega = k/(e^eps+1), rounded, at least 1: the size of the reported set (Ye & Barg 2018)."""
    categories = check.count(least=2, categories=categories)
    return max(1, round(categories * flip_probability(epsilon)))


def subset_selection(categories: int, epsilon: Number, size: int | None = None) -> Oracle:
    """Report a set of omega categories, e^eps times likelier if it contains the truth (Ye & Barg 2018).

    p = w e^eps/(w e^eps+k-w), q = w((w-1) e^eps+k-w)/((k-1)(w e^eps+k-w)); w = 1 is k_ary.
    """
    categories = check.count(least=2, categories=categories)
    epsilon = check.positive(epsilon=epsilon)
    w = check.count(size=subset_size(categories, epsilon) if size is None else size)
    if w >= categories:
        raise BadParameter("size", w, "below the number of categories")
    shrink, rest = math.exp(-epsilon), categories - w
    total = w + rest * shrink
    q = w * (w - 1 + rest * shrink) / ((categories - 1) * total)
    gain = -math.expm1(-epsilon) * w * rest / ((categories - 1) * total)
    return Oracle("subset selection", w / total, q, gain)


def best_oracle(categories: int, epsilon: Number) -> Oracle:
    """The oracle of least variance at frequency 0; the best omega is k/(e^eps+1) rounded down or up."""
    oracles = [k_ary(categories, epsilon), unary(epsilon), local_hashing(epsilon)]
    below = math.floor(categories * flip_probability(epsilon))
    oracles += [subset_selection(categories, epsilon, w) for w in (below, below + 1) if w > 1]
    return min(oracles, key=Oracle.variance)


def k_ary_limit(epsilon: Number) -> float:
    """3 e^eps + 2: with fewer categories k_ary has less variance than unary encoding (WBLJ17)."""
    epsilon = check.positive(epsilon=epsilon)
    return 3 * math.exp(min(epsilon, 700.0)) + 2
