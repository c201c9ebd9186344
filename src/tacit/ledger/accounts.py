"""Accounts: what is spent of the budget and of each allowance, on all of the data and on each part.

Parts are public and disjoint, so a unit is in one at most, and answers on several parts cost the most that any part
pays (parallel composition: McSherry 2009).  Of an account we keep a sum for the charges on all of the data, under the
name "", and one for each part that was named.  On part p there is spent

    spent(p) = sum("") + sum(p),

and a cost is admitted if at every part that it touches the budget admits it after spent(p).  A cost on all of the data
touches every part: those that were named, and one that stands for all that never were.  Each part is judged by itself,
never by a mixture of maxima, as with two currencies one part may keep the one and another part the other.

Where neighbours differ by a substitution, a unit may leave one part for another and be paid for in both, so there only
charges on all of the data are taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..core.accounting.budget import Amounts, Budget
from ..core.accounting.loss import Loss, zero
from ..core.distance import SUBSTITUTE, Neighbours, one_relation
from ..core.errors import BadParameter, LedgerCorrupt, NoAllowance
from ..storage import stored_name
from .encoding import canonical, write_amounts
from .names import skeleton

ALL = ""  # of the parts; among the accounts, the one of the data set itself


class Overdrawn(Exception):
    """The budget of `account` does not admit a charge on `part`."""

    def __init__(self, account: str, budget: Budget, part: str) -> None:
        self.account, self.budget, self.part = account, budget, part


def plus(a: Amounts, b: Amounts) -> Amounts:
    """The sum of two amounts in the same currencies."""
    try:
        return tuple(x + y for x, y in zip(a, b, strict=True))
    except (TypeError, ValueError):
        raise LedgerCorrupt(0, "a total is not in the currencies of its budget") from None


@dataclass
class Accounts:
    """Sums of amounts by account and part."""

    budget: Budget
    only_allowed: bool | None = None  # None: as soon as anybody has an allowance
    some_allowed: bool = False  # whether anybody has
    exactly: bool = False  # whether an account is for one spelling of a name alone, as in earlier versions
    allowances: dict[str, Budget] = field(default_factory=dict)
    sums: dict[str, dict[str, Amounts]] = field(default_factory=dict)
    relation: str | None = None
    changed: set[tuple[str, str]] = field(default_factory=set)  # account and part of sums changed since last emptied

    def budgets(self, analyst: str, loss: Loss) -> dict[str, Budget]:
        """The budgets that a charge is paid from, by account; a charge that costs nothing needs no allowance."""
        own = {account: b for account, b in self.allowances.items() if self._is(account, analyst)}
        closed = self.some_allowed if self.only_allowed is None else self.only_allowed
        if closed and not own and loss.terms:
            raise NoAllowance(analyst)
        return {ALL: self.budget, **own}

    def _is(self, account: str, analyst: str) -> bool:
        return account == analyst or (not self.exactly and skeleton(account) == skeleton(analyst))

    def price(self, analyst: str, loss: Loss) -> dict[str, Amounts]:
        """What a loss costs each account."""
        return {account: budget.amounts(loss) for account, budget in self.budgets(analyst, loss).items()}

    def post(self, analyst: str, parts: Iterable[str] | None, loss: Loss, price: Mapping[str, Amounts]) -> None:
        """Add a charge to all accounts if they admit it; else raise `Overdrawn` and change nothing."""
        relation = self._under(parts, loss)
        for account, budget in self.budgets(analyst, loss).items():
            sums = self.sums.get(account, {})
            base = plus(sums[ALL], price[account]) if ALL in sums else price[account]
            for part in {ALL: None, **sums} if parts is None else parts:
                after = plus(base, sums[part]) if part in sums and part != ALL else base
                if budget.used(after) > budget.limit:
                    raise Overdrawn(account, budget, part)
        self.relation = relation
        whole = self.sums.setdefault(ALL, {})
        if ALL not in whole:  # where the relation is kept
            whole[ALL] = self.budget.amounts(zero)
        self.changed.add((ALL, ALL))
        for account, amounts in price.items():
            add(self.sums.setdefault(account, {}), parts, amounts)
            self.changed.update((account, part) for part in ((ALL,) if parts is None else parts))

    def replace(self, account: str, sums: dict[str, Amounts]) -> None:
        """Set what is spent of an account."""
        self.sums[account] = sums
        self.changed.update((account, part) for part in sums)

    def take_changed(self) -> list[dict[str, str | None]]:
        """The totals that changed since the last call, as rows."""
        rows, self.changed = [self.row(*at) for at in sorted(self.changed)], set()
        return rows

    def row(self, account: str, part: str) -> dict[str, str | None]:
        """The total of an account and part, as a row."""
        amounts = canonical(write_amounts(self.sums[account][part]))
        relation = self.relation if (account, part) == (ALL, ALL) else None
        return {"account": account, "part": part, "amounts": amounts, "relation": relation}

    def spent(self, analyst: str, parts: Iterable[str] | None) -> list[tuple[Budget, list[Amounts]]]:
        """The budgets that a charge is paid from, each with what is spent of it on each part that it touches."""
        paying = []
        for account, budget in self.budgets(analyst, zero).items():
            sums = self.sums.get(account, {})
            base = sums[ALL] if ALL in sums else budget.amounts(zero)
            touched = {ALL: None, **sums} if parts is None else parts
            paying.append((budget, [plus(base, sums[p]) if p in sums and p != ALL else base for p in touched]))
        return paying

    def _under(self, parts: Iterable[str] | None, loss: Loss) -> str | None:
        """The neighbouring relation of all losses so far and of this one."""
        relation = one_relation(self.relation, None if loss.relation is None else _name(loss.relation))
        named = sorted({*self.sums.get(ALL, {}), *(parts or ())} - {ALL})
        if relation == _name(SUBSTITUTE) and named:
            raise BadParameter("parts", named, "None where neighbours substitute units, who may then change parts")
        return relation


def _name(relation: Neighbours) -> str:
    """The stored name of a neighbouring relation."""
    return stored_name(type(relation))


def add(sums: dict[str, Amounts], parts: Iterable[str] | None, amounts: Amounts) -> None:
    """Add amounts to the sums of these parts, or with None to the sum of all."""
    for part in (ALL,) if parts is None else parts:
        sums[part] = plus(sums[part], amounts) if part in sums else amounts
