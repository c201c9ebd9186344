r"""Quantiles, one or several, over a public grid.

Definition.  The data are counts in cells, one for each value of a public list, in order; what is released is, for each
quantile, the index of a cell.  The rank distance of cell v from an aim A is max(0, #(x < v) - A, A - #(x <= v)), how
many records lie between: 0 where the aim is within the cell, however many records share its value.  For one quantile
q = a/b of n records, A = q n, and v is chosen by the exponential mechanism with b times its rank distance as gap.

For several, the middle one is chosen first, and its cell is cut: at rank A + Z rounded, Z being discrete Laplace noise,
or at that end of the cell which is nearest to this.  The records below the cut answer for the smaller quantiles, those
above for the larger, each with its quantile taken in proportion, (q - q_left) / (q_right - q_left).  A cell that was
cut may be chosen on both sides.  So the answers are in order, and there are ceil(log2(k + 1)) levels.

Privacy.  A record added in cell w raises b A by a, and b #(x < v), b #(x <= v) by b where v is above w.  So distances
move by at most b - a above w, by at most a below it, and that of w can only fall: up here and down there, by at most
max(a, b - a).  The range of the moves is r = 2 max(a, b - a), and not less.  A cut releases b A - b #(x < v) + b Z, of
which one record moves the first part by at most r / 2: whatever v is, the logarithm of its law moves within the same
interval about 0.  So v and the cut have, together, a bounded range that is the sum of theirs, 5/6 of `each` and 1/6 of
it; a v that is not cut has all of it.  Given these, each record is on one side, whatever the others are: of those in
the cut cell the first ones, as many as the cut says, are below.  So each level costs one `each`, whatever the number of
quantiles; all levels together cost their sum.  Several records add up, and one substituted counts as two.

Utility.  A choice among c cells falls short by at most s with the probability of the exponential mechanism, and some
cell has distance 0.  A cut is off by at most the distance of its cell or by |Z| + 1/2, whichever is more.  The aim lies
between two cuts, in the right proportion, so their errors pass on in this proportion.  `error` carries them through the
tree, where each of the choices and cuts, j in all, keeps its own with probability (1 - beta)^(1/j): with probability
1 - beta no cell is at a larger rank distance from q n.

References.  Smith, STOC 2011, for one quantile; Kaplan, Schnapp, Stemmer, ICML 2022, for several, of distinct records.
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

from ...core import law, samplers
from ...core.accounting.loss import BoundedRange, Loss
from ...core.distance import SUBSTITUTE, Distance
from ...core.distance import distance as read_distance
from ...core.errors import BadParameter
from ...core.exact import up
from ...core.mechanism import Example, Mechanism
from ...core.parameters import Number, positive, probability, several, whole
from ...core.randomness import Source
from ...storage import bare, stored
from ._bisection import MAX_DENOMINATOR, Below, BinCountsLike, Node, bisect, carry, cumulated
from ._rule import share
from ._scores import LARGEST_SCALE
from .exponential import Exponential

CellTuple = tuple[int, ...]
_MAX_CELLS_AT_ONCE = 1 << 20  # of several tables
_CUT_SHARE = Fraction(1, 6)  # of `each`, where a cell is cut


@stored("Quantiles", ("quantiles", "sensitivity", "cells", "each"), make=bare)
@dataclass(frozen=True, init=False, repr=False)
class Quantiles(Mechanism[BinCountsLike, CellTuple]):
    """Choose a cell for each quantile; `sensitivity` counts records, and `cells` is how many there will be.

    Quantiles are public aims, read as the nearest fraction with a denominator of at most a million.
    """

    quantiles: tuple[Fraction, ...]
    sensitivity: Distance[Any]
    cells: int | None
    each: Fraction  # the price of one record at each level

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
            raise BadParameter("quantiles", aims, "one or more numbers, increasing, strictly between 0 and 1")
        object.__setattr__(self, "quantiles", aims)
        object.__setattr__(self, "sensitivity", read_distance(sensitivity, "sensitivity"))
        object.__setattr__(self, "cells", None if cells is None else whole("cells", cells))
        if any(node.share.denominator > MAX_DENOMINATOR for node in self.tree):
            raise BadParameter("quantiles", aims, f"fractions whose common denominator is at most {MAX_DENOMINATOR}")
        level = share(BoundedRange, epsilon, rho, self.levels)
        object.__setattr__(self, "each", positive("epsilon", level / self.sensitivity.records, within=LARGEST_SCALE))
        for node in self.tree:
            positive("the scale of the noise of a cut", self._noise(node).scale if node.inner else 1, LARGEST_SCALE)

    theorem = "the exponential mechanism, level by level (Kaplan et al. 2022)"

    @property
    def choices(self) -> int:
        return len(self.quantiles)

    def described(self) -> dict[str, Any]:
        return {"quantiles": [float(q) for q in self.quantiles], "epsilon_per_record_and_level": float(self.each)}

    @property
    def levels(self) -> int:
        """ceil(log2(k + 1))."""
        return len(self.quantiles).bit_length()

    @cached_property
    def tree(self) -> tuple[Node, ...]:
        """The choices, in order."""
        return bisect(self.quantiles)

    def _unit(self, node: Node) -> Fraction:
        """The epsilon of one step of the scores."""
        return self.each * (1 - _CUT_SHARE if node.inner else 1) / node.range

    def _noise(self, node: Node) -> law.DiscreteLaplaceLaw:
        """The noise of a cut, in steps of 1 / b."""
        return law.DiscreteLaplaceLaw(node.range / (_CUT_SHARE * self.each))

    def law(self, x: BinCountsLike) -> law.Finite:
        """Every ordered choice of cells with its mass."""
        below, k = cumulated(x, self.cells), len(self.quantiles)
        masses = {((*[0] * k, below.size - 2, 0), (*[0] * k, int(below[-1]), 0)): 1.0}  # by cells and cuts
        for node in self.tree:
            partial, masses = masses, {}
            for (cells, cuts), p in partial.items():
                (low, high), (first, last) = ((at[node.left], at[node.right]) for at in (cells, cuts))
                aim = node.aim(first, last)
                choice = Exponential.rule.masses(node.gaps(below[low : high + 2], aim), self._unit(node))
                for v, mass in enumerate(choice.tolist(), start=low):
                    ends = max(first, int(below[v])), min(last, int(below[v + 1]))
                    for cut, part in node.cut_law(self._noise(node), aim, *ends) if node.inner else ((0, 1.0),):
                        masses[_with(cells, node.at, v), _with(cuts, node.at, cut)] = p * mass * part
        released: dict[CellTuple, float] = {}
        for (cells, _), p in masses.items():
            output = self._released(cells[:k])
            released[output] = released.get(output, 0.0) + p
        return law.Finite(released)

    def sample(self, x: BinCountsLike, source: Source) -> CellTuple:
        return self._draw(cumulated(x, self.cells)[np.newaxis], source)[0]

    def sample_rows(self, x: NDArray[Any], source: Source) -> list[CellTuple]:
        """Draw for each row of counts by itself."""
        rows = max(1, _MAX_CELLS_AT_ONCE // max(1, x.shape[-1]))
        tables = (cumulated(x[first : first + rows], self.cells, rows=True) for first in range(0, len(x), rows))
        return [cells for below in tables for cells in self._draw(below, source)]

    def _draw(self, below: Below, source: Source) -> list[CellTuple]:
        k, row = len(self.quantiles), np.arange(len(below))
        cells, cuts = (np.zeros((len(below), k + 2), np.int64) for _ in range(2))
        cells[:, k], cuts[:, k] = below.shape[1] - 2, below[:, -1]
        for node in self.tree:
            low, high, first, last = (at[:, side] for at in (cells, cuts) for side in (node.left, node.right))
            least, most, aim = low.min(), high.max(), node.aim(first, last)
            gaps = node.row_gaps(below[:, least : most + 2], low - least, high - least, aim)
            chosen = np.array(samplers.choices(gaps, self._unit(node), source), np.int64) + least
            cells[:, node.at] = chosen
            if node.inner:
                noise = samplers.laplace(self._noise(node).scale, source, len(below))
                ends = np.maximum(first, below[row, chosen]), np.minimum(last, below[row, chosen + 1])
                cuts[:, node.at] = node.cut(noise, aim, *ends)
        return [self._released(tuple(row_cells)) for row_cells in cells[:, :k].tolist()]

    def _released(self, cells: CellTuple) -> CellTuple:
        """The cells in the order in which they are released; bisection chooses them in order."""
        return cells

    def loss(self, distance: Number | Distance[Any] | None = None) -> Loss:
        d = self.sensitivity if distance is None else read_distance(distance, zero=True)
        return Loss({BoundedRange(d.records * self.each): self.levels} if d.l1 else {}, d.relation)

    def error(self, beta: Number = 0.05, cells: int | None = None) -> float:
        """The rank distance that none of the quantiles exceeds."""
        among = self._cells(cells)
        each = -math.expm1(math.log1p(-float(probability("beta", beta))) / self._draws)

        def own(node: Node) -> Fraction:
            return Fraction(Exponential.rule.shortfall(each, self._unit(node), among), node.share.denominator)

        def cut(node: Node) -> Fraction:
            return Fraction(self._noise(node).tail_quantile(each), node.share.denominator) + Fraction(1, 2)

        return up(max(carry(self.tree, own, cut)))

    def classical_error(self, beta: Number = 0.05, cells: int | None = None) -> float:
        """The error with ln(c j / beta) scales for each choice, and ln(2 j / beta) for each cut, by union bounds."""
        log_odds = Fraction(math.log(self._draws) - math.log(probability("beta", beta)))
        nats = log_odds + Fraction(math.log(self._cells(cells)))

        def cut(node: Node) -> Fraction:
            scales = log_odds + Fraction(math.log(2))
            return scales * self._noise(node).scale / node.share.denominator + Fraction(1, 2)

        return up(max(carry(self.tree, lambda node: nats / self._unit(node) / node.share.denominator, cut)))

    @property
    def _draws(self) -> int:
        """The number of choices and cuts."""
        return len(self.tree) + sum(node.inner for node in self.tree)

    def _cells(self, cells: int | None) -> int:
        number = self.cells if cells is None else cells
        if number is None:
            raise BadParameter(
                "cells",
                None,
                "given here, or when the mechanism is made",
                says="Pass cells (how many there are), here or to the mechanism.",
            )
        return whole("cells", number)

    def miss(self, x: BinCountsLike, y: CellTuple) -> float:
        below = cumulated(x, self.cells).tolist()
        aims = [q * below[-1] for q in self.quantiles]
        return float(max(max(0, below[v] - aim, aim - below[v + 1]) for v, aim in zip(y, aims, strict=True)))

    @classmethod
    def examples(cls) -> Iterable[Example[BinCountsLike]]:
        x = np.array([6, 1, 0])
        for y in ([7, 1, 0], [6, 1, 1], [6, 0, 0]):
            yield Example(cls(epsilon=3, quantiles=["0.5"], cells=3), x, np.array(y), 1)
            yield Example(cls(epsilon=4, cells=3), x, np.array(y), 1)
        yield Example(cls(epsilon=1, quantiles=["0.1"], cells=4), np.array([1, 0, 5, 1]), np.array([1, 0, 4, 1]), 1)
        yield Example(cls(epsilon=1, quantiles=["0.5", "0.9"], cells=2), np.array([2, 2]), np.array([1, 3]), 2)
        for y in ([0, 9, 0], [1, 8, 0], [0, 8, 1]):  # a value that many share is cut
            yield Example(cls(epsilon=4, cells=3), np.array([0, 8, 0]), np.array(y), 1)
        moved = SUBSTITUTE.histogram()
        yield Example(cls(rho="0.2", sensitivity=moved, cells=3), x, np.array([5, 2, 0]), moved)


def _with(places: CellTuple, i: int, new: int) -> CellTuple:
    """The places with another at index i."""
    return (*places[:i], new, *places[i + 1 :])
