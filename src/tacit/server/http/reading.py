"""Bodies, read strictly: JSON by RFC 8259 as one type, with nothing that two readers could take for two things.

msgspec refuses NaN, numbers beyond a double, byte order marks, lone surrogates and unknown members.  Beyond that, a
body may not name a member twice, be nested deeper than `limits.depth`, or hold an integer of more than 300 digits.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn, TypeVar

import msgspec

from ..errors import BadRequest

T = TypeVar("T")
_DIGITS = re.compile(rb"[0-9]{301}")
_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"')
_PLACE = re.compile(r" - at `\$(.*)`$")


def read(body: bytes, decoder: msgspec.json.Decoder[T], deepest: int) -> T:
    """The value of a body, or `BadRequest` that says where it is wrong and shows nothing of it."""
    _check_shape(body, deepest)
    try:
        value = decoder.decode(body)
        json.loads(body, object_pairs_hook=_once, parse_constant=_never)
    except msgspec.ValidationError as error:
        raise BadRequest(_explained(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError):
        raise BadRequest("The body must be JSON in UTF-8.") from None
    return value


def _check_shape(body: bytes, deepest: int) -> None:
    """Refuse what is nested too deeply, or has a number too long, before a parser meets it."""
    if body.count(b"[") + body.count(b"{") > deepest:
        depth = 0
        for bracket in re.findall(rb"[\[\]{}]", _TEXT.sub(b"", body)):
            depth += 1 if bracket in b"[{" else -1
            if depth > deepest:
                raise BadRequest(f"A body may be nested at most {deepest} deep.")
    if _DIGITS.search(body):
        raise BadRequest("A number may have at most 300 digits.")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise BadRequest("A body may name each member once.")
    return members


def _never(_: str) -> NoReturn:
    raise ValueError


def _explained(error: msgspec.ValidationError) -> str:
    """What is expected where, in msgspec's words as far as they are ours: names of members that were sent are not."""
    text = str(error)
    if text.startswith("Object contains unknown field"):
        return "The body has a member that is not known here."
    found = _PLACE.search(text)
    said = re.sub(r" '.*'", "", text[: found.start()] if found else text, flags=re.DOTALL)
    place = "" if found is None or not re.fullmatch(r"[\w.\[\]]*", found[1]) else found[1].lstrip(".")
    return f"The body is not of the expected form{f' at {place}' if place else ''}: {said}."
