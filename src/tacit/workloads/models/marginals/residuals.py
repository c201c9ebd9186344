r"""A model that is a noisy residual for each of some sets of attributes.

A table on the axes S is the sum, over all A within S, of its residual on A, spread evenly over the axes of S - A:
    table_S = sum_A  residual_A / prod_{j in S - A} n_j,      residual_A = P_A table_A,
where P_A takes the mean away along each axis of A.  Residuals on different sets are orthogonal, so their noises can be
chosen one by one.  If residual_A is P_A of a table with independent noises of variance s_A, a cell of S has variance
    sum_A  s_A c_A / prod_{j in S - A} n_j^2,                 c_A = prod_{i in A} (1 - 1 / n_i),
as P_A e_u has squared length c_A and no entry above it.  Sets that were not measured have residual 0.

The residuals of a query.  A query with coefficients w on the axes T asks the residual on A, within T, for the sum with
coefficients
    P_A w_A / prod_{j in T - A} n_j,      w_A the sums of w over the axes of T - A.
If the query is a product, such as a box, so is this: each axis contributes the mean of its factor, or the factor less
its mean.

References.  Xiao, He, Zhang, Kifer, NeurIPS 2023 (residual planning); Darroch and Speed, Ann. Statist. 11 (1983);
James and Stein, Berkeley Symposium 4 (1961).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import ClassVar, NamedTuple

import numpy as np

from ....core.parameters import whole
from ....core.randomness import Source
from ....mechanisms import Laplace
from ....mechanisms.local.frequency_oracle import nearest_shares
from ....storage import stored
from ...price import Noise, variance
from ...queries.data import Floats, Integers
from ...queries.domain import CELLS, Axes, Domain
from ...queries.workload import Workload
from ..cell_model import Cells
from ..error_bounds import Spread
from ..model import Model
from .noisy_marginals import NoisyMarginals
from .raking import NoisyTable

_MAX_ATTRIBUTES = 16  # of a query, all of whose residuals are looked at
_STACK = 1 << 18  # cells of tables that are worked on together
_ROUNDING = 1e-20  # of a square: coefficients are in steps of 2^-20, so less comes from rounding
# For places among the axes T of some queries: the squared length and largest entry of each query's residual there.
QueryResiduals = Callable[[Axes], tuple[Floats, Floats]]


@stored("Energy", ("variance", "square", "scale", "steps"), optional={"steps": math.inf})
class Energy(NamedTuple):
    """Of one noise, in counts: its variance, the square of its scale, its scale, and the square of its steps."""

    variance: float
    square: float
    scale: float
    steps: float = math.inf  # as in releases stored before this field existed

    @classmethod
    def of(cls, noise: Noise, steps: int) -> Energy:
        """The energy of a noise that is drawn in steps of 1 / steps."""
        size = noise.noise_scale
        smooth = not isinstance(noise, Laplace) and size > 4  # there sigma^2 is within exp(-300) (Poisson summation)
        square = size**2 if smooth else variance(noise)
        return cls(square / steps**2, size**2 / steps**2, size / steps, 1 / steps**2)


def subsets(axes: Axes) -> Iterator[Axes]:
    """All subsets of some axes, from the empty one up."""
    for k in range(len(axes) + 1):
        yield from combinations(axes, k)


def alike(domain: Domain, sets: Iterable[Axes], kind: Callable[[Axes], Hashable] = len) -> Iterator[list[Axes]]:
    """Sets of one kind whose tables have one shape, in lists of as many as are worked on together."""
    groups: defaultdict[Hashable, list[Axes]] = defaultdict(list)
    for axes in sets:
        groups[kind(axes), *[domain.shape[a] for a in axes]].append(axes)
    for group in groups.values():
        size = max(1, _STACK // domain.cells(group[0]))
        yield from (group[i : i + size] for i in range(0, len(group), size))


def within(sets: Sequence[Axes], places: Axes) -> Iterable[Axes]:
    """The axes that each set has at these places."""
    columns = ([axes[place] for axes in sets] for place in places)
    return zip(*columns, strict=True) if places else [()] * len(sets)


def centred(table: Floats, first: int = 0) -> Floats:
    """P_A of a table on A, which takes the mean away along each axis; of a stack, if tables begin at axis `first`."""
    for axis in range(first, table.ndim):
        table = table - table.mean(axis=axis, keepdims=True)
    return table


@stored("Residuals", ("domain", "residuals", "energies", "laplace"))
class Residuals(Model):
    """Residuals by their axes; `energies` says how noisy each is."""

    _largest: ClassVar[np.ufunc] = np.maximum  # of single noises in a sum: each residual has its own

    def __init__(
        self, domain: Domain, residuals: Mapping[Axes, Floats], energies: Mapping[Axes, Energy], laplace: bool
    ) -> None:
        self.domain, self.residuals, self.energies, self.laplace = domain, residuals, energies, laplace

    def marginal(self, axes: Axes) -> Floats:
        if axes in self._tables:
            return self._tables[axes].copy()
        self.domain.laid_out(axes)
        return self._stack([axes])[0, ...]

    @cached_property
    def _tables(self) -> dict[Axes, Floats]:
        """The marginals on the sets that were measured."""
        stacks = ((sets, self._stack(sets)) for sets in alike(self.domain, self.residuals))
        return {axes: stack[i, ...] for sets, stack in stacks for i, axes in enumerate(sets)}

    def _stack(self, sets: Sequence[Axes]) -> Floats:
        """The marginals on sets of one shape."""
        shape = [self.domain.shape[a] for a in sets[0]]
        total, cells = np.zeros((len(sets), *shape)), math.prod(shape)
        for places in subsets(tuple(i for i, n in enumerate(shape) if n > 1)):  # a single value has no residual
            if len(places) > self._longest:
                break
            parts = [self.residuals.get(part) for part in within(sets, places)]
            if any(part is not None for part in parts):
                none = np.zeros([shape[i] for i in places])
                stack = np.array([none if part is None else part for part in parts]) * (none.size / cells)
                total += stack.reshape(-1, *(n if i in places else 1 for i, n in enumerate(shape)))
        return total

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self.residuals), default=0)

    def energy(self, axes: Axes) -> Energy:
        """The energy of one cell of a marginal; its scale is that of the largest single noise in the cell."""
        return Energy(*self._marginals([axes])[0].tolist())

    @cached_property
    def _known(self) -> tuple[dict[Axes, int], Floats]:
        """The place of each set's energy, and all energies; the last is that of a set that was not measured."""
        places = {axes: i for i, axes in enumerate(self.energies)}
        return places, np.array([*self.energies.values(), [math.inf] * 4])

    def _marginals(self, tables: Sequence[Axes]) -> Floats:
        """The energy of one cell of each of these marginals."""
        energies, varying = np.zeros((len(tables), 4)), [self._several(axes) for axes in tables]
        for k in set(map(len, varying)):
            where = [i for i, axes in enumerate(varying) if len(axes) == k]
            sets = [varying[i] for i in where]
            means = 1 / np.array([[self.domain.shape[a] for a in axes] for axes in sets]).reshape(len(sets), k)
            energies[where] = self._energies(sets, of_products(means, 1 - means, 1 - means))
        return energies

    def _several(self, axes: Axes) -> Axes:
        """The axes that have more than one value: a single value has no residual."""
        return tuple(a for a in axes if self.domain.shape[a] > 1)

    def _energies(self, sets: Sequence[Axes], residuals: QueryResiduals) -> Floats:
        """The energies of queries on sets of one length: one query for each set, or all on one set."""
        (at, known), total = self._known, np.zeros((1, 4))
        if len(sets[0]) > _MAX_ATTRIBUTES:
            return np.full((len(residuals(())[0]), 4), math.inf)
        for places in subsets(tuple(range(len(sets[0])))):
            squares, largest = residuals(places)
            each = known[[at.get(part, -1) for part in within(sets, places)]]
            each = np.where(squares[:, None] > 0, each, 0)  # what is not asked for need not be known
            top = self._largest(total[:, 2], each[:, 2] * largest)
            total = total + each * squares[:, None]
            total[:, 2] = top
            if np.isinf(top).all():
                break  # all are unknown already, and the other subsets may be many
        total[:, 2] = np.minimum(total[:, 2], np.sqrt(total[:, 1]))
        return total

    def cell_errors(self, tables: list[Axes]) -> Spread:
        """The error bounds of one cell of each of these marginals."""
        return self._spread(self._marginals(tables))

    def _spread(self, of_queries: Floats) -> Spread:
        (variances, energies, largest, steps), none = of_queries.T, np.zeros(len(of_queries))
        return Spread(self.laplace, np.sqrt(variances), energies, largest, none, steps, none + np.inf)

    def error_bounds(self, workload: Workload, beta: float) -> Floats | None:
        marginals = [part.marginal_axes for part in workload.parts]
        each = iter(self.cell_errors([axes for axes in marginals if axes is not None]).bounds(beta))
        errors = [
            self._part(part, beta) if axes is None else np.full(part.queries, next(each))
            for part, axes in zip(workload.parts, marginals, strict=True)
        ]
        return np.concatenate(errors) + self._rounding

    @cached_property
    def _rounding(self) -> float:
        """A bound on the rounding error of sums of residuals, which are floats."""
        return 1e-13 * max((float(np.abs(r).max()) for r in self.residuals.values()), default=0.0)

    def _part(self, part: Workload, beta: float) -> Floats:
        """Error bounds of any queries: finite where every residual that a query needs was measured."""
        errors = np.full(part.queries, math.inf)
        for axes, members, residuals in query_residuals(part):
            errors[members] = self._spread(self._energies([axes], residuals)).bounds(beta)
        return errors

    def shrunk(self) -> Residuals:
        """A model with each residual r times max(0, 1 - (D - 2) s / |r|^2), for D dimensions and noise of variance s.

        From D = 3 on the expected squared error is lower, whatever the table, under Gaussian noise (James and Stein).
        Residuals of lower dimension are taken together with others of the same noise, so the sum over all is lower.
        """
        free = {axes: math.prod(self.domain.shape[a] - 1 for a in axes) for axes in self.residuals if axes}
        groups: defaultdict[Hashable, list[Axes]] = defaultdict(list)
        for axes, dimension in free.items():
            groups[axes if dimension > 2 else self.energies[axes]].append(axes)
        near = dict(self.residuals)
        for sets in groups.values():
            excess = (sum(free[axes] for axes in sets) - 2) * self.energies[sets[0]].variance
            square = float(np.square(np.concatenate([near[axes] for axes in sets], axis=None)).sum())
            factor = max(0.0, 1 - excess / square) if excess > 0 and square else 1.0
            near.update({axes: near[axes] * factor for axes in sets})
        return Residuals(self.domain, near, {}, self.laplace)

    def nonnegative(self) -> NoisyMarginals:
        """A nonnegative table for each measured set, in order of size.

        Each table is shrunk, moved to the nearest nonnegative one of the same total, and then scaled along each axis to
        the table without that axis, which is known better.
        """
        total, model = self.total, self.shrunk()
        near: dict[Axes, Floats] = {}
        for sets in alike(self.domain, sorted(self.residuals, key=len)):
            stack = model._stack(sets)
            flat = stack.reshape(len(sets), -1)
            stack = (nearest_shares(flat / total) * total if total > 0 else np.zeros_like(flat)).reshape(stack.shape)
            for place in range(len(sets[0])) if len(sets[0]) > 1 else ():
                others = tuple(i for i in range(len(sets[0])) if i != place)
                known, sums = np.array([near[part] for part in within(sets, others)]), stack.sum(axis=1 + place)
                ratio = np.divide(known, sums, out=np.zeros_like(sums), where=sums > 0)
                stack = stack * np.expand_dims(ratio, 1 + place)
            near.update({axes: stack[i, ...] for i, axes in enumerate(sets)})
        return NoisyMarginals(self.domain, near, {})

    def consistent(self, n: int, source: Source) -> Model:
        from .matching import largest, matching, moderate  # which start from a model of this class

        if not moderate(self.domain) and self._several(self.domain.all) in self.residuals:
            return Cells(self.domain, self.nonnegative().marginal(self.domain.all))
        sets = largest(self.domain, self.residuals)
        variances = self._marginals(sets)[:, 0].tolist()
        tables = [NoisyTable(axes, self.marginal(axes), v) for axes, v in zip(sets, variances, strict=True)]
        return matching(self, tables, n, source)

    def synthetic(self, n: int, source: Source) -> Integers:
        return self.consistent(whole("n", n), source).synthetic(n, source)


