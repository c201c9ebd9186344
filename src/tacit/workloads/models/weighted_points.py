"""A model that is a table of records, each with a weight."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core import samplers
from ...core.randomness import Source
from ..queries.data import Floats, Integers
from ..queries.domain import Axes, Domain
from .integer_rounding import whole_numbers
from .model import Model
from .raking import cells


class Points(Model):
    """Records that stand for others, so that all marginals agree and no count is negative; `sets` are known best."""

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
