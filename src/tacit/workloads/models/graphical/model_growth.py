r"""A graphical model that grows with what is measured of a table: the public part of a search.

The model begins with noisy counts of each attribute's values.  From these come bins of rare values (`bins.py`), and a
product of shares as the first model.  The model is then fitted to more and more measurements (`maximum_entropy.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ....mechanisms import project_to_simplex
from ...queries.data import Floats
from ...queries.domain import CELLS, Axes
from ..model import Model
from .bins import Bins, coarse
from .graphical_model import Graphical
from .junction_tree import Junction, cliques, size
from .maximum_entropy import Measurement, fit, product

FINEST = 0.01  # the least share of all records that a bin of the model has, if it has neighbours to join
LEVELS = (0.02, 0.06, 0.2)  # the least shares of the bins of candidates
CLIQUES = 300_000  # cells of the model, at most
_MAX_TOTAL = 2.0**50  # records: more are noise, and would not be counted exactly


@dataclass(frozen=True, eq=False)
class Candidate:
    """A table that may be measured; its bins are bins of the model's bins."""

    axes: Axes
    bins: tuple[Bins, ...]

    @property
    def cells(self) -> int:
        return math.prod(map(len, self.bins))


class Growth:
    """The model so far, and the measurements that it was fitted to."""

    def __init__(self, single: Model, variances: Sequence[float]) -> None:
        """Begin with the noisy counts of each attribute, and the variance of a cell of each (infinite: unknown)."""
        self.domain, self.total = single.domain, min(max(1.0, single.total), _MAX_TOTAL)
        noisy = [single.marginal((axis,)) for axis in self.domain.all]
        values = [project_to_simplex(table / self.total) + 1e-9 for table in noisy]  # nothing is impossible
        self.bins = [Bins.of(share, FINEST) for share in values]
        sums = [coarse(share, [bins]) for share, bins in zip(values, self.bins, strict=True)]
        self.shares = [own / own.sum() for own in sums]
        self.inside = [s / np.repeat(own, b.lengths) for s, own, b in zip(values, sums, self.bins, strict=True)]
        self.levels = [[Bins.of(share, level) for share in self.shares] for level in LEVELS]
        self.measurements: list[Measurement] = []
        for axis, (table, bins) in enumerate(zip(noisy, self.bins, strict=True)):
            own = variances[axis] * bins.lengths.astype(float)
            if np.isfinite(own).all():
                each = (Bins.each(len(bins)),)
                self.measurements.append(Measurement((axis,), each, coarse(table, [bins]), own))
        self._tilts = np.zeros(0)
        self._set(*product(self.shares))

    def _set(self, tree: Junction, beliefs: list[Floats]) -> None:
        self.model = Graphical(self.domain, self.total, bins=self.bins, shares=self.inside, tree=tree, beliefs=beliefs)

    def fit(self, steps: int) -> None:
        """Fit the model to all measurements so far, if any."""
        if not self.measurements:
            return
        tree, beliefs, self._tilts = fit(self.shares, self.measurements, self.total, self._tilts, steps)
        self._set(tree, beliefs)

    def candidates(self, sets: Iterable[Axes], max_cells: float) -> list[Candidate]:
        """Tables on these sets, in bins of each level, of at most so many cells; equal tables are listed once."""
        distinct: dict[tuple[Axes, tuple[int, ...]], Candidate] = {}
        for axes in sets:
            for level in self.levels:
                one = Candidate(axes, tuple(level[a] for a in axes))
                shape = tuple(map(len, one.bins))
                if min(shape) > 1 and one.cells <= max_cells and self.domain.cells(axes) <= CELLS:
                    distinct.setdefault((axes, shape), one)
        return list(distinct.values())

    def forest(self, candidates: list[Candidate], pick: Callable[[list[int]], int]) -> Iterable[Candidate]:
        """Pairs that close no cycle, one after the other; `pick` chooses among the places of those that may follow."""
        tree = list(self.domain.all)  # which tree of the forest each attribute is in
        while places := [i for i, c in enumerate(candidates) if tree[c.axes[0]] != tree[c.axes[1]]]:
            chosen = candidates[pick(places)]
            yield chosen
            first, second = (tree[a] for a in chosen.axes)
            tree = [first if t == second else t for t in tree]

    def fits(self, max_cells: int | None = None) -> Callable[[Axes], bool]:
        """A test of whether the model keeps to so many cells, by default CLIQUES, if some axes are joined."""
        room = CLIQUES if max_cells is None else max_cells
        shape = tuple(len(bins) for bins in self.bins)
        joined = {m.axes for m in self.measurements}
        present = [set(clique) for clique in cliques(joined, shape)]
        memory: dict[Axes, bool] = {}

        def fits(axes: Axes) -> bool:
            if axes not in memory:
                inside = any(set(axes) <= clique for clique in present)
                memory[axes] = inside or size({*joined, axes}, shape) <= room
            return memory[axes]

        return fits
