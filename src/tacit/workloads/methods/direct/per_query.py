r"""Noise on each answer.

Definition.  Add discrete Laplace noise (pure) or discrete Gaussian noise (zCDP) to the exact answer of every query.
The parts of a workload, such as its marginals, share the price so that the weighted mean squared error is least:
epsilon_i proportional to (w_i d_i^2)^(1/3), or rho_i to (w_i d_i^2)^(1/2), where d_i is how far a unit moves part i in
l1, or in l2, and w_i the weight of all its queries.  Where a matrix of the queries is small (`measured_model.py`), or
they are marginals (`averaged.py`), least squares makes the answers consistent, which lowers every variance (Gauss and
Markov).

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
from ...models.error_bounds import Spread, joined
from ...models.marginals.averaged import averaged, rates
from ...models.marginals.noisy_marginals import NoisyMarginals
from ...models.measured_model import CONSISTENT, Measured, fitted, noisy_answers, solvable
from ...price import Noise, Price
from ...queries.data import Data, Floats
from ...queries.domain import Axes, shown
from ...queries.workload import Workload

_MAX_ANSWERS = 10**8
_SHARES = 1 << 12  # the finest share of a price
_MAX_SETS = 1 << 18  # of attributes, within marginals that are made consistent


@stored("PerQuery")
@dataclass(frozen=True)
class PerQuery(Method):
    """One noise on each answer."""

    name = "queries"
    theorem = "k log(k/beta) / (n epsilon), or sqrt(k) by zCDP; n a query"

    def why_not(self, workload: Workload, n: int | None, price: Price) -> str | None:
        if workload.queries > _MAX_ANSWERS:
            return f"it would draw {shown(workload.queries)} answers, and can draw at most {_MAX_ANSWERS}"
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
        distinct: dict[Any, Noise] = {}  # parts that are alike have one noise
        for share, moved, part in zip(shares, moves, workload.parts, strict=True):
            if (share, moved, part.grid) not in distinct:
                distinct[share, moved, part.grid] = price.part(Fraction(share, whole)).noise(moved, part.grid)
        return [distinct[share, d, part.grid] for share, d, part in zip(shares, moves, workload.parts, strict=True)]

    def query_errors(self, workload: Workload, price: Price) -> Spread:
        """The errors of all answers."""
        noises = self.noises(workload, price)
        if len(noises) == 1 and solvable(workload):
            return Measured(workload, noises[0]).query_errors(workload)
        times = [part.queries for part in workload.parts]
        if (sets := several(workload)) is not None:
            model = averaged(workload.domain, sets, noises)
            return joined([replace(model.cell_errors(sets), rates=rates(model, sets, noises))], times)
        one = {noise: Spread.of(noise, np.ones(1)) for noise in set(noises)}
        return joined([one[noise] for noise in noises], times)

    def _predict(self, workload: Workload, n: int | None, price: Price, beta: Number) -> Prediction:
        looked_at = sum(workload.domain.cells(axes) for axes in workload.tables)
        seconds = 1e-3 + 3e-4 * len(workload.parts) + 1e-8 * looked_at + 8e-8 * workload.queries
        if (sets := several(workload)) is not None:
            seconds += sum(2 ** len(axes) * (2e-5 + 1e-8 * workload.domain.cells(axes)) for axes in sets)
        why = f"one record moves the answers by {float(workload.row.l1):g} in all"
        return predicted(workload, self.query_errors(workload, price), seconds, beta, why)

    def _loss(self, workload: Workload, n: int | None, price: Price) -> Loss:
        return _total(self.noises(workload, price))

    def run(
        self, workload: Workload, data: Data, price: Price, source: Source, *, n: int | None, beta: float
    ) -> Released:
        noises = self.noises(workload, price)
        noisy = [noisy_answers(part, noise, data, source) for part, noise in zip(workload.parts, noises, strict=True)]
        loss = _total(noises)
        if len(noises) == 1 and solvable(workload):
            measured = Measured(workload, noises[0], noisy[0])
            errors = measured.error_bounds(workload, beta)
            answers = fitted(workload, noisy[0])
            return Released(self.name, workload, answers, errors, measured, loss, beta, (CONSISTENT,))
        if (sets := several(workload)) is not None:
            shaped = [y.reshape(workload.domain.laid_out(axes)) for y, axes in zip(noisy, sets, strict=True)]
            mean = averaged(workload.domain, sets, noises, shaped)
            answers, errors = workload.answer(mean), mean.error_bounds(workload, beta)
            return Released(self.name, workload, answers, errors, mean, loss, beta, (CONSISTENT,))
        errors = self.query_errors(workload, price).bounds(beta)
        model = NoisyMarginals.of(workload, noisy, noises)
        return Released(self.name, workload, np.concatenate(noisy), errors, model, loss, beta)

    def error_bounds(self, released: Released, n: int | None, price: Price, beta: float) -> Floats:
        return self.query_errors(released.workload, price).bounds(beta)


def several(workload: Workload) -> list[Axes] | None:
    """The axes of each part, if the parts are several marginals that can be made consistent; else None."""
    sets = [axes for part in workload.parts if (axes := part.marginal_axes) is not None]
    consistent = len(sets) == len(workload.parts) > 1 and sum(2 ** len(axes) for axes in sets) <= _MAX_SETS
    return sets if consistent else None


def _total(noises: list[Noise]) -> Loss:
    return sum((count * noise.loss() for noise, count in Counter(noises).items()), zero)
