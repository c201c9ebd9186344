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
from ..core.parameters import Number, positive

Value = int | float | NDArray[Any]
LARGEST = 1 << 60  # steps to which noise is added lie within this
_WIDEST = 2.0**61
_HELD = {"b": "booleans", "f": "floats", "c": "complex numbers", "M": "dates", "U": "text", "S": "bytes"}


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


def max_move_in_steps(d: Distance[Any], grid: Fraction | None, what: str) -> int:
    """How far one number may move, once it is rounded: linf in steps of the grid; `what` the numbers are called."""
    if grid is None and d.linf.denominator != 1:
        raise BadParameter("distance", d.linf, f"whole for integer {what}; for reals give the mechanism a grid")
    if grid is not None and d.l0 is None:
        raise BadParameter("distance", d, "one that says how many coordinates move (l0), to be put on a grid")
    return math.ceil(d.linf / (grid or 1))


def as_array(name: str, x: object) -> NDArray[Any]:
    """Private values as an array, of whatever dtype NumPy finds."""
    if isinstance(x, np.ma.MaskedArray):
        raise BadData(name, "a masked array", "an array without masked values")
    try:
        return np.asarray(x)
    except (ValueError, TypeError, OverflowError):  # rows of unequal length; the text could show a value
        raise BadData(name, type(x).__name__, "numbers, or an array of them") from None


def held(x: NDArray[Any]) -> str:
    """What an array is of, by types alone; it has no axis where it was made of a dict or the like."""
    if x.dtype.kind == "O" and not x.ndim:
        return f"a {type(x.item()).__name__}"
    return "wider floats" if x.dtype.kind == "f" and x.dtype.itemsize > 8 else _HELD.get(x.dtype.kind, "other objects")


def steps(name: str, x: Value, grid: Fraction | None, clamp: bool = True) -> int | NDArray[np.int64]:
    """A private value, or an array of them, in steps of the grid; integers are never put through floats.

    What lies beyond +-2^60 steps is moved there: no move grows by that, and no error tells of it.  Where common moves
    of all values are free, as in selection, that would not do, and it is refused.
    """
    if type(x) is int:
        rounded: Any = x if grid is None else math.floor(x / grid + Fraction(1, 2))
    elif type(x) is float and grid is not None:
        rounded = _nearest(name, x, float(grid))
    else:
        rounded = _nearest_array(name, as_array(name, x), grid)
    scalar = not isinstance(rounded, np.ndarray) or rounded.ndim == 0
    if clamp:
        rounded = max(-LARGEST, min(int(rounded), LARGEST)) if scalar else _clamped(rounded)
    elif np.max(rounded, initial=0) > LARGEST or np.min(rounded, initial=0) < -LARGEST:
        raise BadData(name, "a larger one", "within +-2^60 steps of the grid")
    return int(rounded) if scalar else rounded.astype(np.int64, copy=False)


def _clamped(x: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(np.clip(x, 0 if x.dtype == np.uint64 else -LARGEST, LARGEST))


def _nearest(name: str, x: float, grid: float) -> int:
    if not math.isfinite(x):
        raise BadData(name, "one that is not", "finite")
    scaled = max(-_WIDEST, min(x / grid, _WIDEST))
    below = math.floor(scaled)
    return below + (scaled - below >= 0.5)


def _nearest_array(name: str, x: NDArray[Any], grid: Fraction | None) -> NDArray[Any]:
    """floor(x / grid + 1/2): neither dividing by a power of two nor taking the fraction part of a float rounds."""
    if x.size == 0 or x.dtype.kind in "iu":
        return _nearest_integers(x, grid or Fraction(1))
    if grid is None or x.dtype.kind != "f" or x.dtype.itemsize > 8:
        allowed = "integers; for reals give the mechanism a grid" if grid is None else "integers, or floats of 64 bits"
        raise BadData(name, held(x), allowed)
    if not np.isfinite(x).all():
        raise BadData(name, "one that is not", "finite")
    with np.errstate(over="ignore"):
        scaled = np.clip(x.astype(np.float64) / float(grid), -_WIDEST, _WIDEST)
    below = np.floor(scaled)
    return np.asarray(below + (scaled - below >= 0.5))


def _nearest_integers(x: NDArray[Any], grid: Fraction) -> NDArray[Any]:
    """The same for integers, in their own width; what overflows after all lies beyond the range either way."""
    wide = x if x.dtype == np.uint64 else x.astype(np.int64)
    if grid > 1 << 61:
        exact = [math.floor(v / grid + Fraction(1, 2)) for v in wide.ravel().tolist()]
        return np.array(exact, np.int64).reshape(x.shape)
    if grid > 1:
        g = wide.dtype.type(int(grid))
        quotient = wide // g
        return np.asarray(quotient + (wide - quotient * g >= g // 2).astype(wide.dtype))
    if grid == 1:
        return wide
    most = LARGEST // min(int(1 / grid), LARGEST + 1)
    wide = np.clip(wide, 0 if wide.dtype == np.uint64 else -most - 1, most + 1).astype(np.int64)
    inside = np.where(np.abs(wide) <= most, wide, 0) * np.int64(min(int(1 / grid), LARGEST))
    return np.where(np.abs(wide) <= most, inside, np.sign(wide) * (LARGEST + 1))
