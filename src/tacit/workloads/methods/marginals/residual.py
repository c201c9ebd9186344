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
from dataclasses import dataclass, replace

import numpy as np

from ....core.accounting.loss import Loss
from ....core.parameters import Number, probability
from ....core.randomness import Source
from ....storage import stored
from ...method import Method, Prediction, Released
from ...models.marginals.residuals import Residuals, subsets
from ...price import SMALL, Noise, Price, variance
from ...queries.data import Data, Floats
from ...queries.domain import Axes, Domain
from ...queries.workload import Workload
from ._residual_plan import energies, marginal_weights, measured, plan

_MAX_SETS = 1 << 22  # of attributes


@stored("Residual")
@dataclass(frozen=True)
class Residual(Method):
    """Noise on the residuals of marginals, each with its best share of the price."""

    name = "residual"
    theorem = "least total variance for marginals; exact variances; 2^k sets for each k-way marginal"

    def why_not(self, workload: Workload, n: int | None, price: Price) -> str | None:
        tables = marginal_weights(workload)
        if tables is None:
            return "some of the queries are not marginals"
        if sum(2 ** len(axes) for axes in tables) > _MAX_SETS:
            return f"the marginals have more than {_MAX_SETS} subsets of attributes, each of which would be measured"
        return None

    def _predict(self, workload: Workload, n: int | None, price: Price, beta: Number) -> Prediction:
        tables = marginal_weights(workload)
        assert tables is not None
        noises, domain = plan(workload, price), workload.domain
        model = Residuals(domain, {}, energies(domain, noises), price.epsilon is not None)
        errors = replace(model.cell_errors(list(tables)), rates=_rates(domain, list(tables), noises))
        sizes = np.array([domain.cells(axes) for axes in tables], float)
        mass, b = sizes * np.array(list(tables.values())), float(probability("beta", beta))
        mean = float(np.average(errors.means, weights=mass))
        rms = float(np.average(errors.deviations**2, weights=mass)) ** 0.5
        worst = float(errors.bounds(b / sizes.sum()).max())
        seconds = 5e-5 * len(noises) + 2e-7 * float(sizes.sum())
        return Prediction(mean, rms, worst, seconds, "exact", b, f"{len(noises)} residuals share the price")

    def _loss(self, workload: Workload, n: int | None, price: Price) -> Loss:
        return price.alone.loss()

    def run(
        self, workload: Workload, data: Data, price: Price, source: Source, *, n: int | None, beta: float
    ) -> Released:
        model = measured(workload, data, price, source)
        answers, errors = workload.answer(model), model.error_bounds(workload, beta)
        return Released(self.name, workload, answers, errors, model, price.alone.loss(), beta)


def _rates(domain: Domain, tables: list[Axes], noises: dict[Axes, Noise]) -> Floats:
    """The variance of a cell of each table in steps of its coefficients, where noises are small (`error_bounds.py`).

    The noise of a residual on A, of variance s in steps of 1 / N, has in a cell coefficients whose |a| add up to
    2^|A| c_A / N and whose squares to c_A / N^2, spread over the cells of other axes.
    """
    steps = {key: variance(noise) for key, noise in {id(noise): noise for noise in noises.values()}.items()}
    rates = np.full(len(tables), np.inf)
    if min(steps.values()) >= SMALL:
        return rates
    for i, T in enumerate(tables):
        small = large = whole = 0.0
        for A in subsets(tuple(a for a in T if domain.shape[a] > 1)):
            s, N = steps[id(noises[A])], domain.cells(A)
            c, share = math.prod(1 - 1 / domain.shape[a] for a in A), N / domain.cells(T)
            square = c * (share / N) ** 2 * s
            small, large = (small + 2 ** len(A) * c * share / N * s, large) if s < SMALL else (small, large + square)
            whole += square
        rates[i] = (small**2 + 2 / math.pi * large) / whole
    return rates
