"""The log: one line of JSON for each request, with no value of a question, of an answer or of a table.

A line names the route by its template, never the path as it was sent: a path may hold anything.  Times are rounded up
to a power of two of milliseconds.
"""

from __future__ import annotations

import json
import logging
import math
import sys
import warnings
from datetime import UTC, datetime

_log = logging.getLogger("tacit.server")


def start(stream: object = None) -> None:
    """Write the lines to standard error, and nothing else of anybody's."""
    handler = logging.StreamHandler(sys.stderr if stream is None else stream)  # type: ignore[arg-type]
    handler.setFormatter(logging.Formatter("%(message)s"))
    _log.handlers, _log.propagate = [handler], False
    _log.setLevel(logging.INFO)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "asyncio"):
        other = logging.getLogger(name)
        other.handlers, other.propagate = [], False
        other.setLevel(logging.CRITICAL + 1)  # their lines may hold paths, and tracebacks
    warnings.simplefilter("ignore")  # whose lines may hold anything


def coarse(seconds: float) -> int:
    """Milliseconds, rounded up to a power of two."""
    return 1 << max(0, math.ceil(math.log2(max(seconds * 1000, 1e-9))))


def request(*, request_id: str, method: str, route: str, status: int, seconds: float, person: str | None) -> None:
    """Note that a request was answered."""
    if _log.isEnabledFor(logging.INFO):
        event(
            "request",
            request_id=request_id,
            method=method,
            route=route,
            status=status,
            milliseconds=coarse(seconds),
            person=person,
        )


def event(what: str, **facts: str | int | None) -> None:
    """Note that something happened; the facts are names and numbers of the service itself."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    _log.info(json.dumps({"time": now, "event": what, **facts}))
