"""Functions of labels, and values spelled as labels: each is a public table over the public values of its argument."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from math import prod

from ...core.errors import BadQuestion
from .arithmetic import add, multiply
from .coercion import LONGEST_TABLE, absent, constant, folded, kind_of, shaped
from .domain import category, number
from .lookups import check_length, of_labels
from .nodes import Constant, Expression, Lookup
from .patterns import Pattern

MOST_SPELLED = 10_000  # values of a number or a date that are written as labels
MOST_MATCHED = 2_000_000  # states of a pattern, times the characters of all labels


def spelled(a: Expression) -> Expression:
    """A value as text: a category as it is; whole numbers in digits, dates as 2020-12-31, conditions as true, false."""
    domain = a.domain
    if absent(a) or domain.kind in ("category", "text"):
        return a
    if domain.kind == "timestamp" or (domain.kind == "number" and domain.grid.denominator != 1):
        raise BadQuestion(f"Only whole numbers, dates and conditions can be written as text; {kind_of(a)}.")
    if domain.size is None or domain.size > MOST_SPELLED:
        raise BadQuestion(
            f"At most {MOST_SPELLED} values can be written as text, each of them public. Declare narrower bounds, or"
            " use wider bins."
        )
    steps = range(domain.lower, domain.upper + 1)
    labels = [str(domain.label(step)) for step in steps]
    if domain.kind == "boolean":
        labels = [label.lower() for label in labels]
    return folded(Lookup(category(*labels), a, tuple(steps), tuple(range(len(labels)))))


def pairs(*parts: Expression) -> int:
    """How many texts the parts make, one after the other."""
    return prod(len(spelled(part).domain.labels) or 1 for part in parts)


def concatenated(*parts: Expression) -> Expression:
    """The labels of several categories, one after the other; missing if one of them is."""
    if any(absent(part) for part in parts):
        return constant(None)
    written = [spelled(part) for part in parts]
    for part in written:
        if part.domain.kind != "category":
            raise BadQuestion(f"|| needs categories, whose labels are public; {kind_of(part)}.")
    if (made := pairs(*written)) > LONGEST_TABLE:
        raise BadQuestion(f"|| would make {made} labels here; at most {LONGEST_TABLE} are allowed.")
    check_length(sum(max(map(len, part.domain.labels), default=0) for part in written))
    first, *others = (shaped(part, number(0, len(part.domain.labels) - 1)) for part in written)
    code = first
    for part in others:
        code = add(multiply(code, constant(part.domain.upper + 1)), part)
    texts = ["".join(labels) for labels in product(*(part.domain.labels for part in written))]
    known = {label: place for place, label in enumerate(dict.fromkeys(texts))}
    if isinstance(code, Constant) and isinstance(code.value, int):
        return constant(texts[code.value])
    return folded(Lookup(category(*known), code, tuple(range(made)), tuple(known[text] for text in texts)))


def matches(a: Expression, pattern: str, ignore_case: bool = False) -> Expression:
    """Whether a regular expression is found in the labels of a category."""
    compiled = Pattern(pattern, ignore_case)
    if len(compiled.jumps) * sum(map(len, a.domain.labels)) > MOST_MATCHED:
        raise BadQuestion("This pattern is too long for so many labels. Use LIKE, or a shorter pattern.")
    return of_labels(a, compiled.found, "A regular expression needs")


def substring(start: int, length: int | None) -> Callable[[str], str]:
    """SUBSTR: characters are counted from 1, and those before the first are counted too."""
    begin = max(start - 1, 0)
    end = None if length is None else max(start - 1 + length, 0)
    return lambda text: text[begin:end]


def left(count: int) -> Callable[[str], str]:
    """The first characters, or all but the last where the count is negative."""
    return lambda text: text[:count]


def right(count: int) -> Callable[[str], str]:
    """The last characters, or all but the first where the count is negative."""
    return lambda text: text[-count:] if count else ""


def capitalised(text: str) -> str:
    """INITCAP: the first letter of each word is a capital, the others are small."""
    return re.sub(r"[^\W_]+", lambda word: word[0][:1].upper() + word[0][1:].lower(), text)
