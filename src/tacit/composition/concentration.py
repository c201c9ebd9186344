r"""Concentration inequalities, such as the one behind advanced composition.

Azuma.  If S is a sum of k martingale differences, each within an interval of length 2 epsilon, then
P[S >= t] <= exp(-t^2 / (2 k epsilon^2)).  Privacy losses less their conditional means are such differences.  If the
intervals have lengths l_i, the bound is exp(-2 t^2 / sum l_i^2).
Hoeffding.  The mean of n independent numbers in [0, 1] is t or more from its expectation with probability at most
2 exp(-2 n t^2).
Bernstein.  If the n numbers have sample variance V, their mean is more than sqrt(2 V ln(4/beta) / n) +
7 ln(4/beta) / (3 (n - 1)) from its expectation with probability at most beta: less than Hoeffding's where V is small.
Pinsker.  |P - Q|_1 <= sqrt(2 KL(P || Q)); the total variation distance is half of |P - Q|_1.

References.  Azuma (1967); Hoeffding (1963); Maurer and Pontil, COLT 2009, theorem 4, for each side;
Pinsker (1964) with the constant of Csiszar and Kullback.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..core.parameters import Number, probability, several, whole
from ._enclosure import upper
from ._parameters import nonnegative, positive


def azuma(k: int, epsilon: Number, t: Number) -> float:
    """exp(-t^2 / (2 k epsilon^2)): a bound on the chance that k losses exceed their mean by t."""
    n, e, s = whole("k", k), positive("epsilon", epsilon), nonnegative("t", t)
    return upper(lambda at: at(-s * s / (2 * n * e * e)).exp())


def azuma_intervals(lengths: Iterable[Number], t: Number) -> float:
    """exp(-2 t^2 / sum l_i^2): a bound on the chance that differences in intervals of lengths l_i add up to t."""
    squares, s = sum(length**2 for length in several("lengths", lengths, positive)), nonnegative("t", t)
    return upper(lambda at: at(-2 * s * s / squares).exp()) if squares else float(s == 0)


def azuma_inverse(k: int, epsilon: Number, beta: Number) -> float:
    """epsilon sqrt(2 k ln(1/beta)): k losses exceed their mean by more with probability at most beta."""
    n, e, b = whole("k", k), positive("epsilon", epsilon), probability("beta", beta)
    return upper(lambda at: (-at(b).ln() * (2 * n)).sqrt() * e)


def hoeffding(n: int, t: Number) -> float:
    """2 exp(-2 n t^2), at most 1: a bound on the chance that a mean of n numbers in [0, 1] errs by t."""
    m, s = whole("n", n), nonnegative("t", t)
    return min(1.0, upper(lambda at: 2 * at(-2 * m * s * s).exp()))


def hoeffding_inverse(n: int, beta: Number) -> float:
    """sqrt(ln(2/beta) / (2 n)): a mean of n numbers in [0, 1] errs by more with probability at most beta."""
    m, b = whole("n", n), probability("beta", beta)
    return upper(lambda at: (at(2 / b).ln() / (2 * m)).sqrt())


def bernstein_inverse(n: int, variance: Number, beta: Number) -> float:
    """sqrt(2 V ln(4/beta) / n) + 7 ln(4/beta) / (3 (n - 1)): the error bound at this sample variance."""
    m, v, b = whole("n", n, at_least=2), nonnegative("variance", variance), probability("beta", beta)
    return upper(lambda at: (at(4 / b).ln() * 2 * v / m).sqrt() + at(4 / b).ln() * 7 / (3 * (m - 1)))


def pinsker(kl: Number) -> float:
    """sqrt(2 kl): an upper bound on the l1 distance of two laws with this divergence."""
    d = nonnegative("kl", kl)
    return upper(lambda at: at(2 * d).sqrt())
