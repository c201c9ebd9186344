"""The domain of some columns of a table, for linear queries: their public values, and the rows to count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...core.distance import AddRemove, Distance
from ...core.errors import BadParameter
from ...storage import stored
from ...workloads.queries.domain import Axes, Domain
from ..plan.plan import QueryPlan, RowCount
from ..relation import build
from ..relation.relation import Relation, Where
from ..select.query import Key

if TYPE_CHECKING:
    from .question import TableRows

_MAX_TOTAL = 1 << 60  # of the counts of one table


def _of(relation: Relation, keys: tuple[Key, ...]) -> TableDomain:
    """The domain of these keys: its attributes are their names and labels."""
    return TableDomain(tuple((key.name, tuple(key.labels())) for key in keys), relation=relation, keys=keys)


@stored("TableDomain", ("relation", "keys"), omit=("attributes",), make=_of, keep=True)
@dataclass(frozen=True)
class TableDomain(Domain):
    """A domain together with the rows that it describes; rows in which one of its columns is missing are left out."""

    relation: Relation = field(kw_only=True, repr=False)
    keys: tuple[Key, ...] = field(kw_only=True, repr=False)

    def plan(self, axes: Axes) -> QueryPlan:
        """The closed plan of a marginal."""
        return QueryPlan(self.relation, tuple(self.keys[axis] for axis in axes), (RowCount(),))

    @property
    def distance(self) -> Distance[AddRemove]:
        """How one unit moves the full histogram."""
        return self.plan(self.all).distance(RowCount())


def domain(rows: TableRows, names: tuple[str, ...]) -> TableDomain:
    """The domain of these columns, each of which has a public list of values."""
    if not names:
        columns = ", ".join(sorted(rows.relation.columns))
        says = f"Name at least one column, such as domain('region'). The columns are {columns}."
        raise BadParameter("columns", "none", f"one or more of {columns}", says=says)
    named = [(name, build.column(rows.relation, name)) for name in names]
    keys = tuple(Key(name, e, build.keys(e, rows.relation)) for name, e in named)
    there = Where(rows.relation, build.and_(*(build.not_(build.is_missing(e)) for _, e in named)))
    return _of(there, keys)


@dataclass(frozen=True)
class Counted:
    """A private table as methods see it: exact counts, from an engine.

    Methods are total on whole numbers that are not negative and add up to at most 2^60, so every table that leaves here
    holds such: a count is cut at 2^60 / cells.  To cut moves no two tables farther apart.  In a table of 2^26
    cells, the largest there is, that is one cell with more than 2^34 records.
    """

    domain: TableDomain
    cells: Callable[[QueryPlan], NDArray[Any]] = field(repr=False)

    @property
    def distance(self) -> Distance[AddRemove]:
        return self.domain.distance

    def marginal(self, axes: Axes) -> NDArray[np.int64]:
        shape = self.domain.laid_out(axes)
        most = _MAX_TOTAL // max(1, self.domain.cells(axes))
        return np.asarray(np.clip(self.cells(self.domain.plan(axes)), 0, most), np.int64).reshape(shape)
