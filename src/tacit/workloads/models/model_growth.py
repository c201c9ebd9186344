r"""A graphical model that grows with what is known of a table: the public part of a search.

It begins with noisy counts of each attribute's values.  These make bins of the rare ones (`bins.py`), and a product as
the first model.  Then it is fitted to more and more measurements (`maximum_entropy.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from ...mechanisms import project_to_simplex
from ..queries.data import Floats
from ..queries.domain import CELLS, Axes
from .bins import Bins, coarse
from .graphical_model import Graphical
from .junction_tree import Junction, cliques, size
from .maximum_entropy import Measurement, fit, product
from .residuals import Residuals

FINEST = 0.01  # the least share of all records that a bin of the model has, if it has neighbours to join
LEVELS = (0.02, 0.06, 0.2)  # and those of candidates
CLIQUES = 300_000  # cells of the model
_SMALL, _TRIES = 10_000, 1000  # cells of a model that is but a beginning, and pairs that it may have
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
        """Fit the model to all measurements so far, if any."""
        if not self.measurements:
            return
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

    def fits(self, most: int = CLIQUES) -> Callable[[Axes], bool]:
        """Whether the model keeps to so many cells if these axes are joined, as it now is."""
        shape = tuple(len(bins) for bins in self.bins)
        joined = {m.axes for m in self.measurements}
        known = [set(clique) for clique in cliques(joined, shape)]
        memory: dict[Axes, bool] = {}

        def fits(axes: Axes) -> bool:
            if axes not in memory:
                inside = any(set(axes) <= clique for clique in known)
                memory[axes] = inside or size({*joined, axes}, shape) <= most
            return memory[axes]

        return fits


def explained(tables: Residuals, steps: int = 100) -> Graphical:
    """A small model of noisy tables, fitted to some pairs of them: rows can be drawn from it, however wide the table.

    First the tree of the pairs that differ most from a product, then others that differ most from the tree.
    """
    growth = Growth(tables)
    candidates = growth.candidates([axes for axes in tables.residuals if len(axes) == 2], math.inf)
    known = [_measured(growth, tables, c) for c in candidates]
    gains = [_gain(growth, m) for m in known]
    best = growth.forest(candidates, lambda places: max(places, key=lambda i: gains[i]))
    growth.measurements += [known[candidates.index(c)] for c in best]
    growth.fit(steps)
    gains = [_gain(growth, m) for m in known]
    joined, edges = {m.axes for m in growth.measurements}, len(growth.measurements)
    for i in sorted(range(len(known)), key=lambda i: -gains[i])[:_TRIES]:
        if gains[i] > 0 and known[i].axes not in joined and growth.fits(_SMALL)(known[i].axes):
            growth.measurements.append(known[i])
            joined.add(known[i].axes)
    if len(growth.measurements) > edges:
        growth.fit(steps)
    return growth.model


def _measured(growth: Growth, tables: Residuals, candidate: Candidate) -> Measurement:
    """What noisy tables say of a candidate."""
    bins = [growth.bins[a] for a in candidate.axes]
    values = coarse(coarse(tables.marginal(candidate.axes), bins), candidate.bins)
    lengths = (coarse(fine.lengths.astype(float), [b]) for fine, b in zip(bins, candidate.bins, strict=True))
    variances = tables.energy(candidate.axes).variance * np.multiply.outer(*lengths)
    return Measurement(candidate.axes, candidate.bins, values, variances)


def _gain(growth: Growth, known: Measurement) -> float:
    """By how much the model misses what is known, beyond its noise."""
    gap = np.abs(known.values - coarse(growth.model.binned(known.axes), known.bins)).sum()
    return float(gap - math.sqrt(2 / math.pi) * np.sqrt(known.variances).sum())
