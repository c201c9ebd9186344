"""Comparisons with geometric or discrete Laplace noise: a pure loss, split among threshold, values and numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

from ...core.accounting.loss import Loss, Pure
from ...core.distance import Distance
from ...core.interactive import A
from ...core.mechanism import Y
from ...core.parameters import Number, one_of, positive, probability
from ._comparison_noise import DiscreteLaplace, Geometric
from ._comparisons import Comparisons

ComparisonNoiseName = Literal["exponential", "laplace"]
KINDS: tuple[ComparisonNoiseName, ...] = ("exponential", "laplace")
LARGEST_SCALE = Fraction(1 << 50)  # so that every sum of noises and values fits 64 bits
_NOISES: dict[ComparisonNoiseName, type[Geometric] | type[DiscreteLaplace]] = {
    "exponential": Geometric,
    "laplace": DiscreteLaplace,
}


@dataclass(frozen=True, init=False, repr=False)
class PureComparisons(Comparisons[Y, A]):
    """Comparisons that cost `epsilon` in all, at the sensitivity of the mechanism."""

    epsilon: Fraction
    noise: ComparisonNoiseName
    bar_share: Fraction | None

    def __init__(
        self,
        *,
        threshold: Number,
        sensitivity: Number | Distance[Any],
        grid: Number | None,
        count: int,
        queries: int,
        monotone: bool,
        epsilon: Number,
        noise: ComparisonNoiseName,
        bar_share: Number | None,
    ) -> None:
        super().__init__(
            threshold=threshold,
            sensitivity=sensitivity,
            grid=grid,
            count=count,
            queries=queries,
            monotone=monotone,
        )
        object.__setattr__(self, "epsilon", positive("epsilon", epsilon))
        object.__setattr__(self, "noise", one_of("noise", noise, _NOISES))
        object.__setattr__(self, "bar_share", None if bar_share is None else probability("bar_share", bar_share))
        for scale in self.scales:
            positive("the scale of the noise in steps of the grid", scale, within=LARGEST_SCALE)

    @property
    def for_numbers(self) -> Fraction:
        """The share of epsilon that numbers cost."""
        return Fraction(0)

    @cached_property
    def split(self) -> tuple[Fraction, Fraction, Fraction]:
        """The costs of the threshold, the comparisons and the numbers: together epsilon, exactly.

        The threshold gets `bar_share` of what is not for numbers; by default the share with the least variance.
        """
        numbers = self.for_numbers * self.epsilon
        ratio = Fraction(round(1024 * (self.folds * self.count) ** (2 / 3)), 1024)  # the variance barely notices
        threshold = (self.epsilon - numbers) * (self.bar_share or 1 / (1 + ratio))
        return threshold, self.epsilon - numbers - threshold, numbers

    @property
    def classical_factor(self) -> Fraction:
        """The textbooks' factor 8 c; if the threshold has a share b, max(2 / b, 4 c / (1 - b)), which is 8 c at 1/2."""
        if self.bar_share is None:
            return Fraction(8 * self.count)
        return max(2 / self.bar_share, 4 * self.count / (1 - self.bar_share))

    def _lengths(self, by: Number | Distance[Any] | None) -> tuple[int, int, int]:
        """The sum of the shifts of the noise on the threshold, on values compared and on numbers."""
        _, most, top = self.shifts(by)
        return most, self.count * top, self.count * most

    @cached_property
    def scales(self) -> tuple[Fraction, ...]:
        """The scales of the noise on the threshold, on each value compared, and on each number that is released."""
        return tuple(length / cost for length, cost in zip(self._lengths(None), self.split, strict=True) if cost)

    @cached_property
    def threshold_noise(self) -> Geometric | DiscreteLaplace:
        return _NOISES[self.noise](self.scales[0])

    @cached_property
    def query_noise(self) -> Geometric | DiscreteLaplace:
        return _NOISES[self.noise](self.scales[1])

    def loss(self, distance: Number | Distance[Any] | None = None) -> Loss:
        """The price of one session, whether or not all of its `count` answers above are used."""
        lengths = zip(self._lengths(distance), self.scales, strict=False)
        epsilon = sum((length / scale for length, scale in lengths), Fraction(0))
        return Loss({Pure(epsilon): 1} if epsilon else {}, self.shifts(distance)[0].relation)
