r"""A gallery of wrong methods for linear queries.  The suite must refute every one, by the check named beside it.

Definition.  Each is a right method with one mistake, made on purpose; the class says which.

Privacy.  Those that `privacy_is_paid_for` refutes cost more than they claim; the others are wrong in what they state.

Utility.  To show that every check of the suite can say no.

References.  None: the mistakes are plausible, and not published.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from ...core.accounting.atoms import RenyiCurve
from ...core.accounting.loss import Loss, zero
from ...core.parameters import Number
from ...core.randomness import Source
from ...mechanisms import AboveThreshold
from ...workloads import Price, Released, Workload
from ...workloads.method import Prediction
from ...workloads.methods.direct.per_query import PerQuery
from ...workloads.methods.weights.mwem import MWEM
from ...workloads.models.model import Model
from ...workloads.price import Noise
from ...workloads.queries.data import Data, Floats
from ..workloads import (
    file_states_its_theorems,
    further_queries_are_answered,
    law_reads_what_it_says,
    post_processing_is_sound,
    prediction_holds,
    price_is_kept,
    privacy_is_paid_for,
    stated_errors_hold,
)

HALF = Fraction(1, 2)


class Overspends(PerQuery):
    """Twice the price."""

    refuted_by = price_is_kept

    def noises(self, workload: Workload, price: Price) -> list[Noise]:
        return super().noises(workload, price.part(Fraction(2)))


@dataclass(frozen=True)
class Altered(PerQuery):
    """A release in which `alter` changes something; the right loss is claimed."""

    def run(
        self, workload: Workload, data: Data, price: Price, source: Source, *, n: int | None, beta: float
    ) -> Released:
        r = super().run(workload, data, self.spends(data, price, beta), source, n=n, beta=beta)
        return self.alter(replace(r, loss=self.loss(workload, n, price)), data)

    def spends(self, data: Data, price: Price, beta: float) -> Price:
        """The price of the noise that is drawn."""
        return price

    def alter(self, r: Released, data: Data) -> Released:
        """The release with its mistake."""
        return r


class Exact(Altered):
    """The exact answers, at the price of noisy ones."""

    refuted_by = privacy_is_paid_for

    def alter(self, r: Released, data: Data) -> Released:
        return replace(r, answers=r.workload.answer(data))


class HalfTheNoise(Altered):
    """Noise for twice the price."""

    refuted_by = privacy_is_paid_for

    def spends(self, data: Data, price: Price, beta: float) -> Price:
        return price.part(Fraction(2))


class ForgetsAPart(Altered):
    """Of its parts it claims all but the last."""

    refuted_by = privacy_is_paid_for

    def _loss(self, workload: Workload, n: int | None, price: Price) -> Loss:
        return sum((noise.loss() for noise in self.noises(workload, price)[:-1]), zero)


class ForgetsItsPicks(MWEM):
    """Of picks and measurements it claims the measurements."""

    refuted_by = privacy_is_paid_for

    def _loss(self, workload: Workload, n: int | None, price: Price) -> Loss:
        rounds, picks = self.counts(workload, n, price)
        return (rounds * picks) * self._parts(workload, n, price)[1].loss()


class OpensTwo(PerQuery):
    """Two sessions side by side at the price of one: each question is put to one after the other."""

    refuted_by = privacy_is_paid_for

    def _watch(self, price: Price) -> AboveThreshold:
        return AboveThreshold(threshold=10**6, epsilon=price.amount / 2)  # as a rho less than this epsilon

    def _loss(self, workload: Workload, n: int | None, price: Price) -> Loss:
        return super()._loss(workload, n, price.part(HALF)) + self._watch(price).loss()

    def run(
        self, workload: Workload, data: Data, price: Price, source: Source, *, n: int | None, beta: float
    ) -> Released:
        watch, asked = self._watch(price), int(data.marginal(data.domain.all).max())
        one, two = watch.begin(source), watch.begin(source)
        for _ in range(3):
            one, first = watch.step(one, asked, source)
            two, second = watch.step(two, asked, source)
        r = super().run(workload, data, price.part(HALF), source, n=n, beta=beta)
        return replace(r, loss=self.loss(workload, n, price), notes=(f"{first} and {second}",))


class TwoFromOneState(OpensTwo):
    """Two sessions from one state, at the price of one."""

    def run(
        self, workload: Workload, data: Data, price: Price, source: Source, *, n: int | None, beta: float
    ) -> Released:
        watch, asked = self._watch(price), int(data.marginal(data.domain.all).max())
        begun = watch.begin(source)
        notes = tuple(str(watch.step(begun, asked, source)[1]) for _ in range(2))
        r = super(OpensTwo, self).run(workload, data, price.part(HALF), source, n=n, beta=beta)
        return replace(r, loss=self.loss(workload, n, price), notes=notes)


class ClaimsNothing(Altered):
    """A claim that has no epsilon, no rho and no mu, so that no sum of losses is above it."""

    refuted_by = privacy_is_paid_for

    def _loss(self, workload: Workload, n: int | None, price: Price) -> Loss:
        return Loss({RenyiCurve(((2.0, 1.0),)): 1}, price.unit.relation)


class Whispers(Altered):
    """The number of records is in a note."""

    refuted_by = privacy_is_paid_for

    def alter(self, r: Released, data: Data) -> Released:
        return replace(r, notes=(*r.notes, f"of {int(data.marginal(()))} records"))


class Hoards(Altered):
    """The table is in the model."""

    refuted_by = privacy_is_paid_for

    def alter(self, r: Released, data: Data) -> Released:
        vars(r.model)["seen"] = data.marginal(data.domain.all)
        return r


class Adjusts(Altered):
    """Less noise for tables of an odd number of records."""

    refuted_by = privacy_is_paid_for

    def spends(self, data: Data, price: Price, beta: float) -> Price:
        return price.part(Fraction(1, 1 + int(data.marginal(())) % 2))


class Boasts(PerQuery):
    """A third of the error is predicted."""

    refuted_by = prediction_holds

    def _predict(self, workload: Workload, n: int | None, price: Price, beta: Number) -> Prediction:
        p = super()._predict(workload, n, price, beta)
        return replace(p, mean=p.mean / 3, rms=p.rms / 3, worst=p.worst / 3)


class Understates(Altered):
    """A fifth of the errors is stated."""

    refuted_by = stated_errors_hold

    def alter(self, r: Released, data: Data) -> Released:
        return r if r.errors is None else replace(r, errors=r.errors / 5)


class Peeks(Altered):
    """The noise depends on beta, and the method does not say so."""

    refuted_by = law_reads_what_it_says

    def spends(self, data: Data, price: Price, beta: float) -> Price:
        return price.part(HALF) if beta < 0.05 else price


class Restates(PerQuery):
    """Errors at another beta are those that the release had."""

    refuted_by = law_reads_what_it_says

    def error_bounds(self, released: Released, n: int | None, price: Price, beta: float) -> Floats:
        return released.errors  # type: ignore[return-value]


class Contradicts(Altered):
    """The answers are not those of the model: each is one more."""

    refuted_by = further_queries_are_answered

    def alter(self, r: Released, data: Data) -> Released:
        return replace(r, answers=r.answers + 1)


class _RoundedWhenAsked(Released):
    """A release that rounds whatever it is asked."""

    def query(self, workload: Workload) -> Any:
        answered = super().query(workload)
        return replace(answered, answers=np.rint(answered.answers))


class Wavers(Altered):
    """A method whose answers change when a workload is asked again."""

    refuted_by = further_queries_are_answered

    def alter(self, r: Released, data: Data) -> Released:
        return _RoundedWhenAsked(**vars(r))


class _Replaced:
    """A model with another method in the place of one of its own."""

    def __init__(self, model: Model | None, **methods: Any) -> None:
        self._model = model
        vars(self).update(methods)

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)["_model"], name)


class DropsARow(Altered):
    """A synthetic table has one row fewer than was asked for."""

    refuted_by = post_processing_is_sound

    def alter(self, r: Released, data: Data) -> Released:
        def fewer(n: int, source: Source) -> Any:
            return model.synthetic(n, source)[1:]

        model: Any = r.model
        return replace(r, model=_Replaced(model, synthetic=fewer))  # type: ignore[arg-type]


class TurnsNegative(Altered):
    """Answers that should not be negative are."""

    refuted_by = post_processing_is_sound

    def alter(self, r: Released, data: Data) -> Released:
        model: Any = r.model
        negative = _Replaced(model, marginal=lambda axes: -model.marginal(axes))
        return replace(r, model=_Replaced(model, nonnegative=lambda: negative))  # type: ignore[arg-type]


class Unstated(PerQuery):
    """A method whose file states no theorem."""

    refuted_by = file_states_its_theorems
    __module__ = "tacit.testing.sources"


class Unlisted(PerQuery):
    """A method without a line for the table of methods."""

    refuted_by = file_states_its_theorems
    theorem = ""


ALL: tuple[Any, ...] = (
    Overspends, Exact, HalfTheNoise, ForgetsAPart, ForgetsItsPicks, OpensTwo, TwoFromOneState, ClaimsNothing, Whispers,
    Hoards, Adjusts, Boasts, Understates, Peeks, Restates, Contradicts, Wavers, DropsARow, TurnsNegative, Unstated,
    Unlisted,
)  # fmt: skip
