"""Arithmetic on whole steps; the range of every result follows from the ranges of its operands.

+ - *          exact; by a constant, * and / only change the grid
raised         to a constant power: a product, and exact
/              of two columns: rounded down to a multiple of a power of two; by zero, missing
div            rounded toward zero, exactly
modulo         by a positive constant, always in [0, b)
floor, ceil    whole numbers; `round_to` rounds halves away from zero
least, greatest, clamp    missing if any part is missing
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from ...core.errors import BadQuestion
from ...core.parameters import whole
from .coercion import (
    Plain,
    absent,
    alike,
    checked,
    constant,
    folded,
    kind_of,
    on_grid,
    scaled,
    shaped,
    union,
    unwrapped,
    whole_constant,
    written,
)
from .column_types import power
from .domain import ValueDomain, number
from .nodes import (
    Add,
    Case,
    Compare,
    Constant,
    Divide,
    Expression,
    IsMissing,
    Multiply,
)

QUOTIENT = Fraction(1, 1024)  # the coarsest grid of a quotient
FINE = 1 << 19  # steps to the farthest quotient, or more: fine beside noise that hides it, with room for products


def add(a: Expression, b: Expression) -> Expression:
    """a + b: two numbers, a date and whole days, or a timestamp and whole seconds."""
    if absent(a) or absent(b):
        return constant(None)
    for time, shift in ((a, b), (b, a)):
        if time.domain.kind in ("date", "timestamp"):
            if shift.domain.kind != "number" or shift.domain.grid.denominator != 1:
                unit = "days" if time.domain.kind == "date" else "seconds"
                raise BadQuestion(f"Only a whole number of {unit} can be added to a {time.domain.kind}.")
            return _sum(time, on_grid(shift, Fraction(1)), time.domain)
    _numbers(a, b)
    a, b = alike(a, b)
    return _sum(a, b, a.domain)


def _sum(a: Expression, b: Expression, like: ValueDomain) -> Expression:
    x, y = a.domain, b.domain
    domain = replace(like, lower=x.lower + y.lower, upper=x.upper + y.upper, declared=x.declared and y.declared)
    return folded(Add(domain, a, b))


def negate(a: Expression) -> Expression:
    """-a."""
    _numbers(a)
    return scaled(a, -1, a.domain) if not absent(a) else a


def subtract(a: Expression, b: Expression) -> Expression:
    """a - b: of two dates the days between them, of two timestamps the seconds."""
    if absent(a) or absent(b):
        return constant(None)
    if b.domain.kind in ("date", "timestamp"):
        a, b = alike(a, b)
        a, b = (shaped(x, number(x.domain.lower, x.domain.upper, declared=x.domain.declared)) for x in (a, b))
    return add(a, negate(b))


def multiply(a: Expression, b: Expression) -> Expression:
    """a b."""
    if absent(a) or absent(b):
        return constant(None)
    _numbers(a, b)
    for x, factor in ((a, written(b)), (b, written(a))):
        if factor:
            grid = x.domain.grid * abs(factor)
            return scaled(x, 1 if factor > 0 else -1, replace(x.domain, grid=grid))
    left, right = a.domain, b.domain
    ends = [p * q for p in (left.lower, left.upper) for q in (right.lower, right.upper)]
    declared = left.declared and right.declared
    return folded(Multiply(number(min(ends), max(ends), left.grid * right.grid, declared), a, b))


def raised(a: Expression, exponent: Expression) -> Expression:
    """a to a whole power from 1 to 10 that is written in the question."""
    _numbers(a)
    times = written(exponent)
    if times is None or times not in range(1, 11):
        raise BadQuestion("The exponent of a power must be a constant whole number from 1 to 10.")
    product = a
    for _ in range(int(times) - 1):
        product = multiply(product, a)
    return shaped(product, replace(product.domain, lower=max(product.domain.lower, 0))) if times % 2 == 0 else product


def divide(a: Expression, b: Expression) -> Expression:
    """a / b: exact if b is a constant, else rounded down to a fine grid; missing where b = 0."""
    if absent(a) or absent(b):
        return constant(None)
    _numbers(a, b)
    if divisor := written(b):
        return multiply(a, constant(1 / divisor))
    x, y = a.domain, b.domain
    grid = power(Fraction(max(-x.lower, x.upper, 1), max(y.lower, -y.upper, 1)) * x.grid / y.grid / FINE)
    while grid < QUOTIENT:
        try:
            return _down(a, b, grid)
        except BadQuestion:  # so many steps exceed 64 bits
            grid *= 2
    return _down(a, b, QUOTIENT)


def div(a: Expression, b: Expression) -> Expression:
    """a / b rounded toward zero; missing where b = 0."""
    if absent(a) or absent(b):
        return constant(None)
    _numbers(a, b)
    down = _down(a, b, Fraction(1))
    if down.domain.lower >= 0:
        return down
    up = negate(_down(negate(a), b, Fraction(1)))
    if down.domain.upper < 0:
        return up
    either = _pick(_below_zero(down), up, down)
    return shaped(either, replace(either.domain, lower=up.domain.lower, upper=down.domain.upper))


def _down(a: Expression, b: Expression, grid: Fraction) -> Expression:
    """The largest multiple of the grid not above a / b."""
    x, y = a.domain, b.domain
    divisors = [q for q in (y.lower, y.upper, -1, 1) if q and y.lower <= q <= y.upper]
    if not divisors:
        return constant(None)
    ratio = x.grid / (y.grid * grid)
    top, bottom = scaled(a, ratio.numerator, x), scaled(b, ratio.denominator, y)
    ends = [p * ratio.numerator // (q * ratio.denominator) for p in (x.lower, x.upper) for q in divisors]
    return folded(Divide(number(min(ends), max(ends), grid, x.declared and y.declared), top, bottom))


def floor(a: Expression) -> Expression:
    """The largest whole number not above a."""
    _numbers(a)
    grid = a.domain.grid
    if absent(a) or grid.denominator == 1:
        return a
    return quotient(scaled(a, grid.numerator, a.domain), grid.denominator, replace(a.domain, grid=Fraction(1)))


def quotient(a: Expression, by: int, domain: ValueDomain) -> Expression:
    """Steps divided by a positive whole number and rounded down, in the kind and grid of `domain`."""
    ends = a.domain.lower // by, a.domain.upper // by
    return folded(Divide(replace(domain, lower=ends[0], upper=ends[1]), unwrapped(a), whole_constant(by)))


def ceil(a: Expression) -> Expression:
    """The least whole number not below a."""
    return negate(floor(negate(a)))


def round_to(a: Expression, digits: int = 0) -> Expression:
    """a rounded to decimal digits, halves away from zero."""
    _numbers(a)
    places = whole("digits", digits, -18)
    if places > 18:
        raise BadQuestion("ROUND takes -18 to 18 digits.")
    unit = Fraction(10) ** -places
    if absent(a) or (a.domain.grid / unit).denominator == 1:
        return a
    up = _half_up(a, unit)
    if a.domain.lower >= 0:
        return up
    return _pick(_below_zero(a), negate(_half_up(negate(a), unit)), up)


def _half_up(a: Expression, unit: Fraction) -> Expression:
    return multiply(floor(add(divide(a, constant(unit)), constant(Fraction(1, 2)))), constant(unit))


def trunc_to(a: Expression, digits: int = 0) -> Expression:
    """a rounded toward zero to decimal digits."""
    _numbers(a)
    unit = Fraction(10) ** -whole("digits", digits, -18)
    if absent(a) or (a.domain.grid / unit).denominator == 1:
        return a
    down = bin_to(a, unit)
    return down if a.domain.lower >= 0 else _pick(_below_zero(a), negate(bin_to(negate(a), unit)), down)


def sign(a: Expression) -> Expression:
    """-1, 0 or 1."""
    _numbers(a)
    above = shaped(folded(Compare("<=", whole_constant(1), a)), number(0, 1))
    return a if absent(a) else _pick(_below_zero(a), whole_constant(-1), above)


def bin_to(a: Expression, width: Plain) -> Expression:
    """The largest multiple of the width that is not above a."""
    step = written(constant(width))
    if step is None or step <= 0:
        raise BadQuestion("The width of a bin must be a positive number.")
    return multiply(floor(divide(a, constant(step))), constant(step))


def modulo(a: Expression, b: Expression) -> Expression:
    """a - b floor(a / b), for a positive constant b."""
    _numbers(a, b)
    if absent(a) or absent(b):
        return constant(None)
    divisor = written(b)
    if divisor is None or divisor <= 0:
        raise BadQuestion("The divisor of a remainder must be a positive constant.")
    a, b = alike(a, constant(divisor))
    by = b.domain.lower
    if a.domain.lower >= 0 and a.domain.upper < by:
        return a
    whole = scaled(quotient(a, by, number(0, 0)), -by, a.domain)
    turns = a.domain.lower // by < a.domain.upper // by
    ends = (0, by - 1) if turns else (a.domain.lower % by, a.domain.upper % by)
    return folded(Add(checked(a.domain.within(*ends)), a, whole))


def absolute(a: Expression) -> Expression:
    """|a|."""
    _numbers(a)
    if a.domain.lower >= 0:
        return a
    minus = negate(a)
    if a.domain.upper <= 0 or isinstance(a, Constant):
        return minus
    domain = replace(a.domain, lower=0, upper=max(minus.domain.upper, a.domain.upper))
    return folded(Case(domain, _below_zero(a), minus, a))


def least(*parts: Expression) -> Expression:
    """The least of several values; missing if one of them is."""
    return _extreme(parts, largest=False)


def greatest(*parts: Expression) -> Expression:
    """The greatest of several values; missing if one of them is."""
    return _extreme(parts, largest=True)


def clamp(a: Expression, lower: Plain | Expression, upper: Plain | Expression) -> Expression:
    """a, or the nearer end where it is outside of two constants."""
    low, high = (end if isinstance(end, Expression) else constant(end) for end in (lower, upper))
    if not isinstance(low, Constant) or not isinstance(high, Constant) or low.value is None or high.value is None:
        raise BadQuestion("CLAMP needs two constants as bounds.")
    first, last = alike(low, high)
    if first.domain.lower > last.domain.lower:
        raise BadQuestion("The lower bound of CLAMP must not exceed the upper bound.")
    between = least(greatest(a, low), high)
    return shaped(between, replace(between.domain, declared=True))


def _extreme(parts: tuple[Expression, ...], largest: bool) -> Expression:
    if any(part.domain.kind in ("category", "text") for part in alike(*parts)):
        raise BadQuestion("LEAST and GREATEST need numbers or dates; text and categories have no public order.")
    if any(absent(part) for part in parts):
        return constant(None)
    best, *others = sorted(alike(*parts), key=lambda part: isinstance(part, Constant))
    choose = max if largest else min
    for other in others:
        x, y = best.domain, other.domain
        domain = replace(union(x, y), lower=choose(x.lower, y.lower), upper=choose(x.upper, y.upper))
        first, second = (best, other) if largest else (other, best)
        wins = folded(Compare("<=", first, second))  # missing, and so `best`, if best is missing
        loses = best if isinstance(other, Constant) else folded(Case(domain, IsMissing(other), other, best))
        best = folded(Case(domain, wins, other, loses))
    return best


def _below_zero(a: Expression) -> Expression:
    return folded(Compare("<=", a, whole_constant(-1)))


def _pick(condition: Expression, then: Expression, otherwise: Expression) -> Expression:
    then, otherwise = alike(then, otherwise)
    return folded(Case(union(then.domain, otherwise.domain), condition, then, otherwise))


def _numbers(*parts: Expression) -> None:
    for part in parts:
        if part.domain.kind != "number":
            raise BadQuestion(f"Arithmetic needs numbers; {kind_of(part)}.")
