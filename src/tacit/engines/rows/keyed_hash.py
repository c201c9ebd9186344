"""The keyed hash (`engines.keyed_hash`) of Arrow columns, in NumPy, in blocks that stay in the processor's cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...query.values.domain import ValueDomain
from ..keyed_hash import TOGETHER, Coefficients, P, Q, narrow

Integers = NDArray[Any]  # of any width
HashWords = NDArray[np.uint64]
TextDigits = Callable[[Any], Integers]  # from a column of text to its digits
RowDigits = Callable[[slice], Integers]  # from some rows to their digits

BITS = P.bit_length()
BLOCK = 1 << 14  # rows


def hashed(columns: Sequence[RowDigits], above: RowDigits, c: Coefficients, out: HashWords) -> None:
    """Write one word for each row into `out`: the hash of its digits in the low bits, `above` in the high bits."""
    spare = np.empty(BLOCK, np.uint64)
    for some in blocks(len(out)):
        h, rest = out[some], spare[: some.stop - some.start]
        y = np.zeros_like(h)
        for i, (a, column) in enumerate(zip(c.linear, columns, strict=True), 1):
            y += np.multiply(column(some), a, out=rest.view(np.int64)).view(np.uint64)
            if i % TOGETHER == 0:
                _fold(y, rest)
        _fold(y, rest)
        h.fill(c.cubic[-1])
        for k in c.cubic[-2::-1]:
            h *= y
            h += k
            _fold(h, rest)
        np.minimum(h, np.subtract(h, P, out=rest), out=h)  # h - p wraps around where h < p
        h |= above(some).astype(np.uint64) << BITS


def _fold(x: HashWords, rest: HashWords) -> None:
    """Reduce numbers below 2^64 modulo p, in place, to below p + 6; 2^31 = 1 modulo p."""
    for _ in range(2):
        np.right_shift(x, BITS, out=rest)
        x &= P
        x += rest


def digits(column: Any, domain: ValueDomain, at: Integers, texts: TextDigits) -> RowDigits:
    """The digits of a column, in the rows at these positions."""
    if domain.kind == "text":
        text_digits = texts(column.take(positions(at)))
        return lambda some: text_digits[some]
    values, there = buffers(column)

    def digit(some: slice) -> Integers:
        x = taken(values, at[some]).astype(np.int64)
        if narrow(domain):
            x -= domain.lower - 1
        else:
            x = wide(x)
        return x if there is None else x * there[at[some]]

    return digit


def buffers(column: Any) -> tuple[Integers, Integers | None]:
    """The values of an array of integers; and, if any is missing, a mask that is 1 where a value is present."""
    missing, values = column.buffers()  # `to_numpy` would load pandas
    own = slice(column.offset, column.offset + len(column))
    there = None
    if column.null_count:
        there = np.unpackbits(np.frombuffer(missing, np.uint8), count=own.stop, bitorder="little")[own]
    return np.frombuffer(values, column.type.to_pandas_dtype())[own], there


def wide(values: Integers) -> Integers:
    """The digits of 64-bit integers."""
    return np.fmod(values, Q) + Q


def positions(at: Integers) -> Any:
    """Positions of rows, as an Arrow array."""
    import pyarrow as pa

    buffer = pa.py_buffer(np.ascontiguousarray(at, np.int64))  # `pa.array` of a NumPy array would load pandas
    return pa.Array.from_buffers(pa.int64(), len(at), [None, buffer])


def taken(values: Integers, at: Integers) -> Integers:
    """values[at], for positions that are known to be valid: without NumPy's check it is faster."""
    return values.take(at, mode="clip")


def blocks(size: int, block: int = BLOCK) -> Iterator[slice]:
    """Slices that cover `size` rows, `block` rows each."""
    return (slice(start, min(start + block, size)) for start in range(0, size, block))
