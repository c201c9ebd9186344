"""Eager aggregation: rows that are alike are summed before their cells are computed (Yan and Larson, VLDB 1995).

If units are rows, all rows count, and a cell is a sum over some of them.  So rows are first grouped by the raw columns
that decide the cell, if few values of these are declared; clamping, looking up labels and binning are then done once
for each group.  The summed columns, and conditions that need no list of labels, are still evaluated in each row.

    raw  ->  r0, r1, ..., v0, v1, ...: one row for each raw value  ->  c0, c1, ..., v0, v1, ...

If a column has more values than were declared, there are more groups (at worst as many as rows) and the same sums.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

from sqlglot import exp

from ...query.schema.schema import Schema
from ...query.values.column_types import ColumnType
from ..sql.bounded_table import value
from ..sql.dialect import alias, double, number
from ..sql.raw_columns import RawColumn
from ..sql.relations import RowQuery, column, selected
from ..sql.spellings import plainly
from .catalogue import CatalogueColumn, Description
from .dialect import PostgresDialect, joins, listed

_MAX_GROUPS = 1 << 16  # if columns hold the declared values
_D = PostgresDialect()


def aggregate_eagerly(
    schema: Schema, description: Description, rows: RowQuery, cell: Sequence[exp.Expr], sums: Mapping[str, exp.Expr]
) -> RowQuery | None:
    """A query for sums over groups of rows, with the columns of the cell; None if these may have many values."""
    names = {f"c{i}": name for i, (name, _) in enumerate(schema.columns)}
    raw, columns = description.raw(), dict(description.columns)
    lists = {c for c, name in names.items() if listed(schema[name], raw[name])}
    after = tuple(e for e in rows.conditions if lists & _uses(e).keys())
    before = [e for e in rows.conditions if not lists & _uses(e).keys()]
    by, uses = sorted(_uses(*cell, *after)), _uses(*before, *sums.values())
    if cell and not by:  # a cell that uses no column exists only if there are rows
        return None
    groups = prod(_values(columns[names[c]], raw[names[c]], schema[names[c]]) for c in by)
    if lists & uses.keys() or groups > _MAX_GROUPS:
        return None
    own: list[exp.Expr] = [alias(exp.column(names[c], "raw", quoted=True), f"r{c}") for c in by]
    steps = {c: value(raw[names[c]], schema[names[c]], _D) for c in uses}
    seen = {c: _present(plainly(raw[names[c]], schema[names[c]], _D), schema[names[c]]) or steps[c] for c in uses}
    place: exp.Expr = exp.alias_(description.table(), "raw", table=True)
    if max(uses.values(), default=0) > 1:  # a column that is used twice is computed once, before
        values = exp.select(*own, *(alias(e, c) for c, e in steps.items()), copy=False).from_(place, copy=False)
        place = values.offset(0, copy=False).subquery("raw", copy=False)
        own, steps, seen = [column(f"r{c}") for c in by], {}, {}
    added = [alias(_in_place(e, steps, seen), name) for name, e in sums.items()]
    query = selected([*own, *added], RowQuery(place, {}, None), [_in_place(e, steps, seen) for e in before])
    if by:
        query.group_by(*(number(i + 1) for i in range(len(by))), copy=False)
    subquery, grouped = query.subquery("raw", copy=False), {names[c]: columns[names[c]].raw(f"r{c}") for c in by}
    subquery.set("joins", list(joins(schema, grouped)))
    canonical_columns = [alias(value(grouped[names[c]], schema[names[c]], _D), c) for c in by]
    out = exp.select(*canonical_columns, *map(column, sums), copy=False).from_(subquery, copy=False)
    return replace(rows, source=out.subquery("t", copy=False), conditions=after)


def _uses(*trees: exp.Expr) -> Counter[str]:
    """How often the value of each column is needed; COUNT(column) needs only whether it is missing, and counts 0."""
    uses: Counter[str] = Counter()
    for tree in trees:
        for c in tree.find_all(exp.Column):
            uses[c.name] += not isinstance(c.parent, exp.Count)
    return uses


def _values(column: CatalogueColumn, raw: RawColumn, column_type: ColumnType) -> int:
    """A bound on the number of raw values of a column by its declaration; above `_MAX_GROUPS` if there is none."""
    domain = column_type.domain
    few = raw.kind in ("integer", "boolean", "date") or (raw.kind == "text" and domain.kind in ("category", "boolean"))
    return 1 + (domain.size or _MAX_GROUPS) if few and column.equal else _MAX_GROUPS + 1


def _present(raw: RawColumn, column_type: ColumnType) -> exp.Expr | None:
    """A cheaper expression that is missing exactly where the canonical column is, or None."""
    if column_type.domain.kind != "number" or raw.kind not in ("integer", "double"):
        return None
    return exp.Nullif(this=raw.sql.copy(), expression=double(float("nan"))) if raw.kind == "double" else raw.sql.copy()


def _in_place(tree: exp.Expr, steps: Mapping[str, exp.Expr], seen: Mapping[str, exp.Expr]) -> exp.Expr:
    """The tree with each column replaced by the expression that computes it."""

    def read(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Count) and isinstance(node.this, exp.Column) and node.this.name in seen:
            return exp.Count(this=seen[node.this.name].copy())
        return steps[node.name].copy() if isinstance(node, exp.Column) and node.name in steps else node

    return tree.transform(read)
