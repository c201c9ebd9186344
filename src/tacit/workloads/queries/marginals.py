"""Marginals: counts for every combination of values of some attributes.

Each record lies in one cell of each marginal, so k marginals move by k in l1 and by k in squared l2, whatever their
number of cells.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...core.distance import Distance
from ...core.errors import BadParameter
from ...core.parameters import exactly_one, instance, whole
from ...storage import stored
from .data import Counts, Floats, Integers
from .domain import Axes, Domain, shown
from .workload import Stack, Workload, indicator

_MAX_MARGINALS = 10**6
_ONE: Distance[Any] = Distance(Fraction(1), Fraction(1), Fraction(1), 1)


@stored("Marginal", ("domain", "axes"))
class Marginal(Workload):
    """All cells of the marginal on some axes."""

    def __init__(self, domain: Domain, axes: Axes) -> None:
        self.domain, self.axes = domain, axes
        self.queries = domain.cells(axes)

    def _answer(self, counts: Counts) -> Floats:
        self.domain.laid_out(self.axes)
        return np.asarray(counts.marginal(self.axes), float).ravel()

    @property
    def row(self) -> Distance[Any]:
        return _ONE

    def squares(self, axes: Axes | None = None) -> Floats:
        self.domain.laid_out(self.axes)
        return np.full(self.queries, float(self.domain.cells(axes) // self.queries))

    def _vector(self, query: int) -> Floats:
        self.domain.laid_out(self.domain.all)
        cell = np.unravel_index(query, tuple(self.domain.shape[a] for a in self.axes))
        one = np.zeros(self.domain.shape)
        where = dict(zip(self.axes, cell, strict=True))
        one[tuple(where.get(axis, slice(None)) for axis in self.domain.all)] = 1
        return one.ravel()

    @property
    def tables(self) -> tuple[Axes, ...]:
        return (self.axes,)

    @property
    def marginal_axes(self) -> Axes:
        return self.axes

    def intervals(self, axis: int) -> tuple[Integers, Integers] | None:
        if self.axes not in ((), (axis,)):
            return None
        low = np.arange(self.queries)
        return low, low if self.axes else low + self.domain.shape[axis] - 1  # a total is the range of all values

    def axis_factors(self, query: int) -> dict[int, Floats]:
        sizes = [self.domain.shape[axis] for axis in self.axes]
        cell = np.unravel_index(query, sizes) if self.axes else ()
        return {axis: indicator(size, int(v), int(v)) for axis, size, v in zip(self.axes, sizes, cell, strict=True)}

    def copied(self, domain: Domain) -> Workload:
        """These queries on an equal domain, checked anew."""
        return Marginals(domain, [self.axes]).parts[0]

    def _label(self, query: int) -> str:
        cell = np.unravel_index(query, tuple(self.domain.shape[a] for a in self.axes))
        values = (
            f"{self.domain.names[a]} = {self.domain.attributes[a][1][int(i)]}"
            for a, i in zip(self.axes, cell, strict=True)
        )
        return " and ".join(values) or "all"


@stored(
    "Marginals",
    {"domain": "domain", "subsets": "subsets", "weights": "part_weights"},
)
class Marginals(Stack):
    """Several marginals; `subsets` are their axes."""

    def __init__(self, domain: Domain, subsets: Iterable[Axes], weights: ArrayLike | None = None) -> None:
        places = set(instance("domain", domain, Domain).all)
        try:
            self.subsets = tuple(map(tuple, subsets))
            sound = all(list(axes) == sorted(places.intersection(axes)) for axes in self.subsets)
        except TypeError:
            sound = False
        if not sound:
            raise BadParameter("subsets", type(subsets).__name__, "lists of axes, ascending; `marginals` takes names")
        super().__init__([Marginal(domain, axes) for axes in self.subsets], weights)

    def copied(self, domain: Domain) -> Marginals:
        """These queries on an equal domain, checked anew."""
        return Marginals(domain, self.subsets, self.part_weights)


def marginals(
    domain: Domain,
    k: int | None = None,
    subsets: Iterable[Iterable[str]] | None = None,
    weights: ArrayLike | None = None,
) -> Marginals:
    """All k-way marginals, or those on the named subsets of attributes, each with its weight."""
    exactly_one(k=k, subsets=subsets)
    instance("domain", domain, Domain)
    if k is not None:
        if whole("k", k, at_least=0) > len(domain.names):
            raise BadParameter("k", k, f"at most the number of attributes, {len(domain.names)}")
        if (ways := math.comb(len(domain.names), k)) > _MAX_MARGINALS:
            raise BadParameter(
                "k", k, f"one of at most {_MAX_MARGINALS} marginals, not {shown(ways)}; name those that matter"
            )
        chosen: list[Axes] = list(combinations(domain.all, k))
    elif subsets is not None:
        try:
            chosen = [domain.axes(names) for names in subsets]
        except TypeError:
            raise BadParameter("subsets", type(subsets).__name__, "a list of lists of attributes") from None
    if not chosen or len(chosen) > _MAX_MARGINALS or len(set(chosen)) < len(chosen):
        raise BadParameter("subsets", f"{len(chosen)} of them", f"different, at least one and at most {_MAX_MARGINALS}")
    return Marginals(domain, chosen, weights)
