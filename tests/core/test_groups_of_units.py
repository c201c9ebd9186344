"""What groups of units cost: by the square of their number where noise is Gaussian, and nothing is promised beyond."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tacit.core.atoms import Approximate, ApproximateConcentrated, DiscreteGaussianVector, GaussianNoise, RenyiCurve
from tacit.core.grouped import Grouped
from tacit.core.loss import Concentrated, Loss
from tacit.core.sampled import Sampled


def test_a_group_pays_the_square_of_its_size() -> None:
    assert Loss({Concentrated(Fraction(1, 8)): 2}).group(3) == Loss({Concentrated(Fraction(9, 8)): 2})


def test_rho_of_a_group_is_the_square_for_sampled_noise_too() -> None:
    one = Sampled(Fraction(1, 10), GaussianNoise(Fraction(1)))
    found = Grouped(Loss({one: 2}), 3).concentrated()
    assert found >= 18 * one.concentrated() and found == pytest.approx(18 * one.concentrated(), rel=1e-9)


def test_groups_are_promised_nothing_by_what_may_fail() -> None:
    atom = ApproximateConcentrated(Fraction(1, 50), Fraction(1, 10**6))
    assert atom.group(1) == atom and atom.group(2).failure() == 1


def test_groups_of_what_may_fail_and_of_what_is_known_at_orders() -> None:
    found = Approximate(Fraction(1), Fraction(1, 100)).group(3)
    assert found.epsilon == 3 and float(found.delta) == pytest.approx((1 + math.e + math.e**2) / 100, rel=1e-9)
    assert RenyiCurve(((2.0, 0.1), (4.0, 0.2), (8.0, 0.3))).group(2) == RenyiCurve(((2.0, 3 * 0.2), (4.0, 3 * 0.3)))
    assert RenyiCurve(((2.0, 0.1),)).renyi(2.5) == math.inf
    vector = DiscreteGaussianVector(Fraction(1, 8), Fraction(4), 2)
    assert vector.group(3) == DiscreteGaussianVector(Fraction(9, 8), Fraction(4), 18)
