r"""Buying: the mechanisms of least error for an amount of a budget, for a guarantee, or for an error.

A price is divided equally among the measures of a question, exactly; the private selection of keys is one more.

An amount of a budget with two sums is spent in the one that buys the smaller errors.  A guarantee (epsilon, delta) is
met in two ways, of which the better is taken: noise for epsilon alone; or mechanisms of a common rho, the largest at
which the epsilon at delta of their composed loss is at most that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce

from ...core.accounting.atoms import GaussianNoise
from ...core.accounting.best_bound import proves
from ...core.accounting.budget import Budget, SpentSoFar
from ...core.accounting.currency import Amount, Currency, Epsilon, RenyiAt, Rho
from ...core.accounting.loss import Loss
from ...core.errors import BadParameter, BadQuestion, Refused
from ...core.exact import inward
from ...core.parameters import probability
from ...core.search import greatest_positive, least_positive
from ...mechanisms import Gaussian, KeySelection
from ..values.nodes import Column
from .accuracy import accuracy
from .calibration import Need, Step, mechanisms, needs, pure, steps, tidy
from .compiler import Compiled
from .estimators import Recipe

Family = tuple[Currency, Fraction, Fraction]  # a currency, an amount of it, and its share of the budget
COMPOSED = 6  # different mechanisms whose losses are composed exactly to find a price: more would take seconds
_ADDITIVE = ("count", "units", "distinct", "sum")
_QUOTIENTS = ("mean", "variance", "deviation")


def sells_gaussian(budget: Budget) -> bool:
    """Whether a budget has a currency in which Gaussian noise has a price."""
    return any(not isinstance(currency, Epsilon) for currency, _ in budget.sums)


def quotients(compiled: Compiled) -> list[Recipe]:
    """The means, variances and deviations of plain columns, in a question without counts, sums and private keys."""
    recipes, plan = [recipe for _, recipe in compiled.recipes], compiled.plan
    if plan.chosen or any(recipe.kind in _ADDITIVE for recipe in recipes):
        return []
    return [r for r in recipes if r.kind in _QUOTIENTS and isinstance(plan.measures[r.parts[0]].expression, Column)]


def _largest(recipe: Recipe) -> Fraction:
    """The most that one row can add to a count or a sum."""
    return Fraction(1) if recipe.kind != "sum" else recipe.own * max(-recipe.domain.lower, recipe.domain.upper)


def loss_of(bought: Sequence[Step]) -> Loss:
    """The privacy loss of all steps together."""
    return reduce(Loss.__add__, (step.mechanism.loss() for step in bought))


def _room(c: Currency, budget: Budget, spent: Sequence[SpentSoFar], amount: Fraction) -> Amount:
    """The amount of a currency that can be spent without spending more than `amount` of a budget."""
    places = [i for i, (known, _) in enumerate(budget.sums) if known == c or type(known) is type(c) is not RenyiAt]
    if not places:
        return Fraction(0)
    limit, rooms = budget.sums[places[0]][1], list[Amount]()
    for amounts in map(budget.amounts, spent):
        used, total = budget.used(amounts), amounts[1 + places[0]]
        if math.inf in (used, total):
            rooms.append(Fraction(0))
        else:  # of a single sum, what is used is the total
            room = (used + amount) / budget.limit * limit - total if len(budget.sums) > 1 else amount
            rooms.append(room if room == math.inf else inward(Fraction(room), budget.grid))  # as a price is rounded up
    return min(rooms)


def _pure_room(budget: Budget, spent: Sequence[SpentSoFar], amount: Fraction) -> Fraction:
    """The largest epsilon that costs no more than the amount: parts of it cost no more than the whole does."""
    rooms = [(c, Fraction(_room(c, budget, spent, amount))) for c, _ in budget.sums]
    return max(((pure(c, room) or Fraction(0)) for c, room in rooms if room > 0), default=Fraction(0))


def _objective(bought: list[Step]) -> float:
    """The quantity to minimise: the logarithm of the product of 1 + error over all measures."""
    return math.fsum(math.log1p(min(step.errors)) for step in bought)


def _zcdp(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest rho that is (epsilon, delta)-private by zCDP alone, whatever the noise is."""
    from ...composition import rho_for

    return Fraction(rho_for(epsilon, delta))


