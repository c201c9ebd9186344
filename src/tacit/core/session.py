"""The life of an interactive mechanism: its state, as bytes in a ledger or in memory, which processes may share.

Each state is advanced from at most once, whoever asks, and a question that has an answer is given that one again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from .errors import LedgerConflict


class Life(Protocol):
    """One life: a step replaces the state and stores the answer, if nobody took that step before."""

    def read(self) -> tuple[int, bytes]:
        """How many steps were taken, and the state after them."""

    def find(self, key: str, /) -> bytes | None:
        """The last answer to a question, if it was asked."""

    def step(self, after: int, key: str, state: bytes, answer: bytes, /) -> bytes:
        """Take the step that follows `after` of them; the answer to hand out.  Else `LedgerConflict`."""


def answer_once(life: Life, key: str, step: Callable[[bytes], tuple[bytes, bytes]]) -> bytes:
    """The answer to a question: what it was told before, or what `step` makes of the state that the life is in."""
    while True:
        taken, state = life.read()  # first: a step that another takes after this is a conflict
        if (known := life.find(key)) is not None:
            return known
        after, answer = step(state)
        try:
            return life.step(taken, key, after, answer)
        except LedgerConflict:  # another took this step; what was drawn here nobody saw
            continue
