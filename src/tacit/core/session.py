"""Sessions of interactive mechanisms: opened once, under one charge, and advanced one step at a time.

A session is a state, as bytes in a ledger or in memory, which processes may share.  Each state is advanced from at most
once, whoever asks, and a question that was answered before is given the same answer again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from .accounting.loss import Loss, zero
from .errors import LedgerConflict
from .purpose import Purpose

S_co = TypeVar("S_co", bound="Session", covariant=True)


class Session(Protocol):
    """One session: a step replaces the state and stores the answer, if nobody took that step before."""

    def read(self) -> tuple[int, bytes]:
        """How many steps were taken, and the state after them."""

    def find(self, key: str, /) -> bytes | None:
        """The last answer to a question, or None if it was not asked."""

    def step(self, after: int, key: str, state: bytes, answer: bytes, /) -> bytes:
        """Take step number `after` + 1 and return the answer to hand out; `LedgerConflict` if it was taken before."""


class Keeper(Protocol[S_co]):
    """Starts sessions, and goes on with those that it knows by their key."""

    def start(self, *, key: str, loss: Loss, state: bytes, analyst: str, purpose: Purpose) -> S_co:
        """Open the session of this key, which is paid for once: the first state counts only where there is none yet."""


def free_session(keeper: Keeper[S_co], *, key: str, first: bytes, analyst: str, purpose: Purpose) -> S_co:
    """A session that costs nothing: it keeps what nobody sees, or answers by a rule that promises no privacy."""
    return keeper.start(key=key, loss=zero, state=first, analyst=analyst, purpose=purpose)


def private_value(keeper: Keeper[Session], *, key: str, first: bytes, analyst: str, name: str) -> bytes:
    """The private value that a keeper holds under a key: that of the first writer, in a session that costs nothing."""
    purpose = Purpose("private value", name)
    return free_session(keeper, key=key, first=first, analyst=analyst, purpose=purpose).read()[1]


def answer_once(session: Session, key: str, step: Callable[[bytes], tuple[bytes, bytes]]) -> bytes:
    """The answer to a question: the stored one if there is one, else what `step` makes of the session's state."""
    while True:
        taken, state = session.read()  # first: a step that another takes after this is a conflict
        if (known := session.find(key)) is not None:
            return known
        after, answer = step(state)
        try:
            return session.step(taken, key, after, answer)
        except LedgerConflict:  # another took this step; what was drawn here nobody saw
            continue
