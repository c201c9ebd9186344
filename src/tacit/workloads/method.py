"""The interface of a method: a way to answer a workload.

A method is a frozen value.  Its file states Definition, Privacy, Utility and References; its code has

    why_not         None where it can be used, or why not: what is wrong, and what the method needs
    _predict        its error and time, from public facts only
    _loss           its loss, never above the price
    run             the answers, their error bounds, and a model that answers any further query
    error_bounds    the error bounds of a release at any beta, from the release and public facts

which `predict`, `loss` and `release` call once the arguments are checked.  A method knows no other method: which one to
use instead is the planner's to say.
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
from .models.model import Model
from .models.records import Arrow, Labelled, drawn
from .price import Price
from .queries.data import Data, Floats
from .queries.domain import CELLS, shown
from .queries.workload import Workload

PredictionKind = Literal["exact", "bound"]
_NEEDS_N = "the number of records n must be public, and exact: pass n, and errors are stated for so many records"


@dataclass(frozen=True)
class Prediction:
    """Errors in counts: expected mean absolute, root mean square, and the largest of all with probability 1 - beta.

    An "exact" prediction does not depend on the data; a "bound" holds whatever they are.  If errors are sums of many
    noises, an exact rms is exact, and the mean is that of a near law: where noise is about one step, up to a quarter
    too low.  Where nothing is known of the draws that `worst` leaves out, mean and rms leave them out, too: no mean is
    above `worst`.
    """

    mean: float
    rms: float
    worst: float
    seconds: float
    kind: PredictionKind
    beta: float = 0.05
    why: str = ""


def predicted(workload: Workload, errors: Spread, seconds: float, beta: Number, why: str) -> Prediction:
    """The prediction for a workload whose queries have these errors."""
    b = float(probability("beta", beta))
    rms = workload.mean(errors.deviations**2) ** 0.5
    return Prediction(workload.mean(errors.means), rms, errors.worst(b), seconds, "exact", b, why)


@dataclass(frozen=True)
class Answered(Labelled):
    """The answers of a workload, and what is known of their errors."""

    workload: Workload
    answers: Floats
    errors: Floats | None
    statement: str

    def __str__(self) -> str:
        return f"{self._summary()}\n{self.statement}"


@stored("WorkloadRelease", ("method", "workload", "answers", "errors", "model", "loss", "beta", "notes"))
@dataclass(frozen=True)
class Released(Labelled):
    """What a method releases: it depends on the data only through the law that was paid for.

    The error of answer i is at most `errors[i]` with probability 1 - beta; `errors` is None where nothing is known.
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
            raise BadQuestion(
                f"A release by {self.method} has the answers of its own workload and no model to answer others from."
            )
        answers = workload.answer(self.model)  # what is too large is refused here
        errors = self.model.error_bounds(workload, self.beta)
        return Answered(workload, answers, errors, self._statement(errors))

    def _statement(self, errors: Floats | None) -> str:
        unknown = 0 if errors is None else int(np.isinf(errors).sum())
        if errors is None or unknown == errors.size:
            return "nothing is known of the errors of these answers: they come from the model alone"
        sure = f"{1 - self.beta:g}" if self.beta > 1e-5 else f"1 - {self.beta:g}"
        bounded = f"each error is within what is stated, with probability {sure} each"
        return bounded + (f"; nothing is known of {unknown}, which come from the model alone" if unknown else "")

    def nonnegative(self) -> Released:
        """This release without negative counts: free post-processing; an error may grow by what its answer moved."""
        if self.model is None:
            answers = np.maximum(self.answers, 0)  # which moves no answer away from the truth
            return replace(self, answers=answers, notes=(*self.notes, "negative counts shown as zero"))
        return self._by(self.model.nonnegative(), "projected on counts that are not negative")

    def consistent(self, source: Source = SYSTEM) -> Released:
        """This release as counts of one table of weighted records: none is negative, and all marginals agree; free.

        For marginals that were measured one by one this takes seconds, and often halves the error where noise is large.
        """
        if self.model is None:
            raise BadQuestion(f"A release by {self.method} has no model to find records for.")
        model = self.model.consistent(max(0, round(self.model.total)), source)
        return self._by(model, "counts of one table of weighted records")

    def _by(self, model: Model, note: str) -> Released:
        """This release with the answers of another model; its errors grow by how far the answers moved."""
        answers = self.workload.answer(model)
        errors = None if self.errors is None else self.errors + np.abs(answers - self.answers)
        return replace(self, answers=answers, errors=errors, model=model, notes=(*self.notes, note))

    def whole(self) -> Released:
        """This release with answers rounded to whole numbers, which moves each by half at most; free."""
        errors = None if self.errors is None else self.errors + 0.5
        return replace(self, answers=np.rint(self.answers), errors=errors, notes=(*self.notes, "rounded"))

    def synthetic(self, n: int, source: Source = SYSTEM) -> Arrow:
        """An Arrow table of n rows whose marginals are those of the model, as nearly as whole rows can have them."""
        if self.model is None:
            raise BadQuestion(f"A release by {self.method} has no model to draw rows from.")
        return drawn(self.model, n, source)


