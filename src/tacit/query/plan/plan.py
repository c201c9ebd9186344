"""The closed plan of a question: the integers that an engine must compute, and their sensitivity to one unit.

A plan groups the rows of a relation into public cells and asks for measures of each cell:

    Rows        the number of rows; with an expression, of rows where it is not missing
    Units       the number of units that have a row (where the expression is not missing)
    Values      the number of different values of an expression, missing ones left out
    Total       the sum of an expression in its steps, missing values left out
    Histogram   the number of rows between public edges of an expression

If `groups` is set, the rows of each unit count in at most that many cells: those of least keyed hash.  If `per_unit` of
a Total is set, an interval around 0, the share of one unit in one cell is clamped to it.  Cells are the product of the
keys' values; a row with a missing key is in no cell.  With `chosen`, the cells are the keys in the data, which are
released only by a private selection.

Sensitivity, when one unit comes or goes.  It owns at most R rows, in at most c = min(R, groups, cells) cells.  A count
or a sum whose terms are at most B moves one cell by at most R B (or `per_unit`, if that is less), at most c cells, and
all of them together by at most R B, since the same rows are shared out.  A count of different values moves by no more
than the rows do, nor by more than there are values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from ...core.distance import ADD_REMOVE, AddRemove, Distance
from ...storage import stored
from ..relation.relation import Relation
from ..select.query import Key
from ..values.nodes import Expression


class _Measured:
    """Facts that every measure states."""

    @property
    def grid(self) -> Fraction:
        """The value of one step of the released integers."""
        return Fraction(1)

    @property
    def bins(self) -> int:
        """From how many counts of each cell values are chosen; 0 where the integer itself is released with noise."""
        return 0

    def moved(self, rows: int, cells: int) -> tuple[int, int, int]:
        """How far a unit with so many rows in so many cells moves one cell, all of them, and how many integers."""
        return rows, rows, cells


@stored("Rows", ("expression",))
@dataclass(frozen=True)
class RowCount(_Measured):
    """The number of rows in the cell, or of rows where the expression is not missing."""

    expression: Expression | None = None


@stored("Units", ("expression",))
@dataclass(frozen=True)
class UnitCount(_Measured):
    """The number of units that have a row in the cell (where the expression is not missing)."""

    expression: Expression | None = None

    def moved(self, rows: int, cells: int) -> tuple[int, int, int]:
        return 1, cells, cells


@stored("Values", ("expression",))
@dataclass(frozen=True)
class ValueCount(_Measured):
    """The number of different values that an expression has in the cell: a row adds at most one to it."""

    expression: Expression

    def moved(self, rows: int, cells: int) -> tuple[int, int, int]:
        each = rows if (size := self.expression.domain.size) is None else min(rows, size)
        return each, min(rows, cells * each), cells


@stored("Total", ("expression", "per_unit"))
@dataclass(frozen=True)
class Total(_Measured):
    """The sum of an expression, in steps; `per_unit` clamps the share of a unit in a cell."""

    expression: Expression
    per_unit: tuple[int, int] | None = None

    @property
    def grid(self) -> Fraction:
        return self.expression.domain.grid

    def moved(self, rows: int, cells: int) -> tuple[int, int, int]:
        most = rows * max_abs(self.expression.domain.lower, self.expression.domain.upper)
        if self.per_unit is None:
            return most, most, cells
        each = min(most, max_abs(*self.per_unit))
        return each, min(most, cells * each), cells


@stored("Histogram", ("expression", "edges"))
@dataclass(frozen=True)
class BinCounts(_Measured):
    """The number of rows with edges[i] <= expression < edges[i + 1], the last edge included; in steps, increasing."""

    expression: Expression
    edges: tuple[int, ...]

    @property
    def bins(self) -> int:
        return len(self.edges) - 1

    def moved(self, rows: int, cells: int) -> tuple[int, int, int]:
        return rows, rows, rows  # a unit's rows may lie between different edges


Measure = RowCount | UnitCount | ValueCount | Total | BinCounts


@stored("Plan", ("relation", "keys", "measures", "groups"), keep=True)
@dataclass(frozen=True)
class QueryPlan:
    """A closed question: exact integers, one array for each measure, over all cells in row-major order of the keys."""

    relation: Relation
    keys: tuple[Key, ...]
    measures: tuple[Measure, ...]
    groups: int | None = None

    @property
    def chosen(self) -> bool:
        """Whether the cells are selected privately among the keys in the data."""
        return any(key.values is None for key in self.keys)

    @property
    def cells(self) -> int | None:
        """The number of public cells, or None if the cells are selected privately."""
        return None if self.chosen else math.prod(len(key.values or ()) for key in self.keys)

    @property
    def touched(self) -> int:
        """The largest number of cells in which one unit has rows."""
        bounds = (self.relation.rows, self.groups, self.cells)
        return min(bound for bound in bounds if bound is not None)

    def distance(self, measure: Measure) -> Distance[AddRemove]:
        """The distance that one unit can move the integers of a measure."""
        each, most, cells = measure.moved(self.relation.rows, self.touched) if self.touched else (0, 0, 0)
        l2_squared = min(most * each, cells * each * each)
        return Distance(Fraction(most), Fraction(l2_squared), Fraction(each), cells if each else 0, ADD_REMOVE)


def max_abs(lower: int, upper: int) -> int:
    """The largest magnitude in an interval."""
    return max(abs(lower), abs(upper))
