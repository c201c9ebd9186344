"""Exact numbers: enclosures of reals by integers, and rounding outward to floats and to text.

A `Real` is a number known to any precision: f(bits) = (lo, hi) with lo <= 2^bits f <= hi.  Everything a
sampler cannot decide in floating point it decides by such enclosures, so a sampler never errs.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Real = Callable[[int], tuple[int, int]]
Floats = NDArray[np.float64]

FEW_ULPS = 1 + 2.0**-50  # a factor that outweighs eight roundings of a relative 2^-53 each
MANY_ULPS = 1 + 2.0**-48  # a factor that outweighs thirty roundings
TINY = 5e-324  # the least positive float: a positive bound never underflows to 0


# Amounts of loss are rounded up to multiples of 1 / GRID before they are added, so that no sequence of prices gives a
# sum with a longer denominator.  All decimals of 320 places and all fractions of whole numbers up to 100 are multiples.
GRID = math.lcm(*range(1, 101), 10**320)
_MAX_DENOMINATOR_BITS = 1 << 13


def outward(x: Fraction, grid: int = GRID) -> Fraction:
    """The least multiple of 1 / grid that is not below x."""
    return x if grid % x.denominator == 0 else Fraction(-(-x.numerator * grid // x.denominator), grid)


def inward(x: Fraction, grid: int = GRID) -> Fraction:
    """The largest multiple of 1 / grid that is not above x."""
    return x if grid % x.denominator == 0 else Fraction(x.numerator * grid // x.denominator, grid)


def shortened(x: Fraction, grid: int = GRID) -> Fraction:
    """An upper bound of x for a running sum: x itself, unless its denominator has become very long."""
    return x if x.denominator.bit_length() <= _MAX_DENOMINATOR_BITS else outward(x, grid)


def up(x: Fraction) -> float:
    """The least float not below x."""
    n, d = x.numerator, x.denominator
    try:
        y = n / d
    except OverflowError:
        return math.inf if n > 0 else -float(np.finfo(float).max)
    top, bottom = y.as_integer_ratio()
    return y if top * d >= n * bottom else math.nextafter(y, math.inf)


def decimal_up(x: Fraction) -> float:
    """The float whose shortest decimal text is x exactly, if there is one; else the least float not below x.

    So 3/10 is 0.3, where `up` gives 0.30000000000000004.
    """
    above = up(x)
    below = math.nextafter(above, -math.inf)
    return below if Fraction(repr(below)) == x else above


def down(x: Fraction) -> float:
    """The greatest float not above x."""
    return 0.0 - up(-x)  # not -0.0


def hybrid_sum(k: int, epsilon: float) -> float:
    """1 + e^epsilon + ... + e^((k-1) epsilon), by which a delta grows for a group of k (Dwork and Roth, theorem 2.2).

    It is (e^(k epsilon) - 1) / (e^epsilon - 1), from above; infinite where k epsilon exceeds 700.
    """
    if not epsilon:
        return up(Fraction(k))
    if k > 700 / epsilon:
        return math.inf
    whole = k * epsilon
    return (
        math.expm1(whole) / math.expm1(epsilon) * (1 + (8 + whole) * 2.0**-50)
    )  # the last bits of x move e^x by so much


def ceiling(x: float, digits: int = 3) -> Decimal:
    """x rounded up to so many digits, after digits beyond the 14th are dropped, so that 0.30000000000000004 is 0.3."""
    return decimal.Context(digits, decimal.ROUND_CEILING).create_decimal(f"{x:.14g}")


def from_above(x: float, digits: int = 6) -> str:
    """An upper bound as text, rounded up."""
    return f"{float(ceiling(x, digits)):g}"


def at_most(x: float, noun: str) -> str:
    """An upper bound on a number of things, as text: 1 row, 1.5 rows."""
    bound = from_above(x)
    return f"{bound} {noun if bound == '1' else f'{noun}s'}"


def from_below(x: float, digits: int = 6) -> str:
    """A lower bound as text, rounded down."""
    return f"{0.0 - float(ceiling(-x, digits)):g}"  # not -0


def constant(x: Fraction) -> Real:
    """A rational number, as a real."""
    return lambda bits: ((x.numerator << bits) // x.denominator, -((-x.numerator << bits) // x.denominator))


def exp_minus(x: Fraction) -> Real:
    """e^-x for x >= 0.

    `Decimal.exp` is correctly rounded, and reading x costs a relative 10^-digits, so the result is within a
    relative (x + 1) 10^(1 - digits) of the truth; x < bits ln 2 here, and the guard digits make that < 2^-bits.
    """

    def enclose(bits: int) -> tuple[int, int]:
        if x == 0:
            return 1 << bits, 1 << bits
        if x >= bits:  # e^-x < 2^-bits
            return 0, 1
        digits = (bits * 31) // 100 + len(str(bits)) + 4
        with decimal.localcontext(decimal.Context(prec=digits, Emin=-decimal.MAX_EMAX, Emax=decimal.MAX_EMAX)):
            e = (-Decimal(x.numerator) / Decimal(x.denominator)).exp()
            scaled = int(e * Decimal(1 << bits))
        return max(0, scaled - 1), scaled + 2

    return enclose


@lru_cache(maxsize=256)
def odds(x: Fraction, others: Fraction) -> Real:
    """e^x / (e^x + others) for x >= 0 and others >= 0: the share of one weight e^x beside `others` of weight 1."""
    e, top, bottom = exp_minus(x), others.numerator, others.denominator
    guard = math.ceil(others).bit_length()

    def enclose(bits: int) -> tuple[int, int]:
        lo, hi = e(bits + guard)
        one = bottom << bits + guard
        return (one << bits) // (one + top * hi), -(-(one << bits) // (one + top * lo))

    return enclose


def logistic(x: Fraction) -> Real:
    """1 / (1 + e^-x) for x >= 0."""
    return odds(x, Fraction(1))
