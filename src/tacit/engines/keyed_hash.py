"""The keyed hash that decides which rows, groups and part of a unit count; every engine computes the same hash.

The unit, and each value that belongs to it (the columns of a row, the keys of a cell, or a part), becomes a digit:

    a number between public bounds, of fewer than 2^30 values     value - lower + 1
    any other whole number, of 64 bits                            q + (value rem q), q = 2^29 - 3, by its sign
    text                                                          1 + the first 28 bits of MD5 of key|text
    a unit                                                        as a 64-bit number if its text is one, else as text
    a missing value                                               0

With coefficients drawn from the key, the hash of the digits x_0, x_1, ... is

    y = a_0 x_0 + a_1 x_1 + ...      h = ((k_3 y + k_2) y + k_1) y + k_0      modulo p = 2^31 - 1

(Carter and Wegman, Universal classes of hash functions, 1979).  Over random keys, different digits collide in y with
probability at most 1 / (p - 1), and the hashes of any four y are independent; pairwise independence would already make
the smallest hashes a fair sample (Thorup, Bottom-k and priority sampling, 2013).  Rows with equal hashes are sorted by
content (column by column, missing values first, text by its bytes).  So which rows count depends on the unit's own rows
and on the key alone: not on other units, on the order of rows, or on the engine.

Digits are below 2^30, so four products and a residue are below 2^63, and no engine's integers overflow.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from ..query.values.domain import ValueDomain
from ..query.values.nodes import CellValue

HashPurpose = Literal["rows", "groups", "part"]

P = (1 << 31) - 1
Q = (1 << 29) - 3  # a prime, so that round numbers do not share a remainder
HEX = 7  # hexadecimal digits of MD5 that are used
TOGETHER = 4  # products that are summed before they are reduced
_MAX_DIGIT = 1 << 30
_INTEGER_TEXT = re.compile(r"0|-?[1-9][0-9]{0,18}")


@dataclass(frozen=True)
class Coefficients:
    """The linear coefficients a_0 (of the unit), a_1, a_2, ... and the cubic ones k_0, ..., k_3; all are in [1, p)."""

    linear: tuple[int, ...]
    cubic: tuple[int, ...]


@lru_cache(maxsize=256)
def coefficients(key: str, purpose: HashPurpose, columns: int) -> Coefficients:
    """The coefficients for one purpose, drawn from the key."""
    return Coefficients(
        tuple(_drawn(f"{key}|{purpose}|a{i}") for i in range(1 + columns)),
        tuple(_drawn(f"{key}|{purpose}|k{i}") for i in range(4)),
    )


def _drawn(label: str) -> int:
    """An integer in [1, p), within 2^-225 of uniform."""
    return int.from_bytes(hashlib.sha256(label.encode()).digest(), "big") % (P - 1) + 1


def order(
    key: str, purpose: HashPurpose, unit: str, values: Sequence[CellValue], domains: Sequence[ValueDomain]
) -> tuple[int, tuple[tuple[bool, CellValue], ...]]:
    """The sort key among the items of one unit: the hash first, and the content where hashes are equal."""
    return keyed_hash(key, purpose, unit, values, domains), tuple((value is not None, value) for value in values)


def keyed_hash(
    key: str, purpose: HashPurpose, unit: str, values: Sequence[CellValue], domains: Sequence[ValueDomain]
) -> int:
    """The hash of one item (a row, a cell or a part) of the unit that has this text."""
    c = coefficients(key, purpose, len(values))
    digits = [unit_digit(key, unit), *(digit(key, v, d) for v, d in zip(values, domains, strict=True))]
    y = sum(a * x for a, x in zip(c.linear, digits, strict=True)) % P
    k0, k1, k2, k3 = c.cubic
    return (((k3 * y + k2) * y + k1) * y + k0) % P


def digit(key: str, value: CellValue, domain: ValueDomain) -> int:
    """The digit of a value of this domain."""
    match value:
        case None:
            return 0
        case str():
            return _text(key, value)
    return value - domain.lower + 1 if narrow(domain) else _wide(value)


def unit_digit(key: str, unit: str) -> int:
    """The digit of a unit, from its text: it does not depend on the type of the column."""
    is_integer = _INTEGER_TEXT.fullmatch(unit) and -(1 << 63) <= int(unit) < 1 << 63
    return _wide(int(unit)) if is_integer else _text(key, unit)


def narrow(domain: ValueDomain) -> bool:
    """Whether the digit of a number of this domain is its distance from the lower bound (plus 1)."""
    return domain.upper - domain.lower + 1 < _MAX_DIGIT


def _wide(value: int) -> int:
    return Q + (value % Q if value >= 0 else -(-value % Q))


def _text(key: str, text: str) -> int:
    """The digit of a text; without the key, nobody can construct texts with equal digits."""
    return 1 + int(hashlib.md5(f"{key}|{text}".encode(), usedforsecurity=False).hexdigest()[:HEX], 16)
