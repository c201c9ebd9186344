from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import ADD_REMOVE, SUBSTITUTE, BadParameter, Gaussian, Laplace
from tacit.composition import mu_for, zcdp_to_epsilon
from tacit.core.accounting.atoms import GaussianNoise
from tacit.core.accounting.currency import Rho
from tacit.core.accounting.loss import zero
from tacit.testing.sources import Seeded
from tacit.workloads import Domain, Histogram, Price, marginals, method, ranges
from tacit.workloads.methods.marginals._residual_plan import plan
from tacit.workloads.registry import METHODS


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=20), st.sampled_from(["epsilon", "rho"]))
def test_a_split_price_is_spent_exactly(weights, currency):
    price = Price.of(**{currency: "0.1"})
    parts = price.split(weights)
    assert sum(p.amount for p in parts) == Fraction(1, 10)
    assert all(p.unit == price.unit for p in parts)
    assert [p.amount / parts[0].amount for p in parts] == [Fraction(w, weights[0]) for w in weights]


@pytest.mark.parametrize("whole", [Price.of(epsilon=1, delta="1e-6"), Price.of(epsilon=1, delta="1e-6").alone], ids=str)
def test_a_part_of_a_price_is_not_called_the_whole(whole):
    part = whole.part(Fraction(1, 10))
    assert "1e-06" in str(whole) and "1e-06" not in str(part) and "(" not in str(part)
    assert whole.part(Fraction(1)).amount == whole.amount and "1e-06" in str(whole.part(Fraction(1)))


@pytest.mark.parametrize("unit", [ADD_REMOVE.histogram(), SUBSTITUTE.histogram(), ADD_REMOVE.histogram().group(3)])
def test_noise_costs_the_price(unit):
    moved = marginals(Domain.of({"a": 2, "b": 3, "c": 2}), k=2).distance(unit)
    pure, concentrated = Price.of(epsilon="0.3", unit=unit), Price.of(rho="0.02", unit=unit)
    assert isinstance(pure.noise(moved), Laplace) and isinstance(concentrated.noise(moved), Gaussian)
    assert pure.noise(moved).loss() == pure.loss()
    assert Rho().total(concentrated.noise(moved).loss()) == Rho().total(concentrated.loss()) == concentrated.rho


def test_epsilon_and_delta_become_the_largest_rho():
    price = Price.of(epsilon=1, delta="1e-9")
    assert price.epsilon is None and zcdp_to_epsilon(price.rho, "1e-9") == pytest.approx(1, rel=1e-9)
    assert "1e-09" in str(price) and "epsilon 1" in str(price)
    assert price.shared == Price(rho=price.rho, stated="epsilon 1 at delta 1e-09, by zCDP")
    assert price.part(Fraction(1, 3)) == price.shared.part(Fraction(1, 3)) and price.shared.alone == price.shared
    assert str(Price.of(epsilon=2)) == "epsilon = 2"


@pytest.mark.parametrize(
    "given_", [{}, {"epsilon": 1, "rho": 1}, {"epsilon": 0}, {"rho": -1}, {"delta": 0.1}, {"rho": 1, "delta": 0.1}]
)
def test_bad_prices(given_):
    with pytest.raises(BadParameter):
        Price.of(**given_)


TERMS = [("0.1", "1e-6"), (1, "1e-9"), (2, "1e-5"), (9, "1e-9"), ("1e30", "0.5"), ("1e-30", "1e-30")]


@pytest.mark.parametrize(("epsilon", "delta"), TERMS)
def test_alone_it_buys_no_more_noise(epsilon, delta):
    """Whatever moves, and whatever the share; for small epsilon some per cent less, as the exact profile says."""
    price = Price.of(epsilon=epsilon, delta=delta)
    if price.alone == price.shared:
        assert not 1e-6 < float(epsilon) < 3
        return
    assert price.alone.loss().epsilon(delta) <= float(epsilon)
    for moved in (ADD_REMOVE.counts(1), ADD_REMOVE.counts(9), ADD_REMOVE.histogram().group(50)):
        for share in (Fraction(1), Fraction(1, 7), Fraction(1, 10**6)):
            own, other = (p.part(share).noise(moved) for p in (price.alone, price.shared))
            assert own.sigma2 < other.sigma2
            assert sum(atom.gaussian() for atom in own.loss().terms) <= 2 * share * price.alone.amount


def test_at_epsilon_1_and_delta_1e_9_noise_is_five_per_cent_less():
    price, moved = Price.of(epsilon=1, delta="1e-9"), ADD_REMOVE.counts(100)
    assert 0.945 < price.alone.noise(moved).sigma / price.noise(moved).sigma < 0.952
    exact = Fraction(mu_for(1, "1e-9")) ** 2
    assert GaussianNoise(exact).profile(1.0) <= 1e-9 < GaussianNoise(exact * Fraction("1.000001")).profile(1.0)


WIDE, LINE = Domain.of({"a": 2, "b": 3, "c": 4}), Domain.of({"v": 40})
ALONE = [
    ("queries", marginals(WIDE, k=2)), ("queries", marginals(WIDE, k=1) + ranges(WIDE, "c")),
    ("histogram", marginals(WIDE, k=2)), ("residual", marginals(WIDE, k=2)), ("hierarchy", ranges(LINE)),
    ("isotonic", ranges(LINE)), ("partition", ranges(LINE)), ("pruned", ranges(LINE)),
    ("optimised", ranges(LINE)), ("optimised", marginals(WIDE, k=2)),
]  # fmt: skip


@pytest.mark.parametrize("unit", [ADD_REMOVE.histogram(), SUBSTITUTE.histogram()])
@pytest.mark.parametrize(("name", "w"), ALONE, ids=lambda v: v if isinstance(v, str) else "")
def test_methods_that_are_noise_alone_use_the_whole_of_it(name, w, unit):
    """The loss of the noises really drawn is within epsilon at delta; rho, which a ledger counts, is as before."""
    price, m = Price.of(epsilon=1, delta="1e-9", unit=unit), method(name)
    data = Histogram(w.domain, [5] * w.domain.size, unit)
    told = m.release(w, data, price, Seeded(0), n=5 * w.domain.size)
    assert told.loss == m.loss(w, None, price)
    assert 0.97 < told.loss.epsilon("1e-9") <= 1
    assert Rho().total(told.loss) > price.rho  # beside other things it would be too much
    if name == "residual":
        drawn = sum((noise.loss() for noise in plan(w, price).values()), zero)
        assert 0.97 < drawn.epsilon("1e-9") <= 1
    assert m.predict(w, None, price).rms < 0.97 * m.predict(w, None, price.shared).rms
    assert Rho().total(m.loss(w, None, price.shared)) == price.rho


def test_other_methods_have_their_rho_and_no_more():
    price, w = Price.of(epsilon=1, delta="1e-9"), marginals(WIDE, k=2)
    others = [m for m in METHODS if m.name not in dict(ALONE) and m.refusal(w, 1000, price) is None]
    assert len(others) >= 3
    for m in others:
        assert m.loss(w, 1000, price) == m.loss(w, 1000, price.shared)
        assert m.predict(w, 1000, price) == m.predict(w, 1000, price.shared)
        assert Rho().total(m.loss(w, 1000, price)) <= price.rho
