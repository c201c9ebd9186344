from __future__ import annotations

import math
from itertools import pairwise

import mpmath as mp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.errors import BadParameter
from tacit.theory import laplace

from . import STEADY, integral

SCALE = st.floats(1e-3, 1e3)
UNIT = st.floats(1e-9, 1 - 1e-9)
COUNT = st.integers(1, 500)


@STEADY
@given(SCALE, st.floats(-20, 20), st.floats(-20, 20))
def test_density_integrates_to_cdf(scale: float, first: float, second: float) -> None:
    a, b = sorted((first * scale, second * scale))
    middle = min(max(a, 0.0), b)
    mass = sum(integral(lambda x: laplace.density(x, scale), *ends) for ends in ((a, middle), (middle, b)))
    assert laplace.cdf(b, scale) - laplace.cdf(a, scale) == pytest.approx(mass, rel=1e-9, abs=1e-15)


@STEADY
@given(UNIT, SCALE)
def test_quantile_inverts_cdf(p: float, scale: float) -> None:
    assert laplace.cdf(laplace.quantile(p, scale), scale) == pytest.approx(p, rel=1e-12)


@STEADY
@given(st.floats(0, 30), SCALE)
def test_tail_is_both_ends_of_cdf(t: float, scale: float) -> None:
    t *= scale
    assert laplace.tail(t, scale) == pytest.approx(2 * laplace.cdf(-t, scale), rel=1e-12)


def test_moments() -> None:
    assert 2 * integral(lambda x: x * laplace.density(x, 3.0), 0, 120) == pytest.approx(3.0, rel=1e-9)
    variance = 2 * integral(lambda x: x * x * laplace.density(x, 3.0), 0, 120)
    assert laplace.variance(3.0) == pytest.approx(variance, rel=1e-9)


@STEADY
@given(UNIT, COUNT, SCALE)
def test_exact_error_is_a_quantile_and_at_most_the_classical(beta: float, k: int, scale: float) -> None:
    exact = laplace.simultaneous_error(beta, k, scale)
    assert exact <= laplace.union_error(beta, k, scale) * (1 + 1e-9)
    assert (1 - laplace.tail(exact, scale)) ** k == pytest.approx(1 - beta, rel=1e-9)


@STEADY
@given(st.floats(0, 60), SCALE)
def test_sums_of_one_and_of_two(t: float, scale: float) -> None:
    assert laplace.sum_tail(t * scale, 1, scale) == pytest.approx(math.exp(-t), rel=1e-13)
    assert laplace.sum_tail(t * scale, 2, scale) == pytest.approx((1 + t / 2) * math.exp(-t), rel=1e-12)


@pytest.mark.parametrize(("terms", "t"), [(3, 0.5), (7, 20.0), (40, 3.0), (40, 90.0)])
def test_sum_tail_against_the_inverted_characteristic_function(terms: int, t: float) -> None:
    with mp.workdps(30):
        # Pr[S >= t] = 1/2 - (1/pi) Integral_0^oo sin(ut)/u (1+u^2)^-m du
        ends = mp.linspace(0, 12, 40) if terms > 10 else [0, *(mp.pi * j / t for j in range(1, 110))]
        inner = mp.quad(lambda u: mp.sinc(u * t) * t * (1 + u * u) ** -terms, ends)
        exact = float(1 - 2 * inner / mp.pi)
    assert laplace.sum_tail(t, terms, 1.0) == pytest.approx(exact, rel=1e-10, abs=1e-18)


@STEADY
@given(UNIT, st.integers(1, 2000), SCALE)
def test_sum_error_is_a_quantile_and_at_most_the_classical(beta: float, terms: int, scale: float) -> None:
    exact = laplace.sum_error(beta, terms, scale)
    assert 0 < exact <= laplace.sum_error_bound(beta, terms, scale)
    assert laplace.sum_tail(exact, terms, scale) == pytest.approx(beta, rel=1e-9)


@STEADY
@given(st.floats(0, 40), st.floats(0, 40), st.integers(1, 300))
def test_sum_tail_falls(first: float, second: float, terms: int) -> None:
    near, far = sorted((first, second))
    assert laplace.sum_tail(far, terms, 1.0) <= laplace.sum_tail(near, terms, 1.0) * (1 + 1e-13)
    assert laplace.sum_tail(0.0, terms, 1.0) == pytest.approx(1, rel=1e-13)


