"""The bounded table as one query over the raw one, for databases that are only read: `engines.reference.bounded`.

    raw  ->  u, c0, c1, ...  ->  [of each unit the part of least hash]  ->  of each unit its rows of least hash

It stands before each question that it is needed for.  Every row is hashed, in one scan that a database may share out
among its processes; to look first for the units that have too many rows costs more than it saves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from ..tables.schema import Schema
from .canonical_sql import Raw, canonical, unit
from .dialect import TEXT, Dialect, Typed, alias, constant, there
from .relations import Registered, column
from .sql import canonical_text


def bounded(
    schema: Schema, key: str, raw: Mapping[str, Raw], place: exp.Expr, d: Dialect, *, unique: bool = False
) -> str:
    """The query, from what each raw column is; where the unit is `unique`, it has one row at most."""
    columns = [alias(canonical(raw[name], c, d), f"c{i}") for i, (name, c) in enumerate(schema.columns)]
    if schema.unit is None:
        return d.once(d.render(_selected(columns or [alias(constant(1), "c")], place)))
    owner = unit(raw[schema.unit], d)
    rows = d.once(d.render(_selected([alias(owner, "u"), *columns], place).where(there(owner.copy()), copy=False)))
    if unique:
        return rows
    names = ", ".join(["u", *(f"c{i}" for i in range(len(columns)))])
    widths = [TEXT if c.domain.kind == "text" else 64 for _, c in schema.columns]
    if schema.partition is not None:  # the rows of one part have one hash, and so one rank
        at = next(i for i, (name, _) in enumerate(schema.columns) if name == schema.partition)
        rows = _least("RANK", 1, _hash(key, "|p|", [at], widths, d), names, rows)
    return _least("ROW_NUMBER", schema.rows, _hash(key, "|", range(len(widths)), widths, d), names, rows)


def registered(schema: Schema, key: str, raw: Mapping[str, Raw], name: str, d: Dialect) -> Registered:
    """The bounded table as relations know it, under one of our own names."""
    owner = None
    if schema.unit is not None:
        of = raw[schema.unit]
        owner = 64 if of.kind == "double" or (of.kind == "integer" and of.bits <= 64) else TEXT
    columns = {
        c: Typed(column(f"c{i}"), TEXT if t.domain.kind == "text" else d.bits(t.domain.lower, t.domain.upper))
        for i, (c, t) in enumerate(schema.columns)
    }
    return Registered(exp.to_table(name), columns, key, owner)


def _selected(columns: Sequence[exp.Expr], place: exp.Expr) -> exp.Select:
    return exp.select(*columns, copy=False).from_(place.copy(), copy=False)


def _least(rank: str, most: int, order: str, names: str, rows: str) -> str:
    ranked = f"SELECT {names}, {rank}() OVER (PARTITION BY u ORDER BY {order}) AS place FROM ({rows}) AS q"
    return f"SELECT {names} FROM ({ranked}) AS q WHERE place <= {most}"


def _hash(key: str, middle: str, columns: Sequence[int], widths: Sequence[int], d: Dialect) -> str:
    row = canonical_text([Typed(column(f"c{i}"), widths[i]) for i in columns], d)
    hashed = d.md5(d.joined([constant(f"{key}|"), d.text(column("u")), constant(middle), *row]))
    return ", ".join(map(d.render, d.by_hash(hashed)))
