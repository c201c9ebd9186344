r"""Iterative proportional fitting: a table of all cells, none negative, that has given marginals.

Each marginal in turn scales the cells to its own sums, which is the nearest table of those sums in relative entropy.
If some table has them all, this converges to the one of largest entropy; and if none has, as noise would have it, it
goes round within what they disagree by.

References.  Deming and Stephan, Ann. Math. Statist. 11 (1940); Csiszar, Ann. Probab. 3 (1975), for its limit.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from ._layout import scale, summed
from .data import Floats
from .domain import Axes, Domain

_CELLS, _MOST = 1 << 20, 2e9  # of a table that is fitted, and of all marginals' looks at it
_WORK = 4e9  # cells that are looked at, if more than once
_SWEEPS = 100
_CLOSE = 1e-4  # of all records, when nothing more is gained that rows would show
_LEAST = 1e-9  # of all records in a cell: what noise has taken away is not impossible


def fits(domain: Domain, sets: Collection[Axes]) -> bool:
    """Whether a table of all cells can be fitted in a few seconds."""
    return domain.size <= _CELLS and domain.size * len(sets) <= _MOST


def proportional(domain: Domain, tables: Mapping[Axes, Floats]) -> Floats:
    """Shares of all cells that have the marginals of these tables, none of which is negative."""
    largest = [axes for axes in tables if not any(set(axes) < set(other) for other in tables)]
    shares = [(axes, _share(tables[axes])) for axes in largest]
    cells = np.full(domain.shape, 1 / domain.size)
    sweeps = int(_WORK / (domain.size * len(shares)))
    for _ in range(min(max(sweeps, 1), _SWEEPS)):
        gap = 0.0
        for axes, share in shares:
            sums = summed(cells, axes)
            gap = max(gap, float(np.abs(sums - share).sum()))
            scale(cells, axes, np.divide(share, sums, out=np.zeros_like(sums), where=sums > 0))
        if gap < _CLOSE:
            break
    return cells


def _share(table: Floats) -> Floats:
    total = table.sum()
    mixed = table / total + _LEAST if total > 0 else np.ones_like(table)
    return np.asarray(mixed / mixed.sum())
