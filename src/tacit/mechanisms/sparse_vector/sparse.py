r"""Sparse: the sparse vector technique, up to the c-th value above.

Definition.  AboveThreshold that goes on after a TOP, with the same noisy threshold, and stops at the c-th; query noise
is of scale 2 c D / e2, or c D / e2 if all values move the same way.  The transcript is the indices of the TOPs.

Privacy.  The whole session is (e1 + e2)-differentially private.  As for AboveThreshold, with one factor S for each TOP:
shifting the noisy threshold by D covers all answers below it at once, and each of at most c TOPs costs e2 / c.  So the
price is fixed by c when the session opens: only TOPs are paid for, as many as there may be, whether or not they come;
other answers are free, however many.  The noisy threshold is not drawn anew after a TOP; that would cost e1 each time.
    The least variance of Z_i - Z is at e1 : e2 = 1 : (2 c)^(2/3), or 1 : c^(2/3), for either kind of noise.

Utility.  `error` is as for AboveThreshold: with probability at least 1 - beta no value below threshold - a is a TOP,
and none above threshold + a is passed over, among those asked before the c-th TOP.
`classical_error` is 8 c D (ln k + ln(2 c / beta)) / epsilon, for c restarts of AboveThreshold.

References.  Lyu, Su, Li, PVLDB 10 (2017), algorithm 7 and section 4; Dwork and Roth (2014), algorithm 2, theorems
3.25, 3.26; `tacit.testing.wrong.sparse_vector` for ways to get it wrong.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ...core.distance import Distance
from ...core.mechanism import Example
from ...core.parameters import Number, probability, whole
from ._comparisons import Hits, ReleasesIndices, StreamValues
from ._pure_comparisons import KINDS, ComparisonNoiseName, PureComparisons


@dataclass(frozen=True, init=False, repr=False)
class Sparse(ReleasesIndices, PureComparisons[Hits, bool]):
    """Release which values reach the threshold, `count` times; `error` holds for `queries` values."""

    def __init__(
        self,
        *,
        threshold: Number,
        epsilon: Number,
        count: int,
        sensitivity: Number | Distance[Any] = 1,
        grid: Number | None = None,
        queries: int = 1000,
        monotone: bool = False,
        noise: ComparisonNoiseName = "exponential",
        bar_share: Number | None = None,
    ) -> None:
        super().__init__(
            threshold=threshold,
            sensitivity=sensitivity,
            grid=grid,
            count=count,
            queries=queries,
            monotone=monotone,
            epsilon=epsilon,
            noise=noise,
            bar_share=bar_share,
        )

    def classical_error(self, beta: Number = 0.05, queries: int | None = None) -> float:
        """8 c D (ln k + ln(2 c / beta)) / epsilon (Dwork and Roth, theorem 3.26)."""
        k, c = self.queries if queries is None else whole("queries", queries), self.count
        nats = math.log(2 * c * k) - math.log(probability("beta", beta))
        return float(self.classical_factor * self.sensitivity.linf / self.epsilon) * nats

    @classmethod
    def examples(cls) -> Iterable[Example[StreamValues]]:
        x, y = (0, 0, 1, 0, 0, 1), (1, 1, 0, 1, 1, 0)
        for kind in KINDS:
            yield Example(cls(threshold=1, epsilon=1, count=2, queries=6, noise=kind), x, y, 1)
            yield Example(cls(threshold=-3, epsilon=4, count=2, queries=6, noise=kind), x, y, 1)
        yield Example(cls(threshold=2, epsilon=2, sensitivity=2, count=3, queries=4), x[:4], y[:4], 1)
        same_way = cls(threshold=1, epsilon=1, count=2, queries=5, monotone=True)
        yield Example(same_way, (0, 0, 2, 0, 2), (1, 1, 2, 1, 2), 1)
        yield Example(same_way, (0, 0, 2, 0, 2), (0, 0, 1, 0, 1), 1)
        fine = cls(threshold="0.6", epsilon=2, sensitivity="0.3", grid="0.25", count=2, queries=4)
        yield Example(fine, (0.1, 0.7, 0.1, 0.7), (0.4, 0.4, 0.4, 0.4), "0.3")
