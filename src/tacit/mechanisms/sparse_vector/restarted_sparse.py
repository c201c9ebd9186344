r"""RestartedSparse: the sparse vector technique by restarts, whose price may be an epsilon at a delta.

Definition.  AboveThreshold at e0, and after its TOP another, with a threshold noise of its own, c times in all.  The
transcript is the indices of the TOPs.

Privacy.  c mechanisms that are each e0-differentially private, chosen one after another: the whole session is
c e0-private and, by the optimal composition of pure losses, (epsilon, delta)-private for the largest e0 that this
allows, about epsilon / sqrt(2 c ln(1 / delta)).  `Sparse`, which keeps one noisy threshold, has the smaller error at
the same pure price; but its c comparisons are one mechanism of c parts, of which no more is known than its epsilon.  So
restarts pay where c is large, from about 100 on, and a delta is allowed.

Utility.  `error` is that of AboveThreshold at 1 - (1 - beta)^(1/c): whatever came before, each run is right with that
chance.  `classical_error` is 8 c D (ln k + ln(2 c / beta)) / epsilon, or sqrt(512 c ln(1 / delta)) in place of 8 c.

References.  Dwork and Roth (2014), algorithm 2, theorems 3.25, 3.26; Kairouz, Oh, Viswanath, ICML 2015.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ...core.accounting.loss import Loss
from ...core.distance import Distance
from ...core.errors import Exhausted
from ...core.exact import down
from ...core.interactive import Interactive
from ...core.law import Finite
from ...core.mechanism import Example
from ...core.parameters import Number, positive, probability, whole
from ...core.randomness import Source
from ._comparisons import ComparisonState, Hits, StreamValues
from ._pure_comparisons import KINDS, ComparisonNoiseName
from .above_threshold import AboveThreshold


@dataclass(frozen=True, init=False, repr=False)
class RestartedSparse(Interactive[StreamValues, Hits, ComparisonState, int | float, bool]):
    """Release which values reach the threshold, `count` times, for `epsilon`, or for `epsilon` at a `delta`."""

    each: AboveThreshold
    count: int
    epsilon: Fraction
    delta: Fraction | None

    def __init__(
        self,
        *,
        threshold: Number,
        epsilon: Number,
        count: int,
        delta: Number | None = None,
        sensitivity: Number | Distance[Any] = 1,
        grid: Number | None = None,
        queries: int = 1000,
        monotone: bool = False,
        noise: ComparisonNoiseName = "exponential",
        bar_share: Number | None = None,
    ) -> None:
        c, whole_price = whole("count", count), positive("epsilon", epsilon)
        at = None if delta is None else probability("delta", delta)
        share = whole_price / c
        if at is not None and c > 1:
            from ...composition import per_query_epsilon  # here, since few need it

            most = Fraction(per_query_epsilon(whole_price, at, c))
            share = max(share, most * (1 - Fraction(1, 1 << 24)))  # within the price by every accountant's digits
        one = AboveThreshold(
            threshold=threshold,
            epsilon=share,
            sensitivity=sensitivity,
            grid=grid,
            queries=queries,
            monotone=monotone,
            noise=noise,
            bar_share=bar_share,
        )
        for name, value in (("each", one), ("count", c), ("epsilon", whole_price), ("delta", at)):
            object.__setattr__(self, name, value)

    @property
    def allowed(self) -> str:
        """What one session gives, in words."""
        return f"{self.count} answer{'s' if self.count > 1 else ''} above the threshold"

    def begin(self, source: Source) -> ComparisonState:
        return self.each.begin(source)

    def over(self, state: ComparisonState) -> bool:
        """Whether the session has ended."""
        return state.hits >= self.count

    def step(self, state: ComparisonState, value: int | float, source: Source) -> tuple[ComparisonState, bool]:
        if self.over(state):
            raise Exhausted(type(self).__name__, self.allowed)
        _, top = self.each.step(ComparisonState(state.bar), value, source)
        renewed = self.each.begin(source).bar  # drawn either way, so that the time does not depend on the answer
        return ComparisonState(renewed if top else state.bar, state.asked + 1, state.hits + top), top

    def output(self, answers: Sequence[bool]) -> Hits:
        return tuple(i for i, top in enumerate(answers) if top)

    def law(self, x: StreamValues) -> Finite:
        masses: dict[Hits, float] = {}

        def go_on(hits: Hits, start: int, chance: float) -> None:
            if len(hits) == self.count or start == len(x):
                masses[hits] = masses.get(hits, 0.0) + chance
                return
            for at, mass in self.each.law(x[start:]).masses.items():
                if at is None:
                    masses[hits] = masses.get(hits, 0.0) + chance * mass
                else:
                    go_on((*hits, start + at), start + at + 1, chance * mass)

        go_on((), 0, 1.0)
        return Finite(masses)

    def sample(self, x: StreamValues, source: Source) -> Hits:
        """Draw the indices of the TOPs; every value is compared with every noisy threshold."""
        at = self.each.steps(x)
        noisy = at + self.each.query_noise.draw(source, at.size)
        hits, start = [], 0
        for _ in range(self.count):
            top = noisy >= self.each.begin(source).bar
            top[:start] = False
            if top.any():
                start = int(np.argmax(top)) + 1
                hits.append(start - 1)
            else:
                start = at.size
        return tuple(hits)

    def loss(self, distance: Number | Distance[Any] | None = None) -> Loss:
        """The price of one session, whether or not all of its `count` answers above are used."""
        return self.count * self.each.loss(distance)

    def error(self, beta: Number = 0.05, queries: int | None = None) -> float:
        """Over so many queries no TOP is further than this below the threshold, and no other further above it."""
        share = -math.expm1(math.log1p(-down(probability("beta", beta))) / self.count) * (1 - 2.0**-48)
        return self.each.error_at(share, queries)

    def miss(self, x: StreamValues, y: Hits) -> float:
        return self.each.worst_miss(x, y, self.count)

    def classical_error(self, beta: Number = 0.05, queries: int | None = None) -> float:
        """8 c D (ln k + ln(2 c / beta)) / epsilon, or sqrt(512 c ln(1 / delta)) for 8 c (Dwork and Roth, 3.26)."""
        k, c = self.each.queries if queries is None else whole("queries", queries), self.count
        nats = math.log(2 * c * k) - math.log(probability("beta", beta))
        many = c if self.delta is None else math.sqrt(-8 * c * math.log(self.delta))
        return many * float(self.each.classical_factor * self.each.sensitivity.linf / self.epsilon) * nats

    @classmethod
    def examples(cls) -> Iterable[Example[StreamValues]]:
        x, y = (0, 0, 1, 0, 0, 1), (1, 1, 0, 1, 1, 0)
        for kind in KINDS:
            yield Example(cls(threshold=1, epsilon=2, count=2, queries=6, noise=kind), x, y, 1)
        yield Example(cls(threshold=0, epsilon=3, delta="0.01", count=3, queries=6), x, y, 1)
        yield Example(cls(threshold=2, epsilon=2, sensitivity=2, count=3, queries=4), x[:4], y[:4], 1)
        same_way = cls(threshold=1, epsilon=2, count=2, queries=5, monotone=True)
        yield Example(same_way, (0, 0, 2, 0, 2), (1, 1, 2, 1, 2), 1)
        fine = cls(threshold="0.6", epsilon=4, sensitivity="0.3", grid="0.25", count=2, queries=4)
        yield Example(fine, (0.1, 0.7, 0.1, 0.7), (0.4, 0.4, 0.4, 0.4), "0.3")
