r"""Quantiles, one or several, over a public grid.

Definition.  The data are counts in cells between public edges e_0 < ... < e_c; what is released is, for each quantile,
the index of an edge.  For one quantile q = a/b, with C_t the number of records below edge t and n of all, edge t is
chosen by the exponential mechanism with score -|b C_t - a n|.  For several, the middle one is chosen first, and splits
the records: those below it answer for the smaller quantiles, those above for the larger, each with its quantile taken
in proportion, (q - q_left) / (q_right - q_left).  So the answers are in order, and there are ceil(log2(k + 1)) levels.

Privacy.  A record added in cell v takes a from b C_t - a n for t <= v and adds b - a for t > v.  Its absolute value may
rise here and fall there, so the range of the moves is r = 2 max(a, b - a), and not less.  A record lies in one
subproblem of each level, so each level costs one choice of r / scale = `each`, with bounded range, whatever the number
of quantiles; all levels together cost their sum.  Several records add up, and one substituted counts as two.

Utility.  If a choice among c + 1 edges falls short by at most s, the rank of its edge is within s / b + g / 2 of the
aim, g being the largest count of a cell, since the C_t climb by at most g.  The aim lies between the ranks of the edges
that bound its subproblem, in the right proportion, so their errors pass on in this proportion.  `error` carries the
first part through the tree, where each of the k choices keeps its s with probability (1 - beta)^(1/k); the second, the
coarseness of the grid, `miss` leaves out: with probability 1 - beta each rank is within `error` + levels g / 2 of q n.

References.  Smith, STOC 2011, for one quantile; Kaplan, Schnapp, Stemmer, ICML 2022, for several.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import law, sample
from ..core.distance import SUBSTITUTE, Distance
from ..core.distance import distance as read_distance
from ..core.errors import BadParameter
from ..core.exact import Number, positive, probability, several, up, whole
from ..core.loss import BoundedRange, Loss
from ..core.mechanism import Example, Mechanism
from ..core.randomness import Source
from ._bisection import FINEST, Below, Counts, Node, bisect, carry, cumulated
from ._rule import share
from ._scores import LARGEST_SCALE
from .exponential import Exponential

Edges = tuple[int, ...]
_TOGETHER = 1 << 20  # cells of several tables


@dataclass(frozen=True, init=False, repr=False)
class Quantiles(Mechanism[Counts, Edges]):
    """Choose an edge for each quantile; `sensitivity` counts records, and `cells` is how many there will be, if known.

    Quantiles are public aims, read as the nearest fraction with a denominator of at most a million.
    """

    quantiles: tuple[Fraction, ...]
    sensitivity: Distance[Any]
    cells: int | None
    each: Fraction  # what one record costs at each level

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        quantiles: Iterable[Number] = ("0.25", "0.5", "0.75"),
        sensitivity: Number | Distance[Any] = 1,
        cells: int | None = None,
    ) -> None:
        aims = tuple(q.limit_denominator(10**6) for q in several("quantiles", quantiles, probability))
        if not aims or any(q >= p for q, p in zip((Fraction(0), *aims), (*aims, Fraction(1)), strict=True)):
            raise BadParameter("quantiles", aims, "one or more, increasing, strictly between 0 and 1")
        object.__setattr__(self, "quantiles", aims)
        object.__setattr__(self, "sensitivity", read_distance(sensitivity, "sensitivity"))
        object.__setattr__(self, "cells", None if cells is None else whole("cells", cells))
        if any(node.share.denominator > FINEST for node in self.tree):
            raise BadParameter("quantiles", aims, f"fractions whose common denominator is at most {FINEST}")
        level = share(BoundedRange, epsilon, rho, self.levels)
        object.__setattr__(self, "each", positive("epsilon", level / self.sensitivity.records, within=LARGEST_SCALE))

    @property
    def levels(self) -> int:
        """ceil(log2(k + 1))."""
        return len(self.quantiles).bit_length()

    @cached_property
    def tree(self) -> tuple[Node, ...]:
        """The choices, in order."""
        return bisect(self.quantiles)

    def law(self, x: Counts) -> law.Finite:
        """Every ordered choice of edges with its mass."""
        below, k = cumulated(x, self.cells), len(self.quantiles)
        masses = {(*[0] * k, below.size - 1, 0): 1.0}
        for node in self.tree:
            partial, masses = masses, {}
            for edges, p in partial.items():
                low, high = edges[node.left], edges[node.right]
                choice = Exponential.rule.masses(node.gaps(below, low, high), self.each / node.range)
                for t, mass in enumerate(choice.tolist(), start=low):
                    masses[(*edges[: node.at], t, *edges[node.at + 1 :])] = p * mass
        return law.Finite({edges[:k]: p for edges, p in masses.items()})

    def sample(self, x: Counts, source: Source) -> Edges:
        return self._draw(cumulated(x, self.cells)[np.newaxis], source)[0]

    def sample_rows(self, x: NDArray[Any], source: Source) -> list[Edges]:
        """Draw for each row of counts by itself."""
        rows = max(1, _TOGETHER // max(1, x.shape[-1]))
        tables = (cumulated(x[first : first + rows], self.cells, rows=True) for first in range(0, len(x), rows))
        return [edges for below in tables for edges in self._draw(below, source)]

    def _draw(self, below: Below, source: Source) -> list[Edges]:
        k = len(self.quantiles)
        edges = np.zeros((len(below), k + 2), np.int64)
        edges[:, k] = below.shape[1] - 1
        for node in self.tree:
            low, high = edges[:, node.left], edges[:, node.right]
            least, most = low.min(), high.max()
            gaps = node.row_gaps(below[:, least : most + 1], low - least, high - least)
            edges[:, node.at] = sample.choices(gaps, self.each / node.range, source)
            edges[:, node.at] += least
        return [tuple(row) for row in edges[:, :k].tolist()]

    def loss(self, distance: Number | Distance[Any] | None = None) -> Loss:
        d = self.sensitivity if distance is None else read_distance(distance, zero=True)
        return Loss({BoundedRange(d.records * self.each): self.levels} if d.l1 else {}, d.relation)

    def error(self, beta: Number = 0.05, cells: int | None = None) -> float:
        """The error in ranks that none of the quantiles exceeds, beyond what the grid is too coarse for."""
        edges = self._cells(cells) + 1
        each = -math.expm1(math.log1p(-float(probability("beta", beta))) / len(self.quantiles))

        def own(node: Node) -> Fraction:
            steps = Exponential.rule.shortfall(each, self.each / node.range, edges)
            return Fraction(steps, node.share.denominator)

        return up(max(carry(self.tree, own)))

    def classical_error(self, beta: Number = 0.05, cells: int | None = None) -> float:
        """The same with ln((c + 1) k / beta) scales for each choice."""
        nats = math.log((self._cells(cells) + 1) * len(self.quantiles) / probability("beta", beta))
        return up(max(carry(self.tree, lambda node: Fraction(nats) * node.range / self.each / node.share.denominator)))

    def _cells(self, cells: int | None) -> int:
        if cells is None and self.cells is None:
            raise BadParameter("cells", None, "given here, or when the mechanism is made")
        return whole("cells", self.cells or 0 if cells is None else cells)

    def miss(self, x: Counts, y: Edges) -> float:
        below = cumulated(x, self.cells)
        n, largest = int(below[-1]), int(np.diff(below).max())
        coarse = carry(self.tree, lambda node: Fraction(largest, 2))
        ranks = [abs(int(below[t]) - q * n) for t, q in zip(y, self.quantiles, strict=True)]
        return max(0.0, *(float(rank - c) for rank, c in zip(ranks, coarse, strict=True)))

    @classmethod
    def examples(cls) -> Iterable[Example[Counts]]:
        x = np.array([6, 1, 0])
        for y in ([7, 1, 0], [6, 1, 1], [6, 0, 0]):
            yield Example(cls(epsilon=3, quantiles=["0.5"], cells=3), x, np.array(y), 1)
            yield Example(cls(epsilon=4, cells=3), x, np.array(y), 1)
        yield Example(cls(epsilon=1, quantiles=["0.1"], cells=4), np.array([1, 0, 5, 1]), np.array([1, 0, 4, 1]), 1)
        yield Example(cls(epsilon=1, quantiles=["0.5", "0.9"], cells=2), np.array([2, 2]), np.array([1, 3]), 2)
        moved = SUBSTITUTE.histogram()
        yield Example(cls(rho="0.2", sensitivity=moved, cells=3), x, np.array([5, 2, 0]), moved)
