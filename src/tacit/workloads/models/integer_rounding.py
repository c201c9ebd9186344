"""Whole numbers in place of weights, so that the sums of many tables are kept.

The weights are rounded by systematic sampling.  Then rows of one point are given up for rows of another, pair by pair,
wherever this brings the sums nearer to those of the weights, in squares: adding a row in cells whose sums exceed by e_m
changes the sum of squares by sum_m (2 e_m + 1), and taking one away by sum_m (1 - 2 e_m).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.randomness import Source
from ..queries.data import Floats, Integers
from ..queries.domain import Axes, Domain
from .model import rounded
from .raking import cells

_EXCHANGES, _MOST, _LOOKS = 1024, 256, 1e8  # at most; points among which each is sought, and what all may take


def whole_numbers(
    domain: Domain, points: Integers, sets: Sequence[Axes], weights: Floats, *, n: int, source: Source
) -> Integers:
    """How many of n rows each point has, in proportion to the weights; points that are alike stand together."""
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
    width = int(np.clip(_LOOKS / (_EXCHANGES * len(sets)), 2, _MOST))
    stride = -(-len(points) // width)
    for start in range(_EXCHANGES):
        block = slice(start % stride, None, stride)
        found = np.zeros((len(wide[block]), len(sets)), np.int64)
        for axes in places:
            found = found * sizes[axes] + wide[block][:, axes]
        found += starts
        held, slope = counts[block], excess[found].sum(axis=1)
        more, less = int(slope.argmin()), int(np.where(held > 0, slope, -np.inf).argmax())
        apart = np.count_nonzero(found[more] != found[less])
        if held[less] > 0 and slope[more] - slope[less] + apart < 0:  # half of what the sum of squares grows by
            for point, row in ((more, 1), (less, -1)):
                excess[found[point]] += row
                held[point] += row
    return counts
