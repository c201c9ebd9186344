"""A budget: a limit on the privacy loss, in a currency that is fixed on opening (`currency.py` says why).

A budget is a frozen value and keeps no account.  Spending is a `Loss`, and whether a budget admits a further cost is
decided in exact rationals: a tenth ten times spends exactly one, and after that every positive price is refused.

The cost of a loss is rounded up to the budget's grid before it is added to what was spent.  Every number that people
write (decimals, thirds, sevenths) is on the grid, so sums of such numbers are exact; and however long the denominator
of a price, no sum has a longer denominator than the grid.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property

from ..distance import one_relation
from ..errors import BadParameter, BudgetExceeded
from ..exact import GRID, down, outward, shortened
from ..parameters import Number, failure, instance, positive, rational
from .accountants import failures
from .currency import Amount, Currency, Epsilon, RenyiAt, Rho
from .loss import Atom, Loss, zero

Amounts = tuple[Amount, ...]  # failures, and a total in each currency of a budget
SpentSoFar = Loss | Amounts
LEAST_SHARE = Fraction(1, 10_000)  # of a budget: the least price of a question, unless the custodian sets another
_MAX_AMOUNT = Fraction(10**30)
_KINDS = "epsilon (alone, with delta, or with renyi_order) or rho (alone or with delta)"


def _exact_text(x: Fraction) -> str:
    """The number in six digits if these are exact, else the fraction."""
    return _six_digits(x) if Fraction(_six_digits(x)) == x else str(x)


def _six_digits(x: Amount) -> str:
    return f"{float(x):g}"


@dataclass(frozen=True, init=False, repr=False)
class Budget:
    """A limit on what may be spent, in one currency.

    Budget(epsilon=)                 pure loss
    Budget(epsilon=, delta=)         the union filter; `slack` is the part of delta for the tail (by default half), and
                                     `renyi_order` the order of the tail (by default the best for Gaussian noise)
    Budget(rho=) or (rho=, delta=)   zCDP, in which failures may sum to delta
    Budget(epsilon=, renyi_order=)   Renyi divergence of this order

    Store all five fields with what is spent: an order or slack that changed later would not be a filter.
    """

    epsilon: Fraction | None
    rho: Fraction | None
    delta: Fraction
    slack: Fraction
    renyi_order: Fraction | None

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        renyi_order: Number | None = None,
        slack: Number | None = None,
    ) -> None:
        arguments = {"epsilon": epsilon, "rho": rho, "delta": delta, "slack": slack, "renyi_order": renyi_order}
        read = {name: rational(name, value) for name, value in arguments.items() if value is not None}
        alone = ("epsilon" in read) != ("rho" in read) and ("slack" not in read or {"epsilon", "delta"} <= read.keys())
        if not alone or {"rho", "renyi_order"} <= read.keys():
            raise BadParameter(
                "budget",
                " ".join(read) or "nothing",
                f"given by {_KINDS}",
                says=f"A budget takes {_KINDS}; slack goes with epsilon and delta. Got {' and '.join(read) or 'none'}.",
            )
        for name in read.keys() & {"epsilon", "rho"}:
            positive(name, read[name], _MAX_AMOUNT)
        if not 1 < read.get("renyi_order", 2) <= _MAX_AMOUNT:
            raise BadParameter("renyi_order", renyi_order, "above 1 and at most 1e+30")
        whole = read["delta"] = failure("delta", 0 if delta is None else delta)
        tail = read.setdefault("slack", whole / 2 if "epsilon" in read else Fraction(0))
        if not 0 <= tail <= whole:
            raise BadParameter("slack", slack, f"at least 0 and at most delta, which is {_exact_text(whole)}")
        if tail:
            read.setdefault("renyi_order", RenyiAt.best(read["epsilon"], tail).order)
        elif delta is not None and renyi_order is not None:
            raise BadParameter(
                "renyi_order",
                renyi_order,
                "absent",
                says="renyi_order is the order of the tail, and with slack=0 there is no tail. Omit renyi_order.",
            )
        for name in arguments:
            object.__setattr__(self, name, read.get(name))

    @cached_property
    def _terms(self) -> dict[str, str]:
        """The arguments that make an equal budget, as text: those that differ from their default."""
        arguments = {f.name: getattr(self, f.name) for f in fields(self)}
        if not self.epsilon or self.slack == self.delta / 2:
            del arguments["slack"]
        if self.epsilon and self.slack and self.renyi_order == RenyiAt.best(self.epsilon, self.slack).order:
            del arguments["renyi_order"]
        return {name: f"{name}={_exact_text(x)}" for name, x in arguments.items() if x or name == "slack"}

    @property
    def _plain_terms(self) -> list[str]:
        """The arguments without the order of a tail, which an allowance takes from its budget."""
        return [text for name, text in self._terms.items() if name != "renyi_order" or not self.delta]

    def __repr__(self) -> str:
        return f"Budget({', '.join(self._terms.values())})"

    def __str__(self) -> str:
        return f"Budget({', '.join(self._plain_terms)})"

    def allowance_of(self, analyst: str) -> str:
        """The name of this budget where it is an analyst's: the allowance of ana, epsilon=0.2 at delta=1e-10."""
        return f"the allowance of {analyst}, {' at '.join(self._plain_terms)}"

    @property
    def limit(self) -> Fraction:
        """The whole budget, in its currency."""
        return self.epsilon or self.rho or Fraction(0)

    @cached_property
    def failures(self) -> Fraction:
        """The limit on the sum of the failures of atoms."""
        return self.delta - self.slack

    @cached_property
    def sums(self) -> tuple[tuple[Currency, Fraction], ...]:
        """Currencies and their limits; a purchase must keep one of the limits."""
        if self.rho:
            return ((Rho(), self.rho),)
        if not self.renyi_order:
            return ((Epsilon(), self.limit),)
        renyi = RenyiAt(self.renyi_order)
        if not self.delta:
            return ((renyi, self.limit),)
        room = self.limit + renyi.room(self.slack)
        return (Epsilon(), self.limit), *([(renyi, room)] if room > 0 else [])

    @cached_property
    def grid(self) -> int:
        """The grid: all amounts and limits are multiples of 1 / grid, so that a limit can be spent to the last."""
        return math.lcm(GRID, self.failures.denominator, *(limit.denominator for _, limit in self.sums))

    def amounts(self, loss: SpentSoFar) -> Amounts:
        """The amounts that admission sums: the failures, and the total in each currency.

        The atoms of one loss are added exactly and their total is rounded up to the grid, so that a price divided among
        many measures costs the price that was divided.
        """
        if isinstance(loss, tuple):
            return loss
        terms = instance("loss", loss, Loss).terms.items()
        return self._amounts(terms) if terms else self._nothing

    @cached_property
    def _nothing(self) -> Amounts:
        """The amounts of no loss at all."""
        return self._amounts(())

    def _amounts(self, terms: Collection[tuple[Atom, int]]) -> Amounts:
        failing = self._total([n * atom.failure() for atom, n in terms])
        totals = [self._total([n * currency.of(atom) for atom, n in terms], currency) for currency, _ in self.sums]
        return min(failing, Fraction(1)), *totals

    def _total(self, parts: list[Amount], currency: Currency | None = None) -> Amount:
        """The sum of the parts of one loss, rounded up to the grid where it is a fraction."""
        if not parts:
            return Fraction(0) if currency is None else currency.nothing
        total = parts[0]
        for part in parts[1:]:
            total = total + part
            total = shortened(total, self.grid) if isinstance(total, Fraction) else total
        return outward(total, self.grid) if isinstance(total, Fraction) else total

    def used(self, amounts: Amounts) -> Amount:
        """The part of the limit that these amounts use: with two currencies, the lesser share.

        Failures beyond their own limit use up everything.
        """
        failing, *totals = amounts
        if failing > self.failures:
            return math.inf
        if len(totals) == len(self.sums) == 1 and isinstance(totals[0], Fraction):
            return totals[0]  # as whose share of the limit, times the limit, it is
        return min(self.limit * total / limit for total, (_, limit) in zip(totals, self.sums, strict=True))

    def spent(self, loss: SpentSoFar) -> Amount:
        """The part of the limit that `loss` uses."""
        return self.used(self.amounts(loss))

    def remaining(self, spent: SpentSoFar) -> Amount:
        """The part of the limit that is left."""
        return max(Fraction(0), self.limit - self.spent(spent))

    def price(self, cost: Loss, spent: SpentSoFar = zero) -> Amount:
        """The part of the limit that `cost` uses on top of `spent`."""
        after = self._after(spent, cost)
        return after - self.spent(spent) if after < math.inf else math.inf

    def _after(self, spent: SpentSoFar, cost: Loss) -> Amount:
        """The part of the limit that `spent` and `cost` use together, each rounded up by itself."""
        return self.used(tuple(a + b for a, b in zip(self.amounts(spent), self.amounts(cost), strict=True)))

    def admits(self, spent: Loss, cost: Loss) -> bool:
        """Whether the budget admits `cost` on top of `spent`."""
        one_relation(spent.relation, instance("cost", cost, Loss).relation)
        return self._after(spent, cost) <= self.limit

    def repeats(self, cost: Loss, spent: SpentSoFar = zero) -> int:
        """How many times over, one charge after the other, the budget admits `cost` on top of `spent`."""
        limits = self.failures, *(limit for _, limit in self.sums)
        rooms = [limit - before for limit, before in zip(limits, self.amounts(spent), strict=True)]
        failing, *totals = (
            0 if room < 0 else room // each if each else math.inf
            for room, each in zip(rooms, self.amounts(cost), strict=True)
        )
        if (times := min(failing, max(totals))) == math.inf:
            raise BadParameter("cost", cost, "a loss that takes something of the budget")
        return int(times)

    def charge(self, spent: Loss, cost: Loss) -> Loss:
        """Pay `cost`: the loss spent afterwards, or `BudgetExceeded`."""
        if not self.admits(spent, cost):
            raise BudgetExceeded(self, spent, cost)
        return spent + cost

    def guarantee(self, delta: Number = 0) -> tuple[Amount, Fraction]:
        """The (epsilon, delta) of all that this budget can buy; in zCDP and Renyi there is one for each delta."""
        at = failure("delta", delta)
        ((currency, limit), *rest) = self.sums
        if rest or isinstance(currency, Epsilon):
            return self.limit, self.delta
        tail = down(at - self.failures)
        return (currency.proves(limit, tail) if tail > 0 else math.inf), at

    def refusal(self, spent: SpentSoFar, cost: Loss, analyst: str = "") -> str:
        """Why the budget does not admit `cost` on top of `spent`, and what to do; it states public facts only."""
        this = f"The {self.allowance_of(analyst).removeprefix('the ')}," if analyst else str(self)
        names = " or ".join(currency.name for currency, _ in self.sums)
        for atom in cost.terms:
            if all(currency.of(atom) == math.inf for currency, _ in self.sums):
                return f"{this} is in {names}, of which {atom} has no finite amount. Use another mechanism or budget."
        failing, room = failures(cost), self.failures - self.amounts(spent)[0]
        if failing > room:
            advice = "Ask with a smaller delta=, or use another mechanism."
            return f"{this} has {_six_digits(room)} of delta left, and this costs {_six_digits(failing)}. {advice}"
        used, left, price = self.spent(spent), self.remaining(spent), self.price(cost, spent)
        advice = "Ask for less." if left > 0 else "Answers bought before stay free."
        amounts = f"has spent {_six_digits(used)}, and {_six_digits(left)} is left, but this costs {_six_digits(price)}"
        return f"{this} {amounts}. {advice}"
