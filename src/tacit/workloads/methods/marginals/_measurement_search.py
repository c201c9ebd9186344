r"""The search for what to measure, shared by the methods that fit a graphical model.

A candidate is a set of axes with bins on each.  Its score is how far the model (`growth.py`) is from its table,
    |C x - round(C model)|_1 - sqrt(2 / pi) sigma (cells of it),
less the error that measuring it would leave.  The exponential mechanism picks candidates; each pick is measured with
noise.

Privacy.  One unit that moves the histogram by l1 moves every score by at most l1, as the rest of it is public, and the
table by no more than the marginal.  What may be picked depends on public facts and on what was released before.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np

from ....core.distance import scalar
from ....core.randomness import Source
from ....mechanisms import Exponential
from ...models.bins import coarse
from ...models.maximum_entropy import Measurement
from ...models.model_growth import Candidate, Growth
from ...models.residuals import Energy, Residuals
from ...price import Price
from ...queries.data import Data, Integers
from ...queries.domain import Axes, Domain
from ...queries.marginals import Marginal, marginals
from .residual import Residual

_WORTH = 0.125  # the most that noise may cost a candidate, as a share of all records
_MOST = 1 << 59  # of a score, either way: the exponential mechanism takes no larger


def deviation(domain: Domain, measure: Price) -> float:
    """Of a measurement at this price, in each cell."""
    noise = measure.noise(Marginal(domain, (0,)).distance(measure.unit))
    return math.sqrt(Energy.of(noise, 1).variance)


class Search(Growth):
    """A model that grows by what it asks of private data."""

    def __init__(self, data: Data, ones: Price, source: Source) -> None:
        self.data, self.source = data, source
        single = Residual().run(marginals(data.domain, k=1), data, ones, source, n=None, beta=0.05).model
        assert isinstance(single, Residuals)
        super().__init__(single)
        self._tables: dict[Axes, Integers] = {}

    def worth(self, sets: Iterable[Axes], measure: Price) -> list[Candidate]:
        """The candidates on these sets that are worth their noise."""
        return self.candidates(sets, _WORTH * self.total / (math.sqrt(2 / math.pi) * deviation(self.domain, measure)))

    def table(self, axes: Axes) -> Integers:
        """The private counts in the model's bins: exact whole numbers."""
        if axes not in self._tables:
            self._tables[axes] = coarse(self.data.marginal(axes), [self.bins[a] for a in axes])
        return self._tables[axes]

    def scores(self, candidates: Sequence[Candidate], measure: Price) -> Integers:
        """How far the model is from each candidate, less what its noise would be."""
        sets = dict.fromkeys(c.axes for c in candidates)
        guesses = {axes: self.model.binned(axes) for axes in sets}
        noise = math.sqrt(2 / math.pi) * deviation(self.domain, measure)
        found = []
        for c in candidates:
            guess = np.rint(coarse(guesses[c.axes], c.bins)).astype(np.int64)
            gap = np.abs(coarse(self.table(c.axes), c.bins) - guess).sum()
            found.append(max(-_MOST, min(int(gap) - round(noise * c.cells), _MOST)))  # a cut moves none farther apart
        return np.array(found, np.int64)

    def pick(self, scores: Integers, price: Price) -> int:
        """The place of one candidate, the likelier the higher its score."""
        moves = scalar(Fraction(math.ceil(price.unit.l1)), price.unit.relation)
        return Exponential(epsilon=price.epsilon, rho=price.rho, sensitivity=moves).sample(scores, self.source)

    def measure(self, candidate: Candidate, price: Price) -> None:
        """Add a measurement of this candidate."""
        noise = price.noise(Marginal(self.domain, candidate.axes).distance(price.unit))
        exact = coarse(self.table(candidate.axes), candidate.bins)
        values = np.asarray(noise.sample(exact, self.source), float)
        variances = np.full(values.shape, Energy.of(noise, 1).variance)
        self.measurements.append(Measurement(candidate.axes, candidate.bins, values, variances))
