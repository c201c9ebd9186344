"""DuckDB's SQL: what it has of its own, and what its types of columns are to a schema."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

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
    within,
)
from ..sql.raw_columns import Raw

_PARTS = {"year": "YEAR", "quarter": "QUARTER", "month": "MONTH", "day": "DAY", "weekday": "ISODOW"}
_WIDTHS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}
_WIDTHS |= {"UTINYINT": 16, "USMALLINT": 32, "UINTEGER": 64, "UBIGINT": 128}
_EPOCH = cast(constant("1970-01-01"), "DATE")
_SPARSE = 4  # a list is not longer than so many times its entries
_SHORT = 64
_EXACT_DIGITS = 15  # a decimal of so many digits is a whole double over a power of ten that is one too


class DuckDBDialect(Dialect):
    """DuckDB, in sqlglot's plain SQL and what is called by its name here: sqlglot's own DuckDB is slow to import."""

    integers = {8: "TINYINT", 16: "SMALLINT", 32: "INT", 64: "BIGINT", 128: "INT128"}  # noqa: RUF012

    def flag(self, condition: exp.Expr) -> exp.Expr:
        return cast(condition, "TINYINT")

    def quotient(self, a: exp.Expr, b: exp.Expr, bits: int) -> exp.Expr:
        return call("DIVIDE", a, b)

    def is_nan(self, e: exp.Expr) -> exp.Expr:
        return call("ISNAN", e)

    def date_part(self, part: Part, days: exp.Expr) -> exp.Expr:
        return call(_PARTS[part], binary(exp.Add, _EPOCH.copy(), cast(days, "INT")))

    def lookup(self, a: Typed, keys: Sequence[int | str], values: Sequence[int]) -> exp.Expr:
        whole = [key for key in keys if isinstance(key, int)]
        if len(whole) == len(keys) > 0 and (span := max(whole) - min(whole) + 1) <= _SPARSE * len(keys) + _SHORT:
            entries: list[int | None] = [None] * span
            first = min(whole)
            for key, value in zip(whole, values, strict=True):
                entries[key - first] = value
            bits = max(a.bits, self.bits(first, first + span), 32)
            place = binary(exp.Sub, self.widened(a, bits), number(first - 1))
            inside = within(a.sql.copy(), first, first + span - 1)
            return case((inside, call("LIST_EXTRACT", self.entries(entries), place)))
        if len(keys) <= _SHORT:
            return super().lookup(a, keys, values) if keys else cast(exp.Null(), "INT")
        return self.found(a.sql, keys, values)

    def entries(self, entries: Sequence[int | None]) -> exp.Expr:
        """A list of whole numbers, as one node: there may be many."""
        return exp.Var(this=f"[{', '.join('NULL' if e is None else str(e) for e in entries)}]::BIGINT[]")

    def found(self, e: exp.Expr, keys: Sequence[int | str], values: Sequence[int]) -> exp.Expr:
        """The value of a key among many."""
        return Dialect.lookup(self, Typed(e, 64), keys, values)

    def matches(self, e: exp.Expr, pattern: str) -> exp.Expr:
        return call("REGEXP_FULL_MATCH", e, constant(pattern))

    def trimmed(self, e: exp.Expr, characters: str) -> exp.Expr:
        return call("TRIM", e, constant(characters))

    def day(self, e: exp.Expr) -> exp.Expr:
        return binary(exp.Sub, self.try_cast(e, "DATE"), _EPOCH.copy())

    def label(self, e: exp.Expr, labels: Sequence[str]) -> exp.Expr:
        """By a hash of the labels, if it is one of them: a cast that fails takes a thousand times as long."""
        code = call("ENUM_CODE", exp.TryCast(this=e, to=exp.Var(this=self.enum(labels))))
        known = exp.Var(this=f"({', '.join(map(quoted, labels))})")
        return case((exp.Paren(this=exp.In(this=e.copy(), field=known)), code))

    def enum(self, labels: Sequence[str]) -> str:
        """The type of these texts."""
        return f"ENUM({', '.join(map(quoted, labels))})"


def quoted(text: str) -> str:
    """Text as a literal of SQL: paths, names and labels of the owner's, never an analyst's."""
    return "'" + text.replace("'", "''") + "'"


class WithTables(DuckDBDialect):
    """The SQL of one question, and beside it tables of what it looks up.

    Within a statement DuckDB makes a list anew for every few thousand rows, and takes some 10 kB for each entry.
    """

    def __init__(self) -> None:
        self.tables: dict[str, Any] = {}

    def entries(self, entries: Sequence[int | None]) -> exp.Expr:
        if len(entries) <= _SHORT:
            return super().entries(entries)
        import pyarrow as pa

        name = self._table({"v": pa.array([entries], pa.list_(pa.int64()))})
        return exp.Var(this=f"(SELECT v FROM {name})")

    def found(self, e: exp.Expr, keys: Sequence[int | str], values: Sequence[int]) -> exp.Expr:
        import pyarrow as pa

        kind = pa.int64() if isinstance(keys[0], int) else pa.string()
        name = self._table({"k": pa.array(keys, kind), "v": pa.array(values, pa.int64())})
        return exp.Var(this=f"(SELECT v FROM {name} WHERE k = {self.render(e)})")

    def _table(self, columns: dict[str, Any]) -> str:
        import pyarrow as pa

        name = f"l{len(self.tables)}"
        self.tables[name] = pa.table(columns)
        return name


def raw(name: exp.Expr, kind: str) -> Raw:
    """A column of one of DuckDB's types."""
    if kind in _WIDTHS:
        bits = _WIDTHS[kind]
        unsigned = kind.startswith("U")
        return Raw("integer", cast(name, DuckDBDialect.integers[bits]) if unsigned else name, bits)
    if kind in ("FLOAT", "DOUBLE"):
        return Raw("double", cast(name, "DOUBLE") if kind == "FLOAT" else name)
    if found := re.fullmatch(r"DECIMAL\((\d+),\s*\d+\)", kind):
        text = cast(name.copy(), "TEXT") if int(found[1]) > _EXACT_DIGITS else name.copy()
        return Raw("decimal", name, double=cast(text, "DOUBLE"))
    if kind == "BOOLEAN":
        return Raw("boolean", name)
    if kind in ("VARCHAR", "UUID") or kind.startswith("ENUM("):
        return Raw("text", name if kind == "VARCHAR" else cast(name, "TEXT"))
    if kind == "DATE":
        return Raw("date", binary(exp.Sub, name, _EPOCH.copy()))
    if kind.startswith("TIMESTAMP"):
        return Raw("timestamp", _seconds(name, kind))
    return Raw("other", name)


