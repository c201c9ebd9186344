r"""Counts of a tree that are not negative, from the root down.

The root is cut off at 0.  Below each node of count h its children are moved to the nearest counts that are not negative
and add up to h, distances being weighed by 1 / V_v: by Lagrange c_v = max(0, z_v - l V_v) for the one l that makes the
sum right, found among the children in falling order of z_v / V_v.  Empty parts of the domain are seen to be empty high
up, where the counts are surest.  Post-processing, so free; no bound on its errors is proved, though they are mostly
lower.

References.  Abowd et al., Harvard Data Science Review (2022), for going from the root down; Held, Wolfe, Crowder, Math.
Programming 6 (1974), for the projection.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..queries.data import Floats
from .tree import Tree


def top_down(tree: Tree, noisy: Sequence[Floats]) -> Floats:
    """The cells, none negative, from the noisy counts of each level."""
    levels = list(zip(tree.upward(noisy), tree.levels, strict=True))
    h = np.maximum(levels[-1][0], 0.0)
    for z, level in levels[-2::-1]:
        V = tree.families(level.each(level.v, level.last_v))
        h = _nearest(tree.families(z), V, h).ravel()[: level.nodes]
    return h


def _nearest(z: Floats, V: Floats, total: Floats) -> Floats:
    """In each row the nearest counts that are not negative and add up to the total; V is 0 where there is no child."""
    ratio = np.divide(z, V, out=np.full_like(z, -np.inf), where=V > 0)
    order, row = np.argsort(-ratio, axis=1), np.arange(len(z))[:, None]
    falling, masses = z[row, order], V[row, order]
    shift = (falling.cumsum(axis=1) - total[:, None]) / masses.cumsum(axis=1)  # l, if only so many stay above 0
    last = np.maximum((falling > shift * masses).sum(axis=1) - 1, 0)[:, None]
    nearest: Floats = np.maximum(z - shift[row, last] * V, 0.0)
    return nearest
