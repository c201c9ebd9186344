"""Several processes that answer at one socket: forked from one that has loaded everything, and replaced if they die.

The parent answers nothing.  It holds the writing end of a pipe: a child that reads its end knows that the parent is
gone, however that ended, and leaves the socket to whoever is started next.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable

from . import log

_ENDING = (signal.SIGTERM, signal.SIGINT)
_SIGNALS = {*_ENDING, signal.SIGCHLD}
_SHORT = 1.0  # seconds: a child that lives less was never well
_MAX_SHORT = 5  # such children in a row, after which none is started


class Processes:
    """Children that each do the same until they are told to end."""

    def __init__(self, count: int, do: Callable[[], None]) -> None:
        self._count, self._do = count, do
        self._children: dict[int, float] = {}  # when each was started
        self._alive = os.pipe()
        self._short, self._ending = 0, False

    def run(self, grace: float) -> None:
        """Keep the children alive until a signal comes; then let them end, within so many seconds."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        try:
            for _ in range(self._count):
                self._start(before)
            while self._children:
                found = signal.sigtimedwait(_SIGNALS, 1.0)
                if found is not None and found.si_signo in _ENDING and not self._ending:
                    self._end(grace)
                self._reap(before)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _start(self, mask: set[signal.Signals] | set[int]) -> None:
        child = os.fork()
        if child:
            self._children[child] = time.monotonic()
            return
        code = 1
        try:
            os.close(self._alive[1])
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            threading.Thread(target=self._end_with_parent, daemon=True).start()
            self._do()
            code = 0
        finally:
            os._exit(code)  # nothing of the parent's is to be undone here

    def _end_with_parent(self) -> None:
        os.read(self._alive[0], 1)  # there is never anything to read, only the end
        os.kill(os.getpid(), signal.SIGTERM)

    def _reap(self, mask: set[signal.Signals] | set[int]) -> None:
        for child in list(self._children):
            ended, _ = os.waitpid(child, os.WNOHANG)
            if not ended:
                continue
            lived = time.monotonic() - self._children.pop(child)
            self._short = self._short + 1 if lived < _SHORT else 0
            if not self._ending and self._short < _MAX_SHORT:
                log.event("process replaced")
                self._start(mask)

    def _end(self, grace: float) -> None:
        self._ending = True
        for child in self._children:
            os.kill(child, signal.SIGTERM)
        threading.Thread(target=self._end_late, args=(grace,), daemon=True).start()

    def _end_late(self, grace: float) -> None:
        time.sleep(grace)
        for child in list(self._children):
            os.kill(child, signal.SIGKILL)  # as safe as a crash
