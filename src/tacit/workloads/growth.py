r"""A graphical model that grows with what is known of a table: the public part of a search.

It begins with noisy counts of each attribute's values.  These make bins of the rare ones (`bins.py`), and a product as
the first model.  Then it is fitted to more and more measurements (`maximum_entropy.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ..mechanisms import project_to_simplex
from .bins import Bins, coarse
from .data import Floats
from .domain import CELLS, Axes
from .graphical import Graphical
from .junction import Junction, cliques, size
from .maximum_entropy import Measurement, fit, product
from .residuals import Residuals

FINEST = 0.01  # the least share of all records that a bin of the model has, if it has neighbours to join
LEVELS = (0.02, 0.06, 0.2)  # and those of candidates
CLIQUES = 300_000  # cells of the model
_MOST = 2.0**50  # records: more are noise, and would not be counted exactly


@dataclass(frozen=True, eq=False)
class Candidate:
    """A table that may be measured; its bins are bins of the model's bins."""

    axes: Axes
    bins: tuple[Bins, ...]

    @property
    def cells(self) -> int:
        return math.prod(map(len, self.bins))


class Growth:
    """The model so far, and what it was made from."""

    def __init__(self, single: Residuals) -> None:
        self.domain, self.total = single.domain, min(max(1.0, single.total), _MOST)
        noisy = [single.marginal((axis,)) for axis in self.domain.all]
        values = [project_to_simplex(table / self.total) + 1e-9 for table in noisy]  # nothing is impossible
        self.bins = [Bins.of(share, FINEST) for share in values]
        sums = [coarse(share, [bins]) for share, bins in zip(values, self.bins, strict=True)]
        self.shares = [own / own.sum() for own in sums]
        self.inside = [s / np.repeat(own, b.lengths) for s, own, b in zip(values, sums, self.bins, strict=True)]
        self.levels = [[Bins.of(share, level) for share in self.shares] for level in LEVELS]
        self.measurements: list[Measurement] = []
        for axis, (table, bins) in enumerate(zip(noisy, self.bins, strict=True)):
            variances = single.energy((axis,)).variance * bins.lengths.astype(float)
            if np.isfinite(variances).all():
                each = (Bins.each(len(bins)),)
                self.measurements.append(Measurement((axis,), each, coarse(table, [bins]), variances))
        self._tilts = np.zeros(0)
        self._set(*product(self.shares))

    def _set(self, tree: Junction, beliefs: list[Floats]) -> None:
        self.model = Graphical(self.domain, self.total, bins=self.bins, shares=self.inside, tree=tree, beliefs=beliefs)

    def fit(self, steps: int) -> None:
        """Fit the model to all measurements so far."""
        tree, beliefs, self._tilts = fit(self.shares, self.measurements, self.total, self._tilts, steps)
        self._set(tree, beliefs)

    def candidates(self, sets: Iterable[Axes], most: float) -> list[Candidate]:
        """Tables on these sets, in bins of each level, of so many cells at most; what is the same is named once."""
        found: dict[tuple[Axes, tuple[int, ...]], Candidate] = {}
        for axes in sets:
            for level in self.levels:
                one = Candidate(axes, tuple(level[a] for a in axes))
                shape = tuple(map(len, one.bins))
                if min(shape) > 1 and one.cells <= most and self.domain.cells(axes) <= CELLS:
                    found.setdefault((axes, shape), one)
        return list(found.values())

    def forest(self, candidates: list[Candidate], pick: Callable[[list[int]], int]) -> Iterable[Candidate]:
        """Pairs, picked by their places one after the other, that close no cycle."""
        tree = list(self.domain.all)  # which tree of the forest each attribute is in
        while places := [i for i, c in enumerate(candidates) if tree[c.axes[0]] != tree[c.axes[1]]]:
            chosen = candidates[pick(places)]
            yield chosen
            kept, gone = (tree[a] for a in chosen.axes)
            tree = [kept if t == gone else t for t in tree]

    def fits(self) -> Callable[[Axes], bool]:
        """Whether the model stays small enough if these axes are joined, as it now is."""
        shape = tuple(len(bins) for bins in self.bins)
        joined = {m.axes for m in self.measurements}
        known = [set(clique) for clique in cliques(joined, shape)]
        memory: dict[Axes, bool] = {}

        def fits(axes: Axes) -> bool:
            if axes not in memory:
                inside = any(set(axes) <= clique for clique in known)
                memory[axes] = inside or size({*joined, axes}, shape) <= CLIQUES
            return memory[axes]

        return fits


def explained(tables: Residuals, steps: int = 100) -> Graphical:
    """The tree that best explains noisy tables, fitted to them: rows can be drawn from it, however wide the table."""
    growth = Growth(tables)
    pairs = [axes for axes in combinations(growth.domain.all, 2) if math.isfinite(tables.energy(axes).variance)]
    candidates = growth.candidates(pairs, math.inf)
    known, gains = [], []
    for c in candidates:
        model_bins = [growth.bins[a] for a in c.axes]
        values = coarse(coarse(tables.marginal(c.axes), model_bins), c.bins)
        lengths = (coarse(fine.lengths.astype(float), [b]) for fine, b in zip(model_bins, c.bins, strict=True))
        variances = tables.energy(c.axes).variance * np.multiply.outer(*lengths)
        gap = np.abs(values - coarse(growth.model.binned(c.axes), c.bins)).sum()
        gains.append(gap - math.sqrt(2 / math.pi) * np.sqrt(variances).sum())
        known.append(Measurement(c.axes, c.bins, values, variances))
    best = growth.forest(candidates, lambda places: max(places, key=lambda i: gains[i]))
    growth.measurements += [known[candidates.index(c)] for c in best]
    growth.fit(steps)
    return growth.model
