"""Reals on a public grid.

A grid is a power of two.  A real x becomes the integer nearest to x / grid, halves up, exactly; noise is added to
integers only, and an integer times the grid is released.  So every output is a grid multiple whatever x was.  What
rounding does to the sensitivity is in `Distance.on_grid`.  Without a grid, data must be integers.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.distance import Distance
from ..core.errors import BadData, BadParameter
from ..core.exact import Number, positive

Value = int | float | NDArray[Any]
LARGEST = 1 << 60  # steps to which noise is added lie within this, and so does what is released as int64


def power_of_two(name: str, value: Number) -> Fraction:
    """A grid: 2^j for a whole j within +-900, so that any release times the grid is a float."""
    g = Fraction(value) if isinstance(value, float) and value > 0 and math.isfinite(value) else positive(name, value)
    large, small = max(g.numerator, g.denominator), min(g.numerator, g.denominator)
    if small != 1 or large.bit_count() != 1 or large.bit_length() > 900:
        raise BadParameter(name, value, "a power of two, such as 1/1024")
    return g


def distance_in_steps(d: Distance[Any], grid: Fraction | None) -> Distance[Any]:
    """A distance between data in steps of the grid."""
    if grid is not None:
        return d.on_grid(grid)
    if d.l1.denominator != 1 or d.linf.denominator != 1:
        raise BadParameter("distance", d.l1, "whole for integer data; for reals give the mechanism a grid")
    return d


def as_array(name: str, x: object) -> NDArray[Any]:
    """Private values as an array, of whatever dtype NumPy finds."""
    if isinstance(x, np.ma.MaskedArray):
        raise BadData(name, "a masked array", "an array without masked values")
    try:
        return np.asarray(x)
    except (ValueError, TypeError, OverflowError):  # rows of unequal length; the text could show a value
        raise BadData(name, type(x).__name__, "numbers, or an array of them") from None


def steps(name: str, x: Value, grid: Fraction | None) -> int | NDArray[np.int64]:
    """A private value, or an array of them, in steps of the grid."""
    if type(x) is int and grid is None:
        rounded: Any = x
    elif type(x) is float and grid is not None:
        rounded = _nearest(name, x, float(grid))
    else:
        array = as_array(name, x)
        array = array.astype(np.int64) if array.size == 0 and array.dtype == float else array
        if array.dtype.kind not in ("iu" if grid is None else "iuf") or array.dtype.itemsize > 8:
            allowed = (
                "integers; for reals give the mechanism a grid"
                if grid is None
                else "integers, or floats of at most 64 bits"
            )
            raise BadData(name, f"{type(x).__name__} of dtype {array.dtype}", allowed)
        rounded = array if grid is None else _nearest_array(name, array, float(grid))
    scalar = not isinstance(rounded, np.ndarray) or rounded.ndim == 0
    low, high = (rounded, rounded) if scalar else (rounded.min(initial=0), rounded.max(initial=0))
    if high > LARGEST or low < -LARGEST:
        raise BadData(name, "a larger one", "within +-2^60 steps of the grid")
    return int(rounded) if scalar else rounded.astype(np.int64, copy=False)


def _nearest(name: str, x: float, grid: float) -> int:
    scaled = x / grid
    if not math.isfinite(scaled):
        raise BadData(name, "one that is not", "finite, also when divided by the grid")
    below = math.floor(scaled)
    return below + (scaled - below >= 0.5)


def _nearest_array(name: str, x: NDArray[Any], grid: float) -> NDArray[np.float64]:
    """Dividing by a power of two and taking the fraction part do not round, so this is floor(x / grid + 1/2)."""
    with np.errstate(over="ignore"):
        scaled = x.astype(np.float64) / grid
    if not np.isfinite(scaled).all():
        raise BadData(name, "one that is not", "finite, also when divided by the grid")
    below = np.floor(scaled)
    return below + (scaled - below >= 0.5)
