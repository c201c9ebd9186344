from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import ADD_REMOVE, SUBSTITUTE, BadParameter, Gaussian, Laplace
from tacit.composition import zcdp_to_epsilon
from tacit.workloads import Domain, Price, marginals


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=20), st.sampled_from(["epsilon", "rho"]))
def test_a_split_price_is_spent_exactly(weights, currency):
    price = Price.of(**{currency: "0.1"})
    parts = price.split(weights)
    assert sum(p.amount for p in parts) == Fraction(1, 10)
    assert all(p.unit == price.unit for p in parts)
    assert [p.amount / parts[0].amount for p in parts] == [Fraction(w, weights[0]) for w in weights]


@pytest.mark.parametrize("unit", [ADD_REMOVE.histogram(), SUBSTITUTE.histogram(), ADD_REMOVE.histogram().group(3)])
def test_noise_costs_the_price(unit):
    moved = marginals(Domain.of({"a": 2, "b": 3, "c": 2}), k=2).distance(unit)
    pure, concentrated = Price.of(epsilon="0.3", unit=unit), Price.of(rho="0.02", unit=unit)
    assert isinstance(pure.noise(moved), Laplace) and isinstance(concentrated.noise(moved), Gaussian)
    assert pure.noise(moved).loss() == pure.loss()
    assert concentrated.noise(moved).loss() == concentrated.loss()


def test_epsilon_and_delta_become_the_largest_rho():
    price = Price.of(epsilon=1, delta="1e-9")
    assert price.epsilon is None and zcdp_to_epsilon(price.rho, "1e-9") == pytest.approx(1, rel=1e-9)
    assert "1e-09" in str(price) and "epsilon 1" in str(price)
    assert str(Price.of(epsilon=2)) == "epsilon = 2"


@pytest.mark.parametrize(
    "given_", [{}, {"epsilon": 1, "rho": 1}, {"epsilon": 0}, {"rho": -1}, {"delta": 0.1}, {"rho": 1, "delta": 0.1}]
)
def test_bad_prices(given_):
    with pytest.raises(BadParameter):
        Price.of(**given_)
