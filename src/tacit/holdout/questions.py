"""Questions about a holdout set, as integers, and the fingerprint of the set.

A question gives each record a value in [0, 1].  Values are rounded to a public grid, a power of two, so their sum is an
integer, exact in any order, and substituting one record moves the sum by at most 1 / grid steps.

Values that are passed are the asker's own, and refused if any is outside [0, 1] or NaN.  Values that a function
computes from the holdout records are clamped to [0, 1], and NaN counts as 0: an error would tell something about a
record.  The same function is held to [0, 1] on the training records.  Their shape and type can always be refused,
without showing what a function of the records returned.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, time, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from ..core.errors import BadData
from ..mechanisms._grid import as_array

Steps = NDArray[np.int64]
_PLAIN = (str, bytes, int, float, complex, type(None), date, time, timedelta, Decimal, Fraction, UUID, np.generic)


@dataclass(frozen=True)
class Pairs:
    """A sample mean in [0, 1] of pairs of records, as accurate as a mean of `independent` records (`metrics.auc`)."""

    mean: Fraction
    independent: int


@dataclass(frozen=True)
class HoldoutQuestion:
    """A guess, such as the value on the training set, and the records' values, both in steps of the grid."""

    guess: int | None
    values: Steps = field(repr=False)
    records: int = 0  # that the mean is of, if not all: independent pairs

    @property
    def total(self) -> int:
        """The sum of the records' values, in steps."""
        return int(self.values.sum())

    def key(self, name: str) -> str:
        """The digest of a name and a guess, which are public."""
        return hashlib.sha256(f"{self.guess};{name}".encode()).hexdigest()


def values_in_steps(values: object, n: int, grid: Fraction) -> Steps:
    """One value for each record, clamped to [0, 1], in steps of the grid."""
    array = _one_each(values, n)
    unit = int(1 / grid)
    if array.dtype.kind != "f":
        return np.asarray(array > 0, np.int64) * unit
    if unit == 1:
        raise BadData("values", "floats", "booleans or whole numbers, since a grid of 1 has only 0 and 1")
    at = np.clip(np.nan_to_num(array.astype(np.float64), nan=0.0), 0.0, 1.0)
    return np.floor(at * unit + 0.5).astype(np.int64)


def from_0_to_1(name: str, values: object, n: int) -> NDArray[Any]:
    """One value for each record, if all of them are in [0, 1]."""
    array = _one_each(values, n)
    if not bool(np.all((array >= 0) & (array <= 1))):
        allowed = "from 0 to 1, without NaN; for errors and losses declare a bound, as `tacit.holdout.metrics` does"
        raise BadData(name, "some that are not", allowed)
    return array


def shaped(values: object, n: int) -> NDArray[Any]:
    """The values that a function of the records returned; a wrong shape is not shown, since it may be private."""
    try:
        return _one_each(values, n)
    except BadData:
        allowed = f"a function that returns a boolean, or a float from 0 to 1, for each of {n} records"
        raise BadData("the statistic", "something else", allowed) from None


def _one_each(values: object, n: int) -> NDArray[Any]:
    """An array of n numbers, or `BadData`."""
    array = as_array("values", values)
    if array.shape != (n,) or array.dtype.kind not in "biuf":
        raise BadData(
            "values",
            f"an array of shape {array.shape} and kind {array.dtype.kind!r}",
            f"{n} numbers, one for each record",
        )
    return array


def arrays(name: str, data: object) -> tuple[NDArray[Any], ...]:
    """The records as arrays of one length: one array, or several, such as features and labels."""
    parts = tuple(map(_array, data if isinstance(data, tuple) else (data,)))
    if not parts or any(part.ndim == 0 or len(part) != len(parts[0]) for part in parts):
        raise BadData(name, "something else", "an array of records, or a tuple of arrays of one length")
    return parts


def _array(part: Any) -> NDArray[Any]:
    """An array of records; of a sparse matrix, the bytes of each row's places and values."""
    if not hasattr(part, "tocsr"):
        return np.asarray(part)
    sparse = part.tocsr().copy()
    sparse.sum_duplicates()
    sparse.eliminate_zeros()
    ends, places = sparse.indptr.tolist(), sparse.indices.astype(np.int64)
    rows = np.empty(len(ends) - 1, object)
    rows[:] = [places[i:j].tobytes() + sparse.data[i:j].tobytes() for i, j in pairwise(ends)]
    return rows


def fingerprint(data: object) -> str:
    """The SHA-256 digest of the records: their types, shapes and bytes, in their order.

    Store a holdout set in one form: the same records in another order or type have another fingerprint.
    """
    digest = hashlib.sha256()
    for part in arrays("data", data):
        digest.update(f"{part.dtype.str}{part.shape};".encode())
        for column in _columns(part):
            digest.update(written(column.tolist()).encode() if column.dtype.hasobject else column.tobytes())
    return digest.hexdigest()


def _columns(part: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """The array itself; or, if there is padding between its fields, one array for each field."""
    if part.dtype.base.char in "gG":
        raise BadData("data", "floats of more than 64 bits, which contain padding", "floats of 64 bits")
    if part.dtype.names and not part.dtype.hasobject and _filled(part.dtype) != part.dtype.itemsize:
        for name in part.dtype.names:
            yield from _columns(part[name])
    else:
        yield part


def _filled(kind: np.dtype[Any]) -> int:
    """The number of bytes of an element without padding; -1 for long floats, whose padding is unknown."""
    base = kind.base
    if base.char in "gG":
        return -1
    own = sum(_filled(base[name]) for name in base.names) if base.names else base.itemsize
    return own * (kind.itemsize // base.itemsize) if base.itemsize else 0


def written(value: object) -> str:
    """An object as text that is the same in every process, and different for every other object."""
    match value:
        case list():
            return f"[{', '.join(map(written, value))}]"
        case tuple():
            return f"({', '.join(map(written, value))}{',' if len(value) == 1 else ''})"
        case set() | frozenset():
            return f"{{{', '.join(sorted(map(written, value)))}}}"
        case dict():
            return f"{{{', '.join(sorted(f'{written(k)}: {written(v)}' for k, v in value.items()))}}}"
        case np.ndarray():
            return f"array({value.dtype.str}, {value.shape}, {written(value.tolist())})"
    if not isinstance(value, _PLAIN) and type(value).__name__ != "NAType":  # the missing value of pandas
        raise BadData("data", f"objects of {type(value).__name__}", "numbers, text, dates, or arrays of them")
    return repr(value)
