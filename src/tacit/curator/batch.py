r"""Several answers under one charge: declared in advance, priced together, bought by one purchase and stored as one.

Allocation.  What is asked for by error gets the noise of least price; what is left is divided by weights.  The items
are tried with noise for pure epsilon and with noise for zCDP, and the better is taken: that of the smaller errors, or,
where all errors are given, the cheaper.

Price.  A sum of losses takes of the budget what the ledger adds up.  A budget with a delta may instead be charged the
epsilon that the composed batch has at a delta (`core/accounting/batch.py`), where that takes less.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any

from ..composition import mu_for
from ..core.accounting.accountants import failures
from ..core.accounting.batch import Batch
from ..core.accounting.budget import Budget
from ..core.accounting.currency import Amount, Epsilon
from ..core.accounting.loss import Loss
from ..core.errors import BadParameter, LedgerConflict, Refused
from ..core.exact import from_above
from ..core.purpose import Purpose
from ..core.randomness import Source
from ..core.search import greatest_positive
from ..ledger import Charge
from ..query.plan.buying import sells_gaussian
from ..query.plan.calibration import tidy
from ..query.plan.offer import checked_share
from ..query.relation import build
from ..release import Provenance, versions
from .items import Chosen, Family, Item
from .purchase import Draw, Order, Parts, Priced, Read, buy
from .purse import Purse

if TYPE_CHECKING:
    from .curator import Curator

MOST_ITEMS = 10_000
_ROOM = 16  # times the rho of Gaussian noise for the whole budget: more than any mixture of noises can take
_PRECISION = 2.0**-12


@dataclass(frozen=True)
class Allocation:
    """The noise of each item, the loss that is charged for all of them, and what it takes of the budget."""

    chosen: tuple[Chosen, ...]
    loss: Loss
    price: Amount

    @property
    def composed(self) -> Loss:
        """The sum of the losses of all items."""
        return reduce(Loss.__add__, (each.loss for each in self.chosen))


def allocate(items: Sequence[Item], purse: Purse, share: Fraction) -> Allocation:
    """The noise of each item within a share of the budget, from public facts alone; refused if the errors take more."""
    found, refusal = list[tuple[float, Amount, Allocation]](), None
    weighted = [item for item in items if item.error is None]
    for family in _families(purse, share):
        try:
            chosen = _divided(items, family, purse, share)
        except Refused as refused:
            refusal = refused
            continue
        objective = math.fsum(
            c.objective * float(i.weight) for i, c in zip(items, chosen, strict=True) if i in weighted
        )
        loss, price = _charged(chosen, purse, share)
        found.append((objective, price, Allocation(tuple(chosen), loss, price)))
    if not found:
        raise refusal or Refused(f"{purse.budget} has nothing left to publish with.")
    best = min(found, key=lambda each: each[:2])[2]
    least = purse.least_share * purse.budget.limit * len(items)
    if best.price < least * (1 - Fraction(1, 1 << 20)):
        raise Refused(
            f"These answers would take {from_above(float(best.price), 4)} of {purse.budget}, but so many take at least "
            f"{from_above(float(least), 4)}. Ask for smaller errors."
        )
    return best


def _failing(purse: Purse, share: Fraction) -> Fraction:
    """The delta that the batch may use: its share of the failures of each account, or what is left of them."""
    rooms = []
    for budget, spent in purse.accounts:
        most = max(budget.amounts(before)[0] for before in spent)
        rooms.append(min(budget.failures * share, budget.failures - Fraction(most)))
    return max(min(rooms), Fraction(0))


def _families(purse: Purse, share: Fraction) -> Iterator[Family]:
    """Noise for zCDP, and noise for pure epsilon, as far as the budget sells them."""
    budget, delta = purse.budget, _failing(purse, share)
    if budget.rho is not None:
        yield Family("rho", Budget(rho=budget.rho, delta=budget.delta or None))
        return
    if sells_gaussian(budget) or delta:
        epsilon = budget.limit if budget.delta else Fraction(1)
        rho = Fraction(mu_for(epsilon, delta or Fraction(1, 10**6))) ** 2 / 2
        yield Family("rho", Budget(rho=tidy(_ROOM * rho), delta=delta or None))
    if any(isinstance(currency, Epsilon) for currency, _ in budget.sums):
        some, none = (delta, 0) if delta else (None, None)
        yield Family("epsilon", Budget(epsilon=budget.limit, delta=some, slack=none))


def _ways(chosen: Sequence[Chosen], purse: Purse, share: Fraction) -> Iterator[Loss]:
    """The losses by which a ledger may be charged for all of these."""
    together = reduce(Loss.__add__, (each.loss for each in chosen))
    yield together
    delta = _failing(purse, share)
    if purse.budget.rho is None and failures(together) < delta:
        yield Loss({Batch(together, delta): 1}, together.relation)


def _charged(chosen: Sequence[Chosen], purse: Purse, share: Fraction) -> tuple[Loss, Amount]:
    """The loss that takes least of the budget, and how much."""
    return min(((loss, purse.takes(loss)) for loss in _ways(chosen, purse, share)), key=lambda each: each[1])


def _divided(items: Sequence[Item], family: Family, purse: Purse, share: Fraction) -> list[Chosen]:
    """The noise of each item: errors are met, and weights divide the largest amount that keeps the share."""
    failing, of_all = _failing(purse, share) / 2, sum((item.weight for item in items), Fraction(0))
    parts = [failing * item.weight / of_all for item in items]
    met = {i: items[i].reaching(family, parts[i]) for i in range(len(items)) if items[i].error is not None}
    weights = sum((item.weight for item in items if item.error is None), Fraction(0))

    def at(scale: float) -> list[Chosen]:
        amount = Fraction(scale) * family.limit
        rest = (
            item.at(family, tidy(amount * item.weight / weights), parts[i])
            for i, item in enumerate(items)
            if i not in met
        )
        return [met[i] if i in met else next(rest) for i in range(len(items))]

    def affords(chosen: Sequence[Chosen]) -> bool:
        return any(purse.affords(loss, share) for loss in _ways(chosen, purse, share))

    def good(scale: float) -> bool:
        try:
            return affords(at(scale))
        except (Refused, BadParameter):  # noise that cannot be drawn
            return False

    if weights and (scale := greatest_positive(good, floor=2.0**-40, ceiling=1.0, precision=_PRECISION)):
        return at(scale)
    if weights or not affords(list(met.values())):
        takes = from_above(float(_charged(list(met.values()), purse, share)[1]), 4) if met else "no more"
        left = f"{from_above(float(share * purse.budget.limit), 4)} of {purse.budget}"
        raise Refused(f"The errors that are asked for take {takes}, and {left} may be taken. Ask for larger errors.")
    return list(met.values())


@dataclass(frozen=True)
class Batched:
    """A batch that was bought: its charge, its answers in their order, as they were stored, and their provenance."""

    charge: Charge
    answers: tuple[dict[str, Any], ...]


def key_of(curator: Curator, items: Sequence[Item], share: Fraction | None) -> str:
    """The key under which a batch is bought: what is measured, how accurately, and for how much; None is the rest."""
    return curator._registration.key(("publication", tuple(item.identity() for item in items), share))


def found(curator: Curator, items: Sequence[Item], share: Fraction | None) -> Charge | None:
    """The charge by which a batch was bought before, or None."""
    return curator.ledger.find(key_of(curator, items, share)) if curator._registration.sold else None


def checked_items(items: Sequence[Item]) -> Sequence[Item]:
    """The items, if there are some and each has a name of its own."""
    names = [item.name for item in items]
    if not names or len(names) > MOST_ITEMS:
        raise BadParameter("items", len(names), f"from 1 to {MOST_ITEMS} answers")
    if twice := next((name for name in names if names.count(name) > 1), None):
        says = f"Two answers are called {twice!r}. Give each a name of its own."
        raise BadParameter("items", twice, "of different names", says=says)
    return items


def allocated(curator: Curator, items: Sequence[Item], share: Fraction | None, parts: Parts = None) -> Allocation:
    """The noise of each item for a share of the budget, or for all that is left of it; reads no data."""
    purse = Purse(curator.ledger.accounts(curator.analyst, parts), curator.ledger.least_share)
    left = min(budget.remaining(before) for budget, spent in purse.accounts for before in spent)
    rest = Fraction(left) / purse.budget.limit
    for item in checked_items(items):
        build.bounded(item.relation)
    return allocate(items, purse, rest if share is None else checked_share(share, purse.least_share))


def buy_batch(curator: Curator, items: Sequence[Item], share: Fraction | None, description: str) -> Batched:
    """Buy all items by one charge, once; asked again they are free."""
    registration, who, arrived = curator._registration, curator.analyst, curator.pace.arrival()
    key = key_of(curator, checked_items(items), share)

    def priced(parts: Parts) -> Priced:
        allocation = allocated(curator, items, share, parts)
        terms = {"answers": [dict(each.terms) for each in allocation.chosen], "price": str(Fraction(allocation.price))}
        return Priced(key, allocation.loss, Purpose("publication", description, terms))

    def prepare(charge: Charge) -> Draw:
        terms = charge.purpose.terms or {}
        paid = terms.get("answers", ())
        if len(paid) != len(items):
            raise LedgerConflict("The charge of this publication does not say what it paid for.")
        price = Fraction(terms["price"])
        draws = [
            item.drawn(each, _about(curator, charge, items, i), price)
            for i, (item, each) in enumerate(zip(items, paid, strict=True))
        ]

        def draw(read: Read, source: Source) -> bytes:
            return b'{"publication":[' + b",".join(each(read, source) for each in draws) + b"]}"

        return draw

    order = Order(
        relation=items[0].relation,
        keys=[key],
        analyst=who,
        price=priced,
        admit=curator.admit,
        prepare=prepare,
        form="publication",
        whole=True,
    )
    charge, stored = buy(registration, curator.pace, arrived, order)
    return Batched(charge, tuple(json.loads(stored)["publication"]))


def _about(curator: Curator, charge: Charge, items: Sequence[Item], place: int) -> Provenance:
    """Where an answer of a batch comes from."""
    item = items[place]
    question = getattr(getattr(item, "asked", None), "text", "") or item.title or item.name
    origin = curator.provenance(charge, item.relation, question, versions())
    return replace(origin, together=(place, len(items)))
