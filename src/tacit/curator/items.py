"""What may be published together: questions, workloads, synthetic tables and bounds, each at any amount of a currency.

An item says what noise an amount buys and how accurate its answer is then, from public facts alone; and it draws its
answer, as JSON, from what a charge says was paid for.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from typing import Any

from .. import storage
from ..core.accounting.budget import Budget
from ..core.accounting.loss import Loss
from ..core.errors import BadParameter, BadQuestion, Refused, reading
from ..core.exact import from_above
from ..core.parameters import whole
from ..core.randomness import Source
from ..core.search import least_positive
from ..mechanisms import Gaussian, Laplace
from ..query.plan.calibration import Step
from ..query.plan.draw import draw, noisy
from ..query.plan.offer import Offer, offer
from ..query.plan.plan import BinCounts, QueryPlan
from ..query.python.table_domain import Counted, TableDomain
from ..query.relation.relation import Relation
from ..query.schema.schema import Schema
from ..release import Provenance, Release, versions
from ..workloads import Method, Price, Workload
from ..workloads import method as method_of
from ..workloads import plan as planned
from ..workloads.price import BatchPrice
from .ask import Asked
from .purchase import Draw, Read

MAX_ROWS = 10**6  # of a synthetic table


@dataclass(frozen=True)
class Family:
    """A kind of noise: `name` is the currency, epsilon or rho, in which amounts up to the `budget` are divided."""

    name: str
    budget: Budget

    @property
    def limit(self) -> Fraction:
        return self.budget.limit


@dataclass(frozen=True)
class StatedError:
    """The error of one column of an answer; None where it depends on a number that is not public."""

    column: str
    text: str
    error: float | None


@dataclass(frozen=True)
class Chosen:
    """The noise that an amount buys for an item, its loss and its errors; `terms` complete an open charge."""

    loss: Loss
    terms: Mapping[str, Any]
    errors: tuple[StatedError, ...]
    objective: float  # to be minimised: the logarithm of the product of 1 + error over all measures


@dataclass(frozen=True, kw_only=True)
class Item(ABC):
    """One answer of a publication: met at `error`, or given a share of the rest in proportion to its `weight`."""

    name: str
    title: str = ""
    error: Fraction | None = None
    weight: Fraction = Fraction(1)
    beta: Fraction = Fraction(1, 20)

    @property
    @abstractmethod
    def relation(self) -> Relation:
        """The rows that the answer is about."""

    @abstractmethod
    def facts(self) -> object:
        """What is measured, as far as it identifies the answer."""

    @abstractmethod
    def at(self, family: Family, amount: Fraction, failing: Fraction) -> Chosen:
        """The noise for an amount; keys that are chosen privately may fail with probability `failing`."""

    @abstractmethod
    def reaching(self, family: Family, failing: Fraction) -> Chosen:
        """The noise of least price with which the error that is asked for is met."""

    @abstractmethod
    def drawn(self, terms: Mapping[str, Any], about: Provenance, price: Fraction) -> Draw:
        """The draw, by what was paid for."""

    def identity(self) -> object:
        """What is measured, and what decides how accurately."""
        wanted = ("weight", self.weight) if self.error is None else ("error", self.error)
        return type(self).__name__, self.facts(), wanted, self.beta


def _searched(item: Item, family: Family, failing: Fraction) -> Chosen:
    """The least amount with which the largest stated error of an item is within what it asks for."""
    wanted = item.error or Fraction(0)

    def good(share: float) -> bool:
        try:
            errors = [e.error for e in item.at(family, Fraction(share) * family.limit, failing).errors]
        except (Refused, BadParameter):
            return False
        return all(e is not None and e <= wanted for e in errors)

    least = least_positive(good, 1.0, floor=2.0**-40, ceiling=2.0**12, precision=2.0**-8)
    if least == math.inf:
        raise Refused(f"No price makes the error of {item.name} so small. Ask for a larger error, or by weight.")
    return item.at(family, Fraction(least) * family.limit, failing)


@dataclass(frozen=True, kw_only=True)
class QuestionItem(Item):
    """A question in SQL."""

    asked: Asked
    schemas: Mapping[str, Schema]

    def __post_init__(self) -> None:
        if self.asked.query.public:
            raise BadQuestion(f"{self.name} follows from public facts and is free. Leave it out of the plan.")

    @property
    def relation(self) -> Relation:
        return self.asked.query.relation

    def facts(self) -> object:
        recipes = sorted((recipe for _, recipe in self.asked.compiled.recipes), key=storage.canonical)
        return self.asked.compiled.nameless, self.asked.compiled.choices, recipes

    def at(self, family: Family, amount: Fraction, failing: Fraction) -> Chosen:
        return self._chosen(family, failing, share=amount / family.limit)

    def reaching(self, family: Family, failing: Fraction) -> Chosen:
        return self._chosen(family, failing, error=self.error)

    def _chosen(self, family: Family, failing: Fraction, **price: Any) -> Chosen:
        facts: dict[str, Any] = {"schemas": self.schemas, "compiled_query": self.asked.compiled, "beta": self.beta}
        facts |= {"delta": failing} if self.asked.compiled.plan.chosen else {}
        offered = offer(self.asked.query, family.budget, least_share=Fraction(0), **facts, **price)
        errors = tuple(StatedError(e.name, str(e), e.error) for e in offered.errors if e.theorem)
        mechanisms = [storage.write(step.mechanism) for step in offered.steps]
        objective = math.fsum(math.log1p(min(step.errors)) for step in offered.steps)
        return Chosen(offered.loss, {"mechanisms": mechanisms}, errors, objective)

    def drawn(self, terms: Mapping[str, Any], about: Provenance, price: Fraction) -> Draw:
        plan, query, recipes = self.asked.compiled.plan, self.asked.query, self.asked.compiled.recipes
        with reading("this charge"):
            mechanisms = storage.read(terms["mechanisms"])
        measured = (*plan.measures, *([None] if plan.chosen else []))
        steps = tuple(Step(measure, (m,), self.beta) for measure, m in zip(measured, mechanisms, strict=True))
        loss = reduce(Loss.__add__, (m.loss() for m in mechanisms))
        paid = Offer(query, plan, recipes, steps, loss, price, Budget(epsilon=1), self.beta)
        return lambda read, source: Release.of(paid, draw(paid, read(plan), source), about).facts()


@dataclass(frozen=True, kw_only=True)
class WorkloadItem(Item):
    """Linear queries on a domain; with `rows`, a synthetic table of so many rows that is drawn from their model."""

    workload: Workload
    method: str = "auto"
    rows: int = 0
    about: int | None = None  # the rough number of records, by which methods are ranked
    _methods: dict[str, Method] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        if whole("rows", self.rows, at_least=0) > MAX_ROWS:
            raise BadParameter("rows", self.rows, f"at most {MAX_ROWS}")

    @property
    def domain(self) -> TableDomain:
        assert isinstance(self.workload.domain, TableDomain)
        return self.workload.domain

    @property
    def relation(self) -> Relation:
        return self.domain.relation

    def facts(self) -> object:
        return self.workload, self.method, self.rows

    def _price(self, name: str, amount: Fraction) -> Price:
        unit = self.domain.distance
        return Price(amount, None, unit) if name == "epsilon" else BatchPrice(None, amount, unit)

    def at(self, family: Family, amount: Fraction, failing: Fraction) -> Chosen:
        price = self._price(family.name, amount)
        if family.name not in self._methods:  # the best method hardly depends on the amount
            methods = None if self.method == "auto" else [method_of(self.method)]
            plan = planned(self.workload, None, price, methods, self.beta, about=self.about, ways=[price])
            usable = [row.method for row in plan.rows if row.prediction and (not self.rows or _has_model(row.method))]
            if not usable:
                plan.row(self.method)  # which says why
                raise Refused(f"No method keeps a model of {self.name} to draw rows from.")
            self._methods[family.name] = usable[0]
        chosen = self._methods[family.name]
        predicted = chosen.predict(self.workload, None, price, self.beta)
        loss = chosen.loss(self.workload, None, price)
        text = f"+-{from_above(predicted.worst)} for all {self.workload.queries} counts at once, by {chosen.name}"
        error = StatedError("count", text, predicted.worst)
        terms = {"method": chosen.name, family.name: str(amount)}
        return Chosen(loss, terms, (error,), math.log1p(predicted.rms))

    def reaching(self, family: Family, failing: Fraction) -> Chosen:
        return _searched(self, family, failing)

    def drawn(self, terms: Mapping[str, Any], about: Provenance, price: Fraction) -> Draw:
        name = "epsilon" if "epsilon" in terms else "rho"
        paid, chosen = self._price(name, Fraction(terms[name])), method_of(terms["method"])

        def draws(read: Read, source: Source) -> bytes:
            data = Counted(self.domain, lambda plan: read(plan).cells[0])
            released = chosen.release(self.workload, data, paid, source, beta=self.beta)
            model = released.model if self.rows else None
            codes = json.dumps([] if model is None else model.synthetic(self.rows, source).tolist())
            made = storage.canonical((released, versions(), about))
            return f'{{"workload":{made},"rows":{codes}}}'.encode()

        return draws


def _has_model(method: Method) -> bool:
    """Whether the releases of a method have a model to draw rows from: all but noise on the queries themselves."""
    return method.name != "queries"


@dataclass(frozen=True, kw_only=True)
class BoundsItem(Item):
    """Bounds of a column."""

    column: str
    plan: QueryPlan

    @property
    def histogram(self) -> BinCounts:
        """The counts between public edges, from which the bounds are read."""
        (measure,) = self.plan.measures
        assert isinstance(measure, BinCounts)
        return measure

    @property
    def relation(self) -> Relation:
        return self.plan.relation

    def facts(self) -> object:
        return self.plan

    def at(self, family: Family, amount: Fraction, failing: Fraction) -> Chosen:
        moves = self.plan.distance(self.histogram)
        pure = family.name == "epsilon"
        noise = Laplace(epsilon=amount, sensitivity=moves) if pure else Gaussian(rho=amount, sensitivity=moves)
        beyond = 2 * noise.error(beta=self.beta, size=len(self.histogram.edges) - 1)
        text = f"at most {from_above(beyond)} values in each cell beyond"
        error = StatedError(self.column, text, beyond)
        return Chosen(noise.loss(), {"noise": storage.write(noise)}, (error,), math.log1p(beyond))

    def reaching(self, family: Family, failing: Fraction) -> Chosen:
        return _searched(self, family, failing)

    def drawn(self, terms: Mapping[str, Any], about: Provenance, price: Fraction) -> Draw:
        with reading("this charge"):
            noise = storage.read(terms["noise"])
        origin = storage.canonical(about)

        def draws(read: Read, source: Source) -> bytes:
            counts: Sequence[int] = noisy(noise, read(self.plan).cells[0][0], source)
            made = f'{{"counts":{json.dumps(list(counts))},"noise":{json.dumps(terms["noise"])},"provenance":{origin}}}'
            return f'{{"bounds":{made}}}'.encode()

        return draws
