"""The closed plan of a question: which integers an engine must compute, and how far one unit can move them.

A plan groups the rows of a relation into public cells and asks for measures of each cell:

    Rows        how many rows; with an expression, how many where it is not missing
    Units       how many units have a row (where the expression is not missing)
    Total       the sum of an expression in its steps, missing values left out
    Histogram   how many rows fall between public edges of an expression

If `groups` is set, the rows of each unit count in at most that many cells: those of least keyed hash.  If `per_unit` of
a Total is set, an interval around 0, what one unit adds to one cell is clamped to it.  Cells are the product of the
keys' values; a row with a missing key is in none.  With `chosen`, the cells are instead the keys found in the data, and
are to be released only by a private selection.

Sensitivity, when one unit comes or goes.  It owns at most R rows, in at most c = min(R, groups, cells) cells.  A count
or a sum whose terms are at most B moves one cell by at most R B (or `per_unit`, if that is less), at most c cells, and
all of them together by at most R B, since the same rows are shared out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from ...core.distance import ADD_REMOVE, AddRemove, Distance
from ...storage import stored
from ..relation.relation import Relation
from ..values.domain import Domain, Label
from ..values.nodes import Expression


@stored("Key", ("name", "expression", "values"), keep=True)
@dataclass(frozen=True)
class Key:
    """What rows are grouped by; `values` are the steps of its public cells, or None where keys are chosen privately."""

    name: str
    expression: Expression
    values: tuple[int, ...] | None

    @property
    def domain(self) -> Domain:
        return self.expression.domain

    def labels(self) -> list[Label]:
        """The public values, as a person would write them."""
        return [self.domain.label(step) for step in self.values or ()]


@stored("Rows", ("expression",))
@dataclass(frozen=True)
class Rows:
    """How many rows of the cell there are, or how many where the expression is not missing."""

    expression: Expression | None = None


@stored("Units", ("expression",))
@dataclass(frozen=True)
class Units:
    """How many units have a row in the cell (where the expression is not missing)."""

    expression: Expression | None = None


@stored("Total", ("expression", "per_unit"))
@dataclass(frozen=True)
class Total:
    """The sum of an expression, in steps; `per_unit` clamps what a unit adds to a cell."""

    expression: Expression
    per_unit: tuple[int, int] | None = None


@stored("Histogram", ("expression", "edges"))
@dataclass(frozen=True)
class Histogram:
    """How many rows have edges[i] <= expression < edges[i + 1], the last edge included; in steps, increasing."""

    expression: Expression
    edges: tuple[int, ...]


Measure = Rows | Units | Total | Histogram


@stored("Plan", ("relation", "keys", "measures", "groups"))
@dataclass(frozen=True)
class Plan:
    """A closed question: exact integers, one array for each measure, over all cells in row-major order of the keys."""

    relation: Relation
    keys: tuple[Key, ...]
    measures: tuple[Measure, ...]
    groups: int | None = None

    @property
    def chosen(self) -> bool:
        """Whether the cells are to be chosen privately among the keys that are found."""
        return any(key.values is None for key in self.keys)

    @property
    def cells(self) -> int | None:
        """How many public cells there are."""
        return None if self.chosen else math.prod(len(key.values or ()) for key in self.keys)

    @property
    def touched(self) -> int:
        """In how many cells, at most, one unit has rows."""
        known = (self.relation.rows, self.groups, self.cells)
        return min(bound for bound in known if bound is not None)

    def distance(self, measure: Measure) -> Distance[AddRemove]:
        """How far one unit can move all that is computed for a measure."""
        rows, cells = self.relation.rows, self.touched
        match measure:
            case Units():
                each, most = 1, cells
            case Rows():
                each = most = rows
            case Histogram():
                each = most = rows
                cells = rows  # a unit's rows may lie between different edges
            case Total():
                each = most = rows * reach(measure.expression.domain.lower, measure.expression.domain.upper)
                if measure.per_unit is not None:
                    each = min(each, reach(*measure.per_unit))
                    most = min(most, cells * each)
        if not self.touched:  # there are no cells
            cells = each = most = 0
        l2_squared = min(most * each, cells * each * each)
        return Distance(Fraction(most), Fraction(l2_squared), Fraction(each), cells if each else 0, ADD_REMOVE)


def reach(lower: int, upper: int) -> int:
    """The farthest from zero."""
    return max(abs(lower), abs(upper))
