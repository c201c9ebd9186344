"""The public cells of a question: the values that what it is grouped by can take.

A column of a subquery or of derived rows stands for the expression that it was computed by, and has its values alone:
grouped by it or by the expression itself, a question has the same groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from ..core.errors import BadQuestion
from .expression import Add, Case, Column, Constant, Expression, Lookup, Multiply
from .extent import extents
from .grids import parts_of
from .relation import Derive, Join, PerUnit, Relation, Where

MOST_CELLS = 1_000_000
Values = set[int] | range


def keys(e: Expression, relation: Relation | None = None, otherwise: str = "") -> tuple[int, ...]:
    """The steps that e can take on the rows of a relation; `otherwise` is what to do if there is no public list."""
    if e.domain.kind == "text":
        raise BadQuestion(f"the values of text are not public; list them in the schema{otherwise}")
    if not e.domain.declared:
        raise BadQuestion(f"there are no declared bounds; declare them, or bin the values{otherwise}")
    found = _values(e, _known(relation, _columns([e])))
    size = _size(found)
    if size > MOST_CELLS:
        coarser = ", or declare a coarser grid of the reals" if e.domain.grid < 1 else ""
        raise BadQuestion(f"{size} groups are more than {MOST_CELLS}; group by wider bins{coarser}")
    return tuple(sorted(found))


def _known(relation: Relation | None, names: Set[str]) -> Mapping[str, Values]:
    """What is known of some columns of a relation beyond their domains: each is looked at once."""
    match relation:
        case Where(source=source):
            return _known(source, names)
        case Join(left=left, right=right):
            return {**_known(left, names), **_known(right, names)}
        case Derive(source=source, derived=computed):
            meant = dict(computed)
        case PerUnit(source=source, keys=gathered, folds=folds):
            meant = {**dict(gathered), **{name: f.a for name, f in folds if f.a and f.how in ("min", "max")}}
        case _:
            return {}
    meant = {name: e for name, e in meant.items() if name in names}
    known = _known(source, _columns(meant.values()))
    return {name: _values(e, known) for name, e in meant.items()}


def _columns(expressions: Iterable[Expression]) -> Set[str]:
    return {e.name for e, _, _ in extents(expressions, parts_of) if isinstance(e, Column)}


def _values(e: Expression, known: Mapping[str, Values]) -> Values:
    """A public set that holds all values of e but for missing: its range, or what its last operations leave of it."""
    every = range(e.domain.lower, e.domain.upper + 1)
    match e:
        case Column(name=name):
            return known.get(name, every)
        case Constant(value=value):
            return {value} if isinstance(value, int) else set()
        case Lookup():
            return set(e.values)
        case Case():
            parts, change = [_values(e.then, known), _values(e.otherwise, known)], (1, 0)
        case Multiply(a=a, b=Constant(value=int(factor))):
            parts, change = [_values(a, known)], (factor, 0)
        case Add(a=a, b=Constant(value=int(term))) | Add(a=Constant(value=int(term)), b=a):
            parts, change = [_values(a, known)], (1, term)
        case _:
            return every
    if sum(map(_size, parts)) >= min(max(_size(every), 1000), MOST_CELLS):  # no fewer than all, or too many to list
        return every
    return {y for part in parts for x in part if (y := x * change[0] + change[1]) in every}


def _size(values: set[int] | range) -> int:
    return values.stop - values.start if isinstance(values, range) else len(values)  # len() of a range is limited
