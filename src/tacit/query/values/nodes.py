"""Expressions over one row: a dozen total operations on integers, and the public domain of each.

An expression is closed: it holds no text of an analyst's but constants, and each operation is defined for every input.
The meaning of each is `meaning`, below; an engine translates, and must agree.

    missing        any operation on a missing value is missing, but for `IsMissing`, `Case`, `And`, `Or`;
                   a condition that is missing does not hold
    And, Or, Not   the logic of SQL: missing and false is false, missing or true is true
    Divide         rounded down; by zero, missing
    Lookup         missing where there is no such key

Each carries its domain, computed from those of its parts, so no sum or product can leave 64 bits.  Build them with the
functions of `build`, which see to that; both doors do.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeVar

from ...storage import stored
from .domain import BOOLEAN, EPOCH, Domain

Value = int | str | None
Part = Literal["year", "quarter", "month", "day", "weekday"]
Tree = TypeVar("Tree")


@dataclass(frozen=True)
class Expression:
    """A total function of a row."""

    domain: Domain


@stored("Column", ("domain", "name"))
@dataclass(frozen=True)
class Column(Expression):
    """The value of a column."""

    name: str


@stored("Constant", ("domain", "value"))
@dataclass(frozen=True)
class Constant(Expression):
    """A value that is written in the question: steps of its domain, text, or missing."""

    value: Value


@stored("Add", ("domain", "a", "b"))
@dataclass(frozen=True)
class Add(Expression):
    """a + b."""

    a: Expression
    b: Expression


@stored("Multiply", ("domain", "a", "b"))
@dataclass(frozen=True)
class Multiply(Expression):
    """a b."""

    a: Expression
    b: Expression


@stored("Divide", ("domain", "a", "b"))
@dataclass(frozen=True)
class Divide(Expression):
    """floor(a / b), and missing if b = 0."""

    a: Expression
    b: Expression


@stored("Compare", ("operator", "a", "b"))
@dataclass(frozen=True)
class Compare(Expression):
    """a = b, a < b or a <= b."""

    operator: Literal["=", "<", "<="]
    a: Expression
    b: Expression
    domain: Domain = field(default=BOOLEAN, init=False)


@stored("And", ("a", "b"))
@dataclass(frozen=True)
class And(Expression):
    """Both."""

    a: Expression
    b: Expression
    domain: Domain = field(default=BOOLEAN, init=False)


@stored("Or", ("a", "b"))
@dataclass(frozen=True)
class Or(Expression):
    """Either."""

    a: Expression
    b: Expression
    domain: Domain = field(default=BOOLEAN, init=False)


@stored("Not", ("a",))
@dataclass(frozen=True)
class Not(Expression):
    """1 - a."""

    a: Expression
    domain: Domain = field(default=BOOLEAN, init=False)


@stored("IsMissing", ("a",))
@dataclass(frozen=True)
class IsMissing(Expression):
    """Whether a is missing: never missing itself."""

    a: Expression
    domain: Domain = field(default=BOOLEAN, init=False)


@stored("Case", ("domain", "condition", "then", "otherwise"))
@dataclass(frozen=True)
class Case(Expression):
    """`then` where the condition holds, else `otherwise`."""

    condition: Expression
    then: Expression
    otherwise: Expression


@stored("Lookup", ("domain", "a", "keys", "values"))
@dataclass(frozen=True)
class Lookup(Expression):
    """What a public table says of a: `values[i]` where a is `keys[i]`."""

    a: Expression
    keys: tuple[int | str, ...]
    values: tuple[int, ...]

    @cached_property
    def table(self) -> Mapping[int | str, int]:
        """What is said of each key."""
        return dict(zip(self.keys, self.values, strict=True))


@stored("DatePart", ("domain", "part", "a"))
@dataclass(frozen=True)
class DatePart(Expression):
    """A part of a date, in the proleptic Gregorian calendar; weekdays are 1 to 7, from Monday."""

    part: Part
    a: Expression


@stored("Like", ("a", "pieces"))
@dataclass(frozen=True)
class Like(Expression):
    """Whether text matches a pattern of literal pieces with anything between them: pieces 'a', 'b' are a%b."""

    a: Expression
    pieces: tuple[str, ...]
    domain: Domain = field(default=BOOLEAN, init=False)


def meaning(e: Expression, row: Mapping[str, Value]) -> Value:
    """The value of an expression on a row: the reference that engines must meet."""
    match e:
        case Column():
            return row[e.name]
        case Constant():
            return e.value
        case IsMissing():
            return int(meaning(e.a, row) is None)
        case Case():
            return meaning(e.then if meaning(e.condition, row) == 1 else e.otherwise, row)
        case And() | Or():
            decides = int(isinstance(e, Or))
            both = meaning(e.a, row), meaning(e.b, row)
            return decides if decides in both else None if None in both else 1 - decides
        case Add() | Multiply() | Divide() | Compare():
            a, b = meaning(e.a, row), meaning(e.b, row)
            return None if a is None or b is None else _binary(e, a, b)
        case Not() | Lookup() | DatePart() | Like():
            a = meaning(e.a, row)
            return None if a is None else _unary(e, a)
    raise TypeError(type(e).__name__)


def _binary(e: Add | Multiply | Divide | Compare, a: int | str, b: int | str) -> Value:
    if isinstance(e, Compare):
        return int(a == b if e.operator == "=" else a < b if e.operator == "<" else a <= b)  # type: ignore[operator]
    a, b = int(a), int(b)
    match e:
        case Add():
            return a + b
        case Multiply():
            return a * b
    return a // b if b else None


def _unary(e: Not | Lookup | DatePart | Like, a: int | str) -> Value:
    match e:
        case Not():
            return 1 - int(a)
        case Lookup():
            return e.table.get(a)
        case DatePart():
            return part(e.part, EPOCH + datetime.timedelta(days=int(a)))
    return int(like(str(a), e.pieces))


def part(name: Part, day: datetime.date) -> int:
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
        found = text.find(piece, at)
        if not text.startswith(first) or found < 0:
            return False
        at = found + len(piece)
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
