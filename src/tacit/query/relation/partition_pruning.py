"""The parts of a partitioned table that a question can touch, from its conditions alone.

Where a schema declares a partition column, each unit belongs to one part, so questions about different parts compose in
parallel: together they cost a unit what the questions about its own part cost.  A question touches the parts that its
conditions leave open, and all parts if nothing can be derived from them.
"""

from __future__ import annotations

from ..values.nodes import Column, Expression
from .condition_ranges import Work, left_open
from .relation import Cohort, Derive, Join, PerUnit, Relation, Scan, Where

PartSteps = frozenset[int] | None  # None: all of them


def touched(relation: Relation, table: str, column: str, work: Work | None = None) -> PartSteps:
    """The steps of the table's partition column whose units can have rows in the relation."""
    work = work or Work()
    if not work.allows(1):
        return None
    match relation:
        case Where(source=source, condition=condition):
            parts = touched(source, table, column, work)
            return both(parts, _open(condition, source, column, work)) if _scans(source, table) else parts
        case Derive(source=source) | PerUnit(source=source):
            return touched(source, table, column, work)
        case Cohort(source=source, inside=False):
            return touched(source, table, column, work)
        case Join(left=left, right=right) | Cohort(source=left, members=right):
            return both(touched(left, table, column, work), touched(right, table, column, work))
    return None


def _scans(relation: Relation, table: str) -> bool:
    """Whether the relation is the table itself, perhaps with conditions, under its own column names."""
    while isinstance(relation, Where):
        relation = relation.source
    return isinstance(relation, Scan) and relation.table == table


def _open(condition: Expression, rows: Relation, column: str, work: Work) -> PartSteps:
    """The parts that a condition leaves open."""
    domain = rows.columns[column]
    every = range(domain.lower, domain.upper + 1)
    left = left_open(condition, Column(domain, column), every, work)
    return None if left is every else frozenset(left)


def both(a: PartSteps, b: PartSteps) -> PartSteps:
    """The parts that are in both."""
    return b if a is None else a if b is None else a & b
