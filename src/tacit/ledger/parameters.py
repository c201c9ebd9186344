"""What a ledger is given, read before anything is touched."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction

from ..core.accounting.loss import Loss
from ..core.errors import BadParameter
from ..core.parameters import Number, flag, rational
from ..core.purpose import Purpose
from .entries import Request
from .names import analyst_name

_KEY = re.compile(r"[0-9a-f]{32,128}")
_LONGEST = 200


def question_key(key: str) -> str:
    """The digest of a question."""
    if not _KEY.fullmatch(text("key", key)):
        raise BadParameter("key", key, "a digest: 32 to 128 hexadecimal digits, lower case")
    return key


def name(what: str, given: str) -> str:
    """Of a part or a data set."""
    if not 0 < len(text(what, given)) <= _LONGEST or not given.isprintable():
        raise BadParameter(what, given, f"a name of 1 to {_LONGEST} printable characters")
    return given


def text(what: str, given: str) -> str:
    if not isinstance(given, str):
        raise BadParameter(what, type(given).__name__, "a text")
    return given


def as_bytes(what: str, given: bytes) -> bytes:
    """Bytes, which may be private and are not shown."""
    if not isinstance(given, bytes | bytearray | memoryview):
        raise BadParameter(what, type(given).__name__, "bytes")
    return bytes(given)


def part_names(parts: Iterable[str] | None) -> frozenset[str] | None:
    """Parts by name; None means all of the data."""
    if parts is None:
        return None
    listed = () if isinstance(parts, str) or not isinstance(parts, Iterable) else parts
    if not (named := frozenset(name("part", part) for part in listed)):
        raise BadParameter("parts", parts, "names of parts, or None for all of the data")
    return named


def request(given: Request) -> Request:
    if not isinstance(given.loss, Loss):
        raise BadParameter("loss", given.loss, "a Loss")
    if not isinstance(given.purpose, Purpose):
        raise BadParameter("purpose", type(given.purpose).__name__, "a Purpose")
    key, analyst, parts = question_key(given.key), analyst_name(given.analyst), part_names(given.parts)
    return Request(key, given.loss, analyst, parts, given.purpose, flag("fresh", given.fresh))


def fraction(what: str, given: Number | None) -> Fraction | None:
    """A fraction of a budget, if one is given."""
    x = None if given is None else rational(what, given)
    if not 0 <= (x or 0) <= 1:
        raise BadParameter(what, given, "a fraction of the budget, at least 0 and at most 1")
    return x
