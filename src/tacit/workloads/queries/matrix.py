"""Arbitrary linear queries: a row of coefficients in [0, 1] on all cells for each."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ...core.distance import Distance
from ...core.errors import BadParameter
from ...core.parameters import instance, reals
from ...storage import stored
from .data import Counts, Floats, arrayed
from .domain import CELLS, Axes, Domain
from .workload import Workload, coefficients, importance, largest


def _sparse(data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> Any:
    """A sparse matrix from stored parts, which anybody may have written: places outside of it would be other memory."""
    whole = all(np.asarray(part).dtype.kind in "iu" and np.ndim(part) == 1 for part in (indices, indptr))
    if not whole or np.ndim(data) != 1 or [type(size) for size in shape] != [int, int] or min(shape) < 1:
        raise ValueError("the parts are those of no sparse matrix")
    places = np.asarray(indices, np.int64), np.asarray(indptr, np.int64)
    if places[1].size != shape[0] + 1 or len(places[0]) != len(data) or places[1][0] or places[1][-1] != len(data):
        raise ValueError("the parts do not fit one another")
    if (np.diff(places[1]) < 0).any() or (len(data) and not 0 <= places[0].min() <= places[0].max() < shape[1]):
        raise ValueError("a place is outside of the matrix")
    return sparse.csr_array((data, indices, indptr), shape=shape)


stored("sparse", ("data", "indices", "indptr", "shape"), make=_sparse)(sparse.csr_array)


@stored(
    "MatrixQueries",
    {"domain": "domain", "rows": "rows", "grid": "grid", "weights": "given_weights"},
    optional={"weights": None},
)
class Matrix(Workload):
    """One query for each row of a sparse matrix."""

    def __init__(self, domain: Domain, rows: Any, grid: Fraction, weights: ArrayLike | None = None) -> None:
        self.domain, self.rows, self.grid = domain, rows, grid
        self.queries = int(rows.shape[0])
        if weights is not None:
            self.given_weights = importance(weights, self.queries)

    def _answer(self, counts: Counts) -> Floats:
        return np.asarray(self.rows @ np.asarray(counts.marginal(self.domain.all), float).ravel())

    @cached_property
    def row(self) -> Distance[Any]:
        """The largest column in each norm, exactly, as coefficients are whole steps of the grid."""
        steps = np.round(self.rows.data / float(self.grid)).astype(np.int64)
        l0, l1, l2 = np.zeros((3, self.domain.size), np.int64)
        for sums, entries in ((l0, steps != 0), (l1, steps), (l2, steps * steps)):
            np.add.at(sums, self.rows.indices, entries)
        return largest((l0, l1, l2), int(steps.max(initial=0)), self.queries, self.grid)

    def squares(self, axes: Axes | None = None) -> Floats:
        return np.asarray(self.rows.power(2).sum(axis=1), float).ravel()

    def _vector(self, query: int) -> Floats:
        return np.asarray(self.rows[[query]].toarray(), float).ravel()

    def matrix(self) -> Any:
        return self.rows

    def copied(self, domain: Domain) -> Matrix:
        """These queries on an equal domain, checked anew."""
        return from_matrix(domain, self.matrix(), self.given_weights)

    @property
    def tables(self) -> tuple[Axes, ...]:
        return (self.domain.all,)

    def _label(self, query: int) -> str:
        return f"row {query} of the matrix"


def from_matrix(domain: Domain, matrix: Any, weights: ArrayLike | None = None) -> Matrix:
    """One query for each row of a dense or sparse matrix that has a column for each cell and entries in [0, 1]."""
    if instance("domain", domain, Domain).size > CELLS:
        raise BadParameter("the domain", domain.size, f"of at most {CELLS} cells for a matrix; use predicates")
    if hasattr(matrix, "tocsr"):
        rows: Any = sparse.csr_array(matrix.tocsr())
        rows = rows.astype(complex if np.iscomplexobj(rows) else float)  # complex ones are refused below
        rows.sum_duplicates()
        entries, grid = coefficients("matrix", rows.data, rows.data.shape)
        rows = sparse.csr_array((entries, rows.indices, rows.indptr), rows.shape)
    else:
        given = arrayed(matrix)
        dense = np.atleast_2d(given if np.iscomplexobj(given) else reals("matrix", given))
        if dense.ndim > 2:
            raise BadParameter("matrix", f"shape {dense.shape}", f"of one or more rows and {domain.size} columns")
        entries, grid = coefficients("matrix", dense, dense.shape)
        rows = sparse.csr_array(entries)
    if rows.ndim != 2 or rows.shape[1] != domain.size or not rows.shape[0]:
        raise BadParameter("matrix", f"shape {rows.shape}", f"of one or more rows and {domain.size} columns")
    return Matrix(domain, rows, grid, weights)
