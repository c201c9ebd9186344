"""A model that is a distribution over a junction tree of bins; within its bin each value has a fixed share.

Rows are drawn clique by clique.  Those that agree on what a clique shares with its parent are put in random order, and
its other axes are dealt out to them by systematic sampling: in each group every combination gets one of the two whole
numbers next to its expectation.  So the rows' counts are as near to the model's as whole numbers can be.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ....core import samplers
from ....core.parameters import whole
from ....core.randomness import Source
from ....storage import stored
from ...queries.data import Floats, Integers
from ...queries.domain import Axes, Domain
from ..model import Model
from .bins import Bins
from .junction_tree import Junction


@stored(
    "GraphicalModel",
    {
        "domain": "domain",
        "total": "size",
        "bins": "bins",
        "shares": "shares",
        "tree": "tree",
        "beliefs": "beliefs",
    },
)
class Graphical(Model):
    """Counts of `total` records: those of bins by the tree, and those of values by their shares of the bins."""

    def __init__(
        self,
        domain: Domain,
        total: float,
        *,
        bins: Sequence[Bins],
        shares: Sequence[Floats],
        tree: Junction,
        beliefs: Sequence[Floats],
    ) -> None:
        self.domain, self.size, self.bins, self.shares = domain, total, bins, shares
        self.tree, self.beliefs = tree, beliefs

    def binned(self, axes: Axes) -> Floats:
        """Estimated counts of the bins on these axes."""
        return self.size * self.tree.marginal(self.beliefs, axes)

    def marginal(self, axes: Axes) -> Floats:
        self.domain.laid_out(axes)
        table = self.binned(axes)
        for place, axis in enumerate(axes):
            shares = self.shares[axis].reshape([-1 if i == place else 1 for i in range(len(axes))])
            table = np.repeat(table, self.bins[axis].lengths, axis=place) * shares
        return table

    def nonnegative(self) -> Graphical:
        return self

    def synthetic(self, n: int, source: Source) -> Integers:
        codes = np.zeros((whole("n", n), len(self.domain.shape)), np.int64)
        for clique, separator, belief in zip(self.tree.cliques, self.tree.separators, self.beliefs, strict=True):
            new = tuple(a for a in clique if a not in separator)
            table = belief.transpose([clique.index(a) for a in (*separator, *new)])
            groups = math.prod(table.shape[: len(separator)])
            drawn = _deal(_index(codes, separator, self.tree.shape), table.reshape(groups, -1), source)
            codes[:, new] = np.stack(np.unravel_index(drawn, table.shape[len(separator) :]), axis=1)
        for axis, bins in enumerate(self.bins):
            inside = np.zeros((len(bins), self.shares[axis].size))
            inside[np.repeat(np.arange(len(bins)), bins.lengths), np.arange(self.shares[axis].size)] = self.shares[axis]
            codes[:, axis] = _deal(codes[:, axis], inside, source)
        return codes[samplers.permutation(n, source)]


def _index(codes: Integers, axes: Axes, shape: Sequence[int]) -> Integers:
    if not axes:
        return np.zeros(len(codes), np.int64)
    return np.asarray(np.ravel_multi_index(tuple(codes[:, axes].T), tuple(shape[a] for a in axes)))


def _deal(groups: Integers, weights: Floats, source: Source) -> Integers:
    """Draw a column for each row, by the weights of the row's group."""
    order = samplers.permutation(groups.size, source)
    order = order[np.argsort(groups[order], kind="stable")]  # by group, at random within it
    sizes = np.bincount(groups, minlength=len(weights))
    ends = np.cumsum(weights, axis=1)
    ends = ends / np.maximum(ends[:, -1:], 1e-300) * sizes[:, None]
    ends[:, -1] = sizes  # exactly, so that no row crosses to another group
    starts = np.array([source.word() for _ in range(len(weights))]) / 2.0**source.width
    cuts = np.clip(np.ceil(ends - starts[:, None]), 0, sizes[:, None]).astype(np.int64)
    cuts[:, -1] = sizes
    counts = np.diff(cuts, axis=1, prepend=0)
    columns = np.repeat(np.tile(np.arange(weights.shape[1]), len(weights)), counts.ravel())
    drawn = np.empty_like(groups)
    drawn[order] = columns
    return drawn
