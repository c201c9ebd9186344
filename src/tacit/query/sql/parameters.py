"""Parameters: `?`, `$1` and `:name` in a question stand for values, which are written into its text as literals.

A question with parameters is the question that its text with the values in place is: bought once, it is free in either
form.  Places are found by the tokens of the text, so that a mark within a quote, a name or a comment stays as it is,
and a text that is given as a value can never be anything but one literal.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

from sqlglot import Dialect, Token, TokenType
from sqlglot.errors import SqlglotError

from ...core.errors import BadParameter

Value = None | bool | int | float | Decimal | Fraction | str | dt.date | dt.datetime
Parameters = Sequence[Value] | Mapping[str, Value]
_NUMBERED = re.compile(r"\$([1-9][0-9]{0,4})")
_ALLOWED = "None, a boolean, a number, a text, a date or a timestamp"


def bind(text: str, parameters: Parameters) -> str:
    """The text with a literal in the place of each parameter; each value must be used."""
    try:
        tokens = Dialect().tokenize(text)
    except SqlglotError:
        return text  # whoever parses it says what is wrong
    pieces, used, end = list[str](), set[int | str](), 0
    for start, stop, name in _places(text, tokens):
        used.add(name)
        pieces += [text[end:start], literal(_value(parameters, name))]
        end = stop
    unused = [name for name in _names(parameters) if name not in used]
    if unused:
        says = f"The question has no place for parameter {unused[0]!r}. Write ?, $1 or :name where a value goes."
        raise BadParameter("parameters", unused[0], "as many as the question has places for", says=says)
    return "".join([*pieces, text[end:]])


def _places(text: str, tokens: Sequence[Token]) -> Iterator[tuple[int, int, int | str]]:
    """The beginning, the end and the number or name of each parameter."""
    marks, previous = 0, None
    for token in tokens:
        if token.token_type == TokenType.PLACEHOLDER:
            marks += 1
            yield token.start, token.end + 1, marks
        elif token.token_type == TokenType.VAR and (numbered := _NUMBERED.fullmatch(token.text)):
            yield token.start, token.end + 1, int(numbered[1])
        elif previous is not None and previous.token_type == TokenType.COLON and previous.end + 1 == token.start:
            name = text[token.start : token.end + 1]
            yield from [(previous.start, token.end + 1, name)] if name.isidentifier() else []
        previous = token


def _names(parameters: Parameters) -> Iterator[int | str]:
    """What parameters are called in a text: by their names, or by their numbers from 1."""
    yield from parameters if isinstance(parameters, Mapping) else range(1, len(parameters) + 1)


def _value(parameters: Parameters, name: int | str) -> Value:
    try:
        if isinstance(parameters, Mapping):
            return parameters[name]  # type: ignore[index]  # a number is no key of it, which is found out here
        return parameters[name - 1]  # type: ignore[operator]  # nor is a name a place in a sequence
    except (LookupError, TypeError):
        says = f"Parameter {name!r} of the question has no value. Pass one for each parameter."
        raise BadParameter("parameters", name, "a value for each parameter of the question", says=says) from None


def literal(value: object) -> str:
    """The value as a literal of SQL: numbers exactly, as they are written in decimals where they can be."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            return str(value) if value >= 0 else f"({value})"
        case float() | Decimal() if math.isfinite(value):
            number = f"{Decimal(repr(value)) if isinstance(value, float) else value:f}"
            return f"({number})" if number.startswith("-") else number
        case Fraction():
            return f"({value.numerator} / {value.denominator})"
        case dt.datetime() if value.tzinfo is None:
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        case dt.date() if not isinstance(value, dt.datetime):
            return f"DATE '{value.isoformat()}'"
        case str():
            return "'" + value.replace("'", "''") + "'"
    raise BadParameter("parameter", value, _ALLOWED)
