"""The privacy loss variable: its bounds hold the truth, found by other means, and are close to one another."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, norm

import tacit
from tacit.core import law
from tacit.core.accounting.atoms import (
    Approximate,
    DiscreteGaussianNoise,
    DiscreteGaussianVector,
    DiscreteLaplaceNoise,
    GaussianNoise,
    GaussianPrivacy,
    KaryResponse,
    LaplaceNoise,
)
from tacit.core.accounting.distribution import Distribution
from tacit.core.accounting.loss import BoundedRange, Concentrated, Loss, Pure, zero
from tacit.core.accounting.sampled import Sampled
from tacit.core.errors import BadParameter

LEVELS = ["1e-9", "0.05", "0.5", "0.8", "0.999999"]


def one(atom, n=1):
    return Loss({atom: n}).distribution()


def holds(bounds, truth, slack=1e-12):
    return bounds.lower - slack <= truth <= bounds.upper + slack


def near(bounds, truth, share):
    return holds(bounds, truth) and bounds.upper - bounds.lower <= share * bounds.upper


@pytest.mark.parametrize(("epsilon", "k", "at"), [("4.2", 20, "-0.28374"), ("2.09", 20, "-35.664"), ("1", 1, "-0.5")])
def test_the_left_tail_is_outward_to_the_last_bit(epsilon, k, at):
    """1 less a bound is no float, as a rule."""
    found = one(Pure(Fraction(epsilon)), k).tail(at)
    with mpmath.workdps(60):
        e, x = mpmath.mpf(epsilon), mpmath.mpf(at)
        p = 1 / (1 + mpmath.exp(-e))
        up_ = [i for i in range(k + 1) if (2 * i - k) * e > x]
        truth = mpmath.fsum(mpmath.binomial(k, i) * p**i * (1 - p) ** (k - i) for i in up_)
        assert found.lower <= truth <= found.upper


@pytest.mark.parametrize("mu", [Fraction(1, 10), Fraction(1), Fraction(3)])
def test_a_gaussian_loss_is_normal(mu):
    d, m = one(GaussianNoise(mu**2)), float(mu)
    assert (d.mean, d.variance) == pytest.approx((m * m / 2, m * m), rel=1e-12)
    for at in np.linspace(-4, 5, 10):
        assert near(d.tail(m * m / 2 + at * m), norm.sf(at), 0.03)
    for p in LEVELS:
        found, truth = d.quantile(p), m * m / 2 + m * norm.ppf(float(p))
        assert holds(found, truth) and found.upper - found.lower < 0.004 * m
    assert holds(d.delta(1), GaussianNoise(mu**2).profile(1.0), 1e-15)


@pytest.mark.parametrize(("epsilon", "k"), [("1", 1), ("0.01", 5), ("0.1", 100), ("2", 7)])
def test_coins_are_binomial(epsilon, k):
    d, e = one(Pure(Fraction(epsilon)), k), float(epsilon)
    heads = binom(k, 1 / (1 + math.exp(-e)))
    for j in range(0, k + 1, max(1, k // 5)):
        assert near(d.tail(e * (2 * j + 1 - k)), heads.sf(j), 1e-3)
        at_an_atom = d.tail(e * (2 * j - k))
        assert holds(at_an_atom, heads.sf(j)) or holds(at_an_atom, heads.sf(j - 1))
    for p in LEVELS:
        found = d.quantile(p)
        assert holds(found, e * (2 * heads.ppf(float(p)) - k))
        assert found.upper - found.lower < 0.01 * d.deviation


def test_a_laplace_loss_in_closed_form():
    d, e = one(LaplaceNoise(Fraction(2))), 2.0
    for x in (-1.99, -0.5, 0.0, 0.8, 1.9):
        assert near(d.tail(x), 1 - math.exp((x - e) / 2) / 2, 0.01)
        assert x < 0 or near(d.delta(x), 1 - math.exp((x - e) / 2), 0.03)
    assert d.tail(2).upper == 0 and d.tail("-2.001").lower == 1
    assert d.mean == pytest.approx(e + math.exp(-e) - 1)


def enumerated(noise, shift, scores):
    """Losses and chances of x + Z against x + Z - shift, over the integers that matter."""
    points = [(math.log(noise.mass(z) / noise.mass(z - shift)), noise.mass(z)) for z in scores]
    assert sum(mass for _, mass in points) == pytest.approx(1, abs=1e-9)
    return points


OWN, OTHER = math.e / (math.e + 3), 1 / (math.e + 3)
DISCRETE = {
    "laplace": (
        DiscreteLaplaceNoise(Fraction(1), 2),
        enumerated(law.DiscreteLaplaceLaw(Fraction(2)), 2, range(-60, 60)),
    ),
    "gaussian": (
        DiscreteGaussianNoise(Fraction(1, 8), 1, Fraction(4)),
        enumerated(law.DiscreteGaussianLaw(Fraction(4)), 1, range(-16, 17)),
    ),
    "response": (KaryResponse(Fraction(1), 4), [(1.0, OWN), (-1.0, OTHER), (0.0, 2 * OTHER)]),
}


@pytest.mark.parametrize(("atom", "points"), DISCRETE.values(), ids=DISCRETE)
def test_two_discrete_mechanisms_against_enumeration(atom, points):
    d = one(atom, 2)
    pairs = [(a + b, p * q) for (a, p), (b, q) in itertools.product(points, points)]
    mean = sum(x * p for x, p in pairs)
    assert d.mean == pytest.approx(mean, rel=1e-7)
    assert d.variance == pytest.approx(sum((x - mean) ** 2 * p for x, p in pairs), rel=1e-7)
    for x in np.array([-0.81, 0.07, 1.05]) * max(1, d.deviation):
        assert holds(d.tail(x), sum(p for y, p in pairs if y > x), 1e-9)
        if x >= 0:
            assert holds(d.delta(x), sum(p * max(0, 1 - math.exp(x - y)) for y, p in pairs), 1e-9)


def test_sampling_in_both_directions():
    """One step: the loss is ln(1 - q + q e^(y - 1/2)), y ~ the mixture, when removing; its negative when adding."""
    q, loss = 0.1, Loss({Sampled(Fraction(1, 10), GaussianNoise(Fraction(1))): 1})
    remove, add = loss.distribution(), loss.distribution(reverse=True)
    for y in (0.5, 1.5, 3.0):
        x = math.log(1 - q + q * math.exp(y - 0.5))
        truth = q * norm.sf(y - 1) + (1 - q) * norm.sf(y)
        for found, exact in ((remove.tail(x), truth), (add.tail(-x), norm.cdf(y))):
            assert found.lower * 0.97 <= exact <= found.upper * 1.03  # of the pair on the grid
    assert remove.mean != add.mean and remove.infinite < 1e-20
    assert one(Pure(Fraction(1))).loss.distribution(reverse=True).mean == one(Pure(Fraction(1))).mean


@settings(max_examples=10, deadline=None)
@given(
    st.dictionaries(
        st.one_of(
            st.fractions(Fraction(1, 50), 2, max_denominator=50).map(Pure),
            st.fractions(Fraction(1, 50), 2, max_denominator=50).map(LaplaceNoise),
            st.fractions(Fraction(1, 50), 2, max_denominator=50).map(GaussianNoise),
        ),
        st.integers(1, 60),
        min_size=1,
        max_size=3,
    ),
    st.floats(0.001, 0.999),
)
def test_quantiles_invert_tails_and_the_hockey_stick_is_below_the_tail(terms, p):
    d = Loss(terms).distribution()
    found = d.quantile(p)
    assert found.lower <= found.upper < found.lower + 0.02 * d.deviation
    assert d.tail(found.upper).lower <= 1 - p + 1e-9 and d.tail(found.lower).upper >= 1 - p - 1e-9
    epsilon = max(0.0, d.mean + d.deviation)
    assert d.delta(epsilon).lower <= d.tail_delta(epsilon)
    assert d.times(3).mean == pytest.approx(3 * d.mean) and d.times(3).variance == pytest.approx(3 * d.variance)


def test_the_tail_is_a_true_delta_and_a_loose_one():
    d = (100 * tacit.Laplace(epsilon="0.1").loss()).distribution()
    for epsilon in (1, 2, 3):
        assert d.loss.delta(epsilon) <= d.delta(epsilon).upper < d.tail_delta(epsilon) / 2


def test_losses_concentrate():
    d = one(Pure(Fraction(1, 10)))
    spreads = [(d.times(k).quantile("0.99").upper - d.times(k).quantile("0.01").lower) / k for k in (10, 160)]
    assert spreads[1] == pytest.approx(spreads[0] / 4, rel=0.2)


def test_a_failed_promise_is_an_infinite_loss():
    d = one(Approximate(Fraction(1), Fraction(1, 100)), 2)
    assert d.infinite == pytest.approx(0.02)
    assert d.tail(2).lower == pytest.approx(0.02) == d.tail(2).upper
    assert d.delta(2).upper == pytest.approx(0.02)
    assert d.quantile("0.99").lower == math.inf and d.quantile("0.97").upper <= 2 + 1e-9
    assert one(Approximate(Fraction(1), Fraction(1))).quantile("0.5").lower == math.inf


def test_nothing_done_is_no_loss():
    d = zero.distribution()
    assert (d.mean, d.variance, d.infinite, d.delta(0).upper, d.tail(0).upper) == (0, 0, 0, 0, 0)
    assert d.tail("-0.1").lower == 1 and d.quantile("0.3").upper == 0


def test_only_what_is_attained_has_a_lower_end():
    """The exponential mechanism is dominated by its pair: 1071 of them are proven to be far below it."""
    d = one(BoundedRange(Fraction(889, 10_000)), 1071)
    at = d.loss.epsilon("1e-6")
    assert not d.attained and d.delta(at).lower == 0 < d.loss.delta(at) < d.delta(at).upper
    for atom in (Pure(Fraction(1)), Approximate(Fraction(1), Fraction(1, 100)), GaussianPrivacy(Fraction(1))):
        assert not one(atom).attained and one(atom).delta("0.5").lower == 0
    for atom in (KaryResponse(Fraction(1), 2), LaplaceNoise(Fraction(1)), GaussianNoise(Fraction(1))):
        assert one(atom, 3).attained and one(atom, 3).delta("0.5").lower > 0
    assert not (one(GaussianNoise(Fraction(1))).loss + one(Pure(Fraction(1))).loss).distribution().attained


def test_promises_and_samples_of_what_is_only_dominated_have_no_lower_end():
    wide, vector = tacit.Gaussian(rho="1e-12"), tacit.Gaussian(rho="0.1", sensitivity=tacit.ADD_REMOVE.counts(2))
    promise = tacit.losses.gaussian(1)
    sampled = [tacit.losses.poisson_sample(loss, "0.1") for loss in (promise, wide.loss(), vector.loss())]
    again = tacit.losses.poisson_sample(sampled[0], "0.5")
    for loss in (promise, *sampled, again, tacit.losses.poisson_sample(tacit.losses.pure(1), "0.1")):
        assert not loss.distribution().attained and loss.distribution().delta("0.1").lower == 0
    noise = tacit.mix("sampled 0.1 gaussian mu=1, sampled 0.1 laplace eps=1")
    assert noise.distribution().attained and noise.distribution().delta("0.1").lower > 0


@settings(max_examples=25, deadline=None)
@given(
    st.dictionaries(
        st.one_of(
            *(
                st.fractions(Fraction(1, 50), 2, max_denominator=50).map(kind)
                for kind in (
                    Pure,
                    BoundedRange,
                    LaplaceNoise,
                    GaussianNoise,
                    GaussianPrivacy,
                )
            ),
            st.just(DiscreteGaussianVector(Fraction(1, 8), Fraction(4), 2)),
            st.just(Sampled(Fraction(1, 10), GaussianNoise(Fraction(1)))),
        ),
        st.sampled_from([1, 2, 5, 300]),
        min_size=1,
        max_size=2,
    ),
    st.floats(0, 5),
)
def test_no_lower_end_is_above_a_proven_delta(terms, epsilon):
    d = Loss(terms).distribution()
    assert d.delta(epsilon).lower <= d.loss.delta(epsilon) * (1 + 1e-9)


def test_density_is_the_blurred_law():
    d = one(Pure(Fraction(1)), 3)
    points = np.linspace(-5, 5, 501)
    heads = binom(3, 1 / (1 + math.exp(-1)))
    truth = sum(heads.pmf(j) * norm.pdf(points, 2 * j - 3, 0.1) for j in range(4))
    assert np.allclose(d.density(points, 0.1), truth, atol=1e-6)
    sampled = one(Sampled(Fraction(1, 10), GaussianNoise(Fraction(1))), 50)
    points = np.linspace(sampled.mean - 8 * sampled.deviation, sampled.mean + 20 * sampled.deviation, 801)
    density = sampled.density(points, sampled.deviation / 10)
    assert np.trapezoid(density, points) == pytest.approx(1, abs=1e-3)


def test_what_is_refused():
    with pytest.raises(BadParameter, match="dominating pair"):
        Loss({Concentrated(Fraction(1)): 1}).distribution()
    d = Distribution(Loss({Pure(Fraction(1)): 1}))
    for bad in (-1, "x", None, math.nan):
        with pytest.raises(BadParameter, match="epsilon"):
            d.delta(bad)
    for bad in (0, 1, 2, "x"):
        with pytest.raises(BadParameter, match="p must"):
            d.quantile(bad)
    with pytest.raises(BadParameter):
        d.times(1.5)
