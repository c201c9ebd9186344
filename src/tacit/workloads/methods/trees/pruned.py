r"""Noisy counts on a tree that ends where few are left: for ranges of very many values.

Definition.  A tree of branching 16 or so stands over the values.  From the top down, a node's children are counted,
with noise, if the node is estimated to hold enough to be worth it (`_tree_descent.py`); the others are leaves, whose
values are taken to hold equally many.  The sums of leaves, from the first, are replaced by the nearest nonnegative and
nondecreasing ones (isotonic regression).

Privacy.  A record lies in one node of each level, so whatever nodes of a level are counted, its noise costs what a
histogram costs.  Which nodes are counted, and the shares of the levels below the top, depend on noisy counts alone; by
adaptive composition the top level and the rest cost the price together.

Utility.  Let t be what all sums of nodes are within with probability 1 - beta, b_1 + L b / 4 noises adding up in each.
The projection is a contraction in the largest error, so at the ends of leaves it is at most t.  Within a leaf true and
estimated sums both rise from one end to the other, so the error is at most t and the larger part of what the leaf is
estimated to hold; or t and what it truly holds, which is within 2 t of the threshold that it did not pass.  A leaf that
is a single value has no inside.  So the cost is of b nodes for each that is looked into, and not of all m values.

References.  Cormode, Procopiuc, Srivastava, Shen, Yu, ICDE 2012, and Zhang, Xiao, Xie, SIGMOD 2016, for trees that stop
at small counts; Qardaji, Yang, Li, VLDB 2013, for the branching; Dwork, Rothblum, Vadhan, FOCS 2010, on adaptive
composition; Barlow, Bartholomew, Bremner, Brunk (1972), on contraction.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import isotonic_regression

from ....core.accounting.loss import Loss
from ....core.parameters import Number, probability
from ....core.randomness import Source
from ....storage import stored
from ...method import Method, Prediction, Released
from ...models.trees.monotone_model import Rising, Sums, ends
from ...models.trees.tree_design import line, places
from ...price import Price
from ...queries.data import Data, Floats, Integers
from ...queries.domain import Domain
from ...queries.marginals import Marginal
from ...queries.ranges import Ranges
from ...queries.workload import Workload
from ._noisy_tree import as_ranges, why_not_ranges
from ._tree_descent import Descent, descent

_BRANCHING = 16


@stored("Pruned")
@dataclass(frozen=True)
class Pruned(Method):
    """A tree of noisy counts that descends only where there is somebody."""

    name = "pruned"
    theorem = "as isotonic, and inside a leaf what few it holds; b for each node that holds more, not m"

    def why_not(self, workload: Workload, n: int | None, price: Price) -> str | None:
        reason = why_not_ranges(workload)
        if reason is None:
            _tree(as_ranges(workload), price)  # noise that cannot be drawn is refused here
        return reason

    def _predict(self, workload: Workload, n: int | None, price: Price, beta: Number) -> Prediction:
        """Bounds that hold for every design that may be chosen, if all levels are counted."""
        ranges, b = as_ranges(workload), float(probability("beta", beta))
        tree, most = _tree(ranges, price), float(ends(ranges).max())
        mean = worst = 0.0
        for design, needed in enumerate(tree.thresholds):
            sums, inside = tree.sums(design, len(tree.widths)), max(needed, default=0.0)
            times = 3 if needed else 1  # t at an end of the leaf, and 2 t in what it holds
            mean = max(mean, most * (times * sums.root_mean_square_of_largest() + inside))
            worst = max(worst, most * (times * sums.worst(b) + inside))
        seconds = 2e-3 + 2e-9 * tree.size + 9e-8 * tree.drawn(n) + 1.5e-7 * workload.queries
        why = "only what holds many records is counted finely, which helps if that is little of very much"
        return Prediction(mean, mean, worst, seconds, "bound", b, why)

    def _loss(self, workload: Workload, n: int | None, price: Price) -> Loss:
        """The whole price: how far the tree descends is known only on the way."""
        return price.alone.loss()

    def run(
        self, workload: Workload, data: Data, price: Price, source: Source, *, n: int | None, beta: float
    ) -> Released:
        ranges = as_ranges(workload)
        tree = _tree(ranges, price)
        leaves = tree.measure(data.marginal(ranges.axes), source)
        monotone = np.maximum(isotonic_regression(np.cumsum(leaves.estimates)).x, 0)
        cuts, sums = np.append(leaves.starts, tree.size), np.concatenate([[0.0], monotone])
        model = Leaved(workload.domain, ranges.axes[0], cuts, sums, tree.sums(leaves.design, leaves.levels))
        notes = (
            f"{leaves.starts.size} leaves, on {leaves.levels} of {len(tree.widths)} levels, branching {tree.branching}",
            "cumulative counts made to rise; the stated errors hold for all ranges at once",
        )
        answers, errors = model.range_answers(ranges, beta)
        return Released(self.name, workload, answers, errors, model, self.loss(workload, n, price), beta, notes)


@stored("PrunedModel", ("domain", "axis", "cuts", "sums", "errors"))
class Leaved(Rising):
    """Cumulative counts at some cuts, between which they grow evenly; `errors` are the errors at the cuts."""

    def __init__(self, domain: Domain, axis: int, cuts: Integers, sums: Floats, errors: Sums) -> None:
        self.domain, self.axis, self.cuts, self.sums, self.errors = domain, axis, cuts, sums, errors

    @cached_property
    def values(self) -> Floats:  # type: ignore[override]  # laid out only if they are asked for
        widths = np.diff(self.cuts)
        return np.repeat(np.diff(self.sums) / widths, widths)

    def range_answers(self, ranges: Ranges, beta: float) -> tuple[Floats, Floats]:
        """The answers of ranges and their error bounds, from the ends of the ranges alone."""
        low, high = places(ranges)
        farthest = self.errors.worst(beta)
        (first, missed), (last, also) = self._before(low, farthest), self._before(high + 1, farthest)
        return last - first, missed + also

    def _part(self, part: Workload, beta: float) -> Floats | None:
        ranges = line(part, self.axis)
        return None if ranges is None or ranges.axes != (self.axis,) else self.range_answers(ranges, beta)[1]

    def _before(self, value: Integers, farthest: float) -> tuple[Floats, Floats]:
        """The count of all records before a value, and its error bound; no cut misses by more than `farthest`."""
        leaf = np.searchsorted(self.cuts[:-1], value, side="right") - 1
        after, width = value - self.cuts[leaf], self.cuts[leaf + 1] - self.cuts[leaf]
        start, records = self.sums[leaf], self.sums[leaf + 1] - self.sums[leaf]
        part = after / width
        inside = np.where((after > 0) & (after < width), records * np.maximum(part, 1 - part), 0.0)
        return start + records * part, np.where(value > 0, farthest + inside, 0.0)


def _tree(ranges: Ranges, price: Price) -> Descent:
    size, moved = ranges.domain.shape[ranges.axes[0]], Marginal(ranges.domain, ranges.axes).distance(price.unit)
    return descent(size, _BRANCHING, price.alone, moved)
