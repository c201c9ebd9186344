r"""Several quantiles, each chosen by itself.

Definition.  Each quantile is chosen among the cells as `quantile.py` chooses a single one, whatever the others are, and
the cells that were chosen are put in order.

Privacy.  For k quantiles k choices of bounded range `each`, one after the other: they cost their sum.  Order is
post-processing.

Utility.  Each choice falls short by at most its s with the probability of the exponential mechanism; each keeps its own
with probability (1 - beta)^(1/k).  If all are within s of their aims, so they are in order: of the j least that were
chosen, one is at most as far up as the aims of the first j allow, and aims increase; and from above likewise.  There is
no cut, whose noise others inherit: k choices at 1/k of the price promise more than bisection does while k is small.

References.  Smith, STOC 2011; Kaplan, Schnapp, Stemmer, ICML 2022, who hold it against bisection.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...core.mechanism import Example
from ...storage import bare, stored
from ._bisection import BinCountsLike, Node
from .quantile import CellTuple, Quantiles


class _Independent(Node):
    """A choice among all cells, on which no other depends."""

    inner = False


@stored("IndependentQuantiles", ("quantiles", "sensitivity", "cells", "each"), make=bare)
@dataclass(frozen=True, init=False, repr=False)
class IndependentQuantiles(Quantiles):
    """Choose a cell for each quantile by itself; the cells are released in order."""

    theorem = "the exponential mechanism, one by one (Smith 2011)"

    @property
    def levels(self) -> int:
        return len(self.quantiles)

    @cached_property
    def tree(self) -> tuple[Node, ...]:
        return tuple(_Independent(at, -1, len(self.quantiles), q) for at, q in enumerate(self.quantiles))

    def _released(self, cells: CellTuple) -> CellTuple:
        return tuple(sorted(cells))

    @classmethod
    def examples(cls) -> Iterable[Example[BinCountsLike]]:
        x = np.array([6, 1, 0])
        for y in ([7, 1, 0], [6, 1, 1], [6, 0, 0]):
            yield Example(cls(epsilon=4, cells=3), x, np.array(y), 1)
        yield Example(cls(epsilon=1, quantiles=["0.5", "0.9"], cells=2), np.array([2, 2]), np.array([1, 3]), 2)
        yield Example(cls(rho="0.2", quantiles=["0.1", "0.5"], cells=3), x, np.array([5, 1, 0]), 1)
