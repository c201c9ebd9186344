"""Where databases differ: the seam between plans and one kind of SQL.

What is here is what most of them share; an engine overrides the rest, in one small class.  Everything is a tree of
sqlglot, built node by node: of an analyst only constants reach it, and as nodes, never as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from sqlglot import exp

from ...query.values.nodes import Part

TEXT = 0  # the width of text, which is no integer
_ESCAPE = "!"


@dataclass(frozen=True)
class Typed:
    """A tree of SQL, and how many bits its integers have."""

    sql: exp.Expr
    bits: int


class Dialect:
    """A kind of SQL, by its name in sqlglot, and its types of integers by their bits."""

    name = ""
    integers: dict[int, str] = {16: "SMALLINT", 32: "INT", 64: "BIGINT", 128: "DECIMAL(38, 0)"}  # noqa: RUF012

    def render(self, tree: exp.Expr) -> str:
        """The text of a tree."""
        return tree.sql(dialect=self.name, copy=False)

    def bits(self, lower: int, upper: int) -> int:
        """The least width of integers that holds both."""
        need = max(lower.bit_length() if lower >= 0 else (-lower - 1).bit_length(), upper.bit_length()) + 1
        return next(bits for bits in self.integers if need <= bits)

    def widened(self, e: Typed, bits: int) -> exp.Expr:
        """The same integer in a width that holds more; it is never narrowed."""
        return e.sql if e.bits >= bits else cast(e.sql, self.integers[bits])

    def narrowed(self, e: Typed) -> Typed:
        """The integer of an expression in at most 64 bits, which hold its domain, however wide it was computed."""
        return e if e.bits <= 64 else Typed(cast(e.sql, self.integers[64]), 64)

    def text(self, e: exp.Expr) -> exp.Expr:
        """Digits of an integer, or text as it is."""
        return cast(e, "TEXT")

    def octets(self, e: exp.Expr) -> exp.Expr:
        """The length of text in UTF-8."""
        return call("OCTET_LENGTH", e)

    def joined(self, parts: Sequence[exp.Expr]) -> exp.Expr:
        """Texts and digits, one after the other; what is missing is left out."""
        return call("CONCAT", *parts)

    def md5(self, e: exp.Expr) -> exp.Expr:
        """MD5 in small hexadecimal digits."""
        return call("MD5", e)

    def hexadecimal(self, e: exp.Expr, digits: int) -> exp.Expr:
        """So many hexadecimal digits, at the start of a text, as a number of 64 bits."""
        return cast(call("CONCAT", constant("0x"), call("LEFT", e, number(digits))), self.integers[64])

    def whole(self, e: exp.Expr) -> exp.Expr:
        """Text as the number of 64 bits that is written so, missing where there is none."""
        n = self.try_cast(e, self.integers[64])
        return case((binary(exp.EQ, self.text(n), e.copy()), n.copy()))

    def flag(self, condition: exp.Expr) -> exp.Expr:
        """A condition as 1, 0 or missing."""
        return case((condition, number(1)), (exp.Not(this=condition.copy()), number(0)))

    def total(self, e: exp.Expr, bits: int) -> exp.Expr:
        """The sum of e over rows, which fits so many bits."""
        return exp.Sum(this=e)

    def quotient(self, a: exp.Expr, b: exp.Expr, bits: int) -> exp.Expr:
        """a / b rounded toward zero, of integers that both have so many bits, b not 0."""
        return binary(exp.Div, a, b)

    def date_part(self, part: Part, days: exp.Expr) -> exp.Expr:
        """A part of the day that is so many days after 1970-01-01."""
        raise NotImplementedError

    def lookup(self, a: Typed, keys: Sequence[int | str], values: Sequence[int]) -> exp.Expr:
        """values[i] where a = keys[i], else missing."""
        return case(*((constant(key), number(v)) for key, v in zip(keys, values, strict=True)), of=a.sql)

    def like(self, e: exp.Expr, pieces: Sequence[str]) -> exp.Expr:
        """Whether text is of two or more pieces, in this order, with anything between them."""
        special = any(c in piece for piece in pieces for c in f"%_\\{_ESCAPE}")
        written = [_escaped(piece) for piece in pieces] if special else pieces
        like: exp.Expr = exp.Like(this=e, expression=constant("%".join(written)))
        return exp.Paren(this=exp.Escape(this=like, expression=constant(_ESCAPE)) if special else like)

    def once(self, query: str) -> str:
        """A query whose columns are computed once for each row, however often they are used."""
        return query

    # What follows is needed only to read raw cells.

    def matches(self, e: exp.Expr, pattern: str) -> exp.Expr:
        """Whether all of a text matches a regular expression."""
        raise NotImplementedError

    def bounded(self, x: exp.Expr, low: float, high: float) -> exp.Expr:
        """A double, or the nearer end; missing where it is no number."""
        below, above = binary(exp.LT, x.copy(), double(low)), binary(exp.GT, x.copy(), double(high))
        between = exp.Between(this=x, low=double(low), high=double(high))
        inside = exp.Paren(this=between)  # as nearly all are: so it is first
        ends = (below, double(low)), (self.is_nan(x.copy()), exp.Null()), (above, double(high))
        return case((inside, x.copy()), *ends)

    def scaled(self, x: exp.Expr, grid: float) -> exp.Expr:
        """x / grid, of a double within bounds and a power of two."""
        return binary(exp.Div, x, double(grid))

    def try_cast(self, e: exp.Expr, to: str) -> exp.Expr:
        """Text as another type, missing where it is none."""
        return exp.TryCast(this=e, to=_type(to).copy())

    def truncated(self, x: exp.Expr) -> exp.Expr:
        """A decimal without its fraction: down, the lowest of 38 digits would not fit its type."""
        return call("TRUNC", x)

    def trimmed(self, e: exp.Expr, characters: str) -> exp.Expr:
        """Text without these characters at its ends."""
        return call("BTRIM", e, constant(characters))

    def is_nan(self, e: exp.Expr) -> exp.Expr:
        """Whether a double is no number."""
        return exp.IsNan(this=e)

    def day(self, e: exp.Expr) -> exp.Expr:
        """Days since 1970-01-01 of text YYYY-MM-DD, missing where there is no such day."""
        raise NotImplementedError

    def owned(self, unit: exp.Expr) -> exp.Expr:
        """Whether a raw row has a unit, as its own cell says."""
        return there(unit)

    def label(self, e: exp.Expr, labels: Sequence[str]) -> exp.Expr:
        """The place of text among labels."""
        return self.lookup(Typed(e, TEXT), labels, range(len(labels)))


def _escaped(piece: str) -> str:
    for c in f"{_ESCAPE}%_":
        piece = piece.replace(c, f"{_ESCAPE}{c}")
    return piece


def number(value: int) -> exp.Expr:
    """A whole number."""
    literal = exp.Literal.number(str(abs(value)))
    return exp.Paren(this=exp.Neg(this=literal)) if value < 0 else literal


def constant(value: int | str) -> exp.Expr:
    """A whole number, or text."""
    return exp.Literal.string(value) if isinstance(value, str) else number(value)


@cache
def _type(name: str) -> exp.DataType:
    return exp.DataType.build(name)


def cast(e: exp.Expr, to: str) -> exp.Expr:
    """e as another type."""
    return exp.Cast(this=e, to=_type(to).copy())


def double(x: float) -> exp.Expr:
    """A double, exactly."""
    return cast(constant(repr(x)), "DOUBLE")


def alias(e: exp.Expr, name: str) -> exp.Expr:
    """e under one of our own names."""
    return exp.Alias(this=e, alias=exp.Identifier(this=name, quoted=False))


def case(
    *branches: tuple[exp.Expr, exp.Expr], otherwise: exp.Expr | None = None, of: exp.Expr | None = None
) -> exp.Expr:
    """The value of the first branch whose condition holds (or equals `of`), else the other, or missing."""
    ifs = [exp.If(this=condition, true=value) for condition, value in branches]
    return exp.Paren(this=exp.Case(this=of, ifs=ifs, default=otherwise))


def missing(e: exp.Expr) -> exp.Expr:
    """Whether e is missing."""
    return exp.Paren(this=exp.Is(this=e, expression=exp.Null()))


def there(e: exp.Expr) -> exp.Expr:
    """Whether e is not missing."""
    return exp.Paren(this=exp.Not(this=missing(e)))


def call(name: str, *arguments: exp.Expr) -> exp.Expr:
    """A function of the database, by its name there."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def binary(kind: type[exp.Binary], a: exp.Expr, b: exp.Expr) -> exp.Expr:
    """An operation on two trees, in parentheses."""
    return exp.Paren(this=kind(this=a, expression=b))


def within(e: exp.Expr, lower: int, upper: int) -> exp.Expr:
    """Whether lower <= e <= upper."""
    return exp.Paren(this=exp.Between(this=e, low=number(lower), high=number(upper)))


def clamped(e: exp.Expr, lower: exp.Expr, upper: exp.Expr) -> exp.Expr:
    """e, or the nearer end; where e is missing, the result means nothing."""
    return call("LEAST", call("GREATEST", e, lower), upper)
