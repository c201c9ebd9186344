r"""The search for what to measure, shared by the methods that fit a graphical model; and what its answers are worth.

A candidate is a set of axes with bins on each.  Its score is how far the model (`model_growth.py`) is from its table,
    |C x - round(C model)|_1 - sqrt(2 / pi) sigma (cells of it),
less the error that measuring it would leave.  The exponential mechanism picks candidates; each pick is measured with
noise.

Privacy.  One unit that moves the histogram by l1 moves every score by at most l1, as the rest of it is public, and the
table by no more than the marginal.  What may be picked depends on public facts and on what was released before.

Appraisal.  Of a model fitted to private data no error bound is known beforehand.  But the sum of the absolute errors of
all answers is one number, which a unit moves no farther than it moves the answers in l1, so a small part of the price
buys it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from itertools import combinations

import numpy as np

from ....core.distance import scalar
from ....core.parameters import Number, probability
from ....core.randomness import Source
from ....mechanisms import Exponential
from ...method import Prediction, Released
from ...models.graphical.bins import coarse
from ...models.graphical.maximum_entropy import Measurement
from ...models.graphical.model_growth import Candidate, Growth
from ...models.marginals.residuals import Energy
from ...price import Noise, Price
from ...queries.data import Data, Floats, Integers
from ...queries.domain import Axes, Domain
from ...queries.marginals import Marginal, marginals
from ...queries.workload import Workload
from ._residual_plan import marginal_weights, measured, plan

# Shares of the price: counts of single attributes, picks, the appraisal, and measurements.
ONES, PICKS, CHECK = Fraction(3, 10), Fraction(1, 10), Fraction(1, 100)
MEASURED = 1 - ONES - PICKS - CHECK
_MAX_NOISE = 0.125  # that a candidate may cost, as a share of all records
_MAX_SCORE = 1 << 59  # either way: the exponential mechanism takes no larger
_MAX_ATTRIBUTES = 400
_MAX_VALUES = 1 << 13
_STEP = Fraction(1, 1 << 10)  # of an error at most: answers of a model are no whole numbers
_MAX_STEPS = 1 << 60  # of all errors together, each being cut at its share, which moves none farther


def deviation(domain: Domain, measure: Price) -> float:
    """The standard deviation of each cell of a measurement at this price."""
    noise = measure.noise(Marginal(domain, (0,)).distance(measure.unit))
    return math.sqrt(Energy.of(noise, 1).variance)


class Search(Growth):
    """A model that grows by what it asks of private data."""

    def __init__(self, data: Data, ones: Price, source: Source) -> None:
        """Measure the counts of each attribute, at the price `ones`, and begin with them."""
        self.data, self.source = data, source
        single = measured(marginals(data.domain, k=1), data, ones, source)
        super().__init__(single, [single.energy((axis,)).variance for axis in data.domain.all])
        self._tables: dict[Axes, Integers] = {}

    def worth(self, sets: Iterable[Axes], measure: Price) -> list[Candidate]:
        """The candidates on these sets that are worth their noise."""
        noise = math.sqrt(2 / math.pi) * deviation(self.domain, measure)
        return self.candidates(sets, _MAX_NOISE * self.total / noise)

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
        scores = []
        for c in candidates:
            guess = np.rint(coarse(guesses[c.axes], c.bins)).astype(np.int64)
            gap = np.abs(coarse(self.table(c.axes), c.bins) - guess).sum()
            clipped = max(-_MAX_SCORE, min(int(gap) - round(noise * c.cells), _MAX_SCORE))  # moves none farther apart
            scores.append(clipped)
        return np.array(scores, np.int64)

    def pick(self, scores: Integers, price: Price) -> int:
        """Draw the place of one candidate, the likelier the higher its score."""
        moves = scalar(Fraction(math.ceil(price.unit.l1)), price.unit.relation)
        return Exponential(epsilon=price.epsilon, rho=price.rho, sensitivity=moves).sample(scores, self.source)

    def measure(self, candidate: Candidate, price: Price) -> None:
        """Add a measurement of this candidate."""
        noise = price.noise(Marginal(self.domain, candidate.axes).distance(price.unit))
        exact = coarse(self.table(candidate.axes), candidate.bins)
        values = np.asarray(noise.sample(exact, self.source), float)
        variances = np.full(values.shape, Energy.of(noise, 1).variance)
        self.measurements.append(Measurement(candidate.axes, candidate.bins, values, variances))

    def span(self, pick: Price, measure: Price) -> None:
        """Pick and measure pairs that make a forest, one that spans the attributes if all have candidates."""
        candidates = self.worth(combinations(self.domain.all, 2), measure)
        scores = self.scores(candidates, measure)
        for chosen in self.forest(candidates, lambda places: places[self.pick(scores[places], pick)]):
            self.measure(chosen, measure)


def why_no_search(workload: Workload, price: Price) -> str | None:
    """Why no graphical model is searched for, or None; noise that cannot be drawn raises BadParameter here."""
    d, largest = len(workload.domain.shape), max(workload.domain.shape)
    if d > _MAX_ATTRIBUTES:
        return f"{d} attributes make {d * d // 2} pairs; it searches the pairs of at most {_MAX_ATTRIBUTES} attributes"
    if largest > _MAX_VALUES:
        return f"an attribute has {largest} values, and it takes at most {_MAX_VALUES}: join values in bins"
    plan(marginals(workload.domain, k=1), price.part(ONES))
    appraisal_noise(workload, price.part(CHECK))
    return None


def unknown(workload: Workload, n: int | None, price: Price, *, seconds: float, beta: Number) -> Prediction:
    """All that is known beforehand: no answer is negative, and those of a marginal add up to n, but for noise."""
    b = float(probability("beta", beta))
    noise = plan(marginals(workload.domain, k=1), price.part(ONES))[()].error(b)
    worst = math.inf if n is None else n + noise
    mean = worst
    if n is not None and (tables := marginal_weights(workload)) is not None:
        mass = sum(weight * workload.domain.cells(axes) for axes, weight in tables.items())
        mean = min(worst, (2 * n + noise) * sum(tables.values()) / mass)
    why = "how well a model fits is measured, and not known beforehand"
    return Prediction(mean, math.sqrt(mean * worst), worst, seconds, "bound", b, why)


def released(method: str, search: Search, workload: Workload, price: Price, beta: float) -> Released:
    """The release of the model that the search ended with, and the measured mean error of its answers."""
    answers = workload.answer(search.model)
    mean, within = stated(*appraise(workload, answers, search.data, price.part(CHECK), search.source, beta=beta))
    names = search.domain.names
    pairs = [" x ".join(names[a] for a in m.axes) for m in search.measurements if len(m.axes) > 1]
    notes = (
        f"measured: the mean error of the answers is {mean:f} counts, within {within:f} at beta = {beta:g}",
        f"measured: {', '.join(pairs) or 'no attributes together'}",
    )
    return Released(method, workload, answers, None, search.model, price.loss(), beta, notes)


def appraisal_noise(workload: Workload, price: Price) -> Noise:
    """The noise on the sum of all errors, in steps."""
    far = workload.distance(price.unit)
    return price.noise(scalar(Fraction(math.ceil(far.l1 / min(workload.grid, _STEP))), far.relation))


def appraise(
    workload: Workload, answers: Floats, data: Data, price: Price, source: Source, *, beta: float
) -> tuple[float, float]:
    """The mean absolute error of the answers, measured in counts, and its own error bound at beta."""
    step = min(workload.grid, _STEP)
    gaps = workload.exactly(data) * int(workload.grid / step)
    gaps -= np.rint(np.minimum(answers / float(step), _MAX_STEPS)).astype(np.int64)
    noise = appraisal_noise(workload, price)
    total = int(np.minimum(np.abs(gaps), _MAX_STEPS // workload.queries).sum())
    noisy = max(0, int(noise.sample(total, source)))
    unit = float(step) / workload.queries
    return noisy * unit, noise.error(beta) * unit + float(step) / 2  # what was rounded


def stated(mean: float, within: float) -> tuple[Decimal, Decimal]:
    """Mean and bound to two digits of the bound, so that the stated interval contains the exact one."""
    exact, far = Decimal(repr(mean)), Decimal(repr(within))
    last = Decimal(1).scaleb(far.adjusted() - 1)
    rounded = exact.quantize(last)
    return rounded, (far + abs(rounded - exact)).quantize(last, ROUND_CEILING)
