"""The type and public facts of one column, read from TOML and written to it.

A bound of a real is put on the grid as a value is: the nearest multiple, halves upward.  A grid is a power of two, so
that dividing a double by it is exact.  Unless a grid is declared there are 2^30 to 2^31 steps between the bounds, if
doubles can distinguish so many.
"""

from __future__ import annotations

import datetime
import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, cast, get_args

from ...core.errors import BadParameter, BadSchema
from ...core.parameters import rational
from .domain import BOOLEAN, DAY, DAYS, EPOCH, TEXT, WIDEST, ValueDomain, category
from .reading import PLAIN, Reading, read_reading

Type = Literal["integer", "real", "boolean", "category", "date", "timestamp", "text"]

TYPES: tuple[Type, ...] = get_args(Type)
UNBOUNDED = 1 << 40  # steps: where a number without declared bounds is clamped
EXACT = 1 << 52  # steps: a double within them has halves
STEPS = 1 << 30  # between the bounds of a real, or up to twice as many, unless its grid is declared: they fit 32 bits
FINE = Fraction(1, 1 << 10)  # the grid of a real without bounds
FINEST, COARSEST = Fraction(1, 1 << 256), Fraction(1 << 256)
SECONDS = DAYS[0] * DAY, DAYS[1] * DAY + DAY - 1
MOST_LABELS = 10**6
BAD_NAME = "The name of a column must have 1 to 128 characters and no control characters."
BOUNDS = ("lower", "upper")
DAY_FORM = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
KEYS: Mapping[Type, tuple[str, ...]] = {  # the facts of a column besides its type
    "integer": (*BOUNDS, "total", "missing", "decimal"),
    "real": (*BOUNDS, "grid", "total", "missing", "decimal"),
    "boolean": ("missing", "true", "false"),
    "category": ("values", "missing"),
    "date": (*BOUNDS, "missing", "format"),
    "timestamp": (*BOUNDS, "missing", "format"),
    "text": ("missing",),
}


