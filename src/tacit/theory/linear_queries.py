"""Constants of the lectures for linear queries: the sensitivity of SmallDB, and private multiplicative weights.

SmallDB scores a small table y by -max over queries f of |f(x) - f(y)|, with f(x) the mean of f over the n records.
If one record is substituted, n public, each f(x) moves by at most (max f - min f)/n, and the score by no more.

Multiplicative weights, as in the lectures of UC Santa Barbara, make at most N = 16 ln|X| / alpha^2 updates, each of
which costs one AboveThreshold and one noisy answer of eps0 = 16 ln(3k/beta) / (n alpha): 2N mechanisms in all.  They
compose to 2 N eps0, or at a delta > 0 to less, by advanced composition.  (The slide's 2 sqrt(N) eps0 omits
sqrt(ln(1/delta)), and its alpha lacks a square root.)  The method of tacit makes fewer updates: at most
ln|X| / (2 alpha^2), `workloads.models.multiplicative_weights.most_updates`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..composition import advanced
from ..core.errors import BadParameter
from ..core.parameters import Number
from ..core.search import least_positive
from . import _validate as check
from ._validate import FloatSequence

FloatMatrix = NDArray[np.float64]


def small_db_sensitivity(weights: Sequence[FloatSequence] | FloatMatrix, n: int) -> float:
    """max over queries of (max f - min f) / n: 1/n if some query gives 1 to one cell and 0 to another.

    `weights` has a row for each query, with a weight in [0, 1] for each cell.
    """
    n = check.count(n=n)
    rows = list(weights) if isinstance(weights, np.ndarray) else weights
    listed: object = rows
    if not isinstance(listed, Sequence) or isinstance(listed, str) or not listed:
        raise BadParameter("weights", type(weights).__name__, "a list of queries, each a list of weights in [0, 1]")
    widths = []
    for row in rows:
        query = check.vector(weights=row, low=0)
        if query.max() > 1:
            raise BadParameter("weights", "a weight above 1", "weights in [0, 1]")
        widths.append(float(query.max() - query.min()))
    return max(widths) / n


def weights_updates(cells: int, alpha: Number) -> float:
    """N = 16 ln|X| / alpha^2: the number of updates at gaps of alpha/2."""
    cells = check.count(cells=cells)
    return 16 * math.log(cells) / check.positive(alpha=alpha) ** 2


def weights_epsilon(queries: int, n: int, alpha: Number, beta: Number) -> float:
    """eps0 = 16 ln(3k/beta) / (n alpha): the epsilon of each of the two mechanisms of an update."""
    queries, n = check.count(queries=queries), check.count(n=n)
    return 16 * (math.log(3 * queries) - math.log(check.probability(beta=beta))) / (n * check.positive(alpha=alpha))


def weights_total(cells: int, queries: int, n: int, alpha: Number, beta: Number, *, delta: Number = 0) -> float:
    """The total epsilon of 2N mechanisms of eps0: 2 N eps0, or less by advanced composition at delta."""
    each, count = weights_epsilon(queries, n, alpha, beta), 2 * math.ceil(weights_updates(cells, alpha))
    slack = check.slack(delta=delta)
    if not slack or not 0 < count < 1 << 62:
        return count * each
    return min(count * each, advanced(each, 0, count, slack)[0])


def weights_alpha(cells: int, queries: int, n: int, epsilon: Number, beta: Number, *, delta: Number = 0) -> float:
    """The least alpha whose total is at most epsilon: about a cube root of 1/(n eps), a square root at a delta."""
    limit = check.positive(epsilon=epsilon)
    slack = check.slack(delta=delta)
    cells, queries, n = check.count(cells=cells), check.count(queries=queries), check.count(n=n)
    beta = check.probability(beta=beta)

    def good(alpha: float) -> bool:
        return weights_total(cells, queries, n, alpha, beta, delta=slack) <= limit

    return least_positive(good, floor=2.0**-30, precision=2.0**-30)
