r"""The matrix mechanism: noise on other queries than those that were asked, which answer them better.

Definition.  A strategy A, of cells and of sums of cells, is searched for before any data are seen (`strategy.py`): that
from which least squares answers the workload W with the least total variance.  Every query of A gets one noise, as if A
had been asked for (`per_query.py`), and W is answered from the cells that fit them best.

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
from ...method import Method, Prediction, Released, instead, predicted
from ...models.measured_model import Measured
from ...price import Noise, Price, variance
from ...queries.data import Data, Floats
from ...queries.domain import shown
from ...queries.workload import Workload
from ..marginals.residual import Residual
from ..trees.hierarchy import Hierarchy
from ._strategy import CELLS, Strategy, searchable, strategies
from .histogram import HistogramNoise
from .per_query import PerQuery

_QUERIES = PerQuery()


@stored("MatrixMechanism")
@dataclass(frozen=True)
class Optimised(Method):
    """Noise on the answers of the best strategy, and least squares."""

    name = "optimised"
    theorem = "sqrt(tr((A'A)^-1 W'W) / k) / (n epsilon), A the best found; |X|^3 in all"

    def why_not(self, workload: Workload, n: int | None, price: Price) -> str | None:
        if workload.domain.size > CELLS:
            why = f"a strategy is searched for on at most {CELLS} cells, not {shown(workload.domain.size)}"
        elif not searchable(workload):
            why = f"no strategy is searched for with {shown(workload.queries)} queries"
        else:
            return None
        return f"{why}; {instead(workload, n, price, Hierarchy(), Residual(), HistogramNoise(), _QUERIES)}"

    def _predict(self, workload: Workload, n: int | None, price: Price, beta: Number) -> Prediction:
        strategy, noise = chosen(workload, price)
        cells, measured = workload.domain.size, strategy.queries.queries
        seconds = 1e-2 + 2e-6 * cells**2 + 5e-9 * workload.queries * cells
        why = f"least squares makes it of {measured} noisy sums, which were chosen for that"
        return predicted(workload, strategy.spread(noise), seconds, beta, why)

    def _loss(self, workload: Workload, n: int | None, price: Price) -> Loss:
        return _QUERIES.loss(chosen(workload, price)[0].queries, n, price)

    def run(
        self, workload: Workload, data: Data, price: Price, source: Source, *, n: int | None, beta: float
    ) -> Released:
        strategy, noise = chosen(workload, price)
        told = _QUERIES.run(strategy.queries, data, price, source, n=n, beta=beta)
        assert isinstance(told.model, Measured)
        answers, errors = workload.answer(told.model), strategy.spread(noise).reach(beta)
        return Released(self.name, workload, answers, errors, told.model, told.loss, beta, told.notes)

    def reach(self, released: Released, n: int | None, price: Price, beta: float) -> Floats:
        strategy, noise = chosen(released.workload, price)
        return strategy.spread(noise).reach(beta)


def chosen(workload: Workload, price: Price) -> tuple[Strategy, Noise]:
    """The better of the cells and of what was found, and its noise: that of whole numbers is less, if it is small."""
    found = []
    for strategy in strategies(workload, price.epsilon is not None):
        (noise,) = _QUERIES.noises(strategy.queries, price)
        found.append((strategy.total * variance(noise) * float(noise.grid or 1) ** 2, strategy, noise))
    _, strategy, noise = min(found, key=lambda each: each[0])
    return strategy, noise