@dataclass(frozen=True)
class ColumnType:
    """The public facts of a column; `total` clamps, in steps, what a unit adds to a sum in one group."""

    type: Type
    domain: ValueDomain
    total: tuple[int, int] | None = None
    reading: Reading = PLAIN

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The step of each label."""
        return {label: step for step, label in enumerate(self.domain.labels)}


@dataclass
class Facts:
    """A table of a TOML file, and where it stands."""

    where: str
    given: Mapping[str, Any]

    def __post_init__(self) -> None:
        if not isinstance(self.given, Mapping):
            raise BadSchema(self.where, self.given, "a table of TOML")

    def only(self, *keys: str) -> None:
        """Refuse any other key.  Call this first: a missing key may be there under a misspelled name."""
        for key in self.given:
            if key not in keys:
                allowed = f"made of {', '.join(keys)}"
                says = f"{self.where} has no key {key!r}; the keys are {', '.join(keys)}."
                raise BadSchema(self.where, key, allowed, says=says)

    def get(self, key: str) -> Any:
        return self.given.get(key)

    def bad(self, key: str, allowed: str) -> BadSchema:
        if key not in self.given:
            return BadSchema(f"{self.where}.{key}", _NOTHING, allowed)
        return BadSchema(f"{self.where}.{key}", self.given[key], allowed)

    def whole(self, key: str, most: int, at_least: int = 1) -> int | None:
        value = self.get(key)
        if value is None:
            return None
        if type(value) is not int or not at_least <= value <= most:
            raise self.bad(key, f"a whole number from {at_least} to {most}")
        return value


class _Nothing:
    def __repr__(self) -> str:
        return "nothing"


_NOTHING = _Nothing()


def written(text: object, longest: int = 128) -> bool:
    """Whether this is text of 1 to `longest` characters without control characters or surrogates."""
    return (
        isinstance(text, str)
        and 0 < len(text) <= longest
        and not any(unicodedata.category(c) in ("Cc", "Cs") for c in text)
    )


def read_column(where: str, given: Any, otherwise: Reading = PLAIN) -> ColumnType:
    """The column that a TOML table describes; what it does not say of how cells are written is as in `otherwise`."""
    facts = Facts(where, given)
    kind = facts.get("type")
    facts.only("type", *(KEYS[kind] if kind in TYPES else dict.fromkeys(key for keys in KEYS.values() for key in keys)))
    match kind:
        case "integer" | "real":
            column = _number(cast(Type, kind), facts)
        case "category":
            column = ColumnType("category", category(*_labels(facts)))
        case "date" | "timestamp":
            ends, read = (DAYS, _day) if kind == "date" else (SECONDS, _second)
            lower, upper = (read(facts, key) for key in ("lower", "upper"))
            declared = _ordered(facts, lower, upper)
            bounds = (cast(int, lower), cast(int, upper)) if declared else ends
            column = ColumnType(cast(Type, kind), ValueDomain(kind, *bounds, declared=declared))
        case "boolean":
            column = ColumnType("boolean", BOOLEAN)
        case "text":
            column = ColumnType("text", TEXT)
        case _:
            raise facts.bad("type", f"one of {', '.join(TYPES)}")
    return replace(column, reading=_reading(facts, column, otherwise))


def _reading(facts: Facts, column: ColumnType, otherwise: Reading) -> Reading:
    """How the cells of a column are written, as far as that has a meaning in its type."""
    keys = KEYS[column.type]
    inherited = {key: fact for key, fact in otherwise.facts.items() if key in keys}
    reading = read_reading(facts.where, {**inherited, **{key: facts.get(key) for key in keys if key in facts.given}})
    if labels := [label for label in column.domain.labels if label in reading.missing]:
        says = (
            f"{facts.where}: the label {labels[0]!r} cannot also be a spelling of missing. Leave it out of `values`, "
            "or give the column a list `missing` of its own without it (missing = [] for none)."
        )
        raise BadSchema(facts.where, labels[0], "a label that is not missing", says=says)
    return reading


def _labels(facts: Facts) -> list[str]:
    labels = facts.get("values")
    if not isinstance(labels, list | tuple) or not 0 < len(labels) <= MOST_LABELS:
        raise facts.bad("values", f"a list of 1 to {MOST_LABELS} labels")
    for label in labels:
        if label != "" and not written(label, 4096):
            raise BadSchema(f"{facts.where}.values", label, "text, in quotes, without control characters")
    if len(set(labels)) < len(labels):
        raise facts.bad("values", "different from one another")
    return list(labels)


def _number(kind: Type, facts: Facts) -> ColumnType:
    lower, upper = (_rational(facts, key, facts.get(key), kind) for key in ("lower", "upper"))
    declared = _ordered(facts, lower, upper)
    grid = Fraction(1) if kind == "integer" else _grid(facts, lower, upper)
    if lower is not None and upper is not None:
        least, most = (math.floor(bound / grid + Fraction(1, 2)) for bound in (lower, upper))
    else:
        least, most = -UNBOUNDED, UNBOUNDED
    widest = WIDEST if kind == "integer" else EXACT
    if max(abs(least), abs(most)) > widest:
        raise BadSchema(facts.where, "bounds beyond them", f"within 2^{widest.bit_length() - 1} steps of its grid")
    total = facts.get("total")
    if total is not None:
        if not isinstance(total, list | tuple) or len(total) != 2:
            raise facts.bad("total", "a list of two numbers, the lower first")
        low, high = (cast(Fraction, _rational(facts, "total", bound, "real")) for bound in total)
        total = min(0, math.floor(low / grid)), max(0, math.ceil(high / grid))
        if low > high or max(abs(total[0]), total[1]) > WIDEST:
            raise facts.bad("total", "a list of two numbers, the lower first, within 2^62 steps of the grid")
    return ColumnType(kind, ValueDomain("number", least, most, grid, declared=declared, rounded=kind == "real"), total)


def _grid(facts: Facts, lower: Fraction | None, upper: Fraction | None) -> Fraction:
    grid = _rational(facts, "grid", facts.get("grid"), "real")
    if grid is not None:
        if grid <= 0 or 1 not in grid.as_integer_ratio() or max(grid.as_integer_ratio()).bit_count() > 1:
            raise facts.bad("grid", "a power of two, such as 1, 0.5 or 0.0078125")
    elif lower is None or upper is None or lower == upper:
        grid = FINE
    else:  # no finer than doubles of that size are
        grid = max(power((upper - lower) / STEPS), 2 * power(max(abs(lower), abs(upper)) / EXACT), FINEST)
        if grid > COARSEST:
            raise facts.bad("lower" if -lower > upper else "upper", "within 2^286 of zero")
    if not FINEST <= grid <= COARSEST:
        raise facts.bad("grid", "between 2^-256 and 2^256")
    return grid


def power(x: Fraction) -> Fraction:
    """The largest power of two that is at most x > 0."""
    exponent = x.numerator.bit_length() - x.denominator.bit_length()  # 2^exponent is at most a factor of 2 from x
    y = Fraction(2) ** exponent
    return y if y <= x else y / 2


def _rational(facts: Facts, key: str, value: Any, kind: Type) -> Fraction | None:
    if value is None:
        return None
    try:
        x = rational(key, value)
    except BadParameter as error:
        raise BadSchema(f"{facts.where}.{key}", value, error.allowed) from None
    if kind == "integer" and type(value) is not int:
        raise BadSchema(f"{facts.where}.{key}", value, "a whole number")
    return x


def _day(facts: Facts, key: str) -> int | None:
    value = facts.get(key)
    if value is None:
        return None
    if isinstance(value, str):
        value = _parsed(value, datetime.date)
    if type(value) is not datetime.date:
        raise facts.bad(key, "a date, such as 2015-01-01")
    return (value - EPOCH).days


def _second(facts: Facts, key: str) -> int | None:
    value = facts.get(key)
    if value is None:
        return None
    if isinstance(value, str):
        value = _parsed(value, datetime.datetime)
    if type(value) is not datetime.datetime:
        raise facts.bad(key, "a date and a time, such as 2015-01-01T00:00:00Z")
    since = value.replace(tzinfo=None) - datetime.datetime(1970, 1, 1) - (value.utcoffset() or datetime.timedelta())
    return min(max(since // datetime.timedelta(seconds=1), SECONDS[0]), SECONDS[1])


def _parsed(text: str, kind: type[datetime.date]) -> datetime.date | None:
    """A date, or a timestamp, in quotes; None if it is written in any other way than without them."""
    if (kind is datetime.date) != (DAY_FORM.fullmatch(text) is not None):
        return None
    try:
        return kind.fromisoformat(text)
    except ValueError:
        return None


def _ordered(facts: Facts, lower: Fraction | int | None, upper: Fraction | int | None) -> bool:
    if (lower is None) != (upper is None):
        raise BadSchema(facts.where, "one of them", "given both lower and upper, or neither")
    if lower is not None and upper is not None and lower > upper:
        raise facts.bad("lower", "at most upper")
    return lower is not None


def facts_of(column: ColumnType) -> dict[str, object]:
    """The facts of a column as `read_column` reads them."""
    d = column.domain
    facts: dict[str, object] = {"type": column.type}
    if column.type == "category":
        facts["values"] = list(d.labels)
    elif column.type in ("date", "timestamp") and d.declared:
        facts |= {"lower": d.label(d.lower), "upper": d.label(d.upper)}
    elif d.kind == "number":
        if d.declared:
            facts |= {"lower": d.lower * d.grid, "upper": d.upper * d.grid}
        if column.type == "real":
            facts["grid"] = d.grid
        if column.total is not None:
            facts["total"] = [bound * d.grid for bound in column.total]
    return {**facts, **column.reading.facts}
