"""The bounded table as one query over the raw table, for databases that are only read.

    raw  ->  u, c0, c1, ...  ->  [the part of smallest hash of each unit]  ->  the rows of smallest hash of each unit

`engines.rows.reference.bounded` is the definition.  The query is part of each statement that needs the table.  It
hashes every row, in one scan that a database may run in parallel; to find the units that have too many rows first would
cost more than it saves.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from sqlglot import exp

from ...query.schema.schema import Schema
from ...query.values.column_types import ColumnType
from .dialect import TEXT, Dialect, Typed, alias, constant
from .keyed_hash import KeyedHash
from .raw_columns import RawColumn, canonical, unit
from .relations import BoundedTable, column
from .spellings import plainly, without


def bounded_query(
    schema: Schema,
    key: str,
    raw: Mapping[str, RawColumn],
    place: exp.Expr,
    d: Dialect,
    *,
    unique: bool = False,
    used: Container[str] | None = None,
) -> str:
    """The text of the query, from the raw columns; if the unit is `unique`, it has at most one row.

    Columns that are not `used` are left out unless the hash needs them.  If no column is used, only the number of a
    unit's rows matters, and nothing is hashed.
    """
    domains = {f"c{i}": c.domain for i, (_, c) in enumerate(schema.columns)}
    counted = used is not None and schema.partition is None and not any(c in used for c in domains)
    chosen = schema.unit is not None and not unique and not counted
    names = [c for c in domains if chosen or used is None or c in used]
    columns = [alias(value(raw[n], c, d), f"c{i}") for i, (n, c) in enumerate(schema.columns) if f"c{i}" in names]
    if schema.unit is None:
        return d.once(d.render(_selected(columns or [alias(constant(1), "c")], place)))
    owner = unit(without(raw[schema.unit], schema.missing), d)
    rows = d.once(d.render(_selected([alias(owner, "u"), *columns], place).where(d.owned(owner.copy()), copy=False)))
    if unique:
        return rows
    if counted:
        return _first(rows, "u", "ROW_NUMBER() OVER (PARTITION BY u)", schema.rows)
    owner_column = Typed(column("u"), _width(raw[schema.unit]))
    values = [(Typed(column(c), TEXT if x.kind == "text" else 32), x) for c, x in domains.items()]
    every = ", ".join(["u", *names])
    if schema.partition is not None:  # RANK: all rows of the first part have rank 1
        at = next(i for i, (name, _) in enumerate(schema.columns) if name == schema.partition)
        rows = _smallest(rows, every, KeyedHash(key, "part", owner_column, [values[at]], d), "RANK", 1)
    return _smallest(rows, every, KeyedHash(key, "rows", owner_column, values, d), "ROW_NUMBER", schema.rows)


def value(raw: RawColumn, column: ColumnType, d: Dialect) -> exp.Expr:
    """The canonical value of each cell, as the schema says that cells are written."""
    return canonical(plainly(raw, column, d), column, d)


def bounded_table(schema: Schema, key: str, raw: Mapping[str, RawColumn], name: str, d: Dialect) -> BoundedTable:
    """The bounded table for translating relations, under one of our own names."""
    owner = None if schema.unit is None else _width(raw[schema.unit])
    return BoundedTable(exp.to_table(name), typed(schema, d), key, owner)


def typed(schema: Schema, d: Dialect) -> dict[str, Typed]:
    """The columns of the bounded table, by the schema's names."""
    return {
        c: Typed(column(f"c{i}"), TEXT if t.domain.kind == "text" else d.bits(t.domain.lower, t.domain.upper))
        for i, (c, t) in enumerate(schema.columns)
    }


def _width(raw: RawColumn) -> int:
    """The width of a unit in SQL: 64 bits, or text (see `raw_columns.unit`)."""
    return 64 if raw.kind == "double" or (raw.kind == "integer" and raw.bits <= 64) else TEXT


def _selected(columns: Sequence[exp.Expr], place: exp.Expr) -> exp.Select:
    return exp.select(*columns, copy=False).from_(place.copy(), copy=False)


def _smallest(rows: str, names: str, by: KeyedHash, rank: str, most: int) -> str:
    """The `most` rows (or, by RANK, the rows of the first `most` parts) of smallest hash of each unit."""
    d = by.dialect
    summed = d.once(f"SELECT {names}, {d.render(by.linear())} AS y FROM ({rows}) AS q")
    order = ", ".join([d.render(by.cubic(column("y"))), *(f"{d.render(v.sql)} NULLS FIRST" for v, _ in by.values)])
    return _first(summed, names, f"{rank}() OVER (PARTITION BY u ORDER BY {order})", most)


def _first(rows: str, names: str, place: str, most: int) -> str:
    return f"SELECT {names} FROM (SELECT {names}, {place} AS place FROM ({rows}) AS q) AS q WHERE place <= {most}"
