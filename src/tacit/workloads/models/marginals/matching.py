r"""Weighted records that have given noisy marginals, also where the domain has too many cells to lay out.

Points are drawn from a small graphical model (`explained`) or from a copula, whichever misses the marginals by less; if
there are few cells, the points are all cells.  They are weighted until they have the marginals (`raking.py`), and rows
of them are whole numbers of each point (`weighted_points.py`).

Gaussian copula.  Each attribute is a standard normal number, cut into its values where their shares end.  If s is the
mean of the number given the value, a pair with correlation r has
    E[s(x) s(y)] = r v w + terms of higher order in r,      v = E[s(x)^2] and w = E[s(y)^2]      (Mehler's expansion),
so r is read off the noisy table, and the matrix of all r is moved to a nearby correlation matrix.  Where many
attributes follow one hidden cause this is nearer than any tree; where values have no order, it is not.

Reference.  Li, Xiong, Jiang, EDBT 2014, for copulas of noisy counts.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from itertools import combinations

import numpy as np
from scipy.special import ndtr, ndtri

from ....core.randomness import Source
from ....mechanisms import project_to_simplex
from ...queries.data import Floats, Integers
from ...queries.domain import Axes, Domain
from ..graphical.bins import coarse
from ..graphical.graphical_model import Graphical
from ..graphical.maximum_entropy import Measurement
from ..graphical.model_growth import Candidate, Growth
from ..model import Model
from .raking import SURE, WORK, NoisyTable, cells, rake
from .residuals import Residuals
from .weighted_points import Points

_MIN_POINTS, _MAX_POINTS = 1 << 14, 1 << 19
_MAX_VALUES = 1 << 25  # of all points
_MAX_TABLE, _MAX_TABLES = 1 << 17, 1 << 26  # cells of one table, and of all
_MIN_SWEEPS = 10  # of all points, for each table
_MAX_CLIQUES = 10_000  # cells of the graphical model that points are drawn from
_MAX_PAIRS = 1000  # beyond its tree, that are tried
_FIT_STEPS = 100
_MAX_CORRELATION = 0.98
_MIN_VARIANCE = 1e-6  # of the conditional means s, and least eigenvalue of the correlations
_BLOCK = 1 << 13  # rows that are drawn together


def moderate(domain: Domain) -> bool:
    """Whether every cell can be a weighted point, if the tables are few."""
    return domain.size <= _MAX_POINTS


def largest(domain: Domain, sets: Collection[Axes]) -> list[Axes]:
    """The sets within no other; too large a table is replaced by its parts, and of too many tables only some stay."""
    maximal, left = set[Axes](), set(sets)
    max_cells = max(_MAX_TABLE, _MAX_TABLES // max(len(sets), 1))
    while left:
        axes = left.pop()
        small = len(axes) <= 1 or domain.cells(axes) <= max_cells
        maximal |= {axes} if small else set()
        left |= set() if small else set(combinations(axes, len(axes) - 1))
    lengths = {len(axes) for axes in maximal}
    maximal -= {part for axes in maximal for k in lengths if k < len(axes) for part in combinations(axes, k)}
    every = math.ceil(len(maximal) * _MIN_POINTS * _MIN_SWEEPS / WORK)
    return sorted(maximal - {()})[:: max(every, 1)]


def matching(pairs: Residuals, tables: Sequence[NoisyTable], n: int, source: Source) -> Model:
    """Weighted records with these tables, as nearly as noise lets n records have them.

    The search starts from a model of `pairs`, the noisy marginals on two attributes and fewer.
    """
    if not tables:
        return explained(pairs)
    domain, numbers = pairs.domain, sum(t.counts.size for t in tables)
    max_points = int(min(WORK / (_MIN_SWEEPS * len(tables)), _MAX_VALUES / len(domain.shape), _MAX_POINTS))
    draws = max(_MIN_POINTS, min(max_points, 4 * max(n, numbers)))
    points, weights = _all(pairs) if domain.size <= max_points else _some(pairs, tables, draws, source)
    rake(domain, points, tables, weights)
    return Points(domain, points, weights, [t.axes for t in tables])


def _all(pairs: Residuals) -> tuple[Integers, Floats]:
    """Every cell of the domain, weighted by the graphical model."""
    domain, model = pairs.domain, explained(pairs)
    points = np.stack(np.unravel_index(np.arange(domain.size), domain.shape), axis=1)
    return points, np.maximum(model.marginal(domain.all).ravel(), SURE / domain.size)


def _some(pairs: Residuals, tables: Sequence[NoisyTable], draws: int, source: Source) -> tuple[Integers, Floats]:
    """Draws from the graphical model or from the copula, whichever misses the tables by less."""
    model = explained(pairs)
    weights = np.full(draws, model.total / draws)

    def missed(points: Integers) -> float:
        sums = (np.bincount(cells(pairs.domain, list(points.T), t.axes), weights, t.counts.size) for t in tables)
        return sum(float(np.abs(own - t.counts.ravel()).sum()) for own, t in zip(sums, tables, strict=True))

    points = min((model.synthetic(draws, source), correlated(pairs, draws, source)), key=missed)
    return points[np.lexsort(points.T[::-1])], weights


def explained(tables: Residuals) -> Graphical:
    """A small graphical model of noisy tables, fitted to some of their pairs: rows can be drawn from it.

    First come the pairs of a tree, those that differ most from a product; then others that differ most from the tree.
    """
    growth = Growth(tables, [tables.energy((axis,)).variance for axis in tables.domain.all])
    candidates = growth.candidates([axes for axes in tables.residuals if len(axes) == 2], math.inf)
    pairs = [_measured(growth, tables, c) for c in candidates]
    gains = [_gain(growth, m) for m in pairs]
    best = growth.forest(candidates, lambda places: max(places, key=lambda i: gains[i]))
    growth.measurements += [pairs[candidates.index(c)] for c in best]
    growth.fit(_FIT_STEPS)
    gains = [_gain(growth, m) for m in pairs]
    joined, edges = {m.axes for m in growth.measurements}, len(growth.measurements)
    for i in sorted(range(len(pairs)), key=lambda i: -gains[i])[:_MAX_PAIRS]:
        if gains[i] > 0 and pairs[i].axes not in joined and growth.fits(_MAX_CLIQUES)(pairs[i].axes):
            growth.measurements.append(pairs[i])
            joined.add(pairs[i].axes)
    if len(growth.measurements) > edges:
        growth.fit(_FIT_STEPS)
    return growth.model


def _measured(growth: Growth, tables: Residuals, candidate: Candidate) -> Measurement:
    """What noisy tables say of a candidate."""
    bins = [growth.bins[a] for a in candidate.axes]
    values = coarse(coarse(tables.marginal(candidate.axes), bins), candidate.bins)
    lengths = (coarse(fine.lengths.astype(float), [b]) for fine, b in zip(bins, candidate.bins, strict=True))
    variances = tables.energy(candidate.axes).variance * np.multiply.outer(*lengths)
    return Measurement(candidate.axes, candidate.bins, values, variances)


def _gain(growth: Growth, pair: Measurement) -> float:
    """By how much the model misses a noisy pair, beyond the noise of the pair."""
    gap = np.abs(pair.values - coarse(growth.model.binned(pair.axes), pair.bins)).sum()
    return float(gap - math.sqrt(2 / math.pi) * np.sqrt(pair.variances).sum())


def correlated(tables: Residuals, rows: int, source: Source) -> Integers:
    """Rows of codes drawn from the Gaussian copula of the measured pairs."""
    total, attributes = max(1.0, tables.total), len(tables.domain.shape)
    shares = [project_to_simplex(tables.marginal((axis,)) / total) for axis in tables.domain.all]
    means = [_normal_means(share) for share in shares]
    variances = [float(share @ mean**2) for share, mean in zip(shares, means, strict=True)]
    matrix = np.eye(attributes)
    for a, b in (axes for axes in tables.residuals if len(axes) == 2):
        if min(variances[a], variances[b]) > _MIN_VARIANCE:
            r = means[a] @ tables.marginal((a, b)) @ means[b] / (total * variances[a] * variances[b])
            matrix[a, b] = matrix[b, a] = np.clip(r, -_MAX_CORRELATION, _MAX_CORRELATION)
    values, vectors = np.linalg.eigh(matrix)
    root = vectors * np.sqrt(np.maximum(values, _MIN_VARIANCE))
    root /= np.linalg.norm(root, axis=1, keepdims=True)
    ends, codes = [np.cumsum(share)[:-1] for share in shares], np.empty((rows, attributes), np.int64)
    for start in range(0, rows, _BLOCK):
        some = codes[start : start + _BLOCK]
        uniform = ((source.words(some.size) >> np.uint64(11)) + 0.5) / 2.0**53
        quantiles = ndtr(ndtri(uniform.reshape(some.shape)) @ root.T)
        for axis in range(attributes):
            some[:, axis] = np.searchsorted(ends[axis], quantiles[:, axis])
    return codes


def _normal_means(share: Floats) -> Floats:
    """The mean of a standard normal number between the ends of each share."""
    ends = ndtri(np.clip(np.concatenate([[0.0], np.cumsum(share)]), 0, 1))
    density = np.exp(-(ends**2) / 2) / math.sqrt(2 * math.pi)  # 0 where an end is infinite
    means: Floats = np.divide(density[:-1] - density[1:], share, out=np.zeros_like(share), where=share > 0)
    return means
