"""The very large and the very small: right upper bounds, or infinity, and never a warning.  About 15 s."""

import math
import re
from fractions import Fraction

import mpmath
import pytest
from typer.testing import CliRunner

import tacit
from tacit.cli import app
from tacit.core.accounting.atoms import (
    Approximate,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    GaussianNoise,
    KaryResponse,
    LaplaceNoise,
)
from tacit.core.accounting.loss import Loss, Pure
from tacit.core.accounting.sampled import Sampled
from tacit.core.exact import up
from tacit.core.pld.composition_bounds import Sum
from tacit.core.pld.dominating_pairs import DiscreteLaplaceShift, LaplaceShift
from tacit.mix import mix

pytestmark = pytest.mark.filterwarnings("error")
SIZES = [Fraction(0), Fraction(1, 10**300), Fraction(1, 10**12), Fraction(300), Fraction(1000), Fraction(10**300)]
DELTAS = ("1e-300", "1e-6", "0.9")


def times(n, atom):
    return Loss({atom: n})


@pytest.mark.parametrize(
    ("mu", "epsilon"), [("1", "37.9"), ("1", "38.2"), ("0.01", "0.37"), ("30", "1600"), ("1", "50")]
)
def test_the_profile_of_gaussian_noise_is_outward_where_floats_underflow(mu, epsilon):
    found = times(1, GaussianNoise(Fraction(mu) ** 2)).delta(epsilon)
    with mpmath.workdps(60):
        m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
        truth = mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)
        assert truth <= found <= max(truth * 2000, mpmath.mpf("1e-322"))


@pytest.mark.parametrize("shift", [1, 2, 3, 8])
@pytest.mark.parametrize("epsilon", ["1e-15", "1e-9", "0.009", "0.5", "3"])
def test_mean_losses_keep_their_digits(epsilon, shift):
    with mpmath.workdps(60):
        e = mpmath.mpf(epsilon)
        truth = e - 1 + mpmath.exp(-e)
        assert math.isclose(LaplaceShift(float(epsilon)).mean, truth, rel_tol=1e-13)
        r, q = e / shift, mpmath.exp(-e / shift)
        masses = [1, *((1 - q) * q**k for k in range(1, shift)), q**shift]
        truth = mpmath.fsum((shift - 2 * k) * r * m for k, m in enumerate(masses)) / (1 + q)
    found = DiscreteLaplaceShift(Fraction(shift) / Fraction(epsilon), shift).mean
    assert math.isclose(found, truth, rel_tol=1e-13)


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
    total = loss.epsilon(0)
    assert total >= whole or Fraction(repr(total)) == count * epsilon  # decimals are exact
    assert total <= whole * (1 + 1e-15)
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
    """Nearly all mass at 0: a move by 1 is seen, and the loss is 1 / (2 sigma^2)."""
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
    """Each step reveals a sampled record for certain, so k steps reveal it with probability 1 - (1 - q)^k."""
    loss = times(1000, Sampled(Fraction(1, 100), GaussianNoise(Fraction(mu * mu))))
    revealed = 1 - 0.99**1000
    assert loss.delta(10) >= revealed * (1 - 1e-9)
    assert mu**2 / 2 <= loss.epsilon("1e-6") < math.inf
    noise = times(1000, Sampled(Fraction(1, 100), LaplaceNoise(Fraction(mu))))
    assert noise.delta(10) >= revealed * (1 - 1e-3)  # its losses spread below the largest
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


def test_more_mechanisms_than_rounding_allows_are_left_to_other_views():
    """Errors of 2^-53 in the exponent, for each of 10^18 coins, would be anything."""
    loss = times(10**18, Pure(Fraction(1, 10**9)))  # normal, of mean 1/2 and variance 1
    assert loss.delta(0) >= 0.38
    quantile = loss.distribution().quantile("0.9")
    assert quantile.lower <= 1.7 and quantile.upper >= 1.8
    assert loss.distribution().tail(1).upper >= 0.3


@pytest.mark.parametrize(
    "noise", [GaussianNoise(Fraction(1)), GaussianNoise(Fraction(1, 10**8)), LaplaceNoise(Fraction(1, 5000))]
)
@pytest.mark.parametrize("rate", [Fraction(1, 10**17), Fraction(1, 10**13), Fraction(1, 10**8)])
@pytest.mark.parametrize("count", [2, 10**6])
def test_rare_samples_cost_more_than_one_and_less_than_all(noise, rate, count):
    """What sampling leaves of the loss may be far below one ulp of the masses it is a difference of."""
    one, all_of_them = Sampled(rate, noise), times(count, Sampled(rate, noise))
    assert one.profile(0.0) <= all_of_them.delta(0) <= count * one.profile(0.0) * (1 + 1e-6)


def test_noise_next_to_none_is_infinitely_costly():
    loss = times(1, GaussianNoise(Fraction(10) ** 320))
    assert loss.epsilon(1e-6) == math.inf and loss.delta(1) == 1


