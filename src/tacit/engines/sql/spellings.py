"""Raw columns whose cells are written in a way of their own, in SQL: the plainly written cells that they stand for.

`query.values.cells.plainly` is the definition, and `query.values.reading` says what may be written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from ...query.values.cells import COMMA_TO_POINT, LONGEST, spelled_numbers
from ...query.values.column_types import ColumnType
from ...query.values.domain import DAY
from ...query.values.reading import PLAIN, DateForm, date_form
from .dialect import Dialect, binary, call, case, cast, constant, double, number
from .raw_columns import RawColumn

_COMMA, _POINT = "".join(map(chr, COMMA_TO_POINT)), "".join(map(chr, COMMA_TO_POINT.values()))


def plainly(raw: RawColumn, column: ColumnType, d: Dialect) -> RawColumn:
    """The raw column of the plainly written cells."""
    reading = column.reading
    if raw.kind == "canonical" or reading == PLAIN:
        return raw
    raw = without(raw, reading.missing)
    match column.domain.kind:
        case "boolean" if reading.true and raw.kind != "boolean":
            return RawColumn("boolean", _word(raw, reading.true, reading.false, d))
        case "number" if reading.decimal == "," and raw.kind == "text":
            short = binary(exp.LTE, exp.Length(this=raw.sql.copy()), number(LONGEST))
            points = call("TRANSLATE", raw.sql, constant(_COMMA), constant(_POINT))
            return RawColumn("text", case((short, points)))
        case "date" | "timestamp" if reading.form and raw.kind == "text":
            days, seconds = _dated(raw.sql, date_form(reading.form), d)
            if column.domain.kind == "date":
                return RawColumn("date", days)
            midnight = binary(exp.Mul, cast(days, d.integers[64]), number(DAY))
            return RawColumn("timestamp", binary(exp.Add, midnight, seconds))
    return raw


def without(raw: RawColumn, missing: tuple[str, ...]) -> RawColumn:
    """The raw column without cells that spell a missing value."""
    match raw.kind:
        case "text":
            spelled: Sequence[exp.Expr] = [constant(text) for text in missing]
        case "integer":
            end = 1 << (min(raw.bits, 64) - 1 if raw.bits <= 64 else 64)  # 128 bits: of what has 64 without a sign
            whole = (int(text) for text in missing if text.lstrip("-").isdecimal() and str(int(text)) == text)
            spelled = [number(n) for n in whole if -end <= n < end]
        case "double" | "decimal":
            spelled = [double(x) for x in spelled_numbers(missing)]
        case _:
            spelled = []
    if not spelled:
        return raw
    listed = exp.Paren(this=exp.In(this=(raw.double or raw.sql).copy(), expressions=list(spelled)))
    kept = case((listed, exp.Null()), otherwise=raw.sql)
    if raw.double is None:
        return replace(raw, sql=kept)
    return replace(raw, sql=kept, double=case((listed.copy(), exp.Null()), otherwise=raw.double))


def _word(raw: RawColumn, true: Sequence[str], false: Sequence[str], d: Dialect) -> exp.Expr:
    if raw.kind not in ("integer", "text"):
        return exp.Null()
    x = d.text(raw.sql)
    meanings = ((true, exp.true()), (false, exp.false()))
    return case(*((_among(x, words), meaning) for words, meaning in meanings))


def _among(x: exp.Expr, words: Sequence[str]) -> exp.Expr:
    return exp.Paren(this=exp.In(this=x.copy(), expressions=[constant(word) for word in words]))


def _dated(x: exp.Expr, form: DateForm, d: Dialect) -> tuple[exp.Expr, exp.Expr]:
    """Days since 1970, and seconds of the day, of a text of this form; it is examined only as far as the form goes."""
    head = exp.Substring(this=x.copy(), start=number(1), length=number(form.longest + 1))
    part = {name: d.group(head.copy(), form.pattern, i) for i, name in enumerate(form.parts, 1)}
    month, day = (call("RIGHT", call("CONCAT", constant("0"), part[name]), number(2)) for name in "md")
    written = call("CONCAT", part["Y"], constant("-"), month, constant("-"), day)
    fits = binary(exp.And, d.matches(head, form.pattern), binary(exp.NEQ, part["Y"].copy(), constant("0000")))
    seconds: exp.Expr = cast(number(0), d.integers[64])
    for name, size in (("H", 3600), ("M", 60), ("S", 1)):
        if name in part:
            times = binary(exp.Mul, d.try_cast(part[name], d.integers[64]), number(size))
            seconds = binary(exp.Add, seconds, times)
    return d.day(case((fits, written))), seconds
