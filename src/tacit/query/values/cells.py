"""The meaning of a raw cell: whole steps of its column's domain, text, or missing.

This is the reference that every engine must meet.  It is total: every cell has a value within the declared domain or
is missing, and nothing is raised, so no error reveals what a row holds.  None, NaN and NaT are missing, and so is every
value that a column's type does not list below (bytes, lists, times of day, ...).

    integer, real   whole numbers, clamped as such; doubles, decimals (as the nearest double) and text that matches
                    NUMBER in at most LONGEST characters (as the nearest double): clamped, then floor(x / grid + 0.5) in
                    doubles; booleans as 0, 1
    boolean         booleans; numbers equal to 0 or 1; the words of WORDS in any case, spaces around them dropped, in as
                    many characters at most
    category        text that is a label, to the letter; whole numbers in digits; booleans as true, false
    date            dates; timestamps by their date in UTC; text YYYY-MM-DD, alone or before "T" or a space and anything
    timestamp       timestamps, down to whole seconds; dates, as midnight; text that matches TIMESTAMP, which may end
                    with Z or with an offset from UTC
    text            text; whole numbers in digits
    unit            text; whole numbers in digits; so too doubles and decimals that are whole

A column may say that its cells are written otherwise (`reading`); they are then read as if written so.

Whole numbers in digits are those of at most 38 of them, and whole doubles those within 64 bits; a UUID is its text.
Timestamps without a time zone are in UTC, whatever the zone of the machine; text that is not Unicode is missing.
"""

from __future__ import annotations

import datetime
import math
import re
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np

from .column_types import ColumnType
from .domain import DAY, EPOCH, ValueDomain
from .nodes import CellValue
from .reading import PLAIN, date_form

NUMBER = re.compile(r"[ \t]*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?[ \t]*")
LONGEST = 15_000  # characters of a number or a word: PostgreSQL reads no number of many more
DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[T ].*)?", re.DOTALL)
TIMESTAMP = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
    r"(?:[T ]([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9])(?:\.[0-9]{1,9})?)?"
    r"(?:Z|([+-])([01][0-9]|2[0-3])(?::?([0-5][0-9]))?)?)?"
)
_HALF = re.compile("[\ud800-\udfff]")
COMMA_TO_POINT = str.maketrans(",.", ".;")  # a point becomes what no number has
WORDS = {"true": 1, "false": 0, "t": 1, "f": 0, "yes": 1, "no": 0, "1": 1, "0": 0}

_DIGITS = 10**38  # whole numbers below it are written in digits
_WIDE = 2.0**63  # whole doubles below it are
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_SECONDS = {"m": 60, "h": 3600, "D": DAY, "W": 7 * DAY}
_SECOND = datetime.timedelta(seconds=1)