def _gaussian_gain(epsilon: Fraction, delta: Fraction, least: Fraction) -> float:
    """About how many times `least` the rho may be at which continuous Gaussian noise is (epsilon, delta)-private."""
    e, d = float(epsilon), float(delta)

    def private(times: float) -> bool:
        return GaussianNoise(2 * Fraction(times) * least).profile(e) <= d

    return greatest_positive(private, floor=0.5, ceiling=2.0**60, precision=2.0**-12)


@lru_cache(maxsize=256)  # many questions are asked at one price
def _largest_rho(
    wanted: tuple[Need, ...], epsilon: Fraction, delta: Fraction, failing: Fraction, beta: Fraction
) -> Fraction | None:
    """The largest rho at which the best mechanisms are together (epsilon, delta)-private; None if none can be drawn."""
    least = _zcdp(epsilon, delta - failing)
    if least <= 0:
        return None

    def within(times: float) -> bool:
        try:
            bought = mechanisms(wanted, Rho(), tidy(Fraction(times) * least), failing)
        except (Refused, BadParameter):
            return False
        return proves(loss_of([Step(None, tried, beta) for tried in bought]), epsilon, delta)

    near: float | None = _gaussian_gain(epsilon, delta - failing, least)
    if not _normal(wanted, 2 * Fraction(near or 0) * least, failing, beta):
        near = None
    most = greatest_positive(within, floor=0.5, ceiling=2.0**60, precision=2.0**-9, near=near)
    return tidy(Fraction(most) * least) if most else None


def _normal(wanted: tuple[Need, ...], rho: Fraction, failing: Fraction, beta: Fraction) -> bool:
    """Whether Gaussian noise is the best for every need at this rho, and so at any that is less."""
    try:
        bought = [Step(None, tried, beta).mechanism for tried in mechanisms(wanted, Rho(), tidy(rho), failing)]
    except (Refused, BadParameter):
        return False
    return all(isinstance(each.noise if isinstance(each, KeySelection) else each, Gaussian) for each in bought)


