"""What a model's answers are worth: their mean error, itself measured with noise.

Of a model fitted to private data no error bound is known beforehand.  But the sum of the absolute errors of all answers
is one number, which a unit moves no farther than it moves the answers in l1, so a small part of the price buys it.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ..core.distance import scalar
from ..core.randomness import Source
from .data import Data, Floats
from .price import Price
from .workload import Workload

_FINE = 1 << 10  # steps of an answer's grid: answers of a model are no whole numbers


def appraise(
    workload: Workload, answers: Floats, data: Data, price: Price, source: Source, *, beta: float
) -> tuple[float, float]:
    """The mean absolute error of the answers, in counts, and what it is itself within with probability 1 - beta."""
    step = workload.grid / _FINE
    gaps = np.rint(workload.answer(data) / float(workload.grid)).astype(np.int64) * _FINE
    gaps -= np.rint(answers / float(step)).astype(np.int64)
    far = workload.distance(price.unit)
    noise = price.noise(scalar(Fraction(math.ceil(far.l1 / step)), far.relation))
    found = max(0, int(noise.sample(int(np.abs(gaps).sum()), source)))
    unit = float(step) / workload.queries
    return found * unit, noise.error(beta) * unit + float(step) / 2  # what was rounded
