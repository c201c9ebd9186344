"""The SQL dialect of Spark, and the raw columns of its types.

Integers beyond 64 bits are decimals of 38 digits, which are slow, and so are used only where they are needed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from ...query.values.nodes import DatePartName
from ..sql.dialect import (
    Dialect,
    Typed,
    binary,
    call,
    case,
    cast,
    constant,
    number,
    there,
    within,
)
from ..sql.raw_columns import RawColumn

_DATE_PARTS = {"year": "YEAR", "quarter": "QUARTER", "month": "MONTH", "day": "DAY"}
_INTEGER_BITS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
_MAX_ARRAY_PER_KEY = 4  # a lookup array has at most this many entries for each key
_MAX_CASE = 16  # keys that are compared one by one


class SparkDialect(Dialect):
    """Spark, under settings with which no expression raises (`session.SETTINGS`)."""

    name = "spark"
    integers = {8: "TINYINT", 16: "SMALLINT", 32: "INT", 64: "BIGINT", 128: "DECIMAL(38, 0)"}  # noqa: RUF012

    def joined(self, parts: Sequence[exp.Expr]) -> exp.Expr:
        return call("CONCAT_WS", constant(""), *parts)

    def hexadecimal(self, e: exp.Expr, digits: int) -> exp.Expr:
        return cast(call("CONV", call("LEFT", e, number(digits)), number(16), number(10)), self.integers[64])

    def flag(self, condition: exp.Expr) -> exp.Expr:
        return cast(condition, "TINYINT")

    def total(self, e: exp.Expr, bits: int) -> exp.Expr:
        return exp.Sum(this=e if bits <= 64 else cast(e, self.integers[128]))

    def quotient(self, a: exp.Expr, b: exp.Expr, bits: int) -> exp.Expr:
        if bits <= 64:
            return binary(exp.IntDiv, a, b)
        whole = binary(exp.Sub, a, binary(exp.Mod, a.copy(), b))  # DIV has 64 bits only, and / rounds
        return cast(binary(exp.Div, whole, b.copy()), self.integers[128])

    def date_part(self, part: DatePartName, days: exp.Expr) -> exp.Expr:
        day = call("DATE_FROM_UNIX_DATE", cast(days, "INT"))
        return binary(exp.Add, call("WEEKDAY", day), number(1)) if part == "weekday" else call(_DATE_PARTS[part], day)

    def lookup(self, a: Typed, keys: Sequence[int | str], values: Sequence[int]) -> exp.Expr:
        if len(keys) <= _MAX_CASE:
            return super().lookup(a, keys, values) if keys else cast(exp.Null(), "INT")
        whole = [key for key in keys if isinstance(key, int)]
        entries: list[int | None]
        if len(whole) == len(keys) and (span := max(whole) - min(whole) + 1) <= _MAX_ARRAY_PER_KEY * len(keys):
            entries, first = [None] * span, min(whole)
            for key, value in zip(whole, values, strict=True):
                entries[key - first] = value
            place = cast(binary(exp.Sub, self.widened(a, 64), number(first)), "INT")
            return case((within(a.sql.copy(), first, first + span - 1), call("GET", _array(entries), place)))
        if whole:
            listed, sought = _array(whole), self.widened(a, 64)
        else:
            listed, sought = exp.Array(expressions=[constant(key) for key in keys]), a.sql
        return call("TRY_ELEMENT_AT", call("MAP_FROM_ARRAYS", listed, _array(list(values))), sought)

    def like(self, e: exp.Expr, pieces: Sequence[str]) -> exp.Expr:
        """Whether text consists of these pieces, in order.

        A LIKE of several pieces would backtrack; it is enough to continue from the first match of each piece.
        """
        first, *middle, last = pieces
        if not middle or not (first or middle[1:] or last):  # no backtracking is possible
            return super().like(e, pieces)
        each = "".join(f"(?>.*?{re.escape(piece)})" for piece in middle)
        return self.matches(e, f"(?s){re.escape(first)}{each}.*{re.escape(last)}")

    def matches(self, e: exp.Expr, pattern: str) -> exp.Expr:
        return exp.Paren(this=exp.RegexpLike(this=e, expression=constant(rf"\A(?:{pattern})\z")))

    def group(self, e: exp.Expr, pattern: str, number_: int) -> exp.Expr:
        return call("REGEXP_EXTRACT", e, constant(rf"\A(?:{pattern})\z"), number(number_))

    def day(self, e: exp.Expr) -> exp.Expr:
        return call("UNIX_DATE", self.try_cast(e, "DATE"))

    def truncated(self, x: exp.Expr) -> exp.Expr:
        """FLOOR, which is equal where x is an integer; its result type has a digit more, and TRUNC is for dates."""
        return exp.Floor(this=x)

    def owned(self, unit: exp.Expr) -> exp.Expr:
        """Whether a raw row has a unit, OR a condition that is never true: so Spark cannot use a file's statistics."""
        return binary(exp.Or, there(unit), binary(exp.LT, call("MONOTONICALLY_INCREASING_ID"), number(0)))

    def trimmed(self, e: exp.Expr, characters: str) -> exp.Expr:
        return call("BTRIM", e, constant(characters))


def _array(entries: Sequence[int | None]) -> exp.Expr:
    """An array of integers, as one node, since there may be many."""
    return exp.Var(this=f"ARRAY({', '.join('NULL' if e is None else f'{e}L' for e in entries)})")


def raw(name: exp.Expr, kind: str) -> RawColumn:
    """The raw column of a Spark column of this type."""
    if kind in _INTEGER_BITS:
        return RawColumn("integer", name, _INTEGER_BITS[kind])
    if kind in ("float", "double"):
        return RawColumn("double", cast(name, "DOUBLE") if kind == "float" else name)
    if kind.startswith("decimal("):
        return RawColumn("decimal", name, double=cast(name.copy(), "DOUBLE"))
    if kind == "boolean":
        return RawColumn("boolean", name)
    if kind.startswith(("string", "char(", "varchar(")):  # compared as bytes, whatever the collation
        return RawColumn("text", call("TRY_VALIDATE_UTF8", call("COLLATE", name, constant("UTF8_BINARY"))))
    if kind == "date":
        return RawColumn("date", call("UNIX_DATE", name))
    if kind in ("timestamp", "timestamp_ntz"):
        return RawColumn("timestamp", call("UNIX_SECONDS", cast(name, "TIMESTAMPTZ")))
    return RawColumn("other", name)