def test_histogram_queries_are_sums() -> None:
    found = laplace.histogram_query_error(0.05, 1024, 10_000, 0.5, queries=100, sensitivity=2.0)
    assert found == pytest.approx(math.sqrt(8 * 1024 * math.log(4000)) * 2 / (10_000 * 0.5), rel=1e-14)


def hockey_stick(epsilon: float, epsilon0: float) -> float:
    """Where the one density exceeds e^eps times the other: left of a point, or nowhere."""
    with mp.workdps(40):
        e, e0 = mp.mpf(epsilon), mp.mpf(epsilon0)

        def excess(x: mp.mpf) -> mp.mpf:
            return max(0, mp.exp(-abs(x)) - mp.exp(e - abs(x - e0))) / 2

        return float(mp.quad(excess, [-100, -10, 0, (e0 - e) / 2, e0, e0 + 50])) if e < e0 else 0.0


@pytest.mark.parametrize(("epsilon", "epsilon0"), [(0.0, 0.3), (0.2, 1.0), (1.9, 2.0), (2.0, 2.0), (3, 2)])
def test_profile_is_the_hockey_stick(epsilon: float, epsilon0: float) -> None:
    assert laplace.profile(epsilon, epsilon0) == pytest.approx(hockey_stick(epsilon, epsilon0), rel=1e-11)


@pytest.mark.parametrize("epsilon0", [1e-5, 0.1, 1.0, 7.0])
@pytest.mark.parametrize("order", [1.0001, 1.5, 2.0, 32.0])
def test_divergences_against_integrals(order: float, epsilon0: float) -> None:
    with mp.workdps(40):
        a, e0 = mp.mpf(order), mp.mpf(epsilon0)
        ends = [-200, -20, -2, 0, e0, e0 + 2, e0 + 20, e0 + 200]
        power = mp.quad(lambda x: mp.exp(-a * abs(x) + (a - 1) * abs(x - e0)) / 2, ends)
        mean = mp.quad(lambda x: mp.exp(-abs(x)) / 2 * (abs(x - e0) - abs(x)), ends)
        renyi = float(mp.log(power) / (a - 1))
    assert laplace.renyi_divergence(order, epsilon0) == pytest.approx(renyi, rel=1e-11)
    assert laplace.kl_divergence(epsilon0) == pytest.approx(float(mean), rel=1e-12)


@STEADY
@given(st.floats(1.0001, 1e4), st.floats(1.0001, 1e4), st.floats(1e-6, 50))
def test_renyi_grows_from_the_mean_loss_to_the_largest(a: float, b: float, epsilon0: float) -> None:
    low, high = sorted((a, b))
    values = [
        laplace.kl_divergence(epsilon0),
        laplace.renyi_divergence(low, epsilon0),
        laplace.renyi_divergence(high, epsilon0),
        epsilon0,
    ]
    assert all(x <= y * (1 + 1e-12) for x, y in pairwise(values))


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 3.0, 8.0])
def test_staircase_cost_of_its_own_density(epsilon: float) -> None:
    e = math.exp(-epsilon)
    step = 1 / (1 + math.exp(epsilon / 2))
    height = (1 - e) / (2 * (step + e * (1 - step)))
    cost = 0.0
    for k in range(math.ceil(60 / epsilon)):
        cost += height * e**k * ((k + step) ** 2 - k**2 + e * ((k + 1) ** 2 - (k + step) ** 2))
    assert laplace.staircase_magnitude(epsilon) == pytest.approx(cost, rel=1e-10)
    assert laplace.staircase_magnitude(epsilon, 3.0) < laplace.scale_for(epsilon, 3.0)


def test_no_overflow_at_great_epsilon() -> None:
    assert laplace.staircase_magnitude(2000.0) == 0.0
    assert laplace.renyi_divergence(100.0, 1e5) == pytest.approx(1e5, rel=1e-6)
    assert laplace.kl_divergence(1e100) == 1e100


def test_a_sum_that_is_nearly_always_allowed_to_err_errs_by_nothing() -> None:
    assert laplace.sum_error(1 - 2**-53, 1000, 1.0) == 0.0
    with pytest.raises(BadParameter, match="terms must be at most 16777216"):
        laplace.sum_tail(7, 10**15, 1)
    assert laplace.union_error("1e-300", 10**9, 1) == pytest.approx(math.log(1e9) + 300 * math.log(10))
