"""Predicates: queries that are a condition on each of some attributes.

A condition is one value, a set of values, or a coefficient in [0, 1] for each value; a query is their product.  One
with coefficients that are not 0 or 1 has no other condition.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...core.distance import Distance
from ...core.errors import BadParameter
from ...core.parameters import instance
from ...storage import stored
from .data import Counts, Floats, Integers
from .domain import CELLS, Axes, Domain, Label
from .workload import STEP, Products, Workload, coefficients, importance, largest

Condition = Label | Iterable[Label] | ArrayLike
Factors = Mapping[int, Floats]


@stored(
    "Predicates",
    {"domain": "domain", "factors": "factors", "weights": "given_weights"},
    optional={"weights": None},
)
class Predicates(Workload):
    """Products of coefficients, one vector of them for each axis that a query looks at."""

    def __init__(self, domain: Domain, factors: Iterable[Factors], weights: ArrayLike | None = None) -> None:
        self.domain, self.factors = domain, tuple(dict(sorted(f.items())) for f in factors)
        self.queries = len(self.factors)
        if not self.queries:
            raise BadParameter("predicates", "none", "one or more")
        fractions = [f for f in self.factors if not flat(f)]
        if any(len(f) > 1 for f in fractions):
            raise BadParameter(
                "a predicate",
                "fractions times another condition",
                "a product of 0 and 1, or fractions on one attribute",
            )
        self.grid = STEP if fractions else Fraction(1)
        if weights is not None:
            self.given_weights = importance(weights, self.queries)

    @cached_property
    def _groups(self) -> dict[Axes, list[int]]:
        """The queries by the axes that they look at."""
        groups: defaultdict[Axes, list[int]] = defaultdict(list)
        for i, factors in enumerate(self.factors):
            groups[tuple(factors)].append(i)
        return dict(groups)

    def _answer(self, counts: Counts) -> Floats:
        answers = np.empty(self.queries)
        for axes, members in self._groups.items():
            self.domain.laid_out(axes)
            table = np.asarray(counts.marginal(axes), float)
            for i in members:
                left = table
                for vector in self.factors[i].values():
                    left = np.tensordot(vector, left, axes=(0, 0))
                answers[i] = left
        return answers

    @cached_property
    def row(self) -> Distance[Any]:
        """The largest column: exactly, where the axes of all queries have few cells together."""
        axes = tuple(sorted({axis for factors in self.factors for axis in factors}))
        if self.domain.cells(axes) * self.queries > CELLS:
            q = Fraction(self.queries)
            return Distance(q, q, Fraction(1), self.queries)
        shape = tuple(self.domain.shape[axis] for axis in axes)
        rows = np.stack([_outer(factors, axes, shape).ravel() for factors in self.factors])
        steps = np.round(rows / float(self.grid)).astype(np.int64)
        norms = ((steps != 0).sum(axis=0), steps.sum(axis=0), (steps * steps).sum(axis=0))
        return largest(norms, int(steps.max()), self.queries, self.grid)

    def squares(self, axes: Axes | None = None) -> Floats:
        whole = float(self.domain.cells(axes))
        return np.array([whole * np.prod([(v**2).mean() for v in f.values()]) for f in self.factors])

    @property
    def seconds(self) -> float:
        return 7e-5 * self.queries

    def _vector(self, query: int) -> Floats:
        return _outer(self.factors[query], self.domain.all, self.domain.laid_out(self.domain.all)).ravel()

    @property
    def tables(self) -> tuple[Axes, ...]:
        return tuple(self._groups)

    def intervals(self, axis: int) -> tuple[Integers, Integers] | None:
        if self.span not in ((), (axis,)) or self.grid != 1:
            return None
        every = np.ones(self.domain.shape[axis])
        values = [np.flatnonzero(factors.get(axis, every)) for factors in self.factors]
        if not all(at.size and at[-1] - at[0] < at.size for at in values):
            return None
        return np.array([at[0] for at in values]), np.array([at[-1] for at in values])

    def axis_factors(self, query: int) -> Factors:
        return self.factors[query]

    def products(self) -> Iterator[Products]:
        groups: defaultdict[Axes, list[int]] = defaultdict(list)
        for i, factors in enumerate(self.factors):
            groups[tuple(a for a, f in factors.items() if not (f == 1).all())].append(i)  # the others ask nothing
        for axes, members in groups.items():
            moments = np.array([[_moments(self.factors[i][a]) for a in axes] for i in members])
            means, squares, largest = moments.reshape(len(members), len(axes), 3).transpose(2, 0, 1)
            yield axes, np.array(members), (means, squares, largest)

    def copied(self, domain: Domain) -> Predicates:
        """These queries on an equal domain, checked anew."""
        named = [{domain.names[axis]: np.array(v, float) for axis, v in f.items()} for f in self.factors]
        return predicates(domain, named, self.given_weights)

    def _label(self, query: int) -> str:
        return " and ".join(_condition(*self.domain.attributes[a], v) for a, v in self.factors[query].items()) or "all"


def predicates(
    domain: Domain, conditions: Iterable[Mapping[str, Condition]], weights: ArrayLike | None = None
) -> Predicates:
    """One query for each mapping from attributes to a value, a list or set of values, or a vector of coefficients.

    An array is a coefficient for each value; anything else names values.
    """
    instance("domain", domain, Domain)
    read = []
    if not isinstance(conditions, Iterable):
        raise BadParameter("predicates", type(conditions).__name__, "a list of mappings from attributes to conditions")
    for query in conditions:
        if not isinstance(query, Mapping):
            raise BadParameter("predicate", type(query).__name__, "a mapping from attributes to conditions")
        read.append({domain.axes([name])[0]: _mask(domain, name, condition) for name, condition in query.items()})
    return Predicates(domain, read, weights)


def flat(factors: Factors) -> bool:
    """Whether every coefficient is 0 or 1."""
    return all(((vector == 0) | (vector == 1)).all() for vector in factors.values())


def _moments(factor: Floats) -> tuple[float, float, float]:
    """The mean of a factor, and the sum of squares and the largest entry of what is left without it."""
    rest = factor - factor.mean()
    return float(factor.mean()), float(rest @ rest), float(np.abs(rest).max())


def _outer(factors: Factors, axes: Axes, shape: tuple[int, ...]) -> Floats:
    """The coefficients on the product of these axes."""
    table = np.ones(shape)
    for axis, vector in factors.items():
        table = table * vector.reshape([-1 if a == axis else 1 for a in axes])
    return table


def _mask(domain: Domain, name: str, condition: Any) -> Floats:
    size = len(domain.attributes[domain.axes([name])[0]][1])
    if isinstance(condition, np.ndarray):
        return coefficients(f"the coefficients of {name}", condition, (size,))[0]
    listed = condition if isinstance(condition, list | set | frozenset | range) else [condition]
    mask = np.zeros(size)
    mask[[domain.code(name, label) for label in listed]] = 1
    return mask


def _condition(name: str, values: Any, vector: Floats) -> str:
    if not ((vector == 0) | (vector == 1)).all():
        return f"coefficients of {name}"
    listed = [str(values[i]) for i in np.flatnonzero(vector)]
    return f"{name} = {listed[0]}" if len(listed) == 1 else f"{name} in {{{', '.join(listed)}}}"
