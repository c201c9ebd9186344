r"""The number of possible histories of answers: the other way to bound what an analyst has learnt.

Theorem [proved].  Fix the coins of the mechanism and of the analyst, and all that is independent of the holdout set,
such as the training set.  The next question is then a function of the answers so far, a *history*.  If question by
question at most N histories are possible, then with t = sqrt(ln(2 N / beta) / (2 n)) every question that is ever asked
has |q(S) - q(P)| <= t, all at once, with probability at least 1 - beta: each history names one question without a look
at S, Hoeffding's inequality holds for it, and the union bound is over histories.  No noise is needed, and none hurts.

The bound may be split unevenly, and then nothing has to be fixed beforehand.  Where at most N(s, f) histories lead to a
question after s answers of one kind and f of another, it may fail with probability beta w(s) w(f) / N(s, f), w(j) =
1 / ((j + 1)(j + 2)): these sum to beta, for the w sum to 1.

References.  Dwork, Feldman, Hardt, Pitassi, Reingold, Roth, NeurIPS 2015, on description length; Blum and Hardt, ICML
2015; Rogers, Roth, Smith, Srebro, Thakkar, Woodworth, AISTATS 2020, who split with 6 / (pi (j + 1))^2.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from ..core.exact import MANY_ULPS

OUTWARD = 1 + 2.0**-40
_MAX_EXACT_TERMS = 1 << 10  # beyond which logarithms are bounded instead of integers counted


def deviation(n: int, nats: float) -> float:
    """sqrt(ln(2 N / beta) / (2 n)), rounded up, for `nats` = ln(N / beta), where N counts histories."""
    return math.sqrt((math.log(2) + nats) / (2 * n)) * OUTWARD


def log(histories: int | Fraction) -> float:
    """ln N, for a number that may be too large for a float."""
    count = Fraction(histories)
    return math.log(count.numerator) - math.log(count.denominator)


def log_choose(n: int, m: int) -> float:
    """ln C(n, m), m <= n - m; for large m from above, by Robbins (1955) on factorials, to within 1 / m^2:

    n H(m/n) + 1/2 ln(n / (2 pi m (n-m))) + 1/(12 n) - 1/(12 m + 1) - 1/(12 (n-m) + 1), n H(m/n) in nats.
    """
    m, rest = sorted((m, n - m))
    if m <= _MAX_EXACT_TERMS:
        return math.log(math.comb(n, m))
    entropy = m * math.log(n / m) - rest * math.log1p(-m / n)
    middle = 0.5 * (math.log(n / m) - math.log(2 * math.pi * rest))
    return entropy * MANY_ULPS + middle + 1 / (12 * n) - 1 / (12 * m + 1) - 1 / (12 * rest + 1)


@lru_cache(maxsize=64)
def exceptional(questions: int, exceptions: int, values: int) -> float:
    """ln N, where N counts questions among the first k after fewer than B exceptions, each with one of V answers.

    After j questions with b exceptions there are C(j, b) V^b histories; summed over j < k that is C(k, b + 1) V^b.
    Over all b < k these sum to ((1 + V)^k - 1) / V.  Each term is r = (b + 1) / ((k - b) V) times the next, and r grows
    with b: if r < 1 at the last term, the sum is at most the last term / (1 - r).
    """
    last = min(exceptions, questions)
    if last <= _MAX_EXACT_TERMS:
        total, ways, answers = 0, 1, 1
        for b in range(last):
            ways = ways * (questions - b) // (b + 1)
            total += ways * answers
            answers *= values
        return math.log(total)
    every = (questions * math.log1p(values) - math.log(values)) * MANY_ULPS
    ratio = last / ((questions - last + 1) * values)
    if ratio >= 1:
        return every
    return min(every, log_choose(questions, last) + (last - 1) * math.log(values) * MANY_ULPS - math.log1p(-ratio))


def climbing(questions: int, values: int) -> float:
    """ln N, where N counts histories of k submissions and a record that only rises through V values.

    b rises take b of V values in their order, which are C(V, b) histories.  C(k, b + 1) C(V, b), summed over all b, is
    C(k + V, k - 1), by Vandermonde's identity.
    """
    return log_choose(questions + values, questions - 1)


def weighted(s: int, f: int, histories: int) -> int:
    """N(s, f) / (w(s) w(f)), the number that beta is divided by."""
    return (s + 1) * (s + 2) * (f + 1) * (f + 2) * histories
