"""What lies beyond a grid of losses is counted as infinite, adds up, and is never forgotten."""

import math
from fractions import Fraction

import pytest

from tacit.core.accounting.atoms import GaussianNoise, LaplaceNoise
from tacit.core.accounting.sampled import Sampled
from tacit.core.pld.composition_bounds import Sum
from tacit.core.pld.grid import Composed


def test_what_lies_beyond_the_grids_adds_up():
    one, other = (Sampled(Fraction(1, n), GaussianNoise(Fraction(1))).pairs(2.0**-8)[0] for n in (10, 100))
    assert one.infinite > 0 < other.infinite
    assert Sum({one: 3, other: 2}).infinite == pytest.approx(3 * one.infinite + 2 * other.infinite, rel=1e-12, abs=0)


@pytest.mark.parametrize("noise", [GaussianNoise(Fraction(1)), LaplaceNoise(Fraction(1))])
@pytest.mark.parametrize("rate", ["0.5", "0.1", "0.01", "0.999999"])
@pytest.mark.parametrize("spacing", [2.0**-4, 2.0**-7, 2.0**-10])
def test_no_mass_is_lost_on_a_grid(noise, rate, spacing):
    for pair in Sampled(Fraction(rate), noise).pairs(spacing):
        assert math.fsum([*pair.masses, pair.infinite]) >= 1


def test_below_what_is_infinite_no_epsilon_is_proven():
    coins = Composed.of_coins(0.1, 10**6)
    assert coins.deltas[-1] >= math.exp(-700) and coins.epsilon(1e-306) == math.inf
