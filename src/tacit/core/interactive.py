"""Mechanisms that answer one question after another, each of which may depend on the answers before it.

An interactive mechanism is a pure function of an explicit state: `begin` draws the first state, and `step` maps a
state and a value to the next state and an answer.  States are frozen values, so a ledger can store one and a session
can go on after a restart.  For a whole session, from `begin` to `Exhausted`,

    loss     is the price, paid on opening, however many questions follow
    law(x)   is the law of all answers when the values x are asked one after the other
    sample   draws from that law at once; `step` by `step` gives the same law

A state holds noise that was drawn and not released, so a state is as private as the data.  Step from each state only
once: two sessions from one state cost the price of two.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
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
    """A mechanism whose input is a stream of values, taken one at a time."""

    @abstractmethod
    def begin(self, source: Source) -> S:
        """The state before the first question."""

    @abstractmethod
    def step(self, state: S, value: Q, source: Source) -> tuple[S, A]:
        """The next state and the answer; at the end of the session `Exhausted`, before the value is looked at."""

    @abstractmethod
    def output(self, answers: Sequence[A]) -> Y:
        """The output of `sample` that consists of these answers, given one after the other."""

    def start(self) -> MechanismSession[S, Q, A]:
        """Open a session with the operating system's randomness; its price is `loss()`."""
        return self.resume(self.begin(SYSTEM))

    def resume(self, state: S) -> MechanismSession[S, Q, A]:
        """Go on from a stored state, at no further price."""
        return MechanismSession(self, state, SYSTEM)


class MechanismSession(Generic[S, Q, A]):
    """One session of an interactive mechanism.  Threads may share a session; it cannot be copied."""

    def __init__(self, mechanism: Interactive[Any, Any, S, Q, A], state: S, source: Source) -> None:
        self.mechanism, self._state, self._source, self._lock = mechanism, state, source, Lock()
        self._owner = process()

    def ask(self, value: Q) -> A:
        """The answer about the next value.  A forked copy refuses, since two sessions would cost the price of two."""
        if self._owner != process():
            raise Exhausted(
                "a session",
                "answers in the process that opened it",
                says="This session was opened by another process and cannot go on in a forked copy. Open a new session,"
                " which costs its full price again.",
            )
        with self._lock:
            self._state, answer = self.mechanism.step(self._state, value, self._source)
        return answer

    @property
    def state(self) -> S:
        """The current state: private, and to be resumed only once."""
        return self._state

    @property
    def spent(self) -> Loss:
        """The price of the whole session, paid on opening; answers add nothing."""
        return self.mechanism.loss()

    def __repr__(self) -> str:
        return f"Session of {self.mechanism!r}"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("A session cannot be copied or pickled: two sessions cost two prices. Store its state instead.")
