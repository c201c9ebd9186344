"""The private table as a method sees it: exact counts over some of its attributes.

`Counts` is all that a linear query needs, so a query is answered by a table and by a model in the same way.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core.distance import ADD_REMOVE, Distance
from ...core.errors import BadData
from ...core.parameters import instance
from ._layout import summed
from .domain import Axes, Domain

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
EXACT = (1 << 53) - 1  # whole numbers up to this are floats, and so are their sums


def arrayed(values: ArrayLike) -> NDArray[Any]:
    """The values as an array; lists of different lengths become an array of objects, which no reader takes."""
    try:
        return np.asarray(values)
    except ValueError:
        return np.asarray(None)


class Counts(Protocol):
    """Anything that can be counted over attributes."""

    @property
    def domain(self) -> Domain: ...

    def marginal(self, axes: Axes) -> NDArray[Any]:
        """Counts for each combination of values on these axes, ascending; () gives the total."""


@runtime_checkable
class Data(Counts, Protocol):
    """A private table: `distance` is how one unit of privacy moves its full histogram."""

    @property
    def distance(self) -> Distance[Any]: ...

    def marginal(self, axes: Axes) -> Integers: ...


class Histogram:
    """A table given by its full histogram."""

    def __init__(self, domain: Domain, counts: ArrayLike, distance: Distance[Any] | None = None) -> None:
        array, size = arrayed(counts), instance("domain", domain, Domain).size
        sound = array.dtype.kind in "iu" and array.size == size
        if not sound or array.min() < 0 or array.sum(dtype=float) > EXACT:
            raise BadData(
                "counts",
                f"{array.size} of kind {array.dtype.kind!r}",
                f"{size} whole numbers, none negative, that add up to less than 2^53",
            )
        self.distance = ADD_REMOVE.histogram() if distance is None else instance("distance", distance, Distance)
        self.domain = domain
        self._counts = array.astype(np.int64).reshape(domain.shape)

    def marginal(self, axes: Axes) -> Integers:
        return summed(self._counts, axes)


class Rows:
    """A table given by one row of codes for each record: column j holds places among the values of attribute j."""

    def __init__(self, domain: Domain, codes: ArrayLike, distance: Distance[Any] | None = None) -> None:
        array, columns = arrayed(codes), len(instance("domain", domain, Domain).shape)
        if array.dtype.kind not in "iu" or array.ndim != 2 or array.shape[1] != columns:
            raise BadData("codes", f"shape {array.shape}", f"whole numbers in {columns} columns")
        if array.size and not (array.min() >= 0 and (array.max(axis=0) < domain.shape).all()):
            raise BadData("codes", "one that is not", "within the values of its attribute")
        self.distance = ADD_REMOVE.histogram() if distance is None else instance("distance", distance, Distance)
        self.domain = domain
        self._columns = np.ascontiguousarray(array.T.astype(np.int64))

    def marginal(self, axes: Axes) -> Integers:
        shape = self.domain.laid_out(axes)
        if not axes:
            return np.asarray(self._columns.shape[1])
        cell = self._columns[axes[0]]
        for axis in axes[1:]:
            cell = cell * self.domain.shape[axis] + self._columns[axis]
        return np.bincount(cell, minlength=self.domain.cells(axes)).reshape(shape)
