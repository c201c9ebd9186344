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
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import ClassVar, NamedTuple

import numpy as np

from ...core.parameters import whole
from ...core.randomness import Source
from ...mechanisms import Laplace
from ...mechanisms.local.frequency_oracle import nearest_shares
from ...storage import stored
from ..price import Noise, variance
from ..queries.data import Floats, Integers
from ..queries.domain import Axes, Domain
from ..queries.marginals import Marginal
from ..queries.workload import Workload
from .cell_model import Cells
from .error_bounds import Spread
from .model import Model
from .noisy_marginals import NoisyMarginals
from .query_residuals import Pieces, pieces, products
from .raking import Noisy

_DEEPEST = 16  # attributes of a query, all of whose residuals are looked at
_STACK = 1 << 18  # cells of tables that are worked on together


@stored("Energy", ("variance", "square", "scale", "steps"), optional={"steps": math.inf})
class Energy(NamedTuple):
    """Of one noise: its variance, the square of its scale, its scale, and the square of its steps, in counts."""

    variance: float
    square: float
    scale: float
    steps: float = math.inf  # as in what was written before they were told

    @classmethod
    def of(cls, noise: Noise, steps: int) -> Energy:
        """`noise` is drawn in steps of 1 / steps."""
        size = float(noise.scale) if isinstance(noise, Laplace) else noise.sigma
        smooth = not isinstance(noise, Laplace) and size > 4  # there sigma^2 is within exp(-300) (Poisson summation)
        square = size**2 if smooth else variance(noise)
        return cls(square / steps**2, size**2 / steps**2, size / steps, 1 / steps**2)


def subsets(axes: Axes) -> Iterator[Axes]:
    """All subsets, from the empty one up."""
    for k in range(len(axes) + 1):
        yield from combinations(axes, k)


