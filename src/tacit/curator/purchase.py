"""The one way to buy: whatever is bought at once, by SQL, as a workload or as bounds, goes through `buy`.

    find      what was bought before is handed out again, free; a charge that is still open is completed
    price     the price and every check that public facts allow
    register  the engine reads the tables, unless it holds them: what cannot be read is refused before it is charged
    charge    the ledger admits the loss durably, or refuses it
    prepare   what the charge paid for is read from the ledger, so that the steps that follow need public facts no more
    read      the engine's exact integers, which exist between this step and the next and nowhere else
    draw      one draw, as the bytes that will be stored
    store     the ledger keeps them
    hand out  the stored bytes, at a moment that the time grid allows

One charge pays for one draw.  A failure before the first noise, such as one of the engine, leaves the charge open, and
the same question is completed under it.  A failure after the first noise, of the engine too, is stored in place of the
answer: another draw under the same charge would be another look at the data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..core.accounting.loss import Loss
from ..core.errors import DrawFailed, EngineError, LedgerError
from ..core.parameters import flag
from ..core.purpose import Purpose
from ..core.randomness import SYSTEM, Source, Words
from ..engines.base import EngineAnswer
from ..ledger import Charge
from ..ledger.entries import FAILED
from ..ledger.parameters import name
from ..query.plan.plan import QueryPlan
from ..query.relation import build
from ..query.relation.relation import Relation
from .pace import Pace
from .registration import Registration
from .silence import silently

Parts = tuple[str, ...] | None  # public parts of the data that a question touches; None is all of it
Admit = Callable[[str, Loss, Parts], None]  # by its key, refuses a loss on these parts before it is charged
Read = Callable[[QueryPlan], EngineAnswer]
Draw = Callable[[Read, Source], bytes]  # makes of exact answers and randomness the bytes to be stored


def admitted(_key: str, _loss: Loss, _parts: Parts) -> None:
    """Whatever the ledger admits may be bought."""


class WatchedSource(Source):
    """The operating system's randomness, which remembers whether any of it was drawn."""

    width, seeded = SYSTEM.width, False

    def __init__(self) -> None:
        self.drawn = False

    def words(self, n: int) -> Words:
        self.drawn = True
        return SYSTEM.words(n)

    def word(self) -> int:
        self.drawn = True
        return SYSTEM.word()


@dataclass(frozen=True)
class Priced:
    """What will be charged: the loss, what it is for, and the key under which the answer will be found again."""

    key: str
    loss: Loss
    purpose: Purpose


@dataclass(frozen=True, kw_only=True)
class Order:
    """Something to be bought.

    `keys` are those under which it may have been bought before.  `price` checks and prices it, given the parts of the
    data that it touches; an order that is `whole` is charged on all parts.  `admit` has the last word on the very loss
    that is then charged.  `prepare` reads what a charge paid for, and returns the draw that it pays for, whose bytes
    are stored in this `form`.  `failed` makes the bytes to be stored where the draw fails after the first noise; by
    default, these are `FAILED`.
    """

    relation: Relation
    keys: Sequence[str]
    analyst: str
    price: Callable[[Parts], Priced]
    admit: Admit
    prepare: Callable[[Charge], Draw]
    failed: Callable[[Charge], bytes] | None = None
    form: str = "release"
    fresh: bool = False
    whole: bool = False


def checked_fresh(fresh: bool | str) -> bool | str:
    """Whether to draw anew, or the name of a further draw, which is bought once like any other."""
    return name("fresh", fresh) if isinstance(fresh, str) else flag("fresh", fresh)


def buy(registration: Registration, pace: Pace, arrived: float, order: Order) -> tuple[Charge, bytes]:
    """The charge of an order, and its stored answer: bought now, unless it was bought before."""
    registration.check_units()
    charge = None if order.fresh else registration.ledger.find(*order.keys)
    if charge is None:
        build.bounded(order.relation)
        charge = _pay(registration, order)
        draw = order.prepare(charge)
    elif charge.release is None:
        build.bounded(order.relation)
        draw = order.prepare(charge)
        registration.read_tables()
    if charge.release is None:
        stored = pace.let_out(arrived, charge.seq, lambda: _complete(registration, order, charge, draw))
    else:
        pace.hold(charge.seq)
        stored = charge.release
    if stored == FAILED:
        raise DrawFailed
    return charge, stored


def _pay(registration: Registration, order: Order) -> Charge:
    """Price, register and charge.  A first question that is refused from public facts is refused before data are read.

    A question about some parts is priced after that: tables that have changed are paid for as a whole.
    """
    ledger, priced = registration.ledger, None
    if not registration.registered and _parts(registration, order) is None:
        priced = order.price(None)
        ledger.check(loss=priced.loss, analyst=order.analyst)
        order.admit(priced.key, priced.loss, None)
    registration.read_tables()
    parts = _parts(registration, order)
    if priced is None:
        priced = order.price(parts)
        order.admit(priced.key, priced.loss, parts)
    return ledger.charge(
        key=priced.key,
        loss=priced.loss,
        analyst=order.analyst,
        parts=parts,
        purpose=priced.purpose,
        fresh=order.fresh,
    )


def _parts(registration: Registration, order: Order) -> Parts:
    return None if order.whole else registration.parts(order.relation)


def _complete(registration: Registration, order: Order, charge: Charge, draw: Draw) -> bytes:
    """Read, draw and store.

    Nothing that a table holds, and no noise, makes a draw fail.  Should one fail all the same, it says nothing.
    """
    noise, data = WatchedSource(), None
    read = reader(registration, charge)
    try:
        data = draw(read, noise)
    except (EngineError, LedgerError):  # of a read
        if not noise.drawn:
            raise
    except Exception:
        pass
    if data is None and not noise.drawn:
        raise EngineError  # here, outside the handler, so that the failure is not even its context
    form = order.form
    if data is None:
        data, form = (FAILED, "failure") if order.failed is None else (order.failed(charge), form)
    return registration.ledger.store(charge, data, form=form)


def reader(registration: Registration, charge: Charge) -> Read:
    """What gives exact answers for a charge, on the parts that it paid for; its failures say nothing."""
    return lambda plan: silently(lambda: registration.exact(plan, charge.parts))
