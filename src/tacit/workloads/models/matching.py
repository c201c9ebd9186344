"""Records that have noisy marginals, also where there are more cells than anybody lays out.

Points are drawn from what a small model or a copula says (`growth.py`, `copula.py`), or are all cells if there are few.
They are weighted until they have the marginals (`raking.py`); rows of them are whole numbers of each (`exchange.py`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from itertools import combinations

import numpy as np

from ...core.randomness import Source
from ..queries.data import Floats, Integers
from ..queries.domain import Axes, Domain
from .copula import correlated
from .model import Model
from .model_growth import explained
from .raking import SURE, WORK, Noisy, cells, rake
from .residuals import Residuals
from .weighted_points import Points

_LEAST, _MOST = 1 << 14, 1 << 19  # points
_VALUES = 1 << 25  # of all points
_CELLS, _ROOM = 1 << 17, 1 << 26  # of a table, or of all
_FEW = 10  # looks of each table at all points, at least


def moderate(domain: Domain) -> bool:
    """Whether all cells can be weighted as points, if the tables are few."""
    return domain.size <= _MOST


def largest(domain: Domain, sets: Collection[Axes]) -> list[Axes]:
    """Those within no other; parts instead of tables that are too large, and of too many some alone."""
    found, left, most = set[Axes](), set(sets), max(_CELLS, _ROOM // max(len(sets), 1))
    while left:
        axes = left.pop()
        small = len(axes) <= 1 or domain.cells(axes) <= most
        found |= {axes} if small else set()
        left |= set() if small else set(combinations(axes, len(axes) - 1))
    lengths = {len(axes) for axes in found}
    found -= {part for axes in found for k in lengths if k < len(axes) for part in combinations(axes, k)}
    every = math.ceil(len(found) * _LEAST * _FEW / WORK)
    return sorted(found - {()})[:: max(every, 1)]


def matching(known: Residuals, tables: Sequence[Noisy], n: int, source: Source) -> Model:
    """Records that have these tables, as nearly as noise lets n of them; what is `known` of pairs is a beginning."""
    if not tables:
        return explained(known)
    domain, told = known.domain, sum(t.counts.size for t in tables)
    most = int(min(WORK / (_FEW * len(tables)), _VALUES / len(domain.shape), _MOST))
    few = domain.size <= most
    draws = max(_LEAST, min(most, 4 * max(n, told)))
    points, weights = _all(known) if few else _some(known, tables, draws, source)
    rake(domain, points, tables, weights)
    return Points(domain, points, weights, [t.axes for t in tables])


def _all(known: Residuals) -> tuple[Integers, Floats]:
    """All cells, weighted by the model."""
    domain, model = known.domain, explained(known)
    points = np.stack(np.unravel_index(np.arange(domain.size), domain.shape), axis=1)
    return points, np.maximum(model.marginal(domain.all).ravel(), SURE / domain.size)


def _some(known: Residuals, tables: Sequence[Noisy], draws: int, source: Source) -> tuple[Integers, Floats]:
    """Draws from the model or the copula, whichever misses the tables by less."""
    model = explained(known)
    weights = np.full(draws, model.total / draws)

    def missed(points: Integers) -> float:
        sums = (np.bincount(cells(known.domain, list(points.T), t.axes), weights, t.counts.size) for t in tables)
        return sum(float(np.abs(own - t.counts.ravel()).sum()) for own, t in zip(sums, tables, strict=True))

    points = min((model.synthetic(draws, source), correlated(known, draws, source)), key=missed)
    return points[np.lexsort(points.T[::-1])], weights
