r"""Private multiplicative weights for a workload that is known: its queries are asked until all are answered.

Definition.  The queries are put to private multiplicative weights (`pmw.py`, with the constants that `pmw_plans.py`
proves the most with) one after the other, and again from the first, until the model has answered a whole round alone or
no update is left, or the moves are more than n records allow.  The answers are those of the last model.

Privacy.  That of one session of private multiplicative weights, which is for any questions in any order: the price.

Utility.  A round without an update checks every answer of the last model.  Each other round has an update, so with c
updates no more than (c + 1) k questions are asked; for so many, with probability 1 - beta, all comparisons are right to
a, updates last, and every answer is within T + a: about n (ln|X| ln(k / beta) / (n epsilon))^(1/3), or under zCDP
n (ln|X| / rho)^(1/4) (ln(k / beta) / n)^(1/2).  That updates last is proved for n records, but a checked answer is
within T + a however many there are.  If there are n, no answer of the model misses by more than n.

References.  Hardt and Rothblum, FOCS 2010; Dwork and Roth (2014), section 4.2, for the online form and its bound;
Gupta, Roth, Ullman, TCC 2012, for going over the queries again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ....core.accounting.loss import Loss
from ....core.distance import Substitute
from ....core.exact import from_above
from ....core.parameters import Number, probability
from ....core.progress import with_progress
from ....core.randomness import Source
from ....storage import stored
from ...method import Method, Prediction, Released
from ...models.multiplicative_weights import LinearQuery
from ...price import Price
from ...queries.data import EXACT, Data
from ...queries.domain import Domain, shown
from ...queries.predicates import flat
from ...queries.workload import Workload
from .pmw import PrivateMultiplicativeWeights
from .pmw_plans import proven

CELLS = 1 << 24  # of the model, at most
_MAX_WORK = 10**10  # cells times queries, of one round
_MAX_COEFFICIENTS = 1 << 27  # of all the questions, of 16 bytes each


@stored("OfflinePMW")
@dataclass(frozen=True)
class OfflinePMW(Method):
    """The queries of a workload put to private multiplicative weights."""

    name = "pmw"
    theorem = "(ln|X| ln(k/beta) / (n epsilon))^(1/3); |X| a query and round"
    needs_n = reads_n = reads_beta = True

    def why_not(self, workload: Workload, n: int | None, price: Price) -> str | None:
        cells, k = workload.domain.size, workload.queries
        if not 2 <= cells <= CELLS:
            return f"its model has 2 to {CELLS} cells, and this domain has {shown(cells)}"
        if cells * k > _MAX_WORK:
            return f"{k} queries of {cells} cells make {cells * k:.2g} steps a round; it takes at most {_MAX_WORK:.0g}"
        if (stored := _coefficients(workload)) > _MAX_COEFFICIENTS:
            return f"{k} queries have {stored:.2g} coefficients; it holds at most {_MAX_COEFFICIENTS} in memory"
        return None

    def mechanism(self, workload: Workload, n: int | None, price: Price, beta: Number) -> PrivateMultiplicativeWeights:
        """The mechanism that is run, with one question for each query."""
        at = probability("beta", beta)
        return _mechanism(workload.domain, self._people(n), price, workload.queries, beta=at, grid=workload.grid)

    def _loss(self, workload: Workload, n: int | None, price: Price) -> Loss:
        return self.mechanism(workload, n, price, 0.05).loss()  # which does not depend on beta

    def _predict(self, workload: Workload, n: int | None, price: Price, beta: Number) -> Prediction:
        mechanism, b = self.mechanism(workload, n, price, beta), float(probability("beta", beta))
        worst = min(_within(mechanism), float(mechanism.n))
        rounds = 2 + math.sqrt(mechanism.updates) / 16  # a quarter of that on marginals, three times as many on ranges
        seconds = rounds * workload.queries * (1e-4 + 2e-9 * workload.domain.size)
        corrected = f"which is corrected where it misses by {from_above(worst, 3)} or more"
        why = f"up to {mechanism.updates} of the answers teach a model, {corrected}"
        return Prediction(worst, worst, worst, seconds, "bound", b, why)

    def run(
        self, workload: Workload, data: Data, price: Price, source: Source, *, n: int | None, beta: float
    ) -> Released:
        mechanism, asked = self.mechanism(workload, n, price, beta), list(questions(workload))
        grids = np.array([float(question.grid) for question in asked])  # which may be wider than the workload's
        truth = np.minimum(np.round(workload.answer(data) / grids), EXACT).astype(np.int64).tolist()
        state, moved, rounds = mechanism.begin(source), -1, 0
        while len(state.moves) > moved and not (mechanism.over(state) or mechanism.refuted(state)):
            moved, rounds = len(state.moves), rounds + 1
            every: Iterable[tuple[LinearQuery, int]] = zip(asked, truth, strict=True)
            if rounds == 1:  # how many there are later depends on draws
                every = with_progress("asking", every, len(asked))
            for value in every:
                state, _ = mechanism.step(state, value, source)
        checked, model = len(state.moves) == moved, mechanism.model(state)
        most = (
            mechanism.n if isinstance(price.unit.relation, Substitute) else math.inf
        )  # else n may not be what there is
        errors = np.full(workload.queries, min(_within(mechanism), most)) if checked else None
        end = "no update was left" if mechanism.over(state) else f"it was seen that these are not {n} records"
        outcome = "every answer was then checked" if checked else f"then {end}, and nothing more is known"
        note = f"{len(state.moves)} updates in {rounds} rounds; {outcome}"
        return Released(self.name, workload, workload.answer(model), errors, model, mechanism.loss(), beta, (note,))


@lru_cache(maxsize=64)
def _mechanism(
    domain: Domain, n: int, price: Price, queries: int, *, beta: Fraction, grid: Fraction
) -> PrivateMultiplicativeWeights:
    return proven(domain, n, price, questions=queries, beta=beta, grid=grid, rounds=True)


def _within(mechanism: PrivateMultiplicativeWeights) -> float:
    """What a checked answer misses by at most: the guess that was checked was rounded to a step."""
    return mechanism.error() + float(mechanism.grid) / 2


def _coefficients(workload: Workload) -> int:
    """How many coefficients the questions have, at most: those of a product lie on each axis alone."""
    domain = workload.domain
    each = (
        part.queries * (domain.size if part.axis_factors(0) is None else sum(domain.shape[axis] for axis in part.span))
        for part in workload.parts
    )
    return sum(each)


def questions(workload: Workload) -> Iterator[LinearQuery]:
    """The queries of a workload, one by one."""
    for part in workload.parts:
        for i in range(part.queries):
            if (factors := part.axis_factors(i)) is None:
                yield LinearQuery.on_cells(workload.domain, part.vector(i))
            else:
                counting = part.grid == 1 or flat(factors)
                yield LinearQuery.of_vectors(factors, Fraction(1) if counting else part.grid)
