"""Expressions over one row: a dozen total operations on integers, and the public domain of each.

An expression is closed: it holds no text of an analyst's but constants, and each operation is defined for every input.
Each node states its value on a row as `meaning`; an engine translates the node, and must agree.

    missing        any operation on a missing value is missing, but for `IsMissing`, `Case`, `And`, `Or`;
                   a condition that is missing does not hold
    And, Or, Not   the logic of SQL: missing and false is false, missing or true is true
    Divide         rounded down; by zero, missing
    Lookup         missing where there is no such key

Each node carries its domain, computed from those of its operands, so no sum or product can leave 64 bits.  Build nodes
with the functions of `relation.build`, which see to that; both front ends do.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeVar

from ...storage import stored
from .domain import BOOLEAN, EPOCH, ValueDomain

CellValue = int | str | None
Row = Mapping[str, CellValue]
DatePartName = Literal["year", "quarter", "month", "day", "weekday"]
Tree = TypeVar("Tree")


@dataclass(frozen=True)
class Expression:
    """A total function of a row."""

    domain: ValueDomain

    def meaning(self, row: Row) -> CellValue:
        """The value on a row: the reference that engines must meet."""
        raise NotImplementedError


@stored("Column", ("domain", "name"))
@dataclass(frozen=True)
class Column(Expression):
    """The value of a column."""

    name: str

    def meaning(self, row: Row) -> CellValue:
        return row[self.name]


@stored("Constant", ("domain", "value"))
@dataclass(frozen=True)
class Constant(Expression):
    """A value that is written in the question: steps of its domain, text, or missing."""

    value: CellValue

    def meaning(self, row: Row) -> CellValue:
        return self.value


@stored("Add", ("domain", "a", "b"))
@dataclass(frozen=True)
class Add(Expression):
    """a + b."""

    a: Expression
    b: Expression

    def meaning(self, row: Row) -> CellValue:
        a, b = self.a.meaning(row), self.b.meaning(row)
        return None if a is None or b is None else int(a) + int(b)


@stored("Multiply", ("domain", "a", "b"))
@dataclass(frozen=True)
class Multiply(Expression):
    """a b."""

    a: Expression
    b: Expression

    def meaning(self, row: Row) -> CellValue:
        a, b = self.a.meaning(row), self.b.meaning(row)
        return None if a is None or b is None else int(a) * int(b)


@stored("Divide", ("domain", "a", "b"))
@dataclass(frozen=True)
class Divide(Expression):
    """floor(a / b), and missing if b = 0."""

    a: Expression
    b: Expression

    def meaning(self, row: Row) -> CellValue:
        a, b = self.a.meaning(row), self.b.meaning(row)
        return None if a is None or not b else int(a) // int(b)


@stored("Compare", ("operator", "a", "b"))
@dataclass(frozen=True)
class Compare(Expression):
    """a = b, a < b or a <= b."""

    operator: Literal["=", "<", "<="]
    a: Expression
    b: Expression
    domain: ValueDomain = field(default=BOOLEAN, init=False)

    def meaning(self, row: Row) -> CellValue:
        a, b = self.a.meaning(row), self.b.meaning(row)
        if a is None or b is None:
            return None
        if self.operator == "=":
            return int(a == b)
        return int(a < b if self.operator == "<" else a <= b)  # type: ignore[operator]


@stored("And", ("a", "b"))
@dataclass(frozen=True)
class And(Expression):
    """Both."""

    a: Expression
    b: Expression
    domain: ValueDomain = field(default=BOOLEAN, init=False)

    def meaning(self, row: Row) -> CellValue:
        both = self.a.meaning(row), self.b.meaning(row)
        return 0 if 0 in both else None if None in both else 1


@stored("Or", ("a", "b"))
@dataclass(frozen=True)
class Or(Expression):
    """Either."""

    a: Expression
    b: Expression
    domain: ValueDomain = field(default=BOOLEAN, init=False)

    def meaning(self, row: Row) -> CellValue:
        both = self.a.meaning(row), self.b.meaning(row)
        return 1 if 1 in both else None if None in both else 0


@stored("Not", ("a",))
@dataclass(frozen=True)
class Not(Expression):
    """1 - a."""

    a: Expression
    domain: ValueDomain = field(default=BOOLEAN, init=False)

    def meaning(self, row: Row) -> CellValue:
        a = self.a.meaning(row)
        return None if a is None else 1 - int(a)


@stored("IsMissing", ("a",))
@dataclass(frozen=True)
class IsMissing(Expression):
    """Whether a is missing: never missing itself."""

    a: Expression
    domain: ValueDomain = field(default=BOOLEAN, init=False)

    def meaning(self, row: Row) -> CellValue:
        return int(self.a.meaning(row) is None)


@stored("Case", ("domain", "condition", "then", "otherwise"))
@dataclass(frozen=True)
class Case(Expression):
    """`then` where the condition holds, else `otherwise`."""

    condition: Expression
    then: Expression
    otherwise: Expression

    def meaning(self, row: Row) -> CellValue:
        return (self.then if self.condition.meaning(row) == 1 else self.otherwise).meaning(row)


@stored("Lookup", ("domain", "a", "keys", "values"))
@dataclass(frozen=True)
class Lookup(Expression):
    """The value of a public table at the key a: `values[i]` where a is `keys[i]`."""

    a: Expression
    keys: tuple[int | str, ...]
    values: tuple[int, ...]

    @cached_property
    def table(self) -> Mapping[int | str, int]:
        """The public table, by its keys."""
        return dict(zip(self.keys, self.values, strict=True))

    def meaning(self, row: Row) -> CellValue:
        a = self.a.meaning(row)
        return None if a is None else self.table.get(a)


@stored("DatePart", ("domain", "part", "a"))
@dataclass(frozen=True)
class DatePart(Expression):
    """A part of a date, in the proleptic Gregorian calendar; weekdays are 1 to 7, from Monday."""

    part: DatePartName
    a: Expression

    def meaning(self, row: Row) -> CellValue:
        a = self.a.meaning(row)
        return None if a is None else part(self.part, EPOCH + datetime.timedelta(days=int(a)))


@stored("Like", ("a", "pieces"))
@dataclass(frozen=True)
class Like(Expression):
    """Whether text matches a pattern of literal pieces with anything between them: pieces 'a', 'b' are a%b."""

    a: Expression
    pieces: tuple[str, ...]
    domain: ValueDomain = field(default=BOOLEAN, init=False)

    def meaning(self, row: Row) -> CellValue:
        a = self.a.meaning(row)
        return None if a is None else int(like(str(a), self.pieces))


def node_types() -> list[type[Expression]]:
    """Every type of node that stands in an expression over one row."""
    kinds = [kind for kind in globals().values() if isinstance(kind, type) and issubclass(kind, Expression)]
    return [kind for kind in kinds if kind is not Expression]


def part(name: DatePartName, day: datetime.date) -> int:
    """A part of a date."""
    match name:
        case "quarter":
            return (day.month + 2) // 3
        case "weekday":
            return day.isoweekday()
    return int(getattr(day, name))


def like(text: str, pieces: tuple[str, ...]) -> bool:
    """Whether the text begins with the first piece, ends with the last, and has the others between, in order."""
    if len(pieces) == 1:
        return text == pieces[0]
    first, *middle, last = pieces
    at = len(first)
    for piece in middle:
        position = text.find(piece, at)
        if not text.startswith(first) or position < 0:
            return False
        at = position + len(piece)
    return text.startswith(first) and len(text) - len(last) >= at and text.endswith(last)


def tree_sizes(trees: Iterable[Tree], parts: Callable[[Tree], list[Tree]]) -> Iterator[tuple[Tree, int, int]]:
    """Each subexpression of some trees, operands first, with its size written out and its depth.

    Trees share subexpressions; each object is visited once, so a tree that would be huge written out takes little time.
    """
    measured: dict[int, tuple[int, int]] = {}
    waiting = list(trees)
    while waiting:
        if id(waiting[-1]) in measured:
            waiting.pop()
            continue
        operands = parts(waiting[-1])
        unmeasured = [operand for operand in operands if id(operand) not in measured]
        if unmeasured:
            waiting += unmeasured
            continue
        size = 1 + sum(measured[id(operand)][0] for operand in operands)
        depth = 1 + max((measured[id(operand)][1] for operand in operands), default=0)
        measured[id(waiting[-1])] = size, depth
        yield waiting.pop(), size, depth
