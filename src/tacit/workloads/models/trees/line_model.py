"""A model that is an estimated count for each value of one attribute."""

from __future__ import annotations

import numpy as np

from ....mechanisms import project_to_simplex
from ....storage import bare, stored
from ...price import Noise
from ...queries.data import Floats
from ...queries.domain import CELLS, Axes, Domain
from ...queries.ranges import Ranges
from ...queries.workload import Workload
from ..model import Model
from .tree import Tree, top_down
from .tree_design import line, query_errors, range_errors


@stored("LineModel", ("domain", "axis", "values"))
class LineModel(Model):
    """Counts on one axis, spread out evenly over all others, of which nothing is known."""

    def __init__(self, domain: Domain, axis: int, values: Floats) -> None:
        self.domain, self.axis, self.values = domain, axis, values

    def marginal(self, axes: Axes) -> Floats:
        shape = self.domain.laid_out(axes)
        if self.axis not in axes:
            return np.full(shape, self.values.sum() / self.domain.cells(axes))
        others = self.domain.cells(axes) / self.values.size
        along = self.values.reshape([-1 if a == self.axis else 1 for a in axes])
        return np.broadcast_to(along / others, shape)

    def nonnegative(self) -> LineModel:
        total = float(self.values.sum())
        near = project_to_simplex(self.values / total) * total if total > 0 else np.zeros_like(self.values)
        return LineModel(self.domain, self.axis, near)

    def error_bounds(self, workload: Workload, beta: float) -> Floats | None:
        parts = [self._part(part, beta) for part in workload.parts]
        return np.concatenate(
            [np.full(p.queries, np.inf) if r is None else r for p, r in zip(workload.parts, parts, strict=True)]
        )

    def _part(self, part: Workload, beta: float) -> Floats | None:
        """The error bounds of a workload on this axis, each with probability 1 - beta; None where unknown."""
        return None


@stored("TreeModel", ("domain", "axis", "values", "tree", "noises", "noisy"), make=bare)
class TreeLine(LineModel):
    """Counts by least squares on a tree of noises: the error of every query on the axis is known."""

    def __init__(self, ranges: Ranges, tree: Tree, noises: list[Noise | None], noisy: list[Floats]) -> None:
        super().__init__(ranges.domain, ranges.axes[0], tree.estimate(noisy))
        self.tree, self.noises, self.noisy = tree, noises, noisy

    @property
    def note(self) -> str:
        """How the counts were estimated, in words."""
        return f"least squares on a tree of branching {self.tree.branching} with {len(self.noises)} levels"

    def nonnegative(self) -> LineModel:
        """Nonnegative counts from the root down, which have less error than moving the cells alone."""
        return LineModel(self.domain, self.axis, top_down(self.tree, self.noisy))

    def _part(self, part: Workload, beta: float) -> Floats | None:
        if not set(part.span) <= {self.axis}:
            return None
        if (ranges := line(part, self.axis)) is not None:
            return range_errors(self.tree, self.noises, ranges).bounds(beta)
        if part.queries * self.values.size <= CELLS and self.values.size == self.domain.size:
            variances = self.tree.variance(np.stack([part.vector(i) for i in range(part.queries)]))
            return query_errors(self.tree, self.noises, variances).bounds(beta)
        return None