def alike(domain: Domain, sets: Iterable[Axes], kind: Callable[[Axes], Hashable] = len) -> Iterator[list[Axes]]:
    """Sets of one kind whose tables are of one shape, in the order of their first, as many as make a stack."""
    found: defaultdict[Hashable, list[Axes]] = defaultdict(list)
    for axes in sets:
        found[kind(axes), *[domain.shape[a] for a in axes]].append(axes)
    for group in found.values():
        most = max(1, _STACK // domain.cells(group[0]))
        yield from (group[i : i + most] for i in range(0, len(group), most))


def within(sets: Sequence[Axes], places: Axes) -> Iterable[Axes]:
    """The axes that each set has at these places."""
    columns = ([axes[place] for axes in sets] for place in places)
    return zip(*columns, strict=True) if places else [()] * len(sets)


def centred(table: Floats, first: int = 0) -> Floats:
    """P_A of a table on A: the mean taken away along each axis; or of a stack, if tables begin at axis `first`."""
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
        """That of one cell of a marginal; the last part is the largest single noise in it."""
        return Energy(*self._marginals([axes])[0].tolist())

    @cached_property
    def _known(self) -> tuple[dict[Axes, int], Floats]:
        """The place of each energy, and all of them; the last is that of what was not measured."""
        places = {axes: i for i, axes in enumerate(self.energies)}
        return places, np.array([*self.energies.values(), [math.inf] * 4])

    def _marginals(self, tables: Sequence[Axes]) -> Floats:
        """The energies of one cell of each."""
        found, held = np.zeros((len(tables), 4)), [self._several(axes) for axes in tables]
        for k in set(map(len, held)):
            where = [i for i, axes in enumerate(held) if len(axes) == k]
            sets = [held[i] for i in where]
            means = 1 / np.array([[self.domain.shape[a] for a in axes] for axes in sets]).reshape(len(sets), k)
            found[where] = self._energies(sets, products(means, 1 - means, 1 - means))
        return found

    def _several(self, axes: Axes) -> Axes:
        """Those that have more than one value: a single one has no residual."""
        return tuple(a for a in axes if self.domain.shape[a] > 1)

    def _energies(self, sets: Sequence[Axes], pieces: Pieces) -> Floats:
        """Those of queries on sets of one length, one for each, or all on one."""
        (at, known), found = self._known, np.zeros((1, 4))
        if len(sets[0]) > _DEEPEST:
            return np.full((len(pieces(())[0]), 4), math.inf)
        for places in subsets(tuple(range(len(sets[0])))):
            squares, largest = pieces(places)
            each = known[[at.get(part, -1) for part in within(sets, places)]]
            each = np.where(squares[:, None] > 0, each, 0)  # what is not asked for need not be known
            top = self._largest(found[:, 2], each[:, 2] * largest)
            found = found + each * squares[:, None]
            found[:, 2] = top
            if np.isinf(top).all():
                break  # the other subsets, which may be many, tell no more
        found[:, 2] = np.minimum(found[:, 2], np.sqrt(found[:, 1]))
        return found

    def spread(self, tables: list[Axes]) -> Spread:
        """The error of one cell of each of these marginals."""
        return self._spread(self._marginals(tables))

    def _spread(self, found: Floats) -> Spread:
        (variances, energies, largest, steps), none = found.T, np.zeros(len(found))
        return Spread(self.laplace, np.sqrt(variances), energies, largest, none, steps, none + np.inf)

    def reach(self, workload: Workload, beta: float) -> Floats | None:
        known = [part.axes if isinstance(part, Marginal) else None for part in workload.parts]
        each = iter(self.spread([axes for axes in known if axes is not None]).reach(beta))
        found = [
            self._part(part, beta) if axes is None else np.full(part.queries, next(each))
            for part, axes in zip(workload.parts, known, strict=True)
        ]
        return np.concatenate(found) + self._rounding

    @cached_property
    def _rounding(self) -> float:
        """What the sums of residuals are off by at most, as floats."""
        return 1e-13 * max((float(np.abs(r).max()) for r in self.residuals.values()), default=0.0)

    def _part(self, part: Workload, beta: float) -> Floats:
        """The same of other queries, which are known where all their residuals are."""
        found = np.full(part.queries, math.inf)
        for axes, members, own in pieces(part):
            found[members] = self._spread(self._energies([axes], own)).reach(beta)
        return found

    def shrunk(self) -> Residuals:
        """Residuals times 1 - (D - 2) s / |r|^2 or 0, D their dimension and s the variance of their noise.

        From D = 3 on the expected squared error is less, whatever the table, under Gaussian noise (James and Stein).
        Those of lower dimension are taken together with others of the same noise, so the sum over all is less.
        """
        free = {axes: math.prod(self.domain.shape[a] - 1 for a in axes) for axes in self.residuals if axes}
        together: defaultdict[Hashable, list[Axes]] = defaultdict(list)
        for axes, dimension in free.items():
            together[axes if dimension > 2 else self.energies[axes]].append(axes)
        near = dict(self.residuals)
        for sets in together.values():
            excess = (sum(free[axes] for axes in sets) - 2) * self.energies[sets[0]].variance
            square = float(np.square(np.concatenate([near[axes] for axes in sets], axis=None)).sum())
            kept = max(0.0, 1 - excess / square) if excess > 0 and square else 1.0
            near.update({axes: near[axes] * kept for axes in sets})
        return Residuals(self.domain, near, {}, self.laplace)

    def nonnegative(self) -> NoisyMarginals:
        """Each measured table, shrunk, moved to the nearest of the same total that is not negative, small ones first.

        Then it is scaled along each axis to the one without that axis, which is known better.
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
        from .matching import largest, matching, moderate  # which begin with such a model

        if not moderate(self.domain) and self._several(self.domain.all) in self.residuals:
            return Cells(self.domain, self.nonnegative().marginal(self.domain.all))
        sets = largest(self.domain, self.residuals)
        variances = self._marginals(sets)[:, 0].tolist()
        tables = [Noisy(axes, self.marginal(axes), v) for axes, v in zip(sets, variances, strict=True)]
        return matching(self, tables, n, source)

    def synthetic(self, n: int, source: Source) -> Integers:
        return self.consistent(whole("n", n), source).synthetic(n, source)
