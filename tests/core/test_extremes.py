"""The very large and the very small: right upper bounds, or infinity, and never a warning.  About 15 s."""

import math
import re
from fractions import Fraction

import mpmath
import pytest
from typer.testing import CliRunner

import tacit
from tacit.cli import app
from tacit.core.atoms import (
    Approximate,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    GaussianNoise,
    KaryResponse,
    LaplaceNoise,
    Sampled,
)
from tacit.core.exact import up
from tacit.core.loss import Loss, Pure
from tacit.core.pairs import LaplaceShift
from tacit.core.pld import Sum
from tacit.mix import mix

pytestmark = pytest.mark.filterwarnings("error")
SIZES = [Fraction(0), Fraction(1, 10**300), Fraction(1, 10**12), Fraction(300), Fraction(1000), Fraction(10**300)]
DELTAS = ("1e-300", "1e-6", "0.9")


def times(n, atom):
    return Loss({atom: n})


@pytest.mark.parametrize("epsilon", SIZES, ids=lambda e: f"{float(e):g}")
@pytest.mark.parametrize("count", [1, 5, 10**9])
@pytest.mark.parametrize(
    "make",
    [Pure, LaplaceNoise, lambda e: KaryResponse(e, 7), lambda e: DiscreteLaplaceNoise(e, 3) if e else Pure(e)],
    ids=["coin", "laplace", "response", "discrete laplace"],
)
def test_pure_losses_of_any_size(make, epsilon, count):
    """At delta = 0 the sum, exactly; elsewhere no more than that, and never less than what one mechanism costs."""
    loss, one = times(count, make(epsilon)), make(epsilon)
    whole = up(count * epsilon)
    assert whole <= loss.epsilon(0) <= whole * (1 + 1e-15)
    found = [loss.epsilon(delta) for delta in DELTAS]
    assert found == sorted(found, reverse=True) and found[0] <= loss.epsilon(0)
    for delta, answer in zip(DELTAS, found, strict=True):
        assert answer == math.inf or one.profile(answer) <= float(delta) * (1 + 1e-9) + 1e-15
    for at in (0, 1, 5000):
        assert one.profile(float(at)) * (1 - 1e-9) <= loss.delta(at) <= 1
    assert loss.delta(Fraction(count) * epsilon) == 0


def test_nothing_lost_is_nothing():
    for atom in (
        Pure(Fraction(0)),
        LaplaceNoise(Fraction(0)),
        KaryResponse(Fraction(0), 3),
        GaussianNoise(Fraction(0)),
    ):
        for count in (1, 100):
            assert times(count, atom).epsilon("1e-9") == times(count, atom).delta(0) == 0


@pytest.mark.parametrize("mu2", [Fraction(1, 10**300), Fraction(1, 10**20), Fraction(10**4), Fraction(10**300)])
def test_gaussian_noise_of_any_size(mu2):
    with mpmath.workdps(700):
        mu = mpmath.sqrt(mpmath.mpf(mu2.numerator) / mu2.denominator)
        for count in (1, 50):
            loss, total = times(count, GaussianNoise(mu2)), mu * mpmath.sqrt(count)
            for delta in DELTAS:
                found = loss.epsilon(delta)
                far = -total / 2 - found / total
                if found and mu2 < 10**100:
                    truth = mpmath.ncdf(total / 2 - found / total) - mpmath.exp(found) * mpmath.ncdf(far)
                    assert truth <= mpmath.mpf(delta)
                assert math.isfinite(found)
            assert loss.delta(0) >= min(0.99, float(total) * 0.38)


@pytest.mark.parametrize("sigma2", [Fraction(1, 10**12), Fraction(1, 10**4), Fraction(1, 50), Fraction(1, 5)])
def test_discrete_gaussian_noise_that_is_hardly_there(sigma2):
    """Nearly all mass at 0: what moves by 1 is told apart, and the loss is 1 / (2 sigma^2)."""
    loss = DiscreteGaussianNoise(1 / (2 * sigma2), 1, sigma2)
    certain = float(1 / (2 * sigma2))
    for count in (1, 7):
        found = times(count, loss).epsilon("1e-6")
        assert count * certain * (1 - 1e-6) - 1e-5 <= found < math.inf
        assert times(count, loss).delta(0) >= 0.8


