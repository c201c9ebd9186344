"""Values as canonical JSON, exactly: what is read equals what was written, and equal values of one type have one text.

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
from collections.abc import Sequence
from fractions import Fraction
from json.encoder import encode_basestring_ascii
from operator import eq
from typing import Any

import numpy as np

from . import former
from .errors import Unreadable, Unwritable, WrittenLater
from .registry import BY_NAME, BY_TYPE, NAME, VERSION, Members, StoredType

_PLAIN = frozenset((int, str))  # lists of these may be long, and are read as they are
_INTEGER = frozenset((int,))
_MAX_EVEN = 1 << 24  # integers in even steps that one text may stand for: no question has more
_LONG = 10**4300  # the first integer whose decimal text Python refuses to write and to read
_QUOTIENT = re.compile(r"(-?(?:\d+|0x[0-9a-f]+))/(\d+|0x[0-9a-f]+)", re.ASCII)
_LONG_INTEGER = re.compile(r'\{"(?:0x"|/":"-?0x)')
_HEX = re.compile(r"-?[0-9a-f]+", re.ASCII)
_TEXT = "_stored_text"  # where a value keeps its text
_dumps = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode


def canonical(value: Any) -> str:
    """One text for one value: what `write` makes of it, with its keys in order."""
    of: type = type(value)
    if of is int:
        return str(value) if -_LONG < value < _LONG else f'{{"0x":"{value:x}"}}'
    if of is str:
        return encode_basestring_ascii(value)
    if of is tuple or of is list:
        if not _INTEGER.issuperset(map(type, value)):
            return f"[{','.join(map(canonical, value))}]"
        if (even := _even(value)) is not None:
            return f'{{"..":[{even[0]},{even[-1]},{even.step}]}}'
        try:
            return f"[{','.join(map(str, value))}]"
        except ValueError:  # one of them is too long
            return f"[{','.join(map(canonical, value))}]"
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


def _object(kind: StoredType, value: Any) -> str:
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


def has_long_integers(text: str) -> bool:
    """Whether a canonical text holds an integer that has no decimal text; in a text of JSON, quotes are escaped."""
    return _LONG_INTEGER.search(text) is not None


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
    of: type = type(value)
    if of is int:
        return value if -_LONG < value < _LONG else {"0x": f"{value:x}"}
    if of is Fraction:
        return {"/": _quotient(value)}
    if of is str or value is None:
        return value
    if of is tuple or of is list:
        even = _even(value) if _INTEGER.issuperset(map(type, value)) else None
        return list(map(write, value)) if even is None else {"..": [even[0], even[-1], even.step]}
    if (kind := BY_TYPE.get(of)) is not None:
        head = {NAME: kind.name, VERSION: kind.version} if kind.version > 1 else {NAME: kind.name}
        for name, each in kind.members(value).items():
            head[name] = write(each)
        return head
    return _write_subclass(value)


def _write_subclass(value: object) -> Any:
    """A boolean, a float, or a number or text of a subclass, which is read as of its parent."""
    match value:
        case bool():
            return value
        case int():
            return write(int(value))
        case str():
            return str.__str__(value)
        case float():
            return _float(value)
        case Fraction():
            return {"/": _quotient(value)}
        case np.generic():
            return write(value.item())
    raise Unwritable(f"{type(value).__name__} is no type that tacit stores")


def _float(value: float) -> Any:
    if math.isfinite(value):
        return float(value)
    if math.isnan(value):
        raise Unwritable("NaN is no number that tacit stores")
    return {"float": "inf" if value > 0 else "-inf"}


def _quotient(value: Fraction) -> str:
    top, bottom = value.numerator, value.denominator
    if -_LONG < top < _LONG and bottom < _LONG:
        return f"{top}/{bottom}"
    return f"{hex(top)}/{hex(bottom)}"


def _even(integers: Sequence[int]) -> range | None:
    """What they are, if they are three or more in even steps."""
    if len(integers) < 3 or integers[0] == integers[1]:
        return None
    step = integers[1] - integers[0]
    steps = range(integers[0], integers[0] + step * len(integers), step)
    same = integers[-1] == steps[-1] and all(map(eq, integers, steps))
    return steps if same and all(-_LONG < each < _LONG for each in (steps[0], steps[-1], step)) else None


def loads(text: str | bytes) -> Any:
    """The value that a text was written from, by this version or by an earlier one."""
    try:
        written = json.loads(text)
    except (RecursionError, TypeError, ValueError):
        raise Unreadable("the text is no JSON") from None
    return read(written)


def read(written: Any) -> Any:
    """The value that JSON was written from, by this version or by an earlier one."""
    try:
        return _read(former.upgraded(written) if former.is_former(written) else written, [0])
    except RecursionError:
        raise Unreadable("the text is nested too deeply") from None


def read_members(type_: type, written: Any) -> Any:
    """A value of a stored type from the JSON of its stored fields, as `canonical_members` writes them."""
    kind, evens = BY_TYPE[type_], [0]
    if type(written) is not dict or NAME in written:
        raise Unreadable(f"{kind.name} is written as its fields")
    try:
        return kind.made({name: _read(each, evens) for name, each in written.items()})
    except RecursionError:
        raise Unreadable("the text is nested too deeply") from None


def _read(written: Any, evens: list[int]) -> Any:
    """The value of a part of a text, of which so many integers stood in even steps so far."""
    of = type(written)
    if of is list:
        return tuple([item if type(item) in _PLAIN else _read(item, evens) for item in written])
    if of is not dict:
        if of is float and not math.isfinite(written):
            raise Unreadable("a number is not finite")
        return written
    name = written.get(NAME)
    if type(name) is not str:
        return _number(written, evens)
    kind = BY_NAME.get(name)
    if kind is None:
        raise WrittenLater(f"the type {name[:40]!r} is not known")
    members = {key: each for key, each in written.items() if key != NAME}
    if kind.version > 1 or VERSION in members:
        members = kind.upgraded(members)
    for key, each in members.items():
        if type(each) not in _PLAIN:
            members[key] = _read(each, evens)
    return kind.made(members)


def _number(written: Members, evens: list[int]) -> Any:
    """A number, or several, that JSON has no form of its own for."""
    if len(written) == 1:
        ((form, text),) = written.items()
        if form == "/" and type(text) is str and (parts := _QUOTIENT.fullmatch(text)):
            try:
                return Fraction(int(parts[1], 0), int(parts[2], 0))
            except (ValueError, ZeroDivisionError):
                raise Unreadable("the text holds a quotient that is none") from None
        if form == ".." and type(text) is list:
            return _stepped(text, evens)
        if form == "0x" and type(text) is str and _HEX.fullmatch(text):
            return int(text, 16)
        if form == "float" and text in ("inf", "-inf"):
            return float(text)
    raise Unreadable(f"the text has an object that is none: {', '.join(sorted(written)[:5]) or 'without members'}")


def _stepped(ends: list[Any], evens: list[int]) -> tuple[int, ...]:
    match ends:
        case [int(first), int(last), int(step)] if step and last in range(first + 2 * step, last + step, step):
            evens[0] += (last - first) // step + 1
            if evens[0] <= _MAX_EVEN:
                return tuple(range(first, last + step, step))
    raise Unreadable("the text stands for numbers in steps that are none, or for too many")
