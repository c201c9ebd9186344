"""Exact samplers, vectorised.  Each follows its law exactly: integers decide what floating point cannot.

Without `n` a sampler returns one Python value, with `n` an array.  Integer noise is int64 as long as every draw fits
(scales up to about 2^53), and else an array of Python integers: nothing ever wraps.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import overload

import numpy as np
from numpy.typing import NDArray

from .alias_table import AliasTable, Draws, Exponent
from .exact import Real, exp_minus
from .randomness import Source

Bits = NDArray[np.bool_]
Integers = NDArray[np.int64]

_MARGIN = 2.0**-40  # on exp(-x) in floating point; any libm is within a few 2^-53
_SHARED_DIGITS = 10  # binary digits of a probability that all lanes of a word go through together
_MAX_SINGLE = 16  # coins that are tossed one by one, as that is no slower
_CACHED_TABLES = 64  # a table may take 200 kB
_CHUNK = 1 << 14  # words at a time, so that they stay in a core's second-level cache


@lru_cache(maxsize=_CACHED_TABLES)
def _laplace_table(top: int, bottom: int, two_sided: bool, width: int) -> AliasTable:
    """P[k] proportional to exp(-|k| / scale), scale = top / bottom: two integers hash faster than a fraction."""
    scale = Fraction(top, bottom)
    return AliasTable(Exponent(1 / scale, Fraction(0), math.ceil(scale)), two_sided, width)


@lru_cache(maxsize=_CACHED_TABLES)
def _gaussian_table(top: int, bottom: int, width: int) -> AliasTable:
    """P[k] proportional to exp(-k^2 / (2 sigma2)), sigma2 = top / bottom; the spread is at least sigma."""
    sigma2 = Fraction(top, bottom)
    return AliasTable(Exponent(Fraction(0), 1 / (2 * sigma2), math.isqrt(math.floor(sigma2)) + 1), True, width)


@overload
def laplace(scale: Fraction, source: Source) -> int: ...
@overload
def laplace(scale: Fraction, source: Source, n: int) -> Draws: ...
@overload
def laplace(scale: Fraction, source: Source, n: int | None) -> int | Draws: ...
def laplace(scale: Fraction, source: Source, n: int | None = None) -> int | Draws:
    """Draws of the discrete Laplace law, P[k] = (1 - q)/(1 + q) q^|k| with q = exp(-1/scale)."""
    table = _laplace_table(scale.numerator, scale.denominator, True, source.width)
    return table.one(source) if n is None else table.many(n, source)


@overload
def geometric(scale: Fraction, source: Source) -> int: ...
@overload
def geometric(scale: Fraction, source: Source, n: int) -> Draws: ...
@overload
def geometric(scale: Fraction, source: Source, n: int | None) -> int | Draws: ...
def geometric(scale: Fraction, source: Source, n: int | None = None) -> int | Draws:
    """Draws of the geometric law on 0, 1, 2, ...: P[k] = (1 - q) q^k with q = exp(-1/scale)."""
    table = _laplace_table(scale.numerator, scale.denominator, False, source.width)
    return table.one(source) if n is None else table.many(n, source)


@overload
def gaussian(sigma2: Fraction, source: Source) -> int: ...
@overload
def gaussian(sigma2: Fraction, source: Source, n: int) -> Draws: ...
@overload
def gaussian(sigma2: Fraction, source: Source, n: int | None) -> int | Draws: ...
def gaussian(sigma2: Fraction, source: Source, n: int | None = None) -> int | Draws:
    """Draws of the discrete Gaussian law, P[k] proportional to exp(-k^2 / (2 sigma2))."""
    table = _gaussian_table(sigma2.numerator, sigma2.denominator, source.width)
    return table.one(source) if n is None else table.many(n, source)


def coin(p: Real, source: Source) -> bool:
    """True with probability p < 1."""
    digits, word = _floor(p, source.width), source.word()
    return source.below(p, digits, source.width) if word == digits else word < digits


def bernoulli(p: Real, source: Source, n: int) -> Bits:
    """n coins of probability p < 1, as many at a time as a word has bits.

    A coin of probability 0.d1 d2 ... dD + 2^-D rest is made of D fair coins and a last coin of probability `rest`:
    from digit D up to digit 1, `coin` becomes `coin or fair` where the digit is 1 and `coin and fair` where it is 0.
    Both values of the last coin are tried at once, one lane of a word for each coin.  The last coin is drawn only in
    lanes where the outcomes differ: a whole word is compared with the next digits, and `below` settles a tie.
    """
    if n <= _MAX_SINGLE:
        return np.array([coin(p, source) for _ in range(n)], np.bool_)
    lanes = _CHUNK * source.width
    if n <= lanes:
        return _coins(p, source, n)
    coins = np.empty(n, np.bool_)
    for start in range(0, n, lanes):
        coins[start : start + lanes] = _coins(p, source, min(lanes, n - start))
    return coins


def _coins(p: Real, source: Source, n: int) -> Bits:
    width, rows = source.width, -(-n // source.width)
    digits = _floor(p, _SHARED_DIGITS + width)
    first, rest = divmod(digits, 1 << width)
    if_0, if_1 = np.zeros(rows, np.uint64), np.full(rows, (1 << width) - 1, np.uint64)
    for digit in range(_SHARED_DIGITS):
        combine = np.bitwise_or if first >> digit & 1 else np.bitwise_and
        fair = source.words(rows)
        combine(if_0, fair, out=if_0)
        combine(if_1, fair, out=if_1)
    coins = _lanes(if_0, width)
    if_1 ^= if_0
    undecided = np.flatnonzero(if_1 != 0)  # faster than of the words themselves
    row, lane = np.divmod(np.flatnonzero(_lanes(if_1[undecided], width)), width)
    at, word = undecided[row] * width + lane, source.words(row.size)
    coins[at] = word < rest
    for i in at[word == rest]:
        coins[i] = source.below(p, digits, _SHARED_DIGITS + width)
    return coins[:n]


@lru_cache(maxsize=256)
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
    coins: Bits = np.empty(counts.size, np.bool_)
    for start in range(0, counts.size, _CHUNK):
        part, prefix = counts[start : start + _CHUNK], source.words(min(_CHUNK, counts.size - start))
        gap = prefix * 2.0**-source.width - np.exp(part * -float(unit))
        coins[start : start + _CHUNK] = gap < 0
        for i in np.flatnonzero(np.abs(gap) < _MARGIN + 2.0**-source.width):
            coins[start + i] = source.below(exp_minus(int(part[i]) * unit), int(prefix[i]), source.width)
    return coins


def choice(counts: Integers, unit: Fraction, source: Source) -> int:
    """An index drawn with probability proportional to exp(-counts unit); the least count must be 0."""
    return choices(counts[np.newaxis], unit, source)[0]


def choices(counts: Integers, unit: Fraction, source: Source) -> list[int]:
    """For each row of counts an index drawn by `choice`; an index with a negative count is never chosen.

    Each index owns floor(S w (1 - margin)) of the S units that a weight of 1 would own, and three further units,
    accepted with exactly the probability that makes up the difference (compare `alias_table.py`).
    """
    bits, there = min(40, source.width - counts.shape[1].bit_length() - 2), counts >= 0
    weights = np.exp(np.maximum(counts, 0) * -float(unit)) * there
    owned = (weights * ((1 - _MARGIN) * 2.0**bits)).astype(np.int64)
    ends, sizes = np.cumsum(owned, axis=1), there.sum(axis=1)
    chosen = []
    for row, (end, size) in enumerate(zip(ends[:, -1].tolist(), sizes.tolist(), strict=True)):
        while (at := source.integer(end + 3 * size, spare=1)) >= end:
            i = int(np.flatnonzero(there[row])[(at - end) // 3])
            if source.below(_missing(exp_minus(int(counts[row, i]) * unit), bits, int(owned[row, i]))):
                break
        else:
            i = int(ends[row].searchsorted(at, side="right"))
        chosen.append(i)
    return chosen


def _missing(weight: Real, scale_bits: int, owned: int) -> Real:
    """(2^scale_bits weight - owned) / 3, which is below 1."""

    def enclose(bits: int) -> tuple[int, int]:
        low, high = weight(bits + scale_bits)
        return (low - (owned << bits)) // 3, -(((owned << bits) - high) // 3)

    return enclose


def integers(n: int, source: Source, size: int) -> Integers:
    """`size` uniform integers in [0, n), n <= 2^63; words of the incomplete last round are rejected."""
    if n > 1 << source.width:
        return np.array([source.integer(n) for _ in range(size)], np.int64)
    words = source.words(size)
    top = (1 << source.width) - (1 << source.width) % n - 1
    again = np.flatnonzero(words > top)
    draws: Integers = (words % np.uint64(n)).view(np.int64)
    if again.size:
        draws[again] = integers(n, source, again.size)
    return draws


def permutation(n: int, source: Source) -> Integers:
    """A uniform permutation of 0 .. n-1: the order of n random words, redrawn while any two are equal."""
    while True:
        words = source.words(n)
        order = np.argsort(words)
        if (np.diff(words[order].view(np.int64)) != 0).all():
            return order
