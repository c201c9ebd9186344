r"""The exponential mechanism.

Definition.  M(u) = i with probability proportional to exp(u_i / scale), for scores u_1, ..., u_m.  Reals go on a grid
first.  Any finite set of outcomes with a score will do; a continuous one is first given a public grid
(`posted_price.py`).  Gumbel noise of this scale on each score, and the index of the largest, has the same law.

Privacy.  If the moves v_i = u_i' - u_i have range r = max v - min v then ln P[M(u) = i] / P[M(u') = i] lies, over all
i, in an interval of length r / scale that contains 0: it is -v_i / scale plus a constant, and both laws have mass 1.
So M is (r / scale)-DP with bounded range, which is (r / scale)^2 / 8-zCDP.  r is at most 2 d where no score moves by
more than d, and d where all move the same way.

Utility.  The choice falls short by g or more with probability at most (m - o) w / (o + (m - o) w), w = exp(-g / scale),
where o candidates share the best score: P[bad] = B / (G + B) grows with the weight B of the bad, at most w each, and
falls with that of the others.  `error` is the quantile of this; `classical_error` is scale (ln(m / o) + ln(1 / beta)).
The mean gap is at most scale ln(m / o): entropy + E u / scale = ln sum exp(u_i / scale) >= max u / scale + ln o.

References.  McSherry and Talwar, FOCS 2007; Dwork and Roth (2014), theorems 3.10, 3.11 and corollary 3.12; Durfee and
Rogers, NeurIPS 2019, for bounded range; Cesar and Rogers, ALT 2021, for zCDP.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from ...core import samplers
from ...core.accounting.loss import BoundedRange
from ...core.mechanism import Example
from ...core.randomness import Source
from ._rule import Gaps, Masses, SelectionRule
from ._scores import Scores, SelectOne


class Softmax(SelectionRule):
    """Probability proportional to exp(-gap unit)."""

    atom = BoundedRange

    def masses(self, gaps: Gaps, unit: Fraction) -> Masses:
        weights: Masses = np.exp(-gaps * float(unit))
        return np.asarray(weights / weights.sum())

    def draw(self, gaps: Gaps, unit: Fraction, source: Source) -> int:
        return samplers.choice(gaps, unit, source)

    def tail(self, gap: int, unit: Fraction, candidates: int, optimal: int) -> float:
        bad = (candidates - optimal) * math.exp(-float(gap * unit))
        return bad / (optimal + bad)

    def mean(self, candidates: int, optimal: int) -> float:
        return math.log(candidates / optimal)

    def near(self, beta: float, unit: Fraction, candidates: int, optimal: int) -> int:
        """w = beta o / ((1 - beta) (m - o))."""
        nats = math.log((candidates - optimal) / optimal) + math.log1p(-beta) - math.log(beta)
        return max(0, math.ceil(nats / unit) - 1)


class Exponential(SelectOne):
    """Choose a candidate, the likelier the higher its score."""

    rule = Softmax()

    @classmethod
    def examples(cls) -> Iterable[Example[Scores]]:
        for epsilon in ("0.1", 1, 3):
            yield Example(cls(epsilon=epsilon, candidates=3), np.array([3, 2, 2]), np.array([2, 3, 3]), 1)
        yield Example(cls(epsilon=1, candidates=2), np.array([0, 10]), np.array([1, 9]), 1)
        yield Example(cls(epsilon=1, candidates=4), np.array([0, 0, 0, 9]), np.array([3, 3, 3, 6]), 3)
        yield Example(cls(epsilon=1, monotone=True, candidates=3), np.array([10, 7, 3]), np.array([10, 8, 3]), 1)
        yield Example(cls(epsilon=2, monotone=True, candidates=2), np.array([0, 8]), np.array([2, 8]), 2)
        yield Example(cls(epsilon=1, range_sensitivity=3, candidates=3), np.array([5, 1, 0]), np.array([7, 0, 2]), 3)
        yield Example(
            cls(epsilon=1, sensitivity="0.3", grid="0.25", candidates=3),
            np.array([0.12, 0.4, 1.0]),
            np.array([0.42, 0.1, 1.3]),
            "0.3",
        )
