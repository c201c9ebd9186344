r"""The inequalities behind advanced composition.

Azuma.  If S is a sum of k martingale differences, each within an interval of length 2 epsilon, then
P[S >= t] <= exp(-t^2 / (2 k epsilon^2)).  Privacy losses less their conditional means are such.  If the intervals have
lengths l_i, it is exp(-2 t^2 / sum l_i^2).
Hoeffding.  The mean of n independent numbers in [0, 1] is t or more from its expectation with probability at most
2 exp(-2 n t^2).
Bernstein.  If their sample variance is V, by more than sqrt(2 V ln(4/beta) / n) + 7 ln(4/beta) / (3 (n - 1)) with
probability at most beta: less than Hoeffding's where V is small.
Pinsker.  |P - Q|_1 <= sqrt(2 KL(P || Q)); the total variation distance is half of it.

References.  Azuma (1967); Hoeffding (1963); Maurer and Pontil, COLT 2009, theorem 4, for each side;
Pinsker (1964) with the constant of Csiszar and Kullback.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..core.parameters import Number, probability, several, whole
from ._enclosure import upper
from ._parameters import nonnegative, positive


def azuma(k: int, epsilon: Number, t: Number) -> float:
    """exp(-t^2 / (2 k epsilon^2)): the chance that k losses exceed their mean by t."""
    n, e, s = whole("k", k), positive("epsilon", epsilon), nonnegative("t", t)
    return upper(lambda at: at(-s * s / (2 * n * e * e)).exp())


def azuma_intervals(lengths: Iterable[Number], t: Number) -> float:
    """exp(-2 t^2 / sum l_i^2): the chance that differences within intervals of these lengths add up to t."""
    squares, s = sum(length**2 for length in several("lengths", lengths, positive)), nonnegative("t", t)
    return upper(lambda at: at(-2 * s * s / squares).exp()) if squares else float(s == 0)


def azuma_inverse(k: int, epsilon: Number, beta: Number) -> float:
    """epsilon sqrt(2 k ln(1/beta)): by more than this k losses exceed their mean with probability at most beta."""
    n, e, b = whole("k", k), positive("epsilon", epsilon), probability("beta", beta)
    return upper(lambda at: (-at(b).ln() * (2 * n)).sqrt() * e)


def hoeffding(n: int, t: Number) -> float:
    """2 exp(-2 n t^2), or 1 if that is more: the chance that a mean of n numbers in [0, 1] errs by t."""
    m, s = whole("n", n), nonnegative("t", t)
    return min(1.0, upper(lambda at: 2 * at(-2 * m * s * s).exp()))


def hoeffding_inverse(n: int, beta: Number) -> float:
    """sqrt(ln(2/beta) / (2 n)): by more than this a mean of n numbers errs with probability at most beta."""
    m, b = whole("n", n), probability("beta", beta)
    return upper(lambda at: (at(2 / b).ln() / (2 * m)).sqrt())


def bernstein_inverse(n: int, variance: Number, beta: Number) -> float:
    """sqrt(2 V ln(4/beta) / n) + 7 ln(4/beta) / (3 (n - 1)): as Hoeffding's, for numbers of this sample variance."""
    m, v, b = whole("n", n, at_least=2), nonnegative("variance", variance), probability("beta", beta)
    return upper(lambda at: (at(4 / b).ln() * 2 * v / m).sqrt() + at(4 / b).ln() * 7 / (3 * (m - 1)))


def pinsker(kl: Number) -> float:
    """sqrt(2 kl), at least the l1 distance of two laws with this divergence."""
    d = nonnegative("kl", kl)
    return upper(lambda at: at(2 * d).sqrt())
