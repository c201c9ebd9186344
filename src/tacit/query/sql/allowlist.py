"""Parts of the parser's tree: which of their clauses are allowed, and what is written in them."""

from __future__ import annotations

from fractions import Fraction

from sqlglot import exp

from ...core.errors import BadParameter
from ...core.parameters import rational
from .lexer import Text

NOW = ("CURRENT_DATE", "CURRENT_DATETIME", "CURRENT_TIMESTAMP", "LOCALTIMESTAMP", "NOW", "TODAY", "GETDATE", "CURDATE")
_FORMATS = ("STRFTIME", "DATE_FORMAT", "FORMAT_DATE", "TO_CHAR", "FORMAT_TIMESTAMP")
HARMLESS = ("big_int", "typed", "safe", "ignore_nulls", "_type", "nested", "is_string", "quoted", "dialect")


def only(text: Text, node: exp.Expr, *allowed: str) -> None:
    """Refuse a part with any clause that is not listed."""
    for name, value in node.args.items():
        if value not in (None, False, []) and name not in (*allowed, *HARMLESS):
            clause = value if isinstance(value, exp.Expr) else node
            said = f"{text.word(node)} with {name.rstrip('_').upper()}"
            raise text.bad(clause, f"{'TABLESAMPLE' if name == 'sample' else said} is not supported")


def number(text: Text, node: exp.Expr, what: str) -> Fraction:
    """A number that is written in the text."""
    sign = 1
    while isinstance(node, exp.Paren | exp.Neg):
        sign = -sign if isinstance(node, exp.Neg) else sign
        node = node.this
    if not isinstance(node, exp.Literal) or node.is_string:
        raise text.bad(node, f"{what} must be a number")
    try:
        return sign * rational(what, node.this)
    except BadParameter as error:
        raise text.bad(node, str(error)) from None


def literal(text: Text, node: exp.Expr) -> str | Fraction:
    """A constant that is written in the text."""
    return str(node.this) if node.is_string else number(text, node, "a constant")


def digits(text: Text, node: exp.Expr) -> int:
    """To how many digits ROUND rounds."""
    given = node.args.get("decimals")
    places = number(text, given, "the digits of ROUND") if given else Fraction(0)
    if places.denominator != 1 or abs(places) > 18:
        raise text.bad(node, "the digits of ROUND are a whole number from -18 to 18")
    return int(places)


def flat(node: exp.Expr) -> list[exp.Expr]:
    """The parts of a chain of AND, or of OR, without recursion."""
    found: list[exp.Expr] = []
    waiting = [node]
    while waiting:
        top = waiting.pop()
        if type(top) is type(node):
            waiting += top.expression, top.this
        else:
            found.append(top)
    return found


def unsupported(text: Text, node: exp.Expr) -> str:
    """Why a part is refused that is on no list."""
    match node:
        case exp.Anonymous():
            name = str(node.this).upper()[:40]
            known = {**dict.fromkeys(NOW, "; write the date itself"), **dict.fromkeys(_FORMATS, "; use DATE_TRUNC")}
            return f"there is no function {name}{known.get(name, '')}"
        case exp.Window():
            return "window functions are not supported; use GROUP BY, and compute shares from the answer, free"
        case exp.Query() | exp.Subquery() | exp.Exists():
            return "a subquery can stand only after FROM or JOIN"
        case exp.AggFunc() | exp.WithinGroup() | exp.Filter():
            return "an aggregate cannot stand here"
        case exp.Placeholder() | exp.Parameter():
            return "parameters are not supported; write the value"
        case exp.Star():
            return "* can stand only in COUNT(*) and in a subquery"
        case exp.Distinct():
            return "DISTINCT is only in COUNT(DISTINCT unit)"
        case exp.DateDiff() | exp.TimestampDiff():
            return "days between dates are their difference: later - earlier"
    word = text.word(node)
    instead = "write the date itself" if word in NOW else "`tacit docs tables` lists what SQL is understood"
    return f"{word} is not on the list of what can be asked; {instead}"
