"""The public cells of a question: the values that its keys can take.

A column of a subquery or of derived rows has only the values of the expression that it was computed by, so grouping by
the column or by the expression gives the same groups.  Values that the conditions rule out are not groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from ...core.errors import BadQuestion
from ..values.arithmetic import greatest, least
from ..values.coercion import columns_of
from ..values.nodes import (
    Add,
    Case,
    Column,
    Constant,
    Expression,
    Lookup,
    Multiply,
)
from .condition_ranges import StepSet, Work, cost, left_open, representatives, size, stride
from .relation import Cohort, Derive, Join, PerUnit, Relation, Where

MOST_CELLS = 1_000_000


def keys(
    e: Expression, relation: Relation | None = None, otherwise: str = "", work: Work | None = None
) -> tuple[int, ...]:
    """The steps that e can take on the rows of a relation; `otherwise` is advice if there is no public list."""
    if e.domain.kind == "text":
        raise BadQuestion(f"The values of text are not public. List them in the schema.{otherwise}")
    if not e.domain.declared:
        raise BadQuestion(f"A key needs declared bounds. Declare them in the schema, or CLAMP the values.{otherwise}")
    found = possible(e, relation, work or Work())
    if not size(found):
        raise BadQuestion("The conditions leave no group: no row that meets them can have such a value.")
    if size(found) > MOST_CELLS:
        coarser = ", or declare a coarser grid for the reals" if e.domain.grid < 1 else ""
        raise BadQuestion(
            f"A question may have at most {MOST_CELLS} groups, not {size(found)}. Group by wider bins{coarser}."
        )
    return tuple(sorted(found))


def possible(e: Expression, relation: Relation | None, work: Work) -> StepSet:
    """A public set that holds all values of e, but for missing, on the rows of a relation."""
    found = _values(e, _known(relation, _names([e]), work), work)
    while isinstance(relation, Where) and not isinstance(e, Column):
        found, relation = left_open(relation.condition, e, found, work), relation.source
    return found


def narrowed(e: Expression, relation: Relation, work: Work) -> Expression:
    """e, clamped to the range that the conditions of a relation leave: no value changes, and the domain shrinks."""
    values, d = possible(e, relation, work), e.domain
    if not size(values):  # all are missing, whatever they are clamped to
        return e
    ends = (values.start, values.stop - 1) if isinstance(values, range) else (min(values), max(values))
    first, last = (Constant(d.within(end, end), end) for end in ends)
    if ends[0] > d.lower:
        e = greatest(e, first)
    return least(e, last) if ends[1] < d.upper else e


def _known(relation: Relation | None, names: Set[str], work: Work) -> Mapping[str, StepSet]:
    """The possible values of some columns, where conditions or derivations narrow them further than their domains.

    Nothing is known of text: its values are not public.
    """
    if not work.allows(1):
        return {}
    match relation:
        case Where(source=source, condition=condition):
            return _left(condition, source, _known(source, names, work), names, work)
        case Cohort(source=source):
            return _known(source, names, work)
        case Join(left=left, right=right):
            return {**_known(left, names, work), **_known(right, names, work)}
        case Derive(source=source, derived=computed):
            meant = dict(computed)
        case PerUnit(source=source, keys=gathered, folds=folds):
            meant = {**dict(gathered), **{name: f.a for name, f in folds if f.a and f.how in ("min", "max")}}
        case _:
            return {}
    meant = {name: e for name, e in meant.items() if name in names and e.domain.kind != "text"}
    known = _known(source, _names(meant.values()), work)
    return {name: _values(e, known, work) for name, e in meant.items()}


def _names(expressions: Iterable[Expression]) -> Set[str]:
    return {column.name for column in columns_of(expressions)}


def _left(
    condition: Expression, rows: Relation, known: Mapping[str, StepSet], names: Set[str], work: Work
) -> Mapping[str, StepSet]:
    """The possible values of columns in rows for which a condition holds."""
    narrowed_values = dict(known)
    for name in sorted(names & rows.columns.keys()):
        domain = rows.columns[name]
        every = known.get(name, range(domain.lower, domain.upper + 1))
        if domain.kind != "text" and (left := left_open(condition, Column(domain, name), every, work)) is not every:
            narrowed_values[name] = left
    return narrowed_values


def _values(e: Expression, known: Mapping[str, StepSet], work: Work) -> StepSet:
    """A public set that holds all values of e but for missing: its range, or what its last operations leave of it.

    Where e is of one column of which few values are known, it is computed for each of them.
    """
    every = range(e.domain.lower, e.domain.upper + 1)
    (name, *others) = _names([e]) or {""}
    if name in known and not others and not isinstance(e, Column):
        tried = representatives(known[name], stride(e, name))
        if work.allows(cost(tried, e)):
            found = {e.meaning({name: value}) for value in (*tried, None)}
            return {value for value in found if isinstance(value, int) and value in every}
    match e:
        case Column(name=name):
            return known.get(name, every)
        case Constant(value=value):
            return {value} if isinstance(value, int) else set()
        case Lookup():
            return set(e.values)
        case Case():
            parts, change = [_values(e.then, known, work), _values(e.otherwise, known, work)], (1, 0)
        case Multiply(a=a, b=Constant(value=int(factor))):
            parts, change = [_values(a, known, work)], (factor, 0)
        case Add(a=a, b=Constant(value=int(term))) | Add(a=Constant(value=int(term)), b=a):
            parts, change = [_values(a, known, work)], (1, term)
        case _:
            return every
    if sum(map(size, parts)) >= min(max(size(every), 1000), MOST_CELLS):  # no fewer than all, or too many to list
        return every
    return {y for part in parts for x in part if (y := x * change[0] + change[1]) in every}
