"""Nondecreasing cumulative counts: a bound on all of their errors at once, and a model made of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....storage import stored
from ...price import Noise
from ...queries.data import Floats
from ...queries.domain import Domain
from ...queries.ranges import Ranges
from ...queries.workload import Workload
from ..error_bounds import Spread
from .line_model import LineModel
from .tree import Tree
from .tree_design import line, places, query_errors

_MAX_EXACT = 1 << 14  # values of an attribute for which the variance of each cumulative count is computed


@stored("CumulativeErrors", ("size", "widest"))
@dataclass(frozen=True)
class Sums:
    """The errors of `size` cumulative counts, none of which is wider than `widest`."""

    size: int
    widest: Spread

    def worst(self, beta: float) -> float:
        """A bound on all errors at once, with probability 1 - beta, by a union bound."""
        return float(self.widest.bounds(beta / self.size)[0])

    def root_mean_square_of_largest(self) -> float:
        """A bound on the root mean square of the largest error, and so on its mean."""
        return self.widest.root_mean_square_of_largest(self.size)


def cumulative(tree: Tree, noises: list[Noise | None]) -> Sums:
    """The errors of all cumulative counts on a tree; where there are many, a bound on their variance."""
    last, few = np.arange(tree.size), tree.size <= _MAX_EXACT
    each = tree.range_variances(np.zeros_like(last), last) if few else np.array([tree.prefix_variance()])
    return Sums(tree.size, query_errors(tree, noises, each.max(keepdims=True)))


@stored("MonotoneModel", ("domain", "axis", "values", "farthest"))
class Rising(LineModel):
    """Nonnegative counts whose cumulative counts all have errors of at most `farthest`, at once."""

    def __init__(self, domain: Domain, axis: int, values: Floats, farthest: float) -> None:
        super().__init__(domain, axis, values)
        self.farthest = farthest

    def nonnegative(self) -> LineModel:
        return self

    def _part(self, part: Workload, beta: float) -> Floats | None:
        ranges = line(part, self.axis)
        return None if ranges is None or ranges.axes != (self.axis,) else self.farthest * ends(ranges)


def ends(ranges: Ranges) -> Floats:
    """How many cumulative counts, other than the 0 before the first cell, a range is made of."""
    return np.where(places(ranges)[0] > 0, 2.0, 1.0)
