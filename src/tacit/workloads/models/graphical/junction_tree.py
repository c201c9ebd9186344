r"""A distribution that factors over a junction tree, with exact inference in plain NumPy.

The distribution is exp(sum of potentials) / Z, one potential for each of some sets of axes.  Their graph is made
chordal by eliminating axes in the order of least new clique; its maximal cliques, joined by a spanning tree of largest
separators, form a tree in which what two cliques share is shared by all between them.  Messages up the tree are
logarithms, and leave each clique as a law given what it shares with its parent; down the tree these are multiplied, to
the marginal of every clique.  So no potential, however large, makes a sum vanish.  Any other marginal is summed out of
a subtree.

References.  Lauritzen and Spiegelhalter, J. R. Stat. Soc. B 50 (1988); Jensen and Jensen, UAI 1994, for the tree.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from string import ascii_letters

import numpy as np

from ....storage import stored
from ...queries.data import Floats
from ...queries.domain import Axes


def placed(table: Floats, axes: Axes, within: Axes) -> Floats:
    """A table reshaped so that it broadcasts to one on more axes."""
    sizes = dict(zip(axes, table.shape, strict=True))
    return table.reshape([sizes.get(a, 1) for a in within])


def summed(table: Floats, axes: Axes, keep: Axes) -> Floats:
    """A table on `axes` summed down to those in `keep`."""
    return np.asarray(table.sum(axis=tuple(i for i, a in enumerate(axes) if a not in keep)))


def cliques(sets: Iterable[Axes], shape: Sequence[int]) -> list[Axes]:
    """The maximal cliques of a chordal graph in which each of the sets is a clique."""
    near: dict[int, set[int]] = {axis: set() for axis in range(len(shape))}
    for axes in sets:
        for a in axes:
            near[a] |= set(axes) - {a}
    maximal: list[set[int]] = []
    weight = {a: shape[a] * math.prod(shape[b] for b in near[a]) for a in near}  # of the clique that each would make
    while near:
        least = min(weight, key=weight.__getitem__)
        del weight[least]
        clique = near.pop(least) | {least}
        for a in clique - {least}:
            near[a] = (near[a] | clique) - {a, least}
            weight[a] = shape[a] * math.prod(shape[b] for b in near[a])
        if not any(clique <= other for other in maximal):
            maximal.append(clique)
    return [tuple(sorted(clique)) for clique in maximal]


def size(sets: Iterable[Axes], shape: Sequence[int]) -> int:
    """How many cells the cliques for these sets have in all."""
    return sum(math.prod(shape[a] for a in clique) for clique in cliques(sets, shape))


@stored("JunctionTree", ("shape", "cliques", "parents"))
@dataclass(frozen=True)
class Junction:
    """The tree: `parents[i]` is the place of the parent of clique i, before it; -1 at the root."""

    shape: tuple[int, ...]
    cliques: tuple[Axes, ...]
    parents: tuple[int, ...]

    @classmethod
    def of(cls, sets: Iterable[Axes], shape: Sequence[int]) -> Junction:
        """The tree for potentials on these sets; every axis is in some clique."""
        left = [(clique, set(clique)) for clique in cliques(sets, shape)]
        joined, parents = [left[0][0]], [-1]
        near = [(len(own & left[0][1]), 0) for _, own in left]  # the largest separator of each, and with whom
        waiting = list(range(1, len(left)))
        while waiting:  # Prim's algorithm
            i = max(waiting, key=lambda i: near[i][0])
            waiting.remove(i)
            joined.append(left[i][0])
            parents.append(near[i][1])
            for other in waiting:
                size = len(left[other][1] & left[i][1])
                if size > near[other][0]:
                    near[other] = size, len(joined) - 1
        return cls(tuple(shape), tuple(joined), tuple(parents))

    @cached_property
    def separators(self) -> tuple[Axes, ...]:
        return tuple(
            () if p < 0 else tuple(a for a in clique if a in self.cliques[p])
            for clique, p in zip(self.cliques, self.parents, strict=True)
        )

    def home(self, axes: Axes) -> int | None:
        """The smallest clique that holds these axes, or None."""
        if axes not in self._homes:
            holding = [i for i, clique in enumerate(self.cliques) if set(axes) <= set(clique)]
            cells = [math.prod(self.shape[a] for a in self.cliques[i]) for i in holding]
            self._homes[axes] = holding[cells.index(min(cells))] if holding else None
        return self._homes[axes]

    @cached_property
    def _homes(self) -> dict[Axes, int | None]:
        return {}

    def calibrate(self, potentials: Mapping[Axes, Floats]) -> tuple[list[Floats], float]:
        """The marginal of each clique, and log Z; every set of a potential must lie in some clique."""
        beliefs = [np.zeros([self.shape[a] for a in clique]) for clique in self.cliques]
        for axes, potential in potentials.items():
            home = self.home(axes)
            assert home is not None
            beliefs[home] += placed(potential, axes, self.cliques[home])
        log_z = 0.0
        for i in range(len(beliefs) - 1, -1, -1):
            belief, clique, sep = beliefs[i], self.cliques[i], self.separators[i]
            own = tuple(place for place, a in enumerate(clique) if a not in sep)
            top = belief.max(axis=own, keepdims=True)
            np.exp(np.subtract(belief, top, out=belief), out=belief)
            total = belief.sum(axis=own, keepdims=True)  # at least 1, so that nothing is divided by 0
            belief /= total  # the law of the rest of the clique given its separator
            message = np.squeeze(top + np.log(total), axis=own)
            if i:
                beliefs[self.parents[i]] += placed(message, sep, self.cliques[self.parents[i]])
            else:
                log_z = float(message)
        for i in range(1, len(beliefs)):
            sep, p = self.separators[i], self.parents[i]
            beliefs[i] *= placed(summed(beliefs[p], self.cliques[p], sep), sep, self.cliques[i])
        return beliefs, log_z

    def marginal(self, beliefs: Sequence[Floats], axes: Axes) -> Floats:
        """The marginal on any axes, from those of the cliques."""
        several = tuple(a for a in axes if self.shape[a] > 1)
        home = self.home(several)
        if home is not None:
            table, over = beliefs[home], self.cliques[home]
        else:
            table, over = self._gather(beliefs, set(several), self._top(several), -1)
        return summed(table, over, several).reshape([self.shape[a] for a in axes])

    @cached_property
    def _neighbours(self) -> list[list[int]]:
        near: list[list[int]] = [[] for _ in self.cliques]
        for i, p in enumerate(self.parents[1:], 1):
            near[i].append(p)
            near[p].append(i)
        return near

    def _top(self, axes: Axes) -> int:
        """A clique to sum towards: one that holds as many of the axes as any."""
        return max(range(len(self.cliques)), key=lambda i: len(set(axes) & set(self.cliques[i])))

    def _gather(self, beliefs: Sequence[Floats], want: set[int], at: int, back: int) -> tuple[Floats, Axes]:
        """The product of the cliques beyond `back`, on the axes wanted and those shared with `back`."""
        own = self.cliques[at]
        used = [near for near in self._neighbours[at] if near != back and want & self._beyond[at, near] - set(own)]
        shares = [set(own).intersection(self.cliques[near]) for near in used]
        outer = set(own).intersection(self.cliques[back]) if back >= 0 else set()
        keep = want | outer
        over = tuple(a for a in own if a in keep.union(*shares))
        table = summed(beliefs[at], own, over)
        for i, near in enumerate(used):
            part, axes = self._gather(beliefs, want, near, at)
            shared = tuple(sorted(shares[i]))
            part = part / np.maximum(placed(summed(beliefs[at], own, shared), shared, axes), 1e-300)
            both = tuple(sorted({*over, *axes}))
            left = tuple(a for a in both if a in keep.union(*shares[i + 1 :]))
            table, over = _product(table, over, part, axes, left), left
        return table, over

    @cached_property
    def _beyond(self) -> dict[tuple[int, int], set[int]]:
        """The axes on the far side of each edge."""
        beyond: dict[tuple[int, int], set[int]] = {}
        edges = list(enumerate(self.parents))[1:]
        for near, at in (*((i, p) for i, p in reversed(edges)), *((p, i) for i, p in edges)):  # down, then up
            rest = (beyond[near, far] for far in self._neighbours[near] if far != at)
            beyond[at, near] = set(self.cliques[near]).union(*rest)
        return beyond


def _product(a: Floats, over_a: Axes, b: Floats, over_b: Axes, keep: Axes) -> Floats:
    """The product of two tables, summed down to `keep`; never laid out on all axes of both."""
    letter = dict(zip(sorted({*over_a, *over_b}), ascii_letters, strict=False))
    first, second, out = ("".join(letter[axis] for axis in axes) for axes in (over_a, over_b, keep))
    return np.asarray(np.einsum(f"{first},{second}->{out}", a, b, optimize=True))
