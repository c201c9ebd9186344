"""Errors of the sparse vector family, evaluated a second time, one threshold noise after the other."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from tacit import AboveThreshold, NumericSparse, Sparse
from tacit.core import law
from tacit.mechanisms import RestartedSparse


def right(m, a):
    """The sum of `_comparisons.py`, written out: the least over h, one threshold noise at a time."""
    low, high = m.threshold_noise.interval(1e-18)
    z = np.arange(low, high + 1)
    s, f = m.query_noise.at_least(z + m._shift + a + 1), m.query_noise.below(z + m._shift - a - 1)
    with np.errstate(divide="ignore"):
        logs = [
            (m.queries - h) * np.log1p(-s) + (h * np.log1p(-f) if h else 0) for h in range(min(m.count, m.queries) + 1)
        ]
    return float(m.threshold_noise.mass(z) @ np.exp(np.min(logs, axis=0)))


@pytest.mark.parametrize("kind", ["exponential", "laplace"])
@pytest.mark.parametrize("count", [1, 3, 6])
@pytest.mark.parametrize("beta", [0.3, 0.01])
def test_error_is_the_least_that_the_theorem_proves(kind, count, beta):
    m = Sparse(threshold=0, epsilon=1, count=count, queries=6, noise=kind)
    a = int(m.error(beta))
    assert right(m, a) >= 1 - beta - 1e-12 and right(m, a - 1) < 1 - beta


def test_grouped_noises_count_as_their_worst():
    m = AboveThreshold(threshold=0, epsilon=Fraction(1, 1 << 13), queries=100)
    assert right(m, int(m.error("0.01"))) >= 0.99


def test_what_rounding_the_threshold_takes_is_in_the_error():
    on, off = (AboveThreshold(threshold=t, epsilon=1, grid="0.25") for t in ("0.75", "0.625"))
    assert off.error() == on.error() + 0.125


def test_restarts_share_beta():
    m = RestartedSparse(threshold=5, epsilon=4, count=3, queries=6)
    a = int(m.error(0.3))
    streams = ([5 + side * (a + 1) for side in sides] for sides in product((-1, 1), repeat=6))
    assert max(math.fsum(p for y, p in m.law(x).masses.items() if m.miss(x, y) > a) for x in streams) <= 0.3
    assert m.error("0.05") >= m.each.error_at(1 - 0.95 ** (1 / 3), None)


@pytest.mark.parametrize("count", [1, 4])
@pytest.mark.parametrize("beta", ["0.3", "0.05", "0.001"])
def test_numbers_alone_are_within_the_error(count, beta):
    m = NumericSparse(threshold=0, epsilon=10, share="0.01", count=count, queries=count)
    off = 1 - (1 - law.DiscreteLaplaceLaw(m.scales[2]).tail(int(m.error(beta)) + 1)) ** count
    assert off <= float(beta)
