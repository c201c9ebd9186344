"""Public tables of key and value."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ...core.errors import BadQuestion
from .coercion import LONGEST_TABLE, Plain, alike, constant, folded, kind_of, union
from .domain import ValueDomain, ValueKind, category
from .nodes import Column, Expression, Lookup

LONGEST_LABEL = 1000  # characters of a label that a function makes


def lookup(a: Expression, table: Mapping[Any, Plain]) -> Expression:
    """The value of a public table at the key a; missing where the table has no such key."""
    if not isinstance(table, Mapping):
        raise BadQuestion("A public table is a mapping of keys to values.")
    if len(table) > LONGEST_TABLE:
        raise BadQuestion(f"A public table may have at most {LONGEST_TABLE} keys.")
    fitting = {key: value for key, value in table.items() if _is(key, a.domain.kind)}
    if table and not fitting:
        raise BadQuestion(
            f"No key of the public table fits the column; {kind_of(a)}. Give the table such keys, or CAST the column in"
            " a subquery first."
        )
    places = {label: step for step, label in enumerate(a.domain.labels)}
    domain = a.domain if isinstance(a, Column) else replace(a.domain, rounded=False)  # what is computed is exact
    entries, met = dict[int | str, Plain](), set[int | str]()
    for key, value in fitting.items():
        step = places.get(key) if a.domain.kind == "category" else _step(key, domain)
        if step in met:
            raise BadQuestion("Two keys of the public table are the same value on the grid of this column.")
        if step is not None:
            met.add(step)
            if value is not None:
                entries[step] = value
    if not entries:
        return constant(None)
    texts = [value for value in entries.values() if isinstance(value, str)]
    if len(texts) == len(entries):
        values = category(*dict.fromkeys(texts))
        place = {label: step for step, label in enumerate(values.labels)}
        steps = {key: place[text] for key, text in zip(entries, texts, strict=True)}
    else:
        constants = alike(*map(constant, entries.values()))
        values = union(*(c.domain for c in constants))
        if values.kind in ("text", "category"):
            raise BadQuestion("The values of a public table must all have one type.")
        steps = {key: int(c.meaning({}) or 0) for key, c in zip(entries, constants, strict=True)}
    keys = sorted(steps, key=lambda step: (isinstance(step, str), step))
    return folded(Lookup(values, a, tuple(keys), tuple(steps[key] for key in keys)))


def recased(a: Expression, how: Callable[[str], str]) -> Expression:
    """A category with its labels in lower or in upper case; labels that become equal are merged."""
    return of_labels(a, how, "LOWER, UPPER and ILIKE need")


def of_labels(a: Expression, how: Callable[[str], Plain], needs: str) -> Expression:
    """A function of each public label of a category; `needs` begins the refusal of anything else."""
    if a.domain.kind != "category":
        raise BadQuestion(f"{needs} a category, whose labels are public; {kind_of(a)}.")
    made = dict[str, Plain]()
    for label in a.domain.labels:
        made[label] = how(label)
        if isinstance(made[label], str):
            check_length(len(str(made[label])))
    return lookup(a, made)


def check_length(characters: int) -> None:
    """Refuse labels that a function makes too long: their lengths could multiply at each step."""
    if characters > LONGEST_LABEL:
        raise BadQuestion(f"Labels that functions make may have at most {LONGEST_LABEL} characters.")


def _is(key: Plain, kind: ValueKind) -> bool:
    """Whether a key of a public table has this kind."""
    match kind:
        case "category" | "text":
            return isinstance(key, str)
        case "boolean":
            return isinstance(key, bool)
        case "date":
            return isinstance(key, datetime.date) and not isinstance(key, datetime.datetime)
        case "timestamp":
            return isinstance(key, datetime.datetime)
    return key is not None and not isinstance(key, bool | str | datetime.date)


def _step(key: Plain, domain: ValueDomain) -> int | str | None:
    """A key of the domain's kind in its steps, or None if it is not among its values."""
    if isinstance(key, str):
        return None if any("\ud800" <= c <= "\udfff" for c in key) else key  # no text has those
    if type(key) is int and domain.grid == 1:
        return key if domain.lower <= key <= domain.upper else None
    c = constant(key)
    steps = domain.nearest(int(c.value or 0) * c.domain.grid)
    return int(steps) if steps.denominator == 1 and domain.lower <= steps <= domain.upper else None
