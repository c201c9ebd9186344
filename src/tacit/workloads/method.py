"""What every way of answering a workload must say of itself.

A method is a frozen value.  Its file states Definition, Privacy, Utility and References; its code has

    why_not     None where it can be used, or why not: with the number that would be needed, and what would do
    _predict    its error and time, from public facts only
    _loss       what it costs, never above the price
    run         the answers, with what is known of their errors, and a model that answers any further query
    reach       what is known of these errors at any beta, from what was released and public facts

which `refusal`, `predict`, `loss` and `release` call once all that was given has been read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np

from ..core.accounting.loss import Loss
from ..core.distance import Distance
from ..core.errors import BadData, BadParameter, BadQuestion
from ..core.parameters import Number, instance, probability, whole
from ..core.randomness import SYSTEM, Source
from ..storage import stored
from .models.error_bounds import Spread
from .models.labelled_answers import Labelled
from .models.model import Model
from .models.records import Arrow, drawn
from .price import Price
from .queries.data import Data, Floats
from .queries.domain import CELLS, shown
from .queries.workload import Workload

Kind = Literal["exact", "bound"]
_NEEDED = "the number of records n must be public, and exact: give n, and errors are stated for so many"


@dataclass(frozen=True)
class Prediction:
    """Errors in counts: expected mean absolute, root mean square, and the largest of all with probability 1 - beta.

    An "exact" one does not depend on the data; a "bound" holds whatever they are.  Where an exact one is of many noises
    its rms is exact, and its mean that of a near law: where noise is about one step, up to a quarter too low.  Where
    nothing is known of the draws that `worst` leaves out, mean and rms leave them out, too: no mean is told to be above
    the largest.
    """

    mean: float
    rms: float
    worst: float
    seconds: float
    kind: Kind
    beta: float = 0.05
    why: str = ""


def predicted(workload: Workload, spread: Spread, seconds: float, beta: Number, why: str) -> Prediction:
    """The prediction for a workload whose errors are spread so."""
    b = float(probability("beta", beta))
    rms = workload.mean(spread.deviations**2) ** 0.5
    return Prediction(workload.mean(spread.means), rms, spread.worst(b), seconds, "exact", b, why)


@dataclass(frozen=True)
class Answered(Labelled):
    """Answers of some workload, and what is known of their errors."""

    workload: Workload
    answers: Floats
    errors: Floats | None
    statement: str

    def __str__(self) -> str:
        return f"{self._summary()}\n{self.statement}"


@stored("WorkloadRelease", ("method", "workload", "answers", "errors", "model", "loss", "beta", "notes"))
@dataclass(frozen=True)
class Released(Labelled):
    """What a method gives out: nothing in it depends on the data but through the law that was paid for.

    `errors[i]` is what query i misses by at most, with probability 1 - beta; None where nothing is known.
    """

    method: str
    workload: Workload
    answers: Floats
    errors: Floats | None
    model: Model | None
    loss: Loss
    beta: float = 0.05
    notes: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        return "\n".join((self._summary(f" by {self.method}"), self._statement(self.errors), *self.notes))

    def query(self, workload: Workload) -> Answered:
        """Answers to any further linear queries on the same domain, free, with what is known of their errors."""
        if getattr(workload, "domain", None) != self.workload.domain:
            raise BadParameter("workload", repr(workload), "one on the domain of the release")
        if workload is self.workload:
            return Answered(workload, self.answers, self.errors, self._statement(self.errors))
        if self.model is None:
            raise BadQuestion(f"a release by {self.method} holds the answers of its own workload and no model")
        answers = workload.answer(self.model)  # what is too large is refused here
        errors = self.model.reach(workload, self.beta)
        return Answered(workload, answers, errors, self._statement(errors))

    def _statement(self, errors: Floats | None) -> str:
        unknown = 0 if errors is None else int(np.isinf(errors).sum())
        if errors is None or unknown == errors.size:
            return "nothing is known of the errors of these answers: they come from the model alone"
        sure = f"{1 - self.beta:g}" if self.beta > 1e-5 else f"1 - {self.beta:g}"
        told = f"each error is within what is stated, with probability {sure} each"
        return told + (f"; nothing is known of {unknown}, which come from the model alone" if unknown else "")

    def nonnegative(self) -> Released:
        """The same without negative counts: post-processing, so free; an error may grow by what its answer moved."""
        if self.model is None:
            answers = np.maximum(self.answers, 0)  # which moves no answer away from the truth
            return replace(self, answers=answers, notes=(*self.notes, "negative counts shown as zero"))
        return self._by(self.model.nonnegative(), "projected on counts that are not negative")

    def consistent(self, source: Source = SYSTEM) -> Released:
        """The same as counts of one table of weighted records: none is negative, and all marginals agree; free.

        Of marginals that were measured one by one this takes seconds, and often halves the error where noise is large.
        """
        if self.model is None:
            raise BadQuestion(f"a release by {self.method} has no model to find records for")
        model = self.model.consistent(max(0, round(self.model.total)), source)
        return self._by(model, "counts of one table of weighted records")

    def _by(self, model: Model, note: str) -> Released:
        """The answers of another model, which miss by no more than these do and what lies between."""
        answers = self.workload.answer(model)
        errors = None if self.errors is None else self.errors + np.abs(answers - self.answers)
        return replace(self, answers=answers, errors=errors, model=model, notes=(*self.notes, note))

    def whole(self) -> Released:
        """The same with answers rounded to whole numbers, which moves each by half at most; free."""
        errors = None if self.errors is None else self.errors + 0.5
        return replace(self, answers=np.rint(self.answers), errors=errors, notes=(*self.notes, "rounded"))

    def synthetic(self, n: int, source: Source = SYSTEM) -> Arrow:
        """n rows, as a table of Arrow, whose marginals are those of the model, as nearly as noise lets them."""
        if self.model is None:
            raise BadQuestion(f"a release by {self.method} has no model to draw rows from")
        return drawn(self.model, n, source)


class Method(ABC):
    """One way to answer a workload; a frozen value."""

    name: ClassVar[str]
    theorem: ClassVar[str]  # one line: error and reference, as in a table of methods
    needs_n: ClassVar[bool] = False  # whether the number of records must be public, and exact
    reads_n: ClassVar[bool] = False  # whether the law of its release depends on n
    reads_beta: ClassVar[bool] = False  # whether it, or a note that is stored with it, depends on beta
    improves: ClassVar[str | None] = None  # a method whose error it keeps on full tables, and lowers on sparse ones

    @abstractmethod
    def why_not(self, workload: Workload, n: int | None, price: Price) -> str | None:
        """None, or the reason why not, from public facts."""

    @abstractmethod
    def _predict(self, workload: Workload, n: int | None, price: Price, beta: Number) -> Prediction: ...

    @abstractmethod
    def run(
        self, workload: Workload, data: Data, price: Price, source: Source, *, n: int | None, beta: float
    ) -> Released:
        """The release itself, where it applies; n is what is publicly known, or None, not what the data hold."""

    def _loss(self, workload: Workload, n: int | None, price: Price) -> Loss:
        """By default the whole price."""
        return price.loss()

    def predict(self, workload: Workload, n: int | None, price: Price, beta: Number = 0.05) -> Prediction:
        """Its error and time; only where it applies."""
        return self._predict(workload, self._known(workload, n, price), price, beta)

    def loss(self, workload: Workload, n: int | None, price: Price) -> Loss:
        """What the release costs."""
        return self._loss(workload, self._known(workload, n, price), price)

    def reach(self, released: Released, n: int | None, price: Price, beta: float) -> Floats | None:
        """What each answer of a release of its own misses by at most, by default as its model knows it."""
        return None if released.model is None else released.model.reach(released.workload, beta)

    def restated(self, released: Released, n: int | None, price: Price, beta: float) -> Released:
        """The same draw with its errors at this beta; where they cannot be told anew, as it is, at its own.

        At its own beta it must state what it stated then, and at another something else: a release is older than the
        code that reads it, and may know no beta but its own.
        """
        if released.errors is None or beta == released.beta or self.reads_beta:
            return released
        then, now = (self.reach(released, n, price, b) for b in (released.beta, beta))
        if then is None or now is None or np.array_equal(then, now):
            return released
        return replace(released, errors=now, beta=beta) if np.allclose(then, released.errors, rtol=1e-9) else released

    def release(
        self,
        workload: Workload,
        data: Data,
        price: Price,
        source: Source = SYSTEM,
        *,
        n: int | None = None,
        beta: Number = 0.05,
    ) -> Released:
        """Answer the workload; whatever can be refused is refused before the data are looked at."""
        people, b = checked_n(workload, n, price), float(probability("beta", beta))
        if not isinstance(data, Data):
            raise BadData("data", type(data).__name__, "a table, as Histogram(domain, counts)")
        if workload.domain != data.domain:
            raise BadParameter("workload", repr(workload), "one on the domain of the data")
        if not within(data.distance, price.unit):
            raise BadParameter("price", price.unit, f"one for units that move the data by {data.distance}")
        if (reason := self.refusal(workload, people, price)) is not None:
            raise BadQuestion(f"{self.name}: {reason}")
        return self.run(workload, data, price, instance("source", source, Source), n=people, beta=b)

    def refusal(self, workload: Workload, n: int | None, price: Price) -> str | None:
        """None, or why this method cannot be used."""
        people = checked_n(workload, n, price)
        if (cells := workload.widest) > CELLS:  # which no method can do
            several = all(len(axes) > 1 for axes in workload.tables if workload.domain.cells(axes) > CELLS)
            less = "look at fewer attributes, or join values" if several else "join the values of the attribute"
            return f"a query looks at {shown(cells)} cells; at most {CELLS} can be laid out: {less} in bins"
        if self.needs_n and people is None:
            return _NEEDED
        return self.why_not(workload, people, price)

    def _known(self, workload: Workload, n: int | None, price: Price) -> int | None:
        """n, if what is given is of the right kinds, and n among it where it is needed."""
        people = checked_n(workload, n, price)
        return self._people(people) if self.needs_n else people

    def _people(self, n: int | None) -> int:
        """n, where it is needed."""
        if n is None:
            raise BadQuestion(f"{self.name}: {_NEEDED}")
        return n


def checked_n(workload: Workload, n: int | None, price: Price) -> int | None:
    """n as a whole number, or None, if all are of the right kinds."""
    instance("workload", workload, Workload)
    instance("price", price, Price)
    return None if n is None else whole("n", n)


def instead(workload: Workload, n: int | None, price: Price, *methods: Method) -> str:
    """The first of these methods that can be used, as advice where another is refused."""
    return f"use {next((m.name for m in methods if m.refusal(workload, n, price) is None), 'fewer queries')}"


def within(d: Distance[Any], bound: Distance[Any]) -> bool:
    """Whether a price for units that move data by `bound` covers units that move them by `d`: of one relation.

    Under substitution half of what moves comes and half goes, which distances of no relation need not keep to.
    """
    known = d.l0 is not None and d.l0 <= bound.l0 if bound.l0 is not None else True
    norms = d.l1 <= bound.l1 and d.l2_squared <= bound.l2_squared and d.linf <= bound.linf
    return known and norms and d.relation == bound.relation
