"""The meaning of a raw cell in SQL: `query.values.cells`, for columns that a database has typed.

A column of one type is a `Raw` of one kind, and what cannot be a value of the declared type is missing throughout.
Databases compute what a CASE does not choose, so nothing here can raise: casts are tried, and clamped before.  And of
text only a beginning is looked at, or text that is not long: PostgreSQL fails on expressions over very long ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from ...query.values.cells import LONGEST, NUMBER, WORDS
from ...query.values.column_types import ColumnType
from ...query.values.domain import DAY, DAYS, Domain
from .dialect import Dialect, binary, case, cast, constant, double, number

DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]?", 11  # of the first so many characters of a text
_EXACT = 1 << 51  # halves of whole numbers below it are doubles
_CLOCK = r"([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,9})?)?"
_ZONED = rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}([T ]{_CLOCK}(Z|[+-]([01][0-9]|2[0-3])(:?[0-5][0-9])?)?)?"
MOMENT = _ZONED, 36  # more than the longest has
_MINUTES = 16  # characters of a moment without seconds


@dataclass(frozen=True)
class Raw:
    """A column as the database has it: whole numbers of `bits`, doubles, decimals as they are, and so on.

    A date is in days, a timestamp in whole seconds, both as integers; what is canonical already is left as it is.
    """

    kind: Literal["integer", "double", "decimal", "boolean", "text", "date", "timestamp", "canonical", "other"]
    sql: exp.Expr
    bits: int = 64
    double: exp.Expr | None = None  # a decimal as the nearest double


def kinds(raw: Mapping[str, Raw]) -> dict[str, str]:
    """What columns hold, in a schema's words."""
    words = {"double": "real", "decimal": "real"}
    return {name: words.get(column.kind, column.kind) for name, column in raw.items()}


def canonical(raw: Raw, column: ColumnType, d: Dialect) -> exp.Expr:
    """The steps, the text, or missing, in the least type that holds the column's domain."""
    domain = column.domain
    if raw.kind == "canonical":
        return raw.sql
    if domain.kind == "text":
        return cast(_text(raw, d), "TEXT")
    match domain.kind:
        case "number":
            steps = _number(raw, domain, d)
        case "boolean":
            steps = _boolean(raw, d)
        case "category":
            steps = _category(raw, column, d)
        case "date":
            steps = _clamped(floored(raw.sql, DAY, d) if raw.kind == "timestamp" else _days(raw, d), domain)
        case _:
            steps = _clamped(_seconds(raw, d), domain)
    return cast(steps, d.integers[d.bits(domain.lower, domain.upper)])


def unit(raw: Raw, d: Dialect) -> exp.Expr:
    """What names a unit, whole numbers of 64 bits as such and all else as text, or missing."""
    x = raw.sql
    match raw.kind:
        case "integer" if raw.bits > 64:
            return d.text(x)
        case "integer":
            return x if raw.bits == 64 else cast(x, d.integers[64])
        case "text":
            return x
        case "double":
            small = binary(exp.LT, exp.Abs(this=x), double(2.0**63))
            whole = binary(exp.And, small, binary(exp.EQ, x.copy(), exp.Floor(this=x.copy())))
            return cast(case((whole, x.copy())), d.integers[64])
        case "decimal":
            return d.text(cast(_entire(x, d), d.integers[128]))
    return cast(exp.Null(), "TEXT")


def _entire(x: exp.Expr, d: Dialect) -> exp.Expr:
    """A decimal that is a whole number, else missing."""
    return case((binary(exp.EQ, x, d.truncated(x.copy())), d.truncated(x.copy())))


def _text(raw: Raw, d: Dialect) -> exp.Expr:
    return d.text(raw.sql) if raw.kind in ("integer", "text") else exp.Null()


def _clamped(x: exp.Expr, domain: Domain) -> exp.Expr:
    low, high = number(domain.lower), number(domain.upper)
    below, above = binary(exp.LT, x, low), binary(exp.GT, x.copy(), high)
    return case((below, low.copy()), (above, high.copy()), otherwise=x.copy())


def _number(raw: Raw, domain: Domain, d: Dialect) -> exp.Expr:
    x = raw.sql
    match raw.kind:
        case "integer":
            return _whole(raw, domain, d)
        case "boolean":
            return _whole(Raw("integer", d.flag(x), d.bits(0, 1)), domain, d)
        case "decimal":
            assert raw.double is not None
            x = raw.double
        case "text":
            read = case((d.matches(x, NUMBER.pattern), d.try_cast(d.trimmed(x.copy(), " \t"), "DOUBLE")))
            x = case((_short(x), read))
        case "double":
            pass
        case _:
            return exp.Null()
    grid = float(domain.grid)
    y = d.bounded(x, domain.lower * grid, domain.upper * grid)
    steps = exp.Floor(this=binary(exp.Add, d.scaled(y, grid), double(0.5)))
    exact = max(abs(domain.lower), abs(domain.upper)) < _EXACT  # the bounds were exact, as doubles
    return steps if exact else _clamped(cast(steps, d.integers[64]), domain)


def _short(x: exp.Expr) -> exp.Expr:
    return binary(exp.LTE, exp.Length(this=x.copy()), number(LONGEST))


