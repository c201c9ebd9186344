"""Interactive sessions that a process keeps at hand, since opening one again takes longer than a step."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

Key = tuple[str, str, str]  # data set, person, and the text by which the session is asked
_MAX_OPEN = 64


class Sessions:
    """The sessions that this process has at hand, each with a lock: steps are taken one after the other."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: OrderedDict[Key, tuple[Any, threading.Lock]] = OrderedDict()

    def at_hand(self, key: Key, reopen: Callable[[], Any]) -> tuple[Any, threading.Lock]:
        """A session, opened again if need be."""
        with self._lock:
            if key in self._open:
                self._open.move_to_end(key)
                return self._open[key]
        session = reopen()
        with self._lock:
            if len(self._open) >= _MAX_OPEN:
                self._open.popitem(last=False)
            return self._open.setdefault(key, (session, threading.Lock()))
