"""Values of a row, written in Python: `people.age // 10 * 10`, `(people.age >= 18) & ~people.note.is_missing()`.

A column expression has Python's operators, and knows the columns that it was made of: it can be used on all rows whose
columns of these names have the same domains, and on no others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

from ...core.errors import BadQuestion
from ..relation import build
from ..select.aggregates import Argument
from ..values.coercion import Plain
from ..values.dates import To
from ..values.nodes import Column, Expression


class ColumnExpression(Argument):
    """A value of each row, with the operators of Python."""

    def __repr__(self) -> str:
        made_of = ", ".join(sorted(column.name for column in self.columns)) or "nothing"
        return f"<column {made_of}>" if isinstance(self.expression, Column) else f"<expression of {made_of}>"

    def __add__(self, other: Operand) -> ColumnExpression:
        return applied(build.add, self, other)

    def __radd__(self, other: Plain) -> ColumnExpression:
        return applied(build.add, other, self)

    def __sub__(self, other: Operand) -> ColumnExpression:
        return applied(build.subtract, self, other)

    def __rsub__(self, other: Plain) -> ColumnExpression:
        return applied(build.subtract, other, self)

    def __mul__(self, other: Operand) -> ColumnExpression:
        return applied(build.multiply, self, other)

    def __rmul__(self, other: Plain) -> ColumnExpression:
        return applied(build.multiply, other, self)

    def __truediv__(self, other: Operand) -> ColumnExpression:
        return applied(build.divide, self, other)

    def __rtruediv__(self, other: Plain) -> ColumnExpression:
        return applied(build.divide, other, self)

    def __floordiv__(self, other: Operand) -> ColumnExpression:
        return (self / other).floor()

    def __rfloordiv__(self, other: Plain) -> ColumnExpression:
        return (other / self).floor()

    def __mod__(self, other: Operand) -> ColumnExpression:
        return applied(build.modulo, self, other)

    def __pow__(self, exponent: int) -> ColumnExpression:
        return applied(build.raised, self, exponent)

    def __neg__(self) -> ColumnExpression:
        return applied(build.negate, self)

    def __abs__(self) -> ColumnExpression:
        return applied(build.absolute, self)

    def __eq__(self, other: Operand) -> ColumnExpression:  # type: ignore[override]
        return applied(lambda a, b: build.compare("=", a, b), self, other)

    def __ne__(self, other: Operand) -> ColumnExpression:  # type: ignore[override]
        return applied(lambda a, b: build.compare("<>", a, b), self, other)

    def __lt__(self, other: Operand) -> ColumnExpression:
        return applied(lambda a, b: build.compare("<", a, b), self, other)

    def __le__(self, other: Operand) -> ColumnExpression:
        return applied(lambda a, b: build.compare("<=", a, b), self, other)

    def __gt__(self, other: Operand) -> ColumnExpression:
        return applied(lambda a, b: build.compare(">", a, b), self, other)

    def __ge__(self, other: Operand) -> ColumnExpression:
        return applied(lambda a, b: build.compare(">=", a, b), self, other)

    __hash__ = None  # type: ignore[assignment]

    def __and__(self, other: Operand) -> ColumnExpression:
        return applied(build.and_, self, other)

    def __or__(self, other: Operand) -> ColumnExpression:
        return applied(build.or_, self, other)

    def __invert__(self) -> ColumnExpression:
        return applied(build.not_, self)

    def __bool__(self) -> NoReturn:
        raise BadQuestion("A column expression is neither true nor false. Use & | ~ for and, or, not.")

    def is_missing(self) -> ColumnExpression:
        """Whether the value is missing."""
        return applied(build.is_missing, self)

    def is_in(self, values: Iterable[Operand]) -> ColumnExpression:
        """Whether the value is one of these."""
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise BadQuestion("is_in needs a list of values: is_in([1, 2]).")
        return applied(lambda a, *them: build.is_in(a, them), self, *values)

    def between(self, lower: Operand, upper: Operand) -> ColumnExpression:
        """Whether the value is from `lower` to `upper`, both included."""
        return applied(build.between, self, lower, upper)

    def like(self, pattern: str) -> ColumnExpression:
        """Whether text matches a pattern in which % is any text."""
        return applied(lambda a: build.like(a, pattern), self)

    def lower(self) -> ColumnExpression:
        """The label of a category in small letters."""
        return applied(lambda a: build.recased(a, str.lower), self, name=self.name)

    def upper(self) -> ColumnExpression:
        """The label of a category in capitals."""
        return applied(lambda a: build.recased(a, str.upper), self, name=self.name)

    def coalesce(self, *others: Operand) -> ColumnExpression:
        """The first of the values that is not missing."""
        return applied(build.coalesce, self, *others)

    def clamp(self, lower: Plain, upper: Plain) -> ColumnExpression:
        """The value, or the nearer of two bounds."""
        return applied(lambda a: build.clamp(a, lower, upper), self, name=self.name)

    def floor(self) -> ColumnExpression:
        """The largest whole number not above the value."""
        return applied(build.floor, self)

    def ceil(self) -> ColumnExpression:
        """The least whole number not below the value."""
        return applied(build.ceil, self)

    def round(self, digits: int = 0) -> ColumnExpression:
        """The value rounded to so many decimal digits."""
        return applied(lambda a: build.round_to(a, digits), self)

    def bin(self, width: Plain) -> ColumnExpression:
        """The largest multiple of the width that is not above the value."""
        return applied(lambda a: build.bin_to(a, width), self, name=self.name)

    def part(self, name: str) -> ColumnExpression:
        """The year, quarter, month, week, day, weekday or dayofyear; of a timestamp also the hour, minute or second."""
        return applied(lambda a: build.date_part(name, a), self, name=name)

    def trunc(self, unit: str) -> ColumnExpression:
        """The first day of the year, quarter, month or week; of a timestamp also the day, hour or minute."""
        return applied(lambda a: build.date_trunc(unit, a), self, name=self.name)

    def cast(self, to: To) -> ColumnExpression:
        """The value as another type."""
        return applied(lambda a: build.cast(a, to), self, name=self.name)

    def lookup(self, table: Mapping[Any, Plain]) -> ColumnExpression:
        """The value of a public table at this key."""
        return applied(lambda a: build.lookup(a, table), self)


Operand = ColumnExpression | Plain


def applied(how: Callable[..., Expression], *parts: Operand, name: str | None = None) -> ColumnExpression:
    """A function applied to column expressions and constants."""
    operands = [x if isinstance(x, ColumnExpression) else ColumnExpression(build.constant(x)) for x in parts]
    columns: frozenset[Column] = frozenset().union(*(operand.columns for operand in operands))
    return ColumnExpression(how(*(operand.expression for operand in operands)), columns, name)


def case(*branches: tuple[Operand, Operand], otherwise: Operand = None) -> ColumnExpression:
    """The value beside the first condition that holds: case((t.age < 18, "young"), otherwise="old")."""
    given: tuple[object, ...] = branches
    if not all(isinstance(branch, tuple | list) and len(branch) == 2 for branch in given):
        raise BadQuestion("A case needs pairs of a condition and a value.")
    parts = [part for branch in branches for part in branch]
    return applied(lambda e, *flat: build.case(zip(flat[::2], flat[1::2], strict=True), e), otherwise, *parts)


def least(*values: Operand) -> ColumnExpression:
    """The least of several values of a row."""
    return applied(build.least, *_several("least", values))


def greatest(*values: Operand) -> ColumnExpression:
    """The greatest of several values of a row."""
    return applied(build.greatest, *_several("greatest", values))


def _several(name: str, values: tuple[Operand, ...]) -> tuple[Operand, ...]:
    if not values:
        raise BadQuestion(f"{name} needs at least one value.")
    return values
