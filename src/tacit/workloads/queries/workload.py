"""A workload: many linear queries, represented by their structure and not by a matrix.

A linear query gives each cell of the domain a coefficient in [0, 1] and asks for the sum over the records.  Answers
are counts; divided by a public n they are the normalised queries of the textbooks.  Coefficients that are not 0 or 1
are multiples of 2^-20 (others are rounded to them, publicly), so every answer is a whole number of steps.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ...core.distance import Distance, Substitute
from ...core.errors import BadData, BadParameter
from ...core.parameters import instances, reals, whole
from ...core.progress import with_progress
from ...storage import stored
from .data import EXACT, Counts, Data, Floats, Integers, arrayed
from .domain import CELLS, Axes, Domain, counted

STEP = Fraction(1, 1 << 20)  # of coefficients that are not 0 or 1
# Axes; queries; and by query and axis: mean of the factor, then sum of squares and largest entry of the factor less it.
Products = tuple[Axes, Integers, tuple[Floats, Floats, Floats]]
_MAX_WEIGHT = 1e100  # so that products and sums of weights are floats, too


class Workload(ABC):
    """Linear queries on one domain."""

    domain: Domain
    queries: int
    grid: Fraction = Fraction(1)
    given_weights: Floats | None = None
    part_weights: Floats = np.ones(1)  # how much each part matters, beside the weights that it has itself

    def answer(self, counts: Counts) -> Floats:
        """The answer of each query, in counts; on a private table whole steps of `grid`."""
        if not hasattr(counts, "marginal"):
            raise BadData("counts", type(counts).__name__, "a table or a model, as Histogram(domain, counts)")
        return self._answer(counts)

    @abstractmethod
    def _answer(self, counts: Counts) -> Floats: ...

    def exactly(self, data: Data) -> Integers:
        """The answers on a private table in steps of `grid`, each cut at the largest integer that is exact in floats.

        No coefficient is negative, so no sum below the cut was ever rounded, and none above fell below it.  Cutting
        moves no two tables farther apart.  Fractions are cut only where there are 2^33 records or more.
        """
        return np.minimum(np.round(self.answer(data) / float(self.grid)), EXACT).astype(np.int64)

    @property
    @abstractmethod
    def row(self) -> Distance[Any]:
        """How one record can move the vector of all answers."""

    @abstractmethod
    def squares(self, axes: Axes | None = None) -> Floats:
        """The sum of the squared coefficients of each query, over all cells, or those of axes that hold its span."""

    def vector(self, query: int) -> Floats:
        """The coefficients of one query on all cells, in row-major order."""
        return self._vector(self._place(query))

    @abstractmethod
    def _vector(self, query: int) -> Floats: ...

    @property
    @abstractmethod
    def tables(self) -> tuple[Axes, ...]:
        """The marginals that suffice to answer every query."""

    @cached_property
    def widest(self) -> int:
        """The number of cells of the largest of these marginals."""
        return max(map(self.domain.cells, self.tables), default=1)

    @property
    def span(self) -> Axes:
        """The axes that some query looks at."""
        return tuple(sorted({axis for axes in self.tables for axis in axes}))

    def label(self, query: int) -> str:
        """What a query counts, in words."""
        return self._label(self._place(query))

    @abstractmethod
    def _label(self, query: int) -> str: ...

    def _place(self, query: int) -> int:
        if whole("query", query, at_least=0) >= self.queries:
            raise BadParameter("query", query, f"below the number of queries, {self.queries}")
        return query

    @property
    def parts(self) -> tuple[Workload, ...]:
        """The workloads of which this is the union, in order."""
        return (self,)

    @property
    def marginal_axes(self) -> Axes | None:
        """The axes of the marginal whose cells are the queries, in order; None if the queries are anything else."""
        return None

    def intervals(self, axis: int) -> tuple[Integers, Integers] | None:
        """The first and last value of each query, if all queries are ranges of this one attribute; else None."""
        return None

    def axis_factors(self, query: int) -> Mapping[int, Floats] | None:
        """The coefficients of a query on each axis of which it is the product; None if it is no product."""
        return None

    def products(self) -> Iterator[Products] | None:
        """The queries grouped by the axes on which they are products, with moments of their factors; else None."""
        return None

    @cached_property
    def weights(self) -> Floats:
        """How much each query matters."""
        return np.ones(self.queries) if self.given_weights is None else self.given_weights

    @property
    def seconds(self) -> float:
        """The approximate time to answer all queries from the tables, and to bound their errors."""
        return 1.5e-7 * self.queries

    def distance(self, unit: Distance[Any]) -> Distance[Any]:
        """How one unit that moves the histogram by `unit` moves the vector of all answers.

        Records that come add up, as do those that go; coefficients are not negative, so the two never add up in a norm:
        |Ap - Aq|^2 <= |Ap|^2 + |Aq|^2.  Under substitution half of l1 comes and half goes.
        """
        return replace(_moved(self.row, unit, self.queries), relation=unit.relation)  # with as many units

    def matrix(self) -> Any:
        """The coefficients as a matrix, for methods that need one; only where it is small."""
        if self.domain.size * self.queries > CELLS:
            raise BadParameter("queries x cells", self.domain.size * self.queries, f"at most {CELLS} for a matrix")
        return sparse.csr_array(np.stack([self.vector(i) for i in range(self.queries)]))

    def mean(self, values: Floats) -> float:
        """The mean over the queries, by weight."""
        return float(np.average(values, weights=self.weights))

    def __add__(self, other: Workload) -> Stack:
        return Stack((self, other))

    def __radd__(self, other: Any) -> Workload:
        return self if other == 0 else Stack((other, self))  # `sum` begins with 0

    def __len__(self) -> int:
        return self.queries

    def __repr__(self) -> str:
        asked, cells = counted(self.queries, "query", "queries"), " x ".join(map(str, self.domain.shape))
        return f"{type(self).__name__}({asked} on {cells} cells)"


@stored("Stack", {"parts": "parts", "weights": "part_weights"})
class Stack(Workload):
    """Several workloads on one domain, one after the other; `weights` gives one number to each of them.

    Its parts are no stacks: a stack among the parts is replaced by its own parts, with their weights multiplied.
    """

    def __init__(self, parts: Sequence[Workload], weights: ArrayLike | None = None) -> None:
        given = instances("workloads", parts, Workload)
        if not given or any(part.domain != given[0].domain for part in given):
            raise BadParameter("workloads", f"{len(given)} of them", "one or more workloads, all on the same domain")
        each = zip(importance(weights, len(given)), given, strict=True)
        self.part_weights = np.concatenate([weight * part.part_weights for weight, part in each])
        self._parts, self.domain = tuple(leaf for part in given for leaf in part.parts), given[0].domain
        self.queries = sum(part.queries for part in given)
        self.grid = min(part.grid for part in given)

    @property
    def parts(self) -> tuple[Workload, ...]:
        return self._parts

    def intervals(self, axis: int) -> tuple[Integers, Integers] | None:
        ends = [part.intervals(axis) for part in self.parts]
        if any(each is None for each in ends):
            return None
        low, high = (np.concatenate(each) for each in zip(*(each for each in ends if each is not None), strict=True))
        return low, high

    @cached_property
    def weights(self) -> Floats:
        return np.concatenate([w * part.weights for w, part in zip(self.part_weights, self.parts, strict=True)])

    @property
    def seconds(self) -> float:
        return sum(part.seconds for part in self.parts)

    @cached_property
    def starts(self) -> list[int]:
        """Where the queries of each part begin, and where the last ones end."""
        return [0, *np.cumsum([part.queries for part in self.parts]).tolist()]

    def _answer(self, counts: Counts) -> Floats:
        return np.concatenate([part.answer(counts) for part in with_progress("answering", self.parts, len(self.parts))])

    @cached_property
    def row(self) -> Distance[Any]:
        rows = [part.row for part in self.parts]
        total = rows[0]
        for row in rows[1:]:
            total = total + row
        return replace(total, l0=None if total.l0 is None else min(total.l0, self.queries))

    def squares(self, axes: Axes | None = None) -> Floats:
        return np.concatenate([part.squares(axes) for part in self.parts])

    def _vector(self, query: int) -> Floats:
        part = int(np.searchsorted(self.starts, query, side="right")) - 1
        return self.parts[part].vector(query - self.starts[part])

    @property
    def tables(self) -> tuple[Axes, ...]:
        return tuple(dict.fromkeys(axes for part in self.parts for axes in part.tables))

    def _label(self, query: int) -> str:
        part = int(np.searchsorted(self.starts, query, side="right")) - 1
        return self.parts[part].label(query - self.starts[part])


@lru_cache(maxsize=256)
def _moved(row: Distance[Any], unit: Distance[Any], queries: int) -> Distance[Any]:
    both = isinstance(unit.relation, Substitute)
    side = unit.l1 / 2 if both else unit.l1
    l1, linf = unit.l1 * row.l1, min(side * row.linf, unit.l1 * row.l1)
    l0 = None if row.l0 is None else min(queries, math.ceil(unit.l1) * row.l0)
    l2_squared = min((2 if both else 1) * side**2 * row.l2_squared, l1 * linf)
    if l0 is not None:
        l1 = min(l1, l0 * linf)
    return Distance(l1, min(l2_squared, l1 * linf), linf, l0, unit.relation)


def largest(norms: Sequence[Integers], top: int, queries: int, grid: Fraction) -> Distance[Any]:
    """The distance of one record, from the l0, l1 and squared l2 of each column and the largest entry `top`, in steps.

    Where the sum of squares might not fit 64 bits, it is bounded by the sum times the largest.
    """
    l0, l1, l2 = (int(norm.max()) for norm in norms)
    square = l2 if queries * top**2 < 1 << 63 else l1 * top
    return Distance(l1 * grid, square * grid**2, top * grid, l0)


def indicator(size: int, low: int, high: int) -> Floats:
    """The coefficients of a range of values: 1 from `low` to `high`, else 0."""
    vector = np.zeros(size)
    vector[low : high + 1] = 1
    return vector


def importance(weights: ArrayLike | None, count: int) -> Floats:
    """Weights that are positive, or equal ones."""
    if weights is None:
        return np.ones(count)
    array = reals("weights", weights)
    if array.shape != (count,) or not ((array >= 1 / _MAX_WEIGHT) & (array <= _MAX_WEIGHT)).all():
        raise BadParameter("weights", f"shape {array.shape}", f"{count} positive numbers, from 1e-100 to 1e100")
    return array


def coefficients(name: str, values: ArrayLike, shape: tuple[int, ...]) -> tuple[Floats, Fraction]:
    """Coefficients in [0, 1] in steps of 2^-20, and the grid they lie on."""
    if np.iscomplexobj(arrayed(values)):
        raise BadParameter(name, "complex numbers", "between 0 and 1")
    array = reals(name, values)
    if array.shape != shape:
        raise BadParameter(name, f"shape {array.shape}", f"of shape {shape}, as the domain is")
    if array.size and not (array.min() >= 0 and array.max() <= 1):
        raise BadParameter(name, f"{array.min():g} to {array.max():g}", "between 0 and 1")
    if ((array == 0) | (array == 1)).all():
        return array, Fraction(1)
    return np.round(array / float(STEP)) * float(STEP), STEP
