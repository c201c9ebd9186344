"""Nodes of the parser's tree: which clauses each may have, and the constants in them."""

from __future__ import annotations

from fractions import Fraction

from sqlglot import exp

from ...core.errors import BadParameter, BadQuestion
from ...core.parameters import rational
from .lexer import Text

NOW = ("CURRENT_DATE", "CURRENT_DATETIME", "CURRENT_TIMESTAMP", "LOCALTIMESTAMP", "NOW", "TODAY", "GETDATE", "CURDATE")
_FORMATS = ("STRFTIME", "DATE_FORMAT", "FORMAT_DATE", "TO_CHAR", "FORMAT_TIMESTAMP")
ROWS = "Single rows are people's, and are not shown. * can stand in COUNT(*), in a subquery, or with LIMIT 0."
HARMLESS = ("big_int", "typed", "safe", "ignore_nulls", "_type", "nested", "is_string", "quoted", "dialect")


def only(text: Text, node: exp.Expr, *allowed: str) -> None:
    """Refuse a node with a clause that is not listed."""
    for name, value in node.args.items():
        if value not in (None, False, []) and name not in (*allowed, *HARMLESS):
            clause = value if isinstance(value, exp.Expr) else node
            phrase = f"{text.word(node)} with {name.rstrip('_').upper()}"
            raise text.bad(clause, f"{'TABLESAMPLE' if name == 'sample' else phrase} is not supported.")


def number(text: Text, node: exp.Expr | None, what: str) -> Fraction:
    """The number that a node spells; `what` names it in a refusal."""
    sign = 1
    if not isinstance(node, exp.Expr):
        raise BadQuestion(f"{what} must be a number.")
    while isinstance(node, exp.Paren | exp.Neg):
        sign = -sign if isinstance(node, exp.Neg) else sign
        node = node.this
    if not isinstance(node, exp.Literal) or node.is_string:
        raise text.bad(node, f"{what} must be a number.")
    try:
        return sign * rational(what, node.this)
    except BadParameter as error:
        raise text.bad(node, str(error)) from None


def literal(text: Text, node: exp.Expr) -> str | Fraction:
    """The text or the number that a node spells."""
    return str(node.this) if node.is_string else number(text, node, "A constant")


def digits(text: Text, node: exp.Expr) -> int:
    """The number of digits to which ROUND rounds."""
    given = node.args.get("decimals")
    places = number(text, given, "The number of digits of ROUND") if given else Fraction(0)
    if places.denominator != 1 or abs(places) > 18:
        raise text.bad(node, "The number of digits of ROUND must be a whole number from -18 to 18.")
    return int(places)


def flat(node: exp.Expr) -> list[exp.Expr]:
    """The operands of a chain of AND, or of OR, without recursion."""
    operands: list[exp.Expr] = []
    waiting = [node]
    while waiting:
        top = waiting.pop()
        if type(top) is type(node):
            waiting += top.expression, top.this
        else:
            operands.append(top)
    return operands


def unsupported(text: Text, node: exp.Expr) -> str:
    """The reason for refusing a node that no reader understands."""
    match node:
        case exp.Anonymous():
            name = str(node.this).upper()[:40]
            hints = {**dict.fromkeys(NOW, " Write the date itself."), **dict.fromkeys(_FORMATS, " Use DATE_TRUNC.")}
            return f"There is no function {name}.{hints.get(name, '')}"
        case exp.Window():
            return "A window works on the rows of an answer, as in SELECT SUM(COUNT(*)) OVER () ... GROUP BY ..."
        case exp.Query() | exp.Subquery() | exp.Exists():
            return (
                "A subquery can stand only after FROM or JOIN, and in WHERE as unit IN (SELECT unit ...) or EXISTS,"
                " joined to other conditions by AND."
            )
        case exp.AggFunc() | exp.WithinGroup() | exp.Filter():
            return "An aggregate cannot stand here."
        case exp.Placeholder() | exp.Parameter():
            return "Parameters are not supported. Write the value."
        case exp.Star():
            return ROWS
        case exp.Distinct():
            return "DISTINCT is supported only in COUNT(DISTINCT unit)."
        case exp.DateDiff() | exp.TimestampDiff():
            return "Write the days between two dates as a difference: later - earlier."
    word = text.word(node)
    instead = "Write the date itself." if word in NOW else "`tacit docs tables` lists the SQL that is."
    return f"{word} is not supported. {instead}"
