r"""A private Chow-Liu tree, for wide tables.

Definition.  Three tenths of the price go to the counts of each attribute's values.  Rare values are joined in bins, and
every pair of attributes is scored by how far its table is from the product (`_measurement_search.py`).  The exponential
mechanism picks pairs one by one, none that closes a cycle, until a tree spans the attributes; they are measured, and
the model is the distribution on this tree that fits the measurements (`maximum_entropy.py`).

Privacy.  Counts, picks, measurements and the appraisal cost 30, 10, 59 and 1 percent of the price and compose by
addition; picks are of bounded range, so epsilon^2 / 8 each under zCDP.  The fit is post-processing.

Utility.  The tree of largest scores is, but for the picks' errors of 2 l1 ln(m) / epsilon counts each, the one whose
pairs are farthest from independent.  How well a tree fits depends on the data: the mean error of the answers is
measured, and beforehand no more is known than that the answers of a marginal are not negative and add up to n, so that
they miss by 2 n in all.

References.  Chow and Liu, IEEE Trans. Inf. Theory 14 (1968); McKenna, Miklau, Sheldon, J. Priv. Confid. 11 (2021), for
the private tree and bins of rare values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ....core.parameters import Number
from ....core.randomness import Source
from ....storage import stored
from ...method import Method, Prediction, Released
from ...price import Price
from ...queries.data import Data
from ...queries.workload import Workload
from ._measurement_search import MEASURED, ONES, PICKS, Search, released, unknown, why_no_search

_FIT_STEPS = 100


@stored("ChowLiu")
@dataclass(frozen=True)
class ChowLiu(Method):
    """A model on a tree of attributes, chosen and measured privately."""

    name = "tree"
    theorem = "the best tree of pairs, up to noise; d^2 tables"
    reads_beta = True  # in the note on its mean error

    def why_not(self, workload: Workload, n: int | None, price: Price) -> str | None:
        return why_no_search(workload, price)

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
            search.span(price.part(PICKS / (d - 1)), price.part(MEASURED / (d - 1)))
            search.fit(_FIT_STEPS)
        return released(self.name, search, workload, price, beta)
