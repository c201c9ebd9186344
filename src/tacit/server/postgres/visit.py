"""Work for a connection: counted by the limits of the service, done on its threads, logged, and stopped on request.

A question that is cancelled, or takes too long, stops before its charge; after it the work goes on, and its answer is
kept for when it is asked again.  A connection that asks too much at once waits a little before it is refused.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from ...core.errors import TacitError
from ...core.progress import watched
from .. import log
from ..errors import Overloaded, Unauthenticated
from ..http.door import Door as HttpDoor
from ..http.door import mistake
from ..http.errors import STATUSES
from ..jobs import Stopped
from ..service.faults import MISTAKE, fault_of
from ..store.database import number
from .desk import Desk, Placed, Who
from .errors import CANCELLED, SqlError, told

if TYPE_CHECKING:
    from .session import Session

_PATIENCE = 5.0  # seconds that a statement waits for its turn
_PAUSE = 0.02
_METHOD = "PG"  # in the log, where HTTP has GET and POST
_LATE = "This takes longer than the service waits."
_KEPT = "If it was charged, the charge is kept: ask again, free."
_BRIEF = ("describe", "read", "login")
T = TypeVar("T")


@dataclass
class Watch:
    """Stops work at its next report of progress."""

    stop: bool = False

    def __call__(self, _what: str, _share: float) -> None:
        if self.stop:
            raise Stopped


class Visit:
    """What one connection has under way."""

    def __init__(self, door: HttpDoor, desk: Desk, address: str) -> None:
        self._door, self.desk, self._address = door, desk, address
        self.who, self.person = Who("", ""), ""
        self.tables: frozenset[str] = frozenset()
        self.longest = door.caps.sql  # characters of a statement
        self._interrupted: asyncio.Future[None] | None = None

    def cancel(self) -> None:
        """Stop waiting for what is under way."""
        if self._interrupted is not None and not self._interrupted.done():
            self._interrupted.set_result(None)

    async def work(self, route: str, do: Callable[[], T], session: Session | None = None) -> T:
        """What `do` returns, or an error as a client is told of it."""
        leave = await self._admitted(question=route not in _BRIEF)
        begun, request_id, watch, status = time.perf_counter(), number(), Watch(), 200
        self._interrupted = asyncio.get_running_loop().create_future()
        try:
            work = self._door.threads.run(lambda: self._done(do, watch, request_id, route))
            most = self._door.caps.seconds
            seconds = min(most, (session and session.seconds) or most)
            done, _ = await asyncio.wait(
                (work, self._interrupted), timeout=seconds, return_when=asyncio.FIRST_COMPLETED
            )
            if work not in done:
                watch.stop, leaving, leave = True, leave, _nothing  # it may go on, and then still counts
                work.add_done_callback(lambda late: (late.exception(), leaving()))
                status = 503
                raise SqlError(CANCELLED, "The statement was cancelled." if done else _LATE, _KEPT)
            found, status = work.result()
            if isinstance(found, SqlError):
                raise found
            return found
        finally:
            self._interrupted = None
            leave()
            seconds = time.perf_counter() - begun
            self._door.metrics.count(_METHOD, route, status, seconds)
            facts: dict[str, Any] = {"method": _METHOD, "route": route, "status": status, "person": self.person or None}
            log.request(request_id=request_id, seconds=seconds, **facts)

    async def _admitted(self, *, question: bool) -> Callable[[], None]:
        """Count a statement among what is under way, once there is room for it."""
        key = self.who.token or f"address {self._address}"
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                return self._door.limits.enter(key, question=question)
            except Overloaded as error:
                if time.monotonic() > until:
                    raise told(error, frozenset()) from None
            await asyncio.sleep(_PAUSE)

    def _done(self, do: Callable[[], T], watch: Watch, request_id: str, route: str) -> tuple[T | SqlError, int]:
        """What `do` returns or what is told of its error, on a thread; and a status, for the log."""
        place = None
        try:
            with watched(watch):
                try:
                    return do(), 200
                except Placed as placed:
                    place = placed.place
                    raise placed.error from None
        except SqlError as error:
            return error, 422
        except Unauthenticated as error:
            return told(error, frozenset()), 401
        except TacitError as error:
            return told(error, self._words(), place), STATUSES[fault_of(error).code]
        except Stopped:
            return SqlError(CANCELLED, "The statement was cancelled."), 503
        except Exception as error:
            mistake(error, request_id, route)
            return told(error, frozenset()), STATUSES[MISTAKE]

    def _words(self) -> frozenset[str]:
        try:
            return self.desk.public_words(self.who)
        except TacitError:
            return frozenset()


def _nothing() -> None:
    """Nothing is left to do."""
