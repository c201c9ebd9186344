r"""A posted price: the exponential mechanism on a continuous range, made finite by a public grid.

Definition.  Prices p_1 < ... < p_m are public and fixed before the valuations are seen: a grid made from the valuations
would reveal them.  Who values the good at v buys at every price p <= v; M chooses p by the exponential mechanism, with
the revenue p #{v >= p} as its score.

Noise on the best price itself fails twice over.  One buyer can move the best price across the whole grid, so the noise
must be as wide as the grid; and revenue is not continuous in the price: a step too high can lose every buyer, as with
valuations 1, 1, 1, 3.01, where 3.01 earns 3.01 and 3.02 earns nothing.  A score near the best is nearly as good as
the best; a price near the best price is not.

Privacy.  A buyer adds p to the score of each price p <= v, and nothing to the others.  The range of these moves is the
largest price but one, or p_m - p_1 for a buyer who accepts every price: r = max(p_{m-1}, p_m - p_1), less than the
sensitivity p_m.  So k buyers added or removed cost k r / scale.  A substituted buyer moves the prices between two
valuations, by at most p_m.

Utility.  With probability at least 1 - beta the revenue is within `error` of the best on the grid: that of the
exponential mechanism with m candidates.

References.  McSherry and Talwar, FOCS 2007, section 4; Dwork and Roth (2014), example 3.5.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import law
from ...core.accounting.loss import Loss
from ...core.distance import Distance, Substitute, scalar
from ...core.distance import distance as read_distance
from ...core.errors import BadData, BadParameter
from ...core.exact import up
from ...core.mechanism import Example, Mechanism
from ...core.parameters import Number, positive, several
from ...core.randomness import Source
from .._grid import as_array, element_type
from .exponential import Exponential

Valuations = Sequence[int] | Sequence[float] | NDArray[Any]


@dataclass(frozen=True, init=False, repr=False)
class PostedPrice(Mechanism[Valuations, float]):
    """Choose one of the public prices, the likelier the more it would earn; `sensitivity` counts buyers."""

    prices: tuple[Fraction, ...]
    sensitivity: Distance[Any]
    choice: Exponential

    def __init__(
        self,
        *,
        prices: Iterable[Number],
        epsilon: Number | None = None,
        rho: Number | None = None,
        sensitivity: Number | Distance[Any] = 1,
    ) -> None:
        grid = several("prices", prices, positive)
        if len(grid) < 2 or any(p >= q for p, q in pairwise(map(float, grid))):
            raise BadParameter("prices", grid, "two or more numbers, in increasing order")
        object.__setattr__(self, "prices", grid)
        object.__setattr__(self, "sensitivity", read_distance(sensitivity, "sensitivity"))
        moves = self._moves(self.sensitivity)
        choice = Exponential(epsilon=epsilon, rho=rho, range_sensitivity=moves, candidates=len(grid))
        object.__setattr__(self, "choice", choice)

    @cached_property
    def cents(self) -> NDArray[np.int64]:
        """The prices in their largest common unit."""
        unit = math.lcm(*(p.denominator for p in self.prices))
        if self.prices[-1] * unit > 1 << 26:  # then no number of buyers that fits in memory overflows
            raise BadParameter("prices", self.prices[-1], "within 2^26 multiples of a common unit")
        return np.array([int(p * unit) for p in self.prices])

    def _moves(self, buyers: Distance[Any]) -> Distance[Any]:
        """The range of the moves of the scores, in cents."""
        lowest, second, top = (int(self.cents[i]) for i in (0, -2, -1))
        most = buyers.records * max(second, top - lowest)
        if isinstance(buyers.relation, Substitute):
            most = min(most, buyers.records / 2 * top)  # each substituted buyer is two records
        return scalar(Fraction(math.ceil(most)), buyers.relation)

    def revenues(self, valuations: Valuations) -> NDArray[np.int64]:
        """What each price would earn, in cents."""
        v = as_array("valuations", valuations)
        if v.ndim != 1 or v.dtype.kind not in "iuf" or not np.isfinite(v).all():
            elements = "other numbers" if v.dtype.kind in "iuf" else element_type(v)
            raise BadData("valuations", elements, "finite numbers, one for each buyer")
        accepted = np.searchsorted(np.array(self.prices, float), v, side="right")
        buyers = v.size - np.cumsum(np.bincount(accepted, minlength=len(self.prices) + 1))[:-1]
        return np.asarray(buyers * self.cents)

    def law(self, x: Valuations) -> law.Finite:
        masses = self.choice.law(self.revenues(x))
        return law.Finite({float(p): masses.mass(i) for i, p in enumerate(self.prices)})

    def sample(self, x: Valuations, source: Source) -> float:
        return float(self.prices[self.choice.sample(self.revenues(x), source)])

    def loss(self, distance: Number | Distance[Any] | None = None) -> Loss:
        buyers = self.sensitivity if distance is None else read_distance(distance, zero=True)
        return self.choice.loss(self._moves(buyers))

    def error(self, beta: Number = 0.05) -> float:
        return up(Fraction(self.choice.error(beta=beta)) * self.prices[-1] / int(self.cents[-1]))

    def miss(self, x: Valuations, y: float) -> float:
        earned = dict(zip(map(float, self.prices), self.revenues(x).tolist(), strict=True))
        return float(Fraction(max(earned.values()) - earned[y]) * self.prices[-1] / int(self.cents[-1]))

    @classmethod
    def examples(cls) -> Iterable[Example[Valuations]]:
        x, prices = np.array([1.0, 2.0, 2.5, 3.0, 4.0]), (1, 2, "2.5", 3, 4)
        for y in (x[:-1], x[1:], np.append(x, 9.0)):
            yield Example(cls(prices=prices, epsilon=1), x, y, 1)
        yield Example(cls(prices=(1, 4), epsilon=1), np.ones(12), np.append(np.ones(12), 4.0), 1)
        yield Example(cls(prices=(1, "3.01"), epsilon="0.5"), np.array([1, 1, 1, 3.01]), np.array([1, 1, 1]), 1)


def posted_price(valuations: Valuations, prices: Iterable[Number], epsilon: Number) -> float:
    """One of the public prices, chosen privately for what it would earn."""
    return PostedPrice(prices=prices, epsilon=epsilon).release(valuations)
