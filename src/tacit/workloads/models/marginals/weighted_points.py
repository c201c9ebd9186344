"""A model that is a table of records, each with a weight; and how weights are rounded to whole numbers of rows.

Integer rounding.  The weights are rounded by systematic sampling.  Then rows of one point are exchanged for rows of
another, pair by pair, wherever this brings the sums over the known tables nearer to those of the weights, in squares:
adding a row in cells whose sums exceed by e_m changes the sum of squares by sum_m (2 e_m + 1), and taking one away by
sum_m (1 - 2 e_m).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....core import samplers
from ....core.randomness import Source
from ...queries.data import Floats, Integers
from ...queries.domain import Axes, Domain
from ..model import Model, rounded
from .raking import cells

_MAX_EXCHANGES = 1024
_MAX_BLOCK = 256  # points among which each exchange is sought
_MAX_WORK = 1e8  # points in tables, all exchanges together


class Points(Model):
    """Weighted records: all marginals agree and no count is negative; `sets` are the marginals known best."""

    def __init__(self, domain: Domain, points: Integers, weights: Floats, sets: Sequence[Axes]) -> None:
        self.domain, self.points, self.weights, self.sets = domain, points, weights, sets

    def marginal(self, axes: Axes) -> Floats:
        shape = self.domain.laid_out(axes)
        if not axes:
            return np.asarray(self.weights.sum())
        place = cells(self.domain, list(self.points.T), axes)
        return np.asarray(np.bincount(place, self.weights, self.domain.cells(axes)), float).reshape(shape)

    def nonnegative(self) -> Points:
        return self

    def synthetic(self, n: int, source: Source) -> Integers:
        counts = whole_numbers(self.domain, self.points, self.sets, self.weights, n=n, source=source)
        return self.points[np.repeat(np.arange(len(self.points)), counts)[samplers.permutation(n, source)]]


def whole_numbers(
    domain: Domain, points: Integers, sets: Sequence[Axes], weights: Floats, *, n: int, source: Source
) -> Integers:
    """Divide n rows among the points in proportion to the weights; equal points must stand next to each other."""
    weights = weights / weights.max()
    weights *= n / weights.sum()
    counts = rounded(weights, n, source)
    columns = [*points.T, np.zeros(len(points), np.int64)]
    gap = counts - weights
    excess = np.concatenate([np.bincount(cells(domain, columns, a), gap, domain.cells(a)) for a in sets])
    starts = np.cumsum([0, *(domain.cells(axes) for axes in sets)])[:-1]
    longest = max(map(len, sets))
    places = np.array([(*axes, *[-1] * (longest - len(axes))) for axes in sets]).T  # -1 is the column of zeros
    sizes = np.array([*domain.shape, 1])
    wide = np.stack(columns, axis=1)
    width = int(np.clip(_MAX_WORK / (_MAX_EXCHANGES * len(sets)), 2, _MAX_BLOCK))
    stride = -(-len(points) // width)
    for start in range(_MAX_EXCHANGES):
        block = slice(start % stride, None, stride)
        cell = np.zeros((len(wide[block]), len(sets)), np.int64)
        for axes in places:
            cell = cell * sizes[axes] + wide[block][:, axes]
        cell += starts
        rows, slope = counts[block], excess[cell].sum(axis=1)
        more, less = int(slope.argmin()), int(np.where(rows > 0, slope, -np.inf).argmax())
        apart = np.count_nonzero(cell[more] != cell[less])
        if rows[less] > 0 and slope[more] - slope[less] + apart < 0:  # half of what the sum of squares grows by
            for point, row in ((more, 1), (less, -1)):
                excess[cell[point]] += row
                rows[point] += row
    return counts
