"""Verdicts on ledgers: whether each is what was written."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from ...core.errors import LedgerCorrupt
from ...curator import Curator
from ...ledger import Head


@dataclass(frozen=True)
class Verdict:
    """Whether a ledger is what was written, up to which entry, and else why not."""

    intact: bool
    head: Head
    reason: str = ""


class Verdicts:
    """The last verdict on each ledger: while nothing is appended it stays, so that anybody may ask for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last: dict[str, Verdict] = {}

    def of(self, name: str, curator: Curator) -> Verdict:
        """The verdict on a ledger as it is now."""
        with self._lock:
            head, last = curator.ledger.head(), self._last.get(name)
            if last is None or last.head != head:
                try:
                    last = Verdict(True, curator.ledger.verify())
                except LedgerCorrupt as error:
                    last = Verdict(False, head, str(error))
                self._last[name] = last
            return last
