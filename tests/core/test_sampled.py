"""Noise on a Poisson sample: moments against fifty digits, and groups against the mixtures that they see."""

import math
from fractions import Fraction
from math import comb

import mpmath
import numpy as np
import pytest
from scipy.stats import laplace, norm

from tacit.composition import parallel
from tacit.core.accounting.accountants import PLD, Renyi
from tacit.core.accounting.atoms import DiscreteLaplaceNoise, GaussianNoise, LaplaceNoise
from tacit.core.accounting.loss import Loss
from tacit.core.accounting.sampled import Sampled
from tacit.core.distance import SUBSTITUTE
from tacit.core.exact import hybrid_sum, up

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


@pytest.mark.parametrize(("rate", "epsilon"), [("0.00103", "87.2"), ("0.5", "0.013"), ("1e-6", "30"), ("0.9", "3")])
def test_the_profile_is_outward_up_to_its_end(rate, epsilon):
    """Just below ln(1 + q (e^e - 1)) there is a delta still, however small."""
    q, e = Fraction(rate), Fraction(epsilon)
    loss = Loss({Sampled(q, LaplaceNoise(e)): 1})
    with mpmath.workdps(60):
        rate_, e_ = (mpmath.mpf(x.numerator) / x.denominator for x in (q, e))
        end = mpmath.log1p(rate_ * mpmath.expm1(e_))
        at = float(end)
        for _ in range(20):
            at = math.nextafter(at, 0)
            inner = mpmath.log1p(mpmath.expm1(mpmath.mpf(at)) / rate_)
            assert loss.delta(Fraction(at)) >= rate_ * -mpmath.expm1((inner - e_) / 2)
    assert loss.delta(Fraction(up(e))) == 0


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
    assert PLD().epsilon(loss, 1e-6) < 6.908 < Renyi().epsilon(loss, 1e-6) < 7.5


@pytest.mark.parametrize("noise", [GaussianNoise(Fraction(1, 4)), LaplaceNoise(Fraction(1, 2))])
@pytest.mark.parametrize(("joining", "leaving"), [(2, 0), (1, 1), (5, 2)])
@pytest.mark.parametrize("rate", [Fraction(1, 100), Fraction(1, 3), Fraction(9, 10)])
def test_a_group_whose_members_join_and_leave(noise, joining, leaving, rate):
    """On each side a mixture over who is taken; those who leave move the noise one way, who joins the other."""
    q, law = float(rate), norm if isinstance(noise, GaussianNoise) else laplace

    def mixture(k, way):
        return sum(comb(k, j) * q**j * (1 - q) ** (k - j) * law.pdf(X - way * j / 2) for j in range(k + 1))

    before, after = mixture(leaving, 1), mixture(joining, -1)
    claimed = Sampled(rate, noise).group(joining + leaving)
    for e in EPSILONS:
        for p, r in ((before, after), (after, before)):
            assert np.trapezoid(np.maximum(p - math.exp(e) * r, 0), X) <= claimed.profile(e) + 1e-6


def test_a_group_that_joins_and_leaves_composed_with_other_noise():
    """Neither law is that of the noise alone: a pair that is good for joiners only would claim 0.77 of 0.816."""
    loss = Loss({Sampled(Fraction(1, 2), GaussianNoise(Fraction(36))): 1, DiscreteLaplaceNoise(Fraction(3, 2), 1): 1})
    normal = [(norm.pdf(X) + norm.pdf(X - 6 * way)) / 2 * (X[1] - X[0]) for way in (1, -1)]
    z = np.arange(-60, 61)
    steps = [np.exp(-1.5 * np.abs(z - at)) * math.tanh(0.75) for at in (0, 2)]
    p, q = (np.outer(noise, step) for noise, step in zip(normal, steps, strict=True))
    truth = np.maximum(p - math.exp(1.5) * q, 0).sum()
    assert 0.81 < truth <= loss.group(2).delta("1.5")
    assert truth <= parallel(loss, relation=SUBSTITUTE).delta("1.5")


def test_a_group_still_has_the_sampling():
    loss = Loss({Sampled(Fraction(1, 100), GaussianNoise(Fraction(1, 16))): 1000})
    assert loss.epsilon("1e-6") < 0.32
    assert 0.64 < loss.group(2).epsilon("1e-6") < 0.68
    assert loss.group(1) == loss and loss.group(2).group(3) == loss.group(6)
    assert loss.group(2).delta(loss.group(2).epsilon("1e-6")) <= 1e-6
    pure = Loss({Sampled(Fraction(1, 10), LaplaceNoise(Fraction(1))): 1})
    assert pure.group(3).epsilon() == pytest.approx(3 * pure.epsilon())
    assert loss.group(10**6).epsilon("1e-6") <= 10**12 * loss.epsilon("1e-6") ** 2 * 1000


@pytest.mark.parametrize("k", [2, 3, 7, 1000])
@pytest.mark.parametrize("epsilon", [1e-9, 0.1, 1.0, 33.3, 690.0])
def test_the_hybrid_sum_is_from_above(k, epsilon):
    with mpmath.workdps(60):
        e = mpmath.mpf(epsilon)
        truth = mpmath.expm1(e) / mpmath.expm1(e / k)
        assert truth <= hybrid_sum(k, epsilon / k) <= truth * (1 + mpmath.mpf("1e-11"))


def test_far_noise_costs_what_it_costs_without_a_sample():
    assert Sampled(Fraction(1, 100), GaussianNoise(Fraction(10**309))).renyi(2.0) == math.inf


@pytest.mark.parametrize("count", [3 * 10**7, 10**8, 10**9])
def test_delta_is_not_far_above_what_epsilon_proves(count):
    """Where the grid of a transform is too short for so many."""
    loss = Loss({Sampled(Fraction(1, 100), GaussianNoise(Fraction(1, 16))): count})
    assert 1e-10 < loss.delta(loss.epsilon("1e-9")) < 1e-8
