r"""Private selection of keys: which groups there are, when that is itself private.

Definition.  The data say how many units have each key; a key that no unit has is absent.  To the count of each key that
is present, integer noise Z is added, of Laplace's law or Gauss's; where the sum is at least the `threshold` T, the key
is released with it, in the order of the keys.  An absent key is never released.

Privacy.  Let one unit, which has at most m keys, come or go.  Of these, at most m are its own alone, and present on one
side only.  Each of them is released with p = P[1 + Z >= T], so some of them with
    delta = 1 - (1 - p)^m,
since noises are independent.  Given that none is, the other keys' counts differ by at most one unit each, so the two
laws are those of noise on neighbouring counts: epsilon = m / scale for Laplace's, rho = m / (2 sigma^2) for Gauss's.
That is (epsilon, delta)-DP and (rho, delta)-zCDP, both ways.  T is the least for which delta is no more than asked.
At a distance of linf units a key, p = P[linf + Z >= T].

Utility.  If no |Z| exceeds r, a key that is not released has at most T - 1 + r units, and each count that is released
is within r of the truth.  `error` is T - 1 + r, with r the exact quantile of the largest of k noises.  That is of all
keys: those with few units are released only where noise was large, so of the counts that are seen more may be off.

References.  Korolova, Kenthapadi, Mishra, Ntoulas, WWW 2009; Wilson et al., PoPETs 2020, for several keys of one unit;
Bun and Steinke, TCC 2016, section 8, for approximate zCDP.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import law as laws
from ...core.accounting.loss import Loss
from ...core.distance import ADD_REMOVE, Distance
from ...core.distance import distance as read_distance
from ...core.errors import BadData, BadParameter
from ...core.exact import TINY
from ...core.mechanism import Example, Mechanism
from ...core.parameters import Number, exactly_one, probability, whole
from ...core.randomness import Source
from ...core.search import least_whole
from ...storage import bare, stored
from .._grid import as_array, distance_in_steps, steps
from ..additive.gaussian import Gaussian
from ..additive.laplace import Laplace

UnitCounts = Mapping[Any, int]
Chosen = tuple[tuple[Any, int], ...]
_OUTWARD = 1 + 2.0**-40  # covers the rounding of a tail


def _whole(count: object) -> bool:
    return isinstance(count, int | np.integer) and not isinstance(count, bool) and int(count) >= 0


@dataclass(frozen=True)
class Selected:
    """The law of what is released: each present key by itself, with its noisy count or not at all."""

    noisy: Mapping[Any, laws.DiscreteLaplaceLaw | laws.DiscreteGaussianLaw]
    threshold: int

    def mass(self, y: Chosen) -> float:
        shown = dict(y)
        if not shown.keys() <= self.noisy.keys() or list(shown) != sorted(shown) or len(shown) < len(y):
            return 0.0
        if any(count < self.threshold for count in shown.values()):
            return 0.0
        # P[Y < T] = P[Y > 2 centre - T]: the noise is symmetric, and 1 - P[Y >= T] would lose its digits
        hidden = (z.at_least(2 * z.centre - self.threshold + 1) for key, z in self.noisy.items() if key not in shown)
        return math.prod(hidden) * math.prod(self.noisy[key].mass(count) for key, count in y)

    def support(self, tail: float) -> Iterable[Chosen]:
        seen = [self._outcomes(key, tail / len(self.noisy)) for key in sorted(self.noisy)]
        return (tuple(pair for pair in pairs if pair) for pairs in product(*seen))

    def outcomes(self, tail: float) -> int:
        """How many outputs there are: each key is hidden, or has one of the counts from the threshold on."""
        seen = (z.support(tail / len(self.noisy)) for z in self.noisy.values())
        return math.prod(1 + max(0, counts.stop - max(counts.start, self.threshold)) for counts in seen)

    def _outcomes(self, key: Any, tail: float) -> list[tuple[Any, int] | None]:
        return [None, *((key, k) for k in self.noisy[key].support(tail) if k >= self.threshold)]


@stored("KeySelection", ("noise", "threshold"), make=bare)
@dataclass(frozen=True, init=False, repr=False)
class KeySelection(Mechanism[UnitCounts, Chosen]):
    """Release the keys that enough units have; pass `epsilon` or `rho`, and `delta` or the `threshold`.

    `sensitivity` is how one unit moves the counts: for at most m keys of a unit, ADD_REMOVE.counts(m).
    """

    noise: Laplace | Gaussian
    threshold: int

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        threshold: int | None = None,
        sensitivity: Number | Distance[Any] = 1,
    ) -> None:
        exactly_one(epsilon=epsilon, rho=rho)
        exactly_one(delta=delta, threshold=threshold)
        moves = distance_in_steps(read_distance(sensitivity, "sensitivity"), None)
        if moves.l0 is None:
            raise BadParameter(
                "sensitivity",
                moves,
                "one that says how many keys a unit has (l0)",
                says="The sensitivity must say how many keys a unit has. For at most m keys pass ADD_REMOVE.counts(m).",
            )
        noise = Laplace(epsilon=epsilon, sensitivity=moves) if rho is None else Gaussian(rho=rho, sensitivity=moves)
        object.__setattr__(self, "noise", noise)
        if threshold is not None:
            object.__setattr__(self, "threshold", whole("threshold", threshold))
        elif delta is not None:
            most = probability("delta", delta)
            object.__setattr__(self, "threshold", least_whole(lambda t: self._failure(t, moves) <= most, low=1))

    @property
    def sensitivity(self) -> Distance[Any]:
        """How one unit moves the counts."""
        return self.noise.sensitivity

    theorem = "the exact quantile r of its noise, given that the key is shown; from 1 up if not above T + r"

    @property
    def added_noise(self) -> Laplace | Gaussian:
        return self.noise

    def described(self) -> dict[str, Any]:
        return {"noise": self.noise, "threshold": self.threshold}

    @cached_property
    def _law(self) -> laws.DiscreteLaplaceLaw | laws.DiscreteGaussianLaw:
        return self.noise.noise()

    def _failure(self, threshold: int, moves: Distance[Any]) -> Fraction:
        """1 - (1 - p)^m from above, with p = P[linf + Z >= threshold]."""
        at = max(threshold - math.ceil(moves.linf), -(1 << 62))  # from which on noise is surely no less
        loose = self._law.tail_accuracy(at) if isinstance(self._law, laws.DiscreteGaussianLaw) else 0.0
        p = min(1.0, max(TINY, self._law.at_least(at) * (1 + loose) * _OUTWARD))
        some = -math.expm1((moves.l0 or 0) * math.log1p(-p)) * _OUTWARD if p < 1 else 1.0
        return Fraction(min(1.0, max(TINY, some)))

    def select(self, counts: NDArray[Any], source: Source) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """The indices of the released keys among present keys with these counts, and their noisy counts."""
        units = np.asarray(steps("counts", counts, None))
        if units.ndim != 1 or np.min(units, initial=1) < 1:
            raise BadData("counts", "other counts", "at least 1 each, since a key that no unit has is absent")
        noisy = np.asarray(self.noise.sample(units, source))
        at = np.flatnonzero(noisy >= self.threshold)
        return at, noisy[at]

    def sample(self, x: UnitCounts, source: Source) -> Chosen:
        present = self._present(x)
        at, noisy = self.select(as_array("counts", list(present.values())), source)
        keys = list(present)
        return tuple((keys[i], int(y)) for i, y in zip(at.tolist(), noisy.tolist(), strict=True))

    @staticmethod
    def _present(x: UnitCounts) -> UnitCounts:
        """The keys that are present, in order."""
        counts: object = x
        try:
            if not isinstance(counts, Mapping) or not all(map(_whole, counts.values())):
                raise TypeError
            return {key: int(counts[key]) for key in sorted(key for key, count in counts.items() if count)}
        except (TypeError, ValueError):  # keys that cannot be compared; the text could show one
            allowed = "a mapping from keys, of one kind, to how many units have each: whole numbers"
            raise BadData("counts", type(x).__name__, allowed) from None

    def law(self, x: UnitCounts) -> Selected:
        return Selected({key: self.noise.noise(count) for key, count in self._present(x).items()}, self.threshold)

    def loss(self, distance: Number | Distance[Any] | None = None) -> Loss:
        d = self.noise.moves(distance)
        if not d.l1:
            return Loss({}, d.relation)
        if d.l0 is None:
            raise BadParameter(
                "distance",
                d,
                "one that says how many keys are moved (l0)",
                says="The distance must say how many keys it moves. For at most m keys pass ADD_REMOVE.counts(m).",
            )
        return Loss({self.noise.atom_with_failure(d, self._failure(self.threshold, d)): 1}, d.relation)

    def error(self, beta: Number = 0.05, size: int = 1) -> float:
        """With probability 1 - beta, none of `size` keys with more units is missing, and no count is farther off."""
        return self.threshold - 1 + self.noise.error(beta, size)

    def miss(self, x: UnitCounts, y: Chosen) -> float:
        shown = dict(y)
        return float(max((abs(shown[k] - n) if k in shown else n for k, n in x.items()), default=0))

    @classmethod
    def examples(cls) -> Iterable[Example[UnitCounts]]:
        one, few = cls(epsilon=1, delta="0.01"), 4000
        yield Example(one, {"a": 1}, {}, 1, draws=few)
        yield Example(one, {"a": 6, "b": 1}, {"a": 6}, 1, {"size": 2}, few)
        yield Example(one, {"a": 6, "b": 2}, {"a": 6, "b": 1}, 1, {"size": 2})
        two = ADD_REMOVE.counts(2)
        for m in (cls(epsilon=3, delta="0.001", sensitivity=two), cls(rho=1, delta="0.01", sensitivity=two)):
            yield Example(m, {"a": 3, "b": 1}, {"a": 2}, two, {"size": 2}, few)
            yield Example(m, {"a": 1, "b": 1}, {}, two, {"size": 2}, few)
        yield Example(cls(rho="0.5", threshold=4), {"a": 1}, {}, 1, draws=few)
        yield Example(cls(epsilon=2, threshold=3), {"a": 2}, {}, 2, draws=few)
