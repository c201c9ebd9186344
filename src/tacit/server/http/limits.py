"""Limits: how much one asker, and all together, may have under way.

    requests    a minute of one token; a bucket that fills evenly, so a burst of a minute's worth passes
    questions   of one token at a time; other requests are short, and not counted
    running     of everybody, at a time.  As many again may wait, thrice over; beyond that the service is overloaded,
                and says when to come back

A token counts once it has been recognised; who is not known counts by their address.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

from ..config import Limits as Caps
from ..errors import Overloaded

QUEUE = 4  # requests that are let in for each that may run
_REMEMBERED = 10_000  # askers


class _Asker:
    """What one asker has left of a minute's requests, and how many are under way."""

    __slots__ = ("filled", "left", "running")

    def __init__(self, now: float, rate: int) -> None:
        self.left, self.filled, self.running = float(rate), now, 0


class Limits:
    """Counts what is under way.  All calls are of one event loop, so nothing is locked."""

    def __init__(self, caps: Caps, now: Callable[[], float] = time.monotonic) -> None:
        self._caps, self._now = caps, now
        self._askers: OrderedDict[str, _Asker] = OrderedDict()
        self.running = 0

    def enter(self, key: str, *, question: bool) -> Callable[[], None]:
        """Count a request of this asker until what is returned is called, or refuse it."""
        asker, caps = self._asker(key), self._caps
        if asker.left < 1:
            after = int((1 - asker.left) * 60 / caps.requests) + 1
            raise Overloaded(f"At most {caps.requests} requests a minute are served.", after=after, status=429)
        if question and asker.running >= caps.questions:
            raise Overloaded(f"At most {caps.questions} questions at a time are served.", after=1, status=429)
        if self.running >= QUEUE * caps.running:
            raise Overloaded("The service has too much to do. Ask again in a moment.", after=1)
        asker.left -= 1
        asker.running += question
        self.running += 1

        def leave() -> None:
            asker.running -= question
            self.running -= 1

        return leave

    def _asker(self, key: str) -> _Asker:
        now, rate = self._now(), self._caps.requests
        asker = self._askers.get(key)
        if asker is None:
            asker = self._askers[key] = _Asker(now, rate)
            if len(self._askers) > _REMEMBERED:
                self._forget()
        else:
            asker.left = min(float(rate), asker.left + (now - asker.filled) * rate / 60)
            asker.filled = now
            self._askers.move_to_end(key)
        return asker

    def _forget(self) -> None:
        """Forget who has asked for nothing longest; who has something under way is remembered."""
        for key, asker in self._askers.items():
            if not asker.running:
                del self._askers[key]
                return
