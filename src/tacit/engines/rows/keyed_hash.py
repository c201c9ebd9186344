"""`engines.keyed_hash` of columns of Arrow, in NumPy, a block at a time: what is computed of it stays in the cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...query.values.domain import Domain
from ..keyed_hash import TOGETHER, Coefficients, P, Q, narrow

Integers = NDArray[Any]  # of any width
Words = NDArray[np.uint64]
Texts = Callable[[Any], Integers]  # the digits of a column of text
Column = Callable[[slice], Integers]  # the digits of some rows

BITS = P.bit_length()
BLOCK = 1 << 14  # rows


def hashed(columns: Sequence[Column], above: Column, c: Coefficients, out: Words) -> None:
    """Into `out` words of rows: their hashes, by the digits of their unit and of their columns, below other numbers."""
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
        np.minimum(h, np.subtract(h, P, out=rest), out=h)  # which wraps around where h is below p
        h |= above(some).astype(np.uint64) << BITS


def _fold(x: Words, rest: Words) -> None:
    """Numbers below 2^64 to such of the same residue that are below p + 6, as 2^31 = 1 modulo p."""
    for _ in range(2):
        np.right_shift(x, BITS, out=rest)
        x &= P
        x += rest


def digits(column: Any, domain: Domain, at: Integers, texts: Texts) -> Column:
    """The digits of a column in the rows at these places."""
    if domain.kind == "text":
        known = texts(column.take(positions(at)))
        return lambda some: known[some]
    values, there = held(column)

    def digit(some: slice) -> Integers:
        x = taken(values, at[some]).astype(np.int64)
        if narrow(domain):
            x -= domain.lower - 1
        else:
            x = wide(x)
        return x if there is None else x * there[at[some]]

    return digit


def held(column: Any) -> tuple[Integers, Integers | None]:
    """What an array of whole numbers holds, and where it is not missing, as 1 and 0, if it is so anywhere."""
    missing, values = column.buffers()  # Arrow's own way would load pandas
    own = slice(column.offset, column.offset + len(column))
    there = None
    if column.null_count:
        there = np.unpackbits(np.frombuffer(missing, np.uint8), count=own.stop, bitorder="little")[own]
    return np.frombuffer(values, column.type.to_pandas_dtype())[own], there


def wide(values: Integers) -> Integers:
    """The digits of whole numbers of 64 bits."""
    return np.fmod(values, Q) + Q


def positions(at: Integers) -> Any:
    """Places of rows, as Arrow has them."""
    import pyarrow as pa

    buffer = pa.py_buffer(np.ascontiguousarray(at, np.int64))  # an array of NumPy's would load pandas
    return pa.Array.from_buffers(pa.int64(), len(at), [None, buffer])


def taken(values: Integers, at: Integers) -> Integers:
    """values[at], for places that are known to be there: NumPy does not look, and is faster."""
    return values.take(at, mode="clip")


def blocks(size: int, block: int = BLOCK) -> Iterator[slice]:
    """All places, so many at a time."""
    return (slice(start, min(start + block, size)) for start in range(0, size, block))
