"""The options of a private SELECT: its price, whom it protects, and how much one unit may contribute.

    SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, delta = 1e-6, privacy_unit_column = person) ...

They are read and removed from the tokens, so the positions of all later parts stay right.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sqlglot import Token, TokenType

from ...core.errors import BadParameter, BadQuestion
from ...core.parameters import positive, probability, rational

if TYPE_CHECKING:
    from .lexer import Text

FORMS = ("DIFFERENTIAL_PRIVACY", "ANONYMIZATION")
NAMES = {"max_groups_contributed": "groups", "max_rows_contributed": "rows", "privacy_unit_column": "unit"}
OPENING = (TokenType.L_PAREN, TokenType.CASE)
CLOSING = (TokenType.R_PAREN, TokenType.END)
UNIT = (TokenType.VAR, TokenType.IDENTIFIER)


@dataclass(frozen=True)
class Options:
    """The options of a private SELECT; `unit` is the name that it gives the unit, and where that stands."""

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    rho: Fraction | None = None
    groups: int | None = None
    rows: int | None = None
    share: Fraction | None = None
    error: Fraction | None = None
    relative: Fraction | None = None
    unit: tuple[str, int] | None = None


def taken(text: Text, tokens: list[Token]) -> tuple[list[Token], Options]:
    """The tokens without the options, and the options."""
    options, i = None, 0
    while i < len(tokens) - 2:
        select, word, form = tokens[i : i + 3]
        i += 1
        if select.token_type != TokenType.SELECT or word.token_type != TokenType.WITH:
            continue
        if form.text.upper() not in FORMS:
            raise BadQuestion(f"SELECT WITH must be followed by {' or '.join(FORMS)}.", text.place(form.start))
        depth = sum((t.token_type in OPENING) - (t.token_type in CLOSING) for t in tokens[:i])
        if options is not None or depth:
            raise BadQuestion("Only the outermost SELECT may have options.", text.place(word.start))
        end = i + 2
        options = Options()
        if end < len(tokens) and tokens[end].text.upper() == "OPTIONS":
            options, end = _pairs(text, tokens, end + 1)
        tokens = tokens[:i] + tokens[end:]
    return tokens, options or Options()


def _pairs(text: Text, tokens: list[Token], i: int) -> tuple[Options, int]:
    values: dict[str, Any] = {}
    texts = [token.text for token in tokens]
    if texts[i : i + 1] == ["("] and texts[i + 1 : i + 2] == [")"]:
        return Options(), i + 2
    while i + 3 < len(tokens) and texts[i] in ("(", ",") and texts[i + 2] == "=":
        name, word, token, value = texts[i + 1].lower(), tokens[i + 1], tokens[i + 3], texts[i + 3]
        if value == "." and i + 4 < len(tokens):  # the tokens of .5
            i, token, value = i + 1, tokens[i + 4], f"0.{texts[i + 4]}"
        field = NAMES.get(name, name)
        if field not in Options.__dataclass_fields__ or field in values:
            raise BadQuestion(f"There is no option {name[:40]!r}, or it is given twice.", text.place(word.start))
        if field == "unit":
            if token.token_type not in UNIT:
                raise BadQuestion("privacy_unit_column must be the name of a column.", text.place(token.start))
            values[field] = value, token.start
        elif token.token_type != TokenType.NUMBER:
            raise BadQuestion("The value of an option must be a number.", text.place(token.start))
        else:
            try:
                values[field] = _number(field, value)
            except BadParameter as error:
                raise BadQuestion(str(error), text.place(token.start)) from None
        i += 4
        if texts[i : i + 1] == [")"]:
            return Options(**values), i + 1
    last = tokens[min(i, len(tokens) - 1)]
    raise BadQuestion("Write options like (epsilon = 1, delta = 1e-6).", text.place(last.start))


def _number(field: str, text: str) -> Fraction | int:
    if field in ("groups", "rows"):
        value = rational(field, text)
        if value.denominator != 1 or not 1 <= value <= 10**9:
            raise BadParameter(field, text, "a whole number from 1 to 10^9")
        return int(value)
    return probability(field, text) if field == "delta" else positive(field, text)
