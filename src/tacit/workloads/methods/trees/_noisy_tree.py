"""A tree of noisy counts over one attribute: what the methods on trees share."""

from __future__ import annotations

from ....core.accounting.loss import Loss, zero
from ....core.randomness import Source
from ...models.error_bounds import Spread
from ...models.trees.line_model import TreeLine
from ...models.trees.tree_design import Design, design, line, range_errors, rate
from ...price import Price
from ...queries.data import Data
from ...queries.ranges import Ranges
from ...queries.workload import Workload


def why_not_ranges(workload: Workload) -> str | None:
    """Why a tree cannot answer this workload, or None if the queries are ranges of one attribute."""
    return None if line(workload) is not None else "the queries are not ranges of one attribute"


def as_ranges(workload: Workload) -> Ranges:
    """The queries as ranges of one attribute; only where `why_not_ranges` is None."""
    ranges = line(workload)
    assert ranges is not None
    return ranges


def tree_errors(ranges: Ranges, price: Price) -> Spread:
    """The errors of the ranges, by least squares on the best tree."""
    plan = design(ranges, price)
    noises = plan.noises(ranges, price)
    tree = plan.tree(noises)
    return range_errors(tree, noises, ranges, rate(tree, ranges))


def tree_loss(ranges: Ranges, price: Price) -> Loss:
    """The loss of the noises on all levels of the best tree."""
    noises = design(ranges, price).noises(ranges, price)
    return sum((noise.loss() for noise in noises if noise is not None), zero)


def measured_tree(ranges: Ranges, data: Data, price: Price, source: Source, plan: Design | None = None) -> TreeLine:
    """Counts of each value by least squares, from one noise on each node of `plan`, by default the best tree."""
    return TreeLine(ranges, *(plan or design(ranges, price)).measure(ranges, data, price, source))
