r"""What to measure so that a workload W is answered best: a public strategy, chosen before any data are seen.

Least squares answers W from noisy answers of a strategy A with a total variance of tr((A'A)^-1 W'W) noises, and the
noise grows with the largest column of A.  The search is among A = [1; Theta] / s: the cells and p sums of them, Theta
not negative, divided by the norms s of their columns (l1 for Laplace noise, l2 for Gaussian), which makes all columns
alike.  With B = (1 + Theta'Theta)^-1 the total is sum_ij B_ij s_i s_j (W'W)_ij, and its gradient is known.

Cells on which all queries agree are one cell here.  The result of the search is rounded to steps of 2^-20 and is then a
workload like any other: its exact distance prices the noise, its exact coefficients give the errors, and the search
need not be trusted in either.

References.  Li, Hay, Rastogi, Miklau, McGregor, PODS 2010; McKenna, Miklau, Hay, Machanavajjhala, VLDB 2018, section 5;
Nocedal and Wright (2006), algorithms 7.4 and 3.1, for L-BFGS.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ...models.error_bounds import Spread
from ...models.trees.tree_design import line, places
from ...price import Noise
from ...queries.data import Floats, Integers
from ...queries.matrix import Matrix
from ...queries.ranges import Ranges
from ...queries.workload import STEP, Workload

CELLS = 512  # of a domain, at most
_MAX_ENTRIES, _MAX_LINE_ENTRIES = 1 << 23, 1 << 27  # queries x cells, of any and of ranges of one attribute
_BLOCK = 1 << 18  # coefficients that are looked at together
_MAX_MULTIPLICATIONS = 1 << 18  # in one matrix product
_STEPS = 150
_MAX_THETA = 100.0  # so that rounding hides no cell
_CELLS_A_SUM, _MAX_SUMS = 16, 32
_MEMORY = 10  # pairs of steps and gradients that L-BFGS keeps
_MIN_GAIN = 1e-9  # as a share of the value: there the search ends


def searchable(workload: Workload) -> bool:
    """Whether there are few enough cells and queries for a search."""
    size = workload.domain.size
    return size <= CELLS and size * workload.queries <= (
        _MAX_LINE_ENTRIES if line(workload) is not None else _MAX_ENTRIES
    )


class Strategy:
    """Queries that are measured in place of the workload: `rows` of coefficients on distinct cells, on this grid."""

    def __init__(self, workload: Workload, rows: Floats, grid: Fraction) -> None:
        reduced = _reduced(workload)
        self.queries = Matrix(workload.domain, sparse.csr_array(rows[:, reduced.group]), grid)
        self.total = float((np.linalg.inv(rows.T @ rows) * reduced.gram).sum())  # in variances of one noise
        self._workload, self._rows = workload, rows

    def query_errors(self, noise: Noise) -> Spread:
        """The errors of the workload, if each measured query has this noise."""
        return Spread.of(noise, *self._sums)

    @cached_property
    def _sums(self) -> tuple[Floats, Floats, Floats]:
        """Of the coefficients of each answer: sum of squares, the largest, and how many equal ones they are like."""
        onto = np.linalg.solve(self._rows.T @ self._rows, self._rows.T)  # cells that fit noisy answers best
        each = []
        for block in _coefficients(self._workload, np.asarray(onto, float)):
            sizes = np.abs(block)
            each.append((np.einsum("ij,ij->i", block, block), sizes.max(axis=1), sizes.sum(axis=1)))
        squares, largest, sums = (np.concatenate(column) for column in zip(*each, strict=True))
        return squares, largest, np.divide(sums**2, squares, out=np.ones_like(sums), where=squares > 0)


@lru_cache(maxsize=8)
def strategies(workload: Workload, pure: bool) -> tuple[Strategy, Strategy]:
    """The cells alone, and the best strategy of the search, for Laplace noise or for Gaussian."""
    gram = _reduced(workload).gram
    cells, theta = np.eye(len(gram)), _search(gram.tobytes(), pure)
    steps = np.round(np.vstack([cells, theta]) / _norms(theta, pure) / float(STEP))
    return Strategy(workload, cells, Fraction(1)), Strategy(workload, steps[steps.any(axis=1)] * float(STEP), STEP)


class Reduced(NamedTuple):
    """W'W by weight on one cell of each group of equal cells (`kept`); `group` is each cell's place among these."""

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
    reduced, ranges = _reduced(workload), line(workload)
    if ranges is None:
        assert reduced.rows is not None
        for at in range(0, workload.queries, some):
            yield reduced.rows[at : at + some] @ onto
        return
    low, high = places(ranges)
    sums = np.zeros((ranges.domain.shape[ranges.axes[0]] + 1, onto.shape[1]))
    sums[_values(ranges)[reduced.kept] + 1] = onto
    sums = np.cumsum(sums, axis=0)
    for at in range(0, workload.queries, some):
        yield sums[high[at : at + some] + 1] - sums[low[at : at + some]]


def _norms(theta: Floats, pure: bool) -> Floats:
    """The norms of the columns of [1; Theta]."""
    return np.asarray(1 + theta.sum(axis=0) if pure else np.sqrt(1 + np.square(theta).sum(axis=0)))


def _product(left: Floats, right: Floats) -> Floats:
    """The matrix product, in blocks too small to be shared among threads, which on a busy machine wait long."""
    blocks = np.array_split(right, -(-left.size * right.shape[1] // _MAX_MULTIPLICATIONS), axis=1)
    return np.hstack([left @ block for block in blocks])


@lru_cache(maxsize=16)
def _search(entries: bytes, pure: bool) -> Floats:
    """Theta, from one start.  Few sums are best under l1; under l2 more are better, as many as there is time for."""
    flat = np.frombuffer(entries)
    m = math.isqrt(flat.size)
    gram: Floats = (flat / (flat.mean() or 1.0)).reshape(m, m)
    p = max(1, m // _CELLS_A_SUM) if pure else min(-(-m // 4), _MAX_SUMS)

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
    return np.minimum(np.square(minimum(total, start.reshape(p, m), _STEPS)), _MAX_THETA)


def minimum(function: Callable[[Floats], tuple[float, Floats]], x: Floats, steps: int) -> Floats:
    """About where a smooth function is least, from x by at most so many steps of L-BFGS.

    `function` gives the value and the gradient.  In NumPy's own loops: libraries share such short sums among threads,
    which on a busy machine wait long for one another.
    """
    value, slope = function(x)
    past: deque[tuple[Floats, Floats, float]] = deque(maxlen=_MEMORY)
    for _ in range(steps):
        way = _newton(slope, past)
        fall = _dot(slope, way)
        if not fall < 0:
            return x
        length = 1.0 if past else min(1.0, 1 / _dot(slope, slope) ** 0.5)
        lower, there = function(x + length * way)
        while not lower <= value + 1e-4 * length * fall:  # Armijo
            length /= 2
            if length < 1e-6:
                return x
            lower, there = function(x + length * way)
        moved, turned = length * way, there - slope
        if (bend := _dot(moved, turned)) > 0:
            past.append((moved, turned, bend))
        gain = value - lower
        x, value, slope = x + moved, lower, there
        if gain <= _MIN_GAIN * abs(value):
            return x
    return x


def _newton(slope: Floats, past: deque[tuple[Floats, Floats, float]]) -> Floats:
    """Minus the inverse of the second derivatives, as past steps approximate it, times the slope."""
    way, shares = -slope, []
    for moved, turned, bend in reversed(past):
        shares.append(_dot(moved, way) / bend)
        way = way - shares[-1] * turned
    if past:
        _, turned, bend = past[-1]
        way = way * (bend / _dot(turned, turned))
    for (moved, turned, bend), share in zip(past, reversed(shares), strict=True):
        way = way + (share - _dot(turned, way) / bend) * moved
    return way


def _dot(a: Floats, b: Floats) -> float:
    return float(np.einsum("ij,ij", a, b))
