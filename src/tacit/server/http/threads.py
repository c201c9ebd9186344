"""The threads on which requests are answered.

They are daemons: a process that is told to stop waits for them for a while, and then leaves.  Whatever is abandoned so
is as safe as after a crash: a charge that was made is kept, and the same question completes it.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")
_Task = tuple[asyncio.AbstractEventLoop, "asyncio.Future[Any]", Callable[[], Any]]


class Threads:
    """So many threads, which take turns with what is put to them."""

    def __init__(self, count: int) -> None:
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._threads = [threading.Thread(target=self._work, name=f"tacit {i}", daemon=True) for i in range(count)]
        for thread in self._threads:
            thread.start()

    def run(self, do: Callable[[], T]) -> asyncio.Future[T]:
        """What `do` returns or raises, once a thread has done it."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._tasks.put((loop, future, do))
        return future

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            loop, future, do = task
            result, error = None, None
            try:
                result = do()
            except BaseException as raised:
                error = raised
            try:
                loop.call_soon_threadsafe(_settle, future, result, error)
            except RuntimeError:  # the loop is closed, and nobody waits
                return

    def close(self, seconds: float) -> bool:
        """Let the threads finish what they do; False if some are not done by then, and are abandoned."""
        for _ in self._threads:
            self._tasks.put(None)
        until = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)


def _settle(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.cancelled():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)
