r"""Noisy counts on a tree, then cumulative counts that never decrease.

Definition.  The least-squares estimates on a tree of noisy counts (`_noisy_tree.py`) are summed up to cumulative counts
at the ends of the workload's ranges, anew after each gap that no range holds.  These are replaced by the nearest
nonnegative and nondecreasing ones (isotonic regression), in a norm that weighs each by how much it matters and how well
it is known (`_breakpoints.py`).  Between two ends the values share what is there in proportion to their positive
estimates.

Privacy.  That of the tree: the rest looks at noisy counts only.

Utility.  True cumulative counts are nonnegative and nondecreasing, and the projection is a contraction in its own norm,
and in the largest: by the max-min formula each of the new counts is a minimum of maxima of means of the old ones, as
the true ones are of theirs.  So with S_j the errors before it, of variances V_j, and weights u_j / V_j, the errors e_j
after it have
    sum (u_j / V_j) e_j^2 <= sum (u_j / V_j) S_j^2, which is sum u_j on average,      and |e_j| <= max |S_j|.
`_breakpoints.py` bounds the errors of ranges by sum u_j e_j^2 <= max V_j sum (u_j / V_j) e_j^2.  The root mean square
of max |S_j|, and so its mean, is bounded in `error_bounds.py`.  How far each answer was moved is known, and with it a
bound on its error: that distance, and the error of the tree's answer.

Where many cells are empty the error is far below all this.  But a segment whose estimate is negative is made empty by
moving its ends, and so whatever else ends there.  If that could add more than a tenth to the error, as where single
values are asked for and what is between them only within wide ranges, the counts are left as the tree has them.

References.  Barlow, Bartholomew, Bremner, Brunk (1972), on contraction and for the max-min formula; Hay, Rastogi,
Miklau, Suciu, VLDB 2010.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from scipy.optimize import isotonic_regression

from ....core.accounting.loss import Loss
from ....core.parameters import Number, probability
from ....core.randomness import Source
from ....storage import stored
from ...method import Method, Prediction, Released
from ...models.trees.line_model import LineModel, TreeLine
from ...models.trees.monotone_model import ends
from ...models.trees.tree_design import design, query_errors
from ...price import Price
from ...queries.data import Data, Floats
from ...queries.workload import Workload
from ._breakpoints import Stretches
from ._noisy_tree import as_ranges, measured_tree, tree_errors, tree_loss, why_not_ranges

_MAX_ADDED = 0.1  # share of the tree's error that may be added where cells are empty in the worst places


@stored("Isotonic")
@dataclass(frozen=True)
class Isotonic(Method):
    """A tree of noisy counts, made consistent, then monotone."""

    name = "isotonic"
    theorem = "as hierarchy, and far less where cells are empty; m in all"
    improves: ClassVar[str | None] = "hierarchy"

    def why_not(self, workload: Workload, n: int | None, price: Price) -> str | None:
        return why_not_ranges(workload)

    def _loss(self, workload: Workload, n: int | None, price: Price) -> Loss:
        return tree_loss(as_ranges(workload), price)

    def _predict(self, workload: Workload, n: int | None, price: Price, beta: Number) -> Prediction:
        """Bounds from the errors of the cumulative counts, which the projection cannot increase."""
        ranges, b = as_ranges(workload), float(probability("beta", beta))
        plan, segments = design(ranges, price), _breakpoints(workload, price)
        noises = plan.noises(ranges, price)
        sums = query_errors(plan.tree(noises), noises, segments.variances)
        most = float(ends(ranges).max())
        rms = min(math.sqrt(segments.bound(ranges)), most * sums.root_mean_square_of_largest())
        seconds = 5e-3 + 6e-8 * plan.size + 6e-7 * workload.queries
        why = f"a tree of {len(plan.shares)} levels, and empty cells are seen to be empty, which helps if they are many"
        return Prediction(rms, rms, most * sums.worst(b), seconds, "bound", b, why)

    def run(
        self, workload: Workload, data: Data, price: Price, source: Source, *, n: int | None, beta: float
    ) -> Released:
        tree = measured_tree(as_ranges(workload), data, price, source)
        model = Risen(tree, _monotone(tree.values, _breakpoints(workload, price)))
        loss, answers = self.loss(workload, n, price), workload.answer(model)
        errors = _tree_bounds(workload, price, beta) + np.abs(answers - workload.answer(tree))
        notes = (tree.note, "cumulative counts made to rise; an error is stated with how far its answer was moved")
        return Released(self.name, workload, answers, errors, model, loss, beta, notes)


@stored("IsotonicModel", ("tree", "values"))
class Risen(LineModel):
    """Counts moved from those of a tree: an answer may miss by what the tree's misses by, and by how far it moved."""

    def __init__(self, tree: TreeLine, values: Floats) -> None:
        super().__init__(tree.domain, tree.axis, values)
        self.tree = tree

    def nonnegative(self) -> LineModel:
        return self if self.values.min() >= 0 else self.tree.nonnegative()

    def _part(self, part: Workload, beta: float) -> Floats | None:
        bounds = self.tree._part(part, beta)
        return None if bounds is None else bounds + np.abs(part.answer(self) - part.answer(self.tree))


@lru_cache(maxsize=8)
def _breakpoints(workload: Workload, price: Price) -> Stretches:
    ranges = as_ranges(workload)
    plan = design(ranges, price)
    return Stretches.of(ranges, plan.tree(plan.noises(ranges, price)))


@lru_cache(maxsize=8)
def _tree_bounds(workload: Workload, price: Price, beta: float) -> Floats:
    """What the tree's answers miss by at most, each with probability 1 - beta."""
    return tree_errors(as_ranges(workload), price).bounds(beta)


def _monotone(values: Floats, segments: Stretches) -> Floats:
    """The values, moved so that their sums never decrease from end to end, in all runs where that is of use."""
    counts = np.add.reduceat(values, segments.cuts[:-1])
    sums = np.cumsum(counts[segments.asked])
    sums -= np.concatenate([[0.0], sums[segments.first[1:] - 1]])[segments.run]  # of each run alone
    # one regression for all runs: lifted apart from one another, none is pooled with the next
    lowest, highest = np.minimum.reduceat(sums, segments.first), np.maximum.reduceat(sums, segments.first)
    lift = np.concatenate([[0.0], np.cumsum(highest[:-1] - lowest[1:])])[segments.run]
    monotone = np.maximum(isotonic_regression(sums + lift, weights=segments.weights).x - lift, 0)
    each = np.diff(monotone, prepend=0.0)
    each[segments.first] = monotone[segments.first]
    counts[segments.asked] = each
    widths, shares = np.diff(segments.cuts), np.maximum(values, 0)
    whole = np.add.reduceat(shares, segments.cuts[:-1])
    shares[np.repeat(whole <= 0, widths)] = 1.0  # where none is positive all have the same
    whole = np.where(whole > 0, whole, widths)
    moved = shares * np.repeat(np.maximum(counts, 0) / whole, widths)
    left = np.zeros(widths.size, bool)
    left[segments.asked] = (segments.moved > _MAX_ADDED)[segments.run]
    return np.where(np.repeat(left, widths), values, moved) if left.any() else moved
