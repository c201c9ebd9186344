"""The units of rows in memory as small whole numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..keyed_hash import Q
from .keyed_hash import Integers, Texts, blocks, taken, wide

Mask = NDArray[np.bool_]

_SPARSE = 4  # integers are their own codes if they span at most so many times their number


@dataclass(frozen=True)
class Units:
    """The code of the unit of each row, how many codes there are, and the digits of some codes' units."""

    codes: Integers
    size: int
    digits: Callable[[Mask], Callable[[Integers], Integers]]

    def of(self, rows: Mask) -> Units:
        """The units of some rows."""
        return replace(self, codes=self.codes[rows])

    def counts(self) -> Integers:
        """How many rows each unit has."""
        counts = np.zeros(self.size, np.int32 if len(self.codes) < 1 << 31 else np.int64)
        one = counts.dtype.type(1)
        for some in blocks(len(self.codes)):  # else NumPy would widen all of them at once
            np.add.at(counts, self.codes[some].astype(np.int64), one)
        return counts

    def marked(self, some: Mask) -> Mask:
        """Which rows are of some units."""
        marked = np.empty(len(self.codes), bool)
        for own in blocks(len(self.codes)):
            some.take(self.codes[own], out=marked[own], mode="clip")
        return marked


def coded(units: Any, texts: Texts) -> Units:
    """A column of units; those that are whole numbers close together are their own codes, but for the first of them."""
    import pyarrow as pa

    if units.type == pa.int64() and len(units):
        chunks = [np.from_dlpack(chunk) for chunk in units.chunks if len(chunk)]
        first, last = min(int(chunk.min()) for chunk in chunks), max(int(chunk.max()) for chunk in chunks)
        if last - first < _SPARSE * len(units):
            size = last - first + 1
            if first > -Q and last < Q:  # what `wide` says of them
                return Units(_joined(chunks, first, size), size, lambda _: lambda codes: codes + np.int64(first + Q))
            return Units(_joined(chunks, first, size), size, lambda _: lambda codes: wide(codes + np.int64(first)))
    numbered = units.dictionary_encode()  # all chunks by one dictionary
    names = numbered.chunk(0).dictionary if numbered.num_chunks else pa.array([], units.type)

    def digits(many: Mask) -> Callable[[Integers], Integers]:
        some = where(names, many)
        known = np.zeros(len(many), np.int64)
        known[many] = wide(np.from_dlpack(some)) if units.type == pa.int64() else texts(some)
        return lambda codes: taken(known, codes)

    codes = _joined([np.from_dlpack(chunk.indices) for chunk in numbered.chunks], 0, len(names))
    return Units(codes, len(names), digits)


def _joined(chunks: Sequence[Integers], first: int, size: int) -> Integers:
    codes = np.empty(sum(map(len, chunks)), np.int32 if size <= 1 << 31 else np.int64)
    at = 0
    for chunk in chunks:
        np.subtract(chunk, first, out=codes[at : at + len(chunk)], casting="unsafe")
        at += len(chunk)
    return codes


def where(rows: Any, mask: Mask) -> Any:
    """The rows of Arrow that are marked."""
    return rows.filter(marks(mask))


def put(into: Mask, mask: Mask, values: Mask) -> None:
    """into[mask] = values, a block at a time: NumPy takes three times as long."""
    end = 0
    for some in blocks(len(into)):
        at = np.flatnonzero(mask[some])
        into[some][at] = values[end : end + len(at)]
        end += len(at)


def marks(mask: Mask) -> Any:
    """A mask as Arrow has it."""
    import pyarrow as pa

    bits = pa.py_buffer(np.packbits(mask, bitorder="little"))  # an array of NumPy's would load pandas
    return pa.Array.from_buffers(pa.bool_(), len(mask), [None, bits])
