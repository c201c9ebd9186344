"""The SQL dialect of DuckDB, and the raw columns of its types."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

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
    within,
)
from ..sql.raw_columns import RawColumn

_DATE_PARTS = {"year": "YEAR", "quarter": "QUARTER", "month": "MONTH", "day": "DAY", "weekday": "ISODOW"}
_INTEGER_BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}
_INTEGER_BITS |= {"UTINYINT": 16, "USMALLINT": 32, "UINTEGER": 64, "UBIGINT": 128}
_EPOCH = cast(constant("1970-01-01"), "DATE")
_MAX_LIST_PER_KEY = 4  # a lookup list has at most this many entries for each key
_MAX_INLINE = 64  # entries that are written into a statement
_EXACT_DIGITS = 15  # such a decimal is an exact double divided by a power of ten that is an exact double


class DuckDBDialect(Dialect):
    """DuckDB in sqlglot's plain SQL, with functions called by name: sqlglot's own DuckDB dialect is slow to import."""

    integers = {8: "TINYINT", 16: "SMALLINT", 32: "INT", 64: "BIGINT", 128: "INT128"}  # noqa: RUF012

    def flag(self, condition: exp.Expr) -> exp.Expr:
        return cast(condition, "TINYINT")

    def quotient(self, a: exp.Expr, b: exp.Expr, bits: int) -> exp.Expr:
        return call("DIVIDE", a, b)

    def is_nan(self, e: exp.Expr) -> exp.Expr:
        return call("ISNAN", e)

    def date_part(self, part: DatePartName, days: exp.Expr) -> exp.Expr:
        return call(_DATE_PARTS[part], binary(exp.Add, _EPOCH.copy(), cast(days, "INT")))

    def lookup(self, a: Typed, keys: Sequence[int | str], values: Sequence[int]) -> exp.Expr:
        whole = [key for key in keys if isinstance(key, int)]
        longest = _MAX_LIST_PER_KEY * len(keys) + _MAX_INLINE
        if len(whole) == len(keys) > 0 and (span := max(whole) - min(whole) + 1) <= longest:
            entries: list[int | None] = [None] * span
            first = min(whole)
            for key, value in zip(whole, values, strict=True):
                entries[key - first] = value
            bits = max(a.bits, self.bits(first, first + span), 32)
            place = binary(exp.Sub, self.widened(a, bits), number(first - 1))
            inside = within(a.sql.copy(), first, first + span - 1)
            return case((inside, call("LIST_EXTRACT", self.integer_list(entries), place)))
        if len(keys) <= _MAX_INLINE:
            return super().lookup(a, keys, values) if keys else cast(exp.Null(), "INT")
        return self.entry(a.sql, keys, values)

    def integer_list(self, entries: Sequence[int | None]) -> exp.Expr:
        """A list of integers, as one node, since there may be many."""
        return exp.Var(this=f"[{', '.join('NULL' if e is None else str(e) for e in entries)}]::BIGINT[]")

    def entry(self, e: exp.Expr, keys: Sequence[int | str], values: Sequence[int]) -> exp.Expr:
        """values[i] where e = keys[i], for many keys that need not be integers."""
        return Dialect.lookup(self, Typed(e, 64), keys, values)

    def matches(self, e: exp.Expr, pattern: str) -> exp.Expr:
        return call("REGEXP_FULL_MATCH", e, constant(pattern))

    def trimmed(self, e: exp.Expr, characters: str) -> exp.Expr:
        return call("TRIM", e, constant(characters))

    def day(self, e: exp.Expr) -> exp.Expr:
        return binary(exp.Sub, self.try_cast(e, "DATE"), _EPOCH.copy())

    def label(self, e: exp.Expr, labels: Sequence[str]) -> exp.Expr:
        """The index of text among labels, by a cast to an ENUM; IN is checked first, since a failing cast is slow."""
        code = call("ENUM_CODE", exp.TryCast(this=e, to=exp.Var(this=self.enum(labels))))
        listed = exp.Var(this=f"({', '.join(map(quoted, labels))})")
        return case((exp.Paren(this=exp.In(this=e.copy(), field=listed)), code))

    def enum(self, labels: Sequence[str]) -> str:
        """The ENUM type of these labels."""
        return f"ENUM({', '.join(map(quoted, labels))})"


def quoted(text: str) -> str:
    """Text as a SQL literal, for the owner's paths, names and labels, never for an analyst's text."""
    return "'" + text.replace("'", "''") + "'"


class LookupTables(DuckDBDialect):
    """DuckDB with long lookups in tables beside the statement.

    DuckDB would rebuild a list within a statement for every few thousand rows, and takes about 10 kB for each entry.
    """

    def __init__(self) -> None:
        self.tables: dict[str, Any] = {}

    def integer_list(self, entries: Sequence[int | None]) -> exp.Expr:
        if len(entries) <= _MAX_INLINE:
            return super().integer_list(entries)
        import pyarrow as pa

        name = self._table({"v": pa.array([entries], pa.list_(pa.int64()))})
        return exp.Var(this=f"(SELECT v FROM {name})")

    def entry(self, e: exp.Expr, keys: Sequence[int | str], values: Sequence[int]) -> exp.Expr:
        import pyarrow as pa

        kind = pa.int64() if isinstance(keys[0], int) else pa.string()
        name = self._table({"k": pa.array(keys, kind), "v": pa.array(values, pa.int64())})
        return exp.Var(this=f"(SELECT v FROM {name} WHERE k = {self.render(e)})")

    def _table(self, columns: dict[str, Any]) -> str:
        import pyarrow as pa

        name = f"l{len(self.tables)}"
        self.tables[name] = pa.table(columns)
        return name


def raw(name: exp.Expr, kind: str) -> RawColumn:
    """The raw column of a DuckDB column of this type."""
    if kind in _INTEGER_BITS:
        bits = _INTEGER_BITS[kind]
        unsigned = kind.startswith("U")
        return RawColumn("integer", cast(name, DuckDBDialect.integers[bits]) if unsigned else name, bits)
    if kind in ("FLOAT", "DOUBLE"):
        return RawColumn("double", cast(name, "DOUBLE") if kind == "FLOAT" else name)
    if decimal := re.fullmatch(r"DECIMAL\((\d+),\s*\d+\)", kind):
        text = cast(name.copy(), "TEXT") if int(decimal[1]) > _EXACT_DIGITS else name.copy()
        return RawColumn("decimal", name, double=cast(text, "DOUBLE"))
    if kind == "BOOLEAN":
        return RawColumn("boolean", name)
    if kind in ("VARCHAR", "UUID") or kind.startswith("ENUM("):
        return RawColumn("text", name if kind == "VARCHAR" else cast(name, "TEXT"))
    if kind == "DATE":
        return RawColumn("date", binary(exp.Sub, name, _EPOCH.copy()))
    if kind.startswith("TIMESTAMP"):
        return RawColumn("timestamp", _seconds(name, kind))
    return RawColumn("other", name)


def ticks(name: exp.Expr, per: int) -> RawColumn:
    """A column of integers that count ticks since 1970, `per` a second."""
    return RawColumn("timestamp", _floored(name, per))


def _seconds(name: exp.Expr, kind: str) -> exp.Expr:
    """Whole seconds since 1970, rounded down; DuckDB's infinities become the largest and smallest seconds."""
    unit, per = ("EPOCH_NS", 10**9) if kind == "TIMESTAMP_NS" else ("EPOCH_US", 10**6)
    start, last = cast(constant("1970-01-01"), "TIMESTAMP"), (1 << 63) - 1
    after, before = binary(exp.GT, name, start), binary(exp.LT, name.copy(), start.copy())
    ends = case((after, number(last // per)), (before, number(-last // per)))
    return exp.Coalesce(this=_floored(call(unit, name.copy()), per), expressions=[ends])


def _floored(ticks: exp.Expr, per: int) -> exp.Expr:
    """floor(ticks / per), within 64 bits."""
    below = binary(exp.Sub, call("DIVIDE", binary(exp.Add, ticks, number(1)), number(per)), number(1))
    above = call("DIVIDE", ticks.copy(), number(per))
    negative, positive = (binary(sign, ticks.copy(), number(0)) for sign in (exp.LT, exp.GTE))
    return case((negative, below), (positive, above))
