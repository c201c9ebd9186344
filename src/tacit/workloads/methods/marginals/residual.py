r"""Residual planning: the best noise for marginals, in closed form.

Definition.  A set of marginals is answered from the residuals (`residuals.py`) of all sets A of attributes within one
of them.  Of each, the table times N = prod n_i gets a noise in every cell, and only its residual is kept.

Privacy.  A record moves the residual as N P_A e_u would, which is a whole vector of squared length N^2 c_A, with
c_A = prod (1 - 1/n_i); for what P_A takes away can be put back before the noise.  So the residual is released at the
price of a noise on a vector that moves by sqrt(c_A) <= 1 in l2: rho_A = c_A / (2 sigma_A^2).  L records move it by at
most L times that, and never farther than the marginal moves.  Under Laplace noise a marginal's l1 counts.  What leaves
is a table of whole numbers from which the first slice along each axis was taken: nothing but the residual.

Utility.  Let u_A be the sum over marginals S of w_S prod_{i in A} (n_i - 1) / prod_{j in S - A} n_j, so that the sum of
all variances is sum_A u_A sigma_A^2.  Then rho_A proportional to sqrt(u_A d_A), d_A the squared move, is the least for
Gaussian noise over all linear strategies of this kind (Cauchy and Schwarz), and epsilon_A proportional to u_A^(1/3) for
Laplace noise.  Every answer has a known variance.

References.  Xiao, He, Zhang, Kifer, NeurIPS 2023; Canonne, Kamath, Steinke, NeurIPS 2020, for the noise.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from ....core.accounting.loss import Loss
from ....core.distance import Distance
from ....core.parameters import Number, probability
from ....core.randomness import Source
from ....storage import stored
from ...method import Method, Prediction, Released, instead
from ...models.residuals import Energy, Residuals, alike, centred, subsets
from ...price import SMALL, Noise, Price, variance
from ...queries.data import Data, Floats, Integers
from ...queries.data_cube import cube
from ...queries.domain import Axes, Domain
from ...queries.marginals import Marginal
from ...queries.workload import Workload
from ..direct.histogram import HistogramNoise
from ..direct.per_query import PerQuery

_SHARES = 1 << 30  # the finest share of a price
_MOST = 1 << 22  # sets of attributes


@stored("Residual")
@dataclass(frozen=True)
class Residual(Method):
    """Noise on the residuals of marginals, each with its best share of the price."""

    name = "residual"
    theorem = "least total variance for marginals; exact variances; 2^k sets for each k-way marginal"

    def why_not(self, workload: Workload, n: int | None, price: Price) -> str | None:
        tables = weighted(workload)
        if tables is None:
            return f"these are not all marginals; {instead(workload, n, price, HistogramNoise(), PerQuery())}"
        if sum(2 ** len(axes) for axes in tables) > _MOST:
            return f"the marginals have more than {_MOST} subsets of attributes; use adaptive"
        return None

    def _predict(self, workload: Workload, n: int | None, price: Price, beta: Number) -> Prediction:
        tables = weighted(workload)
        assert tables is not None
        noises = plan(workload, price)
        spread = Residuals(workload.domain, {}, _energies(workload.domain, noises), price.epsilon is not None).spread(
            list(tables)
        )
        spread = replace(spread, rates=_rates(workload.domain, list(tables), noises))
        sizes = np.array([workload.domain.cells(axes) for axes in tables], float)
        mass, b = sizes * np.array(list(tables.values())), float(probability("beta", beta))
        mean = float(np.average(spread.means, weights=mass))
        rms = float(np.average(spread.deviations**2, weights=mass)) ** 0.5
        worst = float(spread.reach(b / sizes.sum()).max())
        seconds = 5e-5 * len(noises) + 2e-7 * float(sizes.sum())
        return Prediction(mean, rms, worst, seconds, "exact", b, f"{len(noises)} residuals share the price")

    def _loss(self, workload: Workload, n: int | None, price: Price) -> Loss:
        return price.alone.loss()

    def run(
        self, workload: Workload, data: Data, price: Price, source: Source, *, n: int | None, beta: float
    ) -> Released:
        noises, domain = plan(workload, price), workload.domain
        residuals: dict[Axes, Floats] = {}
        for tables in cube(data, noises):
            for sets in alike(domain, tables, lambda axes: id(noises[axes])):
                stack = residual(np.array([tables[axes] for axes in sets]), noises[sets[0]], source)
                residuals.update({axes: stack[i, ...] for i, axes in enumerate(sets)})
        model = Residuals(domain, residuals, _energies(domain, noises), price.epsilon is not None)
        answers, errors = workload.answer(model), model.reach(workload, beta)
        return Released(self.name, workload, answers, errors, model, price.alone.loss(), beta)


def residual(tables: Integers, noise: Noise, source: Source) -> Floats:
    """The residual of each table of a stack whose cells, times their number in a table, each got a noise."""
    N = math.prod(tables.shape[1:])
    noisy = tables * N + np.asarray(noise.sample(np.zeros_like(tables), source))
    for axis in range(1, noisy.ndim):
        noisy = noisy - noisy.take([0], axis=axis)  # whole numbers still: this is what is released
    return centred(np.asarray(noisy, float), first=1) / N


def moves(domain: Domain, axes: Axes, unit: Distance[Any]) -> Distance[Any]:
    """How one unit moves a residual times the number of its cells."""
    N, marginal = domain.cells(axes), Marginal(domain, axes).distance(unit)
    c = math.prod((Fraction(domain.shape[a] - 1, domain.shape[a]) for a in axes), start=Fraction(1))
    square = min(marginal.l2_squared, unit.l1**2 * c)
    return Distance(N * marginal.l1, N**2 * square, N * marginal.l1, None, unit.relation)


def plan(workload: Workload, price: Price) -> dict[Axes, Noise]:
    """The noise of each set of attributes that is measured; those with an attribute of one value have no residual."""
    tables = weighted(workload)
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
    known = {kind: moves(domain, A, price.unit) for kind, A in dict(zip(kinds, measured, strict=True)).items()}
    far = [known[kind] for kind in kinds]
    if price.epsilon is not None:
        ideal = u ** (1 / 3)
    else:
        d = np.array([float(m.l2_squared) / domain.cells(A) ** 2 for m, A in zip(far, measured, strict=True)])
        ideal = np.sqrt(u * d)
    shares: list[int] = np.maximum(1, np.round(ideal / ideal.max() * _SHARES)).astype(np.int64).tolist()
    whole, keys = sum(shares), list(zip(shares, kinds, strict=True))
    alike = {(s, kind): price.part(Fraction(s, whole)).noise(known[kind]) for s, kind in dict.fromkeys(keys)}
    return {A: alike[key] for A, key in zip(measured, keys, strict=True)}


def weighted(workload: Workload) -> dict[Axes, float] | None:
    """The axes of each marginal, and its weight; None if there is something else."""
    found: dict[Axes, float] = {}
    for part, weight in zip(workload.parts, workload.part_weights.tolist(), strict=True):
        if not isinstance(part, Marginal):
            return None
        found[part.axes] = found.get(part.axes, 0.0) + weight
    return found


def _rates(domain: Domain, tables: list[Axes], noises: dict[Axes, Noise]) -> Floats:
    """As in `averaged.py`: the noise of a residual on A, of variance s in steps of 1 / N, has in a cell coefficients
    whose |a| add up to 2^|A| c_A / N and whose squares to c_A / N^2, spread over the cells of other axes."""
    steps = {key: variance(noise) for key, noise in {id(noise): noise for noise in noises.values()}.items()}
    found = np.full(len(tables), np.inf)
    if min(steps.values()) >= SMALL:
        return found
    for i, T in enumerate(tables):
        small = large = whole = 0.0
        for A in subsets(tuple(a for a in T if domain.shape[a] > 1)):
            s, N = steps[id(noises[A])], domain.cells(A)
            c, share = math.prod(1 - 1 / domain.shape[a] for a in A), N / domain.cells(T)
            square = c * (share / N) ** 2 * s
            small, large = (small + 2 ** len(A) * c * share / N * s, large) if s < SMALL else (small, large + square)
            whole += square
        found[i] = (small**2 + 2 / math.pi * large) / whole
    return found


def _energies(domain: Domain, noises: dict[Axes, Noise]) -> dict[Axes, Energy]:
    known: dict[tuple[int, int], Energy] = {}
    found = {}
    for axes, noise in noises.items():
        key = id(noise), domain.cells(axes)
        if key not in known:
            known[key] = Energy.of(noise, key[1])
        found[axes] = known[key]
    return found