def moments(name: exp.Expr, per: int) -> Raw:
    """A column of whole ticks since 1970, so many a second."""
    return Raw("timestamp", _floored(name, per))


def _seconds(name: exp.Expr, kind: str) -> exp.Expr:
    """Whole seconds since 1970, rounded down; the ticks next to the ends of 64 bits are DuckDB's infinities."""
    unit, per = ("EPOCH_NS", 10**9) if kind == "TIMESTAMP_NS" else ("EPOCH_US", 10**6)
    start, last = cast(constant("1970-01-01"), "TIMESTAMP"), (1 << 63) - 1
    after, before = binary(exp.GT, name, start), binary(exp.LT, name.copy(), start.copy())
    ends = case((after, number(last // per)), (before, number(-last // per)))
    return exp.Coalesce(this=_floored(call(unit, name.copy()), per), expressions=[ends])


def _floored(ticks: exp.Expr, per: int) -> exp.Expr:
    """floor(ticks / per), without leaving 64 bits."""
    below = binary(exp.Sub, call("DIVIDE", binary(exp.Add, ticks, number(1)), number(per)), number(1))
    above = call("DIVIDE", ticks.copy(), number(per))
    negative, positive = (binary(sign, ticks.copy(), number(0)) for sign in (exp.LT, exp.GTE))
    return case((negative, below), (positive, above))
