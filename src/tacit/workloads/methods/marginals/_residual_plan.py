"""The best noise on the residuals of marginals, and the measurement of residuals with it.

Residual planning (`residual.py`) has the definitions and proofs.  A search for a graphical model begins with the
residuals of single attributes, measured in the same way.
"""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from ....core.distance import Distance
from ....core.randomness import Source
from ....mechanisms import Laplace
from ...models.marginals.residuals import Energy, Residuals, alike, centred, subsets
from ...price import Noise, Price
from ...queries.data import Data, Floats, Integers
from ...queries.data_cube import cube
from ...queries.domain import Axes, Domain
from ...queries.marginals import Marginal
from ...queries.workload import Workload

_SHARES = 1 << 30  # the finest share of a price


def marginal_weights(workload: Workload) -> dict[Axes, float] | None:
    """The weight of each marginal, by its axes; None if some queries are not marginals."""
    weights: dict[Axes, float] = {}
    for part, weight in zip(workload.parts, workload.part_weights.tolist(), strict=True):
        if (axes := part.marginal_axes) is None:
            return None
        weights[axes] = weights.get(axes, 0.0) + weight
    return weights


def plan(workload: Workload, price: Price) -> dict[Axes, Noise]:
    """The noise of each set of attributes that is measured; those with an attribute of one value have no residual."""
    tables = marginal_weights(workload)
    assert tables is not None
    return _plan(workload.domain, tuple(tables.items()), price.alone)


@lru_cache(maxsize=4)
def _plan(domain: Domain, tables: tuple[tuple[Axes, float], ...], price: Price) -> dict[Axes, Noise]:
    shape = domain.shape
    use: defaultdict[Axes, float] = defaultdict(float)
    for S, weight in tables:
        cells = domain.cells(S)
        for A in subsets(S):
            use[A] += weight / cells
    measured = [A for A in use if all(shape[a] > 1 for a in A)]
    # u_A: the c_A of each cell, and the n_j of all those it is spread over
    u = np.array([use[A] * math.prod((shape[a] - 1) * shape[a] for a in A) for A in measured])
    kinds = [tuple(sorted(shape[a] for a in A)) for A in measured]  # sets of the same sizes move alike
    by_kind = {kind: moves(domain, A, price.unit) for kind, A in dict(zip(kinds, measured, strict=True)).items()}
    far = [by_kind[kind] for kind in kinds]
    if price.epsilon is not None:
        ideal = u ** (1 / 3)
    else:
        d = np.array([float(m.l2_squared) / domain.cells(A) ** 2 for m, A in zip(far, measured, strict=True)])
        ideal = np.sqrt(u * d)
    shares: list[int] = np.maximum(1, np.round(ideal / ideal.max() * _SHARES)).astype(np.int64).tolist()
    whole, keys = sum(shares), list(zip(shares, kinds, strict=True))
    noises = {(s, kind): price.part(Fraction(s, whole)).noise(by_kind[kind]) for s, kind in dict.fromkeys(keys)}
    return {A: noises[key] for A, key in zip(measured, keys, strict=True)}


def moves(domain: Domain, axes: Axes, unit: Distance[Any]) -> Distance[Any]:
    """How one unit moves a residual times the number of its cells."""
    N, marginal = domain.cells(axes), Marginal(domain, axes).distance(unit)
    c = math.prod((Fraction(domain.shape[a] - 1, domain.shape[a]) for a in axes), start=Fraction(1))
    square = min(marginal.l2_squared, unit.l1**2 * c)
    return Distance(N * marginal.l1, N**2 * square, N * marginal.l1, None, unit.relation)


def measured(workload: Workload, data: Data, price: Price, source: Source) -> Residuals:
    """Noisy residuals of all sets of attributes within the marginals of a workload."""
    noises, domain = plan(workload, price), workload.domain
    residuals: dict[Axes, Floats] = {}
    for tables in cube(data, noises):
        for sets in alike(domain, tables, lambda axes: id(noises[axes])):
            stack = residual(np.array([tables[axes] for axes in sets]), noises[sets[0]], source)
            residuals.update({axes: stack[i, ...] for i, axes in enumerate(sets)})
    return Residuals(domain, residuals, energies(domain, noises), price.epsilon is not None)


def residual(tables: Integers, noise: Noise, source: Source) -> Floats:
    """The residual of each table of a stack, with a noise on each cell of the table times N, or of its residual.

    Gaussian noise is on N P_A x, which moves less in l2; Laplace noise on N x, which moves less in l1.  What is then
    released, the differences from the first slice along each axis, is the same for both.
    """
    N = math.prod(tables.shape[1:])
    noisy = np.asarray(noise.sample(tables * N if isinstance(noise, Laplace) else _centred_times(tables), source))
    for axis in range(1, noisy.ndim):
        noisy = noisy - noisy.take([0], axis=axis)  # whole numbers still: this is what is released
    return centred(np.asarray(noisy, float), first=1) / N


def _centred_times(tables: Integers) -> Integers:
    """N P_A x for each table x of a stack, in whole numbers: along each axis, n x less the sum of x."""
    for axis in range(1, tables.ndim):
        tables = tables * tables.shape[axis] - tables.sum(axis=axis, keepdims=True)
    return tables


def energies(domain: Domain, noises: dict[Axes, Noise]) -> dict[Axes, Energy]:
    """The energy of each set's noise; equal noises on equally many cells are computed once."""
    distinct: dict[tuple[int, int], Energy] = {}
    for axes, noise in noises.items():
        key = id(noise), domain.cells(axes)
        if key not in distinct:
            distinct[key] = Energy.of(noise, key[1])
    return {axes: distinct[id(noise), domain.cells(axes)] for axes, noise in noises.items()}
