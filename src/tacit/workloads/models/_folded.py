"""A product of coefficients on each axis, as rows and columns of the table of all cells.

The leading axes make rows and the trailing ones columns (`_layout.py`), so a query is an outer product r c' and its
answer r' T c, which reads the table once.  To multiply cells by 1 + b times their coefficient, 1 + b r c' is computed
where cells are few.  Else only the rows of a query are read, and no array of the table's size is allocated:

    columns all 1             runs of rows of 0 and 1, times a number; any others, all rows times one each
    a short row               runs of rows, times a row of factors, repeated to a block
    a long one, in few runs   of 0 and 1: those runs, times a number
    any other long one        a part of it at a time; if the query has all rows, by 1 / b + c, one operation less
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..queries._layout import FEW, LARGEST, blocks
from ..queries.data import Floats

_CHUNK = 1 << 17  # cells of a long row that are processed together
_TILE = 1 << 14  # cells that a short row is repeated to
_MAX_RUNS = 1 << 8  # that are processed one by one
_DOT = 1 << 13  # terms of a dot product: few enough for one thread, so that no sum depends on how many there are


class Folded:
    """The rows and the columns of coefficients; a long row of columns in as few bytes as hold them exactly."""

    def __init__(self, rows: Floats, columns: Floats) -> None:
        self.rows, self.columns = rows, columns if columns.size <= LARGEST else _narrowest(columns)

    @classmethod
    def of(cls, shape: tuple[int, ...], factors: Mapping[int, NDArray[Any]]) -> Folded:
        """The product of a vector of coefficients on each of some axes; on others they are 1."""
        lead = _lead(shape)
        return cls(_outer(shape, factors, range(lead)), _outer(shape, factors, range(lead, len(shape))))

    def sum(self, values: Floats) -> float:
        """The sum of coefficients times cells, of a contiguous table."""
        table = values.reshape(self.rows.size, self.columns.size)
        if table.size <= FEW:
            return float(np.vdot(self.rows, np.vecdot(table, self.columns)))
        sums = np.zeros(self.rows.size)
        for chunk in self._chunks():
            part, columns = table[:, chunk], self._floats(chunk)
            cut = columns.size - columns.size % _DOT
            if cut < columns.size:
                sums += np.vecdot(part[:, cut:], columns[cut:])
            if cut:
                sums += np.vecdot(part[:, :cut].reshape(sums.size, -1, _DOT), columns[:cut].reshape(-1, _DOT)).sum(1)
        return float((self.rows * sums).sum())

    @cached_property
    def _rows(self) -> list[tuple[int, int]]:
        return _runs(self.rows != 0)

    @cached_property
    def _ones(self) -> bool:
        """Whether every column is 1."""
        return bool((self.columns == 1).all())

    @cached_property
    def _few(self) -> list[tuple[int, int]] | None:
        """The runs of columns of 1, if all are 0 or 1 and the runs are few."""
        changes = np.count_nonzero(self.columns[1:] != self.columns[:-1])
        return _runs(self.columns != 0) if changes <= 2 * _MAX_RUNS and _bits(self.columns) else None

    def scale(self, values: Floats, by: float) -> float:
        """Multiply each cell, in place, by 1 + `by` times its coefficient, and all by a number, which is returned.

        Either rows or columns must be of 0 and 1; `by` is not 0, and above -1 over the largest coefficient.
        """
        table = values.reshape(self.rows.size, self.columns.size)
        if table.size <= FEW:
            table *= np.multiply.outer(self.rows * by, self.columns) + 1
        elif not _bits(self.rows):
            table *= (self.rows * by + 1)[:, None]
        elif self.columns.size <= LARGEST:
            self._scale_short(table, by)
        elif self._few is not None:
            for low, high in self._rows:
                for left, right in self._few:
                    table[low:high, left:right] *= 1 + by
        elif self.rows.all():
            return self._scale_all(table, by)
        else:
            for chunk in self._chunks():
                factors = self._floats(chunk) * by + 1
                for low, high in self._rows:
                    table[low:high, chunk] *= factors
        return 1.0

    def _scale_short(self, table: Floats, by: float) -> None:
        size = self.columns.size
        if self._ones and len(self._rows) > _MAX_RUNS:
            table *= (self.rows * by + 1)[:, None]
            return
        if self._ones:
            for low, high in self._rows:
                table[low:high] *= 1 + by
            return
        many = -(-_TILE // size)
        block = np.tile(self.columns * by + 1, many)
        for low, high in self._rows:
            middle = high - (high - low) % many
            if low < middle:
                whole = table[low:middle].reshape(-1, block.size)
                whole *= block
            rest = table[middle:high].reshape(-1)
            rest *= block[: rest.size]

    def _scale_all(self, table: Floats, by: float) -> float:
        number, move = 1 / abs(by), np.add if by > 0 else np.subtract
        for chunk in self._chunks():
            part = table[:, chunk]
            part *= move(number, self._floats(chunk), out=self._room[: part.shape[1]])
        return number

    def _floats(self, chunk: slice) -> Floats:
        """A chunk of the columns as floats, in an array that the next call overwrites."""
        some = self.columns[chunk]
        if some.dtype == float:
            return some
        np.copyto(self._room[: some.size], some)
        return self._room[: some.size]

    @cached_property
    def _room(self) -> Floats:
        """An array for a chunk of columns: to allocate it again takes as long as to fill it."""
        return np.empty(min(_CHUNK, self.columns.size))

    def _chunks(self) -> Iterator[slice]:
        return (slice(left, left + _CHUNK) for left in range(0, self.columns.size, _CHUNK))


@lru_cache(maxsize=64)
def _lead(shape: tuple[int, ...]) -> int:
    """The number of axes that make rows: where cells are few, about as many rows as columns, which is fastest."""
    if math.prod(shape) > FEW:
        return blocks(shape)
    return min(range(len(shape) + 1), key=lambda lead: math.prod(shape[:lead]) + math.prod(shape[lead:]))


def _outer(shape: tuple[int, ...], factors: Mapping[int, Floats], axes: range) -> Floats:
    """The product of the vectors on each axis; neighbouring axes without a vector are treated as one."""
    outer, free = None, 1
    for axis in reversed(axes):  # so that inner loops are long
        if axis not in factors:
            free *= shape[axis]
            continue
        vector = factors[axis]
        outer = vector.repeat(free) if outer is None else np.multiply.outer(vector, _repeated(outer, free)).ravel()
        free = 1
    return np.ones(free) if outer is None else _repeated(outer, free)


def _repeated(vector: Floats, times: int) -> Floats:
    if times == 1:
        return vector
    tiled = np.empty((times, vector.size))
    tiled[:] = vector
    return tiled.ravel()


def _narrowest(vector: Floats) -> NDArray[Any]:
    """The vector in the narrowest type that holds it exactly, so that each pass reads less."""
    options: list[NDArray[Any]] = [vector.astype(kind) for kind in (np.uint8, np.float32)]
    return next((narrow for narrow in options if np.array_equal(narrow, vector)), vector)


def _bits(vector: NDArray[Any]) -> bool:
    """Whether each entry is 0 or 1."""
    return bool(((vector == 0) | (vector == 1)).all())


def _runs(held: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Where each run of ones begins and ends."""
    edges = np.flatnonzero(np.diff(held, prepend=False, append=False))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
