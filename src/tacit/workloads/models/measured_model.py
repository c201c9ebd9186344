"""A model from noisy answers of a few queries, by least squares.

Let M = U S W' be the queries, with singular values S.  The estimate of least norm is x = W S^-1 U' y for noisy answers
y = M x0 + z; the measured queries themselves are answered by U U' y, which has no small number in it.  A query w in the
row space of M has the error (a U') z with a = w W S^-1, of squared norm |a|^2; of any other nothing is known.  By the
inequality of Cauchy and Schwarz no coefficient is above |a| times the root of the largest leverage |u_j|^2, which is at
most 1.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ...storage import stored
from ..price import Noise
from ..queries.data import Floats
from ..queries.domain import CELLS, Axes
from ..queries.workload import Workload
from .cell_model import Cells
from .error_bounds import Spread
from .model import Model

_CELLS, _ENTRIES = 512, 1 << 21  # of a matrix that is taken apart
_RANK = 1e-12  # of the largest singular value
_SOME = 128  # queries


def solvable(workload: Workload) -> bool:
    """Whether least squares is worth its time."""
    size = workload.domain.size
    return size <= _CELLS and size * workload.queries <= _ENTRIES


@lru_cache(maxsize=8)
def _singular(workload: Workload) -> tuple[Floats, Floats, Floats]:
    """U, S and W'; coefficients are multiples of 2^-20, so what is less than the cut comes from rounding."""
    left, values, right = np.linalg.svd(workload.matrix().toarray(), full_matrices=False)
    kept = values > _RANK * values[0]
    return left[:, kept], values[kept], right[kept]


def fitted(workload: Workload, noisy: Floats) -> Floats:
    """The noisy answers, made consistent."""
    left, _, _ = _singular(workload)
    return np.asarray(left @ (left.T @ noisy))


def _estimated(workload: Workload, noisy: Floats | None) -> Cells:
    """The estimate of least norm from noisy answers."""
    left, values, right = _singular(workload)
    answers = np.zeros(workload.queries) if noisy is None else noisy
    return Cells(workload.domain, right.T @ ((left.T @ answers) / values))


@stored("MeasuredModel", ("workload", "noise", "cells"))
class Measured(Model):
    """Noisy answers of a workload, each with an independent `noise`."""

    def __init__(
        self, workload: Workload, noise: Noise, noisy: Floats | None = None, *, cells: Cells | None = None
    ) -> None:
        self.workload, self.noise, self.domain = workload, noise, workload.domain
        self.cells = _estimated(workload, noisy) if cells is None else cells

    def marginal(self, axes: Axes) -> Floats:
        return self.cells.marginal(axes)

    def nonnegative(self) -> Cells:
        return self.cells.nonnegative()

    def spread(self, workload: Workload) -> Spread:
        """The errors of queries; infinite outside the row space."""
        left, values, right = _singular(self.workload)
        along, outside = left, np.zeros(len(left), bool)
        if workload is not self.workload:
            rows = workload.matrix()
            onto = rows @ right.T
            along, outside = onto / values, np.abs(onto @ right - rows).max(axis=1) > 1e-8
        squares = np.where(outside, np.inf, np.square(along).sum(axis=1))
        leverage = min(1.0, float(np.square(left).sum(axis=1).max()))
        few = along[:: -(-len(along) // _SOME)]  # that tell how many noises there are in an answer
        norms = float(np.sqrt(np.square(few).sum(axis=1)).sum())
        terms = (float(np.abs(few @ left.T).sum()) / norms) ** 2 if norms else 1.0
        return Spread.of(self.noise, squares, np.sqrt(squares * leverage), terms)

    def reach(self, workload: Workload, beta: float) -> Floats | None:
        if workload is not self.workload and workload.queries * self.domain.size > CELLS:
            return None
        return self.spread(workload).reach(beta)
