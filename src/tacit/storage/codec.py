"""Values as canonical JSON, exactly: what is read equals what was written, and equal values have one text.

    int          itself; {"0x": "1f..."} where the decimal text would be too long
    float        itself; {"float": "inf"} and {"float": "-inf"}.  NaN equals nothing, and is not written
    Fraction     {"/": "3/10"}
    tuple, list  a list, which is read as a tuple; three or more integers in even steps {"..": [first, last, step]}
    others       {"is": stored name, "v": version unless it is 1, and each stored field}, see `registry.py`

Only these are read, so a text can make nothing but values of stored types.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from json.encoder import encode_basestring_ascii
from operator import eq
from typing import Any

import numpy as np

from . import former
from .errors import Unreadable, Unwritable, WrittenLater
from .registry import BY_NAME, BY_TYPE, NAME, VERSION, Kind, Members

_PLAIN = frozenset((int, str))  # lists of these may be long, and are read as they are
_INTEGER = frozenset((int,))
_MAX_EVEN = 1 << 24  # integers in even steps that one text may stand for: no question has more
_MAX_BITS = 14_284  # of an integer whose decimal text Python always reads
_QUOTIENT = re.compile(r"(-?(?:\d+|0x[0-9a-f]+))/(\d+|0x[0-9a-f]+)", re.ASCII)
_HEX = re.compile(r"-?[0-9a-f]+", re.ASCII)
_TEXT = "_stored_text"  # where a value keeps its text
_dumps = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode


def canonical(value: Any) -> str:
    """One text for one value: what `write` makes of it, with its keys in order."""
    of: type = type(value)
    if of is int:
        return str(value) if value.bit_length() <= _MAX_BITS else f'{{"0x":"{value:x}"}}'
    if of is str:
        return encode_basestring_ascii(value)
    if of is tuple or of is list:
        if not _INTEGER.issuperset(map(type, value)):
            return f"[{','.join(map(canonical, value))}]"
        if (even := _even(value)) is not None:
            return f'{{"..":[{even[0]},{even[-1]},{even.step}]}}'
        return f"[{','.join(map(str if _short(value) else canonical, value))}]"
    kind = BY_TYPE.get(of)
    if kind is None:
        if of is Fraction:
            return f'{{"/":"{_quotient(value)}"}}'
        return "null" if value is None else _dumps(write(value))
    if not kind.keep:
        return _object(kind, value)
    text: str | None = vars(value).get(_TEXT)
    if text is None:
        text = vars(value)[_TEXT] = _object(kind, value)
    return text


def _object(kind: Kind, value: Any) -> str:
    if kind.text is None:
        members = {name: canonical(each) for name, each in kind.members(value).items()}
        return _braced(members | {NAME: f'"{kind.name}"'} | ({VERSION: str(kind.version)} if kind.version > 1 else {}))
    parts, end = kind.text
    return "".join([before + canonical(getattr(value, attribute)) for before, attribute in parts]) + end


def _braced(texts: dict[str, str]) -> str:
    members = [f'"{name}":{texts[name]}' for name in sorted(texts)]
    return f"{{{','.join(members)}}}"


def canonical_members(value: Any) -> str:
    """The canonical text of a value's stored fields without its name: for a place that says what stands there."""
    return _braced({name: canonical(each) for name, each in BY_TYPE[type(value)].members(value).items()})


def is_stored(value: object) -> bool:
    """Whether a value is of a stored type, and not of a subclass of one."""
    return type(value) in BY_TYPE


def members(value: object) -> Members:
    """The stored fields of a value of a stored type, by their stored names."""
    return BY_TYPE[type(value)].members(value)


