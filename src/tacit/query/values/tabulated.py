"""Functions of real numbers, as public tables over the values of a small domain.

No two engines agree on the last digit of a logarithm, so none is asked for one: each value of the domain has a row in a
public table, computed here from integers and decimals, and rounded down to a multiple of a power of two as a quotient
is.  Where the function has no value, such as the root of a negative number, it is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import Literal

from ...core.errors import BadQuestion
from .arithmetic import FINE, QUOTIENT
from .coercion import absent, checked, constant, folded, kind_of
from .column_types import power
from .domain import ValueDomain, number
from .nodes import Expression, Lookup

RealFunction = Literal["sqrt", "ln", "log10", "exp"]
MOST_TABULATED = 10_000
_LARGEST_EXPONENT = 36  # e^36 in steps of 1/1024 fits 64 bits
_PRECISE = Context(prec=80)  # its roots, logarithms and powers are rounded correctly, and so the same everywhere


def tabulated(name: RealFunction, a: Expression) -> Expression:
    """A function of each public value of a number."""
    if absent(a):
        return a
    domain = a.domain
    if domain.kind != "number":
        raise BadQuestion(f"{name.upper()} needs numbers; {kind_of(a)}.")
    if domain.size is None or domain.size > MOST_TABULATED:
        raise BadQuestion(
            f"{name.upper()} on rows is looked up in a table of at most {MOST_TABULATED} public values. Round the"
            f" numbers first, as in {name.upper()}(ROUND(x)), or CLAMP them."
        )
    if name == "exp" and domain.upper * domain.grid > _LARGEST_EXPONENT:
        raise BadQuestion(f"EXP of numbers above {_LARGEST_EXPONENT} could exceed 64 bits. CLAMP the numbers first.")
    keys, values, grid = _table(name, domain)
    if not keys:
        return constant(None)
    return folded(Lookup(checked(number(min(values), max(values), grid)), a, keys, values))


@lru_cache(maxsize=64)
def _table(name: RealFunction, domain: ValueDomain) -> tuple[tuple[int, ...], tuple[int, ...], Fraction]:
    """The steps of a domain where the function has a value, the steps of that value, and their grid."""
    value, has = _FUNCTIONS[name], _DEFINED[name]
    steps = [step for step in range(domain.lower, domain.upper + 1) if has(step * domain.grid)]
    if not steps:
        return (), (), QUOTIENT
    ends = [abs(value(step * domain.grid, Fraction(1))) + 1 for step in (steps[0], steps[-1])]
    grid = min(QUOTIENT, power(Fraction(max(ends)) / FINE))
    return tuple(steps), tuple(value(step * domain.grid, grid) for step in steps), grid


def _root(x: Fraction, grid: Fraction) -> int:
    return isqrt(int(x / grid**2))  # floor(sqrt(y)) = floor(sqrt(floor(y)))


def _by(function: Callable[[Decimal], Decimal]) -> Callable[[Fraction, Fraction], int]:
    def value(x: Fraction, grid: Fraction) -> int:
        written = _PRECISE.divide(Decimal(x.numerator), Decimal(x.denominator))
        steps = _PRECISE.multiply(function(written), Decimal(grid.denominator))  # of a grid of 1, 1/2, 1/4, ...
        return int(steps.to_integral_value(ROUND_FLOOR))

    return value


_FUNCTIONS: dict[RealFunction, Callable[[Fraction, Fraction], int]] = {
    "sqrt": _root,
    "ln": _by(_PRECISE.ln),
    "log10": _by(_PRECISE.log10),
    "exp": _by(_PRECISE.exp),
}
_DEFINED: dict[RealFunction, Callable[[Fraction], bool]] = {
    "sqrt": lambda x: x >= 0,
    "ln": lambda x: x > 0,
    "log10": lambda x: x > 0,
    "exp": lambda x: True,
}
