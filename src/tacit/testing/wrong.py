r"""A gallery of wrong mechanisms.  The suite must refute every one, by the check named beside it.

Definition.  Each is a published or plausible mistake, made on purpose; the class says whose.

Privacy.  None of the claims made here is true.

Utility.  To show that the suite can say no.

References.  Mironov, CCS 2012; Lyu, Su, Li, VLDB 2017; Dwork and Roth (2014), remarks after claim 3.9.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from ..core import law as laws
from ..core import samplers
from ..core.accounting.loss import Loss
from ..core.distance import Distance
from ..core.mechanism import Example
from ..core.parameters import Number
from ..core.randomness import Source
from ..mechanisms._grid import Value
from ..mechanisms.additive.laplace import Laplace
from ..mechanisms.local.randomized_response import RandomizedResponse
from ..mechanisms.selection.exponential import Exponential
from ..mechanisms.selection.key_selection import KeySelection
from ..mechanisms.selection.noisy_max import NoisyMax
from . import wrong_sparse
from .mechanisms import loss_covers_law, loss_states_its_relation, sampler_follows_law


class HalfNoise(Laplace):
    """Half the noise that the claimed epsilon needs."""

    refuted_by = loss_covers_law

    def noise(self, centre: int = 0) -> laws.DiscreteLaplaceLaw:
        return laws.DiscreteLaplaceLaw(self._step_scale / 2, centre)

    def draw(self, source: Source, n: int | None) -> Any:
        return samplers.laplace(self._step_scale / 2, source, n)


class ThreePercentOff(Laplace):
    """A sampler whose scale is 3 % too small; its law, and so its claim, is right."""

    refuted_by = sampler_follows_law

    def draw(self, source: Source, n: int | None) -> Any:
        return samplers.laplace(self._step_scale * Fraction(97, 100), source, n)

    @classmethod
    def examples(cls) -> Iterable[Example[Value]]:
        yield Example(cls(scale=3), 0, 1, 1, draws=200_000)


class FloatLaplace(Laplace):
    """Laplace noise in floating point, by inversion (Mironov 2012): the last bits of the sum tell the truth."""

    refuted_by = sampler_follows_law

    def sample(self, x: Value, source: Source) -> Value:
        sign, u = 1 - 2 * (source.word() & 1), ((source.word() >> 11) + 1) * 2.0**-53
        return float(x) + sign * float(self.scale) * math.log(u)

    @classmethod
    def examples(cls) -> Iterable[Example[Value]]:
        yield Example(cls(epsilon=1, grid="0.0009765625"), 0.0, 1.0, 1)


class OffByTwo(Exponential):
    """Weights exp(epsilon u / D) where scores may move both ways: the 2 of 2 D is forgotten."""

    refuted_by = loss_covers_law

    def law(self, x: Any) -> laws.Finite:
        weights = np.exp(-2 * float(self.unit) * self.gaps(x))
        return laws.Finite(dict(enumerate((weights / weights.sum()).tolist())))


class ScoreToo(NoisyMax):
    """Noisy max that tells the winning noisy score beside the index (Dwork and Roth 2014, after claim 3.9)."""

    refuted_by = loss_covers_law

    def law(self, x: Any) -> laws.Finite:
        noisy = [laws.DiscreteLaplaceLaw(self.scale, int(u)) for u in x]
        masses = {}
        for v in range(min(x) - 60, max(x) + 60):
            below = [1 - law.at_least(v) for law in noisy]
            at_most = [1 - law.at_least(v + 1) for law in noisy]
            for i, law in enumerate(noisy):  # ties go to the lowest index
                masses[i, v] = law.mass(v) * math.prod(below[:i]) * math.prod(at_most[i + 1 :])
        return laws.Finite(masses)

    @classmethod
    def examples(cls) -> Iterable[Example[Any]]:
        yield Example(cls(epsilon=1, candidates=4), np.array([0, 0, 0, 0]), np.array([1, 1, 1, 1]), 1)


class LowThreshold(KeySelection):
    """Keys chosen by a threshold one too low, as if those of one unit alone had count 0."""

    refuted_by = loss_covers_law

    def _failure(self, threshold: int, moves: Distance[Any]) -> Fraction:
        return super()._failure(threshold + 1, moves)

    @classmethod
    def examples(cls) -> Iterable[Example[Any]]:
        yield Example(cls(epsilon=1, delta="0.01"), {"a": 1}, {}, 1)


class EveryRelation(RandomizedResponse):
    """Reports that are said to be private where people come and go, although anyone can count them."""

    refuted_by = loss_states_its_relation

    def loss(self, distance: Number | Distance[Any] | None = None) -> Loss:
        return super().loss(1 if isinstance(distance, Distance) else distance)


ALL: tuple[Any, ...] = (
    HalfNoise, ThreePercentOff, FloatLaplace, OffByTwo, ScoreToo, LowThreshold, EveryRelation, *wrong_sparse.ALL
)  # fmt: skip