class Method(ABC):
    """One way to answer a workload; a frozen value."""

    name: ClassVar[str]
    theorem: ClassVar[str]  # one line: error and reference, as in a table of methods
    needs_n: ClassVar[bool] = False  # whether the number of records must be public, and exact
    reads_n: ClassVar[bool] = False  # whether the law of its release depends on n
    reads_beta: ClassVar[bool] = False  # whether that law, or a note that is stored with the release, depends on beta
    improves: ClassVar[str | None] = None  # a method whose error it keeps on full tables, and lowers on sparse ones

    @abstractmethod
    def why_not(self, workload: Workload, n: int | None, price: Price) -> str | None:
        """None where the method can be used, or a reason why not, from public facts."""

    @abstractmethod
    def _predict(self, workload: Workload, n: int | None, price: Price, beta: Number) -> Prediction: ...

    @abstractmethod
    def run(
        self, workload: Workload, data: Data, price: Price, source: Source, *, n: int | None, beta: float
    ) -> Released:
        """Draw the release, where `why_not` is None; n is the public number of records, or None."""

    def _loss(self, workload: Workload, n: int | None, price: Price) -> Loss:
        """The loss of the release: by default the whole price."""
        return price.loss()

    def predict(self, workload: Workload, n: int | None, price: Price, beta: Number = 0.05) -> Prediction:
        """The error and time of a release; only where `refusal` is None."""
        return self._predict(workload, self._checked(workload, n, price), price, beta)

    def loss(self, workload: Workload, n: int | None, price: Price) -> Loss:
        """The loss of a release at this price."""
        return self._loss(workload, self._checked(workload, n, price), price)

    def error_bounds(self, released: Released, n: int | None, price: Price, beta: float) -> Floats | None:
        """The error bounds of a release by this method at any beta: by default those of its model."""
        return None if released.model is None else released.model.error_bounds(released.workload, beta)

    def restated(self, released: Released, n: int | None, price: Price, beta: float) -> Released:
        """The release with its error bounds at this beta; unchanged where they cannot be computed again.

        A release may be older than the code that reads it.  So its bounds are replaced only if the code gives, at the
        release's own beta, the bounds that the release has.
        """
        if released.errors is None or beta == released.beta or self.reads_beta:
            return released
        then, now = (self.error_bounds(released, n, price, b) for b in (released.beta, beta))
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
        """Answer the workload; whatever can be refused is refused before the data are read."""
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
        """None where this method can be used, or a reason why not."""
        people = checked_n(workload, n, price)
        if (cells := workload.widest) > CELLS:  # which no method can lay out
            several = all(len(axes) > 1 for axes in workload.tables if workload.domain.cells(axes) > CELLS)
            less = "look at fewer attributes, or join values" if several else "join the values of the attribute"
            return f"a query looks at {shown(cells)} cells, and at most {CELLS} can be laid out: {less} in bins"
        if self.needs_n and people is None:
            return _NEEDS_N
        return self.why_not(workload, people, price)

    def _checked(self, workload: Workload, n: int | None, price: Price) -> int | None:
        """n, once all arguments are of the right types and n is there if the method needs it."""
        people = checked_n(workload, n, price)
        return self._people(people) if self.needs_n else people

    def _people(self, n: int | None) -> int:
        """n, which must be public; BadQuestion if it is None."""
        if n is None:
            raise BadQuestion(f"{self.name}: {_NEEDS_N}")
        return n


def checked_n(workload: Workload, n: int | None, price: Price) -> int | None:
    """n as a whole number, or None, once all three are of the right types."""
    instance("workload", workload, Workload)
    instance("price", price, Price)
    return None if n is None else whole("n", n)


def within(d: Distance[Any], bound: Distance[Any]) -> bool:
    """Whether a price for units that move data by `bound` covers units that move them by `d`, under one relation.

    Relations must be equal: under substitution half of what moves comes and half goes, which no other relation assures.
    """
    sparse = d.l0 is not None and d.l0 <= bound.l0 if bound.l0 is not None else True
    norms = d.l1 <= bound.l1 and d.l2_squared <= bound.l2_squared and d.linf <= bound.linf
    return sparse and norms and d.relation == bound.relation
