"""Mechanisms that answer one question after another, each of which may depend on the answers before it.

An interactive mechanism is a pure function of an explicit state: `begin` draws the first state, and `step` takes a
state and a value to the next state and an answer.  States are frozen values, so a ledger can keep one and a life can
go on after a restart.  Of the whole life, from `begin` to `Exhausted`,

    loss     is the price: paid on opening, however many questions are then asked
    law(x)   is the law of all that is told when the values x are asked one after the other
    sample   draws from that law in one go, and `step` by `step` gives the same law

A state holds noise that was drawn but not told.  It is as private as the data, and each state may be stepped from
once only: two lives from one state cost the price of two.
"""

from __future__ import annotations

from abc import abstractmethod
from threading import Lock
from typing import Any, Generic, NoReturn, TypeVar

from .accounting.loss import Loss
from .errors import Exhausted
from .mechanism import Mechanism, X, Y
from .randomness import SYSTEM, Source, process

S = TypeVar("S")
Q = TypeVar("Q")
A = TypeVar("A")


class Interactive(Mechanism[X, Y], Generic[X, Y, S, Q, A]):
    """A mechanism whose input is a stream of values, asked one at a time."""

    @abstractmethod
    def begin(self, source: Source) -> S:
        """The state before the first question."""

    @abstractmethod
    def step(self, state: S, value: Q, source: Source) -> tuple[S, A]:
        """The next state and the answer; raises `Exhausted`, before it looks at the value, when the life is over."""

    def start(self) -> Session[S, Q, A]:
        """Open a session with the operating system's randomness; its price is `loss()`."""
        return self.resume(self.begin(SYSTEM))

    def resume(self, state: S) -> Session[S, Q, A]:
        """Go on from a state that was kept; nothing more is to be paid."""
        return Session(self, state, SYSTEM)


class Session(Generic[S, Q, A]):
    """One life of an interactive mechanism.  Threads may share it; it cannot be copied."""

    def __init__(self, mechanism: Interactive[Any, Any, S, Q, A], state: S, source: Source) -> None:
        self.mechanism, self._state, self._source, self._lock = mechanism, state, source, Lock()
        self._owner = process()

    def ask(self, value: Q) -> A:
        """Ask about the next value.  A forked copy answers nothing: two lives would cost the price of two."""
        if self._owner != process():
            raise Exhausted("a session in a forked process", "answers only in the process that opened it")
        with self._lock:
            self._state, answer = self.mechanism.step(self._state, value, self._source)
        return answer

    @property
    def state(self) -> S:
        """Where the life stands; private, and to be resumed once only."""
        return self._state

    @property
    def spent(self) -> Loss:
        """The price of the whole life, paid on opening; no answer adds to it."""
        return self.mechanism.loss()

    def __repr__(self) -> str:
        return f"Session of {self.mechanism!r}"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a session cannot be copied or pickled: two lives cost two prices; keep its state instead")
