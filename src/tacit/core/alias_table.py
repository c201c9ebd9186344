r"""Exact draws from an integer law with weights w = e^-x, by an alias table.

The law.  On blocks of m consecutive integers (m a power of two), P[k] is proportional to e^-x(|k|) with
x(k) = linear k + quadratic k^2: the discrete Laplace, geometric and discrete Gaussian laws.  A draw chooses a
block by the weight of its first integer b, then an offset i uniform in [0, m), accepted with probability
e^-(x(b + i) - x(b)); rejected draws start over.  Negative integers are -1 - k for k >= 0, of weight x(k + 1), so
zero is never counted twice.  m keeps the table small at every scale and rejections below one in sixteen.

The table.  A word of W bits names one of 2^W units.  Each block owns floor(S w (1 - 2^-40)) units, computed in
floating point, so never more than its due S w; Walker's alias method finds the owner with one comparison.
The other units are undecided and are dealt out again: to each block as many as cover the rest of its due, accepted
with exactly the probability that makes the total S w; one unit to the blocks beyond the table; and the others to a
fresh start.  So every block is drawn with probability proportional to w exactly, while an undecided unit (one draw in
2^37 at 64 bits) is settled by enclosures in integer arithmetic.

Margin.  S w needs x to a relative 2^-52 (x < 60 here), an exponential and two products.  Any libm is within a few
2^-53 of each, in all below 2^-45: thirty times less than the undecided part.

References.  Walker, ACM TOMS 3 (1977); Vose, IEEE TSE 17 (1991), for alias tables.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .exact import Real, exp_minus
from .randomness import Source, Words

W = TypeVar("W", int, NDArray[Any])
F = TypeVar("F", float, NDArray[Any])
Draws = NDArray[Any]  # int64 where every draw fits, else Python integers

_MARGIN = 2.0**-40
_CHUNK = 1 << 14
_MAX_SINGLE = 16  # draws that are made one by one, as that is no slower
UNDECIDED = -(1 << 62)  # no block begins here
MAX_DRAW = (1 << 62) - 1  # the largest int64 draw; every law drawn as int64 has less than e^-100 beyond


@dataclass(frozen=True)
class Exponent:
    """x(k) = linear k + quadratic k^2, k >= 0, and a whole number `spread` over which x grows by at least 1."""

    linear: Fraction
    quadratic: Fraction
    spread: int

    def __call__(self, k: int) -> Fraction:
        return self.linear * k + self.quadratic * k * k

    @cached_property
    def floats(self) -> tuple[float, float]:
        return float(self.linear), float(self.quadratic)

    def gain(self, start: F, offset: F) -> F:
        """x(start + offset) - x(start), in floating point."""
        linear, quadratic = self.floats
        return offset * (linear + quadratic * (2 * start + offset)) if quadratic else offset * linear


class AliasTable:
    """An alias table over the blocks of a law, for words of a given width."""

    def __init__(self, exponent: Exponent, two_sided: bool, width: int) -> None:
        self.exponent, self.signs, self.width = exponent, 1 + two_sided, width
        self.shift = max(0, exponent.spread.bit_length() - 5)  # log2 m: spread / m is in [16, 32), or m = 1
        self.decay_blocks = -(-exponent.spread >> self.shift)  # over which the weight falls by e at least
        self.blocks = self._beyond(width * math.log(2) + math.log(2 * self.signs * self.decay_blocks) + 2)
        symbols = np.arange(self.blocks * self.signs)
        block, negative = symbols >> self.signs - 1, symbols & self.signs - 1
        weights = np.exp(-exponent.gain(np.zeros(1), np.ldexp(block.astype(float), self.shift) + negative))
        self.total = 1 << width
        spare = 3 * weights.size + int(self.total * 4 * _MARGIN) + 2
        self.due = int((self.total - spare) / (float(weights.sum()) * (1 + _MARGIN)) * (1 - _MARGIN))  # S
        self._units = (weights * (self.due * (1 - _MARGIN))).astype(np.uint64)
        exact = block if self.blocks - 1 << self.shift < 1 << 59 else block.astype(object)
        self._alias((exact << self.shift) ^ -negative)

    @cached_property
    def units(self) -> list[int]:
        """The number of units that each block owns."""
        return list(self._units.tolist())

    @cached_property
    def extra(self) -> list[int]:
        """The number of undecided units dealt to each block, which cover the rest of its due."""
        return [2 + int(2 * u * 2 * _MARGIN) for u in self.units]

    def _beyond(self, nats: float) -> int:
        """The first block past the spread whose weight is below e^-nats."""
        b, a = self.exponent.floats
        k = (math.sqrt(b * b + 4 * a * nats) - b) / (2 * a) if a else nats / b
        return (max(int(k * (1 + _MARGIN)), self.exponent.spread) >> self.shift) + 2

    def start(self, symbol: int) -> int:
        """The magnitude at which the block of a symbol begins; symbols count blocks, and within a block signs."""
        return (symbol // self.signs << self.shift) + symbol % self.signs

    def value(self, symbol: int) -> int:
        """The integer drawn when the offset is 0."""
        k = symbol // self.signs << self.shift
        return ~k if symbol % self.signs else k

    def _alias(self, values: Draws) -> None:
        """Walker's table: each column holds total / columns units and at most two owners.

        Small columns are filled up by large ones, one after the other, the last first.  Up to the i-th they take
        `taken[i]`, and up to the j-th the large ones can spare `spared[j]`; so the j-th goes on filling up to
        `until[j]`, and if it then lacks something itself, it is filled up by the next.
        """
        self.column_bits = self._units.size.bit_length()  # the last owner is "undecided"
        columns, room = 1 << self.column_bits, np.uint64(self.total >> self.column_bits)
        owned, names = np.zeros(columns, np.uint64), np.full(columns, UNDECIDED, values.dtype)
        owned[: values.size], names[: values.size] = self._units, values
        owned[values.size] = self.total - int(self._units.sum())
        scarce = owned < room
        small, large = scarce.nonzero()[0][::-1], (~scarce).nonzero()[0][::-1]
        taken, spared = (room - owned[small]).cumsum(), (owned[large] - room).cumsum()
        until = taken.searchsorted(spared, side="right") + 1
        lacking = (until <= small.size).nonzero()[0]  # never the last: in all, as much is spared as is taken
        fills = np.minimum(until, small.size)
        fills[1:] -= fills[:-1]
        keep, alias = np.minimum(owned, room), np.arange(columns)
        alias[small] = large.repeat(fills)
        keep[large[lacking]] -= taken[until[lacking] - 1] - spared[lacking]
        alias[large[lacking]] = large[lacking + 1]
        limits = np.arange(columns, dtype=np.uint64) * room + keep  # the first alias unit
        if keep[-1] == room:
            limits[-1] = min(self.total, (1 << 64) - 1)  # a column whose limit is 2^64 has a single owner, stored twice
        # Packed, so that the time to fetch an owner does not depend on how common that owner is.
        self._limits, self._owners = limits, np.empty(2 * columns, values.dtype)
        self._owners[::2], self._owners[1::2] = names, names[alias]
        self.limits = array("Q", limits.tobytes())
        self.owners = self._owners.tolist() if values.dtype == object else array("q", self._owners.tobytes())

    def lookup(self, words: Words, out: Draws) -> None:
        """Write to `out` the first value of the block that owns each unit, or `UNDECIDED`."""
        column = (words >> self.width - self.column_bits).view(np.int64)
        second = words >= self._limits.take(column)
        column <<= 1
        column += second
        self._owners.take(column, out=out, mode="clip")

    def block(self, source: Source) -> int | None:
        """The first value of a block, chosen in proportion to its weight, or None to start over."""
        word = source.word()
        column = word >> self.width - self.column_bits
        value = self.owners[2 * column + (word >= self.limits[column])]
        return self.deal(source) if value == UNDECIDED else value

    def deal(self, source: Source) -> int | None:
        """The first value of a block for an undecided unit, in integer arithmetic, or None to start over."""
        unit = source.integer(self.total - sum(self.units))
        for symbol, extra in enumerate(self.extra):
            if unit < extra:
                return self.value(symbol) if source.below(self._still_due(symbol)) else None
            unit -= extra
        return self._past_the_table(source) if unit == 0 else None

    def place(self, value: int, source: Source) -> int | None:
        """An integer of the block that begins with `value`, in proportion to its weight, or None to start over."""
        offset, prefix, bits = self._offset(source.word)
        gap = prefix * 2.0**-bits - math.exp(-self.exponent.gain(abs(value), offset))
        if gap > -_MARGIN - 2.0**-bits and (gap > _MARGIN or not source.below(self._keep(value, offset), prefix, bits)):
            return None
        return value - offset if value < 0 else value + offset

    def one(self, source: Source) -> int:
        """One draw.  The work does not depend on the value drawn, except for one draw in 2^30."""
        while True:
            value = self.block(source)
            if value is not None and self.shift:
                value = self.place(value, source)
            if value is not None:
                return value

    def many(self, n: int, source: Source) -> Draws:
        """n draws."""
        out = np.empty(n, self._owners.dtype)
        if n <= _MAX_SINGLE:
            out[:] = [self.one(source) for _ in range(n)]
            return out
        rejected = [self._fill(out[i : i + _CHUNK], source) + i for i in range(0, n, _CHUNK)]
        again = np.concatenate(rejected)
        if again.size:
            out[again] = self.many(again.size, source)
        return out

    def _fill(self, out: Draws, source: Source) -> NDArray[np.int64]:
        """Fill `out` with draws, and return the indices of those that must start over."""
        refused = self._fill_blocks(out, source)
        if not self.shift:
            return np.array(refused, np.int64)
        offset, prefix, bits = self._offset(lambda: source.words(out.size))
        step = offset.view(np.int64)
        gap = prefix * 2.0**-bits - np.exp(-self.exponent.gain(np.abs(out), step).astype(float, copy=False))
        doubtful = np.flatnonzero(gap > -_MARGIN - 2.0**-bits)
        for i in doubtful[gap[doubtful] <= _MARGIN]:
            if source.below(self._keep(int(out[i]), int(offset[i])), int(prefix[i]), bits):
                doubtful = doubtful[doubtful != i]
        negative = -(out < 0).astype(np.int64)
        out += (step ^ negative) - negative  # away from zero
        return np.union1d(doubtful, refused).astype(np.int64) if refused else doubtful

    def _fill_blocks(self, out: Draws, source: Source) -> list[int]:
        """Fill `out` with the first values of blocks, and return the indices of those that must start over."""
        self.lookup(source.words(out.size), out)
        undecided = np.flatnonzero(out == UNDECIDED).tolist()
        dealt = [self.deal(source) for _ in undecided]
        for i, value in zip(undecided, dealt, strict=True):
            out[i] = 0 if value is None else value if out.dtype == object else max(-MAX_DRAW, min(value, MAX_DRAW))
        return [i for i, value in zip(undecided, dealt, strict=True) if value is None]

    def _offset(self, draw: Callable[[], W]) -> tuple[W, W, int]:
        """A uniform offset within a block, and the first bits of a uniform number that decides on its acceptance."""
        word = draw()
        offset, rest = word >> self.width - self.shift, self.width - self.shift
        return (offset, word & (1 << rest) - 1, rest) if rest >= self.shift else (offset, draw(), self.width)

    def _keep(self, value: int, offset: int) -> Real:
        return exp_minus(self.exponent(abs(value) + offset) - self.exponent(abs(value)))

    def _still_due(self, symbol: int) -> Real:
        weight, units, extra = (
            exp_minus(self.exponent(self.start(symbol))),
            self.units[symbol],
            self.extra[symbol],
        )

        def enclose(bits: int) -> tuple[int, int]:
            more = bits + self.width + 8
            low, high = (self.due * w - (units << more) for w in weight(more))
            return low // extra >> more - bits, -(-high // extra >> more - bits)

        return enclose

    def _past_the_table(self, source: Source) -> int | None:
        """The first value of a block beyond the table, each with probability S w, or None to start over.

        Propose sign, offset within `decay_blocks` blocks and 2^-(1 + rounds) for each further round; by convexity the
        weight falls by e a round, so S w / (the proposal) <= 1 from the first block of the tail on.
        """
        rounds = 0
        while source.integer(2):
            rounds += 1
        block = self.blocks + rounds * self.decay_blocks + source.integer(self.decay_blocks)
        symbol = block * self.signs + source.integer(self.signs)
        factor = self.due * self.signs * self.decay_blocks << rounds + 1
        weight = exp_minus(self.exponent(self.start(symbol)))

        def enclose(bits: int) -> tuple[int, int]:
            more = bits + factor.bit_length()
            low, high = weight(more)
            return low * factor >> more - bits, -(-high * factor >> more - bits)

        return self.value(symbol) if source.below(enclose) else None
