"""Sums and products over some axes of a table of many, each in about one pass over memory.

The trailing axes are taken together into blocks of a few thousand cells.  The leading axes are then few and their
strides long, so every inner loop runs over a contiguous block, however many axes of two values there are.
"""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .domain import Axes

_BLOCK = 1 << 13  # cells: too many for NumPy to buffer, and few enough for a core's cache
FEW = 1 << 13  # cells that are faster to process at once than in a loop
_MIN_BLOCK, LARGEST = 1 << 9, 1 << 17  # cells of a block where axes are long
_MAX_PLACES = 1 << 8  # on the leading axes, that are processed one by one


def blocks(shape: tuple[int, ...]) -> int:
    """The number of leading axes; the others make up a block."""
    lead, cells = len(shape), 1
    while lead and cells < _BLOCK and (cells < _MIN_BLOCK or cells * shape[lead - 1] <= LARGEST):
        lead -= 1
        cells *= shape[lead]
    return lead


def in_memory(values: NDArray[Any]) -> Axes:
    """The axes from the longest stride to the shortest, which is the order that a contiguous table has in memory."""
    return tuple(sorted(range(values.ndim), key=lambda axis: -values.strides[axis]))


def longest_last(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """A table of ones whose long axes are contiguous: then inner loops are long, whatever the order of the axes."""
    order = sorted(range(len(shape)), key=shape.__getitem__)
    return np.ones([shape[axis] for axis in order]).transpose(np.argsort(order))


def summed(values: NDArray[Any], axes: Axes) -> NDArray[Any]:
    """The table summed over all axes but these."""
    lead = blocks(values.shape)
    outer = tuple(axis for axis in range(lead) if axis not in axes)
    kept = lead - len(outer)
    left = values.reshape(*values.shape[:lead], -1).sum(axis=outer) if outer else values
    left = left.reshape(*left.shape[:kept], *values.shape[lead:])
    inner = tuple(kept + axis - lead for axis in range(lead, values.ndim) if axis not in axes)
    return np.asarray(left.sum(axis=inner)) if inner else np.array(left)


def scale(values: NDArray[np.float64], axes: Axes, factors: NDArray[np.float64]) -> None:
    """Multiply each cell, in place, by the factor of its place on these axes; blocks whose factors are 1 are left."""
    lead = blocks(values.shape)
    across = [axis for axis in axes if axis < lead]
    if math.prod(values.shape[axis] for axis in across) > _MAX_PLACES or len(axes) == values.ndim:
        values *= factors.reshape([size if axis in axes else 1 for axis, size in enumerate(values.shape)])
        return
    block = values.shape[lead:]
    within = [size if lead + i in axes else 1 for i, size in enumerate(block)]
    rows = values.reshape(*values.shape[:lead], math.prod(block))
    for place in product(*(range(values.shape[axis]) for axis in across)):
        pattern = factors[place]
        if (pattern == 1).all():
            continue
        at = dict(zip(across, place, strict=True))
        whole = np.broadcast_to(pattern.reshape(within), block).ravel() if pattern.ndim else pattern
        rows[tuple(at.get(axis, slice(None)) for axis in range(lead))] *= whole