@dataclass(frozen=True)
class Buyer:
    """A question, the budgets that pay for it, and its probabilities beta and delta."""

    compiled: Compiled
    budget: Budget
    spent: Sequence[SpentSoFar]
    allowance: tuple[Budget, Sequence[SpentSoFar]] | None
    beta: Fraction
    delta: Fraction | None

    def families(self, name: str, amount: Fraction) -> list[Family]:
        """The currencies in which an amount of the budget, or a rho, can be spent, and how much of each that is.

        Of a budget with two sums the lesser share counts as spent.  So a sum may be filled up to that share and the
        amount together: whatever was bought before, no question costs more than was asked.
        """
        b = self.budget
        if b.rho:
            return [(Rho(), amount, amount / b.rho)]
        if name == "rho":
            renyi = [(c, c.order * amount, c.order * amount / limit) for c, limit in b.sums if isinstance(c, RenyiAt)]
            if not renyi:
                raise Refused(f"{b} is in pure epsilon, which Gaussian noise does not have. Ask with epsilon or share.")
            return [*renyi]
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
            nothing = f"After earlier purchases nothing so cheap is left in {self.budget}. Ask with a larger price."
            raise refused or Refused(nothing)
        return min(offers, key=_objective) if len(offers) > 1 else offers[0]

    def guaranteed(self, epsilon: Fraction) -> list[Step]:
        """The best mechanisms for which the release alone is epsilon- or (epsilon, delta)-private, whatever it costs.

        The selection of keys may use all of delta beside pure noise, and half of it beside Gaussian noise.
        """
        chosen, delta = self.compiled.plan.chosen, self.delta
        if chosen:
            self._failure(Fraction(1))  # refuses where no delta is sold
            if delta is None:
                raise BadQuestion(
                    "Keys that are selected privately have no pure epsilon. Add a delta, such as delta=1e-9, and the"
                    " release is (epsilon, delta)-differentially private; or ask by share, or list the values of the"
                    " key in the schema."
                )
        offers, refused = list[list[Step]](), None
        try:
            offers.append(steps(self.compiled, Epsilon(), epsilon, delta, self.beta))
        except Refused as refusal:
            refused = refusal
        if delta is not None and sells_gaussian(self.budget):
            offers += self._concentrated(epsilon, delta, delta / 2 if chosen else None)
        if not offers:
            raise refused or Refused("No noise can be drawn at this price. Ask with another.")
        return min(offers, key=_objective) if len(offers) > 1 else offers[0]

    def _concentrated(self, epsilon: Fraction, delta: Fraction, failing: Fraction | None) -> list[list[Step]]:
        """The steps of the largest rho for which the release is (epsilon, delta)-private, if any can be drawn.

        For many different measures, whose exact composition would take long, the largest rho by zCDP alone.
        """
        if len(set(self.compiled.moves)) > COMPOSED:
            rho: Fraction | None = tidy(_zcdp(epsilon, delta - (failing or 0)))
        else:
            rho = _largest_rho(needs(self.compiled), epsilon, delta, failing or Fraction(0), self.beta)
        try:
            return [] if rho is None else [steps(self.compiled, Rho(), rho, failing, self.beta)]
        except Refused:
            return []

    def _failure(self, share: Fraction) -> Fraction:
        """The delta for selecting keys: of the failures of budget and allowance the share that is spent, the lesser."""
        accounts = [self.budget, *([self.allowance[0]] if self.allowance else [])]
        rooms = [b.failures * min(share * self.budget.limit / b.limit, Fraction(1)) for b in accounts]
        if not all(rooms):
            raise BadQuestion(
                "Keys that are selected privately need a delta. Open a budget with a delta, and an allowance within it,"
                " or list the values of the key in the schema."
            )
        return probability("delta", min(rooms) if self.delta is None else self.delta)

    def cheapest(
        self, target: Fraction, relative_to: int | None, rows: int | None, least: Fraction
    ) -> tuple[list[Step], bool]:
        """The steps of least price with every error within the target, and whether the price was raised to `least`.

        With `relative_to`, the target is a share of that many rows, or of the most that so many rows can add to a sum.
        In a question without counts and sums it is the target of means and the like, if the number of `rows` is public.
        """
        targeted = [recipe for _, recipe in self.compiled.recipes if recipe.kind in _ADDITIVE]
        if not targeted and rows is not None and relative_to is None:
            targeted = quotients(self.compiled)
        if not targeted:
            raise BadQuestion(
                "An error can be asked for counts and sums, or for means of columns alone if the schema has a size and"
                " no condition leaves rows out. Ask with epsilon or rho."
            )
        targets = [(r, target if relative_to is None else target * relative_to * _largest(r)) for r in targeted]
        count = None if rows is None else rows / (self.compiled.plan.cells or 1)
        if self.compiled.plan.chosen:
            self._failure(Fraction(1))  # or the search would take it for a price that is too small

        def good(amount: float) -> bool:
            try:
                bought = self.steps("amount", Fraction(amount))
            except (Refused, BadParameter):
                return False
            errors = (accuracy("", r, bought, self.beta, count).error for r, _ in targets)
            return all(e is not None and e <= most for e, (_, most) in zip(errors, targets, strict=True))

        if least and good(float(least)):
            return self.steps("amount", least), True
        price = least_positive(
            good,
            float(self.budget.limit),
            floor=2.0**-40,
            ceiling=2.0**12 * float(self.budget.limit),
            precision=2.0**-10,
        )
        if price == math.inf:
            raise Refused(f"No price within 4096 times {self.budget} makes errors so small. Ask for a larger error.")
        return self.steps("amount", Fraction(f"{price * (1 + 1e-5):.6g}")), False
