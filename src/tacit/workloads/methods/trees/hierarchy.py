r"""Noisy counts on a tree, for ranges.

Definition.  Over the m values of one attribute stands a tree of branching b.  Every level gets a share of the price and
its counts a noise each; least squares (`tree.py`) makes them agree.  The branching and the shares are chosen before any
data are seen (`design.py`): those that make the mean deviation of the workload's own ranges least.

Privacy.  A record lies in one node of each level, so a level costs what a histogram costs, and levels add up.

Utility.  Every range has a known variance, of about 2 (b - 1) log_b(m) noises at most, and so an error of
(log m)^1.5 / epsilon, where noise on the cells has sqrt(m) / epsilon.  b from 8 to 16 is best for many values.

References.  Hay, Rastogi, Miklau, Suciu, VLDB 2010; Qardaji, Yang, Li, VLDB 2013; Chan, Shi, Song, ICALP 2010.
"""

from __future__ import annotations

from dataclasses import dataclass

from ....core.accounting.loss import Loss, zero
from ....core.parameters import Number
from ....core.randomness import Source
from ....storage import stored
from ...method import Method, Prediction, Released, instead, predicted
from ...models.error_bounds import Spread
from ...models.line_model import TreeLine
from ...models.tree_design import Design, design, line, range_spread, rate
from ...price import Price
from ...queries.data import Data
from ...queries.ranges import Ranges
from ...queries.workload import Workload
from ..direct.histogram import HistogramNoise
from ..direct.per_query import PerQuery
from ..marginals.residual import Residual


@stored("Hierarchy")
@dataclass(frozen=True)
class Hierarchy(Method):
    """Noise on a tree of counts, made consistent by least squares."""

    name = "hierarchy"
    theorem = "log(m)^1.5 / (n epsilon) for ranges of m values; m in all"

    def why_not(self, workload: Workload, n: int | None, price: Price) -> str | None:
        ranges = line(workload)
        if ranges is None:
            better = instead(workload, n, price, Residual(), HistogramNoise(), PerQuery())
            return f"these are not ranges of one attribute; {better}"
        return None

    def spread(self, ranges: Ranges, price: Price) -> Spread:
        """The errors of the ranges."""
        plan = design(ranges, price)
        noises = plan.noises(ranges, price)
        tree = plan.tree(noises)
        return range_spread(tree, noises, ranges, rate(tree, ranges))

    def _predict(self, workload: Workload, n: int | None, price: Price, beta: Number) -> Prediction:
        ranges = as_ranges(workload)
        plan = design(ranges, price)
        seconds = 5e-3 + 4e-8 * plan.size + 3e-7 * workload.queries
        why = f"a range is a few of the nodes of {len(plan.shares)} levels, branching {plan.branching}"
        return predicted(workload, self.spread(ranges, price), seconds, beta, why)

    def _loss(self, workload: Workload, n: int | None, price: Price) -> Loss:
        ranges = as_ranges(workload)
        noises = design(ranges, price).noises(ranges, price)
        return sum((noise.loss() for noise in noises if noise is not None), zero)

    def run(
        self, workload: Workload, data: Data, price: Price, source: Source, *, n: int | None, beta: float
    ) -> Released:
        model = self.estimate(as_ranges(workload), data, price, source)
        loss, errors = self.loss(workload, n, price), model.reach(workload, beta)
        return Released(self.name, workload, workload.answer(model), errors, model, loss, beta, (model.note,))

    def estimate(
        self, ranges: Ranges, data: Data, price: Price, source: Source, plan: Design | None = None
    ) -> TreeLine:
        """The counts of each value by least squares, from one noise on each node of the best tree or of this one."""
        return TreeLine(ranges, *(plan or design(ranges, price)).measure(ranges, data, price, source))


def as_ranges(workload: Workload) -> Ranges:
    """The workload as ranges of one attribute, which it is where the method applies."""
    ranges = line(workload)
    assert ranges is not None
    return ranges
