"""The SQL dialect of a database: everything in which databases differ.

`Dialect` is what most databases share; an engine overrides the rest in one small class.  All SQL is a sqlglot tree,
built node by node: only an analyst's constants enter it, as literal nodes, never as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from sqlglot import exp

from ...query.values.nodes import DatePartName

TEXT = 0  # stands for the width of text, which is no integer
_ESCAPE = "!"


@dataclass(frozen=True)
class Typed:
    """A SQL expression, and the number of bits of its integers (`TEXT` if it is text)."""

    sql: exp.Expr
    bits: int


class Dialect:
    """A SQL dialect: its name in sqlglot, its integer types by their bits, and its functions."""

    name = ""
    integers: dict[int, str] = {16: "SMALLINT", 32: "INT", 64: "BIGINT", 128: "DECIMAL(38, 0)"}  # noqa: RUF012

    def render(self, tree: exp.Expr) -> str:
        """The SQL text of a tree."""
        return tree.sql(dialect=self.name, copy=False)

    def bits(self, lower: int, upper: int) -> int:
        """The smallest integer width that holds both."""
        need = max(lower.bit_length() if lower >= 0 else (-lower - 1).bit_length(), upper.bit_length()) + 1
        return next(bits for bits in self.integers if need <= bits)

    def widened(self, e: Typed, bits: int) -> exp.Expr:
        """The integer cast to at least this width; it is never narrowed."""
        return e.sql if e.bits >= bits else cast(e.sql, self.integers[bits])

    def narrowed(self, e: Typed) -> Typed:
        """The integer in at most 64 bits, which hold its domain even if it was computed in more."""
        return e if e.bits <= 64 else Typed(cast(e.sql, self.integers[64]), 64)

    def text(self, e: exp.Expr) -> exp.Expr:
        """The decimal digits of an integer; text stays as it is."""
        return cast(e, "TEXT")

    def octets(self, e: exp.Expr) -> exp.Expr:
        """The length of text in UTF-8."""
        return call("OCTET_LENGTH", e)

    def joined(self, parts: Sequence[exp.Expr]) -> exp.Expr:
        """The concatenation of texts and digits; missing parts are left out."""
        return call("CONCAT", *parts)

    def md5(self, e: exp.Expr) -> exp.Expr:
        """MD5 in lower-case hexadecimal digits."""
        return call("MD5", e)

    def hexadecimal(self, e: exp.Expr, digits: int) -> exp.Expr:
        """The first `digits` hexadecimal digits of a text, as an integer of 64 bits."""
        return cast(call("CONCAT", constant("0x"), call("LEFT", e, number(digits))), self.integers[64])

    def whole(self, e: exp.Expr) -> exp.Expr:
        """Text as the 64-bit integer whose canonical digits it is, missing if there is none."""
        n = self.try_cast(e, self.integers[64])
        return case((binary(exp.EQ, self.text(n), e.copy()), n.copy()))

    def flag(self, condition: exp.Expr) -> exp.Expr:
        """A condition as 1, 0 or missing."""
        return case((condition, number(1)), (exp.Not(this=condition.copy()), number(0)))

    def total(self, e: exp.Expr, bits: int) -> exp.Expr:
        """The sum of e over rows, which is known to fit `bits` bits."""
        return exp.Sum(this=e)

    def quotient(self, a: exp.Expr, b: exp.Expr, bits: int) -> exp.Expr:
        """a / b rounded toward zero, for integers of `bits` bits, b not 0."""
        return binary(exp.Div, a, b)

    def date_part(self, part: DatePartName, days: exp.Expr) -> exp.Expr:
        """A part (year, month, ...) of the date that is `days` days after 1970-01-01."""
        raise NotImplementedError

    def lookup(self, a: Typed, keys: Sequence[int | str], values: Sequence[int]) -> exp.Expr:
        """values[i] where a = keys[i], else missing."""
        return case(*((constant(key), number(v)) for key, v in zip(keys, values, strict=True)), of=a.sql)

    def like(self, e: exp.Expr, pieces: Sequence[str]) -> exp.Expr:
        """Whether text consists of these pieces (two or more), in order, with anything between them."""
        special = any(c in piece for piece in pieces for c in f"%_\\{_ESCAPE}")
        written = [_escaped(piece) for piece in pieces] if special else pieces
        like: exp.Expr = exp.Like(this=e, expression=constant("%".join(written)))
        return exp.Paren(this=exp.Escape(this=like, expression=constant(_ESCAPE)) if special else like)

    def once(self, query: str) -> str:
        """A query whose columns the database computes once for each row, however often they are used."""
        return query

    # The methods below are needed only to read raw columns.

    def matches(self, e: exp.Expr, pattern: str) -> exp.Expr:
        """Whether a regular expression matches the whole text."""
        raise NotImplementedError

    def group(self, e: exp.Expr, pattern: str, number_: int) -> exp.Expr:
        """What a group of a regular expression matches, in a text that the expression matches as a whole."""
        return call("REGEXP_EXTRACT", e, constant(pattern), number(number_))

    def bounded(self, x: exp.Expr, low: float, high: float) -> exp.Expr:
        """A double clamped to [low, high]; missing where it is NaN."""
        below, above = binary(exp.LT, x.copy(), double(low)), binary(exp.GT, x.copy(), double(high))
        between = exp.Between(this=x, low=double(low), high=double(high))
        inside = exp.Paren(this=between)  # the first branch, since nearly all values are inside
        ends = (below, double(low)), (self.is_nan(x.copy()), exp.Null()), (above, double(high))
        return case((inside, x.copy()), *ends)

    def scaled(self, x: exp.Expr, grid: float) -> exp.Expr:
        """x / grid, for a double within bounds and a grid that is a power of two."""
        return binary(exp.Div, x, double(grid))

    def try_cast(self, e: exp.Expr, to: str) -> exp.Expr:
        """Text as another type, missing where the cast fails."""
        return exp.TryCast(this=e, to=_type(to).copy())

    def truncated(self, x: exp.Expr) -> exp.Expr:
        """A decimal without its fraction (not FLOOR, whose result may not fit 38 digits)."""
        return call("TRUNC", x)

    def trimmed(self, e: exp.Expr, characters: str) -> exp.Expr:
        """Text without these characters at either end."""
        return call("BTRIM", e, constant(characters))

    def is_nan(self, e: exp.Expr) -> exp.Expr:
        """Whether a double is NaN."""
        return exp.IsNan(this=e)

    def day(self, e: exp.Expr) -> exp.Expr:
        """Days since 1970-01-01 of a text YYYY-MM-DD, missing where there is no such day."""
        raise NotImplementedError

    def owned(self, unit: exp.Expr) -> exp.Expr:
        """Whether a raw row has a unit."""
        return there(unit)

    def label(self, e: exp.Expr, labels: Sequence[str]) -> exp.Expr:
        """The index of text among labels."""
        return self.lookup(Typed(e, TEXT), labels, range(len(labels)))


def _escaped(piece: str) -> str:
    for c in f"{_ESCAPE}%_":
        piece = piece.replace(c, f"{_ESCAPE}{c}")
    return piece


def number(value: int) -> exp.Expr:
    """An integer literal."""
    literal = exp.Literal.number(str(abs(value)))
    return exp.Paren(this=exp.Neg(this=literal)) if value < 0 else literal


def constant(value: int | str) -> exp.Expr:
    """An integer or text literal."""
    return exp.Literal.string(value) if isinstance(value, str) else number(value)


@cache
def _type(name: str) -> exp.DataType:
    return exp.DataType.build(name)


def cast(e: exp.Expr, to: str) -> exp.Expr:
    """e as another type."""
    return exp.Cast(this=e, to=_type(to).copy())


def double(x: float) -> exp.Expr:
    """A literal that is exactly this double."""
    return cast(constant(repr(x)), "DOUBLE")


def alias(e: exp.Expr, name: str) -> exp.Expr:
    """e under one of our own names."""
    return exp.Alias(this=e, alias=exp.Identifier(this=name, quoted=False))


def case(
    *branches: tuple[exp.Expr, exp.Expr], otherwise: exp.Expr | None = None, of: exp.Expr | None = None
) -> exp.Expr:
    """CASE: the value of the first branch whose condition holds (or equals `of`), else `otherwise`, or missing."""
    ifs = [exp.If(this=condition, true=value) for condition, value in branches]
    return exp.Paren(this=exp.Case(this=of, ifs=ifs, default=otherwise))


def missing(e: exp.Expr) -> exp.Expr:
    """Whether e is missing."""
    return exp.Paren(this=exp.Is(this=e, expression=exp.Null()))


def there(e: exp.Expr) -> exp.Expr:
    """Whether e is not missing."""
    return exp.Paren(this=exp.Not(this=missing(e)))


def call(name: str, *arguments: exp.Expr) -> exp.Expr:
    """A call of a database function by its name."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def binary(kind: type[exp.Binary], a: exp.Expr, b: exp.Expr) -> exp.Expr:
    """A binary operation, in parentheses."""
    return exp.Paren(this=kind(this=a, expression=b))


def within(e: exp.Expr, lower: int, upper: int) -> exp.Expr:
    """Whether lower <= e <= upper."""
    return exp.Paren(this=exp.Between(this=e, low=number(lower), high=number(upper)))


def clamped(e: exp.Expr, lower: exp.Expr, upper: exp.Expr) -> exp.Expr:
    """e clamped to [lower, upper]; meaningless where e is missing, since databases differ there."""
    return call("LEAST", call("GREATEST", e, lower), upper)
