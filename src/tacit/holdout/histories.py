r"""How many things can have been told: the other way to bound what an analyst has learnt.

Theorem [proved].  Fix the coins of the mechanism and of the analyst, and all that is independent of the holdout set,
such as the training set.  What is asked next is then a function of what was told so far, a *history*.  If question by
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

OUTWARD = 1 + 2.0**-40


def deviation(n: int, histories: int | Fraction) -> float:
    """sqrt(ln(2 N) / (2 n)), outward; N counts histories, divided by beta."""
    count = Fraction(histories)
    nats = math.log(2 * count.numerator) - math.log(count.denominator)
    return math.sqrt(nats / (2 * n)) * OUTWARD


def log(histories: int | Fraction) -> float:
    """ln N of a number that may be far beyond the floats."""
    count = Fraction(histories)
    return math.log(count.numerator) - math.log(count.denominator)


@lru_cache(maxsize=64)
def exceptional(questions: int, exceptions: int, values: int) -> int:
    """Questions that follow fewer than B exceptions, each told as one of V values, among the first k.

    After j questions with b exceptions there are C(j, b) V^b histories; summed over j < k that is C(k, b + 1) V^b.
    """
    total, ways, told = 0, 1, 1
    for b in range(min(exceptions, questions)):
        ways = ways * (questions - b) // (b + 1)
        total += ways * told
        told *= values
    return total


@lru_cache(maxsize=64)
def climbing(questions: int, values: int) -> int:
    """The same for a record that only rises: b of V values, in their order, are C(V, b) histories."""
    total, ways, told = 0, 1, 1
    for b in range(min(values + 1, questions)):
        ways = ways * (questions - b) // (b + 1)
        total += ways * told
        told = told * (values - b) // (b + 1)
    return total


def weighted(s: int, f: int, histories: int) -> int:
    """N(s, f) / (w(s) w(f)): what beta is divided by."""
    return (s + 1) * (s + 2) * (f + 1) * (f + 2) * histories
