r"""Privacy filters of the literature: when to stop, where each epsilon is chosen after the earlier answers.

A filter admits questions as long as its bound, which holds with probability 1 - delta, is at most the limit.  A
`Budget` admits more: it is a union of such filters, each with its own sums.

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

_MAX_EPSILON = 300.0  # so that e^epsilon and its square are floats


def _nats(delta: Number) -> float:
    """ln(1/delta), rounded up."""
    return up(-ln(probability("delta", delta))[0])


def whitehouse_filter(epsilons: Iterable[Number], *, delta: Number) -> float:
    """sqrt(2 V ln(1/delta)) + V/2 with V the sum of epsilon_i^2: admit questions while this is at most the limit."""
    variance = up(sum((e * e for e in several("epsilons", epsilons, positive)), Fraction(0)))
    return (math.sqrt(2 * variance * _nats(delta)) + variance / 2) * MANY_ULPS


def rogers_filter(epsilons: Iterable[Number], *, limit: Number, delta: Number) -> float:
    """K of the first filter (2016): admit questions while K is at most the limit.  Weaker than `whitehouse_filter`."""
    each = [up(e) for e in several("epsilons", epsilons, positive)]
    if max(each, default=0.0) > _MAX_EPSILON:
        return math.inf
    nats, v = _nats(delta), math.fsum(e * e for e in each)
    offset = float(positive("limit", limit)) ** 2 / (28.04 * nats)
    variance = 2 * (v + offset) * (1 + math.log1p(v / offset) / 2) * (nats + math.log(2))
    return (math.fsum(e * math.expm1(e) / 2 for e in each) + math.sqrt(variance)) * MANY_ULPS
