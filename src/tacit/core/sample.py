"""Exact samplers, vectorised.  Each follows its law exactly: what floating point cannot decide, integers do.

With `n` absent a sampler gives one Python value, else an array.  Integer noise is int64 as long as every draw
fits (scales up to about 2^53), above that an array of Python integers: nothing ever wraps.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import overload

import numpy as np
from numpy.typing import NDArray

from .exact import Real, exp_minus
from .randomness import Source
from .table import Draws, Exponent, Table, below, uniform

Bits = NDArray[np.bool_]
Integers = NDArray[np.int64]

_MARGIN = 2.0**-40  # on exp(-x) in floating point; any libm is within a few 2^-53
_DIGITS = 8  # binary digits of a probability that are compared in all lanes of a word at once


@lru_cache(maxsize=256)
def laplace_table(scale: Fraction, two_sided: bool, width: int) -> Table:
    """P[k] proportional to exp(-|k| / scale)."""
    return Table(Exponent(1 / scale, Fraction(0), math.ceil(scale)), two_sided, width)


@lru_cache(maxsize=256)
def gaussian_table(sigma2: Fraction, width: int) -> Table:
    """P[k] proportional to exp(-k^2 / (2 sigma2)); the spread is at least sigma."""
    return Table(Exponent(Fraction(0), 1 / (2 * sigma2), math.isqrt(math.floor(sigma2)) + 1), True, width)


@overload
def laplace(scale: Fraction, source: Source) -> int: ...
@overload
def laplace(scale: Fraction, source: Source, n: int) -> Draws: ...
def laplace(scale: Fraction, source: Source, n: int | None = None) -> int | Draws:
    """The discrete Laplace law, P[k] = (1 - q)/(1 + q) q^|k| with q = exp(-1/scale)."""
    table = laplace_table(scale, True, source.width)
    return table.one(source) if n is None else table.many(n, source)


@overload
def geometric(scale: Fraction, source: Source) -> int: ...
@overload
def geometric(scale: Fraction, source: Source, n: int) -> Draws: ...
def geometric(scale: Fraction, source: Source, n: int | None = None) -> int | Draws:
    """The geometric law on 0, 1, 2, ...: P[k] = (1 - q) q^k with q = exp(-1/scale)."""
    table = laplace_table(scale, False, source.width)
    return table.one(source) if n is None else table.many(n, source)


@overload
def gaussian(sigma2: Fraction, source: Source) -> int: ...
@overload
def gaussian(sigma2: Fraction, source: Source, n: int) -> Draws: ...
def gaussian(sigma2: Fraction, source: Source, n: int | None = None) -> int | Draws:
    """The discrete Gaussian law, P[k] proportional to exp(-k^2 / (2 sigma2))."""
    table = gaussian_table(sigma2, source.width)
    return table.one(source) if n is None else table.many(n, source)


def bernoulli(p: Real, source: Source, n: int) -> Bits:
    """n coins of probability p, as many at a time as a word has bits.

    A uniform number and p are compared digit by digit from the top, one lane of a word for each coin.  The lanes
    still equal after `_DIGITS` digits compare a whole word each, and the few equal even then are settled by `below`.
    """
    digits = _floor(p, _DIGITS + source.width)
    first, rest = divmod(digits, 1 << source.width)
    rows = -(-n // source.width)
    less, equal = np.zeros(rows, np.uint64), np.full(rows, (1 << source.width) - 1, np.uint64)
    for digit in range(_DIGITS - 1, -1, -1):
        word = source.words(rows)
        if first >> digit & 1:
            less |= equal & ~word
            equal &= word
        else:
            equal &= ~word
    coins, ties = _lanes(less, source.width)[:n], np.flatnonzero(_lanes(equal, source.width)[:n])
    word = source.words(ties.size)
    coins[ties] = word < rest
    for lane in ties[word == rest]:
        coins[lane] = below(digits, _DIGITS + source.width, p, source)
    return coins


def _floor(p: Real, bits: int) -> int:
    """floor(2^bits p), for p that is no multiple of 2^-bits unless its enclosure is exact."""
    more = 64
    while True:
        low, high = p(bits + more)
        if low == high or low >> more == high - 1 >> more:
            return low >> more
        more *= 2


def _lanes(words: NDArray[np.uint64], width: int) -> Bits:
    """The bits of each word, lowest first."""
    bits = np.unpackbits(words.astype("<u8", copy=False).view(np.uint8), bitorder="little").view(np.bool_)
    return bits if width == 64 else bits.reshape(-1, 64)[:, :width].ravel()


def bernoulli_exp(counts: Integers, unit: Fraction, source: Source) -> Bits:
    """Coins of probability exp(-counts unit), counts >= 0 and unit > 0 rational."""
    prefix = source.words(counts.size)
    gap = prefix * 2.0**-source.width - np.exp(-counts * float(unit))
    coins: Bits = gap < 0
    for i in np.flatnonzero(np.abs(gap) < _MARGIN + 2.0**-source.width):
        coins[i] = below(int(prefix[i]), source.width, exp_minus(int(counts[i]) * unit), source)
    return coins


def choice(counts: Integers, unit: Fraction, source: Source) -> int:
    """An index drawn with probability proportional to exp(-counts unit); the least count must be 0.

    Each index owns floor(S w (1 - margin)) of S units a weight of 1 would own, and as many more, drawn with
    exactly the probability that is missing, as make up the difference (compare `table.py`).
    """
    bits = min(40, source.width - counts.size.bit_length() - 2)
    owned = (np.exp(-counts * float(unit)) * ((1 - _MARGIN) * 2.0**bits)).astype(np.int64)
    ends = np.cumsum(owned)
    while True:
        at = uniform(int(ends[-1]) + 3 * counts.size, source)
        if at < ends[-1]:
            return int(np.searchsorted(ends, at, side="right"))
        i = (at - int(ends[-1])) // 3
        if below(0, 0, _missing(exp_minus(int(counts[i]) * unit), bits, int(owned[i])), source):
            return i


def _missing(weight: Real, scale_bits: int, owned: int) -> Real:
    """(2^scale_bits weight - owned) / 3, which is below 1."""

    def enclose(bits: int) -> tuple[int, int]:
        low, high = weight(bits + scale_bits)
        return (low - (owned << bits)) // 3, -(((owned << bits) - high) // 3)

    return enclose


def integers(n: int, source: Source, size: int) -> Integers:
    """`size` uniform integers in [0, n), n <= 2^63; the incomplete last round of words is refused."""
    if n > 1 << source.width:
        return np.array([uniform(n, source) for _ in range(size)], np.int64)
    words = source.words(size)
    top = (1 << source.width) - (1 << source.width) % n - 1
    again = np.flatnonzero(words > top)
    draws: Integers = (words % np.uint64(n)).view(np.int64)
    if again.size:
        draws[again] = integers(n, source, again.size)
    return draws


def permutation(n: int, source: Source) -> Integers:
    """A uniform permutation of 0 .. n-1: the order of n random words, drawn anew while any two are equal."""
    while True:
        words = source.words(n)
        order = np.argsort(words)
        if (np.diff(words[order].view(np.int64)) != 0).all():
            return order
