"""Cohorts: the rows of the units that have, or have not, a row in a subquery.

    person IN (SELECT person FROM visits WHERE cost > 50), and NOT IN
    person IN (SELECT person FROM visits GROUP BY person HAVING COUNT(*) > 3)
    EXISTS (SELECT 1 FROM visits AS v WHERE v.person = people.person AND v.cost > 50), and NOT EXISTS

They stand in WHERE, joined to other conditions by AND.  Whether a unit is in a cohort depends on its own rows alone, so
a cohort costs nothing in noise: the largest number of rows of one unit stays as it is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from ...core.errors import BadQuestion
from ..relation.relation import Cohort
from .allowlist import flat, only

if TYPE_CHECKING:
    from .from_clause import From, Scope

_OF_UNITS = "Only the unit can be IN a subquery: unit IN (SELECT unit FROM ... WHERE ...)."
_ONE = "The subquery of a cohort must give the unit alone: SELECT unit FROM ..."
_EXISTS = (
    "EXISTS needs the unit of its rows made equal to that of the rows outside: EXISTS (SELECT 1 FROM t AS a WHERE"
    " a.unit = b.unit AND ...), with different names for the two tables."
)


def parted(condition: exp.Expr) -> tuple[list[exp.Expr], list[tuple[exp.In | exp.Exists, bool]]]:
    """The parts of a condition that are joined by AND: those on rows, and cohorts with whether to be in them."""
    plain, cohorts = list[exp.Expr](), list[tuple[exp.In | exp.Exists, bool]]()
    for part in flat(condition) if isinstance(condition, exp.And) else [condition]:
        node, inside = part, True
        while isinstance(node, exp.Paren | exp.Not):
            node, inside = node.this, inside != isinstance(node, exp.Not)
        if isinstance(node, exp.Exists) or (isinstance(node, exp.In) and node.args.get("query") is not None):
            cohorts.append((node, inside))
        else:
            plain.append(part)
    return plain, cohorts


def cohort(source: From, scope: Scope, node: exp.In | exp.Exists, inside: bool) -> Scope:
    """The rows of a scope whose unit is, or is not, in a cohort."""
    try:
        members = _members(source, scope, node)
    except BadQuestion as error:  # of a subquery that is a question of its own, too
        raise BadQuestion(error.reason, error.position) from None
    if len(members.names) != 1 or members.names[0].expression is not None:
        raise source.text.bad(node, _ONE)
    return replace(scope, relation=Cohort(scope.relation, members.relation, inside), size=scope.size + members.size)


def _members(source: From, scope: Scope, node: exp.In | exp.Exists) -> Scope:
    if isinstance(node, exp.In):
        only(source.text, node, "this", "query")
        if not source.is_unit(scope, node.this):
            raise source.text.bad(node.this, _OF_UNITS)
        select = node.args["query"].this
    else:
        only(source.text, node, "this")
        select = _correlated(source, scope, node)
    if not isinstance(select, exp.Select):
        raise source.text.bad(node, _ONE)
    return source.inner(_listed(select))


def _listed(select: exp.Select) -> exp.Select:
    """The SELECT without DISTINCT, which makes no difference to who is in it."""
    distinct = select.args.get("distinct")
    if distinct is None or distinct.args.get("on") is not None:
        return select
    copy = select.copy()
    copy.set("distinct", None)
    return copy


def _correlated(source: From, scope: Scope, node: exp.Exists) -> exp.Expr:
    """The SELECT of the units for which an EXISTS holds."""
    select: exp.Expr = node.this
    where = select.args.get("where") if isinstance(select, exp.Select) else None
    if where is None or not isinstance(select, exp.Select):
        raise source.text.bad(node, _EXISTS)
    bare: exp.Select = select.copy()
    bare.set("where", None)
    inner, parts = replace(source).read(bare), flat(where.this) if isinstance(where.this, exp.And) else [where.this]
    for i, part in enumerate(parts):
        pair = (part.this, part.expression) if isinstance(part, exp.EQ) else ()
        for own, other in (pair, pair[::-1]) if pair else ():
            if source.is_unit(inner, own) and not source.is_unit(inner, other) and source.is_unit(scope, other):
                bare.set("expressions", [own.copy()])
                rest = [each.copy() for each in (*parts[:i], *parts[i + 1 :])]
                bare.set("where", exp.Where(this=exp.and_(*rest, copy=False)) if rest else None)
                return bare
    raise source.text.bad(node, _EXISTS)
