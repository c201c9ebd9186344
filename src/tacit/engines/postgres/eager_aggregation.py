"""Rows that are alike are added up before they are read: eager aggregation (Yan and Larson, VLDB 1995).

Where a unit is one row, nothing is chosen among rows, and a cell is a sum over some of them.  So they are grouped first
by the raw columns that decide the cell, if few values of these were declared; only a group is then clamped, looked up
among labels and given a place.  What is added up is read in each row, and so are conditions without lists of labels.

    raw  ->  r0, r1, ..., v0, v1, ...: one row for each raw value  ->  c0, c1, ..., v0, v1, ...

A column may hold more than was declared: then there are more groups, as many as rows at worst, and the same sums.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

from sqlglot import exp

from ...query.schema.schema import Schema
from ...query.values.column_types import ColumnType
from ..sql.dialect import alias, double, number
from ..sql.raw_columns import Raw, canonical
from ..sql.relations import Source, column, selected
from .catalogue import Column, Description
from .dialect import PostgresDialect, joins, listed

_FEW = 1 << 16  # groups, if columns hold what was declared
_D = PostgresDialect()


def early(
    schema: Schema, found: Description, rows: Source, cell: Sequence[exp.Expr], sums: Mapping[str, exp.Expr]
) -> Source | None:
    """Sums over groups of rows, with the columns that the cell is made of; None where these may have many values."""
    names = {f"c{i}": name for i, (name, _) in enumerate(schema.columns)}
    raw, columns = found.raw(), dict(found.columns)
    lists = {c for c, name in names.items() if listed(schema[name], raw[name])}
    after = tuple(e for e in rows.conditions if lists & _uses(e).keys())
    before = [e for e in rows.conditions if not lists & _uses(e).keys()]
    by, uses = sorted(_uses(*cell, *after)), _uses(*before, *sums.values())
    if cell and not by:  # a cell without a column is there only where there are rows
        return None
    if lists & uses.keys() or prod(_values(columns[names[c]], raw[names[c]], schema[names[c]]) for c in by) > _FEW:
        return None
    own: list[exp.Expr] = [alias(exp.column(names[c], "raw", quoted=True), f"r{c}") for c in by]
    steps = {c: canonical(raw[names[c]], schema[names[c]], _D) for c in uses}
    seen = {c: _present(raw[names[c]], schema[names[c]]) or steps[c] for c in uses}
    place: exp.Expr = exp.alias_(found.table(), "raw", table=True)
    if max(uses.values(), default=0) > 1:  # what is used again is computed before, once
        values = exp.select(*own, *(alias(e, c) for c, e in steps.items()), copy=False).from_(place, copy=False)
        place = values.offset(0, copy=False).subquery("raw", copy=False)
        own, steps, seen = [column(f"r{c}") for c in by], {}, {}
    added = [alias(_in_place(e, steps, seen), name) for name, e in sums.items()]
    query = selected([*own, *added], Source(place, {}, None), [_in_place(e, steps, seen) for e in before])
    if by:
        query.group_by(*(number(i + 1) for i in range(len(by))), copy=False)
    groups, grouped = query.subquery("raw", copy=False), {names[c]: columns[names[c]].raw(f"r{c}") for c in by}
    groups.set("joins", list(joins(schema, grouped)))
    known = [alias(canonical(grouped[names[c]], schema[names[c]], _D), c) for c in by]
    out = exp.select(*known, *map(column, sums), copy=False).from_(groups, copy=False)
    return replace(rows, source=out.subquery("t", copy=False), conditions=after)


def _uses(*trees: exp.Expr) -> Counter[str]:
    """How often the value of each column is needed; inside COUNT(column) only whether it is missing matters."""
    uses: Counter[str] = Counter()
    for tree in trees:
        for c in tree.find_all(exp.Column):
            uses[c.name] += not isinstance(c.parent, exp.Count)
    return uses


def _values(column: Column, raw: Raw, column_type: ColumnType) -> int:
    """How many raw values there should be, where equal ones have equal steps; if that is not known, too many."""
    domain = column_type.domain
    few = raw.kind in ("integer", "boolean", "date") or (raw.kind == "text" and domain.kind in ("category", "boolean"))
    return 1 + (domain.size or _FEW) if few and column.equal else _FEW + 1


def _present(raw: Raw, column_type: ColumnType) -> exp.Expr | None:
    """What is missing just where the steps of a column are, if it is cheaper."""
    if column_type.domain.kind != "number" or raw.kind not in ("integer", "double"):
        return None
    return exp.Nullif(this=raw.sql.copy(), expression=double(float("nan"))) if raw.kind == "double" else raw.sql.copy()


def _in_place(tree: exp.Expr, steps: Mapping[str, exp.Expr], seen: Mapping[str, exp.Expr]) -> exp.Expr:
    """A tree over columns, with what they are computed from in their place."""

    def read(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Count) and isinstance(node.this, exp.Column) and node.this.name in seen:
            return exp.Count(this=seen[node.this.name].copy())
        return steps[node.name].copy() if isinstance(node, exp.Column) and node.name in steps else node

    return tree.transform(read)
