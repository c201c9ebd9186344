"""What a model's answers are worth: their mean error, itself measured with noise.

Of a model fitted to private data no error bound is known beforehand.  But the sum of the absolute errors of all answers
is one number, which a unit moves no farther than it moves the answers in l1, so a small part of the price buys it.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction

import numpy as np

from ....core.distance import scalar
from ....core.randomness import Source
from ...price import Noise, Price
from ...queries.data import Data, Floats
from ...queries.workload import Workload

_STEP = Fraction(1, 1 << 10)  # of an error at most: answers of a model are no whole numbers
_MOST = 1 << 60  # steps of all errors together, each being cut at its share, which moves none farther


def checking(workload: Workload, price: Price) -> Noise:
    """The noise of the sum of all errors, in steps."""
    far = workload.distance(price.unit)
    return price.noise(scalar(Fraction(math.ceil(far.l1 / min(workload.grid, _STEP))), far.relation))


def appraise(
    workload: Workload, answers: Floats, data: Data, price: Price, source: Source, *, beta: float
) -> tuple[float, float]:
    """The mean absolute error of the answers, in counts, and what it is itself within with probability 1 - beta."""
    step = min(workload.grid, _STEP)
    gaps = workload.exactly(data) * int(workload.grid / step)
    gaps -= np.rint(np.minimum(answers / float(step), _MOST)).astype(np.int64)
    noise = checking(workload, price)
    found = max(0, int(noise.sample(int(np.minimum(np.abs(gaps), _MOST // workload.queries).sum()), source)))
    unit = float(step) / workload.queries
    return found * unit, noise.error(beta) * unit + float(step) / 2  # what was rounded


def stated(mean: float, within: float) -> tuple[Decimal, Decimal]:
    """Both as they are told: to the second digit of `within`, and so that the interval told holds the one found."""
    found, far = Decimal(repr(mean)), Decimal(repr(within))
    last = Decimal(1).scaleb(far.adjusted() - 1)
    told = found.quantize(last)
    return told, (far + abs(told - found)).quantize(last, ROUND_CEILING)
