r"""Adaptive measurement of a graphical model: the lowest error for marginals of wide tables.

Definition.  A tree of pairs is chosen and measured first, as a private Chow-Liu tree is (`_measurement_search.py`), and
then the search goes on in rounds: the model is fitted, the tables of the workload are scored against it, and several
more are picked and measured, as long as the model's junction tree stays small.  Their number is set by their noise:
about a hundredth of all records for a table of sixteen cells.

Privacy.  Every pick is the exponential mechanism on scores that one unit moves by l1 at most, every measurement a noise
on exact counts, and their prices, fixed before the first of them, add up to the price.

Utility.  A pick falls short of the best by 2 l1 ln(m) / epsilon counts on average, and the mean error of the answers is
measured.

References.  McKenna, Mullins, Sheldon, Miklau, VLDB 2022, for scores and rounds (AIM); McKenna, Sheldon, Miklau,
ICML 2019, for the model.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from ....core.parameters import Number
from ....core.progress import report
from ....core.randomness import Source
from ....storage import stored
from ...method import Method, Prediction, Released
from ...price import Price
from ...queries.data import Data
from ...queries.domain import Axes, Domain
from ...queries.workload import Workload
from ._measurement_search import MEASURED, ONES, PICKS, Search, deviation, released, unknown, why_no_search

_CELL_NOISE = 0.014 / 16  # of each cell, as a share of all records
_ROUNDS = 6
_FIT_STEPS, _LAST_FIT_STEPS = 40, 120
_ASSUMED_RECORDS = 10_000  # where n is not public
_MAX_AXES = 3  # of a table that is measured


@stored("Adaptive")
@dataclass(frozen=True)
class Adaptive(Method):
    """A graphical model measured where it is worst."""

    name = "adaptive"
    theorem = "measures what the model answers worst, with noise of a hundredth of n; seconds to minutes"
    reads_beta = True  # in the note on its mean error

    def why_not(self, workload: Workload, n: int | None, price: Price) -> str | None:
        return why_no_search(workload, price)

    def _predict(self, workload: Workload, n: int | None, price: Price, beta: Number) -> Prediction:
        tables, d = sum(1 for _ in sets(workload)), len(workload.domain.shape)
        records = n or _ASSUMED_RECORDS
        picks = count(records, workload.domain, price.part(MEASURED), least=d - 1, most=max(d - 1, tables))
        return unknown(workload, n, price, seconds=1.0 + 0.08 * picks, beta=beta)

    def run(
        self, workload: Workload, data: Data, price: Price, source: Source, *, n: int | None, beta: float
    ) -> Released:
        search = Search(data, price.part(ONES), source)
        among, d = list(sets(workload)), len(workload.domain.shape)
        if among:
            picks = count(search.total, search.domain, price.part(MEASURED), least=d - 1, most=max(d - 1, len(among)))
            pick, measure = price.part(PICKS / picks), price.part(MEASURED / picks)
            search.span(pick, measure)
            search.fit(_FIT_STEPS)
            grow(search, among, picks - (d - 1), pick, measure)
            search.fit(_LAST_FIT_STEPS)
        return released(self.name, search, workload, price, beta)


def sets(workload: Workload) -> Iterator[Axes]:
    """The sets of two or three attributes within a table of the workload, each once."""
    subsets = (s for axes in workload.tables for k in range(2, _MAX_AXES + 1) for s in combinations(axes, k))
    yield from dict.fromkeys(subsets)


def count(total: float, domain: Domain, price: Price, *, least: int, most: int) -> int:
    """How many measurements share a price, so that the noise of each is what it may be."""
    room = _CELL_NOISE * total / (math.sqrt(2 / math.pi) * deviation(domain, price))
    worth = room if price.epsilon is not None else room**2  # Laplace noise grows with the count, Gaussian as its root
    return max(least, min(int(worth), most))


def grow(search: Search, among: list[Axes], picks: int, pick: Price, measure: Price) -> None:
    """Pick and measure so many more tables, in rounds."""
    left = search.worth(among, measure)
    batch, rounds = math.ceil(picks / _ROUNDS), itertools.count()
    while picks > 0 and left:
        report("measuring", min(1.0, next(rounds) / _ROUNDS))
        scores = search.scores(left, measure)
        for _ in range(min(batch, picks)):
            fits = search.fits()
            open_ = [i for i, c in enumerate(left) if fits(c.axes)]
            if not open_:
                picks = 0
                break
            chosen = open_[search.pick(scores[open_], pick)]
            search.measure(left.pop(chosen), measure)
            scores = scores[[i for i in range(len(scores)) if i != chosen]]
            picks -= 1
        search.fit(_FIT_STEPS)