def digest(value: object) -> str:
    """SHA-256 of the canonical text."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def write(value: Any) -> Any:
    """A value as JSON; the fields of an object stand in the order in which its type declares them."""
    if (kind := BY_TYPE.get(type(value))) is not None:
        head = {NAME: kind.name} | ({VERSION: kind.version} if kind.version > 1 else {})
        return {**head, **{name: write(each) for name, each in kind.members(value).items()}}
    match value:
        case None | bool() | str():
            return value
        case int():
            return value if value.bit_length() <= _MAX_BITS else {"0x": f"{value:x}"}
        case float():
            return _float(value)
        case np.generic():
            return write(value.item())
        case Fraction():
            return {"/": _quotient(value)}
        case tuple() | list():
            even = _even(value) if _INTEGER.issuperset(map(type, value)) else None
            return list(map(write, value)) if even is None else {"..": [even[0], even[-1], even.step]}
    raise Unwritable(f"{type(value).__name__} is no type that tacit stores")


def _float(value: float) -> Any:
    if math.isfinite(value):
        return float(value)
    if math.isnan(value):
        raise Unwritable("NaN is no number that tacit stores")
    return {"float": "inf" if value > 0 else "-inf"}


def _quotient(value: Fraction) -> str:
    top, bottom = value.numerator, value.denominator
    if top.bit_length() <= _MAX_BITS and bottom.bit_length() <= _MAX_BITS:
        return f"{top}/{bottom}"
    return f"{hex(top)}/{hex(bottom)}"


def _short(integers: Sequence[int]) -> bool:
    """Whether all of them have a decimal text."""
    return max(max(integers, default=0), -min(integers, default=0)).bit_length() <= _MAX_BITS


def _even(integers: Sequence[int]) -> range | None:
    """What they are, if they are three or more in even steps."""
    if len(integers) < 3 or integers[0] == integers[1]:
        return None
    step = integers[1] - integers[0]
    steps = range(integers[0], integers[0] + step * len(integers), step)
    same = integers[-1] == steps[-1] and all(map(eq, integers, steps))
    return steps if same and _short((steps[0], steps[-1], step)) else None


def loads(text: str | bytes) -> Any:
    """The value that a text was written from, by this version or by an earlier one."""
    try:
        written = json.loads(text)
    except (RecursionError, TypeError, ValueError):
        raise Unreadable("the text is no JSON") from None
    return read(written)


def read(written: Any) -> Any:
    """The value that JSON was written from, by this version or by an earlier one."""
    if former.is_former(written):
        written = former.upgraded(written)
    return _checked(written, _read)


def read_members(type_: type, written: Any) -> Any:
    """A value of a stored type from the JSON of its stored fields, as `canonical_members` writes them."""
    kind = BY_TYPE[type_]
    if type(written) is not dict or NAME in written:
        raise Unreadable(f"{kind.name} is written as its fields")
    return kind.made(_checked(written, lambda members: {name: _read(each) for name, each in members.items()}))


def _checked(written: Any, reader: Callable[[Any], Any]) -> Any:
    try:
        if _evens(written) > _MAX_EVEN:
            raise Unreadable("the text stands for too many numbers")
        return reader(written)
    except RecursionError:
        raise Unreadable("the text is nested too deeply") from None


def _evens(written: Any) -> int:
    """How many integers stand there by their ends: a short text may stand for any number of them."""
    of = type(written)
    if of is list:
        return sum([_evens(item) for item in written if type(item) not in _PLAIN])
    if of is not dict:
        return 0
    match written:
        case {"..": [int(first), int(last), int(step)]} if step:
            return max(0, (last - first) // step + 1)
    return sum([_evens(item) for item in written.values() if type(item) not in _PLAIN])


def _read(written: Any) -> Any:
    of = type(written)
    if of is list:
        return tuple([item if type(item) in _PLAIN else _read(item) for item in written])
    if of is not dict:
        if of is float and not math.isfinite(written):
            raise Unreadable("a number is not finite")
        return written
    if type(name := written.get(NAME)) is not str:
        return _number(written)
    if (kind := BY_NAME.get(name)) is None:
        raise WrittenLater(f"the type {name[:40]!r} is not known")
    members = {key: each for key, each in written.items() if key != NAME}
    if kind.version > 1 or VERSION in members:
        members = kind.upgraded(members)
    return kind.made({key: each if type(each) in _PLAIN else _read(each) for key, each in members.items()})


def _number(written: Members) -> Any:
    """A number, or several, that JSON has no form of its own for."""
    match written:
        case {"/": str(text)} if len(written) == 1 and (parts := _QUOTIENT.fullmatch(text)):
            try:
                return Fraction(int(parts[1], 0), int(parts[2], 0))
            except (ValueError, ZeroDivisionError):
                raise Unreadable("the text holds a quotient that is none") from None
        case {"..": [int(first), int(last), int(step)]} if (
            len(written) == 1 and step and last in range(first + 2 * step, last + step, step)
        ):
            return tuple(range(first, last + step, step))
        case {"0x": str(text)} if len(written) == 1 and _HEX.fullmatch(text):
            return int(text, 16)
        case {"float": "inf" | "-inf"} if len(written) == 1:
            return float(written["float"])
    raise Unreadable(f"the text has an object that is none: {', '.join(sorted(written)[:5]) or 'without members'}")