def of_products(means: Floats, squares: Floats, largest: Floats) -> QueryResiduals:
    """The residuals of products, by axis: the mean of the factor, and the squares and largest entry of the rest."""

    def residuals(places: Axes) -> tuple[Floats, Floats]:
        others = tuple(i for i in range(means.shape[1]) if i not in places)
        share = np.prod(means[:, others], axis=1)
        return np.prod(squares[:, places], axis=1) * share**2, np.prod(largest[:, places], axis=1) * share

    return residuals


def of_tables(rows: Floats) -> QueryResiduals:
    """The residuals of tables of coefficients, one in each row."""
    least = _ROUNDING * np.square(rows).sum(axis=tuple(range(1, rows.ndim)))

    def residuals(places: Axes) -> tuple[Floats, Floats]:
        table = rows.mean(axis=tuple(1 + i for i in range(rows.ndim - 1) if i not in places), keepdims=True)
        for i in places:
            table = table - table.mean(axis=1 + i, keepdims=True)
        flat = table.reshape(len(rows), -1)
        squares = np.square(flat).sum(axis=1)
        return np.where(squares > least, squares, 0.0), np.abs(flat).max(axis=1)

    return residuals


def query_residuals(part: Workload) -> Iterator[tuple[Axes, Integers, QueryResiduals]]:
    """The queries that look at the same axes, with their residuals; none where there are too many cells."""
    if (groups := part.products()) is not None:
        for axes, members, moments in groups:
            yield axes, members, of_products(*moments)
    elif part.queries * part.domain.size <= CELLS >> 3:
        rows = np.stack([part.vector(i) for i in range(part.queries)]).reshape(part.queries, *part.domain.shape)
        others = tuple(1 + a for a in part.domain.all if a not in part.span)
        yield part.span, np.arange(part.queries), of_tables(rows.mean(axis=others))
