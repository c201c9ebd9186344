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

from ...core.randomness import Source
from ...storage import stored
from ..price import Noise
from ..queries.data import Data, Floats
from ..queries.domain import CELLS, Axes
from ..queries.workload import Workload
from .cell_model import Cells
from .error_bounds import Spread
from .model import Model

CONSISTENT = "made consistent by least squares"  # the note of a release that was
_MAX_CELLS, _MAX_ENTRIES = 512, 1 << 21  # of a matrix whose singular values are computed
_MIN_SINGULAR = 1e-12  # of the largest singular value
_SAMPLED = 128  # queries that stand for all


def solvable(workload: Workload) -> bool:
    """Whether the matrix of the queries is small enough for least squares."""
    size = workload.domain.size
    return size <= _MAX_CELLS and size * workload.queries <= _MAX_ENTRIES


@lru_cache(maxsize=8)
def _singular(workload: Workload) -> tuple[Floats, Floats, Floats]:
    """U, S and W'; coefficients are multiples of 2^-20, so smaller singular values come from rounding."""
    left, values, right = np.linalg.svd(workload.matrix().toarray(), full_matrices=False)
    rank = values > _MIN_SINGULAR * values[0]
    return left[:, rank], values[rank], right[rank]


def noisy_answers(workload: Workload, noise: Noise, data: Data, source: Source) -> Floats:
    """The exact answers on private data, with an independent noise on each."""
    exact = workload.exactly(data)
    steps = exact if workload.grid == 1 else exact * float(workload.grid)
    return np.asarray(noise.sample(steps, source), float)


def fitted(workload: Workload, noisy: Floats) -> Floats:
    """The noisy answers of a workload, made consistent."""
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

    def query_errors(self, workload: Workload) -> Spread:
        """The errors of any queries; infinite outside the row space of those that were measured."""
        left, values, right = _singular(self.workload)
        along, outside = left, np.zeros(len(left), bool)
        if workload is not self.workload:
            rows = workload.matrix()
            onto = rows @ right.T
            along, outside = onto / values, np.abs(onto @ right - rows).max(axis=1) > 1e-8
        squares = np.where(outside, np.inf, np.square(along).sum(axis=1))
        leverage = min(1.0, float(np.square(left).sum(axis=1).max()))
        few = along[:: -(-len(along) // _SAMPLED)]  # which show how many noises there are in an answer
        norms = float(np.sqrt(np.square(few).sum(axis=1)).sum())
        terms = (float(np.abs(few @ left.T).sum()) / norms) ** 2 if norms else 1.0
        return Spread.of(self.noise, squares, np.sqrt(squares * leverage), terms)

    def error_bounds(self, workload: Workload, beta: float) -> Floats | None:
        if workload is not self.workload and workload.queries * self.domain.size > CELLS:
            return None
        return self.query_errors(workload).bounds(beta)
