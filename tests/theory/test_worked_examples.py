from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.errors import BadParameter
from tacit.theory import laplace, selection
from tacit.theory import worked_examples as worked

from . import STEADY, integral

PUMPKINS = [1.0, 1.0, 1.0, 3.01]


def test_a_hundred_counts() -> None:
    counting = worked.counting_queries()
    assert (counting.epsilon_each, counting.scale) == pytest.approx((0.005, 200.0), rel=1e-15)
    assert counting.union_error == pytest.approx(200 * math.log(2000), rel=1e-15)
    assert counting.exact_error < counting.union_error


def test_a_mean_of_bits() -> None:
    found = worked.mean_of_bits(1000, 0.5)
    assert (found.sensitivity, found.scale) == pytest.approx((0.001, 0.002))
    assert found.chebyshev_error == pytest.approx(found.deviation / math.sqrt(0.05))
    assert laplace.tail(found.tail_error, found.scale) == pytest.approx(0.05)
    assert laplace.tail(found.chebyshev_error, found.scale) < 0.05  # Chebyshev is true, and loose
    assert found.tail_error < found.chebyshev_error < found.randomized_response_error
    more = worked.mean_of_bits(100_000, 0.5)
    assert found.chebyshev_error / more.chebyshev_error == pytest.approx(100)
    assert found.randomized_response_error / more.randomized_response_error == pytest.approx(10)


def test_most_common_colour() -> None:
    choice = worked.most_common({"brown": 10, "blue": 7, "green": 3}, 1.0)
    laws = (choice.exponential_mechanism, choice.permute_and_flip, choice.noisy_max)
    assert choice.scale == 1.0
    for law in laws:
        assert list(law) == ["brown", "blue", "green"]
        assert sum(law.values()) == pytest.approx(1)
        assert law["brown"] > law["blue"] > law["green"]
    assert choice.permute_and_flip["brown"] > choice.exponential_mechanism["brown"]
    assert worked.most_common({"a": 1, "b": 0}, 1.0, monotone=False).scale == 2.0


def test_pumpkins() -> None:
    assert worked.revenue(3.01, PUMPKINS) == 3.01
    assert worked.revenue(3.02, PUMPKINS) == 0.0
    assert worked.revenue(1.0, PUMPKINS) == 4.0
    assert worked.revenue(1.01, PUMPKINS) == 1.01


@STEADY
@given(st.floats(0, 10), st.lists(st.floats(0, 10), min_size=1, max_size=4), st.floats(0.25, 10))
def test_revenue_of_a_noisy_price(price: float, valuations: list[float], scale: float) -> None:
    expected = 0.0
    for v in valuations:
        for low, high in ((0.0, min(v, price)), (min(v, price), v)):
            expected += integral(lambda x: x * laplace.density(x - price, scale), low, high)
    found = worked.noisy_price_revenue(price, valuations, scale)
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-12)


def test_a_little_noise_halves_the_revenue_of_the_best_price() -> None:
    assert worked.noisy_price_revenue(3.0, [3.0] * 10, 1e-6) == pytest.approx(15, rel=1e-5)


def test_posted_price() -> None:
    buyers = [3.0] * 60 + [1.0] * 40
    grid = [0.5, 1.0, 1.5, 2.0, 2.5, 3.0]
    sale = worked.posted_price(buyers, grid, 1.0, monotone=True)
    assert (sale.best_price, sale.best_revenue, sale.noise_scale) == (3.0, 180.0, 2.5)
    assert sum(sale.probabilities) == pytest.approx(1)
    assert sale.prices == tuple(grid)
    assert sale.noisy_price_revenue < 0.6 * sale.best_revenue
    assert sale.exponential_revenue > 0.99 * sale.best_revenue
    assert worked.posted_price(buyers, grid, 1.0).exponential_revenue < sale.exponential_revenue
    loss = sale.best_revenue - sale.exponential_revenue
    assert loss <= selection.expected_gap_bound(len(grid), selection.noise_scale(1.0, 3.0, monotone=True))


@pytest.mark.parametrize("prices", [[0.0, 0.0], [2.0, 2.0]])
def test_a_grid_has_a_width(prices: list[float]) -> None:
    with pytest.raises(BadParameter):
        worked.posted_price([1.0], prices, 1.0)


def test_an_election_with_one_vote_each() -> None:
    one = worked.election([30, 28, 5], 0.5)
    assert one.histogram_scale == one.winner_scale == 2.0
    assert one.histogram_winner == one.noisy_max_winner
    assert one.histogram_error == laplace.simultaneous_error(0.05, 3, 2.0)
    assert one.permute_and_flip_winner[0] > one.noisy_max_winner[0]


def test_an_election_by_approval() -> None:
    one, many = worked.election([30, 28, 5], 0.5), worked.election([30, 28, 5], 0.5, approval=True)
    assert (many.histogram_scale, many.winner_scale) == (6.0, 2.0)
    assert many.histogram_error == pytest.approx(3 * one.histogram_error)
    assert many.noisy_max_winner == one.noisy_max_winner
    assert many.histogram_winner[0] < many.noisy_max_winner[0]
