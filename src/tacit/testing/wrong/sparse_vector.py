r"""Seven sparse vector mechanisms that are less private than they claim, for the suite to refute.

Definition.  Each compares values with threshold 0, as Sparse does, with discrete Laplace noise; the class says what it
gets wrong.  Four were published, with Laplace noise; one is as notes of a lecture print it; two halve a noise of the
right one.

Privacy.  Each claims epsilon for values that move by at most 1.  What it costs, as queries become many:

    Roth              releases the very number that it compared               no bound
    LeeClifton        noise that neither doubles nor grows with the count     (1 + 6 count) / 4 epsilon
    Stoddard          no noise on the values                                  infinite at two queries
    Chen              never stops                                             no bound
    Renoised          a new threshold for each value, and no other noise      epsilon / 2 for each query
    HalfOnValues      query noise as if all values moved the same way         3/2 epsilon
    HalfOnThreshold   half the threshold noise                                3/2 epsilon

Utility.  None is claimed.

References.  Lyu, Su, Li, PVLDB 10 (2017), refute the first four as their algorithms 3 to 6.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ...core.accounting.loss import Loss, Pure
from ...core.distance import Distance
from ...core.distance import distance as how_far
from ...core.law import Finite
from ...core.mechanism import Example, Mechanism
from ...core.parameters import Number
from ...core.randomness import Source
from ...mechanisms.sparse_vector._comparison_noise import ComparisonNoise, DiscreteLaplace, Integers, Masses
from ...mechanisms.sparse_vector._comparisons import transcripts
from ..mechanisms import loss_covers_law

IntTuple = tuple[int, ...]
_TAIL = 1e-18


class _NoNoise:
    """No noise."""

    mean = 0.0

    def mass(self, z: Integers) -> Masses:
        return np.where(z == 0, 1.0, 0.0)

    def at_least(self, t: Integers) -> Masses:
        return np.where(t <= 0, 1.0, 0.0)

    def below(self, t: Integers) -> Masses:
        return np.where(t > 0, 1.0, 0.0)

    def interval(self, tail: float) -> tuple[int, int]:
        return 0, 0

    def draw(self, source: Source, n: int | None = None) -> Any:
        return 0 if n is None else np.zeros(n, np.int64)


@dataclass(frozen=True)
class WrongSparse(Mechanism[IntTuple, Any]):
    """Compares with threshold 0, and claims to cost epsilon for so many values above it."""

    epsilon: Fraction = Fraction(1)
    count: int = 1

    refuted_by = loss_covers_law

    @property
    @abstractmethod
    def noises(self) -> tuple[ComparisonNoise, ComparisonNoise]:
        """The noise on the threshold, and on each value."""

    def most(self, x: IntTuple) -> int:
        """The number of values above after which it stops."""
        return self.count

    def law(self, x: IntTuple) -> Finite:
        on_threshold, on_value = self.noises
        low, high = on_threshold.interval(_TAIL)
        z = np.arange(low, high + 1)
        return Finite(transcripts(on_threshold.mass(z), z, on_value, x, self.most(x)))

    def sample(self, x: IntTuple, source: Source) -> Any:
        on_threshold, on_value = self.noises
        noisy_threshold = on_threshold.draw(source)
        hits = [i for i, q in enumerate(x) if q + on_value.draw(source) >= noisy_threshold]
        return tuple(hits[: self.most(x)])

    def loss(self, distance: Number | Distance[Any] | None = None) -> Loss:
        """The false claim."""
        d = how_far(1 if distance is None else distance, zero=True)
        return Loss({Pure(self.epsilon * d.linf): 1} if d.linf else {}, d.relation)

    def error(self, beta: Number = 0.05) -> float:
        """Infinity: no error is claimed."""
        return math.inf

    def miss(self, x: IntTuple, y: Any) -> float:
        return 0.0

    @classmethod
    def examples(cls) -> Iterable[Example[IntTuple]]:
        yield Example(cls(), (-1,) * 7 + (1,), (0,) * 7 + (0,), 1)


class Roth(WrongSparse):
    """Algorithm 3: Roth, lecture notes on the sparse vector technique, University of Pennsylvania, 2011."""

    @property
    def noises(self) -> tuple[ComparisonNoise, ComparisonNoise]:
        return DiscreteLaplace(2 / self.epsilon), DiscreteLaplace(2 * self.count / self.epsilon)

    def law(self, x: IntTuple) -> Finite:
        """The law of the first index and number that are released, or None."""
        on_threshold, on_value = self.noises
        low, high = on_threshold.interval(_TAIL)
        thresholds = np.arange(low, high + 1)
        first, last = on_value.interval(_TAIL)
        numbers = np.arange(first, last + 1)  # the same on neighbours
        weight, ended = on_threshold.mass(thresholds), dict[Hashable, float]()
        for i, q in enumerate(x):
            reached = np.concatenate([[0.0], np.cumsum(weight)])[np.clip(numbers - low + 1, 0, thresholds.size)]
            masses = on_value.mass(numbers - q) * reached
            ended |= {(i, v): mass for v, mass in zip(numbers.tolist(), masses.tolist(), strict=True)}
            weight = weight * on_value.below(thresholds - q)
        return Finite(ended | {None: float(np.sum(weight))})

    def sample(self, x: IntTuple, source: Source) -> Any:
        on_threshold, on_value = self.noises
        noisy_threshold = on_threshold.draw(source)
        noisy = [q + on_value.draw(source) for q in x]
        return next(((i, v) for i, v in enumerate(noisy) if v >= noisy_threshold), None)

    @classmethod
    def examples(cls) -> Iterable[Example[IntTuple]]:
        yield Example(cls(), (0,) * 7 + (1,), (1,) * 7 + (0,), 1)


class LeeClifton(WrongSparse):
    """Algorithm 4: Lee and Clifton, Top-k frequent itemsets via differentially private FP-trees, KDD 2014."""

    @property
    def noises(self) -> tuple[ComparisonNoise, ComparisonNoise]:
        return DiscreteLaplace(4 / self.epsilon), DiscreteLaplace(Fraction(4, 3) / self.epsilon)

    @classmethod
    def examples(cls) -> Iterable[Example[IntTuple]]:
        yield from super().examples()
        yield Example(cls(count=3), (-9,) * 3 + (0,) * 3, (-8,) * 3 + (-1,) * 3, 1)


class Stoddard(WrongSparse):
    """Algorithm 5: Stoddard, Chen, Machanavajjhala, arXiv 1411.5428 (2014)."""

    @property
    def noises(self) -> tuple[ComparisonNoise, ComparisonNoise]:
        return DiscreteLaplace(2 / self.epsilon), _NoNoise()

    def most(self, x: IntTuple) -> int:
        return len(x) + 1

    @classmethod
    def examples(cls) -> Iterable[Example[IntTuple]]:
        yield Example(cls(), (0, 1), (1, 0), 1)


class Chen(WrongSparse):
    """Algorithm 6: Chen, Xiao, Zhang, Xu, Differentially private high-dimensional data publication, KDD 2015."""

    @property
    def noises(self) -> tuple[ComparisonNoise, ComparisonNoise]:
        return DiscreteLaplace(2 / self.epsilon), DiscreteLaplace(2 / self.epsilon)

    def most(self, x: IntTuple) -> int:
        return len(x) + 1

    @classmethod
    def examples(cls) -> Iterable[Example[IntTuple]]:
        yield Example(cls(), (0,) * 4 + (1,) * 4, (1,) * 4 + (0,) * 4, 1)


class Renoised(WrongSparse):
    """Noise on the threshold, drawn anew at each check: as much as noise on each value, and none that they share."""

    @property
    def noises(self) -> tuple[ComparisonNoise, ComparisonNoise]:
        return _NoNoise(), DiscreteLaplace(2 / self.epsilon)


class HalfOnValues(WrongSparse):
    """The right one for values that all move the same way, used for values that do not."""

    @property
    def noises(self) -> tuple[ComparisonNoise, ComparisonNoise]:
        return DiscreteLaplace(2 / self.epsilon), DiscreteLaplace(2 * self.count / self.epsilon)


class HalfOnThreshold(WrongSparse):
    """The right one, but for half the noise on the threshold."""

    @property
    def noises(self) -> tuple[ComparisonNoise, ComparisonNoise]:
        return DiscreteLaplace(1 / self.epsilon), DiscreteLaplace(4 * self.count / self.epsilon)


ALL: tuple[type[WrongSparse], ...] = (Roth, LeeClifton, Stoddard, Chen, Renoised, HalfOnValues, HalfOnThreshold)
