"""Types of Python and NumPy that are stored: mappings, sets, ranges and arrays of numbers."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .codec import canonical
from .errors import Unreadable, Unwritable
from .registry import stored

_NUMBERS = re.compile(r"[<>|][biuf]\d{1,2}", re.ASCII)  # the data types of booleans, integers and floats


def _pairs(value: dict[Any, Any]) -> tuple[Any, ...]:
    return (tuple(value.items()),)


def _dict(items: tuple[tuple[Any, Any], ...]) -> dict[Any, Any]:
    if type(items) is not tuple:
        raise Unreadable("a mapping is written as a list of pairs")
    return dict(items)


def _sorted(value: frozenset[Any]) -> tuple[Any, ...]:
    return (tuple(sorted(value, key=canonical)),)


def _set(items: tuple[Any, ...]) -> frozenset[Any]:
    if type(items) is not tuple:  # a range may stand for any number of them
        raise Unreadable("a set is written as a list")
    return frozenset(items)


def _ends(value: range) -> tuple[int, int, int]:
    return value.start, value.stop, value.step


def _range(start: int, stop: int, step: int) -> range:
    if not type(start) is type(stop) is type(step) is int or not step:
        raise Unreadable("a range is written as three whole numbers")
    return range(start, stop, step)


def _parts(value: NDArray[Any]) -> tuple[str, str, tuple[int, ...]]:
    flat = np.ascontiguousarray(value)
    if not _NUMBERS.fullmatch(flat.dtype.str):
        raise Unwritable(f"an array of {flat.dtype.name} is not stored: only numbers are")
    return base64.b64encode(flat.tobytes()).decode(), flat.dtype.str, value.shape


def _array(data: str, dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
    if not _NUMBERS.fullmatch(dtype):
        raise Unreadable("an array holds numbers alone")
    if type(shape) is not tuple or not all(type(size) is int and size >= 0 for size in shape):
        raise Unreadable("an array has a shape of whole numbers")
    try:
        flat = base64.b64decode(data, validate=True)
    except binascii.Error:
        raise Unreadable("the numbers of an array are not in base 64") from None
    return np.frombuffer(flat, dtype).reshape(shape).copy()


stored("dict", ("items",), members=_pairs, make=_dict)(dict)
stored("set", ("items",), members=_sorted, make=_set)(frozenset)
stored("range", ("start", "stop", "step"), members=_ends, make=_range)(range)
stored("array", ("data", "dtype", "shape"), members=_parts, make=_array)(np.ndarray)
