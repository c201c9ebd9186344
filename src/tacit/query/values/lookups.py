"""Public tables of key and value."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ...core.errors import BadQuestion
from .coercion import LONGEST_TABLE, Plain, alike, constant, folded, union
from .domain import Domain, Kind, category
from .nodes import Column, Expression, Lookup


def lookup(a: Expression, table: Mapping[Any, Plain]) -> Expression:
    """What a public table says of a; missing where it has no such key."""
    if not isinstance(table, Mapping):
        raise BadQuestion("what is looked up is in a mapping, of keys to what the table says of them")
    if len(table) > LONGEST_TABLE:
        raise BadQuestion(f"a public table has at most {LONGEST_TABLE} keys")
    fitting = {key: value for key, value in table.items() if _is(key, a.domain.kind)}
    if table and not fitting:
        raise BadQuestion(
            f"what is looked up is a {a.domain.kind}, and no key of the public table is; "
            "give the table such keys, or CAST the column in a subquery first"
        )
    places = {label: step for step, label in enumerate(a.domain.labels)}
    domain = a.domain if isinstance(a, Column) else replace(a.domain, rounded=False)  # what is computed is exact
    known, met = dict[int | str, Plain](), set[int | str]()
    for key, value in fitting.items():
        step = places.get(key) if a.domain.kind == "category" else _step(key, domain)
        if step in met:
            raise BadQuestion("two keys of the public table are one value of this column, on its grid")
        if step is not None:
            met.add(step)
            if value is not None:
                known[step] = value
    if not known:
        return constant(None)
    texts = [value for value in known.values() if isinstance(value, str)]
    if len(texts) == len(known):
        found = category(*dict.fromkeys(texts))
        place = {label: step for step, label in enumerate(found.labels)}
        steps = {key: place[text] for key, text in zip(known, texts, strict=True)}
    else:
        constants = alike(*map(constant, known.values()))
        found = union(*(c.domain for c in constants))
        if found.kind in ("text", "category"):
            raise BadQuestion("the values of a public table must be of one kind")
        steps = {key: int(c.meaning({}) or 0) for key, c in zip(known, constants, strict=True)}
    keys = sorted(steps, key=lambda step: (isinstance(step, str), step))
    return folded(Lookup(found, a, tuple(keys), tuple(steps[key] for key in keys)))


def recased(a: Expression, how: Callable[[str], str]) -> Expression:
    """A category with its labels in small letters, or in capitals: those that become alike are one."""
    if a.domain.kind != "category":
        raise BadQuestion(
            f"LOWER, UPPER and ILIKE are on categories, whose labels are public; this is a {a.domain.kind}"
        )
    return lookup(a, {label: how(label) for label in a.domain.labels})


def _is(key: Plain, kind: Kind) -> bool:
    """Whether a key of a public table is of a kind."""
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


def _step(key: Plain, domain: Domain) -> int | str | None:
    """A key of the domain's kind in its steps, or None if it is not among its values."""
    if isinstance(key, str):
        return None if any("\ud800" <= c <= "\udfff" for c in key) else key  # no text has those
    if type(key) is int and domain.grid == 1:
        return key if domain.lower <= key <= domain.upper else None
    c = constant(key)
    steps = domain.nearest(int(c.value or 0) * c.domain.grid)
    return int(steps) if steps.denominator == 1 and domain.lower <= steps <= domain.upper else None
