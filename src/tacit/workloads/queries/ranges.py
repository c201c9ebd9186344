"""Range queries: how many records lie between two values of an attribute, or in a box of several.

A range is a pair of places low <= high among the values, both included.  Answers come from cumulative sums, so a
million ranges cost two reads each and no matrix.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...core.distance import Distance
from ...core.errors import BadParameter
from ...core.parameters import instance
from ...storage import stored
from .data import Counts, Floats, Integers, arrayed
from .domain import CELLS, Axes, Domain
from .workload import Products, Workload, importance, indicator

MAX_RANGES = 10**7  # in one workload


@stored(
    "Ranges",
    {"domain": "domain", "axes": "axes", "low": "low", "high": "high", "weights": "given_weights"},
    optional={"weights": None},
)
class Ranges(Workload):
    """Boxes: query i counts the records with low[i, j] <= value <= high[i, j] on each axis j of `axes`."""

    def __init__(
        self, domain: Domain, axes: Axes, low: Integers, high: Integers, weights: ArrayLike | None = None
    ) -> None:
        sizes = [domain.shape[axis] for axis in axes]
        if low.shape != high.shape or low.ndim != 2 or low.shape[1] != len(axes) or not low.size:
            raise BadParameter("ranges", f"shapes {low.shape} and {high.shape}", f"one or more, in {len(axes)} columns")
        if not ((low >= 0) & (low <= high) & (high < sizes)).all():
            raise BadParameter("ranges", "one that is not", f"0 <= low <= high < {sizes}, within the domain")
        self.domain, self.axes, self.low, self.high = domain, axes, low, high
        self.queries = len(low)
        if weights is not None:
            self.given_weights = importance(weights, self.queries)

    def _answer(self, counts: Counts) -> Floats:
        self.domain.laid_out(self.axes)
        sums = counts.marginal(self.axes)  # whole numbers stay so: corners may add up to more than floats hold
        for axis in range(sums.ndim):
            sums = np.cumsum(sums, axis=axis)
        sums = np.pad(sums, [(1, 0)] * sums.ndim)
        answers = np.zeros(self.queries, sums.dtype)
        for corner in product((0, 1), repeat=sums.ndim):  # inclusion and exclusion
            at = tuple(self.high[:, j] + 1 if up else self.low[:, j] for j, up in enumerate(corner))
            answers += (-1) ** (sums.ndim - sum(corner)) * sums[at]
        return answers.astype(float)

    @cached_property
    def row(self) -> Distance[Any]:
        """The most ranges that hold one record: exactly, unless there are too many cells to look at."""
        depth = self.queries
        sizes = [self.domain.shape[axis] for axis in self.axes]
        if math.prod(size + 1 for size in sizes) <= CELLS // 4:
            steps = np.zeros([size + 1 for size in sizes], np.int64)
            for corner in product((0, 1), repeat=len(sizes)):
                at = tuple(self.high[:, j] + 1 if up else self.low[:, j] for j, up in enumerate(corner))
                np.add.at(steps, at, (-1) ** sum(corner))
            for axis in range(len(sizes)):
                np.cumsum(steps, axis=axis, out=steps)
            depth = int(steps.max())
        return Distance(Fraction(depth), Fraction(depth), Fraction(1), depth)

    def squares(self, axes: Axes | None = None) -> Floats:
        rest = self.domain.cells(axes) // self.domain.cells(self.axes)
        return np.asarray(np.prod(self.high - self.low + 1.0, axis=1) * float(rest))

    def _vector(self, query: int) -> Floats:
        self.domain.laid_out(self.domain.all)
        one = np.zeros(self.domain.shape)
        box = {a: slice(self.low[query, j], self.high[query, j] + 1) for j, a in enumerate(self.axes)}
        one[tuple(box.get(axis, slice(None)) for axis in self.domain.all)] = 1
        return one.ravel()

    @property
    def tables(self) -> tuple[Axes, ...]:
        return (self.axes,)

    def intervals(self, axis: int) -> tuple[Integers, Integers] | None:
        return (self.low[:, 0], self.high[:, 0]) if self.axes == (axis,) else None

    def axis_factors(self, query: int) -> dict[int, Floats]:
        sides = zip(self.axes, self.low[query].tolist(), self.high[query].tolist(), strict=True)
        return {axis: indicator(self.domain.shape[axis], low, high) for axis, low, high in sides}

    def products(self) -> Iterator[Products]:
        n = np.array([self.domain.shape[a] for a in self.axes], float)
        share = (self.high - self.low + 1) / n
        moments = share, share * (1 - share) * n, np.maximum(share, 1 - share)
        yield self.axes, np.arange(self.queries), moments

    def copied(self, domain: Domain) -> Ranges:
        """These queries on an equal domain, checked anew."""
        low, high = (np.array(end, np.int64) for end in (self.low, self.high))
        return Ranges(domain, domain.axes([domain.names[axis] for axis in self.axes]), low, high, self.given_weights)

    def _label(self, query: int) -> str:
        sides = zip(self.axes, self.low[query], self.high[query], strict=True)
        named = ((self.domain.attributes[axis], low, high) for axis, low, high in sides)
        return " and ".join(f"{values[low]} <= {name} <= {values[high]}" for (name, values), low, high in named)


def prefixes(domain: Domain, *names: str, weights: ArrayLike | None = None) -> Ranges:
    """Every range that begins at the first value: cumulative counts."""
    axes = _axes(domain, names)
    if domain.cells(axes) > MAX_RANGES:
        raise BadParameter("prefixes", domain.cells(axes), f"at most {MAX_RANGES}")
    high = np.stack([place.ravel() for place in np.indices(domain.laid_out(axes))], axis=1)
    return Ranges(domain, axes, np.zeros_like(high), high, weights)


def ranges(
    domain: Domain,
    *names: str,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> Ranges:
    """Every range of these attributes (boxes, if several), or those listed by the places of their ends.

    The columns of `low` and `high` are the attributes in the order of the domain.
    """
    axes = _axes(domain, names)
    if (low is None) != (high is None):
        raise BadParameter("low", "one end", "given together with high")
    if low is not None and high is not None:
        return Ranges(domain, axes, _places("low", low, len(axes)), _places("high", high, len(axes)), weights)
    count = math.prod(size * (size + 1) // 2 for size in (domain.shape[axis] for axis in axes))
    if count > MAX_RANGES:
        raise BadParameter("ranges", count, f"at most {MAX_RANGES}; list those that matter with low and high")
    ends = [np.triu_indices(domain.shape[axis]) for axis in axes]
    places = [place.ravel() for place in np.meshgrid(*(np.arange(len(end[0])) for end in ends), indexing="ij")]
    lows, highs = (
        np.stack([end[side][place] for end, place in zip(ends, places, strict=True)], axis=1) for side in (0, 1)
    )
    return Ranges(domain, axes, lows, highs, weights)


def _axes(domain: Domain, names: tuple[str, ...]) -> Axes:
    known = instance("domain", domain, Domain).names
    if not names and len(known) > 1:
        raise BadParameter("attributes", names, f"one or more of {', '.join(known)}")
    return domain.axes(names or known)


def _places(name: str, values: ArrayLike, columns: int) -> Integers:
    array = arrayed(values)
    if array.dtype.kind not in "iu":
        raise BadParameter(name, f"kind {array.dtype.kind!r}", "whole numbers: places among the values")
    return array.astype(np.int64).reshape(-1, columns) if columns == 1 else array.astype(np.int64)
