"""Spark's SQL: what it has of its own, and what its types of columns are to a schema.

Whole numbers beyond 64 bits are decimals of 38 digits, which are slow; so they are used only where they are needed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from ...query.values.nodes import Part
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
from ..sql.raw_columns import Raw

_PARTS = {"year": "YEAR", "quarter": "QUARTER", "month": "MONTH", "day": "DAY"}
_WIDTHS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
_SPARSE = 4  # an array is not longer than so many times its entries
_SHORT = 16


class SparkDialect(Dialect):
    """Spark, where nothing raises (`spark_session.SETTINGS`)."""

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
        whole = binary(exp.Sub, a, binary(exp.Mod, a.copy(), b))  # DIV ends with 64 bits, and / rounds
        return cast(binary(exp.Div, whole, b.copy()), self.integers[128])

    def date_part(self, part: Part, days: exp.Expr) -> exp.Expr:
        day = call("DATE_FROM_UNIX_DATE", cast(days, "INT"))
        return binary(exp.Add, call("WEEKDAY", day), number(1)) if part == "weekday" else call(_PARTS[part], day)

    def lookup(self, a: Typed, keys: Sequence[int | str], values: Sequence[int]) -> exp.Expr:
        if len(keys) <= _SHORT:
            return super().lookup(a, keys, values) if keys else cast(exp.Null(), "INT")
        whole = [key for key in keys if isinstance(key, int)]
        entries: list[int | None]
        if len(whole) == len(keys) and (span := max(whole) - min(whole) + 1) <= _SPARSE * len(keys):
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
        """A LIKE of several pieces would try all places of each: to go on from the first place of each is enough."""
        first, *middle, last = pieces
        if not middle or not (first or middle[1:] or last):  # there is one place to find
            return super().like(e, pieces)
        found = "".join(f"(?>.*?{re.escape(piece)})" for piece in middle)
        return self.matches(e, f"(?s){re.escape(first)}{found}.*{re.escape(last)}")

    def matches(self, e: exp.Expr, pattern: str) -> exp.Expr:
        return exp.Paren(this=exp.RegexpLike(this=e, expression=constant(rf"\A(?:{pattern})\z")))

    def day(self, e: exp.Expr) -> exp.Expr:
        return call("UNIX_DATE", self.try_cast(e, "DATE"))

    def truncated(self, x: exp.Expr) -> exp.Expr:
        """Down instead, which is the same where it is whole: the type has a digit more, and TRUNC is of dates."""
        return exp.Floor(this=x)

    def owned(self, unit: exp.Expr) -> exp.Expr:
        """Beside what is never true, and no constant: so Spark does not ask the statistics of a file instead."""
        return binary(exp.Or, there(unit), binary(exp.LT, call("MONOTONICALLY_INCREASING_ID"), number(0)))

    def trimmed(self, e: exp.Expr, characters: str) -> exp.Expr:
        return call("BTRIM", e, constant(characters))


def _array(entries: Sequence[int | None]) -> exp.Expr:
    """A list of whole numbers, as one node: there may be many."""
    return exp.Var(this=f"ARRAY({', '.join('NULL' if e is None else f'{e}L' for e in entries)})")


def raw(name: exp.Expr, kind: str) -> Raw:
    """A column of one of Spark's types."""
    if kind in _WIDTHS:
        return Raw("integer", name, _WIDTHS[kind])
    if kind in ("float", "double"):
        return Raw("double", cast(name, "DOUBLE") if kind == "float" else name)
    if kind.startswith("decimal("):
        return Raw("decimal", name, double=cast(name.copy(), "DOUBLE"))
    if kind == "boolean":
        return Raw("boolean", name)
    if kind.startswith(("string", "char(", "varchar(")):  # compared as bytes, whatever the collation
        return Raw("text", call("TRY_VALIDATE_UTF8", call("COLLATE", name, constant("UTF8_BINARY"))))
    if kind == "date":
        return Raw("date", call("UNIX_DATE", name))
    if kind in ("timestamp", "timestamp_ntz"):
        return Raw("timestamp", call("UNIX_SECONDS", cast(name, "TIMESTAMPTZ")))
    return Raw("other", name)
