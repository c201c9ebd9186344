"""The one way to open and to ask an interactive mechanism: paid for once, then answered by steps of its state.

    open      found under one of its keys, it goes on where it was; else it is priced and checked, the engine reads the
              tables, and then it is charged
    find      a question that was asked before in the session is answered as it was then
    register  the engine reads the tables, unless it holds them
    step      read, draw, and store the new state with the answer, in one transaction

The ledger keeps the state, which holds noise that nobody has seen, so a session goes on in any process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from ..core.accounting.loss import Loss
from ..core.parameters import Number
from ..core.purpose import Purpose
from ..core.session import answer_once
from ..ledger import LedgerSession
from ..query.plan.offer import checked_share
from ..query.relation import build
from ..query.relation.relation import Relation
from .pace import Pace
from .purchase import Read, reader
from .purse import Purse
from .registration import Registration


class PricedMechanism(Protocol):
    """An interactive mechanism, of which the price of the whole session is known."""

    def loss(self) -> Loss:
        """What all answers of a session cost together."""


M = TypeVar("M", bound=PricedMechanism)


@dataclass(frozen=True, kw_only=True)
class Opening(Generic[M]):
    """An interactive mechanism to be opened.

    `offered` are the terms at which it may be bought, by their keys, the best first; `former` are terms by the
    other keys, those of earlier versions, under which it may have been bought before.  `mechanism` makes the mechanism
    of such terms, `begin` its first state; `check` refuses what may not be bought anew.  `typed` is the price as the
    analyst typed it.
    """

    offered: Mapping[str, Any]
    former: Mapping[str, Any]
    mechanism: Callable[[Any], M]
    begin: Callable[[M], bytes]
    check: Callable[[M, Any], None]
    typed: tuple[str, Number]
    purpose: Callable[[M], Purpose]


class InteractiveSession:
    """A session of an interactive mechanism about registered tables."""

    def __init__(self, registration: Registration, pace: Pace, session: LedgerSession) -> None:
        self._registration, self._pace, self.stored = registration, pace, session

    def ask(
        self,
        arrived: float,
        identities: Sequence[object],
        relation: Relation,
        step: Callable[[bytes, Read], tuple[bytes, bytes]],
    ) -> bytes:
        """The answer to a question about these rows: as it was before, or by a step from the state.

        `identities` are those by which the question may have been asked before, its present one first.  `step` makes of
        the state, and of exact answers that it reads, the next state and the answer.
        """
        key, *former = map(self._registration.key, identities)
        self._registration.check_units()
        work = self.stored.charge.seq, key
        for each in (key, *former):
            if (answer := self.stored.find(each)) is not None:
                self._pace.hold(work)
                return answer
        build.bounded(relation)
        self._registration.read_tables()
        read = reader(self._registration, self.stored.charge)
        return self._pace.let_out(arrived, work, lambda: answer_once(self.stored, key, lambda state: step(state, read)))

    @property
    def state(self) -> bytes:
        """The state after the last step."""
        return self.stored.read()[1]


def open_mechanism(
    registration: Registration, pace: Pace, purse: Purse, analyst: str, opening: Opening[M]
) -> tuple[M, InteractiveSession]:
    """The mechanism and its session: that which was opened before under one of the keys, or a new one that is charged.

    Where a new session takes more of the budget than the number that was typed, a `TakesMore` warning says so.
    """
    ledger = registration.ledger
    charge = ledger.find(*opening.offered, *opening.former)
    if charge is not None:
        key, terms = charge.key, {**opening.former, **opening.offered}[charge.key]
        mechanism = opening.mechanism(terms)
    else:
        key, terms = _affordable(purse, opening)
        mechanism = opening.mechanism(terms)
        purse.check(mechanism.loss(), opening.typed)
        opening.check(mechanism, terms)
        registration.check_units()
        ledger.check(loss=mechanism.loss(), analyst=analyst)
        registration.read_tables()  # tables that cannot be read are found out before the charge
        purse.warn(mechanism.loss(), opening.typed)
    session = ledger.start(
        key=key,
        loss=mechanism.loss(),
        state=opening.begin(mechanism),
        analyst=analyst,
        purpose=opening.purpose(mechanism),
    )
    return mechanism, InteractiveSession(registration, pace, session)


def _affordable(purse: Purse, opening: Opening[M]) -> tuple[str, Any]:
    """The key and the best terms; for a share of the budget, of those that take no more than that."""
    name, number = opening.typed
    offered = iter(opening.offered.items())
    if name != "share":
        return next(offered)
    share = checked_share(number, purse.least_share)
    fitting = (each for each in offered if purse.affords(opening.mechanism(each[1]).loss(), share))
    if (best := next(fitting, None)) is None:
        raise purse.nothing(number)
    return best
