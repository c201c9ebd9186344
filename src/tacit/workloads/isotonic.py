r"""Noisy counts on a tree, then cumulative counts that never fall.

Definition.  The estimates of `hierarchy.py` are summed up to cumulative counts, and these replaced by the nearest ones
that are not negative and never fall (isotonic regression).

Privacy.  That of the tree: the rest looks at noisy counts only.

Utility.  True cumulative counts are such, and the projection is a contraction in the Euclidean norm and in the largest:
with S_j the errors of the cumulative counts before it, those after it have a sum of squares e_j^2 of at most that of S,
and none is above max |S_j|.  A range is a difference e_j - e_i, and sum w (e_j - e_i)^2 <= L sum e_j^2 for L the
largest eigenvalue of the graph of the ranges: at most the largest sum of degrees of two neighbours, and the number of
vertices times the largest weight.  Also E max |S_j| and its root mean square are at most the bound on max |S_j| at
beta = 1, by Jensen's inequality for ln and its square.  Where many cells are empty the error is far below all this.

References.  Barlow, Bartholomew, Bremner, Brunk (1972), on contraction; Hay, Rastogi, Miklau, Suciu, VLDB 2010;
Anderson, Morley, Linear and Multilinear Algebra 18 (1985), for the eigenvalue.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.optimize import isotonic_regression

from ..core.exact import Number, probability
from ..core.randomness import Source
from .data import Data, Floats
from .design import design, line, places, spread
from .domain import Domain
from .hierarchy import Hierarchy, as_ranges
from .line_model import Line
from .method import Prediction, Released
from .price import Noise, Price
from .ranges import Ranges
from .spread import Spread
from .tree import Tree
from .workload import Workload

_EACH = 1 << 14  # values of an attribute whose cumulative counts are looked at one by one


@dataclass(frozen=True)
class Sums:
    """Errors of `size` cumulative counts: their mean square, and the one that strays farthest."""

    size: int
    mean_square: float
    widest: Spread

    def worst(self, beta: float) -> float:
        """What all of them are within, by a union bound."""
        return float(self.widest.reach(beta / self.size)[0])


def cumulative(tree: Tree, noises: list[Noise | None]) -> Sums:
    """The errors of all cumulative counts before they are made monotone; where there are many, bounds on them."""
    last, few = np.arange(tree.size), tree.size <= _EACH
    each = tree.range_variances(np.zeros_like(last), last) if few else np.array([tree.prefix_variance()])
    return Sums(tree.size, float(each.mean()), spread(tree, noises, each.max(keepdims=True)))


@dataclass(frozen=True)
class Isotonic(Hierarchy):
    """A tree of noisy counts, made consistent, then monotone."""

    name = "isotonic"
    theorem = "as hierarchy, and far less where cells are empty; m in all"
    improves: ClassVar[str | None] = "hierarchy"

    def predict(self, workload: Workload, n: int | None, price: Price, beta: Number = 0.05) -> Prediction:
        """Bounds from the errors of the cumulative counts, which the projection cannot increase."""
        ranges, b = as_ranges(workload), float(probability("beta", beta))
        tree, noises = super().predict(workload, n, price, beta), design(ranges, price).noises(ranges, price)
        sums = cumulative(design(ranges, price).tree(noises), noises)
        most = float(ends(ranges).max())
        rms = math.sqrt(_eigenvalue(ranges) * sums.size * sums.mean_square / float(ranges.weights.sum()))
        rms = min(rms, most * sums.worst(1.0))
        seconds = 5e-3 + 8e-8 * sums.size + 3e-8 * workload.queries
        why = f"{tree.why}; empty cells are then seen to be empty, which helps the more there are"
        return Prediction(rms, rms, most * sums.worst(b), seconds, "bound", b, why)

    def run(
        self, workload: Workload, data: Data, price: Price, source: Source, *, n: int | None, beta: float
    ) -> Released:
        ranges = as_ranges(workload)
        tree = self.estimate(ranges, data, price, source)
        rising = np.maximum(isotonic_regression(np.cumsum(tree.values)).x, 0)
        farthest = cumulative(tree.tree, tree.noises).worst(beta)
        model = Rising(workload.domain, ranges.axes[0], np.diff(rising, prepend=0.0), farthest)
        loss, errors = self.loss(workload, n, price), model.reach(workload, beta)
        notes = (tree.note, "cumulative counts made to rise; the stated errors hold for all ranges at once")
        return Released(self.name, workload, workload.answer(model), errors, model, loss, beta, notes)


class Rising(Line):
    """Counts that are not negative: every cumulative one is within `farthest`, all at once."""

    def __init__(self, domain: Domain, axis: int, values: Floats, farthest: float) -> None:
        super().__init__(domain, axis, values)
        self.farthest = farthest

    def nonnegative(self) -> Line:
        return self

    def _part(self, part: Workload, beta: float) -> Floats | None:
        ranges = line(part)
        return None if ranges is None or ranges.axes != (self.axis,) else self.farthest * ends(ranges)


def ends(ranges: Ranges) -> Floats:
    """How many cumulative counts, other than the 0 before the first cell, a range is made of."""
    return np.where(places(ranges)[0] > 0, 2.0, 1.0)


def _eigenvalue(ranges: Ranges) -> float:
    """At least the largest ratio of sum w (e_j - e_i)^2 to sum e_j^2, where e is 0 before the first cell."""
    low, high = places(ranges)
    size = ranges.domain.shape[ranges.axes[0]]
    degree = np.bincount(high + 1, ranges.weights, size + 1) + np.bincount(low, ranges.weights, size + 1)
    inner = low > 0
    edges = np.where(inner, degree[low], 0.0) + degree[high + 1]
    pairs, at = np.unique(low * (size + 1) + high, return_inverse=True)
    heaviest = float(np.bincount(at, ranges.weights, pairs.size).max())
    return min(float(edges.max()), (size + 1) * heaviest)
