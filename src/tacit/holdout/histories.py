r"""The number of possible histories of answers: the other way to bound what an analyst has learnt.

Theorem [proved].  Fix the coins of the mechanism and of the analyst, and all that is independent of the holdout set,
such as the training set.  The next question is then a function of the answers so far, a *history*.  If question by
question at most N histories are possible, then with t = sqrt(ln(2 N / beta) / (2 n)) every question that is ever asked
has |q(S) - q(P)| <= t, all at once, with probability at least 1 - beta: each history names one question without a look
at S, Hoeffding's inequality holds for it, and the union bound is over histories.  No noise is needed, and none hurts.

Sharper, with the relative entropy kl(m, p) of two coins: every question has n kl(q(S), q(P)) <= ln(2 N / beta)
[proved; `interval`].  By Chernoff's bound, which holds for values in [0, 1] (Hoeffding 1963, theorem 1), q(S) >= m >
q(P) has probability at most e^(-n kl(m, q(P))), and likewise below; kl(m, p) grows as m leaves p.  By Pinsker's
inequality kl(m, p) >= 2 (m - p)^2 this is never wider than t, and near 0 and 1 it is much narrower.

Rounds [proved].  A list of questions that is fixed before any of its answers is seen is one round.  Histories are then
counted once a round: a round of c questions after h histories adds c h to N, and one round of k questions is the union
bound over k, as if nothing were adaptive.  With R rounds of c, where C(m, b) V^b histories of m answers have b of one
kind, N is at most the sum over b of (c C(M, b) + C(M, b + 1)) V^b, M = (R - 1) c: the first term is of the last round,
and for the others c C(d c, b) <= C(d c, b) + ... + C(d c + c - 1, b).  Shorter rounds are counted as if they were full.

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
_FINE = 2.0**-44
_MAX_EXACT_TERMS = 1 << 10  # beyond which logarithms are bounded instead of integers counted


def deviation(n: int, nats: float) -> float:
    """sqrt(ln(2 N / beta) / (2 n)), rounded up, for `nats` = ln(N / beta), where N counts histories."""
    return math.sqrt((math.log(2) + nats) / (2 * n)) * OUTWARD


def interval(mean: float, n: int, nats: float) -> tuple[float, float]:
    """The least and the greatest p with n kl(mean, p) <= ln(2 N / beta), rounded outward; `nats` = ln(N / beta)."""
    bound = (math.log(2) + nats) / n * OUTWARD
    return max(0.0, 1 - _highest(1 - mean, bound)), _highest(mean, bound)


def _highest(mean: float, bound: float) -> float:
    """A p above which kl(mean, p) exceeds a bound; the last term of the comparison outweighs all rounding."""
    if mean >= 1:
        return 1.0
    low, high = mean, min(1.0, (mean + math.sqrt(bound / 2)) * OUTWARD)
    while high - low > _FINE:
        p = (low + high) / 2
        low, high = (low, p) if relative_entropy(mean, p) > bound + 2.0**-48 * (p - mean) else (p, high)
    return high


def relative_entropy(m: float, p: float) -> float:
    """kl(m, p) = m ln(m/p) + (1-m) ln((1-m)/(1-p)), the relative entropy of two coins, for 0 < p < 1."""
    heads = m * math.log1p((m - p) / p) if m else 0.0
    return heads + ((1 - m) * math.log1p((p - m) / (1 - p)) if m < 1 else 0.0)


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
def exceptional(questions: int, exceptions: int, values: int, rounds: int | None = None) -> float:
    """ln N, where N counts questions among the first k after fewer than B exceptions, each with one of V answers.

    N is the sum over b < B of (c C(M, b) + C(M, b + 1)) V^b, M = (R - 1) c, c = k / R rounded up.  Without rounds, R =
    k, that is C(k, b + 1) V^b.  Over all b < k these sum to ((1 + V)^k - 1) / V.  Each term is r = (b + 1) / ((k - b)
    V) times the next, and r grows with b: if r < 1 at the last term, the sum is at most the last term / (1 - r).
    Rounds only lessen N.
    """
    size, before = in_rounds(questions, rounds)
    questions, last = before + size, min(exceptions, before + 1)
    if last <= _MAX_EXACT_TERMS:
        total, ways, answers = 0, 1, 1
        for b in range(last):
            following = ways * (before - b) // (b + 1)
            total += (size * ways + following) * answers
            ways, answers = following, answers * values
        return math.log(total)
    last = min(exceptions, questions)
    every = (questions * math.log1p(values) - math.log(values)) * MANY_ULPS
    ratio = last / ((questions - last + 1) * values)
    if ratio >= 1:
        return every
    return min(every, log_choose(questions, last) + (last - 1) * math.log(values) * MANY_ULPS - math.log1p(-ratio))


def in_rounds(questions: int, rounds: int | None) -> tuple[int, int]:
    """The number of questions in each round, and in all rounds before the last."""
    size = 1 if rounds is None else -(-questions // rounds)
    return size, (questions - 1 if rounds is None else (rounds - 1) * size)


def after_exceptions(questions: int, exceptions: int, values: int, rounds: int | None = None) -> float:
    """ln((c C(M, f) + C(M, f + 1)) V^f), which counts questions after f exceptions; `exceptional` sums over f."""
    (size, before), f = in_rounds(questions, rounds), exceptions
    if f > before:
        return 0.0  # there are none
    # C(M, f + 1) = C(M, f) (M - f) / (f + 1)
    more = math.log(size + (before - f) / (f + 1)) * MANY_ULPS
    return log_choose(before, f) + more + f * math.log(values) * MANY_ULPS


def climbing(questions: int, values: int, rounds: int | None = None) -> float:
    """ln N, where N counts histories of k submissions and a record that only rises through V values.

    b rises take b of V values in their order, which are C(V, b) histories.  C(k, b + 1) C(V, b), summed over all b, is
    C(k + V, k - 1), by Vandermonde's identity.  In R rounds of c a rise also tells which of c submissions it was: N is
    the sum of C(R, b + 1) c^(b + 1) C(V, b), which is less.
    """
    size, before = in_rounds(questions, rounds)
    alone = log_choose(before + size + values, before + size - 1)
    if rounds is None or min(rounds, values + 1) > _MAX_EXACT_TERMS:
        return alone
    total, ways = 0, rounds * size
    for b in range(min(rounds, values + 1)):
        total += ways
        ways = ways * (rounds - b - 1) * size * (values - b) // ((b + 2) * (b + 1))
    return math.log(total)


def weighted(s: int, f: int, histories: int) -> int:
    """N(s, f) / (w(s) w(f)), the number that beta is divided by."""
    return (s + 1) * (s + 2) * (f + 1) * (f + 2) * histories
