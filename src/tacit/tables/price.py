r"""The offer: what a question would cost and how accurate its answer would be, before anything is charged or read.

What is asked for, one of
    epsilon   in a budget in epsilon, at most that of it, whatever was bought before; a budget with delta has two sums,
              and the one that buys the smaller errors is taken.  In a budget in rho, pure epsilon, at its rho
    rho       zCDP; in a budget in epsilon without delta nothing is sold by rho
    error     the least price at which every count and sum is within `error`; of a question without these, every mean,
              variance and deviation of a column, where an equal share of the table's public size has values in a group
    relative  the same for counts and sums, as a share of that size
is divided equally among the measures, exactly.  Keys that are chosen privately are one measure more, and need a delta:
unless told, the same share of the budget's failures as is spent of the budget, and of an allowance's likewise.

All errors hold with probability 1 - beta, each by itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from typing import TypedDict, Unpack

from ..core.budget import Budget, Spent
from ..core.currency import Amount, Currency, Epsilon, RenyiAt, Rho
from ..core.errors import BadParameter, BadQuestion, BudgetExceeded, Refused
from ..core.exact import from_above
from ..core.loss import Loss, Pure, zero
from ..core.parameters import Number, exactly_one, positive, probability
from ..core.safe_text import visible
from ..core.search import least_positive
from ..core.views import failures
from .accuracy import Accuracy, accuracies, accuracy, public_size
from .calibration import Step, pure, steps
from .expression import Column
from .measures import Compiled, compiled
from .plan import Plan, Total
from .query import Query
from .recipe import Recipe
from .schema import Schema

Family = tuple[Currency, Fraction, Fraction]  # a currency, an amount of it, and which share of the budget that is
BETA = "0.05"
LARGEST = Fraction(10**30)
_ADDITIVE = ("count", "units", "sum")
_QUOTIENTS = ("mean", "variance", "deviation")


@dataclass(frozen=True, repr=False)
class Offer:
    """A question, what it costs and how accurate the answer will be: a promise from public facts."""

    query: Query
    plan: Plan
    recipes: tuple[tuple[str, Recipe], ...]
    steps: tuple[Step, ...]
    loss: Loss
    price: Amount
    budget: Budget
    beta: Fraction
    size: int | None = None  # about how many rows there are, if that is public

    @cached_property
    def errors(self) -> tuple[Accuracy, ...]:
        """The accuracy of each output."""
        return accuracies(self.plan, self.recipes, self.steps, self.query, beta=self.beta, size=self.size)

    @property
    def alone(self) -> str:
        """What the answer alone tells of anyone, where its price is a share of a budget and says no such thing."""
        return "" if self.loss.epsilon() < math.inf else f"alone it tells of anyone at most {promise(self.loss)}"

    def explain(self) -> str:
        """Why these mechanisms: the predicted error of each that was considered."""
        lines = [f"costs {float(self.price):g} of {self.budget}", *([self.alone] if self.alone else [])]
        for step in self.steps:
            what = "keys" if step.measure is None else type(step.measure).__name__.lower()
            grid = step.measure.expression.domain.grid if isinstance(step.measure, Total) else Fraction(1)
            what += f" in steps of {grid}" if grid != 1 else ""
            tried = ", ".join(f"{name} {error * float(grid):g}" for name, error in step.considered)
            lines.append(f"{what}: {step.mechanism}  (predicted error: {tried})")
        return "\n".join(
            (*lines, *(f"{visible(a.name)}: {a}" + (f"  [{a.theorem}]" if a.theorem else "") for a in self.errors))
        )

    def __repr__(self) -> str:
        return f"<Offer: {self}>"

    def __str__(self) -> str:
        accuracy = "; ".join(f"{a.name} {a}" for a in self.errors if a.theorem)
        told = f"{float(self.price):g} of {self.budget}: with probability {float(1 - self.beta):g} each, {accuracy}"
        return visible(f"{told}; {self.alone}" if self.alone else told)


def promise(loss: Loss) -> str:
    """A privacy loss in words: pure epsilon if it is finite, else epsilon at a small delta."""
    pure, failing = loss.epsilon(), failures(loss)
    if pure < math.inf:
        return f"epsilon = {from_above(pure, 4)}"
    delta = next((d for d in (Fraction(1, 10**k) for k in range(9, 0, -1)) if d > failing), (1 + failing) / 2)
    return f"epsilon = {from_above(loss.epsilon(delta), 4)} at delta = {float(delta):g}"


class Paid(TypedDict, total=False):
    """A price: epsilon or rho, and perhaps delta."""

    epsilon: Number | None
    rho: Number | None
    delta: Number | None


class Terms(Paid, total=False):
    """What is asked for: one of epsilon, rho, error and relative; and with which probability an error may be larger."""

    error: Number | None
    relative: Number | None
    beta: Number


def offer(
    query: Query,
    budget: Budget,
    *,
    schemas: Mapping[str, Schema] | None = None,
    made: Compiled | None = None,
    spent: Sequence[Spent] = (zero,),
    allowance: tuple[Budget, Sequence[Spent]] | None = None,
    **terms: Unpack[Terms],
) -> Offer:
    """What the question costs and how accurate it is.

    `schemas` are the public facts about its tables, by name, and `made` its plan, if that is there already; `spent` is
    what was spent of the budget, on each part of the data that the question can touch; `allowance` is another budget
    that must be kept as well.
    """
    priced: dict[str, Number | None] = {"epsilon": terms.get("epsilon"), "rho": terms.get("rho")}
    priced |= {"error": terms.get("error"), "relative": terms.get("relative")}
    given: tuple[str, Number] = exactly_one(**priced)
    name, amount = given[0], positive(*given, LARGEST)
    beta, delta = probability("beta", terms.get("beta", BETA)), terms.get("delta")
    if delta is not None:
        probability("delta", delta)
    made = compiled(query, schemas) if made is None else made
    asked = _Terms(made, budget, spent, allowance, beta, delta)
    if name in ("epsilon", "rho"):
        best = asked.steps(name, amount)
    else:
        size = public_size(query.relation, schemas or {}, of_table=True)
        if name == "relative" and size is None:
            raise BadQuestion(
                "a relative error is a share of the size of one table: add size = ... to [table] in its schema, about"
                " how many rows there are, if that is public; or ask for an error"
            )
        rows = public_size(query.relation, schemas or {})
        best = asked.cheapest(amount, relative_to=size if name == "relative" else None, rows=rows)
    loss = _loss(best)
    price, most = max(((budget.price(loss, before), before) for before in spent), key=lambda found: found[0])
    if price == math.inf:
        raise BudgetExceeded(budget, most, loss)
    size = public_size(query.relation, schemas or {})
    return Offer(query, made.plan, made.recipes, tuple(best), loss, price, budget, beta, size)


def reads_beta(budget: Budget, terms: Mapping[str, object]) -> bool:
    """Whether beta has a say in which noise is bought: for pure epsilon there is but one kind for each measure.

    Of two ways to choose two quantiles one may be better at one beta, and hardly worse at another: they count as one.
    """
    pure = budget.rho is not None or all(isinstance(currency, Epsilon) for currency, _ in budget.sums)
    return terms.get("epsilon") is None or not pure


def quotients(made: Compiled) -> list[Recipe]:
    """Means and the like whose error can be asked for: of columns as they are, beside no counts and sums."""
    recipes, plan = [recipe for _, recipe in made.recipes], made.plan
    if plan.chosen or any(recipe.kind in _ADDITIVE for recipe in recipes):
        return []
    return [r for r in recipes if r.kind in _QUOTIENTS and isinstance(plan.measures[r.parts[0]].expression, Column)]


def _largest(recipe: Recipe) -> Fraction:
    """What one row adds at most to a count or a sum."""
    return Fraction(1) if recipe.kind != "sum" else recipe.own * max(-recipe.domain.lower, recipe.domain.upper)


def _loss(found: list[Step]) -> Loss:
    return reduce(Loss.__add__, (step.mechanism.loss() for step in found))


def _room(c: Currency, budget: Budget, spent: Sequence[Spent], amount: Fraction) -> Amount:
    """How much of a currency may be spent so that no more than the amount is spent of a budget."""
    places = [i for i, (known, _) in enumerate(budget.sums) if known == c or type(known) is type(c) is not RenyiAt]
    if not places:
        return Fraction(0)
    limit, rooms = budget.sums[places[0]][1], list[Amount]()
    for amounts in map(budget.amounts, spent):
        used, total = budget.used(amounts), amounts[1 + places[0]]
        if math.inf in (used, total):
            rooms.append(Fraction(0))
        else:  # of a single sum, what is used is the total
            rooms.append((used + amount) / budget.limit * limit - total if len(budget.sums) > 1 else amount)
    return min(rooms)


def _pure_room(budget: Budget, spent: Sequence[Spent], amount: Fraction) -> Fraction:
    """The largest epsilon that costs no more than the amount: parts of it cost no more than the whole does."""
    rooms = [(c, Fraction(_room(c, budget, spent, amount))) for c, _ in budget.sums]
    return max(((pure(c, room) or Fraction(0)) for c, room in rooms if room > 0), default=Fraction(0))


def _objective(found: list[Step]) -> float:
    """What the best of several ways makes least: the product of 1 + error over all measures, as a logarithm."""
    return math.fsum(math.log1p(min(step.errors)) for step in found)


@dataclass(frozen=True)
class _Terms:
    compiled: Compiled
    budget: Budget
    spent: Sequence[Spent]
    allowance: tuple[Budget, Sequence[Spent]] | None
    beta: Fraction
    delta: Number | None

    def families(self, name: str, amount: Fraction) -> list[Family]:
        """The currencies in which the amount can be spent, and how much of each that is.

        Of a budget with two sums the lesser share counts as spent.  So a sum may be filled up to that share and the
        amount together: whatever was bought before, no question costs more than was asked.
        """
        b = self.budget
        if name == "rho" and b.rho:
            return [(Rho(), amount, amount / b.rho)]
        if name == "rho":
            found = [(c, c.order * amount, c.order * amount / limit) for c, limit in b.sums if isinstance(c, RenyiAt)]
            if not found:
                raise Refused(f"{b} is in pure epsilon, which Gaussian noise has none of; ask with epsilon")
            return [*found]
        if b.rho:
            return [(Epsilon(), amount, Fraction(Rho().of(Pure(amount))) / b.rho)]
        accounts = [(b, self.spent), *([self.allowance] if self.allowance else [])]
        rooms = [(c, min(_room(c, account, before, amount) for account, before in accounts)) for c, _ in b.sums]
        if all(room <= 0 for _, room in rooms):  # one has room in epsilon alone, and the other in divergence alone
            rooms = [(Epsilon(), min(_pure_room(account, before, amount) for account, before in accounts))]
        return [(c, Fraction(room), amount / b.limit) for c, room in rooms if room > 0]

    def steps(self, name: str, amount: Fraction) -> list[Step]:
        """The best mechanisms for this price."""
        offers, refused = [], None
        for currency, part, share in self.families(name, amount):
            delta = self._failure(share) if self.compiled.plan.chosen else None
            try:
                offers.append(steps(self.compiled, currency, part, delta, self.beta))
            except Refused as refusal:
                refused = refusal
        if not offers:
            nothing = f"after what was bought before, {self.budget} sells nothing so cheap; offer more"
            raise refused or Refused(nothing)
        return min(offers, key=_objective) if len(offers) > 1 else offers[0]

    def _failure(self, share: Fraction) -> Fraction:
        """Of the budget's failures and of the allowance's the same share as is spent of each, whichever is less."""
        accounts = [self.budget, *([self.allowance[0]] if self.allowance else [])]
        rooms = [b.failures * min(share * self.budget.limit / b.limit, Fraction(1)) for b in accounts]
        if not all(rooms):
            raise BadQuestion(
                "keys that are chosen privately need a delta: open a budget with one, and an allowance within it, "
                "or declare the values of the key"
            )
        return probability("delta", min(rooms) if self.delta is None else self.delta)

    def cheapest(self, target: Fraction, relative_to: int | None, rows: int | None) -> list[Step]:
        """The steps of least price with every error within the target.

        Relative to a size it is a share: of as many rows, and in a sum of the most that so many can add.  In a question
        without these it is the target of quotients, if it is public about how many `rows` there are.
        """
        name = "rho" if self.budget.rho else "epsilon"
        meant = [recipe for _, recipe in self.compiled.recipes if recipe.kind in _ADDITIVE]
        if not meant and rows is not None and relative_to is None:
            meant = quotients(self.compiled)
        if not meant:
            raise BadQuestion(
                "an error can be asked for with counts and sums, or with means of columns alone, if the schema has a"
                " size and no condition leaves rows out; say epsilon or rho"
            )
        targets = [(r, target if relative_to is None else target * relative_to * _largest(r)) for r in meant]
        count = None if rows is None else rows / (self.compiled.plan.cells or 1)
        if self.compiled.plan.chosen:
            self._failure(Fraction(1))  # or the search would take it for a price that is too small

        def good(amount: float) -> bool:
            try:
                found = self.steps(name, Fraction(amount))
            except (Refused, BadParameter):
                return False
            errors = (accuracy("", r, found, self.beta, count).error for r, _ in targets)
            return all(e is not None and e <= most for e, (_, most) in zip(errors, targets, strict=True))

        least = least_positive(
            good,
            float(self.budget.limit),
            floor=2.0**-40,
            ceiling=2.0**12 * float(self.budget.limit),
            precision=2.0**-10,
        )
        if least == math.inf:
            raise Refused(f"no price within 4096 times {self.budget} makes errors so small; ask for a larger error")
        return self.steps(name, Fraction(f"{least * (1 + 1e-5):.6g}"))
