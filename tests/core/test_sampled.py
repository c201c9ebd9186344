"""Noise on a Poisson sample: moments against fifty digits, and groups against the mixture that they see."""

import math
from fractions import Fraction
from math import comb

import mpmath
import numpy as np
import pytest
from scipy.stats import laplace, norm

from tacit.core.atoms import GaussianNoise, LaplaceNoise
from tacit.core.loss import Loss
from tacit.core.sampled import Sampled
from tacit.core.views import Pairs, Renyi

EPSILONS = (0.0, 0.05, 0.3, 1.0, 2.5)
X = np.linspace(-40, 40, 80_001)


def moment(rate, mu, order):
    q, m = mpmath.mpf(rate), mpmath.mpf(mu)

    def term(j):
        return comb(order, j) * (1 - q) ** (order - j) * q**j * mpmath.expm1(m * m * j * (j - 1) / 2)

    return mpmath.log1p(mpmath.fsum(map(term, range(2, order + 1))))


@pytest.mark.parametrize(
    ("rate", "mu", "order"),
    [(0.01, 0.25, 2), (0.01, 0.25, 64), (0.5, 1.0, 4096), (1e-6, 1e-3, 7), (0.3, 2.0, 1000), (1e-100, 3.0, 50)],
)
def test_moments_of_whole_orders_are_outward_and_near(rate, mu, order):
    found = Sampled(Fraction(rate), GaussianNoise(Fraction(mu) ** 2)).renyi(order)
    with mpmath.workdps(50):
        truth = moment(rate, mu, order) / (order - 1)
        assert truth <= found <= truth * (1 + mpmath.mpf("1e-8"))


def test_between_whole_orders_the_true_moment_is_below_the_chord():
    rate, mu = 0.2, 0.7
    atom, density = Sampled(Fraction("0.2"), GaussianNoise(Fraction("0.49"))), norm.pdf(X)
    ratio = 1 - rate + rate * np.exp(mu * X - mu * mu / 2)
    for order in (1.2, 1.5, 2.3, 5.7):
        forward = math.log(np.trapezoid(density * ratio**order, X)) / (order - 1)
        backward = math.log(np.trapezoid(density * ratio ** (1 - order), X)) / (order - 1)
        assert max(forward, backward) <= atom.renyi(order) <= order * atom.concentrated()


def test_the_renyi_accountant_of_sampled_gaussian_noise():
    """dp_accounting says 7.4141, with orders of its own; the truth is 6.90738."""
    loss = Loss({Sampled(Fraction(1, 100), GaussianNoise(Fraction(1))): 10_000})
    assert Pairs().epsilon(loss, 1e-6) < 6.908 < Renyi().epsilon(loss, 1e-6) < 7.5


@pytest.mark.parametrize("noise", [GaussianNoise(Fraction(1, 4)), LaplaceNoise(Fraction(1, 2))])
@pytest.mark.parametrize("k", [2, 7])
@pytest.mark.parametrize("rate", [Fraction(1, 100), Fraction(1, 3), Fraction(9, 10)])
def test_a_group_sees_a_mixture_that_is_no_farther(noise, k, rate):
    q, law = float(rate), norm if isinstance(noise, GaussianNoise) else laplace
    some = [comb(k, j) * q**j * (1 - q) ** (k - j) * law.pdf(X - j / 2) for j in range(k + 1)]
    mixture, alone = np.sum(some, axis=0), law.pdf(X)
    claimed = Sampled(rate, noise).group(k)
    for e in EPSILONS:
        for p, r in ((mixture, alone), (alone, mixture)):
            assert np.trapezoid(np.maximum(p - math.exp(e) * r, 0), X) <= claimed.profile(e) + 1e-6


def test_a_group_still_has_the_sampling():
    loss = Loss({Sampled(Fraction(1, 100), GaussianNoise(Fraction(1, 16))): 1000})
    assert loss.epsilon("1e-6") < 0.32
    assert loss.group(2).epsilon("1e-6") < 1.6
    assert loss.group(1) == loss
    everybody = Loss({GaussianNoise(Fraction(10**12, 16)): 1000})
    assert loss.group(10**6).epsilon("1e-6") <= everybody.epsilon("1e-6") * 1.001


@pytest.mark.parametrize("count", [3 * 10**7, 10**8, 10**9])
def test_delta_is_not_far_above_what_epsilon_proves(count):
    """Where the grid of a transform is too short for so many."""
    loss = Loss({Sampled(Fraction(1, 100), GaussianNoise(Fraction(1, 16))): count})
    assert 1e-10 < loss.delta(loss.epsilon("1e-9")) < 1e-8
