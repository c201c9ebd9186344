r"""Noisy counts on a tree, then cumulative counts that never fall.

Definition.  The estimates of `hierarchy.py` are summed up to cumulative counts at the ends of the workload's ranges,
anew after each gap that no range holds.  These are replaced by the nearest that are not negative and never fall
(isotonic regression), in a norm that weighs each by how much it matters and how well it is known (`stretches.py`).
Between two ends the values share what is there as those estimates that are positive do.

Privacy.  That of the tree: the rest looks at noisy counts only.

Utility.  True cumulative counts are such, and the projection is a contraction in its own norm, and in the largest: by
the max-min formula each of the new counts is a minimum of maxima of means of the old ones, as the true ones are of
theirs.  So with S_j the errors before it, of variances V_j, and weights u_j / V_j, the errors e_j after it have
    sum (u_j / V_j) e_j^2 <= sum (u_j / V_j) S_j^2, which is sum u_j on average,      and |e_j| <= max |S_j|.
`stretches.py` bounds the errors of ranges by sum u_j e_j^2 <= max V_j sum (u_j / V_j) e_j^2.  The root mean square of
max |S_j|, and so its mean, is bounded in `spread.py`.  Of each answer it is known how far it was moved, and so what it
misses by: that, and what the tree's answer does.

Where many cells are empty the error is far below all this.  But a stretch that is counted as less than empty is made
empty by moving its ends, and so whatever else ends there.  If that could add more than a tenth to the error, as where
single values are asked for and what is between them only within wide ranges, the counts are left as the tree has them.

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

from ....core.parameters import Number, probability
from ....core.randomness import Source
from ....storage import stored
from ...method import Prediction, Released
from ...models.line_model import Line, TreeLine
from ...models.monotone_model import ends
from ...models.tree_design import design, spread
from ...price import Price
from ...queries.data import Data, Floats
from ...queries.workload import Workload
from ._breakpoints import Stretches
from .hierarchy import Hierarchy, as_ranges

_MORE = 0.1  # of the tree's error, that may be added where cells are empty in the worst places


@stored("Isotonic")
@dataclass(frozen=True)
class Isotonic(Hierarchy):
    """A tree of noisy counts, made consistent, then monotone."""

    name = "isotonic"
    theorem = "as hierarchy, and far less where cells are empty; m in all"
    improves: ClassVar[str | None] = "hierarchy"

    def _predict(self, workload: Workload, n: int | None, price: Price, beta: Number) -> Prediction:
        """Bounds from the errors of the cumulative counts, which the projection cannot increase."""
        ranges, b = as_ranges(workload), float(probability("beta", beta))
        plan, asked = design(ranges, price), _stretches(workload, price)
        noises = plan.noises(ranges, price)
        sums = spread(plan.tree(noises), noises, asked.variances)
        most = float(ends(ranges).max())
        rms = min(math.sqrt(asked.bound(ranges)), most * sums.root_mean_square_of_largest())
        seconds = 5e-3 + 6e-8 * plan.size + 6e-7 * workload.queries
        why = f"a tree of {len(plan.shares)} levels, and empty cells are seen to be empty, which helps if they are many"
        return Prediction(rms, rms, most * sums.worst(b), seconds, "bound", b, why)

    def run(
        self, workload: Workload, data: Data, price: Price, source: Source, *, n: int | None, beta: float
    ) -> Released:
        tree = self.estimate(as_ranges(workload), data, price, source)
        model = Risen(tree, _risen(tree.values, _stretches(workload, price)))
        loss, answers = self.loss(workload, n, price), workload.answer(model)
        errors = _reach(workload, price, beta) + np.abs(answers - workload.answer(tree))
        notes = (tree.note, "cumulative counts made to rise; an error is stated with how far its answer was moved")
        return Released(self.name, workload, answers, errors, model, loss, beta, notes)


@stored("IsotonicModel", ("tree", "values"))
class Risen(Line):
    """Counts moved from those of a tree: an answer is as far off as the tree's, and by how far it was moved."""

    def __init__(self, tree: TreeLine, values: Floats) -> None:
        super().__init__(tree.domain, tree.axis, values)
        self.tree = tree

    def nonnegative(self) -> Line:
        return self if self.values.min() >= 0 else self.tree.nonnegative()

    def _part(self, part: Workload, beta: float) -> Floats | None:
        known = self.tree._part(part, beta)
        return None if known is None else known + np.abs(part.answer(self) - part.answer(self.tree))


@lru_cache(maxsize=8)
def _stretches(workload: Workload, price: Price) -> Stretches:
    ranges = as_ranges(workload)
    plan = design(ranges, price)
    return Stretches.of(ranges, plan.tree(plan.noises(ranges, price)))


@lru_cache(maxsize=8)
def _reach(workload: Workload, price: Price, beta: float) -> Floats:
    """What the tree's answers miss by at most, each with probability 1 - beta."""
    return Hierarchy().spread(as_ranges(workload), price).reach(beta)


def _risen(values: Floats, asked: Stretches) -> Floats:
    """The values with sums that rise from end to end, in all runs where that is of use."""
    held = np.add.reduceat(values, asked.cuts[:-1])
    sums = np.cumsum(held[asked.asked])
    sums -= np.concatenate([[0.0], sums[asked.first[1:] - 1]])[asked.run]  # of each run alone
    # one regression for all runs: lifted apart from one another, none is pooled with the next
    lowest, highest = np.minimum.reduceat(sums, asked.first), np.maximum.reduceat(sums, asked.first)
    lift = np.concatenate([[0.0], np.cumsum(highest[:-1] - lowest[1:])])[asked.run]
    rising = np.maximum(isotonic_regression(sums + lift, weights=asked.weights).x - lift, 0)
    each = np.diff(rising, prepend=0.0)
    each[asked.first] = rising[asked.first]
    held[asked.asked] = each
    widths, shares = np.diff(asked.cuts), np.maximum(values, 0)
    whole = np.add.reduceat(shares, asked.cuts[:-1])
    shares[np.repeat(whole <= 0, widths)] = 1.0  # where none is positive all have the same
    whole = np.where(whole > 0, whole, widths)
    risen = shares * np.repeat(np.maximum(held, 0) / whole, widths)
    left = np.zeros(widths.size, bool)
    left[asked.asked] = (asked.moved > _MORE)[asked.run]
    return np.where(np.repeat(left, widths), values, risen) if left.any() else risen
