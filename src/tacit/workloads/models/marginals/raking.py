r"""Weights of points that have noisy marginals.

Of points drawn from a model, each with the weight q, and tables y_m with noises of variance v_m, the weights
    min_w  sum_i (w_i ln(w_i / q) - w_i)  +  sum_m |C_m w - y_m|^2 / (2 r v_m)
are w = q exp(sum_m C_m' t_m).  Where noise is small they have the tables, and where it is large, the model's law.
Given all other t, the best t_m is known cell by cell: if the cell has the sum s now, it becomes the u with
    u + r v ln(u / s) = y - r v t,      u = r v omega((y - r v t) / (r v) + ln(s / (r v))),
where omega(z) + ln omega(z) = z (Wright).  Table by table this climbs a concave dual; with r = 0 it is proportional
fitting, u = y.

References.  Deming and Stephan, Ann. Math. Statist. 11 (1940); Deville, Sarndal, Sautory, J. Amer. Statist. Assoc. 88
(1993), for raking of samples; Corless and Jeffrey, ISSAC 2002, for omega.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import wrightomega

from ....core.progress import with_progress
from ...queries.data import Floats, Integers
from ...queries.domain import Axes, Domain

WORK = 2e9  # points in tables, all sweeps together, at most
SURE = 1e-4  # a variance at which whole numbers are as good as known
_R = 0.1  # the model is worth a tenth of all records
_MAX_SWEEPS = 30
_MIN_MOVED = 1e-4  # of all records, by a table on average: nothing more is gained that rows would show
_MAX_STEP = 20.0  # change of a t at once
_GOLDEN = (5**0.5 - 1) / 2  # whose multiples are spread evenly over a circle


class NoisyTable(NamedTuple):
    """A table on these axes, and the variance of each of its cells."""

    axes: Axes
    counts: Floats
    variance: float


def cells(domain: Domain, columns: Sequence[Integers], axes: Axes) -> Integers:
    """The place of each point in the table on these axes."""
    cell = columns[axes[0]]
    for axis in axes[1:]:
        cell = cell * domain.shape[axis] + columns[axis]
    return cell


def rake(domain: Domain, points: Integers, tables: Sequence[NoisyTable], weights: Floats) -> None:
    """Change the weights, in place, so that they have the tables; no weight becomes 0, whatever the noise."""
    columns = [np.ascontiguousarray(column) for column in points.T]
    tilts = [np.zeros(t.counts.size) for t in tables]
    sweeps = int(np.clip(WORK / (len(points) * len(tables)), 1, _MAX_SWEEPS))
    for sweep in with_progress("matching marginals", range(sweeps), sweeps):
        moved = 0.0
        for place in _scattered(len(tables), sweep):
            t, tilt = tables[place], tilts[place]
            cell = cells(domain, columns, t.axes)
            sums = np.bincount(cell, weights, tilt.size)
            there, trust = np.flatnonzero(sums > 0), _R * max(t.variance, SURE)
            now, scale = sums[there], np.log(sums[there]) - np.log(trust)
            aim = np.maximum(wrightomega(t.counts.ravel()[there] / trust - tilt[there] + scale), 1e-300)
            change = np.clip(np.log(aim) - scale, -_MAX_STEP, _MAX_STEP)
            tilt[there] += change
            factors = np.ones(tilt.size)
            factors[there] = np.exp(change)
            weights *= factors[cell]
            moved += float(np.abs(now * np.expm1(change)).sum())
        np.maximum(weights, np.finfo(float).tiny, out=weights)
        if moved < _MIN_MOVED * weights.sum() * len(tables):
            break


def _scattered(count: int, sweep: int) -> Integers:
    """A scattered order of so many tables, another in each sweep, which takes far fewer sweeps than a fixed order."""
    return np.argsort(np.arange(count) * (sweep + 1) * _GOLDEN % 1)
