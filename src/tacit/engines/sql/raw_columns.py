"""Raw columns in SQL: the canonical value of each cell, for columns that a database has typed.

`query.values.cells` is the definition.  A cell that is not a value of the declared type is missing.  A database may
evaluate branches of a CASE that it does not choose, so nothing here may raise: values are clamped before a cast, and
casts of text are tried.  Only the beginning of a text, or a short text, is examined: PostgreSQL fails on expressions
over very long ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from ...query.values.cells import LONGEST, NUMBER, WORDS
from ...query.values.column_types import ColumnType
from ...query.values.domain import DAY, DAYS, ValueDomain
from .dialect import Dialect, binary, case, cast, constant, double, number

DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]?", 11  # a pattern, and how many characters of a text must match it
_MAX_EXACT = 1 << 51  # doubles hold halves of integers below it exactly
_CLOCK = r"([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,9})?)?"
_ZONED = rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}([T ]{_CLOCK}(Z|[+-]([01][0-9]|2[0-3])(:?[0-5][0-9])?)?)?"
TIMESTAMP = _ZONED, 36  # one more than the longest has
_TO_MINUTES = 16  # characters of a timestamp without seconds


@dataclass(frozen=True)
class RawColumn:
    """A column as the database has it: integers of `bits` bits, doubles, decimals, and so on.

    A date is an integer in days and a timestamp one in seconds; a column of kind "canonical" needs no conversion.
    """

    kind: Literal["integer", "double", "decimal", "boolean", "text", "date", "timestamp", "canonical", "other"]
    sql: exp.Expr
    bits: int = 64
    double: exp.Expr | None = None  # a decimal as the nearest double


def kinds(raw: Mapping[str, RawColumn]) -> dict[str, str]:
    """The type of each column, in a schema's words."""
    words = {"double": "real", "decimal": "real"}
    return {name: words.get(column.kind, column.kind) for name, column in raw.items()}


def canonical(raw: RawColumn, column: ColumnType, d: Dialect) -> exp.Expr:
    """The canonical value of each cell (steps, text, or missing), in the smallest type that holds the domain."""
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


def unit(raw: RawColumn, d: Dialect) -> exp.Expr:
    """The unit of each row: an integer of 64 bits where the column allows, else text; or missing."""
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
    """A decimal that is an integer, else missing."""
    return case((binary(exp.EQ, x, d.truncated(x.copy())), d.truncated(x.copy())))


def _text(raw: RawColumn, d: Dialect) -> exp.Expr:
    return d.text(raw.sql) if raw.kind in ("integer", "text") else exp.Null()


def _clamped(x: exp.Expr, domain: ValueDomain) -> exp.Expr:
    low, high = number(domain.lower), number(domain.upper)
    below, above = binary(exp.LT, x, low), binary(exp.GT, x.copy(), high)
    return case((below, low.copy()), (above, high.copy()), otherwise=x.copy())


def _number(raw: RawColumn, domain: ValueDomain, d: Dialect) -> exp.Expr:
    x = raw.sql
    match raw.kind:
        case "integer":
            return _whole(raw, domain, d)
        case "boolean":
            return _whole(RawColumn("integer", d.flag(x), d.bits(0, 1)), domain, d)
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
    exact = max(abs(domain.lower), abs(domain.upper)) < _MAX_EXACT  # then the bounds are exact as doubles
    return steps if exact else _clamped(cast(steps, d.integers[64]), domain)


def _short(x: exp.Expr) -> exp.Expr:
    return binary(exp.LTE, exp.Length(this=x.copy()), number(LONGEST))


def _whole(raw: RawColumn, domain: ValueDomain, d: Dialect) -> exp.Expr:
    """floor(x / grid + 1/2) for integers x and a grid that is a power of two, in integer arithmetic."""
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


