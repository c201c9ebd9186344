"""The rule of each currency, against 50 digits."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core.accounting.budget import Budget
from tacit.core.accounting.currency import Epsilon, RenyiAt, Rho, ln
from tacit.core.accounting.loss import Concentrated, Loss, Pure, zero

MP = mpmath.MPContext()
MP.dps = 50

amounts = st.fractions(min_value=Fraction(1, 10**6), max_value=3, max_denominator=10**6)
deltas = st.sampled_from([Fraction(1, 10**k) for k in (2, 4, 6, 9, 12)])


def pure(epsilon):
    return Loss({Pure(Fraction(epsilon)): 1})


def real(x):
    return MP.mpf(x.numerator) / x.denominator


def coin(epsilon, order):
    """The Renyi divergence of a coin of odds e^epsilon, to 50 digits."""
    e, a = real(epsilon), real(order)
    return MP.log1p(2 * MP.sinh(a * e / 2) * MP.sinh((a - 1) * e / 2) / MP.cosh(e / 2)) / (a - 1)


def test_never_beyond_the_rule():
    """Against 50 digits: what is admitted keeps the rule, and what the classical rule admits is admitted."""
    for u, v, w in np.random.default_rng(1).uniform(size=(2000, 3)):
        epsilon, slack, part = (Fraction(f"{10**x:.3g}") for x in (3.3 * u - 2, 11.9 * v - 12, -7 * w))
        budget, step = Budget(epsilon=epsilon, delta=(1 + slack) / 2, slack=slack), epsilon * part
        a, price = real(budget.sums[1][0].order), coin(step, budget.sums[1][0].order)
        limit = real(epsilon) + (MP.log(real(slack)) - (a - 1) * MP.log(1 - 1 / a) + MP.log(a)) / (a - 1)
        most = max(int(limit / price), math.floor(epsilon / step))
        assert not budget.admits(zero, (most + 1) * pure(step))
        assert budget.admits(zero, int(most * (1 - 1e-4)) * pure(step))
        nats = MP.log(1 / real(slack))
        classical = 2 * (MP.sqrt(nats + real(epsilon)) - MP.sqrt(nats)) ** 2 / real(step) ** 2
        assert budget.admits(zero, int(classical) * pure(step))


@given(st.fractions(min_value=Fraction(101, 100), max_value=100), amounts, deltas)
@settings(max_examples=200, deadline=None)
def test_room_is_a_lower_bound(order, epsilon, delta):
    a = real(order)
    truth = (MP.log(real(delta)) - (a - 1) * MP.log(1 - 1 / a) + MP.log(a)) / (a - 1)
    assert 0 <= truth - real(RenyiAt(order).room(delta)) < 1e-40
    assert RenyiAt(order).of(Pure(epsilon)) >= Fraction(str(coin(epsilon, order)))


@pytest.mark.parametrize("epsilon", [10.0**-k for k in range(1, 25)])
@pytest.mark.parametrize("order", ["1.001", "2", "27"])
def test_small_losses_are_not_cheap(order, epsilon):
    atom, order = Pure(Fraction(str(epsilon))), Fraction(order)
    truth = coin(atom.epsilon, order)
    assert truth <= real(RenyiAt(order).of(atom)) <= truth * MP.mpf("1.0001")


def test_ln_encloses():
    for x in ("1e-400", "1e-12", "0.5", "0.999999999999999999999999999999", "1", "3", "1e30"):
        low, high = ln(Fraction(x))
        assert real(low) < MP.log(real(Fraction(x))) < real(high)


@given(amounts, deltas)
@settings(max_examples=50, deadline=None)
def test_the_order_is_the_best_for_gaussian_noise(epsilon, delta):
    def room(currency):
        return float((epsilon + currency.room(delta)) / currency.order)

    chosen = RenyiAt.best(epsilon, delta)
    for factor in (Fraction(n, 20) for n in (1, 5, 10, 18, 19, 21, 22, 40, 100, 2000)):
        assert room(RenyiAt(1 + factor * (chosen.order - 1))) <= room(chosen) * (1 + 1e-3)


def test_what_totals_prove():
    assert Epsilon().proves(Epsilon().total(5 * pure("0.1")), 0) == 0.5
    assert Epsilon().proves(math.inf, 0.1) == Rho().proves(math.inf, 0.1) == RenyiAt(Fraction(2)).proves(math.inf, 0.1)
    assert RenyiAt(Fraction(2)).proves(Fraction(1), 0) == math.inf
    assert Rho().proves(Fraction(1, 10), 1e-6) == Loss({Concentrated(Fraction(1, 10)): 1}).epsilon(1e-6)
