r"""NumericSparse: the sparse vector technique that also releases how large the values above are.

Definition.  Sparse at e1 + e2; each TOP is released with the number q_i + W_i, W_i discrete Laplace noise of scale
c D / e3, drawn for this purpose alone.  The transcript is the pairs of index and number.

Privacy.  The whole session is (e1 + e2 + e3)-differentially private: Sparse, and at most c numbers at e3 / c each.  The
noisy value of a comparison is never released: it lies above the noisy threshold and so bounds it, and then every
answer below the threshold would cost (`tacit.testing.wrong.sparse_vector`).  e3 is the given share of epsilon, by
default Dwork and Roth's ninth; the rest is split as for Sparse.

Utility.  `error` is the least a for which, with probability at least 1 - beta, Sparse errs by no more than a and every
number is within a of its value: the numbers are independent, so the sum in `_comparisons.py` gains a factor
P[|W| <= a]^c.  `classical_error` is 9 c D (ln k + ln(4 c / beta)) / epsilon at that ninth.

References.  Dwork and Roth (2014), algorithm 3, theorems 3.27, 3.28; Lyu, Su, Li, PVLDB 10 (2017), algorithm 7.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from ...core import law, samplers
from ...core.distance import Distance
from ...core.mechanism import Example
from ...core.parameters import Number, probability, whole
from ...core.randomness import Source
from ._comparisons import StreamValues
from ._pure_comparisons import KINDS, ComparisonNoiseName, PureComparisons

IndexedNumbers = tuple[tuple[int, int | float], ...]


@dataclass(frozen=True)
class Numbered:
    """The law of a transcript whose every index comes with an independent number."""

    indices: Mapping[Any, float]
    numbers: tuple[law.Law, ...]

    def mass(self, y: IndexedNumbers) -> float:
        hits = self.indices.get(tuple(i for i, _ in y), 0.0)
        return hits * math.prod(self.numbers[i].mass(number) for i, number in y) if hits else 0.0

    def support(self, tail: float) -> Iterable[Hashable]:
        for hits in self.indices:
            for numbers in product(*(self.numbers[i].support(tail / len(hits)) for i in hits)):
                yield tuple(zip(hits, numbers, strict=True))

    def outcomes(self, tail: float) -> int:
        return sum(math.prod(law.outcomes(self.numbers[i], tail / len(hits)) for i in hits) for hits in self.indices)


@dataclass(frozen=True, init=False, repr=False)
class NumericSparse(PureComparisons[IndexedNumbers, int | float | None]):
    """Release noisy values that reach the threshold, `count` times; the numbers get `share` of epsilon."""

    share: Fraction

    def __init__(
        self,
        *,
        threshold: Number,
        epsilon: Number,
        count: int,
        share: Number = Fraction(1, 9),
        sensitivity: Number | Distance[Any] = 1,
        grid: Number | None = None,
        queries: int = 1000,
        monotone: bool = False,
        noise: ComparisonNoiseName = "exponential",
        bar_share: Number | None = None,
    ) -> None:
        object.__setattr__(self, "share", probability("share", share))
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

    @property
    def for_numbers(self) -> Fraction:
        return self.share

    def _number(self, step: int, noise: int) -> int | float:
        return step + noise if self.grid is None else float((step + noise) * self.grid)

    def compared(self, at: int, top: bool, source: Source) -> int | float | None:
        return self._number(at, samplers.laplace(self.scales[2], source)) if top else None

    def output(self, answers: Sequence[int | float | None]) -> IndexedNumbers:
        return tuple((i, number) for i, number in enumerate(answers) if number is not None)

    def law(self, x: StreamValues) -> Numbered:
        noisy = [law.DiscreteLaplaceLaw(self.scales[2], step) for step in self.steps(x).tolist()]
        placed = noisy if self.grid is None else [law.OnGrid(one, float(self.grid)) for one in noisy]
        return Numbered(self.transcripts(x), tuple(placed))

    def sample(self, x: StreamValues, source: Source) -> IndexedNumbers:
        at = self.steps(x)
        hits = self.hits(at, source)
        noise = samplers.laplace(self.scales[2], source, len(hits)).tolist()
        return tuple((i, self._number(int(at[i]), w)) for i, w in zip(hits, noise, strict=True))

    def log_numbers_within(self, a: int) -> float:
        return self.count * math.log1p(-min(law.DiscreteLaplaceLaw(self.scales[2]).tail(a + 1), 1 - 2.0**-53))

    def miss(self, x: StreamValues, y: IndexedNumbers) -> float:
        off = [float(abs(number - x[i])) for i, number in y]
        return max(self.worst_miss(x, tuple(i for i, _ in y)), *off, 0.0)

    def classical_error(self, beta: Number = 0.05, queries: int | None = None) -> float:
        """9 c D (ln k + ln(4 c / beta)) / epsilon at a ninth for the numbers (Dwork and Roth, theorem 3.28).

        At another share s it is the larger of 8 c D (ln k + ln(4 c / beta)) / ((1 - s) epsilon), of the comparisons,
        and c D ln(2 c / beta) / (s epsilon), of the numbers.
        """
        k, c = self.queries if queries is None else whole("queries", queries), self.count
        log, one = -math.log(probability("beta", beta)), self.sensitivity.linf / self.epsilon
        comparisons = float(self.classical_factor * one / (1 - self.share)) * (math.log(4 * c * k) + log)
        return max(comparisons, float(c * one / self.share) * (math.log(2 * c) + log))

    @classmethod
    def examples(cls) -> Iterable[Example[StreamValues]]:
        x, y = (0, 0, 0, 1), (1, 1, 1, 0)
        for kind in KINDS:
            yield Example(cls(threshold=1, epsilon=3, count=1, queries=4, noise=kind), x, y, 1)
        yield Example(cls(threshold=-1, epsilon=14, share="0.5", count=2, queries=2), (0, 1), (1, 0), 1)
        same_way = cls(threshold=1, epsilon=14, share="0.5", count=2, queries=2, monotone=True)
        yield Example(same_way, (0, 2), (1, 2), 1)
        fine = cls(threshold="0.6", epsilon=6, sensitivity="0.3", grid="0.25", count=1, queries=3)
        yield Example(fine, (0.1, 0.7, 0.1), (0.4, 0.4, 0.4), "0.3")
