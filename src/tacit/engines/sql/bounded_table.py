"""The bounded table as one query over the raw one, for databases that are only read: `engines.rows.reference.bounded`.

    raw  ->  u, c0, c1, ...  ->  [of each unit the part of least hash]  ->  of each unit its rows of least hash

It stands before each question that it is needed for.  Every row is hashed, in one scan that a database may share out
among its processes; to look first for the units that have too many rows costs more than it saves.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from sqlglot import exp

from ...query.schema.schema import Schema
from .dialect import TEXT, Dialect, Typed, alias, constant
from .keyed_hash import HashSQL
from .raw_columns import Raw, canonical, unit
from .relations import Registered, column


def bounded(
    schema: Schema,
    key: str,
    raw: Mapping[str, Raw],
    place: exp.Expr,
    d: Dialect,
    *,
    unique: bool = False,
    used: Container[str] | None = None,
) -> str:
    """The query, from what each raw column is; where the unit is `unique`, it has one row at most.

    Of columns that are not `used` there is nothing, if they are not needed to choose rows; and if none is, it is all
    the same which rows of a unit there are.
    """
    domains = {f"c{i}": c.domain for i, (_, c) in enumerate(schema.columns)}
    counted = used is not None and schema.partition is None and not any(c in used for c in domains)
    chosen = schema.unit is not None and not unique and not counted
    names = [c for c in domains if chosen or used is None or c in used]
    columns = [alias(canonical(raw[n], c, d), f"c{i}") for i, (n, c) in enumerate(schema.columns) if f"c{i}" in names]
    if schema.unit is None:
        return d.once(d.render(_selected(columns or [alias(constant(1), "c")], place)))
    owner = unit(raw[schema.unit], d)
    rows = d.once(d.render(_selected([alias(owner, "u"), *columns], place).where(d.owned(owner.copy()), copy=False)))
    if unique:
        return rows
    if counted:
        return _first(rows, "u", "ROW_NUMBER() OVER (PARTITION BY u)", schema.rows)
    of = Typed(column("u"), _width(raw[schema.unit]))
    values = [(Typed(column(c), TEXT if x.kind == "text" else 32), x) for c, x in domains.items()]
    every = ", ".join(["u", *names])
    if schema.partition is not None:  # the rows of one part are all first
        at = next(i for i, (name, _) in enumerate(schema.columns) if name == schema.partition)
        rows = _least(rows, every, HashSQL(key, "part", of, [values[at]], d), "RANK", 1)
    return _least(rows, every, HashSQL(key, "rows", of, values, d), "ROW_NUMBER", schema.rows)


def registered(schema: Schema, key: str, raw: Mapping[str, Raw], name: str, d: Dialect) -> Registered:
    """The bounded table as relations know it, under one of our own names."""
    owner = None if schema.unit is None else _width(raw[schema.unit])
    return Registered(exp.to_table(name), typed(schema, d), key, owner)


def typed(schema: Schema, d: Dialect) -> dict[str, Typed]:
    """The columns of the bounded table, by the schema's names."""
    return {
        c: Typed(column(f"c{i}"), TEXT if t.domain.kind == "text" else d.bits(t.domain.lower, t.domain.upper))
        for i, (c, t) in enumerate(schema.columns)
    }


def _width(raw: Raw) -> int:
    """How many bits a unit has, which is a number or text (`canonical_sql.unit`)."""
    return 64 if raw.kind == "double" or (raw.kind == "integer" and raw.bits <= 64) else TEXT


def _selected(columns: Sequence[exp.Expr], place: exp.Expr) -> exp.Select:
    return exp.select(*columns, copy=False).from_(place.copy(), copy=False)


def _least(rows: str, names: str, by: HashSQL, rank: str, most: int) -> str:
    """The rows of least hash of each unit."""
    d = by.dialect
    summed = d.once(f"SELECT {names}, {d.render(by.linear())} AS y FROM ({rows}) AS q")
    order = ", ".join([d.render(by.cubic(column("y"))), *(f"{d.render(v.sql)} NULLS FIRST" for v, _ in by.values)])
    return _first(summed, names, f"{rank}() OVER (PARTITION BY u ORDER BY {order})", most)


def _first(rows: str, names: str, place: str, most: int) -> str:
    return f"SELECT {names} FROM (SELECT {names}, {place} AS place FROM ({rows}) AS q) AS q WHERE place <= {most}"
