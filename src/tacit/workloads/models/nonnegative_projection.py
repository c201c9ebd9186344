r"""The projection of noisy counts on nonnegative counts, in one of two ways.

The nearest nonnegative counts of the same total are what is left above 0 when every cell gives up the same amount
(`project_to_simplex`).  That is right where neighbours have nothing in common.  Where they have, cells near 0 give to
those far from it, and sums of many cells are worse than before.  Then the table is halved along its longest axis, and
halved again; from the top down, the two halves of a part of count h are moved to the nearest nonnegative counts that
add up to h, as by `top_down` in `trees/tree.py`: with noisy sums z_1, z_2 of V_1, V_2 cells,
z_1 - (z_1 + z_2 - h) V_1 / (V_1 + V_2), clipped to [0, h].

The choice depends on the changes d that the first way makes.  If d is noise, sums of d over V cells have squares of V
times those of d itself; if d has one sign in some parts of the table, they are larger.  All this looks at noisy counts
only.

Reference.  Abowd et al., Harvard Data Science Review (2022), for going from the top down.
"""

from __future__ import annotations

import numpy as np

from ...mechanisms import project_to_simplex
from ..queries.data import Floats

_MAX_RATIO = 1.4  # of mean squares of sums, over all sizes of parts, to those of noise


def nonnegative(table: Floats, total: float) -> Floats:
    """Nonnegative counts that add up to the total, or to 0 if the total is negative."""
    if total <= 0:
        return np.zeros_like(table)
    if table.min() >= 0 and (own := float(table.sum())) > 0:
        return table * (total / own)
    nearest = (project_to_simplex(table.ravel() / total) * total).reshape(table.shape)
    moved = nearest - table
    moved /= max(float(np.abs(moved).max()), 1e-300)  # so that no square is too large
    squares = [float(np.mean(sums**2 / cells)) for _, sums, cells in _halved(moved)]
    if not squares or np.mean(squares) <= _MAX_RATIO * squares[0]:
        return nearest
    return _top_down(table, total)


def _halved(table: Floats) -> list[tuple[int, Floats, Floats]]:
    """From single cells up: the axis along which parts are joined next, the sums of the parts, and their cells."""
    sums, cells, levels = table, np.ones_like(table), []
    while sums.size > 1:
        axis = int(np.argmax(sums.shape))
        levels.append((axis, sums, cells))
        pairs = np.arange(0, sums.shape[axis], 2)
        sums, cells = (np.add.reduceat(each, pairs, axis=axis) for each in (sums, cells))
    return levels


def _top_down(table: Floats, total: float) -> Floats:
    above = np.full((1,) * table.ndim, total)
    for axis, sums, cells in reversed(_halved(table)):
        h, z, V = (np.moveaxis(each, axis, 0) for each in (above, sums, cells))
        pairs = len(z) // 2
        first, second = slice(0, 2 * pairs, 2), slice(1, None, 2)
        missing = (h[:pairs] - z[first] - z[second]) / (V[first] + V[second])
        own = np.empty_like(z)
        own[first] = np.clip(z[first] + missing * V[first], 0, h[:pairs])
        own[second] = h[:pairs] - own[first]
        own[2 * pairs :] = h[pairs:]  # a last one without another
        above = np.moveaxis(own, 0, axis)
    return above
