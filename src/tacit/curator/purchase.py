"""The one way to buy: whatever is bought at once, by SQL, as a workload or as bounds, goes through `buy`.

    find      what was bought before is handed out again, free; a charge that is still open is completed
    price     the price and every check that public facts allow
    register  the engine reads the tables, unless it holds them: what cannot be read is refused before it is charged
    charge    the ledger admits the loss durably, or refuses it
    read      the engine's exact integers, which exist between this step and the next and nowhere else
    draw      one draw, as the bytes that will be stored
    store     the ledger keeps them
    hand out  the stored bytes, at a moment that the time grid allows

One charge pays for one draw.  A failure before the first noise, such as one of the engine, leaves the charge open, and
the same question is completed under it.  A failure after the first noise is stored in place of the answer: another draw
under the same charge would be another look at the data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..core.accounting.loss import Loss
from ..core.errors import EngineError, LedgerError, Refused
from ..core.purpose import Purpose
from ..core.randomness import SYSTEM, Source, Words
from ..engines.base import EngineAnswer
from ..ledger import Charge
from ..query.plan.plan import QueryPlan
from ..query.relation import build
from ..query.relation.relation import Relation
from .pace import Pace
from .registration import Registration
from .silence import silently

Parts = tuple[str, ...] | None  # public parts of the data that a question touches; None is all of it
Read = Callable[[QueryPlan], EngineAnswer]
FAILED = b"null"  # what is stored where a draw failed after its first noise


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
    data that it touches; an item that is `whole` is charged on all parts.  `draw` makes of exact answers and randomness
    the bytes to be stored, in this `form`.  `failed` makes the bytes to be stored where `draw` fails after the first
    noise; by default, these are `FAILED`.
    """

    relation: Relation
    keys: Sequence[str]
    analyst: str
    price: Callable[[Parts], Priced]
    draw: Callable[[Charge, Read, Source], bytes]
    failed: Callable[[Charge], bytes] | None = None
    form: str = "release"
    fresh: bool = False
    whole: bool = False


def buy(registration: Registration, pace: Pace, arrived: float, item: Order) -> tuple[Charge, bytes]:
    """The charge of an item, and its stored answer: bought now, unless it was bought before."""
    registration.check_units()
    charge = None if item.fresh else registration.ledger.find(*item.keys)
    if charge is None:
        build.bounded(item.relation)
        charge = _pay(registration, item)
    elif charge.release is None:
        build.bounded(item.relation)
        registration.read_tables()
    if charge.release is None:
        stored = pace.let_out(arrived, charge.seq, lambda: _complete(registration, item, charge))
        if stored == FAILED:
            raise EngineError
        return charge, stored
    pace.hold(charge.seq)
    if charge.release == FAILED:
        raise Refused("The draw of this question failed, and its charge is spent. Use fresh=True, or another price.")
    return charge, charge.release


def _pay(registration: Registration, item: Order) -> Charge:
    """Price, register and charge.  A first question that is refused from public facts is refused before data are read.

    A question about some parts is priced after that: tables that have changed are paid for as a whole.
    """
    ledger, priced = registration.ledger, None
    if not registration.registered and _parts(registration, item) is None:
        priced = item.price(None)
        ledger.check(loss=priced.loss, analyst=item.analyst)
    registration.read_tables()
    parts = _parts(registration, item)
    priced = item.price(parts) if priced is None else priced
    return ledger.charge(
        key=priced.key,
        loss=priced.loss,
        analyst=item.analyst,
        parts=parts,
        purpose=priced.purpose,
        fresh=item.fresh,
    )


def _parts(registration: Registration, item: Order) -> Parts:
    return None if item.whole else registration.parts(item.relation)


def _complete(registration: Registration, item: Order, charge: Charge) -> bytes:
    """Read, draw and store.

    Nothing that a table holds, and no noise, makes a draw fail.  Should one fail all the same, it says nothing.
    """
    noise, data = WatchedSource(), None
    read = reader(registration, charge)
    try:
        data = item.draw(charge, read, noise)
    except (EngineError, LedgerError):  # of a read
        raise
    except Exception:
        pass
    if data is None and not noise.drawn:
        raise EngineError  # here, outside the handler, so that the failure is not even its context
    form = item.form
    if data is None:
        data, form = (FAILED, "failure") if item.failed is None else (item.failed(charge), form)
    return registration.ledger.store(charge, data, form=form)


def reader(registration: Registration, charge: Charge) -> Read:
    """What gives exact answers for a charge, on the parts that it paid for; its failures say nothing."""
    return lambda plan: silently(lambda: registration.exact(plan, charge.parts))
