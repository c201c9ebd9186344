"""Limits: how much one asker, and all together, may have under way.

    rate         requests a minute of one token; a bucket that fills evenly, so a burst of a minute's worth passes
    concurrent   requests of one token at a time
    total        requests of all at a time: beyond it the service is overloaded, and says when to come back

A token counts once it has been recognised; who is not known counts by their address.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ..errors import Overloaded

_REMEMBERED = 10_000  # askers


@dataclass(frozen=True)
class Caps:
    """The numbers that an operator may set."""

    rate: int = 600  # requests a minute of one token
    concurrent: int = 16  # requests of one token at a time
    total: int = 64  # requests at a time that are under way or wait
    seconds: float = 60.0  # for which an answer is waited for
    body_seconds: float = 10.0  # for a body to arrive
    header_seconds: float = 10.0  # for the head of a request to arrive
    connections: int = 1000  # open at a time


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

    @contextmanager
    def entered(self, key: str) -> Iterator[None]:
        """Count a request of this asker while the block runs, or refuse it."""
        asker = self._asker(key)
        if asker.left < 1:
            after = int((1 - asker.left) * 60 / self._caps.rate) + 1
            raise Overloaded(f"At most {self._caps.rate} requests a minute are served.", after=after, status=429)
        if asker.running >= self._caps.concurrent:
            raise Overloaded(f"At most {self._caps.concurrent} requests at a time are served.", after=1, status=429)
        if self.running >= self._caps.total:
            raise Overloaded("The service has too much to do. Ask again in a moment.", after=1)
        asker.left -= 1
        asker.running += 1
        self.running += 1
        try:
            yield
        finally:
            asker.running -= 1
            self.running -= 1

    def _asker(self, key: str) -> _Asker:
        now, rate = self._now(), self._caps.rate
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
