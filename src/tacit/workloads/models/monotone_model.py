"""Cumulative counts that never fall: what all of them are within at once, and a model that is made of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...storage import stored
from ..price import Noise
from ..queries.data import Floats
from ..queries.domain import Domain
from ..queries.ranges import Ranges
from ..queries.workload import Workload
from .error_bounds import Spread
from .line_model import Line
from .tree import Tree
from .tree_design import line, places, spread

_EACH = 1 << 14  # values of an attribute whose cumulative counts are looked at one by one


@stored("CumulativeErrors", ("size", "widest"))
@dataclass(frozen=True)
class Sums:
    """Errors of `size` cumulative counts: the one that strays farthest."""

    size: int
    widest: Spread

    def worst(self, beta: float) -> float:
        """What all of them are within, by a union bound."""
        return float(self.widest.reach(beta / self.size)[0])

    def root_mean_square_of_largest(self) -> float:
        """A bound on that of the one that strays farthest, and so on its mean."""
        return self.widest.root_mean_square_of_largest(self.size)


def cumulative(tree: Tree, noises: list[Noise | None]) -> Sums:
    """The errors of all cumulative counts before they are made monotone; where there are many, bounds on them."""
    last, few = np.arange(tree.size), tree.size <= _EACH
    each = tree.range_variances(np.zeros_like(last), last) if few else np.array([tree.prefix_variance()])
    return Sums(tree.size, spread(tree, noises, each.max(keepdims=True)))


@stored("MonotoneModel", ("domain", "axis", "values", "farthest"))
class Rising(Line):
    """Counts that are not negative: every cumulative one is within `farthest`, all at once."""

    def __init__(self, domain: Domain, axis: int, values: Floats, farthest: float) -> None:
        super().__init__(domain, axis, values)
        self.farthest = farthest

    def nonnegative(self) -> Line:
        return self

    def _part(self, part: Workload, beta: float) -> Floats | None:
        ranges = line(part, self.axis)
        return None if ranges is None or ranges.axes != (self.axis,) else self.farthest * ends(ranges)


def ends(ranges: Ranges) -> Floats:
    """How many cumulative counts, other than the 0 before the first cell, a range is made of."""
    return np.where(places(ranges)[0] > 0, 2.0, 1.0)