def _whole(raw: Raw, domain: Domain, d: Dialect) -> exp.Expr:
    """Whole numbers on a grid of a power of two, without a detour over doubles: floor(x / grid + 1/2)."""
    x, grid, wide = raw.sql, domain.grid, d.integers[128]
    if grid == 1:
        return _clamped(x, domain)
    if grid < 1:  # clamped first, so that the product fits
        fine = grid.denominator
        near = domain.within(domain.lower // fine - 1, domain.upper // fine + 1)
        if fine < 1 << 60:
            return _clamped(binary(exp.Mul, cast(_clamped(x, near), wide), cast(number(fine), wide)), domain)
        ends = {-1: domain.lower, 0: min(max(0, domain.lower), domain.upper), 1: domain.upper}
        signs = {-1: exp.LT, 0: exp.EQ, 1: exp.GT}
        return case(*((binary(signs[i], x.copy(), number(0)), number(end)) for i, end in ends.items()))
    half = int(grid) // 2  # floor(x / grid + 1/2) = floor((floor(x / half) + 1) / 2)
    if half >= 1 << 126:
        below, above = binary(exp.LT, x, number(0)), binary(exp.GTE, x.copy(), number(0))
        halves = cast(case((below, number(-1)), (above, number(0))), wide)
    else:
        halves = floored(cast(x, wide), half, d)
    return _clamped(floored(binary(exp.Add, halves, cast(number(1), wide)), 2, d), domain)


def floored(x: exp.Expr, by: int, d: Dialect) -> exp.Expr:
    """floor(x / by), for a positive constant."""
    wide = d.integers[128]
    above = d.quotient(cast(x, wide), cast(number(by), wide), 128)
    below = d.quotient(binary(exp.Add, cast(x.copy(), wide), cast(number(1), wide)), cast(number(by), wide), 128)
    positive, negative = (binary(sign, x.copy(), number(0)) for sign in (exp.GTE, exp.LT))
    return case((positive, above), (negative, binary(exp.Sub, below, number(1))))


def _boolean(raw: Raw, d: Dialect) -> exp.Expr:
    x = raw.sql
    match raw.kind:
        case "boolean":
            return d.flag(x)
        case "integer" | "double" | "decimal":
            x = _entire(x, d) if raw.kind == "decimal" else x  # a type of 38 digits after the point has no 1
            return case(*((binary(exp.EQ, x.copy(), number(value)), number(value)) for value in (0, 1)))
        case "text":
            words = ((constant(word), number(value)) for word, value in WORDS.items())
            return case((_short(x), case(*words, of=exp.Lower(this=d.trimmed(x.copy(), " ")))))
    return exp.Null()


def _category(raw: Raw, column: ColumnType, d: Dialect) -> exp.Expr:
    if raw.kind == "boolean":
        true, false = (column.places.get(word) for word in ("true", "false"))
        places = [exp.Null() if place is None else number(place) for place in (true, false)]
        return case((raw.sql, places[0]), (exp.Not(this=raw.sql.copy()), places[1]))
    if raw.kind in ("integer", "text"):
        return d.label(d.text(raw.sql), column.domain.labels)
    return exp.Null()


def _days(raw: Raw, d: Dialect) -> exp.Expr:
    match raw.kind:
        case "date":
            return raw.sql
        case "text":
            return _written_day(raw.sql, DATE, d)
    return cast(exp.Null(), d.integers[64])


def _written_day(x: exp.Expr, form: tuple[str, int], d: Dialect) -> exp.Expr:
    """Days since 1970 of text that begins with a date; the year 0 of some databases is none."""
    days = d.day(case((d.matches(_part(x, number(1), form[1]), form[0]), _part(x, number(1), 10))))
    return case((binary(exp.GTE, days, number(DAYS[0])), days.copy()))


def _seconds(raw: Raw, d: Dialect) -> exp.Expr:
    wide = d.integers[64]
    match raw.kind:
        case "timestamp":
            return raw.sql
        case "date":
            return binary(exp.Mul, cast(raw.sql, d.integers[128]), number(DAY))
        case "text":
            x = raw.sql
            total = binary(exp.Mul, cast(_written_day(x, MOMENT, d), wide), number(DAY))
            second = case((binary(exp.EQ, _part(x, number(17), 1), constant(":")), _part(x, number(18), 2)))
            for digits, size in ((_part(x, number(12), 2), 3600), (_part(x, number(15), 2), 60), (second, 1)):
                total = binary(exp.Add, total, _times(digits, size, d))
            return binary(exp.Sub, total, _offset(x, d))
    return cast(exp.Null(), wide)


def _offset(x: exp.Expr, d: Dialect) -> exp.Expr:
    """Seconds by which the clock of a moment is before UTC: it ends with +hh:mm, +hhmm or +hh, or with none."""
    none = binary(exp.LTE, exp.Length(this=x.copy()), number(_MINUTES)), number(0)
    ends = []
    for length, places in ((6, ((5, 3600), (2, 60))), (5, ((4, 3600), (2, 60))), (3, ((2, 3600),))):
        hours, *minutes = (_times(_part(x, _back(x, place), 2), size, d) for place, size in places)
        seconds = binary(exp.Add, hours, minutes[0]) if minutes else hours
        for sign, way in (("+", 1), ("-", -1)):
            found = binary(exp.EQ, _part(x, _back(x, length), 1), constant(sign))
            ends.append((found, binary(exp.Mul, seconds.copy(), number(way))))
    return case(none, *ends, otherwise=number(0))


def _part(x: exp.Expr, start: exp.Expr, length: int) -> exp.Expr:
    return exp.Substring(this=x.copy(), start=start, length=number(length))


def _back(x: exp.Expr, places: int) -> exp.Expr:
    """Where the last so many characters of a text begin."""
    return binary(exp.Sub, exp.Length(this=x.copy()), number(places - 1))


def _times(digits: exp.Expr, seconds: int, d: Dialect) -> exp.Expr:
    """So many seconds as digits say, or none if they do not."""
    part = exp.Coalesce(this=d.try_cast(digits, d.integers[64]), expressions=[number(0)])
    return binary(exp.Mul, part, number(seconds))
