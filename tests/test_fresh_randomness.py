"""The samplers against their laws with fresh randomness and more of it: `make slow`."""

import secrets
from dataclasses import replace

import numpy as np
import pytest

from tacit import Gaussian, Laplace, mechanisms
from tacit.core.randomness import SYSTEM
from tacit.testing.mechanisms import FALSE_ALARM, fit

pytestmark = pytest.mark.slow
CASES = [
    pytest.param(example, id=f"{kind.__name__}-{i}")
    for kind in mechanisms.ALL
    for i, example in enumerate(kind.examples())
]


@pytest.mark.parametrize("case", CASES)
def test_the_sampler_follows_the_law(case):
    assert fit(replace(case, draws=10 * case.draws), seed=secrets.randbits(64)) > FALSE_ALARM


@pytest.mark.parametrize(
    "mechanism", [Laplace(scale=200), Laplace(scale=10**6), Gaussian(sigma=200), Gaussian(sigma=10**4)], ids=repr
)
def test_a_hundred_million_draws_have_the_law_of_the_noise(mechanism):
    """Shares beyond each of some quantiles, within 7 standard deviations: a false alarm is below 1e-10."""
    n, law = 10**8, mechanism.noise()
    draws = mechanism.draw(SYSTEM, n)
    for tail in (0.9, 0.5, 0.1, 1e-3, 1e-5):
        radius = law.tail_quantile(tail)
        p = law.tail(radius + 1)
        seen = np.count_nonzero(np.abs(draws) > radius) / n
        assert abs(seen - p) < 7 * np.sqrt(p * (1 - p) / n)
    assert abs((draws > 0).sum() - (draws < 0).sum()) < 7 * np.sqrt(n)
