"""The theorems, against their integrals, against each other, and against golden values."""

from collections.abc import Callable

import numpy as np
from hypothesis import settings

STEADY = settings(deadline=None, derandomize=True, max_examples=60)


def integral(f: Callable[[float], float], low: float, high: float) -> float:
    """Of a function that is smooth between low and high and varies by no more than e^40."""
    node, weight = np.polynomial.legendre.leggauss(20)
    ends = np.linspace(low, high, 9)
    half = np.diff(ends)[:, None] / 2
    values = np.vectorize(f, otypes=[float])(ends[:-1, None] + half * (1 + node))
    return float((half * values * weight).sum())
