"""A model that is a noisy table for each of some marginals.

A marginal within a measured one is a sum of its cells, with known error.  Any other is the sum of its residuals on all
subsets of its attributes (its analysis of variance): each residual is read from the measured marginal that has it with
the least variance, and residuals in no measured marginal are 0, as if independent on a uniform scale.

Reference.  Xiao, He, Zhang, Kifer, NeurIPS 2023, for residuals of marginals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from ....core.parameters import whole
from ....core.randomness import Source
from ....mechanisms import Gaussian
from ....storage import stored
from ...price import Noise, variance
from ...queries.data import Floats, Integers
from ...queries.domain import Axes, Domain
from ...queries.workload import Workload
from ..cell_model import Cells
from ..error_bounds import Spread
from ..model import Model
from ..nonnegative_projection import nonnegative
from .raking import NoisyTable


@stored("NoisyMarginals", ("domain", "tables", "noises"))
class NoisyMarginals(Model):
    """Tables of counts, each cell with an independent noise of its table's law; with no noise the error is unknown."""

    def __init__(self, domain: Domain, tables: Mapping[Axes, Floats], noises: Mapping[Axes, Noise]) -> None:
        self.domain, self.tables, self.noises = domain, dict(tables), dict(noises)

    @classmethod
    def of(cls, workload: Workload, noisy: Sequence[Floats], noises: Sequence[Noise]) -> NoisyMarginals | None:
        """The model of the noisy answers of each part, if all parts are marginals; else None."""
        axes = [axes for part in workload.parts if (axes := part.marginal_axes) is not None]
        if len(axes) < len(workload.parts):
            return None
        shaped = [y.reshape(workload.domain.laid_out(a)) for a, y in zip(axes, noisy, strict=True)]
        return cls(workload.domain, dict(zip(axes, shaped, strict=True)), dict(zip(axes, noises, strict=True)))

    def _best(self, axes: Axes) -> Axes | None:
        """The measured marginal that has this one with the least variance; an axis of one value adds nothing."""
        several = {a for a in axes if self.domain.shape[a] > 1}
        above = [a for a in self.tables if several <= set(a)]
        return min(above, key=self._variance, default=None)

    def _variance(self, axes: Axes) -> float:
        noise = self.noises.get(axes)
        return self.domain.cells(axes) * (1.0 if noise is None else variance(noise))

    def _cell(self, axes: Axes) -> float:
        """The variance of a cell of this marginal, which is within a measured one."""
        return self._variance(self._best(axes) or axes) / self.domain.cells(axes)

    def marginal(self, axes: Axes) -> Floats:
        if not self.noises and axes in self.tables:
            return self.tables[axes].copy()  # no other table has it with less variance
        shape = self.domain.laid_out(axes)
        if (above := self._best(axes)) is not None:
            table = self.tables[above].sum(axis=tuple(i for i, a in enumerate(above) if a not in axes))
            return np.asarray(table).reshape(shape)
        parts = {b for a in self.tables for k in range(len(a) + 1) for b in combinations(sorted(set(a) & set(axes)), k)}
        total = np.zeros(shape)
        for subset in parts:
            residual = self.marginal(subset)
            for axis in range(residual.ndim):
                residual = residual - residual.mean(axis=axis, keepdims=True)
            share = self.domain.cells(subset) / self.domain.cells(axes)
            total += residual.reshape([self.domain.shape[a] if a in subset else 1 for a in axes]) * share
        return total

    def error_bounds(self, workload: Workload, beta: float) -> Floats | None:
        return np.concatenate([self._part(part, beta) for part in workload.parts])

    def _part(self, part: Workload, beta: float) -> Floats:
        above = self._best(part.span)
        if above is None or above not in self.noises:
            return np.full(part.queries, np.inf)
        squares = part.squares(above)
        return Spread.of(self.noises[above], squares, None if part.grid == 1 else 1.0).bounds(beta)

    def nonnegative(self) -> NoisyMarginals:
        """Each table on its own moved to a nonnegative one, all with one total."""
        shares = {axes: 1 / self._variance(axes) for axes in self.tables}
        total = sum(shares[axes] * float(t.sum()) for axes, t in self.tables.items()) / sum(shares.values())
        return NoisyMarginals(self.domain, {axes: nonnegative(t, total) for axes, t in self.tables.items()}, {})

    def consistent(self, n: int, source: Source) -> Model:
        if self.domain.all in self.tables:
            return Cells(self.domain, self.nonnegative().marginal(self.domain.all))
        from .averaged import averaged  # whose nonnegative projection is a model of this class
        from .matching import largest, matching

        small = list(dict.fromkeys(part for axes in self.tables for k in range(3) for part in combinations(axes, k)))
        pairs = averaged(self.domain, small, [Gaussian(sigma=1)] * len(small), [self.marginal(part) for part in small])
        tables = [NoisyTable(a, self.marginal(a), self._cell(a)) for a in largest(self.domain, self.tables)]
        return matching(pairs, tables, n, source)

    def synthetic(self, n: int, source: Source) -> Integers:
        return self.consistent(whole("n", n), source).synthetic(n, source)
