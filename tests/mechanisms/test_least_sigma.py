"""The sigma of Gaussian noise for an epsilon and a delta: private, and the least that is if it is small."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from tacit import Gaussian

TARGETS = [
    ("10.5", "1e-6", 1), ("20", "1e-6", 1), ("7", "1e-9", 1), ("6.3", "1e-3", 1), ("31", "1e-12", 1),
    ("40", "1e-4", 2), ("12", "0.2", 1), ("2", "1e-3", 1), ("5", "1e-6", 1), ("9", "1e-30", 1), ("3", "0.2", 3),
    ("100", "1e-5", 5),
]  # fmt: skip


def delta(sigma2: Fraction, shift: int, epsilon: Fraction) -> mpf:
    """The sum of (P(z) - e^epsilon Q(z))_+, in forty digits."""
    with mpmath.workdps(40):
        s, factor = mpf(sigma2.numerator) / sigma2.denominator, mpmath.exp(mpf(epsilon.numerator) / epsilon.denominator)
        far = shift + int(mpmath.sqrt(300 * s)) + 2
        weights = {z: mpmath.exp(-(mpf(z) ** 2) / (2 * s)) for z in range(-far - shift, far + 1)}
        gains = (weights[z] - factor * weights.get(z - shift, mpf(0)) for z in range(-far, far + 1))
        return mpmath.fsum(max(gain, mpf(0)) for gain in gains) / mpmath.fsum(weights.values())


@pytest.mark.parametrize(("epsilon", "d", "shift"), TARGETS)
def test_the_sigma_is_private_and_none_below_is(epsilon: str, d: str, shift: int) -> None:
    """Against the profile in forty digits, at a hundred smaller sigmas: where it dips, and where it does not."""
    target = Fraction(epsilon)
    found = Gaussian(epsilon=epsilon, delta=d, sensitivity=shift)
    assert found.loss().epsilon(d) <= float(target)
    assert delta(found.sigma2, shift, target) <= mpf(d)
    assert found.sigma < 3
    less = 2.0 ** -np.concatenate([np.linspace(0.002, 2, 90), np.geomspace(2.0**-17, 0.002, 10)])
    for sigma in (found.sigma * less).tolist():
        assert delta(Fraction(sigma) ** 2, shift, target) > mpf(d), sigma


def test_narrow_noise_is_private_before_bisection_finds_it() -> None:
    assert math.isclose(Gaussian(epsilon="10.5", delta="1e-6").sigma, 0.377964, rel_tol=1e-5)


WIDE = [("1", "1e-6"), ("0.1", "1e-9"), ("800", "1e-6"), ("3", "0.9999999999"), ("0.5", "0.999")]


@pytest.mark.parametrize(("epsilon", "d"), WIDE)
def test_wide_noise_and_extreme_targets(epsilon: str, d: str) -> None:
    found = Gaussian(epsilon=epsilon, delta=d)
    assert found.loss().epsilon(d) <= float(epsilon)
