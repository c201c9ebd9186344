"""Checks of a question before it is priced: every bound that noise is scaled to is recomputed.

Relations, keys and aggregates are plain values that anybody can make.  Those of the front ends are sound in the sense
below; a question that is not sound is refused, from public facts alone:

    expressions   their domains hold all values that they can have (`value_ranges`), over columns that the rows have
    folds         their domains are those that follow from the rows of one unit
    rows          names are different, on both sides of a join too, and joins are bounded
    keys          their values are different, in order, and among those of the key
    aggregates    ranks and places are those that can be asked for
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import lt

from ...core.errors import BadQuestion
from ..relation.build import MOST_PAIRS
from ..relation.relation import (
    Cohort,
    Derive,
    Fold,
    Join,
    PerUnit,
    Relation,
    Scan,
    Where,
    fold,
)
from ..select.aggregates import MOST_PLACES
from ..select.query import Aggregate, Key, Query
from ..values.column_types import BAD_NAME, written
from ..values.domain import WIDEST
from ..values.logic import NO_CONDITION
from ..values.nodes import Expression
from .value_ranges import ValueRanges, well_formed

MOST_GROUPS = 10**9


def check(query: Query) -> None:
    """Refuse a question that is not sound."""
    names = [*(key.name for key in query.keys), *(name for name, _ in query.aggregates)]
    _names(names)
    for selection in query.selections:
        _names([name for name, _ in selection.outputs])
        if selection.limit is not None and not 0 <= selection.limit <= WIDEST:
            raise BadQuestion("LIMIT must be a whole number from 0 to 2^62.")
        if not 0 <= selection.offset <= WIDEST:
            raise BadQuestion("OFFSET must be a whole number from 0 to 2^62.")
    if query.groups is not None and not 1 <= query.groups <= MOST_GROUPS:
        raise BadQuestion(f"The number of groups of one unit must be from 1 to {MOST_GROUPS}; got {query.groups}.")
    for _, aggregate in query.aggregates:
        _aggregate(aggregate)
    check_rows(query.relation, query.keys, [a.expression for _, a in query.aggregates if a.expression is not None])


def check_rows(relation: Relation, keys: Sequence[Key], asked: Sequence[Expression] = ()) -> None:
    """Refuse a relation, keys and expressions over its rows that are not sound."""
    ranges = ValueRanges()
    for source, expressions in (*_computed(relation), (relation, [*(key.expression for key in keys), *asked])):
        ranges.check(expressions, source.columns)
    for key in keys:
        _key(key)


def _computed(relation: Relation) -> Iterator[tuple[Relation, list[Expression]]]:
    """The expressions in a relation, each with the rows that it is over, sources first."""
    match relation:
        case Scan():
            _names([name for name, _ in relation.known])
            for _, domain in relation.known:
                well_formed(domain)
        case Where(source=source, condition=condition):
            yield from _computed(source)
            if condition.domain.kind != "boolean":
                raise BadQuestion(NO_CONDITION)
            yield source, [condition]
        case Derive(source=source, derived=derived):
            yield from _computed(source)
            _names([name for name, _ in derived])
            yield source, [e for _, e in derived]
        case PerUnit(source=source, keys=keys, folds=folds):
            yield from _computed(source)
            _names([name for name, _ in (*keys, *folds)])
            yield source, [*(e for _, e in keys), *(f.a for _, f in folds if f.a is not None)]
            for _, each in folds:
                _fold(each, source)
        case Cohort(source=source, members=members):
            yield from _computed(source)
            yield from _computed(members)
        case Join(left=left, right=right):
            yield from _computed(left)
            yield from _computed(right)
            if not left.columns.keys().isdisjoint(right.columns):
                raise BadQuestion("Columns of the joined tables have the same names. Rename them first.")
            if relation.rows > max(MOST_PAIRS, left.rows, right.rows):
                raise BadQuestion(
                    f"This join could give one unit {relation.rows:,} rows; at most {MOST_PAIRS:,} are allowed."
                )
        case _:
            raise BadQuestion(f"The type {type(relation).__name__} is not a relation of tacit.")


def _fold(given: Fold, source: Relation) -> None:
    if given.a is not None and given.a.domain.kind in ("text", "category") and given.how != "count":
        raise BadQuestion("Text and categories can only be counted; they have neither a sum nor an order.")
    if given != fold(given.how, source.rows, given.a):
        raise BadQuestion(f"The domain of a {given.how} over the rows of one unit does not follow from those rows.")
    well_formed(given.domain)


def _key(key: Key) -> None:
    if key.values is None:
        return
    lower, upper = key.domain.lower, key.domain.upper
    within = bool(key.values) and lower <= key.values[0] <= key.values[-1] <= upper
    if key.domain.kind == "text" or not within or not all(map(lt, key.values, key.values[1:])):
        raise BadQuestion(f"The values of the key {key.name[:40]!r} must be increasing values of its domain.")


def _aggregate(a: Aggregate) -> None:
    if a.expression is None and a.kind not in ("count", "units"):
        raise BadQuestion(f"A {a.kind} needs a column or an expression.")
    if not 1 <= a.place <= a.k <= MOST_PLACES or (a.k > 1 and a.kind != "top"):
        raise BadQuestion(f"The place of a most common value must be from 1 to k, and k at most {MOST_PLACES}.")
    if (a.at is None) == (a.kind == "quantile"):
        raise BadQuestion("A quantile needs a rank, and no other aggregate has one.")


def _names(names: list[str]) -> None:
    if not all(written(name) for name in names):
        raise BadQuestion(BAD_NAME)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise BadQuestion(f"Two columns are called {twice[:40]!r}. Rename one of them.")
