"""The constructors of values that PEP 249 names."""

from __future__ import annotations

import datetime as dt
import time

Date, Time, Timestamp, Binary = dt.date, dt.time, dt.datetime, bytes


def DateFromTicks(ticks: float) -> dt.date:  # noqa: N802  # the name that PEP 249 gives it
    """The local date so many seconds after the epoch."""
    return dt.date(*time.localtime(ticks)[:3])


def TimeFromTicks(ticks: float) -> dt.time:  # noqa: N802
    """The local time of day so many seconds after the epoch."""
    return dt.time(*time.localtime(ticks)[3:6])


def TimestampFromTicks(ticks: float) -> dt.datetime:  # noqa: N802
    """The local date and time so many seconds after the epoch."""
    return dt.datetime(*time.localtime(ticks)[:6])
