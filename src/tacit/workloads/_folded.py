"""A product of coefficients on each axis, as rows and columns of the table of all cells.

The leading axes make rows and the trailing ones columns (`_layout.py`), so a query is an outer product r c' and its
answer r' T c, which reads the table once.  To multiply the cells that a query of 0 and 1 holds, only their rows are
read, and no array of the table's size is made:

    columns all held          runs of rows, times a number; if they are many, all rows times one each
    a short row               runs of rows, times a row of factors, repeated to a block
    a long one, in few runs   those runs, times a number
    any other long one        four columns at a time, by their row in a table of the factors of all sixteen kinds

Any other coefficients take a power for each column.  The factors of a long row are made a part at a time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._layout import LARGEST, blocks
from .data import Floats

_CHUNK = 1 << 17  # cells of a long row that are gone through together
_TILE = 1 << 14  # cells that a short row is repeated to
_RUNS = 1 << 8  # that are gone through one by one
_DOT = 1 << 13  # terms of a dot product: few enough for one thread, so that no sum depends on how many there are
_FOURS = np.unpackbits(np.arange(16, dtype=np.uint8)[:, None], axis=1)[:, 4:].astype(float)  # all kinds of four


class Folded:
    """The rows and the columns of coefficients."""

    def __init__(self, rows: Floats, columns: Floats) -> None:
        self.rows, self.columns = rows, columns

    @classmethod
    def of(cls, shape: tuple[int, ...], factors: Mapping[int, NDArray[Any]]) -> Folded:
        """From a vector of coefficients on each of some axes; on others they are 1."""
        lead = blocks(shape)
        ones = {axis: factors.get(axis, np.ones(size)) for axis, size in enumerate(shape)}
        return cls(_outer(ones, range(lead)), _outer(ones, range(lead, len(shape))))

    def sum(self, values: Floats) -> float:
        """The coefficients times the cells, of a contiguous table."""
        table, size = values.reshape(self.rows.size, self.columns.size), self.columns.size
        cut = size - size % _DOT
        sums = np.vecdot(table[:, cut:], self.columns[cut:])
        sums += np.vecdot(table[:, :cut].reshape(self.rows.size, -1, _DOT), self.columns[:cut].reshape(-1, _DOT)).sum(1)
        return float((self.rows * sums).sum())

    @cached_property
    def _rows(self) -> list[tuple[int, int]]:
        return _runs(self.rows != 0)

    @cached_property
    def _held(self) -> NDArray[np.bool_]:
        """Which columns are."""
        return np.asarray(self.columns != 0)

    @cached_property
    def _few(self) -> list[tuple[int, int]] | None:
        """The runs of held columns, if they are few."""
        changes = np.count_nonzero(self._held[1:] != self._held[:-1])
        return _runs(self._held) if changes <= 2 * _RUNS else None

    @cached_property
    def _fours(self) -> NDArray[np.uint8]:
        """Which columns are held, four in a byte: NumPy copies as many factors at once, in cache."""
        eights = np.packbits(self._held)
        return np.stack([eights >> 4, eights & 15], axis=1).ravel()

    def scale(self, values: Floats, factor: float) -> None:
        """Multiply the cells whose coefficient is 1, where all are 0 or 1, in place."""
        table = values.reshape(self.rows.size, self.columns.size)
        if self.columns.size <= LARGEST:
            self._scale_short(table, factor)
        elif self._few is not None:
            for low, high in self._rows:
                for left, right in self._few:
                    table[low:high, left:right] *= factor
        else:
            factors, made = _FOURS * (factor - 1) + 1, np.empty((_CHUNK // 4, 4))
            for chunk in self._chunks():
                kinds = self._fours[chunk.start // 4 : chunk.stop // 4]
                np.take(factors, kinds, axis=0, out=made[: kinds.size], mode="clip")  # "raise" would make a copy
                for low, high in self._rows:
                    part = table[low:high, chunk]
                    part *= made.reshape(-1)[: part.shape[1]]

    def _scale_short(self, table: Floats, factor: float) -> None:
        size = self.columns.size
        if self.columns.all() and len(self._rows) > _RUNS:
            table *= (self.rows * (factor - 1) + 1)[:, None]
            return
        if self.columns.all():
            for low, high in self._rows:
                table[low:high] *= factor
            return
        many = -(-_TILE // size)
        block = np.tile(self.columns * (factor - 1) + 1, many)
        for low, high in self._rows:
            middle = high - (high - low) % many
            if low < middle:
                whole = table[low:middle].reshape(-1, block.size)
                whole *= block
            rest = table[middle:high].reshape(-1)
            rest *= block[: rest.size]

    def tilt(self, values: Floats, height: float) -> None:
        """Multiply each cell by e to the height times its coefficient, in place; for a vector on one axis or on all.

        As a power of two, which NumPy takes a tenth faster: right to a few units in the last place, as with e.
        """
        table, doublings = values.reshape(self.rows.size, self.columns.size), height / math.log(2)
        if (self.rows != 1).any():  # columns are then all 1
            table *= np.exp2(self.rows * doublings)[:, None]
            return
        made = np.empty(min(_CHUNK, self.columns.size))
        for chunk in self._chunks():
            part = table[:, chunk]
            powers = np.multiply(self.columns[chunk], doublings, out=made[: part.shape[1]])
            part *= np.exp2(powers, out=powers)

    def _chunks(self) -> Iterator[slice]:
        return (slice(left, left + _CHUNK) for left in range(0, self.columns.size, _CHUNK))


def _outer(factors: Mapping[int, NDArray[Any]], axes: range) -> Floats:
    if len(axes) == 1:
        return np.asarray(factors[axes[0]], float)
    found = np.ones(1)
    for axis in reversed(axes):  # so that inner loops are long
        found = np.multiply.outer(factors[axis], found).ravel()
    return found


def _runs(held: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Where each run of ones begins and ends."""
    edges = np.flatnonzero(np.diff(held, prepend=False, append=False))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
