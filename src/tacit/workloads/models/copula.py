r"""Rows that have many noisy pairs about right, all at once: a Gaussian copula.

Each attribute is a standard normal number, cut into its values where their shares end.  If s is the mean of the number
given the value, a pair with correlation r has
    E[s(x) s(y)] = r v w + terms of higher order in r,      v = E[s(x)^2] and w = E[s(y)^2]      (Mehler's expansion),
so r is read off the noisy table, and the matrix of all r moved to one nearby that some numbers have.  Where many
attributes follow one hidden cause this is nearer than any tree; where values have no order, it is not.

Reference.  Li, Xiong, Jiang, EDBT 2014, for copulas of noisy counts.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, ndtri

from ...core.randomness import Source
from ...mechanisms import project_to_simplex
from ..queries.data import Floats, Integers

if TYPE_CHECKING:
    from .residuals import Residuals

_MOST = 0.98  # of a correlation
_BLOCK = 1 << 13  # rows that are drawn together
_LEAST = 1e-6  # of its eigenvalues, and of the variance of s


def correlated(tables: Residuals, rows: int, source: Source) -> Integers:
    """So many rows of codes, drawn from the copula of the pairs that are known."""
    total, attributes = max(1.0, tables.total), len(tables.domain.shape)
    shares = [project_to_simplex(tables.marginal((axis,)) / total) for axis in tables.domain.all]
    means = [_means(share) for share in shares]
    spread = [float(share @ mean**2) for share, mean in zip(shares, means, strict=True)]
    matrix = np.eye(attributes)
    for a, b in (axes for axes in tables.residuals if len(axes) == 2):
        if min(spread[a], spread[b]) > _LEAST:
            r = means[a] @ tables.marginal((a, b)) @ means[b] / (total * spread[a] * spread[b])
            matrix[a, b] = matrix[b, a] = np.clip(r, -_MOST, _MOST)
    values, vectors = np.linalg.eigh(matrix)
    root = vectors * np.sqrt(np.maximum(values, _LEAST))
    root /= np.linalg.norm(root, axis=1, keepdims=True)
    ends, found = [np.cumsum(share)[:-1] for share in shares], np.empty((rows, attributes), np.int64)
    for start in range(0, rows, _BLOCK):
        some = found[start : start + _BLOCK]
        uniform = ((source.words(some.size) >> np.uint64(11)) + 0.5) / 2.0**53
        places = ndtr(ndtri(uniform.reshape(some.shape)) @ root.T)
        for axis in range(attributes):
            some[:, axis] = np.searchsorted(ends[axis], places[:, axis])
    return found


def _means(share: Floats) -> Floats:
    """The mean of a standard normal number between the ends of each share."""
    ends = ndtri(np.clip(np.concatenate([[0.0], np.cumsum(share)]), 0, 1))
    density = np.exp(-(ends**2) / 2) / math.sqrt(2 * math.pi)  # 0 where an end is infinite
    means: Floats = np.divide(density[:-1] - density[1:], share, out=np.zeros_like(share), where=share > 0)
    return means