def steps(raw: object, column: ColumnType) -> CellValue:
    """The steps, text or missing value that a raw cell means in a column of this type."""
    if isinstance(raw, Canonical):
        return raw.value
    raw, domain = _plain(raw), column.domain
    if column.reading != PLAIN:
        raw = plainly(raw, column)
    match domain.kind:
        case "number":
            return _number(raw, domain)
        case "boolean":
            return _boolean(raw)
        case "category":
            text = ("false", "true")[raw] if isinstance(raw, bool) else _digits(raw)
            return None if text is None else column.places.get(text)
        case "date":
            seconds = _seconds(raw, DATE)
            return None if seconds is None else _clamp(seconds // DAY, domain)
        case "timestamp":
            seconds = _seconds(raw, TIMESTAMP)
            return None if seconds is None else _clamp(seconds, domain)
    return _digits(raw)


@dataclass(frozen=True)
class Canonical:
    """A cell whose meaning is known already, since it was read where its type was."""

    value: CellValue


def plainly(raw: object, column: ColumnType) -> object:
    """The plainly written cell that a cell stands for, in a column whose cells are written otherwise."""
    reading = column.reading
    if _spells_missing(raw, reading.missing):
        return None
    match column.domain.kind:
        case "boolean" if reading.true and not isinstance(raw, bool):
            text = _digits(raw)
            return True if text in reading.true else False if text in reading.false else None
        case "number" if reading.decimal == "," and isinstance(raw, str):
            return raw.translate(COMMA_TO_POINT)
        case "date" | "timestamp" if reading.form and isinstance(raw, str):
            return date_form(reading.form).plain(raw)
    return raw


def _spells_missing(raw: object, missing: tuple[str, ...]) -> bool:
    if isinstance(raw, float | Decimal):
        return float(raw) in spelled_numbers(missing)
    return _digits(raw) in missing


@lru_cache(maxsize=256)
def spelled_numbers(spellings: tuple[str, ...]) -> tuple[float, ...]:
    """The finite numbers that some of these texts spell, as the nearest doubles."""
    numbers = {float(text) for text in spellings if NUMBER.fullmatch(text)}
    return tuple(sorted(x for x in numbers if math.isfinite(x)))


def unit_text(raw: object, missing: tuple[str, ...] = ()) -> str | None:
    """The text that identifies a unit; rows for which it is missing are left out."""
    raw = _plain(raw)
    if missing and _spells_missing(raw, missing):
        return None
    match raw:
        case float() if abs(raw) < _WIDE and raw == math.floor(raw):
            return str(int(raw))
        case Decimal() if raw.is_finite() and raw.adjusted() < 38 and raw == raw.to_integral_value():
            return str(int(raw))
    return _digits(raw)


def row_text(row: Iterable[CellValue]) -> str:
    """The canonical text of the values of a row, in the order of the schema, or of the keys of a cell."""
    return ",".join(map(_cell_text, row))


def _cell_text(value: CellValue) -> str:
    match value:
        case None:
            return "n"
        case int():
            return f"i{value}"
    return f"t{len(value.encode())}:{value}"


def _plain(raw: object) -> object:
    """A cell as a plain Python value: numpy scalars converted, NaN, NaT and text that is not Unicode as None."""
    match raw:
        case np.datetime64():
            return _numpy_seconds(raw)
        case np.timedelta64():
            return None
        case np.generic():
            raw = float(raw) if isinstance(raw, np.floating) else raw.item()
    match raw:
        case float():
            return None if math.isnan(raw) else raw
        case Decimal():
            return None if raw.is_nan() else raw
        case datetime.date() if hasattr(raw, "to_datetime64"):  # of pandas, which goes beyond Python's years
            return _numpy_seconds(raw.to_datetime64())
        case datetime.date():
            return None if math.isnan(raw.year) else raw  # NaT says that it is a datetime
        case str():
            return None if _HALF.search(raw) else str(raw)
        case uuid.UUID():
            return str(raw)
    return raw


def _number(raw: object, domain: ValueDomain) -> int | None:
    match raw:
        case int():  # booleans too
            return _clamp(math.floor(int(raw) / domain.grid + Fraction(1, 2)), domain)
        case Decimal() | float():
            x = float(raw)
        case str() if len(raw) <= LONGEST and NUMBER.fullmatch(raw):
            x = float(raw)
        case _:
            return None
    grid = float(domain.grid)
    x = min(max(x, domain.lower * grid), domain.upper * grid)  # as doubles, so that what follows is finite
    return _clamp(math.floor(x / grid + 0.5), domain)


def _boolean(raw: object) -> int | None:
    match raw:
        case str() if len(raw) <= LONGEST:
            return WORDS.get(raw.strip(" ").lower())
        case int() | float() | Decimal() if raw in (0, 1):
            return int(raw == 1)
    return None


def _digits(raw: object) -> str | None:
    match raw:
        case str():
            return raw
        case int() if not isinstance(raw, bool) and abs(raw) < _DIGITS:
            return str(int(raw))
    return None


def _seconds(raw: object, pattern: re.Pattern[str]) -> int | None:
    """Seconds since 1970 in UTC, rounded down; text is read by the pattern."""
    match raw:
        case datetime.datetime():
            since = datetime.timedelta(
                raw.toordinal() - EPOCH.toordinal(), raw.second, raw.microsecond, 0, raw.minute, raw.hour
            )
            return (since - (raw.utcoffset() or datetime.timedelta())) // _SECOND
        case datetime.date():
            return (raw - EPOCH).days * DAY
        case _Seconds():
            return raw.seconds
        case str() if found := pattern.fullmatch(raw):
            year, month, day, *clock = found.groups("0")
            try:
                days = (datetime.date(int(year), int(month), int(day)) - EPOCH).days
            except ValueError:  # no such day
                return None
            if not clock:
                return days * DAY
            before = 1 if clock.pop(3) == "+" else -1  # a clock east of Greenwich is before UTC
            hour, minute, second, hours, minutes = map(int, clock)
            return days * DAY + (hour - before * hours) * 3600 + (minute - before * minutes) * 60 + second
    return None


class _Seconds:
    """A timestamp of numpy, which may lie beyond the years that Python supports."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds


def _numpy_seconds(raw: np.datetime64) -> _Seconds | None:
    unit, count = np.datetime_data(raw.dtype)
    ticks = int(raw.astype(np.int64)) * count
    if np.isnat(raw):
        return None
    if unit in _SECONDS:
        return _Seconds(ticks * _SECONDS[unit])
    return _Seconds(ticks // _PER_SECOND[unit]) if unit in _PER_SECOND else None


def _clamp(step: int, domain: ValueDomain) -> int:
    return min(max(step, domain.lower), domain.upper)
