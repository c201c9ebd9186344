"""At most so many rows of each unit, those of least hash: `engines.reference.bounded`, for columns in memory.

Only the rows of units that have too many are hashed.  From a table of Arrow, of a unit u and columns c0, c1, ..., come
those of its rows that are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..tables.schema import Schema

Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]
Words = NDArray[np.uint64]
Hashes = Callable[[Any, str, Sequence[int]], tuple[Words, Words]]  # of rows, by these columns: the two halves of each

_SPARSE = 4  # integers are their own codes if they span at most so many times their number


def bounded(rows: Any, schema: Schema, hashes: Hashes) -> Any:
    """Of each unit the part of least hash, if there are parts, and then its `rows` rows of least hash."""
    units = _codes(rows["u"])
    if schema.partition is not None:
        at = next(i for i, (name, _) in enumerate(schema.columns) if name == schema.partition)
        parts = rows[f"c{at}"].fill_null(-1).to_numpy().astype(np.int64)
        width = len(schema.domain(schema.partition).labels) + 1
        cells, first, place = np.unique(units * width + parts + 1, return_index=True, return_inverse=True)
        chosen = _least(cells // width, 1, lambda several: hashes(rows.take(first[several]), "|p|", [at]))[place]
        rows, units = _where(rows, chosen), units[chosen]
    every = range(len(schema.columns))
    return _where(rows, _least(units, schema.rows, lambda heavy: hashes(_where(rows, heavy), "|", every)))


def _codes(units: Any) -> Codes:
    """Small whole numbers in place of units."""
    import pyarrow as pa

    if units.type == pa.int64() and len(units):
        values: Codes = np.concatenate([np.from_dlpack(chunk) for chunk in units.chunks])
        lowest = int(values.min())
        if int(values.max()) - lowest <= _SPARSE * len(values):
            return values - lowest
    chunks = units.dictionary_encode().unify_dictionaries().chunks
    return np.concatenate([np.empty(0, np.int64), *(np.from_dlpack(chunk.indices) for chunk in chunks)])


def _least(units: Codes, most: int, hashed: Callable[[Mask], tuple[Words, Words]]) -> Mask:
    """Which rows are among the `most` of least hash of their unit; rows of one unit and one hash are equal.

    A unit and as many bits of the hash as there is room for make one word, and words are sorted fast.  Where a unit's
    last row is cut off, rows may look alike in these bits: there, and only there, the whole hash decides.
    """
    counts = np.bincount(units)
    many = counts > most
    heavy = many[units]
    if not heavy.any():
        return ~heavy
    high, low = hashed(heavy)
    own, sizes = (np.cumsum(many) - 1)[units[heavy]], counts[many]
    bits = len(sizes).bit_length()
    words = own.astype(np.uint64) << np.uint64(64 - bits) | high >> np.uint64(bits)
    last = np.sort(words)[np.cumsum(sizes) - sizes + most - 1][own]
    kept = words < last
    room = most - np.bincount(own[kept], minlength=len(sizes))
    edge = np.flatnonzero(words == last)
    edge = edge[np.lexsort((low[edge], high[edge], own[edge]))]
    whose = own[edge]
    kept[edge[np.arange(len(edge)) - np.searchsorted(whose, whose) < room[whose]]] = True
    out = ~heavy
    out[heavy] = kept
    return out


def _where(rows: Any, mask: Mask) -> Any:
    import pyarrow as pa

    bits = pa.py_buffer(np.packbits(mask, bitorder="little"))  # an array of NumPy's would load pandas
    return rows.filter(pa.Array.from_buffers(pa.bool_(), len(mask), [None, bits]))
