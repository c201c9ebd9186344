r"""AboveThreshold: the sparse vector technique, up to the first value above.

Definition.  Draw Z once, from the geometric law P[Z = z] = (1 - q) q^z, z >= 0, of scale 1/ln(1/q) = D / e1.  For
each value q_i in turn draw Z_i of scale 2 D / e2, or D / e2 if all values move the same way, and stop at the first i
with q_i + Z_i >= threshold + Z + m; release i, or None if there is none.  m = round(E Z_i - E Z) is public.  With
noise="laplace" both are discrete Laplace, and m = 0.

Privacy.  If every value moves by at most D, the whole session is (e1 + e2)-differentially private, however many values
are asked, and chosen however the answers suggest: an answer below the threshold is free.
    Fix a transcript; write t = threshold + m, f(z) = P[Z = z], F(s) = P[Z_i < s] and S(s) = P[Z_i >= s] = 1 - F(s),
for ties are TOP.  Its probability on q is sum_z f(z) prod_{i<j} F(t + z - q_i) S(t + z - q_j).  On q' keep only the
terms z + D:  f(z + D) >= exp(-e1) f(z);  F(t + z + D - q'_i) >= F(t + z - q_i), as F grows;  and, as S falls,
S(t + z + D - q'_j) >= S(t + z - q_j + 2 D) >= exp(-e2) S(t + z - q_j).  All shifts go up, where the geometric law never
vanishes and loses a factor q a step: one side of noise is enough, at half the variance of Laplace noise.
If all q'_i - q_i lie in [-a, b] with a + b <= D, shift z by b instead, and S by a + b: D in place of 2 D.
    e1 : e2 = 1 : 2^(2/3), or 1 : 1, gives Z_i - Z the least variance at a given e1 + e2.  For noises of scales s and s'
it is s^2 + s'^2 if one-sided and twice that if two-sided, less about 1/6 or 1/3 for living on integers, so the same
split is best for both.  It is rounded so that e1 + e2 is epsilon exactly.  With bar_share=1/2 and noise="laplace" the
scales are those of the textbook's algorithm 1, 2 D / epsilon and 4 D / epsilon.

Utility.  `error` is the least a for which the sum in `_comparisons.py` proves that over k queries, with probability at
least 1 - beta, no value below threshold - a is a TOP and none above threshold + a is passed over.
`classical_error` is 8 D (ln k + ln(2 / beta)) / epsilon, for Dwork and Roth's noise.

References.  Dwork, Naor, Reingold, Rothblum, Vadhan, STOC 2009; Dwork and Roth (2014), algorithm 1, theorems 3.23,
3.24; Lyu, Su, Li, PVLDB 10 (2017), for the split and the monotone case; Liu et al., arXiv 2407.20068 (2024), for
exponential noise.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ...core.distance import Distance
from ...core.law import Finite
from ...core.mechanism import Example
from ...core.parameters import Number, probability, whole
from ...core.randomness import Source
from ._comparisons import StreamValues
from ._pure_comparisons import KINDS, ComparisonNoiseName, PureComparisons


@dataclass(frozen=True, init=False, repr=False)
class AboveThreshold(PureComparisons[int | None, bool]):
    """Release which value is the first to reach the threshold; `error` holds for `queries` values."""

    def __init__(
        self,
        *,
        threshold: Number,
        epsilon: Number,
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
            count=1,
            queries=queries,
            monotone=monotone,
            epsilon=epsilon,
            noise=noise,
            bar_share=bar_share,
        )

    def compared(self, at: int, top: bool, source: Source) -> bool:
        return top

    def output(self, answers: Sequence[bool]) -> int | None:
        return next((i for i, top in enumerate(answers) if top), None)

    def law(self, x: StreamValues) -> Finite:
        return Finite({hits[0] if hits else None: mass for hits, mass in self.transcripts(x).items()})

    def sample(self, x: StreamValues, source: Source) -> int | None:
        hits = self.hits(self.steps(x), source)
        return hits[0] if hits else None

    def miss(self, x: StreamValues, y: int | None) -> float:
        return self.worst_miss(x, () if y is None else (y,))

    def classical_error(self, beta: Number = 0.05, queries: int | None = None) -> float:
        """8 D (ln k + ln(2 / beta)) / epsilon (Dwork and Roth, theorem 3.24)."""
        k = self.queries if queries is None else whole("queries", queries)
        nats = math.log(2 * k) - math.log(probability("beta", beta))
        return float(self.classical_factor * self.sensitivity.linf / self.epsilon) * nats

    @classmethod
    def examples(cls) -> Iterable[Example[StreamValues]]:
        x, y = (0, 0, 0, 0, 1), (1, 1, 1, 1, 0)
        for kind in KINDS:
            yield Example(cls(threshold=1, epsilon=1, queries=5, noise=kind), x, y, 1)
            yield Example(cls(threshold=-2, epsilon=3, queries=5, noise=kind), x, y, 1)
        yield Example(cls(threshold=5, epsilon="0.5", sensitivity=3, queries=3), (2, 4, 7), (5, 7, 4), 3)
        same_way = cls(threshold=2, epsilon=1, queries=5, monotone=True)
        yield Example(same_way, (0, 0, 0, 0, 3), (1, 1, 1, 1, 3), 1)
        yield Example(same_way, (2, 2, 2, 2, 2), (2, 2, 2, 2, 3), 1)
        yield Example(cls(threshold=1, epsilon=1, queries=5, noise="laplace", bar_share="0.5"), x, y, 1)
        fine = cls(threshold="0.6", epsilon=2, sensitivity="0.3", grid="0.25", queries=3)
        yield Example(fine, (0.1, 0.1, 0.7), (0.4, 0.4, 0.4), "0.3")
