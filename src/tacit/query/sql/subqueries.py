"""Subqueries of SQL, which keep the unit: projections, filters, and one row for each unit.

A subquery that is grouped by the unit has exact COUNT, SUM, MIN and MAX of each unit's rows, and AVG, rounded down like
any quotient.  A SUM of no values is 0, not missing.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Literal

from sqlglot import exp

from ...core.errors import BadQuestion
from ..relation import build
from ..relation.relation import Derive, Fold, PerUnit, Relation
from ..values.column_types import written
from ..values.nodes import Column, Expression
from .aggregates import is_aggregate
from .allowlist import only
from .from_clause import MOST_COLUMNS, Answered, From, Scope, Visible, same, visible
from .lexer import Text
from .row_expressions import RowReader

AGGREGATES = (exp.AggFunc, exp.WithinGroup, exp.Filter, exp.Window)
CLAUSES = ("with_", "expressions", "from_", "joins", "where", "group", "having")
FOLDS: dict[type[exp.Expr], Literal["count", "sum", "min", "max"]] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Min: "min",
    exp.Max: "max",
}


def aggregates(node: exp.Expr) -> bool:
    """Whether a node contains an aggregate."""
    return node.find(*AGGREGATES) is not None


def grouped(text: Text, select: exp.Select) -> list[exp.Expr]:
    """The expressions that a SELECT is grouped by, with ordinals replaced by the columns that they mean."""
    group = select.args.get("group")
    if group is None:
        apart = select.args.get("distinct") and not any(map(aggregates, select.expressions))
        return [item.unalias() for item in select.expressions] if apart else []
    if group.args.get("all") and not group.expressions:  # by all that is no aggregate
        return [item.unalias() for item in select.expressions if not any(map(is_aggregate, item.walk()))]
    only(text, group, "expressions")
    if len(group.expressions) > MOST_COLUMNS:
        raise text.bad(group, f"GROUP BY may have at most {MOST_COLUMNS} keys, not {len(group.expressions)}.")
    if not group.expressions:
        raise text.bad(group, "GROUP BY needs at least one key.")
    keys = []
    for node in group.expressions:
        if isinstance(node, exp.Literal) and not node.is_string:
            place = node.this
            if len(place) > 9 or not place.isdecimal() or not 1 <= int(place) <= len(select.expressions):
                raise text.bad(node, f"GROUP BY {place[:20]} must be a column from 1 to {len(select.expressions)}.")
            keys.append(select.expressions[int(place) - 1].unalias())
        else:
            keys.append(node)
    return keys


def aliased(select: exp.Select, node: exp.Expr) -> exp.Expr | None:
    """The expression that an alias of the SELECT stands for, if the node is an alias."""
    if isinstance(node, exp.Column) and node.args.get("table") is None:
        for item in select.expressions:
            if isinstance(item, exp.Alias) and item.alias.casefold() == node.name.casefold():
                return item.unalias()
    return None


def subquery(source: From, select: exp.Select) -> Scope:
    """The rows of a subquery, and the names of its columns."""
    scope = source.read(select)
    if select.args.get("group"):
        per_unit = PerUnitReader.of(source, scope, select)
        only(source.text, select, *CLAUSES)
        return per_unit.rows()
    having = select.args.get("having")
    if having is not None or any(aggregates(item) for item in select.expressions):
        raise Answered.at(source.text, having or select, "A subquery with aggregates must be grouped by the unit.")
    only(source.text, select, *CLAUSES)
    items: list[tuple[exp.Expr, str, Expression | None]] = []
    seen = defaultdict[tuple[str, str], list[Expression | None]](list)  # of each * and name; a join may have one twice
    rows = source.rows(scope)
    for item in select.expressions:
        if isinstance(item, exp.Star) or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star)):
            only(source.text, item, "this", "table")
            only(source.text, item.this if isinstance(item, exp.Column) else item)
            table, star = item.args.get("table"), str(item)
            for each in scope.names:
                expression, known = each.expression and each.expression(), seen[star, each.name]
                if expression not in known and (table is None or same(table, each.table)):
                    known.append(expression)
                    items.append((item, each.name, expression))
        elif source.is_unit(scope, item.unalias()):
            items.append((item, item.alias_or_name, None))
        else:
            items.append((item, item.alias_or_name, rows.read(item.unalias())))
    return projected(source, scope, items)


def projected(source: From, scope: Scope, items: list[tuple[exp.Expr, str, Expression | None]]) -> Scope:
    """These columns of a scope (None is the unit): its relation itself, if they are all of its own."""
    units, named = {}, {}
    for item, name, expression in items:
        if not written(name):
            raise source.text.bad(item, "Name this column of the subquery: ... AS name.")
        if name in named or (name in units and expression is not None):
            raise source.text.bad(item, f"Two columns of the subquery are called {name[:40]!r}. Rename one of them.")
        if expression is None:
            units[name] = Visible("", name, None)
        else:
            named[name] = build.moderate(expression)
    if not named:  # the unit alone
        return replace(scope, names=tuple(units.values()))
    own: dict[str, Expression] = {name: Column(domain, name) for name, domain in scope.relation.columns.items()}
    plain = list(named) == list(own) and all(named[name] == own[name] for name in own)
    relation: Relation = scope.relation if plain else Derive(scope.relation, tuple(named.items()))
    return Scope(relation, (*units.values(), *visible(relation)), scope.groups, scope.size + 1)


@dataclass
class PerUnitReader:
    """Reads a SELECT that is grouped by the unit: keys and folds, and expressions over them."""

    source: From
    scope: Scope
    select: exp.Select
    keys: dict[str, Expression] = field(default_factory=dict)
    folds: dict[str, Fold] = field(default_factory=dict)

    @staticmethod
    def of(source: From, scope: Scope, select: exp.Select) -> PerUnitReader:
        reader = PerUnitReader(source, scope, select)
        unit = False
        for each in grouped(source.text, select):
            meant = None if source.knows(scope, each) else aliased(select, each)
            node = each if meant is None else meant
            if source.is_unit(scope, node):
                unit = True
            else:
                expression = build.moderate(source.rows(scope).read(node))
                otherwise = expression.name if isinstance(expression, Column) else f"key_{len(reader.keys) + 1}"
                reader.keys[reader._called(node, otherwise)] = expression
        if not unit:
            raise Answered.at(
                source.text, select.args["group"], "A subquery must be grouped by the unit; further keys may follow."
            )
        return reader

    def rows(self) -> Scope:
        """The rows, one for each unit and key."""
        rows = _Outer(self)
        items: list[tuple[exp.Expr, str, Expression | None]] = []
        for item in self.select.expressions:
            if self.source.is_unit(self.scope, item.unalias()):
                items.append((item, item.alias_or_name, None))
            else:
                value = rows.read(item.unalias())
                name = item.alias_or_name or (value.name if isinstance(value, Column) else "")
                items.append((item, name, value))
        having = self.select.args.get("having")
        condition = rows.condition(having.this) if having else None
        relation = PerUnit(self.scope.relation, tuple(self.keys.items()), tuple(self.folds.items()))
        per_unit = replace(self.scope, relation=relation, size=self.scope.size + 1)
        return projected(self.source, per_unit if condition is None else per_unit.where(condition), items)

    def fold(self, node: exp.Expr, how: Literal["count", "sum", "min", "max"], of: Expression | None) -> Expression:
        """The column of a fold, which is there once however often it is asked for."""
        fold = build.fold(how, self.scope.relation, of)
        for name, known in self.folds.items():
            if known == fold:
                return Column(fold.domain, name)
        name = self._called(node, f"{how}_{of.name}" if isinstance(of, Column) else how)
        self.folds[name] = fold
        return Column(fold.domain, name)

    def _called(self, node: exp.Expr, otherwise: str) -> str:
        """The alias of a part of the SELECT, or else a name for it, that is not yet taken."""
        alias = next((item.alias for item in self.select.expressions if item.unalias() is node and item.alias), "")
        name = alias or otherwise
        taken = {*self.keys, *self.folds}
        return next(found for i in count(1) if (found := name if i == 1 else f"{name}_{i}") not in taken)


class _Outer(RowReader):
    """Reads expressions over the keys and folds of each unit."""

    def __init__(self, reader: PerUnitReader) -> None:
        super().__init__(reader.source.text, self._column)
        self.reader = reader
        self.aliases: dict[int, Expression] = {}  # by the node that each stands for
        self.inner = reader.source.rows(reader.scope)

    def _column(self, node: exp.Column) -> Expression:
        meant = aliased(self.reader.select, node)
        if meant is not None and not self.reader.source.knows(self.reader.scope, node):
            if id(meant) not in self.aliases:  # read once: else each alias of an alias would double the time
                self.aliases[id(meant)] = build.moderate(self.read(meant))
            return self.aliases[id(meant)]
        raise self.text.bad(
            node, f"{node.name[:40]!r} is not a key of this GROUP BY. Sum it, count it, or group by it."
        )

    def _read(self, node: exp.Expr) -> Expression:
        if isinstance(node, AGGREGATES):
            return self._fold(node)
        if self.reader.keys and not isinstance(node, exp.Literal) and not aggregates(node):
            meant = aliased(self.reader.select, node)
            try:
                value = self.inner.read(
                    node if meant is None or self.reader.source.knows(self.reader.scope, node) else meant
                )
            except BadQuestion:
                value = None
            for name, key in self.reader.keys.items():
                if value == key:
                    return Column(key.domain, name)
        return super()._read(node)

    def _fold(self, node: exp.Expr) -> Expression:
        reader, kept = self.reader, None
        inner = node
        if isinstance(node, exp.Filter):
            only(self.text, node, "this", "expression")
            kept, inner = self.inner.condition(node.expression.this), node.this
        if isinstance(inner, exp.Avg):
            only(self.text, inner, "this")
            of = self._of(inner, kept)
            return build.divide(reader.fold(inner.this, "sum", of), reader.fold(inner.this, "count", of))
        how = FOLDS.get(type(inner))
        if how is None:
            raise self.text.bad(node, "A subquery can use only COUNT, SUM, AVG, MIN and MAX.")
        only(self.text, inner, "this")
        rows = isinstance(inner.this, exp.Star | exp.Literal) or reader.source.is_unit(reader.scope, inner.this)
        if how == "count" and rows:
            return reader.fold(node, how, None if kept is None else build.case([(kept, build.constant(1))]))
        return reader.fold(node, how, self._of(inner, kept))

    def _of(self, node: exp.Expr, kept: Expression | None) -> Expression:
        of = self.inner.read(node.this)
        return build.moderate(of if kept is None else build.case([(kept, of)]))
