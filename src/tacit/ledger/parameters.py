"""The parameters of a ledger's methods, checked before anything is read or written."""

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
MAX_LENGTH = 200  # characters of a name


def question_key(key: str) -> str:
    """The checked key of a question."""
    if not _KEY.fullmatch(text("key", key)):
        raise BadParameter("key", key, "a digest: 32 to 128 hexadecimal digits, lower case")
    return key


def name(what: str, given: str) -> str:
    """The checked name of a part or a data set."""
    if not 0 < len(text(what, given)) <= MAX_LENGTH or not given.isprintable():
        raise BadParameter(what, given, f"a name of 1 to {MAX_LENGTH} printable characters")
    return given


def text(what: str, given: str) -> str:
    """The value, if it is text."""
    if not isinstance(given, str):
        raise BadParameter(what, type(given).__name__, "text")
    return given


def as_bytes(what: str, given: bytes) -> bytes:
    """The value as bytes, which may be private and are not shown in errors."""
    if not isinstance(given, bytes | bytearray | memoryview):
        raise BadParameter(what, type(given).__name__, "bytes")
    return bytes(given)


def part_names(parts: Iterable[str] | None) -> frozenset[str] | None:
    """The checked names of parts; None is all of the data."""
    if parts is None:
        return None
    listed = () if isinstance(parts, str) or not isinstance(parts, Iterable) else parts
    if not (named := frozenset(name("part", part) for part in listed)):
        raise BadParameter("parts", parts, "names of parts, or None for all of the data")
    return named


def request(given: Request) -> Request:
    """The request with all of its fields checked."""
    if not isinstance(given.loss, Loss):
        raise BadParameter("loss", given.loss, "a Loss")
    if not isinstance(given.purpose, Purpose):
        raise BadParameter("purpose", type(given.purpose).__name__, "a Purpose")
    key, analyst, parts = question_key(given.key), analyst_name(given.analyst), part_names(given.parts)
    return Request(key, given.loss, analyst, parts, given.purpose, flag("fresh", given.fresh))


def fraction(what: str, given: Number | None) -> Fraction | None:
    """The checked fraction of a budget, or None."""
    x = None if given is None else rational(what, given)
    if not 0 <= (x or 0) <= 1:
        raise BadParameter(what, given, "a fraction of the budget, at least 0 and at most 1")
    return x
