"""Interval arithmetic: formulas over the reals, enclosed by two decimals and rounded outward to a float.

A `Span` is an interval [lo, hi] of decimals that holds the exact number.  Sums, products and quotients are rounded
down at lo and up at hi.  `Decimal.exp`, `ln` and `sqrt` are correctly rounded to nearest, so one unit in the last
place on either side encloses them; they are increasing, so ends go to ends.  `upper` and `lower` evaluate a formula
with more and more digits, until the interval is narrower than 10^-25 of its value: no cancellation has to be foreseen.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache

from ..core.exact import up

ExactNumber = int | Fraction
Formula = Callable[["Reader"], "Span"]

_MAX_RELATIVE_WIDTH = Decimal("1e-25")
_FIRST_DIGITS, _MAX_DIGITS = 40, 5120
_MAX_EXPONENT = 400  # no float is as large as 10^400, and none but 0 as small as 10^-400
_TRAPS = [decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow]


@lru_cache(maxsize=16)
def _contexts(digits: int) -> tuple[Context, Context]:
    """Contexts that round down and up; operators on decimals would round by the context of the caller."""

    def rounding(mode: str) -> Context:
        return Context(digits, mode, decimal.MIN_EMIN, decimal.MAX_EMAX, traps=_TRAPS)

    return rounding(ROUND_FLOOR), rounding(ROUND_CEILING)


class Span:
    """An interval of decimals of so many digits."""

    __slots__ = ("digits", "hi", "lo")

    def __init__(self, lo: Decimal, hi: Decimal, digits: int) -> None:
        self.lo, self.hi, self.digits = lo, hi, digits

    def _span(self, x: Span | ExactNumber) -> Span:
        return x if isinstance(x, Span) else Reader(self.digits)(x)

    def __neg__(self) -> Span:
        return Span(self.hi.copy_negate(), self.lo.copy_negate(), self.digits)

    def __add__(self, other: Span | ExactNumber) -> Span:
        (floor, ceiling), x = _contexts(self.digits), self._span(other)
        return Span(floor.add(self.lo, x.lo), ceiling.add(self.hi, x.hi), self.digits)

    def __sub__(self, other: Span | ExactNumber) -> Span:
        return self + -self._span(other)

    def __rsub__(self, other: ExactNumber) -> Span:
        return -self + other

    def __mul__(self, other: Span | ExactNumber) -> Span:
        (floor, ceiling), x = _contexts(self.digits), self._span(other)
        pairs = [(a, b) for a in (self.lo, self.hi) for b in (x.lo, x.hi)]
        return Span(
            min(floor.multiply(a, b) for a, b in pairs), max(ceiling.multiply(a, b) for a, b in pairs), self.digits
        )

    def __truediv__(self, other: Span | ExactNumber) -> Span:
        (floor, ceiling), x = _contexts(self.digits), self._span(other)
        if x.lo <= 0 <= x.hi:
            raise decimal.DivisionByZero
        return self * Span(floor.divide(Decimal(1), x.hi), ceiling.divide(Decimal(1), x.lo), self.digits)

    def __rtruediv__(self, other: ExactNumber) -> Span:
        return self._span(other) / self

    __radd__, __rmul__ = __add__, __mul__

    def _increasing(self, f: Callable[[Context, Decimal], Decimal]) -> Span:
        floor, ceiling = _contexts(self.digits)
        return Span(floor.next_minus(f(floor, self.lo)), ceiling.next_plus(f(ceiling, self.hi)), self.digits)

    def exp(self) -> Span:
        if self.lo == 0 == self.hi:
            return Reader(self.digits)(1)
        return self._increasing(Context.exp).clip()

    def ln(self) -> Span:
        return self._increasing(Context.ln)

    def sqrt(self) -> Span:
        if self.hi == 0:
            return self
        return self._increasing(Context.sqrt).clip()

    def clip(self) -> Span:
        """The span with negative ends raised to 0."""
        return Span(max(self.lo, Decimal(0)), max(self.hi, Decimal(0)), self.digits)

    def is_narrow(self) -> bool:
        floor, ceiling = _contexts(self.digits)
        scale = min(self.lo.copy_abs(), self.hi.copy_abs())
        return ceiling.subtract(self.hi, self.lo) <= floor.multiply(_MAX_RELATIVE_WIDTH, scale)


class Reader:
    """Reads rationals as spans of so many digits."""

    def __init__(self, digits: int) -> None:
        self.digits = digits

    def __call__(self, x: ExactNumber) -> Span:
        n, d = Decimal(x.numerator), Decimal(x.denominator)
        lo, hi = (context.divide(n, d) for context in _contexts(self.digits))
        return Span(lo, hi, self.digits)


def _spans(formula: Formula, last: int = _MAX_DIGITS) -> Iterator[Span]:
    """Ever narrower spans of a formula; those that fail, as the logarithm of a span that holds 0, are skipped."""
    digits = _FIRST_DIGITS
    while digits <= last:
        try:
            span = formula(Reader(digits))
        except (decimal.InvalidOperation, decimal.DivisionByZero):
            pass
        except decimal.Overflow:  # beyond 10^(10^18)
            return
        else:
            yield span
            if span.is_narrow():
                return
        digits *= 2


def rough(formula: Formula) -> Decimal:
    """The upper end at the lowest precision, or infinity; for a search."""
    return next((span.hi for span in _spans(formula, _FIRST_DIGITS)), Decimal("inf"))


def upper(formula: Formula) -> float:
    """A float not below the formula, and at most two floats away; infinity if the formula cannot be evaluated."""
    return min((_up(span.hi) for span in _spans(formula)), default=math.inf)


def lower(formula: Formula) -> float:
    """A float not above the formula, and at most two floats away; minus infinity if the formula cannot be evaluated."""
    return max((-_up(span.lo.copy_negate()) for span in _spans(formula)), default=-math.inf)


def floor(formula: Formula) -> int:
    """The greatest integer not above a formula that is below 10^1000 and not an integer."""
    digits = _FIRST_DIGITS
    while True:
        span = formula(Reader(digits))
        least, most = math.floor(span.lo), math.floor(span.hi)
        if least == most or digits >= _MAX_DIGITS:
            return most
        digits *= 2


def _up(x: Decimal) -> float:
    """The least float not below x; a fraction with a billion digits is not written out."""
    if x and abs(x.adjusted()) > _MAX_EXPONENT:
        x = Decimal((int(x < 0), (1,), _MAX_EXPONENT if x.adjusted() > 0 else -_MAX_EXPONENT))
    return up(Fraction(x))
