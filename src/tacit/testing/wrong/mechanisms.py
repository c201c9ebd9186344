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

from ...core import law as laws
from ...core import samplers
from ...core.accounting.atoms import RenyiCurve
from ...core.accounting.loss import Loss
from ...core.distance import Distance
from ...core.errors import BadData
from ...core.mechanism import Example
from ...core.parameters import Number
from ...core.randomness import Source
from ...mechanisms._grid import GridValue
from ...mechanisms.additive.laplace import Laplace
from ...mechanisms.local.randomized_response import RandomizedResponse
from ...mechanisms.selection.exponential import Exponential
from ...mechanisms.selection.key_selection import KeySelection
from ...mechanisms.selection.noisy_max import NoisyMax
from ...mechanisms.selection.quantile import Quantiles
from ...mechanisms.sparse_vector._comparisons import ComparisonState
from ...mechanisms.sparse_vector.sparse import Sparse
from ..mechanisms import (
    a_copy_is_the_same_mechanism,
    bad_beta_is_refused,
    bad_data_is_refused,
    error_bound_holds,
    error_falls_as_beta_grows,
    farther_is_dearer,
    file_states_its_theorems,
    loss_covers_law,
    loss_states_its_relation,
    renyi_covers_law,
    rows_follow_law,
    sampler_follows_law,
    steps_follow_law,
)
from . import sparse_vector


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
    def examples(cls) -> Iterable[Example[GridValue]]:
        yield Example(cls(scale=3), 0, 1, 1, draws=200_000)


class FloatLaplace(Laplace):
    """Laplace noise in floating point, by inversion (Mironov 2012): the last bits of the sum give the truth away."""

    refuted_by = sampler_follows_law

    def sample(self, x: GridValue, source: Source) -> GridValue:
        sign, u = 1 - 2 * (source.word() & 1), ((source.word() >> 11) + 1) * 2.0**-53
        return float(x) + sign * float(self.scale) * math.log(u)

    @classmethod
    def examples(cls) -> Iterable[Example[GridValue]]:
        yield Example(cls(epsilon=1, grid="0.0009765625"), 0.0, 1.0, 1)


class OffByTwo(Exponential):
    """Weights exp(epsilon u / D) where scores may move both ways: the 2 of 2 D is forgotten."""

    refuted_by = loss_covers_law

    def law(self, x: Any) -> laws.Finite:
        weights = np.exp(-2 * float(self.unit) * self.gaps(x))
        return laws.Finite(dict(enumerate((weights / weights.sum()).tolist())))


class ScoreToo(NoisyMax):
    """Noisy max that releases the winning noisy score beside the index (Dwork and Roth 2014, after claim 3.9)."""

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


class FreshThreshold(Sparse):
    """A stream whose noisy threshold is drawn anew for each value, although all at once it is drawn once."""

    refuted_by = steps_follow_law

    def step(self, state: ComparisonState, value: int | float, source: Source) -> tuple[ComparisonState, bool]:
        fresh = self.begin(source)
        return super().step(ComparisonState(fresh.bar, state.asked, state.hits), value, source)


class FirstRowForAll(Quantiles):
    """Quantiles of many groups at once, all drawn from the counts of the first group."""

    refuted_by = rows_follow_law

    def sample_rows(self, x: Any, source: Source) -> list[tuple[int, ...]]:
        return super().sample_rows(np.stack([x[0]] * len(x)), source)


class HalfCurve(Laplace):
    """A Renyi curve of half the divergence, which at few epsilons would show in delta."""

    refuted_by = renyi_covers_law

    def loss(self, distance: Number | Distance[Any] | None = None) -> Loss:
        right = super().loss(distance)
        points = tuple((a, sum(n * atom.renyi(a) for atom, n in right.terms.items()) / 2) for a in (2.0, 8.0))
        return Loss({RenyiCurve(points): 1} if right.terms else {}, right.relation)


class Optimistic(Laplace):
    """An error that is a tenth too small."""

    refuted_by = error_bound_holds

    def error(self, beta: Number = 0.05, size: int = 1) -> float:
        return 0.9 * super().error(beta, size)


class FlatRate(Laplace):
    """A mechanism that claims one price for every distance, even for none."""

    refuted_by = farther_is_dearer

    def loss(self, distance: Number | Distance[Any] | None = None) -> Loss:
        return super().loss(5)


class SaysNaN(Laplace):
    """Converts a value as Python does: `int(nan)` says in its error that the value was NaN, and is no error of ours."""

    refuted_by = bad_data_is_refused

    def sample(self, x: GridValue, source: Source) -> GridValue:
        return super().sample(int(x) if isinstance(x, float) and self.grid is None else x, source)


class ShowsTheValue(Exponential):
    """Refuses what it cannot read, and shows it."""

    refuted_by = bad_data_is_refused

    def sample(self, x: Any, source: Source) -> int:
        try:
            return super().sample(x, source)
        except BadData:
            raise BadData("scores", x, "numbers") from None


class ShowsTheCause(Exponential):
    """Refuses without the value, behind an error that shows it: a traceback prints both."""

    refuted_by = bad_data_is_refused

    def sample(self, x: Any, source: Source) -> int:
        try:
            scores = [float(score) for score in x]
        except (TypeError, ValueError, OverflowError) as error:
            raise BadData("scores", type(x).__name__, "numbers") from error
        return super().sample(np.asarray(x) if scores else x, source)


class TakesAnyBeta(Laplace):
    """An error for a beta that is no probability."""

    refuted_by = bad_beta_is_refused

    def error(self, beta: Number = 0.05, size: int = 1) -> float:
        return super().error(0.05 if beta in (0, 1) else beta, size)


class Endless(Laplace):
    """An error that is infinite where beta is small."""

    refuted_by = error_falls_as_beta_grows

    def error(self, beta: Number = 0.05, size: int = 1) -> float:
        return math.inf if float(Fraction(beta)) < 1e-50 else super().error(beta, size)


class Forgetful(Laplace):
    """A copy of it has another scale, and so another price."""

    refuted_by = a_copy_is_the_same_mechanism

    def __setstate__(self, fields: dict[str, Any]) -> None:
        self.__dict__.update(fields, scale=2 * fields["scale"])


class Unstated(Laplace):
    """A mechanism whose file states no theorem."""

    refuted_by = file_states_its_theorems
    __module__ = "tacit.testing.sources"


ALL: tuple[Any, ...] = (
    HalfNoise, ThreePercentOff, FloatLaplace, OffByTwo, ScoreToo, LowThreshold, EveryRelation, FreshThreshold,
    FirstRowForAll, HalfCurve, Optimistic, FlatRate, SaysNaN, ShowsTheValue, ShowsTheCause, TakesAnyBeta,
    Endless, Forgetful, Unstated,
    *sparse_vector.ALL,
)  # fmt: skip