@pytest.mark.parametrize("sigma2", [2**40, 2**62])
def test_discrete_gaussian_noise_that_is_very_wide(sigma2):
    """As good as continuous: to a relative 1 / sigma^2."""
    discrete, smooth = (
        DiscreteGaussianNoise(Fraction(1, 2 * sigma2), 1, Fraction(sigma2)),
        GaussianNoise(Fraction(1, sigma2)),
    )
    for count in (1, 10**4):
        for delta in ("1e-300", "1e-12"):
            exact = times(count, smooth).epsilon(delta)
            assert exact * (1 - 1e-3) <= times(count, discrete).epsilon(delta) <= exact * 1.03 + 1e-12
    wide = tacit.Gaussian(sigma=2**31).loss()
    assert 1e-10 < wide.delta(0) < 2e-10 and wide.epsilon("1e-6") == 0


@pytest.mark.parametrize("mu", [30, 100, 1000, 10**6])
def test_sampled_noise_that_tells_all(mu):
    """Each step tells a sampled record for certain: k steps do with probability 1 - (1 - q)^k."""
    loss = times(1000, Sampled(Fraction(1, 100), GaussianNoise(Fraction(mu * mu))))
    told = 1 - 0.99**1000
    assert loss.delta(10) >= told * (1 - 1e-9)
    assert mu**2 / 2 <= loss.epsilon("1e-6") < math.inf
    noise = times(1000, Sampled(Fraction(1, 100), LaplaceNoise(Fraction(mu))))
    assert noise.delta(10) >= told * (1 - 1e-3)  # its losses spread below the largest
    assert mu <= noise.epsilon("1e-6") <= 1000 * mu
    assert noise.epsilon() <= 1000 * mu


def test_sampling_never_hurts_a_pure_loss():
    for epsilon in (Fraction(1, 10**9), Fraction(1), Fraction(650), Fraction(10**5)):
        for rate in (Fraction(1, 10**6), Fraction(1, 2), Fraction(999, 1000)):
            found, e = Sampled(rate, LaplaceNoise(epsilon)).pure(), mpmath.mpf(epsilon.numerator) / epsilon.denominator
            with mpmath.workdps(50):
                truth = e + mpmath.log(
                    mpmath.mpf(rate.numerator) / rate.denominator * -mpmath.expm1(-e) + mpmath.exp(-e)
                )
                assert truth * (1 - mpmath.mpf(10) ** -14) <= mpmath.mpf(found.numerator) / found.denominator <= e


def test_groups_of_weak_promises_fail_rather_than_overflow():
    assert Approximate(Fraction(1000), Fraction(1, 10**9)).group(2).failure() == 1
    assert Approximate(Fraction(1), Fraction(1, 10**9)).group(3).failure() > Fraction(11, 10**9)
    assert times(5, Approximate(Fraction(1000), Fraction(1, 10**9))).epsilon(0) == math.inf
    assert times(5, Approximate(Fraction(1000), Fraction(1, 10**9))).epsilon("1e-6") <= 5000


def test_losses_too_large_for_floats_to_tell_apart_are_left_to_other_views():
    total = Sum({LaplaceShift(1e9): 5})
    assert not total.tractable and total.upper_epsilon(1e-6) == total.largest
    assert total.lower_epsilon(1e-6) == total.lower_delta(1.0) == 0 and total.upper_delta(1.0) == 1
    assert times(5, GaussianNoise(Fraction(10**12))).epsilon("1e-6") < 2.6e12


MIXES = [
    "1000 x sampled 0.01 gaussian mu=30", "3 x sampled 0.999 laplace eps=750", "2 x pure eps=1000",
    "5 x response eps=1000 categories=1000000", "2 x approximate eps=1e6 delta=1e-9",
    "3 x discrete-gaussian sigma=1e-6",
    "1000 x discrete-gaussian sigma=1e6", "2 x discrete-laplace eps=1e6", "999999999 x laplace eps=1e-6",
    "7 x laplace eps=1e6, 3 x gaussian mu=1e-6", "1000000 x gaussian mu=1e6", "2 x zcdp rho=1e6 delta=1e-9",
    "9 x exponential eps=1e6", "4 x sampled 1e-6 gaussian mu=1e6",
    "100 x sampled 0.01 gaussian mu=20, 2 x laplace eps=1",
]  # fmt: skip


@pytest.mark.parametrize("text", MIXES)
def test_the_command_line_composes_anything(text):
    result = CliRunner().invoke(app, ["compose", text])
    assert result.exit_code == 0, result.output
    assert not re.search(r"\bnan\b", result.output)
    assert mix(text).epsilon("1e-6") <= mix(text).epsilon("1e-12") <= mix(text).epsilon(0)
