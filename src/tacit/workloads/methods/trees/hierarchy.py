r"""Noisy counts on a tree, for ranges.

Definition.  Over the m values of one attribute stands a tree of branching b.  Every level gets a share of the price and
each of its counts a noise; least squares (`tree.py`) makes the counts agree.  The branching and the shares are chosen
before any data are seen (`tree_design.py`): those for which the mean deviation of the workload's own ranges is lowest.

Privacy.  A record lies in one node of each level, so a level costs what a histogram costs, and levels add up.

Utility.  Every range has a known variance, of about 2 (b - 1) log_b(m) noises at most, and so an error of
(log m)^1.5 / epsilon, where noise on the cells has sqrt(m) / epsilon.  b from 8 to 16 is best for many values.

References.  Hay, Rastogi, Miklau, Suciu, VLDB 2010; Qardaji, Yang, Li, VLDB 2013; Chan, Shi, Song, ICALP 2010.
"""

from __future__ import annotations

from dataclasses import dataclass

from ....core.accounting.loss import Loss
from ....core.parameters import Number
from ....core.randomness import Source
from ....storage import stored
from ...method import Method, Prediction, Released, predicted
from ...models.trees.tree_design import design
from ...price import Price
from ...queries.data import Data
from ...queries.workload import Workload
from ._noisy_tree import as_ranges, measured_tree, tree_errors, tree_loss, why_not_ranges


@stored("Hierarchy")
@dataclass(frozen=True)
class Hierarchy(Method):
    """Noise on a tree of counts, made consistent by least squares."""

    name = "hierarchy"
    theorem = "log(m)^1.5 / (n epsilon) for ranges of m values; m in all"

    def why_not(self, workload: Workload, n: int | None, price: Price) -> str | None:
        return why_not_ranges(workload)

    def _predict(self, workload: Workload, n: int | None, price: Price, beta: Number) -> Prediction:
        ranges = as_ranges(workload)
        plan = design(ranges, price)
        seconds = 5e-3 + 4e-8 * plan.size + 3e-7 * workload.queries
        why = f"a range is a few of the nodes of {len(plan.shares)} levels, branching {plan.branching}"
        return predicted(workload, tree_errors(ranges, price), seconds, beta, why)

    def _loss(self, workload: Workload, n: int | None, price: Price) -> Loss:
        return tree_loss(as_ranges(workload), price)

    def run(
        self, workload: Workload, data: Data, price: Price, source: Source, *, n: int | None, beta: float
    ) -> Released:
        model = measured_tree(as_ranges(workload), data, price, source)
        loss, errors = self.loss(workload, n, price), model.error_bounds(workload, beta)
        return Released(self.name, workload, workload.answer(model), errors, model, loss, beta, (model.note,))
