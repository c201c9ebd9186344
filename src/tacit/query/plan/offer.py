r"""The offer: the cost of a question and the accuracy of its answer, before anything is charged or read.

A question is asked with one of
    epsilon   the guarantee of the release alone: epsilon-, or with a delta (epsilon, delta)-differential privacy.  Its
              price in the budget is another number, which the offer states
    share     the part of the budget that the question may take: 0.1 is a tenth, whatever was bought before
    rho       the guarantee of the release alone in zCDP; a budget in epsilon without delta sells nothing by rho
    error     the least price at which every count and sum is within `error`; of a question without these, every mean,
              variance and deviation of a column, where an equal share of the table's public size has values in a group
    relative  like error for counts and sums, as a share of that size
and `buying` finds the mechanisms.  Keys that are selected privately need a delta.  With epsilon, delta is that of the
release and must be given.  Else `delta` is the failure probability of the selection: by default the same share of the
budget's failures as is spent of the budget, and of an allowance's likewise.

A question has a least price, a share of the budget that its custodian set: else an analyst could learn from the time or
the refusals of many questions for next to nothing.  Prices below it are refused, and errors that would cost less are
improved to what it buys.

All errors hold with probability 1 - beta, each by itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypedDict, Unpack

from ...core.accounting.accountants import Renyi, failures
from ...core.accounting.budget import LEAST_SHARE, Budget, SpentSoFar
from ...core.accounting.currency import Amount
from ...core.accounting.loss import Loss, zero
from ...core.errors import BadParameter, BadQuestion, BudgetExceeded, Refused
from ...core.exact import from_above, up
from ...core.parameters import Number, exactly_one, positive, probability
from ...core.safe_text import visible
from ..schema.schema import Schema
from ..select.query import Query
from .accuracy import Accuracy, accuracies, public_size
from .answer_schema import AnswerType, answer_schema
from .buying import COMPOSED, Buyer, loss_of, sells_gaussian
from .calibration import Step
from .compiler import Compiled, compiled
from .estimators import Recipe
from .plan import QueryPlan

BETA = "0.05"
LARGEST = Fraction(10**30)
FREE = "free: the answer follows from public facts alone, so nothing is read and nothing is charged"
_ROUNDING = 1 - Fraction(1, 1 << 20)  # prices are met from below, to a few digits less than these


@dataclass(frozen=True, repr=False)
class Offer:
    """A question, its cost and the accuracy of its answer, from public facts alone."""

    query: Query
    plan: QueryPlan
    recipes: tuple[tuple[str, Recipe], ...]
    steps: tuple[Step, ...]
    loss: Loss
    price: Amount
    budget: Budget
    beta: Fraction
    size: int | None = None  # the approximate number of rows, if public
    typed: tuple[str, Fraction] | None = None  # the epsilon, rho, share, error or relative of the caller
    delta: Fraction | None = None  # of the release, if it was asked for by epsilon
    raised: bool = False  # whether the price was raised to the least one
    bought: str | None = None  # when the answer was bought before: asked again it is free

    @cached_property
    def schema(self) -> tuple[tuple[str, AnswerType], ...]:
        """The name and type of each column of the answer."""
        return answer_schema(self.query, self.recipes)

    @property
    def free(self) -> bool:
        """Whether the answer follows from public facts alone, so that nothing is read and nothing charged."""
        return self.query.public

    @cached_property
    def errors(self) -> tuple[Accuracy, ...]:
        """The accuracy of each output."""
        return accuracies(self.plan, self.recipes, self.steps, self.query, beta=self.beta, size=self.size)

    @property
    def alone(self) -> str:
        """The guarantee of the answer alone as a clause, or "" if it equals the price in pure epsilon."""
        same = not sells_gaussian(self.budget) and self.loss.epsilon() == up(Fraction(self.price))
        return "" if same else f"taken alone, the answer is {self.promised}"

    @cached_property
    def promised(self) -> str:
        """The guarantee of the answer alone, at the requested delta."""
        return promise(self.loss, self.delta)

    @property
    def surcharge(self) -> str:
        """A clause that says so if the price exceeds the number that the caller typed, else ""."""
        return "" if self.typed is None else surcharge(self.budget, self.price, self.typed)

    @property
    def remarks(self) -> list[str]:
        """Remarks beside the price: the guarantee, and where the price is not the number that the caller typed."""
        if self.free:
            return [FREE]
        least = f"{from_above(float(self.price), 4)} of {self.budget} is the least price of a question"
        improved = f"{least}, so the errors are smaller than was asked for" if self.raised else ""
        free = f"it was bought on {self.bought[:10]}, so it is free" if self.bought else ""
        return [text for text in (self.alone, self.surcharge, improved, free) if text]

    def explain(self) -> str:
        """The price, and for each measure the mechanisms that were considered with their predicted errors."""
        lines = [f"costs {float(self.price):g} of {self.budget}", *self.remarks]
        for step in self.steps:
            what = "keys" if step.measure is None else type(step.measure).__name__.lower()
            grid = Fraction(1) if step.measure is None else step.measure.grid
            what += f" in steps of {grid}" if grid != 1 else ""
            tried = ", ".join(f"{name} {error * float(grid):g}" for name, error in step.considered)
            lines.append(f"{what}: {step.mechanism}  (predicted error: {tried})")
        return "\n".join(
            (*lines, *(f"{visible(a.name)}: {a}" + (f"  [{a.theorem}]" if a.theorem else "") for a in self.errors))
        )

    def __repr__(self) -> str:
        return f"<Offer: {self}>"

    def __str__(self) -> str:
        if self.free:
            return FREE
        accuracy = "; ".join(f"{a.name} {a}" for a in self.errors if a.theorem)
        price = f"{float(self.price):g} of {self.budget}: with probability {float(1 - self.beta):g} each, {accuracy}"
        return visible("; ".join((price, *self.remarks)))


def promise(loss: Loss, delta: Fraction | None = None) -> str:
    """A privacy loss in words: pure epsilon if it is finite, else epsilon at this delta, or at a small one."""
    pure, failing = loss.epsilon(), failures(loss)
    if pure < math.inf:
        return f"{from_above(pure, 4)}-differentially private"
    if delta is None:
        delta = next((d for d in (Fraction(1, 10**k) for k in range(9, 0, -1)) if d > failing), (1 + failing) / 2)
    within = Renyi().epsilon(loss, delta) if len(loss.terms) > COMPOSED else math.inf
    epsilon = within if within < math.inf else loss.epsilon(delta)
    return f"({from_above(epsilon, 4)}, {float(delta):g})-differentially private"


def surcharge(budget: Budget, price: Amount, typed: tuple[str, Fraction]) -> str:
    """A clause that says so if a purchase takes more of a budget than the epsilon or rho that was typed, else ""."""
    name, number = typed
    if name not in ("epsilon", "rho") or price <= number or (budget.rho is None) != (name == "epsilon"):
        return ""
    takes = f"it takes {'more than all' if price == math.inf else from_above(float(price), 4)} of {budget}"
    return f"{takes}, more than the {name} = {float(number):g} that was asked for"


class Paid(TypedDict, total=False):
    """A price: one of epsilon (perhaps with delta), rho and share."""

    epsilon: Number | None
    delta: Number | None
    rho: Number | None
    share: Number | None


class Terms(Paid, total=False):
    """The terms of a question: one of epsilon, rho, share, error, relative; and beta, the chance of a larger error."""

    error: Number | None
    relative: Number | None
    beta: Number


def offer(
    query: Query,
    budget: Budget,
    *,
    schemas: Mapping[str, Schema] | None = None,
    compiled_query: Compiled | None = None,
    spent: Sequence[SpentSoFar] = (zero,),
    allowance: tuple[Budget, Sequence[SpentSoFar]] | None = None,
    least_share: Fraction = LEAST_SHARE,
    **terms: Unpack[Terms],
) -> Offer:
    """The offer for a question.

    `schemas` are those of its tables, by name; `compiled_query` is its plan, if that was compiled before; `spent` has
    what was spent of the budget on each part of the data that the question can touch; `allowance` is another budget
    that must be kept as well; `least_share` is the share of the budget that any question takes.

    A question that public facts answer costs nothing, whatever the terms are.
    """
    beta, delta = probability("beta", terms.get("beta", BETA)), terms.get("delta")
    compiled_query = compiled(query, schemas) if compiled_query is None else compiled_query
    if query.public:
        return Offer(query, compiled_query.plan, (), (), zero, Fraction(0), budget, beta)
    priced: dict[str, Number | None] = {"epsilon": terms.get("epsilon"), "rho": terms.get("rho")}
    priced |= {"share": terms.get("share"), "error": terms.get("error"), "relative": terms.get("relative")}
    given: tuple[str, Number] = exactly_one(**priced)
    name, amount = given[0], positive(*given, LARGEST) if given[0] != "share" else checked_share(given[1], least_share)
    failure = None if delta is None else probability("delta", delta)
    asked = Buyer(compiled_query, budget, spent, allowance, beta, failure)
    raised = False
    if name == "share":
        best = asked.steps("amount", amount * budget.limit)
    elif name in ("epsilon", "rho"):
        best = asked.guaranteed(amount) if name == "epsilon" else asked.steps(name, amount)
    else:
        size = public_size(query.relation, schemas or {}, of_table=True)
        if name == "relative" and size is None:
            raise BadQuestion(
                "A relative error needs the size of the table. Set `size` in the schema (roughly how many rows there"
                " are, if that is public), or ask with error."
            )
        rows = public_size(query.relation, schemas or {})
        least = least_share * budget.limit
        best, raised = asked.cheapest(amount, size if name == "relative" else None, rows, least)
    loss = loss_of(best)
    price, most = max(((budget.price(loss, before), before) for before in spent), key=lambda found: found[0])
    if price == math.inf:
        raise BudgetExceeded(budget, most, loss)
    if name in ("epsilon", "rho"):
        check_least(budget, price, least_share, (name, amount))
    size, own = public_size(query.relation, schemas or {}), failure if name == "epsilon" else None
    facts: dict[str, Any] = {"size": size, "typed": (name, amount), "delta": own, "raised": raised}
    return Offer(query, compiled_query.plan, compiled_query.recipes, tuple(best), loss, price, budget, beta, **facts)


def checked_share(share: Number, least_share: Fraction = LEAST_SHARE) -> Fraction:
    """A share of a budget: a fraction of it, and no less than the least price."""
    x = positive("share", share)
    if x > 1:
        got = f"{float(x):g}" if x < 10**300 else "a larger number"
        says = f"share must be a fraction of the budget, above 0 and at most 1 (0.1 is a tenth); got {got}."
        raise BadParameter("share", share, "a fraction of the budget", says=says)
    if x < least_share:
        raise Refused(
            f"A question takes at least {_part(least_share)} of the budget. Ask with share={_least(least_share)}."
        )
    return x


def check_least(budget: Budget, price: Amount, least_share: Fraction, typed: tuple[str, Fraction]) -> None:
    """Refuse a price below the least price of a question."""
    name, number = typed
    if price < least_share * budget.limit * _ROUNDING:
        raise Refused(
            f"{name} = {float(number):g} would take {from_above(float(price), 4)} of {budget}, but a question takes at"
            f" least {_part(least_share)} of it. Ask with a larger {name}, or with share={_least(least_share)}."
        )


def _least(share: Fraction) -> str:
    return from_above(float(share))


def _part(share: Fraction) -> str:
    """A share in words."""
    return f"1/{share.denominator}" if share.numerator == 1 else _least(share)


def reads_beta(budget: Budget, terms: Mapping[str, object]) -> bool:
    """Whether beta affects which noise is bought: in pure epsilon there is only one mechanism for each measure.

    Two ways to choose two quantiles hardly differ in their errors at any beta, and count as one.
    """
    if terms.get("epsilon") is not None and terms.get("delta") is None:
        return False
    return sells_gaussian(budget) or (terms.get("epsilon") is None and terms.get("share") is None)
