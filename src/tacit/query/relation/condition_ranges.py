"""The values of a column, or of another expression, with which a condition can hold, from the question alone.

A value that is ruled out is in no row for which the condition holds.  Where nothing can be derived, or only with much
work, all values are left open.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Set
from dataclasses import dataclass

from ..values.coercion import columns_of, parts_of
from ..values.domain import EPOCH
from ..values.nodes import (
    And,
    Column,
    Compare,
    Constant,
    DatePart,
    Divide,
    Expression,
    Or,
    tree_sizes,
)

StepSet = Set[int] | range
_INSPECTION_COST = 30  # operations, about, to find the columns of a condition


@dataclass
class Work:
    """A budget of operations for reading conditions: 30,000 take some 30 milliseconds."""

    left: int = 30_000

    @classmethod
    def of_key(cls, place: int) -> Work:
        """The budget of a key: all for the first key of a question, half as many for each further one."""
        return cls(cls.left >> place)

    def allows(self, operations: int) -> bool:
        """Spend so many operations, if they are left; return whether they were."""
        if operations > self.left:
            return False
        self.left -= operations
        return True


def left_open(condition: Expression, e: Expression, values: StepSet, work: Work) -> StepSet:
    """The values of e with which the condition can hold; `values` itself, the same object, if none can be ruled out."""
    if not work.allows(1):
        return values
    match condition:
        case And(a=a, b=b):
            return left_open(b, e, left_open(a, e, values, work), work)
        case Or(a=a, b=b):
            one, other = left_open(a, e, values, work), left_open(b, e, values, work)
            known = one is not values and other is not values and work.allows(size(one) + size(other))
            return {*one, *other} if known else values
        case Compare(operator="=", a=a, b=Constant(value=int(step))) if a == e:
            return {step} if step in values else set()
        case Compare(operator=operator, a=a, b=Constant(value=int(step))) if a == e:
            return _between(values, None, step - (operator == "<"), work)
        case Compare(operator="<" | "<=", a=Constant(value=int(step)), b=b) if b == e:
            return _between(values, step + (condition.operator == "<"), None, work)
        case (
            Compare(a=DatePart(part="year", a=day) as year, b=Constant(value=int()))
            | Compare(a=Constant(value=int()), b=DatePart(part="year", a=day) as year)
        ) if per := _per(day, e):
            years = left_open(condition, year, range(year.domain.lower, year.domain.upper + 1), work)
            return _in_years(years, per, values, work)
    return _tried(condition, e, values, work) if isinstance(e, Column) else values


def _per(day: Expression, e: Expression) -> int:
    """The number of steps of e in one day, or 0 if the day is not computed from e."""
    if isinstance(day, Divide) and day.a == e and isinstance(day.b, Constant):
        return max(0, int(day.b.value or 0))
    return int(day == e)


def _in_years(years: StepSet, per: int, values: StepSet, work: Work) -> StepSet:
    """The values from the first day of the earliest year to the last day of the latest."""
    if not years:
        return set()
    first, last = datetime.date(min(years), 1, 1), datetime.date(max(years), 12, 31)
    return _between(values, (first - EPOCH).days * per, (last - EPOCH).days * per + per - 1, work)


def _tried(condition: Expression, column: Column, values: StepSet, work: Work) -> StepSet:
    """The values left open by a condition on this column alone, found by trying each value."""
    if not work.allows(_INSPECTION_COST) or {c.name for c in columns_of([condition])} != {column.name}:
        return values
    step = stride(condition, column.name) if isinstance(values, range) else 1
    tried = representatives(values, step)
    if not work.allows(cost(tried, condition)) or condition.meaning({column.name: None}) == 1:
        return values
    kept = [v for v in tried if condition.meaning({column.name: v}) == 1]
    if step == 1 or not kept:
        return set(kept)
    return _between(values, kept[0], kept[-1] + step - 1, work)


def _between(values: StepSet, lower: int | None, upper: int | None, work: Work) -> StepSet:
    if isinstance(values, range):
        first = values.start if lower is None else max(values.start, lower)
        return range(first, max(first, values.stop if upper is None else min(values.stop, upper + 1)))
    if not work.allows(len(values)):
        return values
    return {v for v in values if (lower is None or lower <= v) and (upper is None or v <= upper)}


def stride(e: Expression, name: str) -> int:
    """A d such that e depends on the column only through floor(column / d)."""
    users = [(user, part) for user, _, _ in tree_sizes([e], parts_of) for part in parts_of(user)]
    return math.gcd(*(_divisor(user) for user, part in users if isinstance(part, Column) and part.name == name)) or 1


def _divisor(user: Expression) -> int:
    match user:
        case Divide(a=Column(), b=Constant(value=int(d))) if d > 0:
            return d
    return 1


def representatives(values: StepSet, step: int) -> StepSet:
    """The first of all values that are equal when divided by the step and rounded down."""
    return range(values.start - values.start % step, values.stop, step) if isinstance(values, range) else values


def cost(values: StepSet, e: Expression) -> int:
    """The number of operations to compute e for each of the values."""
    *_, (_, operations, _) = tree_sizes([e], parts_of)
    return (1 + size(values)) * operations


def size(values: StepSet) -> int:
    """The number of values; len() of a range is limited to 63 bits."""
    return -((values.start - values.stop) // values.step) if isinstance(values, range) else len(values)
