r"""Least squares on several noisy marginals.

If the cells of the table on S have independent noises of variance s_S, its estimate of the residual on A, within S, is
P_A of a table with noises of variance v = s_S prod_{j in S - A} n_j, and its estimates of different residuals are
uncorrelated.  So least squares is the mean of all tables' estimates of each residual, weighted by 1 / v, and
    1 / s_A = sum_S 1 / v
gives every variance by the formula of `residuals.py`: it lowers each (Gauss and Markov), and tables agree.

Tails.  In the error of a query a noise of S has, for each A, a share s_A / v of the coefficient that the residual asks
for, and all these add up.  The P_A are orthogonal, so squares add up over A; the largest do too, at most.  In the error
of a cell its own noise has as coefficient the error's variance over its own, and may be above all others.

Mean.  Small noises are mostly 0, and the sum of |a| times their variance is what counts (`error_bounds.py`).  In the
error of a cell of T the coefficient of a cell of S depends on the axes B that both have, and on which of them the two
agree.  With n_A the cells of A, and over the cells of B, s_S times the sum of all |a| is the mean of |X| / n_T, with
    X = sum_{A in B} s_A n_A^2 prod_{i in A} ([they agree in i] - 1 / n_i),
and times the sum of all a^2 that of X^2 / (n_S n_T^2 s_S).  Of noises that are not small this is what counts.

References.  Xiao, He, Zhang, Kifer, NeurIPS 2023; Darroch and Speed, Ann. Statist. 11 (1983).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import compress, product
from typing import ClassVar

import numpy as np

from ....mechanisms import Laplace
from ....storage import stored
from ...price import SMALL, Noise, variance
from ...queries.data import Floats
from ...queries.domain import Axes, Domain
from ..error_bounds import Spread
from .residuals import Energy, Residuals, centred, subsets, within

_STACK = 1 << 18  # cells of tables that are worked on together


@stored("AveragedResiduals", ("domain", "residuals", "energies", "own", "laplace"))
class Averaged(Residuals):
    """Residuals whose noises come from the same tables; `own` is the noise of each table, in whole steps."""

    _largest: ClassVar[np.ufunc] = np.add

    def __init__(
        self,
        domain: Domain,
        residuals: Mapping[Axes, Floats],
        energies: Mapping[Axes, Energy],
        own: Mapping[Axes, Energy],
        *,
        laplace: bool,
    ) -> None:
        super().__init__(domain, residuals, energies, laplace)
        self.own = own

    def cell_errors(self, tables: list[Axes]) -> Spread:
        every = super().cell_errors(tables)
        s, _, b, _ = np.array([self.own.get(axes, (1.0, 0.0, 0.0, 0.0)) for axes in tables]).reshape(-1, 4).T
        a = np.where(np.isfinite(every.deviations), every.deviations**2 / s, 0.0)
        c = a * b
        m = np.divide(every.energies, c**2, out=np.full_like(c, np.inf), where=c > 0)
        above = self.laplace & (m < 1.9)  # from there on it is of no use
        grain = np.where(above, a / 2 - c * np.log(2 - np.minimum(m, 1.9)), 0.0)
        return replace(every, largest=np.where(above, c, every.largest), grain=grain)


def averaged(
    domain: Domain, sets: Sequence[Axes], noises: Sequence[Noise], tables: Sequence[Floats] | None = None
) -> Averaged:
    """The model of tables with these noises; without the tables themselves it knows the errors only."""
    trust: defaultdict[Axes, float] = defaultdict(float)  # sums of 1 / v, in parts of the largest 1 / s_S
    square: defaultdict[Axes, float] = defaultdict(float)
    steps: defaultdict[Axes, float] = defaultdict(float)
    scale: defaultdict[Axes, float] = defaultdict(float)
    sums: dict[Axes, Floats] = {}
    own = {key: Energy.of(noise, 1) for key, noise in {id(noise): noise for noise in noises}.items()}
    least = min(each.variance for each in own.values())
    for (*shape, key), members in _alike(domain, sets, noises).items():
        each, together = own[key], max(1, _STACK // math.prod(shape))
        for places in subsets(tuple(i for i, n in enumerate(shape) if n > 1)):  # a single value has no residual
            others = tuple(i for i in range(len(shape)) if i not in places)
            cells = float(math.prod(shape[i] for i in others))
            weight = least / (each.variance * cells)
            for first in range(0, len(members), together):
                some = members[first : first + together]
                parts = list(within([sets[i] for i in some], places))
                for part in parts:
                    trust[part] += weight
                    square[part] += weight**2 * each.square * cells
                    steps[part] += weight**2 * each.steps * cells
                    scale[part] = max(scale[part], weight * each.scale)
                if tables is not None:
                    stack = np.array([tables[i] for i in some]).sum(axis=tuple(1 + i for i in others))
                    for part, one in zip(parts, centred(stack, first=1) * weight, strict=True):
                        sums[part] = sums[part] + one if part in sums else one
    energies = {
        part: Energy(least / t, square[part] / t**2, scale[part] / t, steps[part] / t**2) for part, t in trust.items()
    }
    residuals = {part: table / trust[part] for part, table in sums.items()}
    each_own = {axes: own[id(noise)] for axes, noise in zip(sets, noises, strict=True)}
    return Averaged(domain, residuals, energies, each_own, laplace=isinstance(noises[0], Laplace))


def rates(model: Averaged, sets: Sequence[Axes], noises: Sequence[Noise]) -> Floats:
    """(sum |a| s)^2 / sum a^2 s in a cell of each table: its variance in steps of its coefficients, if that is seen.

    Noises that are not small are as good as normal: they add their mean, squared.
    """
    rates, shape = np.full(len(sets), np.inf), model.domain.shape
    groups = _alike(model.domain, sets, noises)
    of = {id(noise): variance(noise) for noise in noises}
    for (*_, own), members in groups.items():
        if of[own] >= SMALL:
            continue
        T, small, large = sets[members[0]], 0.0, 0.0  # which stands for all of its shape
        for (*sizes, key), others in groups.items():
            shared = Counter(tuple(a for a in sets[i] if a in T and shape[a] > 1) for i in others)
            for B, times in shared.items():
                absolute, square = _sizes(model, B)
                if of[key] < SMALL:
                    small += times * absolute
                else:
                    large += times * square / (math.prod(sizes) * of[key])
        rates[members] = (small**2 + 2 / math.pi * large) / model.domain.cells(T) ** 2 / model.energy(T).variance
    return rates


def _sizes(model: Averaged, B: Axes) -> tuple[float, float]:
    """The means of |X| and of X^2 over the cells of B."""
    inside = (tuple(compress(B, which)) for which in product((0, 1), repeat=len(B)))
    sums = np.array([model.energies[A].variance * float(model.domain.cells(A)) ** 2 for A in inside])
    sums = sums.reshape((2,) * len(B))
    for i, a in enumerate(B):  # from without and within A to agreeing and not
        n = model.domain.shape[a]
        out, into = np.split(sums, 2, axis=i)
        sums = np.concatenate([out + into * (1 - 1 / n), out - into / n], axis=i)
    both = np.array([np.abs(sums), sums**2])
    for a in B:
        n = model.domain.shape[a]
        both = both[:, 0] / n + both[:, 1] * (1 - 1 / n)
    return float(both[0]), float(both[1])


def _alike(domain: Domain, sets: Sequence[Axes], noises: Sequence[Noise]) -> dict[tuple[int, ...], list[int]]:
    """The places of the tables of each shape and noise."""
    groups: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    for i, (axes, noise) in enumerate(zip(sets, noises, strict=True)):
        groups[*(domain.shape[a] for a in axes), id(noise)].append(i)
    return groups
