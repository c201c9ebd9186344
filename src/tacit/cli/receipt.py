"""What a purchase cost and what is left after it: of the budget, or of the analyst's allowance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..core.accounting.budget import Amounts, Budget
from ..core.accounting.currency import Amount
from ..core.accounting.loss import Loss
from ..core.parameters import rational
from ..query.plan.offer import surcharge

if TYPE_CHECKING:
    from ..client import RemoteCurator
    from ..curator import Curator
    from ..query.relation.relation import Relation

Account = tuple[Budget, list[Amounts]]  # a budget, and what is spent of it on each part that a question reads


@dataclass(frozen=True)
class Receipt:
    """What was paid, which is nothing for a question that was asked before, and what is left."""

    paid: float
    left: float
    analyst: str | None  # whose allowance `left` is of; None where the whole budget has less left
    budget: Budget | None  # None where the analyst may spend nothing
    exceeded: str = ""  # the price that was typed, as "epsilon = 0.1", where more than that was paid

    def __str__(self) -> str:
        paid = f"Paid {self.paid:.6g}" if self.paid else "Free: it was asked before"
        more = f", more than the {self.exceeded} that was asked for" if self.exceeded else ""
        account = str(self.budget)
        if self.analyst is not None:
            nothing = f"what {self.analyst} may spend, who has no allowance"
            account = f"{nothing if self.budget is None else self.budget.allowance_of(self.analyst)},"
        anew = "" if self.paid else " If the table has changed since, give its schema a new version."
        return f"{paid}{more}; {self.left:.6g} of {account} is left.{anew}"

    def facts(self) -> dict[str, float | str | None]:
        """The receipt as JSON values."""
        budget = None if self.budget is None else str(self.budget)
        return {"paid": self.paid, "left": self.left, "analyst": self.analyst, "budget": budget}


def cost(account: Account, loss: Loss) -> Amount:
    """What a loss takes of an account."""
    budget, spent = account
    return max(budget.price(loss, before) for before in spent)


class PendingReceipt:
    """Remembers the accounts before a purchase, and writes its receipt afterwards."""

    def __init__(self, curator: Curator | RemoteCurator, relation: Relation, *, reads: bool = True) -> None:
        if reads:
            curator.read_tables()  # a table that has changed is looked at as a whole
        self.curator, self.before, self.newest = curator, curator.accounts(relation), curator.newest

    def receipt(self, entry: int | None = None, **typed: str | None) -> Receipt:
        """The receipt of the charge since then, or of this ledger entry; `typed` is the price that was asked for."""
        curator, analyst = self.curator, self.curator.analyst
        since = curator.charges_since(self.newest)
        loss = next((c.loss for c in since if c.analyst == analyst and entry in (None, c.seq)), None)
        if not curator.sells:
            return Receipt(0.0, 0.0, analyst, None)
        remaining = [min(map(budget.remaining, spent)) for budget, spent in curator.accounts()]
        tightest = zip(remaining, self.before, (None, analyst), strict=False)  # an allowance may be new
        left, account, who = min(tightest, key=lambda each: each[0])
        paid: Amount = 0 if loss is None else cost(account, loss)
        prices = ((name, rational(name, text)) for name, text in typed.items() if text is not None)
        exceeded = (f"{name} = {typed[name]}" for name, x in prices if surcharge(account[0], paid, (name, x)))
        return Receipt(float(paid), float(left), who, account[0], next(exceeded, ""))
