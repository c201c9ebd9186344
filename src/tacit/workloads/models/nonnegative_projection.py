r"""Noisy counts of all cells moved to counts that are not negative.

The nearest ones of the same total are what is left above 0 when every cell gives the same (`project_to_simplex`).  That
is right where neighbours have nothing in common.  Where they have, cells near 0 give to those far from it, and sums of
many are worse than before.  Then the table is halved along its longest axis, and halved again; from the top down, the
two halves of a part that has h are moved to the nearest counts that are not negative and add up to h, as in
`top_down.py`: with noisy sums z_1, z_2 of V_1, V_2 cells, z_1 - (z_1 + z_2 - h) V_1 / (V_1 + V_2), from 0 to h.

Which is seen from what the first way moves, d.  If it is noise, sums of d over V cells have squares of V times those of
d itself; if d leans one way in some parts of the table, they are larger.  All this looks at noisy counts only.

Reference.  Abowd et al., Harvard Data Science Review (2022), for going from the top down.
"""

from __future__ import annotations

import numpy as np

from ...mechanisms import project_to_simplex
from ..queries.data import Floats

_LEANS = 1.4  # times the squares of noise, in the mean over all sizes of parts


def nonnegative(table: Floats, total: float) -> Floats:
    """Counts that are not negative and add up to the total, or to 0 if that is negative."""
    if total <= 0:
        return np.zeros_like(table)
    if table.min() >= 0 and (own := float(table.sum())) > 0:
        return table * (total / own)
    nearest = (project_to_simplex(table.ravel() / total) * total).reshape(table.shape)
    moved = nearest - table
    moved /= max(float(np.abs(moved).max()), 1e-300)  # so that no square is too large
    squares = [float(np.mean(sums**2 / cells)) for _, sums, cells in _halved(moved)]
    if not squares or np.mean(squares) <= _LEANS * squares[0]:
        return nearest
    return _top_down(table, total)


def _halved(table: Floats) -> list[tuple[int, Floats, Floats]]:
    """Sums over parts of the table and how many cells they have, and the axis that is halved next."""
    sums, cells, found = table, np.ones_like(table), []
    while sums.size > 1:
        axis = int(np.argmax(sums.shape))
        found.append((axis, sums, cells))
        pairs = np.arange(0, sums.shape[axis], 2)
        sums, cells = (np.add.reduceat(each, pairs, axis=axis) for each in (sums, cells))
    return found


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
