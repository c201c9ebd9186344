r"""A model that is a noisy residual for each of some sets of attributes.

A table on the axes S is the sum, over all A within S, of its residual on A, spread evenly over the axes of S - A:
    table_S = sum_A  residual_A / prod_{j in S - A} n_j,      residual_A = P_A table_A,
where P_A takes the mean away along each axis of A.  Residuals on different sets are orthogonal, so their noises can be
chosen one by one.  If residual_A is P_A of a table with independent noises of variance s_A, a cell of S has variance
    sum_A  s_A c_A / prod_{j in S - A} n_j^2,                 c_A = prod_{i in A} (1 - 1 / n_i),
as P_A e_u has squared length c_A and no entry above it.  Sets that were not measured have residual 0.

References.  Xiao, He, Zhang, Kifer, NeurIPS 2023 (residual planning); Darroch and Speed, Ann. Statist. 11 (1983);
James and Stein, Berkeley Symposium 4 (1961).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ..core.randomness import Source
from ..mechanisms import Laplace, project_to_simplex
from .data import Floats, Integers
from .domain import Axes, Domain
from .marginals import Marginal
from .model import Model
from .noisy_marginals import NoisyMarginals
from .price import Noise, variance
from .spread import Spread
from .workload import Workload

_TABLE = 1 << 16  # cells that rows are drawn from one by one


class Energy(NamedTuple):
    """Of one noise: its variance, the square of its scale, and its scale, in counts."""

    variance: float
    square: float
    scale: float

    @classmethod
    def of(cls, noise: Noise, steps: int) -> Energy:
        """`noise` is drawn in steps of 1 / steps."""
        size = float(noise.scale) if isinstance(noise, Laplace) else noise.sigma
        smooth = not isinstance(noise, Laplace) and size > 4  # there sigma^2 is within exp(-300) (Poisson summation)
        square = size**2 if smooth else variance(noise)
        return cls(square / steps**2, size**2 / steps**2, size / steps)


def subsets(axes: Axes) -> Iterator[Axes]:
    """All subsets, from the empty one up."""
    for k in range(len(axes) + 1):
        yield from combinations(axes, k)


def centred(table: Floats) -> Floats:
    """P_A of a table on A: the mean taken away along each axis."""
    for axis in range(table.ndim):
        table = table - table.mean(axis=axis, keepdims=True)
    return table


class Residuals(Model):
    """Residuals by their axes; `energies` says how noisy each is."""

    def __init__(
        self, domain: Domain, residuals: Mapping[Axes, Floats], energies: Mapping[Axes, Energy], laplace: bool
    ) -> None:
        self.domain, self.residuals, self.energies, self.laplace = domain, residuals, energies, laplace

    def marginal(self, axes: Axes) -> Floats:
        shape = self.domain.laid_out(axes)
        total = np.zeros(shape)
        for subset in subsets(axes):
            if (residual := self.residuals.get(subset)) is not None:
                share = self.domain.cells(subset) / self.domain.cells(axes)
                total += residual.reshape([n if a in subset else 1 for a, n in zip(axes, shape, strict=True)]) * share
        return total

    def energy(self, axes: Axes) -> Energy:
        """That of one cell of a marginal; the last part is the largest single noise in it."""
        shape = self.domain.shape
        parts = []
        for subset in subsets(tuple(a for a in axes if shape[a] > 1)):  # a single value has no residual
            if subset not in self.energies:
                return Energy(math.inf, math.inf, math.inf)
            c = math.prod(1 - 1 / shape[a] for a in subset)
            share = math.prod(1 / shape[a] for a in axes if a not in subset)
            one = self.energies[subset]
            parts.append((one.variance * c * share**2, one.square * c * share**2, one.scale * c * share))
        return Energy(sum(p[0] for p in parts), sum(p[1] for p in parts), max(p[2] for p in parts))

    def spread(self, tables: list[Axes]) -> Spread:
        """The error of one cell of each of these marginals."""
        found = np.array([self.energy(axes) for axes in tables]).reshape(-1, 3)
        none = np.zeros(len(found))
        return Spread(self.laplace, np.sqrt(found[:, 0]), found[:, 1], found[:, 2], none, none + np.inf)

    def reach(self, workload: Workload, beta: float) -> Floats | None:
        known = [part.axes if isinstance(part, Marginal) else None for part in workload.parts]
        each = iter(self.spread([axes for axes in known if axes is not None]).reach(beta))
        values = [math.inf if axes is None else float(next(each)) for axes in known]
        return np.repeat(values, [part.queries for part in workload.parts])

    def shrunk(self) -> Residuals:
        """Residuals times 1 - (D - 2) s / |r|^2 or 0, D their dimension and s the variance of their noise.

        From D = 3 on the expected squared error is less, whatever the table, under Gaussian noise (James and Stein).
        Those of lower dimension are taken together with others of the same noise, so the sum over all is less.
        """
        free = {axes: math.prod(self.domain.shape[a] - 1 for a in axes) for axes in self.residuals if axes}
        alike: defaultdict[Hashable, list[Axes]] = defaultdict(list)
        for axes, dimension in free.items():
            alike[axes if dimension > 2 else self.energies[axes]].append(axes)
        near = dict(self.residuals)
        for sets in alike.values():
            excess = (sum(free[axes] for axes in sets) - 2) * self.energies[sets[0]].variance
            square = sum(float(np.square(near[axes]).sum()) for axes in sets)
            for axes in sets if excess > 0 else ():
                near[axes] = near[axes] * max(0.0, 1 - excess / square) if square else near[axes]
        return Residuals(self.domain, near, {}, self.laplace)

    def nonnegative(self) -> NoisyMarginals:
        """Each measured table, shrunk, moved to the nearest of the same total that is not negative, small ones first.

        Then it is scaled along each axis to the one without that axis, which is known better.
        """
        total, model = self.total, self.shrunk()
        near: dict[Axes, Floats] = {}
        for axes in sorted(self.residuals, key=len):
            table = model.marginal(axes)
            flat = project_to_simplex(table.ravel() / total) * total if total > 0 else np.zeros(table.size)
            near[axes] = flat.reshape(table.shape)
            for place in range(len(axes)) if len(axes) > 1 else ():
                known, sums = near[axes[:place] + axes[place + 1 :]], near[axes].sum(axis=place)
                ratio = np.divide(known, sums, out=np.zeros_like(sums), where=sums > 0)
                near[axes] = near[axes] * np.expand_dims(ratio, place)
        return NoisyMarginals(self.domain, near, {})

    def synthetic(self, n: int, source: Source) -> Integers:
        if self.domain.size <= _TABLE:
            return super().synthetic(n, source)
        from .growth import explained  # which grows from such a model

        return explained(self).synthetic(n, source)
