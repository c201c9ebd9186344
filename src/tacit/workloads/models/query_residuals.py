"""What of a query falls on each residual.

A query with coefficients w on the axes T asks the residual on A, within T, for the sum with coefficients
    P_A w_A / prod_{j in T - A} n_j,      w_A the sums of w over the axes of T - A  (`residuals.py`).
Of a query that is a product, such as a box, so is this: on each axis it is the mean of a factor, or what is left of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

import numpy as np

from ..queries.data import Floats, Integers
from ..queries.domain import CELLS, Axes
from ..queries.predicates import Predicates
from ..queries.ranges import Ranges
from ..queries.workload import Workload

Pieces = Callable[[Axes], tuple[Floats, Floats]]  # by places in T: squared length and largest entry, of each query
_NOTHING = 1e-20  # of a square: coefficients are in steps of 2^-20, so less comes from rounding


def products(means: Floats, squares: Floats, largest: Floats) -> Pieces:
    """Of products: on each axis the mean of the factor, and the squares and largest entry of the rest."""

    def pieces(places: Axes) -> tuple[Floats, Floats]:
        others = tuple(i for i in range(means.shape[1]) if i not in places)
        share = np.prod(means[:, others], axis=1)
        return np.prod(squares[:, places], axis=1) * share**2, np.prod(largest[:, places], axis=1) * share

    return pieces


def dense(rows: Floats) -> Pieces:
    """Of tables of coefficients, one in each row."""
    least = _NOTHING * np.square(rows).sum(axis=tuple(range(1, rows.ndim)))

    def pieces(places: Axes) -> tuple[Floats, Floats]:
        table = rows.mean(axis=tuple(1 + i for i in range(rows.ndim - 1) if i not in places), keepdims=True)
        for i in places:
            table = table - table.mean(axis=1 + i, keepdims=True)
        flat = table.reshape(len(rows), -1)
        squares = np.square(flat).sum(axis=1)
        return np.where(squares > least, squares, 0.0), np.abs(flat).max(axis=1)

    return pieces


def pieces(part: Workload) -> Iterator[tuple[Axes, Integers, Pieces]]:
    """The queries that look at the same axes, where they can be taken apart."""
    if isinstance(part, Ranges):
        n = np.array([part.domain.shape[a] for a in part.axes], float)
        share = (part.high - part.low + 1) / n
        yield part.axes, np.arange(part.queries), products(share, share * (1 - share) * n, np.maximum(share, 1 - share))
    elif isinstance(part, Predicates):
        together: defaultdict[Axes, list[int]] = defaultdict(list)
        for i, factors in enumerate(part.factors):
            together[tuple(a for a, f in factors.items() if not (f == 1).all())].append(i)  # the others ask nothing
        for axes, members in together.items():
            found = np.array([[_moments(part.factors[i][a]) for a in axes] for i in members])
            yield axes, np.array(members), products(*found.reshape(len(members), len(axes), 3).transpose(2, 0, 1))
    elif part.queries * part.domain.size <= CELLS >> 3:
        rows = np.stack([part.vector(i) for i in range(part.queries)]).reshape(part.queries, *part.domain.shape)
        others = tuple(1 + a for a in part.domain.all if a not in part.span)
        yield part.span, np.arange(part.queries), dense(rows.mean(axis=others))


def _moments(factor: Floats) -> tuple[float, float, float]:
    rest = factor - factor.mean()
    return float(factor.mean()), float(rest @ rest), float(np.abs(rest).max())
