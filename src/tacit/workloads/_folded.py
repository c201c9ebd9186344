"""A product of coefficients on each axis, as rows and columns of the table of all cells.

The leading axes make rows and the trailing ones columns (`_layout.py`), so a query is an outer product r c' and its
answer r' T c, which reads the table once.  To multiply the cells that a query of 0 and 1 holds, only their rows are
read, and no array of the table's size is made:

    columns all held          runs of rows, times a number; if they are many, all rows times one each
    a short row               runs of rows, times a row of factors, repeated to a block
    a long one, in few runs   those runs, times a number
    any other long one        block by block, times factors that are made in the core's cache
"""

from __future__ import annotations

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
        if self.rows.size == 1:
            return float(values.reshape(-1) @ self.columns) * self.rows.item()
        return float(self.rows @ values.reshape(self.rows.size, -1) @ self.columns)

    @cached_property
    def _rows(self) -> list[tuple[int, int]]:
        return _runs(self.rows)

    @cached_property
    def _few(self) -> list[tuple[int, int]] | None:
        """The runs of held columns, if they are few."""
        changes = np.count_nonzero(self.columns[1:] != self.columns[:-1])
        return _runs(self.columns) if changes <= 2 * _RUNS else None

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
            for left, part in self._chunks():
                made = part * (factor - 1)
                made += 1
                for low, high in self._rows:
                    table[low:high, left : left + made.size] *= made

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
        """Multiply each cell by e to the height times its coefficient, in place; for a single row."""
        flat = values.reshape(-1)
        for left, part in self._chunks():
            made = part * height
            flat[left : left + made.size] *= np.exp(made, out=made)

    def _chunks(self) -> Iterator[tuple[int, Floats]]:
        for left in range(0, self.columns.size, _CHUNK):
            yield left, self.columns[left : left + _CHUNK]


def _outer(factors: Mapping[int, NDArray[Any]], axes: range) -> Floats:
    if len(axes) == 1:
        return np.asarray(factors[axes[0]], float)
    found = np.ones(1)
    for axis in reversed(axes):  # so that inner loops are long
        found = np.multiply.outer(factors[axis], found).ravel()
    return found


def _runs(held: Floats) -> list[tuple[int, int]]:
    """Where each run of ones begins and ends."""
    edges = np.flatnonzero(np.diff(held != 0, prepend=False, append=False))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
