"""Parameters of a question: $1, ? and :name become constants before the text has a meaning.

A value is written where its parameter stands, as a person would write it, and nothing in it can end the constant.  So a
question with parameters is the question with the values in their place: it has the same identity, and is free if that
was bought.  Parameters in quotes and comments are text, and are left alone.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

from sqlglot import Dialect, Token, TokenType
from sqlglot.errors import SqlglotError

from ...core.errors import BadQuestion
from .lexer import LONGEST

Value = str | int | float | bool | Decimal | Fraction | datetime.date | None
Values = Sequence[Value] | Mapping[str, Value]


def bound(text: str, values: Values) -> str:
    """The text with these values in the place of its parameters; each value must have a place.

    A sequence has the values of $1, $2, ... or of each ?; a mapping those of :name.
    """
    if not isinstance(text, str):
        raise BadQuestion("A question in SQL must be text.")
    if len(text) > LONGEST:
        raise BadQuestion(f"A question may have at most {LONGEST} bytes.")
    if isinstance(values, str | bytes) or not isinstance(values, Sequence | Mapping):
        raise BadQuestion("Pass the values of parameters as a list, or as a mapping of names.")
    places = list(_places(text))
    if not places and not values:
        return text
    if {isinstance(name, str) for _, _, name in places} - {isinstance(values, Mapping)} or not places:
        raise BadQuestion("Parameters are $1 or ? with a list of values, or :name with a mapping.")
    known = dict[str | int, Value](values.items() if isinstance(values, Mapping) else enumerate(values, 1))
    named = {name for _, _, name in places}
    if missing := named - known.keys():
        raise BadQuestion(f"The parameter {min(map(str, missing))[:40]} has no value.")
    if unused := known.keys() - named:
        raise BadQuestion(f"No parameter {min(map(str, unused))[:40]} stands in the text.")
    for start, end, name in reversed(places):
        text = f"{text[:start]}{literal(known[name])}{text[end:]}"
    return text


def literal(value: Value) -> str:
    """A value as SQL writes it."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case str():
            return "'" + str.__str__(value).replace("'", "''") + "'"
        case datetime.datetime():
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        case datetime.date():
            return f"DATE '{value.isoformat()}'"
        case int() | float() | Decimal() | Fraction():
            return _number(value)
    raise BadQuestion(f"A value of the type {type(value).__name__[:40]} cannot stand in a question.")


def _number(value: int | float | Decimal | Fraction) -> str:
    if not math.isfinite(value):
        raise BadQuestion("The value of a parameter must be a finite number.")
    if isinstance(value, Fraction) and value.denominator != 1:
        written = f"({abs(value.numerator)} / {value.denominator})"
    else:
        written = f"{abs(Decimal(value) if isinstance(value, Decimal) else value)}" if value else "0"
    return f"({'-' if value < 0 else ''}{written})" if value < 0 else written


def _places(text: str) -> Iterator[tuple[int, int, str | int]]:
    """Where each parameter begins and ends, and its number or its name."""
    try:
        tokens: list[Token] = list(Dialect().tokenize(text))
    except SqlglotError:
        raise BadQuestion("A quote or a comment is not closed.", (1, 1)) from None
    counted = 0
    for before, token in zip((None, *tokens), tokens, strict=False):
        if token.token_type == TokenType.PLACEHOLDER and token.text == "?":
            counted += 1
            yield token.start, token.end + 1, counted
        elif token.token_type == TokenType.VAR and token.text[:1] == "$" and token.text[1:].isdecimal():
            yield token.start, token.end + 1, int(token.text[1:4])
        elif before is not None and before.token_type == TokenType.COLON and before.end + 1 == token.start:
            yield before.start, token.end + 1, token.text