def _boolean(raw: RawColumn, d: Dialect) -> exp.Expr:
    x = raw.sql
    match raw.kind:
        case "boolean":
            return d.flag(x)
        case "integer" | "double" | "decimal":
            x = _entire(x, d) if raw.kind == "decimal" else x  # a decimal type with 38 fractional digits cannot hold 1
            return case(*((binary(exp.EQ, x.copy(), number(value)), number(value)) for value in (0, 1)))
        case "text":
            words = ((constant(word), number(value)) for word, value in WORDS.items())
            return case((_short(x), case(*words, of=exp.Lower(this=d.trimmed(x.copy(), " ")))))
    return exp.Null()


def _category(raw: RawColumn, column: ColumnType, d: Dialect) -> exp.Expr:
    if raw.kind == "boolean":
        true, false = (column.places.get(word) for word in ("true", "false"))
        places = [exp.Null() if place is None else number(place) for place in (true, false)]
        return case((raw.sql, places[0]), (exp.Not(this=raw.sql.copy()), places[1]))
    if raw.kind in ("integer", "text"):
        return d.label(d.text(raw.sql), column.domain.labels)
    return exp.Null()


def _days(raw: RawColumn, d: Dialect) -> exp.Expr:
    match raw.kind:
        case "date":
            return raw.sql
        case "text":
            return _written_day(raw.sql, DATE, d)
    return cast(exp.Null(), d.integers[64])


def _written_day(x: exp.Expr, form: tuple[str, int], d: Dialect) -> exp.Expr:
    """Days since 1970 of a text that begins with a date; the year 0, which some databases accept, is missing."""
    days = d.day(case((d.matches(_part(x, number(1), form[1]), form[0]), _part(x, number(1), 10))))
    return case((binary(exp.GTE, days, number(DAYS[0])), days.copy()))


def _seconds(raw: RawColumn, d: Dialect) -> exp.Expr:
    wide = d.integers[64]
    match raw.kind:
        case "timestamp":
            return raw.sql
        case "date":
            return binary(exp.Mul, cast(raw.sql, d.integers[128]), number(DAY))
        case "text":
            x = raw.sql
            total = binary(exp.Mul, cast(_written_day(x, TIMESTAMP, d), wide), number(DAY))
            second = case((binary(exp.EQ, _part(x, number(17), 1), constant(":")), _part(x, number(18), 2)))
            for digits, size in ((_part(x, number(12), 2), 3600), (_part(x, number(15), 2), 60), (second, 1)):
                total = binary(exp.Add, total, _times(digits, size, d))
            return binary(exp.Sub, total, _offset(x, d))
    return cast(exp.Null(), wide)


def _offset(x: exp.Expr, d: Dialect) -> exp.Expr:
    """The UTC offset of a written timestamp, in seconds: +hh:mm, +hhmm or +hh at its end, or none."""
    none = binary(exp.LTE, exp.Length(this=x.copy()), number(_TO_MINUTES)), number(0)
    ends = []
    for length, places in ((6, ((5, 3600), (2, 60))), (5, ((4, 3600), (2, 60))), (3, ((2, 3600),))):
        hours, *minutes = (_times(_part(x, _back(x, place), 2), size, d) for place, size in places)
        seconds = binary(exp.Add, hours, minutes[0]) if minutes else hours
        for sign, way in (("+", 1), ("-", -1)):
            has_sign = binary(exp.EQ, _part(x, _back(x, length), 1), constant(sign))
            ends.append((has_sign, binary(exp.Mul, seconds.copy(), number(way))))
    return case(none, *ends, otherwise=number(0))


def _part(x: exp.Expr, start: exp.Expr, length: int) -> exp.Expr:
    return exp.Substring(this=x.copy(), start=start, length=number(length))


def _back(x: exp.Expr, places: int) -> exp.Expr:
    """The position at which the last `places` characters of a text begin."""
    return binary(exp.Sub, exp.Length(this=x.copy()), number(places - 1))


def _times(digits: exp.Expr, seconds: int, d: Dialect) -> exp.Expr:
    """The number that the digits spell, times `seconds`; 0 if they spell none."""
    part = exp.Coalesce(this=d.try_cast(digits, d.integers[64]), expressions=[number(0)])
    return binary(exp.Mul, part, number(seconds))
