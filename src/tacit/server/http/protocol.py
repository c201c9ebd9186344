"""HTTP as uvicorn speaks it, with clients that are too many or too slow shown out.

uvicorn waits for the head of a request for as long as it takes.  Here a connection that has begun none within
`HEAD_SECONDS`, or has begun one and not finished its head, is closed; and beyond `CONNECTIONS` none is accepted.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uvicorn.protocols.http.h11_impl import H11Protocol as Base
else:
    try:
        from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as Base
    except ModuleNotFoundError:  # httptools parses faster, and is not needed
        from uvicorn.protocols.http.h11_impl import H11Protocol as Base

HEAD_SECONDS = 10.0
CONNECTIONS = 1000  # open at a time in one process


class Protocol(Base):
    """One connection."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > CONNECTIONS:
            transport.abort()
            return
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        """Take what arrived; a head that is not complete has to be soon."""
        super().data_received(data)
        if self._idle:
            self._wait_for_head()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_waiting()
        super().connection_lost(exc)

    @property
    def _idle(self) -> bool:
        """Whether no request is being answered."""
        cycle: Any = self.cycle
        return cycle is None or bool(cycle.response_complete)

    def _wait_for_head(self) -> None:
        if self._patience is None:
            self._patience = self.loop.call_later(HEAD_SECONDS, self._lose_patience)

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _lose_patience(self) -> None:
        self._patience = None
        if self._idle and not self.transport.is_closing():
            self.transport.abort()
