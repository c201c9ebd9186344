r"""What to measure so that a workload W is answered best: a public strategy, chosen before any data are seen.

Least squares answers W from noisy answers of a strategy A with a total variance of tr((A'A)^-1 W'W) noises, and the
noise grows with the largest column of A.  The search is among A = [1; Theta] / s: the cells and p sums of them, Theta
not negative, divided by the norms s of their columns (l1 for Laplace noise, l2 for Gaussian), which makes all columns
alike.  With B = (1 + Theta'Theta)^-1 the total is sum_ij B_ij s_i s_j (W'W)_ij, and its slope is known.

Cells on which all queries agree are one cell here.  What the search finds is rounded to steps of 2^-20 and is then a
workload like any other: its exact distance prices the noise, its exact coefficients say the errors, and the search need
not be trusted in either.

References.  Li, Hay, Rastogi, Miklau, McGregor, PODS 2010; McKenna, Miklau, Hay, Machanavajjhala, VLDB 2018, section 5.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ...models.error_bounds import Spread
from ...models.tree_design import line, places
from ...price import Noise
from ...queries.data import Floats, Integers
from ...queries.matrix import Matrix
from ...queries.ranges import Ranges
from ...queries.workload import STEP, Workload
from ._lbfgs import least

CELLS = 512  # of a domain
_ENTRIES, _LINE = 1 << 23, 1 << 27  # queries x cells, of any and of ranges of one attribute
_BLOCK = 1 << 18  # coefficients that are looked at together
_PIECE = 1 << 18  # multiplications
_STEPS = 150
_LARGEST = 100.0  # entry of Theta, so that rounding hides no cell
_CELLS_A_SUM, _SUMS = 16, 32


def searchable(workload: Workload) -> bool:
    """Whether there are few enough cells and queries for a search."""
    size = workload.domain.size
    return size <= CELLS and size * workload.queries <= (_LINE if line(workload) is not None else _ENTRIES)


class Strategy:
    """Queries that are measured in place of the workload: `rows` on cells that are not alike, on this grid."""

    def __init__(self, workload: Workload, rows: Floats, grid: Fraction) -> None:
        found = _reduced(workload)
        self.queries = Matrix(workload.domain, sparse.csr_array(rows[:, found.group]), grid)
        self.total = float((np.linalg.inv(rows.T @ rows) * found.gram).sum())  # in variances of one noise
        self._workload, self._rows = workload, rows

    def spread(self, noise: Noise) -> Spread:
        """The errors of the workload, if each measured query has this noise."""
        return Spread.of(noise, *self._sums)

    @cached_property
    def _sums(self) -> tuple[Floats, Floats, Floats]:
        """Of the coefficients that make each answer: the sum of squares, the largest, how many equal ones they are."""
        onto = np.linalg.solve(self._rows.T @ self._rows, self._rows.T)  # cells that fit noisy answers best
        each = []
        for block in _coefficients(self._workload, np.asarray(onto, float)):
            sizes = np.abs(block)
            each.append((np.einsum("ij,ij->i", block, block), sizes.max(axis=1), sizes.sum(axis=1)))
        squares, largest, sums = (np.concatenate(found) for found in zip(*each, strict=True))
        return squares, largest, np.divide(sums**2, squares, out=np.ones_like(sums), where=squares > 0)


@lru_cache(maxsize=8)
def strategies(workload: Workload, pure: bool) -> tuple[Strategy, Strategy]:
    """The cells alone, and the best that is found for Laplace noise or for Gaussian."""
    gram = _reduced(workload).gram
    cells, theta = np.eye(len(gram)), _search(gram.tobytes(), pure)
    steps = np.round(np.vstack([cells, theta]) / _norms(theta, pure) / float(STEP))
    return Strategy(workload, cells, Fraction(1)), Strategy(workload, steps[steps.any(axis=1)] * float(STEP), STEP)


class Reduced(NamedTuple):
    """W'W by weight on the first of all cells that are alike, which are `kept`; `group` is each cell's place there."""

    gram: Floats
    kept: Integers
    group: Integers
    rows: Floats | None  # of W on those cells, unless it is ranges of one attribute


@lru_cache(maxsize=2)
def _reduced(workload: Workload) -> Reduced:
    weights, rows = workload.weights / workload.weights.max(), None
    ranges = line(workload)
    if ranges is not None:
        counts, gram = (_nested(ranges, by) for by in (np.ones(workload.queries), weights))
        squares = np.diag(counts)
        first = (squares[:, None] + squares - 2 * counts == 0).argmax(axis=1)  # exactly, as these are whole numbers
    else:
        rows = np.asarray(workload.matrix().toarray(), float)
        gram, seen = rows.T @ (rows * weights[:, None]), dict[bytes, int]()
        first = np.array([seen.setdefault(column.tobytes(), cell) for cell, column in enumerate(rows.T)])
    kept, group = np.unique(first, return_inverse=True)
    return Reduced(gram[np.ix_(kept, kept)], kept, group, None if rows is None else rows[:, kept])


def _nested(ranges: Ranges, weights: Floats) -> Floats:
    """W'W of ranges: for each two cells the weight of all that begin before both and end after both."""
    values = ranges.domain.shape[ranges.axes[0]]
    sums, at = np.zeros((values, values)), _values(ranges)
    np.add.at(sums, places(ranges), weights)
    sums = np.cumsum(np.cumsum(sums, axis=0)[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(sums[np.minimum(at, at[:, None]), np.maximum(at, at[:, None])])


def _values(ranges: Ranges) -> Integers:
    """The value of the attribute in each cell of the domain."""
    return np.asarray(np.indices(ranges.domain.shape)[ranges.axes[0]].ravel())


def _coefficients(workload: Workload, onto: Floats) -> Iterator[Floats]:
    """Each query's coefficients in noisy answers, some queries at a time; `onto` has those of the cells."""
    some = max(1, _BLOCK // onto.shape[1])
    found, ranges = _reduced(workload), line(workload)
    if ranges is None:
        assert found.rows is not None
        for at in range(0, workload.queries, some):
            yield found.rows[at : at + some] @ onto
        return
    low, high = places(ranges)
    sums = np.zeros((ranges.domain.shape[ranges.axes[0]] + 1, onto.shape[1]))
    sums[_values(ranges)[found.kept] + 1] = onto
    sums = np.cumsum(sums, axis=0)
    for at in range(0, workload.queries, some):
        yield sums[high[at : at + some] + 1] - sums[low[at : at + some]]


def _norms(theta: Floats, pure: bool) -> Floats:
    """Of the columns of [1; Theta]."""
    return np.asarray(1 + theta.sum(axis=0) if pure else np.sqrt(1 + np.square(theta).sum(axis=0)))


def _product(left: Floats, right: Floats) -> Floats:
    """In pieces too small to be shared among threads, which on a busy machine wait long for one another."""
    pieces = np.array_split(right, -(-left.size * right.shape[1] // _PIECE), axis=1)
    return np.hstack([left @ piece for piece in pieces])


@lru_cache(maxsize=16)
def _search(entries: bytes, pure: bool) -> Floats:
    """Theta, from one start.  Few sums are best under l1; under l2 more are better, as many as there is time for."""
    flat = np.frombuffer(entries)
    m = math.isqrt(flat.size)
    gram: Floats = (flat / (flat.mean() or 1.0)).reshape(m, m)
    p = max(1, m // _CELLS_A_SUM) if pure else min(-(-m // 4), _SUMS)

    def total(root: Floats) -> tuple[float, Floats]:
        theta = root * root
        s = _norms(theta, pure)
        K: Floats = np.asarray(np.linalg.solve(np.eye(p) + _product(theta, theta.T), theta), float)  # B = 1 - Theta'K
        KG = _product(K * s, gram)
        KM, own = KG * s, np.diag(gram) * s  # M = s_i s_j (W'W)_ij
        longer = own - (theta * KG).sum(axis=0)
        slope = longer * (1 if pure else theta / s) - KM + _product(_product(KM, theta.T), K)
        return float(own @ s - (theta * KM).sum()) / m, 4 * root * slope / m

    k = np.arange(1.0, p * m + 1)
    start = np.sqrt(k * k * 0.6180339887498949 % 1)  # all over [0, 1], no two rows alike
    return np.minimum(np.square(least(total, start.reshape(p, m), _STEPS)), _LARGEST)
