r"""A tree of noisy counts that is descended only where nodes hold records.

Levels.  m values are nodes of width b^(L-1), ..., b, 1, level by level, with b^L >= m and b about 16.  The top level is
counted, and on any other level those nodes whose parent's estimate is above 7 deviations of their noise: with fewer
records the noise within the parent would outweigh what separate counts of its children gain.  Children are made to add
up:
    x_v = y_v + (x_p - sum of y) / c,   over the c children of p.
This is least squares if x_p is given; counts of children could better that of p by one part in b + 1 only.

Shares.  The top level has a quarter of the price.  From its total N, which is then public, the largest k is taken such
that the parents of level k would be descended into if all held equally many records; k levels below the top share the
rest equally, except that every level further down has half of the one above, for the few nodes that hold very many.

Errors.  Let P and Q be the errors of the sum of all that is before a node p, and of that with p.  Up to the end of its
A-th child the error is, with a = A / c,
    (1 - a) P + a Q + (1 - a) (Z_1 + ... + Z_A) - a (Z_(A+1) + ... + Z_c),
whose new part has a sum of squared coefficients A (c - A) / c <= b / 4.  Moment generating functions are convex in the
error, so by induction that of every sum is at most what one noise for each node of the top level and b / 4 for each
other level would have.  Which sums are made, and at which shares, depends on noise; but each is one of those of the
whole tree at some shares, whose noises may be thought of as drawn beforehand, so a union bound over all of them holds.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from ....core.distance import Distance
from ....core.randomness import Source
from ...models.error_bounds import Spread
from ...models.trees.monotone_model import Sums
from ...price import Noise, Price, variance
from ...queries.data import Floats, Integers

_THRESHOLD = 7.0  # deviations of the noise
_TOP_SHARES = (1, 3)  # of the top level, and of all others


class Leaves(NamedTuple):
    """The nodes without counted children: where they begin, in order; their estimates; design and number of levels."""

    starts: Integers
    estimates: Floats
    design: int
    levels: int


@dataclass(frozen=True)
class Descent:
    """Over `size` values, the width of the nodes of each level, and the noises of the levels by each design."""

    size: int
    branching: int
    widths: tuple[int, ...]
    noises: tuple[tuple[Noise, ...], ...]

    @cached_property
    def nodes(self) -> list[int]:
        """How many nodes each level has."""
        return [-(-self.size // width) for width in self.widths]

    @cached_property
    def thresholds(self) -> list[list[float]]:
        """The count that parents of each level but the top must exceed, by design: never less than half a record."""
        return [[max(_THRESHOLD * math.sqrt(variance(noise)), 0.5) for noise in below] for _, *below in self.noises]

    def chosen(self, total: float) -> int:
        """The design for so many records."""
        worth = [k for k, needed in enumerate(self.thresholds) if needed and total > self.nodes[k] * needed[k]]
        return worth[-1] if worth else 0

    def sums(self, design: int, levels: int) -> Sums:
        """The errors of sums of nodes from the first, if so many levels are counted."""
        squares = [np.array([self.branching / 4 if level else float(self.nodes[0])]) for level in range(levels)]
        each = [Spread.of(noise, s, 1.0) for noise, s in zip(self.noises[design][:levels], squares, strict=True)]
        square, largest = np.sum([e.deviations**2 for e in each], axis=0), np.max([e.largest for e in each], axis=0)
        energy, steps = np.sum([e.energies for e in each], axis=0), np.sum([e.steps for e in each], axis=0)
        none = np.zeros(1)
        widest = Spread(each[0].laplace, np.sqrt(square), energy, largest, none, steps, none + math.inf)
        return Sums(sum(self.nodes) * len(self.noises), widest)

    def drawn(self, n: int | None) -> float:
        """About how many nodes are counted at most."""
        if n is None:
            return float(sum(self.nodes))
        needed = self.thresholds[self.chosen(n)]
        below = (min(nodes, self.branching * n / t) for nodes, t in zip(self.nodes[1:], needed, strict=True))
        return self.nodes[0] + sum(below)

    def measure(self, counts: Integers, source: Source) -> Leaves:
        """Count nodes from the top down, with one noise on each."""

        def noisy(starts: Integers, level: int) -> Floats:
            bounds = np.stack([starts, starts + self.widths[level]], axis=1).ravel()
            exact = np.add.reduceat(counts, bounds[bounds < self.size])[::2]  # the others are what lies between nodes
            return np.asarray(self.noises[design][level].sample(exact, source), float)

        design, level, starts = 0, 0, np.arange(0, self.size, self.widths[0])
        x = noisy(starts, 0)
        design, leaves = self.chosen(float(x.sum())), []
        for threshold in self.thresholds[design]:
            deeper = x > threshold
            if not deeper.any():
                break
            leaves.append((starts[~deeper], x[~deeper]))
            children = starts[deeper, None] + np.arange(0, self.widths[level], self.widths[level + 1])
            there, level = children < self.size, level + 1
            parent, starts = np.nonzero(there)[0], children[there]
            y = noisy(starts, level)
            x = y + ((x[deeper] - np.bincount(parent, y)) / there.sum(axis=1))[parent]
        starts, x = (np.concatenate(each) for each in zip(*leaves, (starts, x), strict=True))
        order = np.argsort(starts)
        return Leaves(starts[order], x[order], design, level + 1)


@lru_cache(maxsize=64)
def descent(size: int, branching: int, price: Price, moved: Distance[Any]) -> Descent:
    """The descent over `size` values with about so many children a node; a unit moves one level by `moved`."""
    levels = max(1, round(math.log(size, branching)))
    b = next(b for b in itertools.count(1) if b**levels >= size)
    widths = tuple(b**level for level in reversed(range(levels)))
    if levels == 1:
        return Descent(size, b, widths, ((price.noise(moved),),))
    top, rest = price.split(_TOP_SHARES)
    shares = [[2 ** (levels - max(level, k)) for level in range(1, levels)] for k in range(1, levels)]
    noises = [tuple(part.noise(moved) for part in (top, *rest.split(each))) for each in shares]
    return Descent(size, b, widths, tuple(noises))
