"""A cap on groups as SQL: of each unit the rows in its cells of least hash (`engines.rows.reference.cells`)."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from ...query.select.query import Key
from .binning import key_axis
from .dialect import TEXT, Dialect, Typed, alias, number, there
from .expressions import Translator
from .keyed_hash_sql import HashSQL
from .relations import Source, column, selected


def capped(rows: Source, keys: Sequence[Key], groups: int, secret: str, d: Dialect) -> Source:
    """The rows that are in a cell, each unit's in at most so many of them."""
    t = Translator(d, rows.columns)
    cell = [d.narrowed(t.value(key.expression)) for key in keys]
    codes = [x.sql if k.values is None else key_axis(k, x, d).code for k, x in zip(keys, cell, strict=True)]
    columns = [alias(rows.owner(), "u"), *(alias(x.sql.copy(), f"s{i}") for i, x in enumerate(cell))]
    columns += [alias(x.sql.copy(), f"c{i}") for i, x in enumerate(rows.columns.values())]
    inside = selected(columns, rows, [there(code.copy()) for code in codes])
    steps = [Typed(column(f"s{i}"), TEXT if x.bits == TEXT else 32) for i, x in enumerate(cell)]
    values = [(x, key.domain) for x, key in zip(steps, keys, strict=True)]
    by = HashSQL(secret, "groups", Typed(column("u"), rows.unit or TEXT), values, d)
    summed = _and(alias(by.linear(), "y"), inside)
    order = exp.Order(expressions=[exp.Ordered(this=e) for e in (by.cubic(column("y")), *(x.sql for x in steps))])
    rank = exp.Window(this=exp.DenseRank(), partition_by=[column("u")], order=order)
    ranked = _and(alias(rank, "place"), summed).subquery("q", copy=False)
    known = {name: Typed(column(f"c{i}"), x.bits) for i, (name, x) in enumerate(rows.columns.items())}
    return Source(ranked, known, rows.unit, (exp.LTE(this=column("place"), expression=number(groups)),))


def _and(more: exp.Expr, source: exp.Select) -> exp.Select:
    return exp.select(exp.Star(), more, copy=False).from_(source.subquery("q", copy=False), copy=False)
