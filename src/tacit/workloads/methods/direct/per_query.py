r"""Noise on each answer.

Definition.  Add discrete Laplace noise (pure) or discrete Gaussian noise (zCDP) to the exact answer of every query.
The parts of a workload, such as its marginals, share the price so that the weighted mean squared error is least:
epsilon_i proportional to (w_i d_i^2)^(1/3), or rho_i to (w_i d_i^2)^(1/2), where d_i is how far a unit moves part i in
l1, or in l2, and w_i the weight of all its queries.  Where a matrix of the queries is small, or they are marginals
(`averaged.py`), the answers are made consistent by least squares, which lowers every variance (Gauss and Markov).

Privacy.  That of the noise at the distance of the vector of answers: k counting queries move by k in l1 and sqrt(k) in
l2.  Parts compose by addition.  Least squares looks at noisy answers only.

Utility.  Each answer has one noise, or less: k Laplace answers are all within (k / epsilon) ln(k / beta) with
probability 1 - beta; with Gaussian noise sqrt(k / (2 rho)) sqrt(2 ln(2 k / beta)).  In the textbooks' table:
k log(k/beta) / (n epsilon) after division by n, at a cost of n for each query.

References.  Dwork, McSherry, Nissim, Smith, TCC 2006; Dwork and Roth (2014), theorem 3.8; Li, Hay, Rastogi, Miklau,
McGregor, PODS 2010, for least squares.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from ....core.accounting.loss import Loss, zero
from ....core.parameters import Number
from ....core.randomness import Source
from ....storage import stored
from ...method import Method, Prediction, Released, predicted
from ...models.averaged import averaged, rates
from ...models.error_bounds import Spread, joined
from ...models.measured_model import Measured, fitted, solvable
from ...models.noisy_marginals import NoisyMarginals
from ...price import Noise, Price
from ...queries.data import Data, Floats
from ...queries.domain import Axes, shown
from ...queries.marginals import Marginal
from ...queries.workload import Workload

_MOST = 10**8  # answers that are drawn
_SHARES = 1 << 12  # the finest share of a price
_SETS = 1 << 18  # within marginals that are made consistent
_NOTE = "made consistent by least squares"


@stored("PerQuery")
@dataclass(frozen=True)
class PerQuery(Method):
    """One noise on each answer."""

    name = "queries"
    theorem = "k log(k/beta) / (n epsilon), or sqrt(k) by zCDP; n a query"

    def why_not(self, workload: Workload, n: int | None, price: Price) -> str | None:
        if workload.queries > _MOST:
            return f"{shown(workload.queries)} answers would be drawn, at most {_MOST} can: use histogram or residual"
        return None

    def noises(self, workload: Workload, price: Price) -> list[Noise]:
        """The noise of each part."""
        price = price.alone
        moves = [part.distance(price.unit) for part in workload.parts]
        if len(moves) == 1:
            return [price.noise(moves[0], workload.grid)]
        starts = np.cumsum([0, *(part.queries for part in workload.parts)])
        mass = np.add.reduceat(workload.weights, starts[:-1])
        if price.epsilon is not None:
            ideal = (mass * np.array([float(d.l1) ** 2 for d in moves])) ** (1 / 3)
        else:
            ideal = np.sqrt(mass * np.array([float(d.l2_squared) for d in moves]))
        shares = np.maximum(1, np.round(ideal / ideal.max() * _SHARES)).astype(int).tolist()
        whole = sum(shares)
        made: dict[Any, Noise] = {}  # parts that are alike have one noise
        for share, moved, part in zip(shares, moves, workload.parts, strict=True):
            if (share, moved, part.grid) not in made:
                made[share, moved, part.grid] = price.part(Fraction(share, whole)).noise(moved, part.grid)
        return [made[share, d, part.grid] for share, d, part in zip(shares, moves, workload.parts, strict=True)]

    def spread(self, workload: Workload, price: Price) -> Spread:
        noises = self.noises(workload, price)
        if len(noises) == 1 and solvable(workload):
            return Measured(workload, noises[0]).spread(workload)
        times = [part.queries for part in workload.parts]
        if (sets := several(workload)) is not None:
            model = averaged(workload.domain, sets, noises)
            return joined([replace(model.spread(sets), rates=rates(model, sets, noises))], times)
        one = {noise: Spread.of(noise, np.ones(1)) for noise in set(noises)}
        return joined([one[noise] for noise in noises], times)

    def _predict(self, workload: Workload, n: int | None, price: Price, beta: Number) -> Prediction:
        looked_at = sum(workload.domain.cells(axes) for axes in workload.tables)
        seconds = 1e-3 + 3e-4 * len(workload.parts) + 1e-8 * looked_at + 8e-8 * workload.queries
        if (sets := several(workload)) is not None:
            seconds += sum(2 ** len(axes) * (2e-5 + 1e-8 * workload.domain.cells(axes)) for axes in sets)
        why = f"one record moves the answers by {float(workload.row.l1):g} in all"
        return predicted(workload, self.spread(workload, price), seconds, beta, why)

    def _loss(self, workload: Workload, n: int | None, price: Price) -> Loss:
        return _total(self.noises(workload, price))

    def run(
        self, workload: Workload, data: Data, price: Price, source: Source, *, n: int | None, beta: float
    ) -> Released:
        noises = self.noises(workload, price)
        noisy = [_drawn(part, noise, data, source) for part, noise in zip(workload.parts, noises, strict=True)]
        loss = _total(noises)
        if len(noises) == 1 and solvable(workload):
            measured = Measured(workload, noises[0], noisy[0])
            errors = measured.reach(workload, beta)
            answers = fitted(workload, noisy[0])
            return Released(self.name, workload, answers, errors, measured, loss, beta, (_NOTE,))
        if (sets := several(workload)) is not None:
            shaped = [y.reshape(workload.domain.laid_out(axes)) for y, axes in zip(noisy, sets, strict=True)]
            mean = averaged(workload.domain, sets, noises, shaped)
            answers, errors = workload.answer(mean), mean.reach(workload, beta)
            return Released(self.name, workload, answers, errors, mean, loss, beta, (_NOTE,))
        errors = self.spread(workload, price).reach(beta)
        model = NoisyMarginals.of(workload, noisy, noises)
        return Released(self.name, workload, np.concatenate(noisy), errors, model, loss, beta)

    def reach(self, released: Released, n: int | None, price: Price, beta: float) -> Floats:
        return self.spread(released.workload, price).reach(beta)


def several(workload: Workload) -> list[Axes] | None:
    """The axes of each part, if they are several marginals that can be made consistent."""
    sets = [part.axes for part in workload.parts if isinstance(part, Marginal)]
    found = len(sets) == len(workload.parts) > 1 and sum(2 ** len(axes) for axes in sets) <= _SETS
    return sets if found else None


def _total(noises: list[Noise]) -> Loss:
    return sum((count * noise.loss() for noise, count in Counter(noises).items()), zero)


def _drawn(part: Workload, noise: Noise, data: Data, source: Source) -> Any:
    truth = part.exactly(data)
    return np.asarray(noise.sample(truth if part.grid == 1 else truth * float(part.grid), source), float)
