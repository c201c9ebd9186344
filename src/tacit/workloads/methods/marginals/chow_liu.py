r"""A private Chow-Liu tree, for wide tables.

Definition.  Three tenths of the price go to the counts of each attribute's values.  Rare values are joined in bins, and
every pair of attributes is scored by how far its table is from the product (`search.py`).  The exponential mechanism
picks pairs one by one, none that closes a cycle, until a tree spans the attributes; they are measured, and the model is
the distribution on this tree that fits the measurements (`maximum_entropy.py`).

Privacy.  Counts, picks, measurements and the appraisal cost 30, 10, 59 and 1 percent of the price and compose by
addition; picks are of bounded range, so epsilon^2 / 8 each under zCDP.  The fit is post-processing.

Utility.  The tree of largest scores is, but for the picks' errors of 2 l1 ln(m) / epsilon counts each, the one whose
pairs are farthest from independent.  How well a tree fits depends on the data: the mean error of the answers is
measured (`appraisal.py`), and beforehand no more is known than that the answers of a marginal are not negative and add
up to n, so that they miss by 2 n in all.

References.  Chow and Liu, IEEE Trans. Inf. Theory 14 (1968); McKenna, Miklau, Sheldon, J. Priv. Confid. 11 (2021), for
the private tree and bins of rare values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from ....core.parameters import Number, probability
from ....core.randomness import Source
from ....storage import stored
from ...method import Method, Prediction, Released, instead
from ...price import Price
from ...queries.data import Data
from ...queries.marginals import marginals
from ...queries.workload import Workload
from ..direct.per_query import PerQuery
from ._appraisal import appraise, checking, stated
from ._measurement_search import Search
from .residual import Residual, plan, weighted

ONES, PICKS, CHECK = Fraction(3, 10), Fraction(1, 10), Fraction(1, 100)
MEASURED = 1 - ONES - PICKS - CHECK
_ATTRIBUTES = 400
_STEPS = 100  # of the fit


@stored("ChowLiu")
@dataclass(frozen=True)
class ChowLiu(Method):
    """A model on a tree of attributes, chosen and measured privately."""

    name = "tree"
    theorem = "the best tree of pairs, up to noise; d^2 tables"
    reads_beta = True  # in the note on its mean error

    def why_not(self, workload: Workload, n: int | None, price: Price) -> str | None:
        d, largest = len(workload.domain.shape), max(workload.domain.shape)
        if d > _ATTRIBUTES:
            better = instead(workload, n, price, Residual(), PerQuery())
            return f"{d} attributes make {d * d // 2} pairs; at most {_ATTRIBUTES} are gone through: {better}"
        if largest > 1 << 13:
            return f"an attribute has {largest} values, of at most {1 << 13}: give it bins"
        plan(marginals(workload.domain, k=1), price.part(ONES))  # what cannot be drawn is refused here
        checking(workload, price.part(CHECK))
        return None

    def _predict(self, workload: Workload, n: int | None, price: Price, beta: Number) -> Prediction:
        pairs = math.comb(len(workload.domain.shape), 2)
        seconds = 0.2 + 2e-3 * pairs + 1e-6 * pairs * max(workload.domain.shape) ** 2
        return unknown(workload, n, price, seconds=seconds, beta=beta)

    def run(
        self, workload: Workload, data: Data, price: Price, source: Source, *, n: int | None, beta: float
    ) -> Released:
        search = Search(data, price.part(ONES), source)
        d = len(workload.domain.shape)
        if d > 1:
            span(search, price.part(PICKS / (d - 1)), price.part(MEASURED / (d - 1)))
            search.fit(_STEPS)
        return finish(self.name, search, workload, price, beta)


def span(search: Search, pick: Price, measure: Price) -> None:
    """Pick and measure pairs that make a forest, one that spans the attributes if all have candidates."""
    candidates = search.worth(combinations(search.domain.all, 2), measure)
    scores = search.scores(candidates, measure)
    for chosen in search.forest(candidates, lambda places: places[search.pick(scores[places], pick)]):
        search.measure(chosen, measure)


def unknown(workload: Workload, n: int | None, price: Price, *, seconds: float, beta: Number) -> Prediction:
    """All that is known beforehand: no answer is negative, and those of a marginal add up to n, but for noise."""
    b = float(probability("beta", beta))
    noise = plan(marginals(workload.domain, k=1), price.part(ONES))[()].error(b)
    most = math.inf if n is None else n + noise
    mean = most
    if n is not None and (tables := weighted(workload)) is not None:
        mass = sum(weight * workload.domain.cells(axes) for axes, weight in tables.items())
        mean = min(most, (2 * n + noise) * sum(tables.values()) / mass)
    why = "how well a model fits is measured, and not known beforehand"
    return Prediction(mean, math.sqrt(mean * most), most, seconds, "bound", b, why)


def finish(method: str, search: Search, workload: Workload, price: Price, beta: float) -> Released:
    """The release of the model that was found, with what its answers are worth."""
    answers = workload.answer(search.model)
    mean, within = stated(*appraise(workload, answers, search.data, price.part(CHECK), search.source, beta=beta))
    names = search.domain.names
    pairs = [" x ".join(names[a] for a in m.axes) for m in search.measurements if len(m.axes) > 1]
    notes = (
        f"measured: the mean error of the answers is {mean:f} counts, within {within:f} at beta = {beta:g}",
        f"measured: {', '.join(pairs) or 'no attributes together'}",
    )
    return Released(method, workload, answers, None, search.model, price.loss(), beta, notes)
