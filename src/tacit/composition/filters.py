r"""Filters of the literature: whether to go on, where each epsilon is chosen after the answers before it.

A filter admits questions as long as its bound, which holds with probability 1 - delta, is at most the limit.  A
`Budget` admits more: it is the union of such filters, each with sums of its own.

References.  Rogers, Roth, Ullman, Vadhan, NeurIPS 2016, theorem 5.1; Whitehouse, Ramdas, Rogers, Wu, ICML 2023,
theorem 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from ..core.accounting.currency import ln
from ..core.exact import MANY_ULPS, up
from ..core.parameters import Number, probability, several
from ._parameters import positive

_MOST = 300.0  # an epsilon of which e^epsilon, and the square, are floats


def _nats(delta: Number) -> float:
    """ln(1/delta), from above."""
    return up(-ln(probability("delta", delta))[0])


def whitehouse_filter(epsilons: Iterable[Number], *, delta: Number) -> float:
    """sqrt(2 V ln(1/delta)) + V/2, V the sum of the squares: it goes on while this is at most the limit."""
    variance = up(sum((e * e for e in several("epsilons", epsilons, positive)), Fraction(0)))
    return (math.sqrt(2 * variance * _nats(delta)) + variance / 2) * MANY_ULPS


def rogers_filter(epsilons: Iterable[Number], *, limit: Number, delta: Number) -> float:
    """K of the first filter, which went on while K was at most the limit; weaker, and here for history."""
    each = [up(e) for e in several("epsilons", epsilons, positive)]
    if max(each, default=0.0) > _MOST:
        return math.inf
    nats, v = _nats(delta), math.fsum(e * e for e in each)
    offset = float(positive("limit", limit)) ** 2 / (28.04 * nats)
    spread = 2 * (v + offset) * (1 + math.log1p(v / offset) / 2) * (nats + math.log(2))
    return (math.fsum(e * math.expm1(e) / 2 for e in each) + math.sqrt(spread)) * MANY_ULPS
