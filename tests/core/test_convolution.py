"""Discrete Gaussian vectors against continuous noise: the proof's steps in high precision, and exact laws."""

import math
from fractions import Fraction
from itertools import pairwise, product

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit import ADD_REMOVE, Budget, Gaussian
from tacit.composition import rho_for
from tacit.core.accounting.atoms import DiscreteGaussianNoise, DiscreteGaussianVector, GaussianNoise
from tacit.core.accounting.loss import Concentrated, Loss
from tacit.core.distance import Distance
from tacit.core.pld.discrete_gaussian import mu_squared, smoothing, variance_for


def exact(x: Fraction) -> mp.mpf:
    return mp.mpf(x.numerator) / x.denominator


def damped(v: mp.mpf) -> mp.mpf:
    return 2 * mp.fsum(mp.exp(-2 * mp.pi**2 * k * k * v) for k in range(1, 9))


def profile(mu: mp.mpf, e: mp.mpf) -> mp.mpf:
    return mp.ncdf(mu / 2 - e / mu) - mp.exp(e) * mp.ncdf(-mu / 2 - e / mu)


@pytest.mark.parametrize("s", [2, Fraction(5, 2), 3, 4, 9, 50, 10**4, 10**12, 2**100])
@pytest.mark.parametrize("square", [1, 2, 5, 100, 10**6])
def test_the_constants_of_the_proof(s, square):
    for moved in {1, min(square, 3), square}:
        t = smoothing(Fraction(s), Fraction(square), moved)
        if t is None:
            assert square > s / 2
            continue
        with mp.workdps(100):
            a, d = exact(t) - mp.mpf(1) / 32, mp.sqrt(square)
            b = a * (1 - a / exact(Fraction(s)))
            assert a >= 0.22 and b >= 0.19 and t <= Fraction(s) / 2
            r = damped(a) * damped(b) * (1 + damped(a)) / (1 - damped(a))
            assert r <= 4.3 * mp.exp(-2 * mp.pi**2 * (a + b))
            c = moved * mp.log((1 + r) / (1 - r))
            m, mu = d / mp.sqrt(exact(s - t) + mp.mpf(1) / 32), d / mp.sqrt(exact(s - t))
            assert c * mp.sqrt(2 * mp.pi) * mp.exp((mu / 2 + c / m) ** 2 / 2) <= mu - m
            for e in (0, mu / 9, mu, 3 * mu, mu * mu / 2):
                assert mp.exp(c) * profile(m, e - c) <= profile(mu, e)


@pytest.mark.parametrize(("s", "a"), [(2, 0.224), (2, 0.1), (4, 0.26), (9, 0.3)])
def test_rounded_continuous_noise_is_nearly_discrete(s, a):
    """The law of the rounded y at integers, by a trapezoidal sum, is the discrete one times a constant and 1 +- r."""
    b, y = a * (1 - a / s), np.arange(-40, 40, 1 / 128)
    r = float(damped(a) * damped(b) * (1 + damped(a)) / (1 - damped(a)))
    weights = np.exp(-((np.arange(-45, 46)[:, None] - y) ** 2) / (2 * a))
    law = (weights / weights.sum(axis=0)) @ np.exp(-(y**2) / (2 * (s - a)))
    ratios = law[45:51] / np.exp(-(np.arange(6) ** 2) / (2 * s))
    assert 1 + r / 10 < ratios.max() / ratios.min() <= (1 + r) / (1 - r)  # and not far from it


def divergence(moves: list[tuple[tuple[int, ...], int]], epsilon: float) -> float:
    """The exact hockey-stick divergence of discrete noises on several vectors, each with its variance.

    All that matters of a vector is sum d_i z_i, and its loss is (|d|^2 + 2 sum d_i z_i) / (2 s).
    """
    losses, masses = np.zeros(1), np.ones(1)
    for d, s in moves:
        law, radius = np.ones(1), math.ceil(11 * math.sqrt(s))
        z = np.arange(-radius, radius + 1)
        mass = np.exp(-(z**2) / (2 * s))
        for step in map(abs, d):
            spaced = np.zeros(2 * step * radius + 1)
            spaced[::step] = mass / mass.sum()
            law = np.convolve(law, spaced)
        far = law.size // 2
        loss = (sum(x * x for x in d) + 2 * np.arange(-far, far + 1)) / (2 * s)
        losses, masses = (losses[:, None] + loss).ravel(), (masses[:, None] * law).ravel()
    return float(masses @ np.maximum(0, -np.expm1(epsilon - losses)))


def atom(d: tuple[int, ...], s: int) -> DiscreteGaussianVector:
    square = sum(x * x for x in d)
    return DiscreteGaussianVector(Fraction(square, 2 * s), Fraction(s), len(d))


