r"""The matrix mechanism: noise on other queries than those that were asked, which answer them better.

Definition.  A strategy A, of cells and of sums of cells, is searched for before any data are seen (`_strategy.py`): the
one from which least squares answers the workload W with the least total variance.  Every query of A gets one noise, and
W is answered from the cells that fit the noisy answers best (`measured_model.py`).

Privacy.  That of the noise at the exact distance of the answers of A.  A is public: W and the price alone decide it.

Utility.  The error of a query w has |w A^+|^2 times the variance of one noise, which is known exactly; its mean over k
queries is tr((A'A)^-1 W'W) / k times that, and is never above that of noise on the histogram, as A may be the cells.
On all ranges of 64 to 512 values it is 13 to 25 per cent below that of the best tree.

References.  Li, Miklau, Hay, McGregor, Rastogi, VLDB Journal 24 (2015); McKenna, Miklau, Hay, Machanavajjhala, VLDB
2018, whose OPT_0 this is.
"""

from __future__ import annotations

from dataclasses import dataclass

from ....core.accounting.loss import Loss
from ....core.parameters import Number
from ....core.randomness import Source
from ....storage import stored
from ...method import Method, Prediction, Released, predicted
from ...models.measured_model import CONSISTENT, Measured, noisy_answers
from ...price import Noise, Price, variance
from ...queries.data import Data, Floats
from ...queries.domain import shown
from ...queries.workload import Workload
from ._strategy import CELLS, Strategy, searchable, strategies


@stored("MatrixMechanism")
@dataclass(frozen=True)
class Optimised(Method):
    """Noise on the answers of the best strategy, and least squares."""

    name = "optimised"
    theorem = "sqrt(tr((A'A)^-1 W'W) / k) / (n epsilon), A the best found; |X|^3 in all"

    def why_not(self, workload: Workload, n: int | None, price: Price) -> str | None:
        if workload.domain.size > CELLS:
            return f"it searches for a strategy on at most {CELLS} cells, not {shown(workload.domain.size)}"
        if not searchable(workload):
            return f"{shown(workload.queries)} queries are too many to search for a strategy"
        return None

    def _predict(self, workload: Workload, n: int | None, price: Price, beta: Number) -> Prediction:
        strategy, noise = chosen(workload, price)
        cells, measured = workload.domain.size, strategy.queries.queries
        seconds = 1e-2 + 2e-6 * cells**2 + 5e-9 * workload.queries * cells
        why = f"least squares answers from {measured} noisy sums that were chosen for these queries"
        return predicted(workload, strategy.query_errors(noise), seconds, beta, why)

    def _loss(self, workload: Workload, n: int | None, price: Price) -> Loss:
        return chosen(workload, price)[1].loss()

    def run(
        self, workload: Workload, data: Data, price: Price, source: Source, *, n: int | None, beta: float
    ) -> Released:
        strategy, noise = chosen(workload, price)
        model = Measured(strategy.queries, noise, noisy_answers(strategy.queries, noise, data, source))
        answers, errors = workload.answer(model), strategy.query_errors(noise).bounds(beta)
        return Released(self.name, workload, answers, errors, model, noise.loss(), beta, (CONSISTENT,))

    def error_bounds(self, released: Released, n: int | None, price: Price, beta: float) -> Floats:
        strategy, noise = chosen(released.workload, price)
        return strategy.query_errors(noise).bounds(beta)


def chosen(workload: Workload, price: Price) -> tuple[Strategy, Noise]:
    """The better of the cells alone and the strategy of the search, and its noise.

    The noise of whole numbers is less where it is small, so the cells may be better than what the search ends with.
    """
    options = []
    for strategy in strategies(workload, price.epsilon is not None):
        noise = price.alone.noise(strategy.queries.distance(price.unit), strategy.queries.grid)
        options.append((strategy.total * variance(noise) * float(noise.grid or 1) ** 2, strategy, noise))
    _, strategy, noise = min(options, key=lambda each: each[0])
    return strategy, noise
