"""Who keeps the state of a holdout: a ledger, so that its life goes on in the next process, or the memory of this one.

`tacit.ledger.Ledger` is a `Keeper`.
"""

from __future__ import annotations

from threading import Lock
from typing import Protocol

from ..core.accounting.loss import Loss
from ..core.errors import Exhausted, LedgerConflict
from ..core.randomness import process
from ..core.session import Life


class Keeper(Protocol):
    """Starts lives, or goes on with those it knows by their key."""

    def start(self, *, key: str, loss: Loss, state: bytes, analyst: str) -> Life:
        """Pay for a life and keep its first state; one that was started with this key goes on where it was."""


class _Life:
    def __init__(self, state: bytes) -> None:
        self._steps, self._state, self._answers = 0, state, dict[str, bytes]()
        self._owner, self._lock = process(), Lock()

    def read(self) -> tuple[int, bytes]:
        if self._owner != process():  # a forked copy would be a second life
            raise Exhausted("a holdout kept in memory", "answers only in the process that opened it")
        with self._lock:
            return self._steps, self._state

    def find(self, key: str, /) -> bytes | None:
        return self._answers.get(key)

    def step(self, after: int, key: str, state: bytes, answer: bytes, /) -> bytes:
        with self._lock:  # two holdouts on the same records share one life
            if after != self._steps:
                raise LedgerConflict(f"the step after {after} is not the next of this session; read its state again")
            self._steps, self._state, self._answers[key] = after + 1, state, answer
        return answer


class Memory:
    """Forgets all when the process ends: for experiments, not for a holdout set that matters.

    A life is kept as long as its memory is, spent or not: its state, and each answer in some 200 bytes.
    """

    def __init__(self) -> None:
        self._lives: dict[str, _Life] = {}

    def start(self, *, key: str, loss: Loss, state: bytes, analyst: str) -> _Life:
        return self._lives.setdefault(key, _Life(state))


THIS_PROCESS = Memory()  # the keeper of all who name none: to open the same records again does not renew them