@pytest.mark.parametrize("s", [2, 3, 4, 7, 16, 36])
@pytest.mark.parametrize("d", [(1,), (1, 1), (1, 2), (1, 1, 1), (3, 1, 2)])
def test_no_divergence_of_small_vectors_is_above_what_is_claimed(d, s):
    one = atom(d, s)
    for step in range(13):
        epsilon = step * math.sqrt(2 * float(one.rho)) / 2
        found = divergence([(d, s)], epsilon)
        assert found <= one.profile(epsilon) * (1 + 1e-12)
        assert found <= Loss({one: 1}).delta(epsilon) * (1 + 1e-12)
    if s >= 16:
        assert one.profile(0.0) <= 1.02 * divergence([(d, s)], 0.0)


@pytest.mark.parametrize(("sigma", "loose"), [(10, 1.05), (20, 1.015), (50, 1.003)])
def test_the_claim_is_tight_for_wide_noise(sigma, loose):
    for d in ((1, 1), (2, 1, 3)):
        one = atom(d, sigma**2)
        for mus in (0, 1, 2, 4):
            epsilon = mus * math.sqrt(2 * float(one.rho))
            assert one.profile(epsilon) <= loose * divergence([(d, sigma**2)], epsilon)


vectors = st.tuples(st.lists(st.integers(1, 3), min_size=1, max_size=3).map(tuple), st.integers(2, 12))


@given(vectors, vectors, st.floats(0, 5))
@settings(max_examples=40)
def test_sums_and_groups_are_covered(first, second, mus):
    loss = Loss({atom(*first): 1}) + Loss({atom(*second): 1})
    epsilon = mus * math.sqrt(2 * float(sum(n * a.rho for a, n in loss.terms.items())))
    found = divergence([first, second], epsilon)
    assert found <= loss.delta(epsilon) * (1 + 1e-12)
    epsilon, (d, s) = mus * 2 * math.sqrt(2 * float(atom(*first).rho)), first
    found = divergence([(tuple(2 * x for x in d), s)], epsilon)
    assert found <= Loss({atom(d, s): 1}).group(2).delta(epsilon) * (1 + 1e-12)


def test_in_every_currency_it_is_what_it_was():
    """Its rho is exact, nothing fails, and small noise keeps what zCDP says."""
    one = DiscreteGaussianVector(Fraction(1, 20), Fraction(60), 6)
    spent, budget, other = 10 * Loss({one: 1}), Budget(rho="0.5"), Budget(epsilon=1, delta="1e-6")
    assert budget.spent(spent) == Fraction(1, 2) and not budget.admits(spent, Loss({one: 1}))
    assert other.spent(spent) == other.spent(Loss({Concentrated(one.rho): 10}))
    assert one.failure() == 0 and one.concentrated() == Concentrated(one.rho).concentrated()
    small = DiscreteGaussianVector(Fraction(2), Fraction(1, 2), 2)
    assert small.gaussian() == small.epsilon_at(1e-6) == math.inf and small.profile(1.0) == 1 and not small.pairs(1.0)
    assert Loss({small: 3}).epsilon("1e-6") == Loss({Concentrated(small.rho): 3}).epsilon("1e-6")


@given(st.integers(1, 400), st.integers(1, 9), st.fractions(Fraction(1, 10**6), Fraction(1, 5)))
def test_a_variance_is_found_for_every_mu(square, moved, target):
    s = variance_for(target, Fraction(square), min(moved, square))
    assert mu_squared(s, Fraction(square), min(moved, square)) <= target
    assert square / target <= s <= square / target + Fraction(6, 5)


def test_wider_noise_loses_a_smaller_share():
    """As `parallel` takes for granted: of no larger rho, and no more moves for its variance, it has no larger mu."""
    sizes = [Fraction(2) ** k for k in range(1, 60)]
    for rho, each in product((Fraction(1, 1000), Fraction(1, 3), Fraction(5)), (1, 7)):
        found = [DiscreteGaussianVector(rho, s, math.floor(each * s)).gaussian() for s in sizes]
        assert all(a >= b for a, b in pairwise(found))


def test_calibrated_noise_is_five_per_cent_less_than_by_zcdp():
    for epsilon, delta, gain in ((1, "1e-9", 1.05), ("0.1", "1e-6", 1.085), (10, "1e-5", 1.055)):
        for moved in (ADD_REMOVE.counts(1000), Distance(Fraction(4000), Fraction(1000), Fraction(90))):
            m = Gaussian(epsilon=epsilon, delta=delta, sensitivity=moved)
            assert m.loss().epsilon(delta) <= float(epsilon)
            assert m.sigma * gain < math.sqrt(1000 / (2 * rho_for(epsilon, delta)))
            assert GaussianNoise(1000 / m.sigma2 / Fraction("1.01")).epsilon_at(float(delta)) <= float(epsilon)
    one = Gaussian(sigma=10).loss(ADD_REMOVE.counts(1))
    assert [type(a) for a in one.terms] == [DiscreteGaussianNoise]
    assert 0 < min(a.gaussian() for a in one.terms) - Fraction(1, 100) < Fraction(1, 20000)
