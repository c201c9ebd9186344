"""A model from noisy answers of a few queries, by least squares.

The estimate of least norm is x = G^+ M' y for noisy answers y = M x0 + z of the queries M, with G = M' M.  A query w in
the row space of M is then answered with error (w G^+ M') z, of squared norm w G^+ w'; of any other nothing is known.
By the inequality of Cauchy and Schwarz no coefficient |w G^+ m_j'| is above sqrt(w G^+ w') times the root of the
largest leverage m_j G^+ m_j', which is at most 1.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from .cells import Cells
from .data import Floats
from .domain import CELLS, Axes
from .model import Model
from .price import Noise
from .spread import Spread
from .workload import Workload

_CELLS, _ENTRIES = 512, 1 << 21  # of a matrix that is taken apart


def solvable(workload: Workload) -> bool:
    """Whether least squares is worth its time."""
    size = workload.domain.size
    return size <= _CELLS and size * workload.queries <= _ENTRIES


@lru_cache(maxsize=8)
def _inverse(workload: Workload) -> tuple[Any, Floats, Floats]:
    """M, G^+ and the projection G^+ G on the row space."""
    rows = workload.matrix()
    gram = (rows.T @ rows).toarray()
    inverse = np.linalg.pinv(gram, rcond=1e-10, hermitian=True)
    return rows, np.asarray(inverse), np.asarray(inverse @ gram)


class Measured(Model):
    """Noisy answers of a workload, each with an independent `noise`."""

    def __init__(self, workload: Workload, noise: Noise, noisy: Floats | None = None) -> None:
        self.workload, self.noise, self.domain = workload, noise, workload.domain
        rows, inverse, _ = _inverse(workload)
        self._cells = Cells(self.domain, inverse @ (rows.T @ (np.zeros(workload.queries) if noisy is None else noisy)))

    def marginal(self, axes: Axes) -> Floats:
        return self._cells.marginal(axes)

    def nonnegative(self) -> Cells:
        return self._cells.nonnegative()

    def spread(self, workload: Workload) -> Spread:
        """The errors of queries; infinite outside the row space."""
        own, inverse, onto = _inverse(self.workload)
        rows = own if workload is self.workload else workload.matrix()
        outside = np.abs(rows @ onto - rows).max(axis=1) > 1e-8
        squares = np.where(outside, np.inf, _quadratic(rows, inverse))
        leverage = min(1.0, float(_quadratic(own, inverse).max()))
        return Spread.of(self.noise, squares, np.sqrt(squares * leverage))

    def reach(self, workload: Workload, beta: float) -> Floats | None:
        if workload is not self.workload and workload.queries * self.domain.size > CELLS:
            return None
        return self.spread(workload).reach(beta)


def _quadratic(rows: Any, inverse: Floats) -> Floats:
    """w G^+ w' for each row w."""
    return np.asarray((rows * (rows @ inverse)).sum(axis=1)).ravel()
