r"""Noise on the histogram.

Definition.  Add discrete Laplace noise (pure) or discrete Gaussian noise (zCDP) to the count of every cell of X, the
product of the attributes that the workload looks at; every query is answered from the noisy cells.

Privacy.  That of the noise at the histogram's own distance: a record lies in one cell, so l1 = 1 under add/remove and 2
under substitution, however many queries follow.

Utility.  A query with coefficients a is off by sum a_i Z_i, of variance |a|^2 times that of one noise; a 0/1 query that
counts m cells is within sqrt(8 m ln(2/beta)) / epsilon with probability 1 - beta, once m >= 2 ln(2/beta).  In the
textbooks' table: sqrt(|X|) log(k/beta) / (n epsilon) after division by n, at a cost of |X| for each query.

References.  Dwork, McSherry, Nissim, Smith, TCC 2006, example 3; Dwork and Roth (2014), section 3.3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....core.accounting.loss import Loss
from ....core.parameters import Number
from ....core.randomness import Source
from ....storage import stored
from ...method import Method, Prediction, Released, predicted
from ...models.error_bounds import Spread
from ...models.marginals.noisy_marginals import NoisyMarginals
from ...models.trees.line_model import LineModel
from ...price import Noise, Price
from ...queries.data import Data
from ...queries.domain import CELLS, shown
from ...queries.marginals import Marginal
from ...queries.workload import Workload


@stored("HistogramNoise")
@dataclass(frozen=True)
class HistogramNoise(Method):
    """One noise on each cell of the domain."""

    name = "histogram"
    theorem = "sqrt(|X| log(k/beta)) / (n epsilon); |X| a query"

    def why_not(self, workload: Workload, n: int | None, price: Price) -> str | None:
        cells = workload.domain.cells(workload.span)
        if cells <= CELLS:
            return None
        return f"it would draw {shown(cells)} cells, and can draw at most {CELLS}"

    def noise(self, workload: Workload, price: Price) -> Noise:
        """The noise on each cell: a record lies in one cell."""
        return price.alone.noise(Marginal(workload.domain, workload.span).distance(price.unit))

    def _predict(self, workload: Workload, n: int | None, price: Price, beta: Number) -> Prediction:
        cells = workload.domain.cells(workload.span)
        squares = workload.squares(workload.span)
        seconds = 1e-3 + (2e-8 + 3e-9 * len(workload.tables)) * cells + workload.seconds
        largest = float(squares.max())
        why = f"the noise of up to {largest:.3g} {'cell' if largest == 1 else 'cells'} adds up in one answer"
        if workload.grid == 1:
            errors = Spread.of(self.noise(workload, price), squares)
        else:
            values = workload.domain.shape[0]
            sums = workload.answer(LineModel(workload.domain, 0, np.full(values, cells / values)))  # one in each cell
            terms = np.divide(sums**2, squares, out=np.ones_like(sums), where=squares > 0)
            errors = Spread.of(self.noise(workload, price), squares, 1.0, terms)
        return predicted(workload, errors, seconds, beta, why)

    def _loss(self, workload: Workload, n: int | None, price: Price) -> Loss:
        return self.noise(workload, price).loss()

    def run(
        self, workload: Workload, data: Data, price: Price, source: Source, *, n: int | None, beta: float
    ) -> Released:
        noise, axes = self.noise(workload, price), workload.span
        noisy = np.asarray(noise.sample(data.marginal(axes), source), float)
        model = NoisyMarginals(workload.domain, {axes: noisy}, {axes: noise})
        errors = model.error_bounds(workload, beta)
        return Released(self.name, workload, workload.answer(model), errors, model, noise.loss(), beta)
