r"""The constants of private multiplicative weights as the textbook has them, and where they are consistent.

With c = 4 ln|X| / alpha^2 updates over k questions, NumericSparse on 2 k comparisons errs by at most

    pure     9 c (ln 2k + ln(4 c / beta)) / (epsilon n)
    approx   (1 + 16 sqrt 2) sqrt(c ln(2 / delta)) (ln 2k + ln(4 c / beta)) / (epsilon n)

The threshold is twice that.  Where it is at most 2 alpha, each update is of a gap of alpha at least, there are no more
than c, and every answer is within 3 alpha.  So alpha solves alpha = error(c(alpha)): the left side grows and the right
side falls.

References.  Dwork and Roth (2014), algorithm 6, theorems 3.28 and 4.11 to 4.15, where 36 stands printed as 32 and, for
delta > 0, the power of alpha in c was lost.
"""

from __future__ import annotations

import math

from ....core.search import least_positive


def classical_updates(cells: int, alpha: float) -> float:
    """c = 4 ln|X| / alpha^2."""
    return 4 * math.log(cells) / alpha**2


def classical_threshold(
    cells: int, questions: int, alpha: float, *, epsilon: float, n: int, beta: float, delta: float = 0.0
) -> float:
    """T, twice the error of NumericSparse, as a share of n."""
    c = classical_updates(cells, alpha)
    logs = math.log(2 * questions) + math.log(4 * c) - math.log(beta)
    if delta:
        return (2 + 32 * math.sqrt(2)) * math.sqrt(c * math.log(2 / delta)) * logs / (epsilon * n)
    return 18 * c * logs / (epsilon * n)


def consistent_alpha(cells: int, questions: int, *, epsilon: float, n: int, beta: float, delta: float = 0.0) -> float:
    """The least alpha whose threshold is at most 2 alpha."""

    def good(alpha: float) -> bool:
        return classical_threshold(cells, questions, alpha, epsilon=epsilon, n=n, beta=beta, delta=delta) <= 2 * alpha

    return least_positive(good, floor=2.0**-40, precision=2.0**-45)
