"""The purse of a purchase: the budgets that it is paid from, what it takes of them, and what a share of them buys."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..core.accounting.budget import LEAST_SHARE, Budget, SpentSoFar
from ..core.accounting.currency import Amount, Epsilon, RenyiAt
from ..core.accounting.loss import Loss
from ..core.errors import BudgetExceeded, Refused
from ..core.parameters import Number, positive
from ..query.plan.calibration import pure, tidy
from ..query.plan.offer import check_least, checked_share, surcharge

_PACKAGE = f"{__name__.partition('.')[0]}."


class TakesMore(UserWarning):
    """A warning that a purchase without an offer takes more of the budget than the number that was typed."""


def _outside() -> int:
    """The stack level, for the caller, of the first frame outside this package: the line that a warning is about."""
    level, frame = 0, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    return level + 1


@dataclass(frozen=True)
class Purse:
    """A budget, and perhaps an allowance within it, each with what is spent of it on every part touched."""

    accounts: Sequence[tuple[Budget, Sequence[SpentSoFar]]]
    least_share: Fraction = LEAST_SHARE

    @property
    def budget(self) -> Budget:
        """The budget of the ledger."""
        return self.accounts[0][0]

    def takes(self, loss: Loss) -> Amount:
        """What a purchase takes of the budget, on the part where it takes most."""
        budget, spent = self.accounts[0]
        return max(budget.price(loss, before) for before in spent)

    def affords(self, loss: Loss, share: Fraction) -> bool:
        """Whether a purchase takes at most this share of the budget, both of the budget and of an allowance."""
        most = share * self.budget.limit
        return all(budget.price(loss, before) <= most for budget, spent in self.accounts for before in spent)

    def ways(self, share: Number) -> list[tuple[Fraction | None, Fraction | None]]:
        """Pairs (None, rho) and then (epsilon, None), large ones first, that take this share of an unspent budget."""
        part, epsilons, rhos = checked_share(share, self.least_share), set[Fraction](), list[Fraction]()
        for currency, limit in self.budget.sums:
            amount = part * limit
            if not isinstance(currency, Epsilon):
                rhos.append(tidy(amount / currency.order) if isinstance(currency, RenyiAt) else amount)
            if epsilon := pure(currency, amount):
                epsilons.add(epsilon)
        return [*((None, rho) for rho in rhos), *((epsilon, None) for epsilon in sorted(epsilons, reverse=True))]

    def check(self, loss: Loss, typed: tuple[str, Number]) -> None:
        """Refuse what costs less than the least price of a question; a share was checked when it was read.

        What no amount of the budget pays for, such as Gaussian noise in a budget of pure epsilon, raises
        `BudgetExceeded`.
        """
        name, number = typed
        if (price := self.takes(loss)) == math.inf:
            budget, spent = self.accounts[0]
            raise BudgetExceeded(budget, next(b for b in spent if budget.price(loss, b) == math.inf), loss)
        if name != "share":
            check_least(self.budget, price, self.least_share, (name, positive(name, number)))

    def surcharge(self, loss: Loss, typed: tuple[str, Number]) -> str:
        """A clause that says so where a purchase takes more of the budget than the number that was typed; else ""."""
        name, number = typed
        return surcharge(self.budget, self.takes(loss), (name, positive(name, number)))

    def warn(self, loss: Loss, typed: tuple[str, Number]) -> None:
        """Warn where a purchase without an offer takes more of the budget than the number that was typed."""
        if more := self.surcharge(loss, typed):
            warnings.warn(f"This purchase {more.removeprefix('it ')}.", TakesMore, stacklevel=_outside())

    def nothing(self, share: Number) -> Refused:
        """The refusal of a share for which, after what was bought before, nothing can be had."""
        return Refused(f"After what was bought before, {self.budget} sells nothing for share={share}. Offer more.")
