"""Constants, common grids and the width of integers, for every constructor of expressions.

Two numbers are added or compared on a common grid, the greatest common divisor of both: no rounding, only whole
factors.  A text constant is a category of one label; beside a column it becomes a label, text or a date.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from decimal import Decimal
from fractions import Fraction
from functools import cache

from ...core.errors import BadParameter, BadQuestion
from ...core.parameters import rational
from .domain import BOOLEAN, DAY, DAYS, EPOCH, TEXT, WIDEST, ValueDomain, category, number
from .nodes import (
    Add,
    And,
    CellValue,
    Column,
    Constant,
    Expression,
    Lookup,
    Multiply,
    Or,
    tree_sizes,
)

NARROWER = "Declare narrower bounds, or CLAMP the values first."
DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
LONGEST_TABLE = 100_000  # entries of a public lookup

Plain = str | int | bool | float | Fraction | Decimal | datetime.date | datetime.datetime | None


def checked(domain: ValueDomain) -> ValueDomain:
    """The domain, if its steps fit 64 bits and its dates the calendar."""
    day = {"date": 1, "timestamp": DAY}.get(domain.kind)
    if day and not DAYS[0] * day <= domain.lower <= domain.upper < (DAYS[1] + 1) * day:
        raise BadQuestion("Dates could leave the years 1 to 9999 here. Declare narrower bounds for the dates.")
    if not -WIDEST <= domain.lower <= domain.upper <= WIDEST:
        coarser = "ROUND the reals in it, or declare a coarser grid for them."
        raise BadQuestion(f"Values could exceed 64 bits here. {NARROWER if domain.grid >= 1 else coarser}")
    if max(domain.grid.numerator, domain.grid.denominator).bit_length() > 256:
        raise BadQuestion("A number here is too large or has too many digits.")
    return domain


def unbounded(kind: str, e: Expression) -> BadQuestion:
    """The refusal of an aggregate that needs bounds: it names the column that has none."""
    while unbounded_parts := [part for part in parts_of(e) if not part.domain.declared]:
        e = unbounded_parts[0]
    if isinstance(e, Column):
        remedy = "Put lower and upper in the schema, buy bounds with `tacit bounds`, or CLAMP the values."
        return BadQuestion(f"{e.name[:40]!r} has no bounds. {remedy}")
    return BadQuestion(f"A {kind} needs bounds. {NARROWER}")


def kind_of(e: Expression) -> str:
    """An expression and its kind, for a message: 'region' is a category."""
    subject = repr(e.name[:40]) if isinstance(e, Column) else "this expression"
    return f"{subject} is {e.domain.kind if e.domain.kind == 'text' else f'a {e.domain.kind}'}"


def constant(value: Plain) -> Constant:
    """The constant for a value in a question; None is missing."""
    match value:
        case None:
            return Constant(number(0, 0), None)
        case bool():
            return Constant(BOOLEAN, int(value))
        case str():
            if "\0" in value or (not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value)):
                raise BadQuestion("Text must not contain NUL or surrogate characters.")
            return Constant(category(str.__str__(value)), 0)  # plain text, where it is an Enum or one of numpy
        case datetime.datetime():
            try:
                ahead = value.utcoffset() or datetime.timedelta()
            except ValueError:  # pandas' NaT
                raise BadQuestion("NaT is not a timestamp; write None for a missing value.") from None
            since = value.replace(tzinfo=None) - datetime.datetime(1970, 1, 1) - ahead
            if since % datetime.timedelta(seconds=1):
                raise BadQuestion("Timestamps have whole seconds; write this one without a fraction.")
            return at_second(since // datetime.timedelta(seconds=1))
        case datetime.date():
            return at_day((value - EPOCH).days)
    try:
        x = rational("A constant", value)
    except BadParameter as error:
        raise BadQuestion(str(error)) from None
    return Constant(checked(number(x.numerator, x.numerator, Fraction(1, x.denominator))), x.numerator)


def at_day(day: int) -> Constant:
    """The constant date so many days after the epoch."""
    return Constant(checked(ValueDomain("date", day, day)), day)


def at_second(second: int) -> Constant:
    """The constant timestamp so many seconds after the epoch."""
    return Constant(checked(ValueDomain("timestamp", second, second)), second)


def whole_constant(steps: int) -> Constant:
    """The constant whole number `steps`."""
    return Constant(checked(number(steps, steps)), steps)


def absent(e: Expression) -> bool:
    """Whether e is the missing constant."""
    return isinstance(e, Constant) and e.value is None


def written(e: Expression) -> Fraction | None:
    """The number that e is, if it is a constant number."""
    if isinstance(e, Constant) and isinstance(e.value, int) and e.domain.kind == "number":
        return e.value * e.domain.grid
    return None


def parts_of(e: Expression) -> list[Expression]:
    """The operands of e."""
    kind: type = type(e)
    return [part for name in _fields(kind) if isinstance(part := getattr(e, name), Expression)]


@cache
def _fields(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def columns_of(expressions: Iterable[Expression]) -> Iterator[Column]:
    """The columns that some expressions read, visiting shared subexpressions once."""
    return (e for e, _, _ in tree_sizes(expressions, parts_of) if isinstance(e, Column))


def folded(e: Expression) -> Expression:
    """e with its domain checked; its value as a constant, if all operands are constant."""
    checked(e.domain)
    if all(isinstance(part, Constant) for part in parts_of(e)):
        return _settled(e.domain, e.meaning({}))
    return e


def _settled(domain: ValueDomain, value: CellValue) -> Constant:
    narrow = isinstance(value, int) and domain.kind in ("number", "date", "timestamp")
    return Constant(domain.within(value, value) if narrow else domain, value)  # type: ignore[arg-type]


def shaped(e: Expression, domain: ValueDomain) -> Expression:
    """The integers of e as values of another domain; a column keeps its domain, so 0 is added to it."""
    if checked(domain) == e.domain:
        return e
    if isinstance(e, Constant):
        return Constant(domain, e.value)
    if not isinstance(e, Column) and any(field.name == "domain" and field.init for field in fields(e)):
        return replace(e, domain=domain)
    return Add(domain, e, whole_constant(0))


def unwrapped(e: Expression) -> Expression:
    """e without the 0 that `shaped` added."""
    return e.a if isinstance(e, Add) and isinstance(e.b, Constant) and e.b.value == 0 else e


def scaled(e: Expression, factor: int, domain: ValueDomain) -> Expression:
    """Steps multiplied by a whole number, in the domain that follows from `domain` by its kind and grid."""
    if factor == 1:
        return shaped(e, domain)
    ends = sorted((e.domain.lower * factor, e.domain.upper * factor))
    return folded(Multiply(replace(domain, lower=ends[0], upper=ends[1]), unwrapped(e), whole_constant(factor)))


def on_grid(e: Expression, grid: Fraction) -> Expression:
    """e in steps of a grid that divides its own."""
    if e.domain.grid == grid:
        return e
    return scaled(e, int(e.domain.grid / grid), replace(e.domain, grid=grid))


def common(a: Fraction, b: Fraction) -> Fraction:
    """The coarsest grid of which both grids are multiples."""
    return Fraction(math.gcd(a.numerator * b.denominator, b.numerator * a.denominator), a.denominator * b.denominator)


def alike(*parts: Expression) -> list[Expression]:
    """The expressions converted to one kind, one grid and one list of labels."""
    present = [part for part in parts if not absent(part)]
    if not present:
        return list(parts)
    kinds = {part.domain.kind for part in present}
    if kinds == {"number"}:
        grid = present[0].domain.grid
        for part in present[1:]:
            grid = common(grid, part.domain.grid)
        same = [part if absent(part) else on_grid(part, grid) for part in parts]
    elif kinds == {"category"}:
        labels = tuple(dict.fromkeys(label for part in present for label in part.domain.labels))
        same = [part if absent(part) else relabelled(part, labels) for part in parts]
    elif len(kinds) == 1:
        same = list(parts)
    else:
        target = next((kind for kind in ("timestamp", "date", "text") if kind in kinds), None)
        if target is None or not kinds <= {"timestamp", "date", "text", "category"}:
            quoted = any(isinstance(part, Constant) and part.domain.kind == "category" for part in present)
            remedy = "Write numbers, TRUE and FALSE without quotes." if quoted else "CAST one of them."
            texts = ("text", "category") if quoted else ("text",)
            names = sorted("text" if kind in texts else f"a {kind}" for kind in kinds)
            raise BadQuestion(f"Cannot combine {' and '.join(names)}. {remedy}")
        same = [part if absent(part) else converted(part, target) for part in parts]
    domain = union(*(part.domain for part in same if not absent(part)))
    return [Constant(domain, None) if absent(part) else part for part in same]


def union(*domains: ValueDomain) -> ValueDomain:
    """The smallest domain that holds all of these, which have one kind, grid and list of labels."""
    lower, upper = min(d.lower for d in domains), max(d.upper for d in domains)
    return replace(domains[0], lower=lower, upper=upper, declared=all(d.declared for d in domains))


def relabelled(e: Expression, labels: tuple[str, ...]) -> Expression:
    """A category expressed over a longer list of labels."""
    old, domain = e.domain.labels, category(*labels)
    if isinstance(e, Constant) and isinstance(e.value, int):
        return Constant(domain, labels.index(old[e.value]))
    if labels[: len(old)] == old:
        return shaped(e, domain)
    return Lookup(domain, e, tuple(range(len(old))), tuple(labels.index(label) for label in old))


def converted(e: Expression, kind: str) -> Expression:
    """e as another kind: a date as a timestamp, or a constant text as text, a date or a timestamp."""
    if e.domain.kind == kind:
        return e
    if kind == "timestamp" and e.domain.kind == "date":
        return scaled(e, DAY, replace(e.domain, kind="timestamp"))
    if isinstance(e, Constant) and e.domain.kind == "category":
        text = e.domain.labels[int(e.value or 0)]
        if kind == "text":
            return Constant(TEXT, text)
        try:
            if kind == "date" and DATE.fullmatch(text):
                return constant(datetime.date.fromisoformat(text))
            if kind == "timestamp" and DATE.match(text):
                return constant(datetime.datetime.fromisoformat(text))
        except ValueError:
            pass
        like = "2020-12-31" if kind == "date" else "2020-12-31 23:59:59"
        raise BadQuestion(f"Write a {kind} like {like}; got {text[:40]!r}.")
    raise BadQuestion(f"A {kind} is needed here; {kind_of(e)}. Declare the column as a {kind} in the schema.")


def balanced(kind: type[And] | type[Or], conditions: list[Expression]) -> Expression:
    """A balanced tree of And or Or: shallow, and the same however the conditions were bracketed."""
    leaves: list[Expression] = []
    waiting = conditions[::-1]
    while waiting:
        top = waiting.pop()
        if isinstance(top, And | Or) and isinstance(top, kind):
            waiting += top.b, top.a
        else:
            leaves.append(top)
    while len(leaves) > 1:
        pairs = [folded(kind(a, b)) for a, b in zip(leaves[::2], leaves[1::2], strict=False)]
        leaves = pairs + leaves[len(leaves) // 2 * 2 :]
    return leaves[0]
