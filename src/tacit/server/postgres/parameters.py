"""Parameters: `$1` is replaced by a literal of its type, and positions are found again in the text that was sent.

A parameter whose type the client does not say has the type that it is cast to, or that of the column beside it, or is
text.  A cast right behind a parameter is left out, as the literal has its type.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from sqlglot import Token, TokenType

from . import values
from .errors import SqlError
from .statements import tokens_of

_MOST = 200  # parameters of a statement
_COMPARING = (TokenType.EQ, TokenType.NEQ, TokenType.LT, TokenType.LTE, TokenType.GT, TokenType.GTE)
_BETWEEN = {*_COMPARING, TokenType.BETWEEN, TokenType.AND, TokenType.IN, TokenType.NOT, TokenType.COMMA}
_BETWEEN |= {TokenType.L_PAREN, TokenType.PARAMETER, TokenType.NUMBER, TokenType.STRING, TokenType.LIKE}
_NAMES = (TokenType.VAR, TokenType.IDENTIFIER)
_LONG = (("precision",), ("without", "time", "zone"), ("with", "time", "zone"), ("varying",))  # after a name of a type


@dataclass(frozen=True)
class Place:
    """A parameter in the text: its number, the part of the text that it takes with its cast, and the type it shows."""

    number: int
    start: int
    end: int
    oid: int | None
    column: str | None


@dataclass(frozen=True)
class Filled:
    """A text with literals in it, and where its parts were in the text with parameters."""

    text: str
    moved: tuple[tuple[int, int], ...]  # from which character on, how many to go back

    def origin(self, place: tuple[int, int]) -> int:
        """The character of the original text, from 1, at a line and a column of this one."""
        line, column = place
        lines = self.text.split("\n")
        offset = sum(len(each) + 1 for each in lines[: line - 1]) + column - 1
        at = bisect_right(self.moved, offset, key=lambda mark: mark[0]) - 1
        return offset - (self.moved[at][1] if at >= 0 else 0) + 1


class Parameters:
    """The parameters of one statement, about tables whose columns have these types."""

    def __init__(self, text: str, columns: Mapping[str, int]) -> None:
        self._text, self._columns = text, columns

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """Where parameters stand, in order."""
        tokens, found = tokens_of(self._text), list[Place]()
        for i, token in enumerate(tokens[:-1]):
            number = tokens[i + 1]
            if token.token_type != TokenType.PARAMETER or number.start != token.end + 1 or not number.text.isdecimal():
                continue
            if not 1 <= int(number.text) <= _MOST:
                raise SqlError("54000", f"A statement may have at most {_MOST} parameters.", position=token.start + 1)
            oid, end = _cast(tokens, i + 2, number.end + 1)
            found.append(Place(int(number.text), token.start, end, oid, self._beside(tokens, i)))
        return tuple(found)

    def _beside(self, tokens: Sequence[Token], at: int) -> str | None:
        """The column with which a parameter is compared."""
        if at and tokens[at - 1].token_type in (TokenType.LIMIT, TokenType.OFFSET):
            return ""
        for token in reversed(tokens[:at]):
            if token.token_type in _NAMES:
                return token.text.lower() if token.text.lower() in self._columns else None
            if token.token_type not in _BETWEEN:
                break
        after = tokens[at + 2 : at + 4]
        if len(after) == 2 and after[0].token_type in _COMPARING and after[1].token_type in _NAMES:
            return after[1].text.lower() if after[1].text.lower() in self._columns else None
        return None

    def types(self, given: Sequence[int]) -> tuple[int, ...]:
        """The type of each parameter: as given, as cast, as the column beside it, or text."""
        known = {i + 1: oid for i, oid in enumerate(given) if oid not in (0, values.UNKNOWN)}
        for place in self.places:
            shown = values.INT8 if place.column == "" else self._columns.get(place.column or "")
            oid = place.oid or shown
            if oid is not None:
                known.setdefault(place.number, oid)
        count = max((place.number for place in self.places), default=0)
        return tuple(known.get(i + 1, values.TEXT) for i in range(max(count, len(given))))

    def fill(self, literals: Sequence[str]) -> Filled:
        """The text with literals in place of parameters."""
        parts, moved, at, size = list[str](), list[tuple[int, int]](), 0, 0
        for place in self.places:
            if place.number > len(literals):
                raise SqlError("08P01", f"The parameter ${place.number} has no value.", position=place.start + 1)
            before, written = self._text[at : place.start], literals[place.number - 1]
            parts += [before, written]
            size, at = size + len(before) + len(written), place.end
            moved.append((size, size - at))
        return Filled("".join([*parts, self._text[at:]]), tuple(moved))


def _cast(tokens: Sequence[Token], at: int, end: int) -> tuple[int | None, int]:
    """The type that a parameter is cast to, and where that ends."""
    if at + 1 >= len(tokens) or tokens[at].token_type != TokenType.DCOLON:
        return None, end
    oid = values.NAMES.get(tokens[at + 1].text.lower())
    if oid is None:
        return None, end
    last = at + 1
    for words in _LONG:
        if tuple(token.text.lower() for token in tokens[last + 1 : last + 1 + len(words)]) == words:
            last += len(words)
    shape = tokens[last + 1 : last + 4]
    if len(shape) == 3 and (shape[0].text, shape[2].text) == ("(", ")") and shape[1].text.isdecimal():
        last += 3
    return oid, tokens[last].end + 1
