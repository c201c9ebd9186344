"""The atom of a batch: as private as the exact composition says, and never said to be more private."""

import math
from fractions import Fraction

import pytest

from tacit import Budget
from tacit.core.accounting.accountants import PLD, failures
from tacit.core.accounting.atoms import DiscreteGaussianNoise, GaussianNoise, LaplaceNoise
from tacit.core.accounting.batch import Batch, composed_epsilon
from tacit.core.accounting.loss import BoundedRange, Loss
from tacit.core.distance import ADD_REMOVE
from tacit.mechanisms import Gaussian, KeySelection

DELTA = Fraction(1, 10**6)


def test_gaussian_noises_compose_to_the_exact_profile():
    """100 counts with noise of sigma 42.25 are (1, 1e-6)-private: mu^2 adds, and the profile is Balle and Wang's."""
    each = Gaussian(rho=Fraction(1, 2) / Fraction(4225, 100) ** 2).loss()
    together = GaussianNoise(100 / Fraction(4225, 100) ** 2)
    epsilon = composed_epsilon(100 * each, DELTA)
    assert epsilon == pytest.approx(together.epsilon_at(float(DELTA)), rel=1e-3)
    assert epsilon >= together.epsilon_at(float(DELTA)) and epsilon < 1


def mixed(kinds):
    """Noises of so many kinds, with Laplace noise and a selection among them."""
    gaussian = {DiscreteGaussianNoise(Fraction(1, 2 * (900 + i)), 1, Fraction(900 + i)): 2 for i in range(kinds)}
    return Loss({**gaussian, LaplaceNoise(Fraction(1, 20)): 3, BoundedRange(Fraction(1, 10)): 1}, ADD_REMOVE)


@pytest.mark.parametrize("kinds", [1, 2, 4])
def test_what_is_joined_is_never_below_the_exact_composition(kinds):
    exact = PLD().epsilon(mixed(kinds), DELTA)
    assert exact * (1 - 1e-9) <= composed_epsilon(mixed(kinds), DELTA) <= exact * 1.01


def test_many_kinds_of_noise_are_composed_without_delay_and_soundly():
    many = Loss({LaplaceNoise(Fraction(1, 20 + i)): 1 for i in range(12)}, ADD_REMOVE)
    assert PLD().epsilon(many, DELTA) <= composed_epsilon(many, DELTA) <= many.epsilon()


def test_a_batch_is_its_epsilon_except_with_its_delta():
    batch = Batch(mixed(2), DELTA)
    loss = Loss({batch: 1}, ADD_REMOVE)
    assert loss.epsilon(DELTA) == float(batch.pure()) == composed_epsilon(mixed(2), DELTA)
    assert loss.epsilon(DELTA / 2) == math.inf and failures(loss) == DELTA
    budget = Budget(epsilon=1, delta=DELTA, slack=0)
    assert budget.price(loss) == batch.pure()
    assert budget.price(mixed(2)) == math.inf  # Gaussian noise by itself has no pure epsilon
    two = 2 * loss
    assert not budget.admits(loss, loss) and failures(two) == 2 * DELTA
    assert Loss({batch: 1}, ADD_REMOVE).group(3).epsilon(Fraction(1, 1000)) >= 3 * batch.pure() * Fraction(999, 1000)


def test_a_batch_pays_for_the_failures_within_it():
    keys = KeySelection(rho="1/100", delta=DELTA / 4).loss()
    assert composed_epsilon(keys, DELTA) < math.inf
    assert Batch(keys, DELTA / 16).pure() == math.inf
