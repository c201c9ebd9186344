"""Posted prices: the range of the moves, the law, and why noise on the price itself fails."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.distance import ADD_REMOVE, SUBSTITUTE
from tacit.core.errors import BadData, BadParameter
from tacit.mechanisms.additive.laplace import Laplace
from tacit.mechanisms.selection.exponential import Exponential
from tacit.mechanisms.selection.posted_price import PostedPrice, posted_price

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "golden.json").read_text("utf-8"))["entries"]
PRICES = (1, 2, "2.5", 3, 4)
VALUATIONS = [1.0, 2.0, 2.5, 3.0, 4.0]
grids = st.lists(st.integers(1, 9), min_size=2, max_size=5, unique=True).map(sorted)
buyers = st.lists(st.integers(0, 10), max_size=5)


def test_revenues() -> None:
    m = PostedPrice(prices=PRICES, epsilon=1)
    assert m.cents.tolist() == [2, 4, 5, 6, 8]
    assert m.revenues(VALUATIONS).tolist() == [10, 16, 15, 12, 8]
    assert m.revenues([]).tolist() == [0] * 5
    assert m.miss(VALUATIONS, 2.0) == 0
    assert m.miss(VALUATIONS, 4.0) == 4


def test_golden_expected_revenue() -> None:
    (entry,) = (e for e in GOLDEN if e["id"] == "em.price.expected_revenue")
    revenue = PostedPrice(prices=PRICES, epsilon=1).revenues(VALUATIONS) / 2
    law = Exponential(epsilon=1, sensitivity=4, grid="0.5").law(revenue)
    found = math.fsum(law.mass(i) * r for i, r in enumerate(revenue))
    assert found == pytest.approx(entry["value"], rel=entry["tolerance"])
    m = PostedPrice(prices=PRICES, epsilon=1)  # the range of the moves is 3, not 2 * 4
    better = m.law(VALUATIONS)
    assert math.fsum(better.mass(float(p)) * r for p, r in zip(m.prices, revenue, strict=True)) > found + 0.4


@given(grid=grids)
def test_the_range_of_one_buyer_s_moves(grid: list[int]) -> None:
    m = PostedPrice(prices=grid, epsilon=1)
    moves = [m.revenues([v]) for v in range(11)]
    added = max(np.ptp(v) for v in moves)
    assert m.loss().epsilon() == 1
    assert m.choice.sensitivity.linf == added == max(grid[-2], grid[-1] - grid[0])
    substituted = max(np.ptp(v - w) for v in moves for w in moves)
    assert substituted == grid[-1]
    other = PostedPrice(prices=grid, epsilon=1, sensitivity=SUBSTITUTE.histogram())
    assert other.choice.sensitivity.linf == min(substituted, 2 * added)
    assert other.loss(ADD_REMOVE.histogram()).epsilon() <= 1


@given(grid=grids, x=buyers, added=st.integers(0, 10), removed=st.integers(0, 10))
def test_the_loss_covers_the_law(grid: list[int], x: list[int], added: int, removed: int) -> None:
    m = PostedPrice(prices=grid, epsilon=2)
    base, more, other = m.law(x), m.law([*x, added]), m.law([*x, removed])
    for p, q, loss in ((base, more, m.loss()), (more, other, m.loss(SUBSTITUTE.histogram()))):
        ratios = [math.log(p.mass(float(y)) / q.mass(float(y))) for y in grid]
        assert max(ratios) - min(ratios) <= loss.epsilon() + 1e-9


@given(grid=grids, x=buyers, beta=st.sampled_from(["0.3", "0.05", "0.001"]))
def test_the_revenue_is_near_the_best(grid: list[int], x: list[int], beta: str) -> None:
    m = PostedPrice(prices=grid, epsilon=5)
    law, allowed = m.law(x), m.error(beta=beta)
    assert math.fsum(law.mass(float(p)) for p in grid if m.miss(x, float(p)) > allowed) <= float(beta)


def test_losses() -> None:
    m = PostedPrice(prices=PRICES, epsilon=1)
    assert m.loss(0).terms == {}
    assert m.loss(3).epsilon() == 3
    assert m.loss(SUBSTITUTE.histogram()).epsilon() == pytest.approx(4 / 3)
    assert PostedPrice(prices=PRICES, rho="0.125").loss().epsilon() == pytest.approx(1, rel=1e-9)
    assert PostedPrice.for_error(10, prices=PRICES).error() <= 10


def test_noise_on_the_price_loses_what_the_choice_of_a_price_keeps() -> None:
    """Two hundred buyers at 20, prices from 1 to 40: a step above 20 sells nothing."""
    grid, epsilon, x = range(1, 41), 1, np.full(200, 20)
    m = PostedPrice(prices=grid, epsilon=epsilon)
    revenue = dict(zip(grid, m.revenues(x).tolist(), strict=True))
    best = max(revenue.values())
    chosen = math.fsum(m.law(x).mass(float(p)) * revenue[p] for p in grid)
    # one buyer moves the best price from one end of the grid to the other, so its sensitivity is 39
    poor = np.append(np.ones(39), 40)
    ends = [int(np.argmax(m.revenues(v))) for v in (poor[:-1], np.append(poor, 40))]
    assert ends == [0, 39]
    noise = Laplace(epsilon=epsilon, sensitivity=39).noise(20)
    below, above = 1 - noise.at_least(2), noise.at_least(40)  # noisy prices off the grid go to its ends
    noisy = math.fsum(noise.mass(p) * revenue[p] for p in range(2, 40)) + below * revenue[1] + above * revenue[40]
    assert chosen > 0.95 * best
    assert noisy < 0.25 * best


def test_the_helper() -> None:
    assert posted_price(np.full(1000, 3.0), PRICES, 10) == 3.0
    assert posted_price([], PRICES, 1) in {1.0, 2.0, 2.5, 3.0, 4.0}


@pytest.mark.parametrize("bad", [[[1.0]], ["a"], [True], [math.nan], [math.inf], np.array([1], object), 3.0])
def test_valuations_that_cannot_be_read(bad: Any) -> None:
    with pytest.raises(BadData):
        PostedPrice(prices=PRICES, epsilon=1).release(bad)


@pytest.mark.parametrize("bad", [(), (1,), (2, 1), (1, 1), (0, 1), (-1, 1), (1, "nan"), (1, Fraction(1 << 41))])
def test_prices_that_cannot_be_read(bad: Any) -> None:
    with pytest.raises(BadParameter):
        PostedPrice(prices=bad, epsilon=1)


def test_prices_with_which_a_revenue_might_not_fit_are_refused() -> None:
    with pytest.raises(BadParameter, match="common unit"):
        PostedPrice(prices=(1, 1 << 40), epsilon=1)
