"""Conditions: comparisons, lists, patterns and cases, in the logic of SQL.

A number is compared with a constant exactly, also between two points of its grid: x < 2.5 on whole x is x <= 2.  But a
column of reals, whose values were rounded to the grid, may meet the constant rounded likewise (`Domain.nearest`).  A
constant beyond the domain is moved next to it, which changes no answer and keeps the integers narrow.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Literal

from ...core.errors import BadQuestion
from .coercion import (
    Plain,
    absent,
    alike,
    balanced,
    constant,
    folded,
    kind_of,
    union,
    written,
)
from .domain import BOOLEAN, ValueDomain
from .nodes import (
    And,
    Case,
    Column,
    Compare,
    Constant,
    Expression,
    IsMissing,
    Like,
    Lookup,
    Not,
    Or,
)

Operator = Literal["=", "<>", "<", "<=", ">", ">="]
MIRRORED: dict[str, Operator] = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
LONGEST_LIST = 1000  # values, or characters of a pattern
NO_CONDITION = "A condition must be true or false, such as age >= 18."


def compare(operator: Operator, a: Expression, b: Expression) -> Expression:
    """a = b, a <> b, a < b, a <= b, a > b or a >= b; missing if one of them is."""
    if operator not in MIRRORED:
        raise BadQuestion("The operator of a comparison must be one of = <> < <= > >=.")
    if absent(a) or absent(b):
        return Constant(BOOLEAN, None)
    if operator == "<>":
        return not_(compare("=", a, b))
    if isinstance(a, Constant) and not isinstance(b, Constant):
        return compare(MIRRORED[operator], b, a)
    value = written(b)
    if value is not None and a.domain.kind == "number" and not isinstance(a, Constant):
        return _with_constant(operator, a, value)
    labels = a.domain.labels
    if a.domain.kind == b.domain.kind == "category" and isinstance(b, Constant) and not isinstance(a, Constant):
        for label in b.domain.labels:
            check_label(label, labels)
    a, b = alike(a, b)
    if operator != "=" and a.domain.kind in ("text", "category"):
        raise BadQuestion("Text and categories have no public order; use = or IN.")
    if operator in (">", ">="):
        a, b, operator = b, a, MIRRORED[operator]
    return folded(Compare(operator, a, b))  # type: ignore[arg-type]


def check_label(text: str, labels: tuple[str, ...]) -> None:
    """Refuse text that is not a label of a category."""
    if text not in labels:
        raise BadQuestion(f"{text[:40]!r} is not one of the labels {', '.join(map(repr, labels[:20]))}.")


def _with_constant(operator: Operator, a: Expression, value: Fraction) -> Expression:
    """A number compared with a constant, in steps: x < c is x <= ceil(c) - 1, and x > c is floor(c) + 1 <= x."""
    domain = a.domain
    steps = domain.nearest(value) if isinstance(a, Column) else value / domain.grid
    match operator:
        case "<" | "<=":
            last = math.floor(steps) if operator == "<=" else math.ceil(steps) - 1
            return Compare("<=", a, _near(last, domain))
        case ">" | ">=":
            first = math.ceil(steps) if operator == ">=" else math.floor(steps) + 1
            return Compare("<=", _near(first, domain), a)
    return Compare("=", a, _near(int(steps) if steps.denominator == 1 else domain.lower - 1, domain))


def _near(step: int, domain: ValueDomain) -> Constant:
    step = min(max(step, domain.lower - 1), domain.upper + 1)
    return Constant(ValueDomain("number", step, step, domain.grid), step)


def and_(*conditions: Expression) -> Expression:
    """Whether all conditions hold."""
    return balanced(And, _conditions(conditions))


def or_(*conditions: Expression) -> Expression:
    """Whether at least one condition holds."""
    return balanced(Or, _conditions(conditions))


def not_(a: Expression) -> Expression:
    """Not a."""
    (a,) = _conditions((a,))
    return a.a if isinstance(a, Not) else folded(Not(a))


def _conditions(parts: Iterable[Expression]) -> list[Expression]:
    conditions = [Constant(BOOLEAN, None) if absent(part) else part for part in parts]
    if not conditions or any(part.domain.kind != "boolean" for part in conditions):
        raise BadQuestion(NO_CONDITION)
    return conditions


def is_missing(a: Expression) -> Expression:
    """Whether a is missing."""
    return folded(IsMissing(a))


def is_in(a: Expression, values: Iterable[Plain | Expression]) -> Expression:
    """Whether a equals one of the values."""
    members = [value if isinstance(value, Expression) else constant(value) for value in values]
    if not 1 <= len(members) <= LONGEST_LIST:
        raise BadQuestion(f"A list must have 1 to {LONGEST_LIST} values.")
    return or_(*(compare("=", a, member) for member in members))


def between(a: Expression, lower: Expression, upper: Expression) -> Expression:
    """lower <= a <= upper."""
    return and_(compare(">=", a, lower), compare("<=", a, upper))


def like(a: Expression, pattern: str) -> Expression:
    """Whether text matches a pattern: % stands for any text and, on categories, _ for any one character."""
    if not isinstance(pattern, str):
        raise BadQuestion("A pattern must be text, such as 'a%'.")
    constant(pattern)
    if len(pattern) > LONGEST_LIST:
        raise BadQuestion(f"A pattern may have at most {LONGEST_LIST} characters.")
    if a.domain.kind == "category":
        matched = _matcher(pattern).fullmatch
        matches = tuple(int(matched(label) is not None) for label in a.domain.labels)
        return folded(Lookup(BOOLEAN, a, tuple(range(len(matches))), matches))
    if a.domain.kind != "text":
        raise BadQuestion(f"LIKE needs text or a category; {kind_of(a)}.")
    if "_" in pattern or "\\" in pattern:
        raise BadQuestion("A pattern on text may use only %, neither _ nor escapes.")
    first, *others = re.split("%+", pattern)
    return Like(a, (first, *others))


def _matcher(pattern: str) -> re.Pattern[str]:
    """A pattern of % and _ as a regular expression that takes time at most proportional to the product of the lengths.

    A piece between two % has a fixed length, so its first match may be taken, and the search never goes back.
    """
    pieces = ["".join("." if c == "_" else re.escape(c) for c in piece) for piece in re.split("%+", pattern)]
    first, *between = pieces[:-1] or pieces
    last = f".*{pieces[-1]}" if len(pieces) > 1 else ""
    return re.compile(first + "".join(f"(?>.*?{piece})" for piece in between) + last, re.DOTALL)


def case(branches: Iterable[tuple[Expression, Expression]], otherwise: Expression | None = None) -> Expression:
    """The value of the first condition that holds, or else `otherwise`, or missing."""
    pairs = list(branches)
    conditions = _conditions(condition for condition, _ in pairs)
    *values, last = alike(*(value for _, value in pairs), otherwise or constant(None))
    for condition, value in zip(reversed(conditions), reversed(values), strict=True):
        last = folded(Case(union(value.domain, last.domain), condition, value, last))
    return last


def coalesce(*parts: Expression) -> Expression:
    """The first value that is not missing."""
    if not parts:
        raise BadQuestion("COALESCE needs at least one value.")
    *others, last = alike(*parts)
    for part in reversed(others):
        last = folded(Case(union(part.domain, last.domain), is_missing(part), last, part))
    return last
