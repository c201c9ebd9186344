r"""Local reports: every person randomizes their own cell, and no curator is trusted.

Definition.  X is the product of the attributes that the workload looks at.  Each person reports by randomized response
(their own cell with probability p = e^epsilon / (e^epsilon + |X| - 1), else another one, each with probability q), by
subset selection, or by Hadamard response: by the one with the least mean square error on the queries of this workload,
whatever the data, but not by sets where a million of them would take longer than ten seconds.  A query is answered by
the sum of its cells' estimates, unbiased, which are moved alike so that all cells add up to the number of people.

Privacy.  epsilon for each report that changes, in the local model.  The reports show how many people there are, so this
is a statement about substitution; the reports are paid for once, however many queries are asked.

Utility.  By randomized response, for a 0/1 query of m cells, the report of a person who counts is among them with
probability p + (m - 1) q, that of any other with m q: the data are fixed, so an answer has the variance of n such
coins, over (p - q)^2.  All k queries are within n sqrt(ln(2 k / beta) / (2 n)) / (p - q) by Hoeffding's inequality,
sqrt(log(k/beta)) / (epsilon sqrt(n)) after division by n for |X| = 2, and within less where the coins are not fair.
Where |X| is above 3 e^epsilon + 2 the other two are better: an answer has about m times the variance of one cell, which
does not grow with |X| (`local_report_error.py` has this and the bounds).  The choice does not depend on n, so no error
divided by n is larger for more people.  The mean absolute error of an answer of deviation s is at most s, and at most
sqrt(2/pi) s + R / (p - q), as terms in [-R, R] have third moments no larger than R times their second, and their sum
is that near to a normal one in the mean.

References.  Warner, JASA 60 (1965); Kairouz, Bonawitz, Ramage, ICML 2016; Duchi, Jordan, Wainwright, FOCS 2013; Ye and
Barg, IEEE Trans. Inf. Theory 64 (2018); Acharya, Sun, Zhang, AISTATS 2019; Goldstein, Annals of Probability 38
(2010), for the mean.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ....core.accounting.loss import Loss
from ....core.distance import Substitute
from ....core.parameters import Number, probability
from ....core.progress import with_progress
from ....core.randomness import Source
from ....mechanisms import HadamardResponse, RandomizedResponse, SubsetSelection
from ....mechanisms.local._frequency import FrequencyOracle
from ....storage import bare, stored
from ...method import Method, Prediction, Released, checked_n
from ...models.marginals.noisy_marginals import NoisyMarginals
from ...price import Price
from ...queries.data import Data, Floats, Integers
from ...queries.domain import shown
from ...queries.workload import Workload
from .local_report_error import Stray

_MAX_CELLS, _MAX_PEOPLE = 1 << 20, 10**8
_MAX_SECONDS = 1e-5  # that one report may take
_MAX_BITS = 1 << 24  # of reports at once


@stored("LocalReports")
@dataclass(frozen=True)
class Local(Method):
    """Randomized reports of cells of the domain."""

    name = "local"
    theorem = "sqrt(log(k/beta)) / (epsilon sqrt(n)) on bits, no curator; n a query"
    needs_n = True

    def why_not(self, workload: Workload, n: int | None, price: Price) -> str | None:
        if not 2 <= (cells := workload.domain.cells(workload.span)) <= _MAX_CELLS:
            return f"the attributes of the queries must have 2 to {_MAX_CELLS} cells together, not {shown(cells)}"
        if price.unit.substituted > 1:
            return "each person sends one report, and here a unit may have several records"
        if n is None or not 1 <= n <= _MAX_PEOPLE:
            return f"the number of people must be public, from 1 to {_MAX_PEOPLE}"
        return None

    def refusal(self, workload: Workload, n: int | None, price: Price) -> str | None:
        """None where local reports can be used, or a reason why not; reasons that no n would mend come first."""
        checked_n(workload, n, price)
        if price.epsilon is None:
            return "local reports are priced in pure epsilon, not in rho: pass epsilon"
        if not isinstance(price.unit.relation, Substitute):
            return "the number of reports is public, so units must be substituted (SUBSTITUTE), not added or removed"
        return super().refusal(workload, n, price)

    def response(self, workload: Workload, price: Price) -> FrequencyOracle:
        """The best local randomizer for these queries; each unit may change as many reports as it has records."""
        epsilon, cells = price.amount / price.unit.substituted, workload.domain.cells(workload.span)
        oracles: list[FrequencyOracle] = [
            RandomizedResponse(epsilon=epsilon, categories=cells),
            HadamardResponse(epsilon=epsilon, categories=cells),
        ]
        sets = SubsetSelection(epsilon=epsilon, categories=cells)
        if sets.size > 1 and _seconds(sets) <= _MAX_SECONDS:  # sets of one cell are randomized response
            oracles.append(sets)
        return min(oracles, key=lambda oracle: Stray.of(oracle, workload, workload.span).rms(workload, 1))

    def _predict(self, workload: Workload, n: int | None, price: Price, beta: Number) -> Prediction:
        people, b, response = self._people(n), float(probability("beta", beta)), self.response(workload, price)
        stray = Stray.of(response, workload, workload.span)
        rms = stray.rms(workload, people)
        mean = min(rms, workload.mean(stray.deviations(people)))
        normal = math.sqrt(2 / math.pi) * mean + workload.mean(stray.width) / stray.gain
        worst = float(stray.bounds(people, b / workload.queries).max())
        cells = workload.domain.cells(workload.span)
        summed = (5e-7 + 3e-9 * len(workload.tables)) * cells + 1e-6 * workload.queries
        seconds = 2e-3 + _seconds(response) * people + summed
        why = "every person adds their own noise, so errors grow with the root of n"
        return Prediction(min(mean, normal), rms, worst, seconds, "bound", b, why)

    def _loss(self, workload: Workload, n: int | None, price: Price) -> Loss:
        return self.response(workload, price).loss(price.unit)

    def run(
        self, workload: Workload, data: Data, price: Price, source: Source, *, n: int | None, beta: float
    ) -> Released:
        response = self.response(workload, price)
        counts = data.marginal(workload.span)
        cells, seen = np.repeat(np.arange(counts.size), counts.ravel()), np.zeros(counts.size, np.int64)
        starts = range(0, cells.size, batch := max(1, _MAX_BITS // response.bits))
        for start in with_progress("asking people", starts, len(starts)):
            seen += response.count(response.sample(cells[start : start + batch], source))[0]
        model = Reported(workload, seen, cells.size, response)
        errors, loss = model.error_bounds(workload, beta), self.loss(workload, n, price)
        return Released(self.name, workload, workload.answer(model), errors, model, loss, beta)


@stored("LocalReportsModel", ("domain", "tables", "noises", "people", "response"), make=bare)
class Reported(NoisyMarginals):
    """Cells estimated from how many of all reports speak for each; the estimates add up to the number of people."""

    def __init__(self, workload: Workload, seen: Integers, people: int, response: FrequencyOracle) -> None:
        self.people, self.response, axes = people, response, workload.span
        values = (seen.astype(float) - people * response.chances.other) / response.chances.gain
        values += (people - values.sum()) / values.size
        super().__init__(workload.domain, {axes: values.reshape(workload.domain.laid_out(axes))}, {})

    def _part(self, part: Workload, beta: float) -> Floats:
        if (axes := self._best(part.span)) is None:
            return np.full(part.queries, np.inf)
        return Stray.of(self.response, part, axes).bounds(self.people, beta)


def _seconds(oracle: FrequencyOracle) -> float:
    """About how long it takes to draw and count one report."""
    return 3e-8 * oracle.size + 1e-9 * oracle.categories if isinstance(oracle, SubsetSelection) else 4e-8
