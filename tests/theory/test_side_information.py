from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.core.errors import BadParameter
from tacit.theory.side_information import population_posterior, posterior, posterior_bounds

from . import STEADY


@STEADY
@given(st.floats(0.01, 0.99), st.integers(0, 50))
def test_who_knows_every_other_record_learns_no_more_than_the_bound(prior: float, others: int) -> None:
    """The attacker knows the count of the others, and holds the one that is left for 1 with probability `prior`."""
    noise = tacit.Laplace(epsilon="0.5")
    one, other = noise.law(others + 1), noise.law(others)
    low, high = posterior_bounds(prior, "0.5")
    believed = [posterior(prior, one.mass(y), other.mass(y)) for y in range(others - 40, others + 40)]
    assert low - 1e-12 <= min(believed) and max(believed) <= high + 1e-12
    assert (min(believed), max(believed)) == pytest.approx((low, high))  # and the bounds are attained


def test_records_that_are_known_to_be_alike_move_belief_further() -> None:
    noise, prior = tacit.Laplace(epsilon="0.5"), 0.5
    family = [posterior(prior, noise.law(3).mass(y), noise.law(0).mass(y)) for y in range(-30, 40)]
    assert max(family) == pytest.approx(posterior_bounds(prior, "0.5", 3)[1])
    assert max(family) > posterior_bounds(prior, "0.5")[1] + 0.1


def test_facts_about_everybody_are_learned_of_those_who_are_in_no_table() -> None:
    before, few, many = (0.1 + 0.5) / 2, *(population_posterior(0.1, 0.5, n, 0.5) for n in (5, 1000))
    assert before < few < many and many == pytest.approx(0.5, abs=1e-6)
    weak = population_posterior(0.1, 0.5, 1000, 1e-3)
    assert before < weak < many


@STEADY
@given(st.floats(0.01, 0.99), st.floats(0.01, 5))
def test_bounds_are_odds_times_e_to_the_epsilon(prior: float, epsilon: float) -> None:
    low, high = posterior_bounds(prior, epsilon)
    odds = prior / (1 - prior)
    assert high / (1 - high) == pytest.approx(odds * math.exp(epsilon), rel=1e-9)
    assert low / (1 - low) == pytest.approx(odds * math.exp(-epsilon), rel=1e-9)


def test_limits_between_parameters() -> None:
    with pytest.raises(BadParameter, match="never happens"):
        posterior(0.5, 0, 0)
    with pytest.raises(BadParameter, match="below common"):
        population_posterior(0.5, 0.5, 10, 1)
    assert posterior_bounds(0.5, 1000)[0] == 0.0 and posterior_bounds(0.5, 1000)[1] == 1.0
