"""Relations as SQL: nested selections whose columns are c0, c1, ... and whose unit is u."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from sqlglot import exp

from ...core.errors import EngineError
from ...query.relation.relation import Cohort, Derive, Fold, Join, PerUnit, Relation, Scan, Where
from ...query.values.coercion import columns_of
from ...query.values.nodes import And, Expression
from .dialect import TEXT, Dialect, Typed, alias, case, cast, missing, number
from .expressions import Translator

EagerAggregation = Callable[["RowQuery", Sequence[exp.Expr], Mapping[str, exp.Expr]], "RowQuery | None"]


@dataclass(frozen=True)
class BoundedTable:
    """A bounded table in SQL: its name, its columns, its key, and the width of its unit (None if units are rows).

    If units are rows, `eager` may replace the rows by sums over groups of rows that fall into the same cell.
    """

    source: exp.Expr
    columns: Mapping[str, Typed]
    key: str
    unit: int | None
    eager: EagerAggregation | None = None


@dataclass(frozen=True)
class Context:
    """The context of a translation: the dialect, the bounded tables, and fresh names for subqueries."""

    dialect: Dialect
    tables: Mapping[str, BoundedTable]
    names: count[int] = field(default_factory=count)


@dataclass(frozen=True)
class RowQuery:
    """A query for rows: its FROM clause, columns and conditions; `unit` is the width of u, if rows have one."""

    source: exp.Expr
    columns: Mapping[str, Typed]
    unit: int | None
    conditions: tuple[exp.Expr, ...] = ()
    eager: EagerAggregation | None = None

    def owner(self) -> exp.Expr:
        """The column of the unit."""
        if self.unit is None:  # no plan needs it: where units are rows, nothing is grouped by unit
            raise EngineError
        return column("u")


def rows_of(relation: Relation, r: Context) -> RowQuery:
    """The query for the rows of a relation."""
    match relation:
        case Scan():
            table = r.tables[relation.table]
            return RowQuery(table.source.copy(), table.columns, table.unit, eager=table.eager)
        case Where(source=Join() as pairs) if (pushed := _pushed_down(pairs, relation.condition)) is not None:
            return rows_of(pushed, r)
        case Where():
            s = rows_of(relation.source, r)
            condition = Translator(r.dialect, s.columns).condition(relation.condition)
            return replace(s, conditions=(*s.conditions, condition))
        case Derive():
            s = rows_of(relation.source, r)
            t = Translator(r.dialect, s.columns)
            return _nested(s, {name: t.value(e) for name, e in relation.derived}, r)
        case PerUnit():
            return _per_unit(relation, r)
        case Join():
            return _joined(rows_of(relation.left, r), rows_of(relation.right, r), r)
        case Cohort():
            return _cohort(rows_of(relation.source, r), rows_of(relation.members, r), relation.inside, r)
    raise TypeError(type(relation).__name__)


def _pushed_down(pairs: Join, condition: Expression) -> Relation | None:
    """The join with conditions on one side applied before it; None if every condition concerns both sides.

    Query optimizers would do this, but they plan by statistics of the data, on which time must not depend.
    """
    of_side: dict[str, list[Expression]] = {"left": [], "right": [], "both": []}
    for e in _conjuncts(condition):
        names = {column.name for column in columns_of([e])}
        sides = [name for name in ("left", "right") if names and names <= getattr(pairs, name).columns.keys()]
        of_side[sides[0] if sides else "both"].append(e)
    if not of_side["left"] and not of_side["right"]:
        return None
    joined = Join(_where(pairs.left, of_side["left"]), _where(pairs.right, of_side["right"]))
    return _where(joined, of_side["both"])


def _conjuncts(condition: Expression) -> Iterator[Expression]:
    if isinstance(condition, And):
        yield from _conjuncts(condition.a)
        yield from _conjuncts(condition.b)
    else:
        yield condition


def _where(relation: Relation, conditions: Sequence[Expression]) -> Relation:
    for condition in conditions:
        relation = Where(relation, condition)
    return relation


def _nested(s: RowQuery, values: Mapping[str, Typed], r: Context, grouped: int | None = None) -> RowQuery:
    """A subquery with these columns; if `grouped` is given, grouped by the unit and by the first `grouped` columns."""
    owner = [alias(s.owner(), "u")] if s.unit is not None else []
    columns = [alias(value.sql, f"c{i}") for i, value in enumerate(values.values())]
    query = selected([*owner, *columns], s)
    if grouped is not None:
        query.group_by(*(number(i + 1) for i in range(1 + grouped)), copy=False)
    renamed = {name: Typed(column(f"c{i}"), value.bits) for i, (name, value) in enumerate(values.items())}
    return RowQuery(query.subquery(f"r{next(r.names)}", copy=False), renamed, s.unit)


def _per_unit(relation: PerUnit, r: Context) -> RowQuery:
    s = rows_of(relation.source, r)
    t = Translator(r.dialect, s.columns)
    keys = {name: t.value(e) for name, e in relation.keys}
    alone = relation.source.rows == 1  # then each group is one row
    folds = {name: _folded(f, t, alone) for name, f in relation.folds}
    return _nested(s, keys | folds, r, None if alone else len(keys))


def _folded(fold: Fold, t: Translator, alone: bool) -> Typed:
    d = t.dialect
    bits = TEXT if fold.domain.kind == "text" else d.bits(fold.domain.lower, fold.domain.upper)
    zero = number(0)
    if fold.a is None:
        return Typed(number(1) if alone else cast(exp.Count(this=exp.Star()), d.integers[bits]), bits)
    a = t.value(fold.a)
    match fold.how:
        case "count" if alone:
            return Typed(cast(case((missing(a.sql), zero), otherwise=number(1)), d.integers[bits]), bits)
        case "count":
            return Typed(cast(exp.Count(this=a.sql), d.integers[bits]), bits)
        case "sum":
            total = a.sql if alone else d.total(a.sql, bits)
            return Typed(cast(exp.Coalesce(this=total, expressions=[zero]), d.integers[bits]), bits)
        case "min" | "max" if not alone:
            return Typed(exp.Min(this=a.sql) if fold.how == "min" else exp.Max(this=a.sql), a.bits)
    return a


def _joined(left: RowQuery, right: RowQuery, r: Context) -> RowQuery:
    """The pairs of rows that belong to one unit."""
    sides = [_nested(side, side.columns, r) for side in (left, right)]
    units = [exp.column("u", side.source.alias) for side in sides]
    if left.unit is None or right.unit is None:
        raise EngineError
    first, second = (unit.copy() if left.unit == right.unit else r.dialect.text(unit.copy()) for unit in units)
    same = exp.EQ(this=first, expression=second)
    columns: dict[str, Typed] = {}
    for side in sides:
        for name, value in side.columns.items():
            columns[name] = Typed(exp.column(value.sql.name, side.source.alias), value.bits)
    out = [alias(value.sql, f"c{i}") for i, value in enumerate(columns.values())]
    query = exp.select(alias(units[0], "u"), *out, copy=False).from_(sides[0].source, copy=False)
    query = query.join(sides[1].source, on=same, copy=False)
    renamed = {name: Typed(column(f"c{i}"), value.bits) for i, (name, value) in enumerate(columns.items())}
    return RowQuery(query.subquery(f"r{next(r.names)}", copy=False), renamed, left.unit)


def _cohort(source: RowQuery, members: RowQuery, inside: bool, r: Context) -> RowQuery:
    """The rows whose unit is, or is not, among the members: a join with each member once, or with none."""
    rows = _nested(source, source.columns, r)
    once = selected([alias(members.owner(), "m")], members).distinct(copy=False)
    member = once.subquery(f"r{next(r.names)}", copy=False)
    unit, other = exp.column("u", rows.source.alias), exp.column("m", member.alias)
    if source.unit is None:
        raise EngineError
    first, second = (e.copy() if source.unit == members.unit else r.dialect.text(e.copy()) for e in (unit, other))
    lost = exp.Is(this=other.copy(), expression=exp.Null())
    columns = [exp.column(value.sql.name, rows.source.alias) for value in rows.columns.values()]
    out = [alias(e, f"c{i}") for i, e in enumerate(columns)]
    query = exp.select(alias(unit, "u"), *out, copy=False).from_(rows.source, copy=False)
    query = query.join(member, on=exp.EQ(this=first, expression=second), join_type="left", copy=False)
    query = query.where(exp.Not(this=lost) if inside else lost, copy=False)
    return RowQuery(query.subquery(f"r{next(r.names)}", copy=False), rows.columns, source.unit)


def selected(columns: Sequence[exp.Expr], s: RowQuery, conditions: Sequence[exp.Expr] = ()) -> exp.Select:
    """SELECT these columns of the rows for which all conditions hold."""
    query = exp.select(*(columns or [alias(number(1), "one")]), copy=False).from_(s.source, copy=False)
    every = [*s.conditions, *conditions]
    return query.where(*every, copy=False) if every else query


def column(name: str) -> exp.Expr:
    """A column by its name."""
    return exp.column(name)
