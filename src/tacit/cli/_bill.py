"""What a question costs and what is left after it: of the budget, or of the allowance of who asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..core.accounting.budget import Amounts, Budget
from ..core.accounting.currency import Amount
from ..core.accounting.loss import Loss
from ..core.parameters import rational
from ..query.plan.offer import surcharge

if TYPE_CHECKING:
    from ..curator import Curator
    from ..query.relation.relation import Relation

Account = tuple[Budget, list[Amounts]]  # with what is spent of it on each part where a question looks


@dataclass(frozen=True)
class Bill:
    """What was paid, nothing where it was asked before, and what is left."""

    paid: float
    left: float
    analyst: str | None  # whose allowance is told of, where that has less than the budget
    budget: Budget | None  # none where who asks may spend nothing
    more: str = ""  # than which number was typed, where that is less than was paid

    def __str__(self) -> str:
        told = f"Paid {self.paid:.6g}" if self.paid else "Free: it was asked before"
        told += f", more than the {self.more} that was asked for" if self.more else ""
        of = str(self.budget)
        if self.analyst is not None:
            nothing = f"what {self.analyst} may spend, who has no allowance"
            of = f"{nothing if self.budget is None else self.budget.allowance_of(self.analyst)},"
        anew = "" if self.paid else " If the table has changed since, give its schema a new version."
        return f"{told}; {self.left:.6g} of {of} is left.{anew}"

    def facts(self) -> dict[str, float | str | None]:
        """For JSON."""
        budget = None if self.budget is None else str(self.budget)
        return {"paid": self.paid, "left": self.left, "analyst": self.analyst, "budget": budget}


def accounts(curator: Curator, relation: Relation) -> list[Account]:
    """What a question about these rows is paid from: the budget, and an allowance if there is one."""
    return curator.ledger.accounts(curator.analyst, curator.parts(relation))


def cost(account: Account, loss: Loss) -> Amount:
    """What a loss takes of an account."""
    budget, spent = account
    return max(budget.price(loss, before) for before in spent)


class Till:
    """The accounts as they are before a purchase, from which its bill is made."""

    def __init__(self, curator: Curator, relation: Relation) -> None:
        curator.read_tables()  # those that have changed are looked at as a whole
        self.curator, self.before, self.head = curator, accounts(curator, relation), curator.ledger.head()

    def bill(self, entry: int | None = None, **price: str | None) -> Bill:
        """What whoever asks was charged since, or with this entry of the ledger if it is since; the price was typed."""
        from ..ledger import Charge

        ledger, analyst = self.curator.ledger, self.curator.analyst
        since = (Charge.read(entry) for entry in ledger.entries(self.head.seq) if entry.kind == "charge")
        loss = next((c.loss for c in since if c.analyst == analyst and entry in (None, c.seq)), None)
        if not ledger.sells_to(analyst):
            return Bill(0.0, 0.0, analyst, None)
        now = [min(map(budget.remaining, spent)) for budget, spent in ledger.accounts(analyst)]
        accounts = zip(now, self.before, (None, analyst), strict=False)  # an allowance may be new
        left, account, who = min(accounts, key=lambda found: found[0])
        paid: Amount = 0 if loss is None else cost(account, loss)
        typed = ((name, rational(name, text)) for name, text in price.items() if text is not None)
        more = next((f"{name} = {price[name]}" for name, x in typed if surcharge(account[0], paid, (name, x))), "")
        return Bill(float(paid), float(left), who, account[0], more)