def test_profiles_are_rounded_outward_where_exponents_are_large():
    with mpmath.workdps(60):
        epsilon, shift, at = Fraction("27.141112155852223"), 329, 27.14111215585185
        rate = mpmath.mpf(epsilon.numerator) / epsilon.denominator / shift
        turn = math.floor((shift + at / float(rate)) / 2) + 1  # the best event: this and all above
        near = 1 - mpmath.exp(-(shift - turn + 1) * rate) / (1 + mpmath.exp(-rate))
        truth = near - mpmath.exp(at) * mpmath.exp(-turn * rate) / (1 + mpmath.exp(-rate))
        assert truth > 0 and DiscreteLaplaceNoise(epsilon, shift).profile(at) >= truth
    assert times(5, Pure(1 + Fraction(1, 2**52))).delta(Fraction(5.0 + 2.0**-50)) >= 4e-17
    sigma2 = Fraction("720.4530879580277")
    assert DiscreteGaussianNoise(72**2 / (2 * sigma2), 72, sigma2).profile(99.54677730457504) >= 1.0e-281


def test_what_is_lost_never_rounds_to_nothing():
    least = times(1, Sampled(Fraction("5e-324"), LaplaceNoise(Fraction(1, 100))))
    assert least.epsilon(0) > 0 and least.delta(0) > 0
    tiny = times(1, Pure(Fraction(1, 10**200))).distribution()
    assert tiny.tail(0).upper >= 0.5 and tiny.delta(0).upper >= 4e-201


@pytest.mark.parametrize("below", [1e-16, 1e-12, 1e-7, 1e-3])
@pytest.mark.parametrize("mu2", ["0.000001", "0.04463", "8.169", "60"])
def test_a_delta_just_below_that_of_epsilon_zero(mu2, below):
    noise = GaussianNoise(Fraction(mu2))
    delta = noise.profile(0.0) * (1 - below)
    assert 0 <= noise.epsilon_at(delta) < 200 and noise.profile(noise.epsilon_at(delta)) <= delta
    assert 0 < tacit.composition.mu_for("1e-100", "1e-5") < 3e-5


def test_long_shifts_of_discrete_noise_are_composed_in_no_time():
    """On a fine grid a sensitivity is many steps; the answer is that of continuous noise."""
    loss = 2 * tacit.Laplace(epsilon=1, sensitivity=100, grid=Fraction(1, 2**30)).loss()
    assert loss.epsilon(1e-6) == pytest.approx(times(2, LaplaceNoise(Fraction(1))).epsilon(1e-6), rel=1e-6)


@pytest.mark.parametrize("text", ["gaussian rho=1", "discrete-gaussian rho=1", "sampled 0.1 gaussian rho=1"])
def test_epsilons_beyond_all_reason(text):
    assert 0 < mix(text).delta(1e160) < 1e-300


def test_weak_noise_under_sampling_is_quick():
    assert times(10**6, Sampled(Fraction(1, 1000), GaussianNoise(Fraction(1, 10**300)))).delta(0) <= 1
    answer = times(10**6, Sampled(Fraction(1, 100), GaussianNoise(Fraction(1, 10**12)))).epsilon(1e-6)
    assert 1e-6 < answer < 2e-5  # about normal, of mu = 10^-5
    assert times(1, GaussianNoise(Fraction(0))).epsilon(1e-310) == 0


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(40), Fraction(400)])
def test_the_mean_of_a_long_shift_is_no_less_than_its_sum(epsilon):
    shift = 2**16 + 1
    pair = DiscreteLaplaceShift(shift / epsilon, shift)
    losses, masses = pair._losses
    assert 0 <= pair.mean / math.fsum(losses * masses) - 1 <= 1e-6


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1, 3), Fraction(7, 10), Fraction(10**20 + 1, 10**20)])
def test_no_pair_is_of_less_than_the_atom(epsilon):
    for atom in (Pure(epsilon), LaplaceNoise(epsilon), KaryResponse(epsilon, 4)):
        assert all(pair.largest >= epsilon for pair in atom.pairs(1e-3))


@pytest.mark.parametrize("name", ["error", "classical_error"])
def test_errors_of_very_many_at_the_least_beta(name):
    beta, many = "1e-300", 1 << 62
    sparse = {"threshold": 0, "epsilon": 1, "noise": "laplace", "queries": many}
    found = {
        getattr(tacit.Laplace(epsilon=1), name)(beta, many): 733.8,
        getattr(tacit.Gaussian(sigma=10), name)(beta, many): 383.3,
        getattr(tacit.AboveThreshold(**sparse), name)(beta): 5876,
        getattr(tacit.Sparse(count=2, **sparse), name)(beta): 11763,
        getattr(tacit.NumericSparse(count=2, **sparse), name)(beta): 13245,
        getattr(tacit.GaussianSparse(threshold=0, queries=many, sigma_threshold=9, sigma_query=9), name)(beta): 681,
        getattr(tacit.Quantiles(epsilon=1, quantiles=["0.5"], cells=many), name)(beta): 733.8,
    }
    assert all(most / 3 < error <= most * 1.002 for error, most in found.items()), found
