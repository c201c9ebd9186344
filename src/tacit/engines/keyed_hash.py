"""The keyed hash by which a unit's rows are chosen, and its groups, and its part; on every engine it is the same.

A unit and what it has (the columns of a row, the keys of a cell, a part) are digits x_0, x_1, ..., one for each:

    a number between public bounds, of fewer than 2^30 values     value - lower + 1
    any other whole number, of 64 bits                            q + (value rem q), q = 2^29 - 3, by its sign
    text                                                          1 + the first 28 bits of MD5 of key|text
    a unit                                                        as a number, if its text is one of 64 bits, or as text
    what is missing                                               0

With coefficients that are drawn from the key, its hash is

    y = a_0 x_0 + a_1 x_1 + ...      h = ((k_3 y + k_2) y + k_1) y + k_0      modulo p = 2^31 - 1

(Carter and Wegman, Universal classes of hash functions, 1979).  Over the keys, different digits have one y with chance
1 / (p - 1) at most, and any four y have independent h; to choose the least of them fairly, even two would do (Thorup,
Bottom-k and priority sampling, 2013).  Rows of one hash are sorted by what they hold (column by column, missing first,
text by its bytes).  So a choice depends on the unit's own rows and on the key, and on nothing else: not on other units,
on the order of rows, or on an engine.

Digits are below 2^30: four products and a residue are below 2^63, and no engine's integers overflow.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from ..query.values.domain import Domain
from ..query.values.nodes import Value

Choice = Literal["rows", "groups", "part"]

P = (1 << 31) - 1
Q = (1 << 29) - 3  # a prime, so that round numbers do not share a remainder
HEX = 7  # digits of MD5 that are used
TOGETHER = 4  # products that are summed before they are reduced
_NARROW = 1 << 30
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,18}")


@dataclass(frozen=True)
class Coefficients:
    """a_0 of the unit, a_1, a_2, ... of the columns, and k_0, ..., k_3; all are in [1, p)."""

    linear: tuple[int, ...]
    cubic: tuple[int, ...]


@lru_cache(maxsize=256)
def coefficients(key: str, choice: Choice, columns: int) -> Coefficients:
    """Those of a choice, by the key."""
    return Coefficients(
        tuple(_drawn(f"{key}|{choice}|a{i}") for i in range(1 + columns)),
        tuple(_drawn(f"{key}|{choice}|k{i}") for i in range(4)),
    )


def _drawn(label: str) -> int:
    """Uniform in [1, p), but for 2^-225."""
    return int.from_bytes(hashlib.sha256(label.encode()).digest(), "big") % (P - 1) + 1


def order(
    key: str, choice: Choice, unit: str, values: Sequence[Value], domains: Sequence[Domain]
) -> tuple[int, tuple[tuple[bool, Value], ...]]:
    """What is sorted by, to choose among what a unit has: the hash, and for what has one hash, the content."""
    return keyed_hash(key, choice, unit, values, domains), tuple((value is not None, value) for value in values)


def keyed_hash(key: str, choice: Choice, unit: str, values: Sequence[Value], domains: Sequence[Domain]) -> int:
    """The hash of what a unit has, which is named by its text."""
    c = coefficients(key, choice, len(values))
    digits = [unit_digit(key, unit), *(digit(key, v, d) for v, d in zip(values, domains, strict=True))]
    y = sum(a * x for a, x in zip(c.linear, digits, strict=True)) % P
    k0, k1, k2, k3 = c.cubic
    return (((k3 * y + k2) * y + k1) * y + k0) % P


def digit(key: str, value: Value, domain: Domain) -> int:
    """The digit of a value that has this domain."""
    match value:
        case None:
            return 0
        case str():
            return _text(key, value)
    return value - domain.lower + 1 if narrow(domain) else _wide(value)


def unit_digit(key: str, unit: str) -> int:
    """The digit of a unit, whatever type it has in a table."""
    whole = _WHOLE.fullmatch(unit) and -(1 << 63) <= int(unit) < 1 << 63
    return _wide(int(unit)) if whole else _text(key, unit)


def narrow(domain: Domain) -> bool:
    """Whether numbers of this domain are their own digits."""
    return domain.upper - domain.lower + 1 < _NARROW


def _wide(value: int) -> int:
    return Q + (value % Q if value >= 0 else -(-value % Q))


def _text(key: str, text: str) -> int:
    """Who does not know the key finds no texts of one digit."""
    return 1 + int(hashlib.md5(f"{key}|{text}".encode(), usedforsecurity=False).hexdigest()[:HEX], 16)
