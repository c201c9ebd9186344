"""A budget: what may be spent, in a currency fixed on opening (`currency.py` says why these are the currencies).

A budget is a frozen value and keeps no account.  What is spent is a `Loss`; whether a cost may follow it is a
question of exact rationals, so a tenth ten times spends exactly one, and after that every positive price is refused.

What a loss costs is rounded up to the budget's grid before it is added to what was spent: all that people write
(decimals, thirds, sevenths) is on it, so their sums are exact, and no price, however long its denominator, makes a sum
longer than the grid is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property

from ..distance import one_relation
from ..errors import BadParameter, BudgetExceeded
from ..exact import GRID, down, outward, shortened
from ..parameters import Number, failure, instance, positive, rational
from .accountants import failures
from .currency import Amount, Currency, Epsilon, RenyiAt, Rho
from .loss import Loss, zero

Amounts = tuple[Amount, ...]  # failures, and a total in each currency of a budget
Spent = Loss | Amounts
LEAST_SHARE = Fraction(1, 10_000)  # of a budget: what a question takes at least, unless its custodian says otherwise
_WIDEST = Fraction(10**30)
_KINDS = "epsilon, with delta (and then slack, renyi_order) or with renyi_order alone; or rho, with or without delta"


def _shown(x: Fraction) -> str:
    """Six digits if those are exact, else the fraction."""
    return _near(x) if Fraction(_near(x)) == x else str(x)


def _near(x: Amount) -> str:
    return f"{float(x):g}"


@dataclass(frozen=True, init=False, repr=False)
class Budget:
    """What may be spent, and in which currency.

    Budget(epsilon=)                 pure loss
    Budget(epsilon=, delta=)         the union filter; `slack` of delta is for the tail, half of it unless told, and
                                     `renyi_order` is the order of the tail, the best for Gaussian noise unless told
    Budget(rho=) or (rho=, delta=)   zCDP, in which failures may sum to delta
    Budget(epsilon=, renyi_order=)   Renyi divergence of this order

    All five fields are to be kept with what is spent: an order or slack that changed later would not be a filter.
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
        given = {"epsilon": epsilon, "rho": rho, "delta": delta, "slack": slack, "renyi_order": renyi_order}
        read = {name: rational(name, value) for name, value in given.items() if value is not None}
        alone = ("epsilon" in read) != ("rho" in read) and ("slack" not in read or {"epsilon", "delta"} <= read.keys())
        if not alone or {"rho", "renyi_order"} <= read.keys():
            raise BadParameter("budget", " ".join(read) or "nothing", f"given by {_KINDS}")
        for name in read.keys() & {"epsilon", "rho"}:
            positive(name, read[name], _WIDEST)
        if not 1 < read.get("renyi_order", 2) <= _WIDEST:
            raise BadParameter("renyi_order", renyi_order, "above 1 and at most 1e+30")
        whole = read["delta"] = failure("delta", 0 if delta is None else delta)
        tail = read.setdefault("slack", whole / 2 if "epsilon" in read else Fraction(0))
        if not 0 <= tail <= whole:
            raise BadParameter("slack", slack, f"at least 0 and at most delta, which is {_shown(whole)}")
        if tail:
            read.setdefault("renyi_order", RenyiAt.best(read["epsilon"], tail).order)
        elif delta is not None and renyi_order is not None:
            raise BadParameter("renyi_order", renyi_order, "left out where there is no slack, and so no tail")
        for name in given:
            object.__setattr__(self, name, read.get(name))

    @property
    def _terms(self) -> dict[str, str]:
        """What must be said to make it again."""
        known = {f.name: getattr(self, f.name) for f in fields(self)}
        if not self.epsilon or self.slack == self.delta / 2:
            del known["slack"]
        if self.epsilon and self.slack and self.renyi_order == RenyiAt.best(self.epsilon, self.slack).order:
            del known["renyi_order"]
        return {name: f"{name}={_shown(x)}" for name, x in known.items() if x or name == "slack"}

    @property
    def _plain_terms(self) -> list[str]:
        """Without the order of a tail: an allowance has that of the budget, and nobody gave it."""
        return [text for name, text in self._terms.items() if name != "renyi_order" or not self.delta]

    def __repr__(self) -> str:
        return f"Budget({', '.join(self._terms.values())})"

    def __str__(self) -> str:
        return f"Budget({', '.join(self._plain_terms)})"

    def allowance_of(self, analyst: str) -> str:
        """What it is called where it is an analyst's: the allowance of ana, epsilon=0.2 at delta=1e-10."""
        return f"the allowance of {analyst}, {' at '.join(self._plain_terms)}"

    @property
    def limit(self) -> Fraction:
        """The whole, in its currency."""
        return self.epsilon or self.rho or Fraction(0)

    @property
    def failures(self) -> Fraction:
        """What the failures of atoms may sum to."""
        return self.delta - self.slack

    @cached_property
    def sums(self) -> tuple[tuple[Currency, Fraction], ...]:
        """Currencies and their limits: one of them must be kept."""
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
        """All amounts are multiples of 1 / grid; the limits are, too, so that they can be spent to the last."""
        return math.lcm(GRID, self.failures.denominator, *(limit.denominator for _, limit in self.sums))

    def amounts(self, loss: Spent) -> Amounts:
        """What is to be summed, which is all that admission looks at: the failures, and the total in each currency.

        The atoms of one loss are added exactly, and their total is rounded up to the grid: a price that was divided
        among many measures costs what was divided.
        """
        if isinstance(loss, tuple):
            return loss
        terms = instance("loss", loss, Loss).terms.items()
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
        """What sums of `amounts` use of the limit: with two currencies, the lesser share.  Failures may cost all."""
        failing, *totals = amounts
        if failing > self.failures:
            return math.inf
        return min(self.limit * total / limit for total, (_, limit) in zip(totals, self.sums, strict=True))

    def spent(self, loss: Spent) -> Amount:
        """What `loss` uses of the limit."""
        return self.used(self.amounts(loss))

    def remaining(self, spent: Spent) -> Amount:
        """What is left of the limit."""
        return max(Fraction(0), self.limit - self.spent(spent))

    def price(self, cost: Loss, spent: Spent = zero) -> Amount:
        """What `cost` adds to `spent`."""
        after = self._after(spent, cost)
        return after - self.spent(spent) if after < math.inf else math.inf

    def _after(self, spent: Spent, cost: Loss) -> Amount:
        """What is used of the limit once `cost` follows `spent`, each of them rounded up by itself."""
        return self.used(tuple(a + b for a, b in zip(self.amounts(spent), self.amounts(cost), strict=True)))

    def admits(self, spent: Loss, cost: Loss) -> bool:
        """Whether `cost` may follow `spent`."""
        one_relation(spent.relation, instance("cost", cost, Loss).relation)
        return self._after(spent, cost) <= self.limit

    def charge(self, spent: Loss, cost: Loss) -> Loss:
        """What is spent once `cost` is paid."""
        if not self.admits(spent, cost):
            raise BudgetExceeded(self, spent, cost)
        return spent + cost

    def guarantee(self, delta: Number = 0) -> tuple[Amount, Fraction]:
        """The (epsilon, delta) of all that this budget can buy.  In zCDP and Renyi there is one for each delta."""
        at = failure("delta", delta)
        ((currency, limit), *rest) = self.sums
        if rest or isinstance(currency, Epsilon):
            return self.limit, self.delta
        tail = down(at - self.failures)
        return (currency.proves(limit, tail) if tail > 0 else math.inf), at

    def refusal(self, spent: Spent, cost: Loss, analyst: str = "") -> str:
        """Why `cost` may not follow `spent`, and what to do; of public facts only."""
        this = f"{self.allowance_of(analyst)}," if analyst else str(self)
        names = " or ".join(currency.name for currency, _ in self.sums)
        for atom in cost.terms:
            if all(currency.of(atom) == math.inf for currency, _ in self.sums):
                return f"{this} is in {names}, of which {atom} has no finite amount; use another mechanism or budget"
        failing, room = failures(cost), self.failures - self.amounts(spent)[0]
        if failing > room:
            less = "ask with a smaller delta=, or use another mechanism"
            return f"{this} has {_near(room)} of delta left, and this costs {_near(failing)}; {less}"
        used, left, price = self.spent(spent), self.remaining(spent), self.price(cost, spent)
        advice = "ask for less" if left > 0 else "what was bought before stays free"
        return f"{this} has spent {_near(used)}, and {_near(left)} is left, but this costs {_near(price)}; {advice}"
