"""Reals on a public grid.

A grid is a power of two.  A real x becomes the integer nearest to x / grid, ties up, exactly; noise is added to
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

GridValue = int | float | NDArray[Any]
MAX_STEPS = 1 << 60  # of a value to which noise is added, in absolute value
_MAX_SCALED = 2.0**61
_TYPE_NAMES = {"b": "booleans", "f": "floats", "c": "complex numbers", "M": "dates", "U": "text", "S": "bytes"}


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
        raise _not_whole(d.l1, "data")
    return d


def max_move_in_steps(d: Distance[Any], grid: Fraction | None, what: str) -> int:
    """How far one number may move once it is rounded, in steps of the grid; `what` names the numbers in errors."""
    if grid is None and d.linf.denominator != 1:
        raise _not_whole(d.linf, what)
    if grid is not None and d.l0 is None:
        raise BadParameter(
            "distance",
            d,
            "one that says how many coordinates move (l0), to be put on a grid",
            says="On a grid, the distance must say how many coordinates move. Pass l0 to the distance.",
        )
    return math.ceil(d.linf / (grid or 1))


def _not_whole(moves: Fraction, what: str) -> BadParameter:
    return BadParameter(
        "distance",
        moves,
        f"whole for integer {what}; for reals give the mechanism a grid",
        says=f"A distance of {moves} is not whole, and integer {what} move by whole numbers. For reals, give the"
        " mechanism a grid, such as 2**-10.",
    )


def as_array(name: str, x: object) -> NDArray[Any]:
    """Private values as an array, of the dtype that NumPy gives them."""
    if isinstance(x, np.ma.MaskedArray):
        raise BadData(name, "a masked array", "an array without masked values")
    try:
        return np.asarray(x)
    except (ValueError, TypeError, OverflowError):  # rows of unequal length; the text could show a value
        raise BadData(name, type(x).__name__, "numbers, or an array of them") from None


def element_type(x: NDArray[Any]) -> str:
    """The type of the elements of an array, in words; of an object such as a dict, its own type."""
    if x.dtype.kind == "O" and not x.ndim:
        return f"a {type(x.item()).__name__}"
    return (
        "wider floats"
        if x.dtype.kind == "f" and x.dtype.itemsize > 8
        else _TYPE_NAMES.get(x.dtype.kind, "other objects")
    )


def steps(name: str, x: GridValue, grid: Fraction | None, clamp: bool = True) -> int | NDArray[np.int64]:
    """A private value, or an array of them, in steps of the grid; integers are never put through floats.

    Values beyond +-2^60 steps are moved there: no distance grows by that, and no error depends on the data.  In
    selection, where moving all scores alike is free, clamping would change the choice; there such values are refused.
    """
    if type(x) is int:
        rounded: Any = x if grid is None else math.floor(x / grid + Fraction(1, 2))
    elif type(x) is float and grid is not None:
        rounded = _nearest(name, x, float(grid))
    else:
        rounded = _nearest_array(name, as_array(name, x), grid)
    scalar = not isinstance(rounded, np.ndarray) or rounded.ndim == 0
    if clamp:
        rounded = max(-MAX_STEPS, min(int(rounded), MAX_STEPS)) if scalar else _clamped(rounded)
    elif np.max(rounded, initial=0) > MAX_STEPS or np.min(rounded, initial=0) < -MAX_STEPS:
        raise BadData(name, "a larger number", "within +-2^60 steps of the grid")
    return int(rounded) if scalar else rounded.astype(np.int64, copy=False)


def _clamped(x: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(np.clip(x, 0 if x.dtype == np.uint64 else -MAX_STEPS, MAX_STEPS))


def _nearest(name: str, x: float, grid: float) -> int:
    if not math.isfinite(x):
        raise BadData(name, "a number that is not", "finite")
    scaled = max(-_MAX_SCALED, min(x / grid, _MAX_SCALED))
    below = math.floor(scaled)
    return below + (scaled - below >= 0.5)


def _nearest_array(name: str, x: NDArray[Any], grid: Fraction | None) -> NDArray[Any]:
    """floor(x / grid + 1/2): neither dividing by a power of two nor taking the fraction part of a float rounds."""
    if x.size == 0 or x.dtype.kind in "iu":
        return _nearest_integers(x, grid or Fraction(1))
    if grid is None or x.dtype.kind != "f" or x.dtype.itemsize > 8:
        if grid is not None:
            raise BadData(name, element_type(x), "integers, or floats of 64 bits")
        advice = "For reals, give the mechanism a grid, such as 2**-10."
        raise BadData(
            name, element_type(x), "integers", says=f"{name} must be integers, not {element_type(x)}. {advice}"
        )
    if not np.isfinite(x).all():
        raise BadData(name, "a number that is not", "finite")
    with np.errstate(over="ignore"):
        scaled = np.clip(x.astype(np.float64) / float(grid), -_MAX_SCALED, _MAX_SCALED)
    below = np.floor(scaled)
    return np.asarray(below + (scaled - below >= 0.5))


def _nearest_integers(x: NDArray[Any], grid: Fraction) -> NDArray[Any]:
    """floor(x / grid + 1/2) of integers, in their own width; a result that overflows is beyond the range either way."""
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
    most = MAX_STEPS // min(int(1 / grid), MAX_STEPS + 1)
    wide = np.clip(wide, 0 if wide.dtype == np.uint64 else -most - 1, most + 1).astype(np.int64)
    inside = np.where(np.abs(wide) <= most, wide, 0) * np.int64(min(int(1 / grid), MAX_STEPS))
    return np.where(np.abs(wide) <= most, inside, np.sign(wide) * (MAX_STEPS + 1))
