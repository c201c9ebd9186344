"""Where the session of a holdout is kept: in a ledger, so that the next process continues it, or in memory.

`tacit.ledger.Ledger` is a `Keeper`, and so is `Memory`.
"""

from __future__ import annotations

from threading import Lock

from ..core.accounting.loss import Loss
from ..core.errors import Exhausted, LedgerConflict
from ..core.purpose import UNSTATED, Purpose
from ..core.randomness import process
from ..core.session import Keeper as SessionKeeper
from ..core.session import Session

Keeper = SessionKeeper[Session]


class _MemorySession:
    def __init__(self, state: bytes, *, answers: bool) -> None:
        self._steps, self._state, self._answers = 0, state, dict[str, bytes]()
        self._owner, self._lock = process() if answers else None, Lock()

    def read(self) -> tuple[int, bytes]:
        if self._owner not in (None, process()):  # a forked copy would be a second session on the same records
            raise Exhausted("a holdout kept in memory", "answers only in the process that opened it")
        with self._lock:
            return self._steps, self._state

    def find(self, key: str, /) -> bytes | None:
        return self._answers.get(key)

    def step(self, after: int, key: str, state: bytes, answer: bytes, /) -> bytes:
        with self._lock:  # two holdouts on the same records share one session
            if after != self._steps:
                raise LedgerConflict(f"Step {after + 1} is not the next of this session. Read its state again.")
            self._steps, self._state, self._answers[key] = after + 1, state, answer
        return answer


class Memory:
    """Forgets everything when the process ends: for experiments, not for a holdout set that matters.

    A session stays in memory even when it is exhausted: its state, and about 200 bytes for each answer.
    """

    def __init__(self) -> None:
        self._sessions: dict[str, _MemorySession] = {}

    def start(self, *, key: str, loss: Loss, state: bytes, analyst: str, purpose: Purpose = UNSTATED) -> _MemorySession:
        return self._sessions.setdefault(key, _MemorySession(state, answers=purpose.kind != "private value"))


THIS_PROCESS = Memory()  # the default keeper; shared, so that opening the same records again starts no new session
