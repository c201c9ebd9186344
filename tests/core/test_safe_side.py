"""Deltas and epsilons are rounded to the safe side, and one view's answer is another's question."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tacit.composition import zcdp_to_epsilon
from tacit.core.accounting.accountants import PLD, Profile, Renyi
from tacit.core.accounting.atoms import Approximate, GaussianNoise, LaplaceNoise
from tacit.core.accounting.best_bound import VIEWS
from tacit.core.accounting.loss import Concentrated, Loss, Pure
from tacit.core.accounting.sampled import Sampled

LOSSES = (
    Loss({Pure(Fraction(1, 10)): 40}),
    Loss({Concentrated(Fraction(1, 50)): 3}),
    Loss({Concentrated(Fraction(1, 10**14)): 1}),
)


@pytest.mark.parametrize("view", [v for v in VIEWS if not isinstance(v, PLD | Profile)], ids=lambda v: v.name)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.01])
def test_the_delta_of_a_view_is_one_at_which_it_proves_that_epsilon(view, loss, delta):
    total = view.total(loss)
    epsilon = view.proves(total, delta)
    if 0 < epsilon < math.inf:
        found = view.delta(total, epsilon)
        assert view.proves(total, found) <= epsilon * (1 + 2.0**-45) and found <= delta * (1 + 1e-6)


def test_what_lies_beyond_the_grid_is_never_forgotten():
    loss = Loss({Sampled(Fraction(1, 100), GaussianNoise(Fraction(1))): 3})
    infinite = max(s.infinite for s in PLD().sums(loss))
    assert infinite > 0
    assert PLD().delta(loss, 1000.0) >= infinite and PLD().proves(loss, infinite) == math.inf
    assert loss.delta(1000) > 0


def test_deltas_and_epsilons_are_rounded_to_the_safe_side():
    third = Fraction(1, 3)
    assert Loss({Approximate(Fraction(1), third): 1}).epsilon(third - Fraction(1, 2**60)) == math.inf
    at = 1 - Fraction(3, 2**54)  # between two floats
    found = Fraction(Loss({LaplaceNoise(Fraction(1)): 1}).delta(at))
    assert found >= Fraction(3, 2**55) * (1 - Fraction(1, 2**40))  # 1 - e^(-x/2), x = 3/2^54


def test_renyi_orders_give_the_conversion_of_zcdp():
    for rho in ("0.001", "0.1", "2"):
        for delta in (1e-10, 1e-3):
            found = Renyi().proves(Loss({Concentrated(Fraction(rho)): 1}), delta)
            assert found == pytest.approx(zcdp_to_epsilon(rho, delta), rel=1e-6)
