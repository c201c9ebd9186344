"""Relations: rows that belong to units, and a bound on the number of rows of one unit.

Each relation states, from public facts alone, its columns with their domains, and `rows`: the largest number of rows
that belong to one unit.  Removing a unit from the data removes exactly its rows from every relation, since no operation
combines rows of different units.

    Scan       the bounded table: at most `rows` rows of a unit, by a keyed hash of what they hold
    Where      the rows for which a condition holds
    Derive     other columns, each computed from its row
    PerUnit    one row for each unit (and key): counts, sums, least and largest values of the unit's own rows
    Join       all pairs of a row and a row of the same unit
    Cohort     the rows of the units that have a row elsewhere, or that have none there
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from ...storage import stored
from ..values.domain import ValueDomain, number
from ..values.nodes import Column, Expression


class Relation:
    """Rows that belong to units."""

    if TYPE_CHECKING:  # a property here would be the default of the field of a Scan

        @property
        def rows(self) -> int:
            """The largest number of rows of one unit."""

    @property
    def columns(self) -> Mapping[str, ValueDomain]:
        """The public domain of each column; the unit is not a column."""
        raise NotImplementedError


def scans(relation: Relation) -> Iterator[Scan]:
    """The tables that a relation reads; the key of the first one chooses groups."""
    match relation:
        case Scan():
            yield relation
        case Join(left=left, right=right) | Cohort(source=left, members=right):
            yield from scans(left)
            yield from scans(right)
        case Where(source=source) | Derive(source=source) | PerUnit(source=source):
            yield from scans(source)


def joins(relation: Relation) -> Iterator[Join]:
    """Every join in a relation, the innermost first."""
    match relation:
        case Join(left=left, right=right):
            yield from joins(left)
            yield from joins(right)
            yield relation
        case Cohort(source=source, members=members):
            yield from joins(source)
            yield from joins(members)
        case Where(source=source) | Derive(source=source) | PerUnit(source=source):
            yield from joins(source)


def _of_column(e: Expression) -> ValueDomain:
    """The domain of a column that holds e: computed values are exact, but for the least and largest of reals."""
    of = e.a if isinstance(e, Fold) and e.how in ("min", "max") else e
    return e.domain if isinstance(of, Column) else replace(e.domain, rounded=False)


@stored("Scan", ("table", "rows", "digest"), omit=("known",))
@dataclass(frozen=True)
class Scan(Relation):
    """A registered table with bounded rows; `digest` identifies its columns, which may be a long text."""

    table: str
    rows: int
    digest: str
    known: tuple[tuple[str, ValueDomain], ...] = field(default=(), compare=False, repr=False)

    @cached_property
    def columns(self) -> Mapping[str, ValueDomain]:
        return dict(self.known)


@stored("Where", ("source", "condition"))
@dataclass(frozen=True)
class Where(Relation):
    """The rows of `source` for which `condition` holds."""

    source: Relation
    condition: Expression

    @property
    def rows(self) -> int:
        return self.source.rows

    @property
    def columns(self) -> Mapping[str, ValueDomain]:
        return self.source.columns


@stored("Derive", ("source", "derived"))
@dataclass(frozen=True)
class Derive(Relation):
    """Columns computed from each row of `source`."""

    source: Relation
    derived: tuple[tuple[str, Expression], ...]

    @property
    def rows(self) -> int:
        return self.source.rows

    @cached_property
    def columns(self) -> Mapping[str, ValueDomain]:
        return {name: _of_column(e) for name, e in self.derived}


@stored("Fold", ("domain", "how", "a"))
@dataclass(frozen=True)
class Fold(Expression):
    """A count of rows, a sum, or the least or largest of an expression over the rows of one unit.

    Missing values are left out; a sum of none is 0, a least or largest of none is missing.
    """

    how: Literal["count", "sum", "min", "max"]
    a: Expression | None = None  # a count without one counts rows, with one the values that are there


def fold(how: Literal["count", "sum", "min", "max"], rows: int, a: Expression | None = None) -> Fold:
    """A fold over at most `rows` rows, with the domain that follows."""
    if how == "count" or a is None:
        return Fold(number(0, rows), "count", a)
    d = a.domain
    domain = d if how != "sum" else d.within(rows * min(d.lower, 0), rows * max(d.upper, 0))
    return Fold(domain, how, a)


@stored("PerUnit", ("source", "keys", "folds"))
@dataclass(frozen=True)
class PerUnit(Relation):
    """The rows of each unit of `source`, gathered by `keys` (values may be missing) and folded."""

    source: Relation
    keys: tuple[tuple[str, Expression], ...]
    folds: tuple[tuple[str, Fold], ...]

    @property
    def rows(self) -> int:
        return self.source.rows if self.keys else 1

    @cached_property
    def columns(self) -> Mapping[str, ValueDomain]:
        return {name: _of_column(e) for name, e in (*self.keys, *self.folds)}


@stored("Join", ("left", "right"))
@dataclass(frozen=True)
class Join(Relation):
    """Pairs of rows of the same unit; the columns of each side have other names."""

    left: Relation
    right: Relation

    @property
    def rows(self) -> int:
        return self.left.rows * self.right.rows

    @cached_property
    def columns(self) -> Mapping[str, ValueDomain]:
        return {**self.left.columns, **self.right.columns}


@stored("Cohort", ("source", "members", "inside"))
@dataclass(frozen=True)
class Cohort(Relation):
    """The rows of `source` whose unit has a row in `members`, or, unless `inside`, has none there.

    Whether a unit is in a cohort depends on its own rows alone, so one unit more or less moves no other unit's rows.
    """

    source: Relation
    members: Relation
    inside: bool = True

    @property
    def rows(self) -> int:
        return self.source.rows

    @property
    def columns(self) -> Mapping[str, ValueDomain]:
        return self.source.columns
