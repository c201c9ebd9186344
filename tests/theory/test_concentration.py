"""Simulations agree with the certified truth, and both lie below the inequalities."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit.core.errors import BadParameter
from tacit.testing.sources import Seeded
from tacit.theory import concentration

PAIRS = [("coin", 0.5), ("laplace", 0.5), ("gaussian", 0.5)]
MOMENTS = {  # of the loss, for eps = mu = 1/2
    "coin": (0.5 * math.tanh(0.25), 0.25 / math.cosh(0.25) ** 2),
    "laplace": (0.5 + math.expm1(-0.5), 3 - math.exp(-1) - 4 * math.exp(-0.5)),
    "gaussian": (0.125, 0.25),
}


@pytest.mark.parametrize(("pair", "epsilon"), PAIRS)
def test_losses_have_the_moments_of_their_law(pair: str, epsilon: float) -> None:
    drawn = concentration.losses(pair, epsilon, 200_000, Seeded(1))
    mean, variance = MOMENTS[pair]
    assert drawn.mean() == pytest.approx(mean, abs=6 * math.sqrt(variance / drawn.size))
    assert drawn.var() == pytest.approx(variance, rel=0.03)
    # E e^-L = 1, as it is the total mass of Q
    assert np.exp(-drawn).mean() == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize(("pair", "epsilon"), PAIRS)
@pytest.mark.parametrize("k", [1, 50])
def test_the_tail_lies_below_azuma(pair: str, epsilon: float, k: int) -> None:
    t = 1.1 * epsilon * math.sqrt(k)
    found = concentration.deviation(pair, epsilon, k, t, samples=20_000, source=Seeded(k))
    assert found.certified.lower - found.margin <= found.seen <= found.certified.upper + found.margin
    assert found.certified.upper <= found.azuma == pytest.approx(math.exp(-1.21 / 2))
    assert found.margin < 0.03


@pytest.mark.parametrize(("pair", "epsilon"), PAIRS)
def test_total_variation_lies_below_pinsker(pair: str, epsilon: float) -> None:
    found = concentration.variation(pair, epsilon, samples=20_000, source=Seeded(3))
    assert found.certified.lower - found.margin <= found.seen <= found.certified.upper + found.margin
    assert found.certified.upper <= found.pinsker == pytest.approx(math.sqrt(found.kl / 2))
    assert found.pinsker < 1.3 * found.certified.upper  # close, for small eps


def test_fresh_draws_are_not_repeated() -> None:
    assert not np.array_equal(concentration.losses("gaussian", 1.0, 9), concentration.losses("gaussian", 1.0, 9))


def test_bad_input() -> None:
    with pytest.raises(BadParameter, match="pair"):
        concentration.losses("cauchy", 1.0, 10)
    with pytest.raises(BadParameter, match="epsilon"):
        concentration.losses("coin", 0.0, 10)
    with pytest.raises(BadParameter, match="size"):
        concentration.losses("coin", 1.0, 0)
    with pytest.raises(BadParameter, match="k"):
        concentration.deviation("coin", 1.0, 0, 1.0)
    with pytest.raises(BadParameter, match="t"):
        concentration.deviation("coin", 1.0, 1, -1.0)
