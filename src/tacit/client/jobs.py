"""Jobs of a service: what takes long is queued, looked at now and then, and fetched when it is done."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from ..core.progress import report
from .connection import Connection, Reply
from .errors import Conflict
from .refusals import error_of

_FIRST, _LONGEST = 0.02, 1.0  # seconds between two looks


def finished(connection: Connection, job: Mapping[str, Any], what: str) -> Reply:
    """The result of a job, in tacit's own form; its progress is reported, and its error is raised."""
    wait, place = _FIRST, f"/v1/jobs/{job['id']}"
    while (state := job["state"]) not in ("done", "failed", "cancelled"):
        report(what, job["share"])
        time.sleep(wait)
        wait = min(2 * wait, _LONGEST)
        job = connection.request("GET", place).json()
    if state == "failed":
        raise error_of({"error": {"code": job["code"], "message": job["error"]}})
    if state == "cancelled":
        raise Conflict("This job was cancelled. If it was charged, the charge is kept: ask again, free.")
    report(what, 1.0)
    return connection.request("GET", f"{place}/result?format=release")
