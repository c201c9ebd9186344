"""Expressions that are never missing, from the question alone: any cell of a table may be missing.

An expression is never missing if a condition leaves out the rows without it, if it is computed from such expressions by
operations that preserve presence, or if a CASE or COALESCE replaces missing values.  All others may be missing.
"""

from __future__ import annotations

from collections.abc import Set

from ..values.coercion import parts_of
from ..values.nodes import (
    And,
    Case,
    Column,
    Constant,
    Divide,
    Expression,
    IsMissing,
    Lookup,
    Not,
    Or,
)
from .relation import Cohort, Derive, Join, PerUnit, Relation, Where

Known = Set[Expression]


def present(relation: Relation) -> Known:
    """Expressions that are present in every row of a relation; `surely` derives others from them."""
    match relation:
        case Where(source=source, condition=condition):
            return present(source) | _where(condition)
        case Cohort(source=source):
            return present(source)
        case Join(left=left, right=right):
            return present(left) | present(right)
        case Derive(source=source, derived=derived):
            return _columns(derived, present(source))
        case PerUnit(source=source, keys=keys, folds=folds):
            never_of_none = {Column(fold.domain, name) for name, fold in folds if fold.how in ("count", "sum")}
            return _columns(keys, present(source)) | never_of_none
    return frozenset()


def _columns(computed: tuple[tuple[str, Expression], ...], known: Known) -> Known:
    return frozenset(Column(e.domain, name) for name, e in computed if surely(e, known))


def surely(e: Expression, known: Known) -> bool:
    """Whether e is present wherever the expressions in `known` are."""
    if e in known:
        return True
    match e:
        case Column():
            return False
        case Constant():
            return e.value is not None
        case IsMissing():
            return True
        case Case():
            taken, other = known | _where(e.condition), known | _where_not(e.condition)
            return surely(e.then, taken) and surely(e.otherwise, other)
        case Divide() if e.b.domain.lower <= 0 <= e.b.domain.upper:
            return False
        case Lookup() if not _complete(e):
            return False
    return all(surely(part, known) for part in parts_of(e))


def _where(condition: Expression) -> Known:
    """Expressions that are present where a condition holds."""
    match condition:
        case And(a=a, b=b):
            return _where(a) | _where(b)
        case Or(a=a, b=b):
            return _where(a) & _where(b)
        case Not(a=IsMissing() as a):
            return _where_not(a)
    return _behind(condition)


def _where_not(condition: Expression) -> Known:
    """Expressions that are present where a condition is false or missing."""
    match condition:
        case IsMissing(a=a):
            return _behind(a)
        case Or(a=a, b=b):
            return _where_not(a) | _where_not(b)
        case And(a=a, b=b):
            return _where_not(a) & _where_not(b)
    return frozenset()


def _behind(e: Expression) -> Known:
    """Expressions that cannot be missing where e is not."""
    if isinstance(e, IsMissing | Case | And | Or):
        return frozenset((e,))
    return frozenset((e,)).union(*map(_behind, parts_of(e)))


def _complete(e: Lookup) -> bool:
    """Whether a public table has a key for every value."""
    d = e.a.domain
    return d.size is not None and d.size == sum(d.lower <= int(key) <= d.upper for key in set(e.keys))
