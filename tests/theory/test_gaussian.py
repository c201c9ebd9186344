from __future__ import annotations

import math

import mpmath as mp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from tacit.composition import zcdp_to_epsilon
from tacit.core.errors import BadParameter
from tacit.theory import gaussian

from . import STEADY

MU = st.floats(1e-3, 20)
EPSILON = st.floats(1e-3, 50)
DELTA = st.floats(1e-15, 0.5)


def exact_profile(epsilon: float, mu: float) -> float:
    with mp.workdps(60):
        e, m = mp.mpf(epsilon), mp.mpf(mu)
        return float(mp.ncdf(m / 2 - e / m) - mp.exp(e) * mp.ncdf(-m / 2 - e / m))


@pytest.mark.parametrize("mu", [0.01, 0.2, 1.0, 5.0, 40.0])
@pytest.mark.parametrize("z", [0.0, 0.5, 3.0, 10.0, 30.0])
def test_profile_to_its_last_digits(mu: float, z: float) -> None:
    epsilon = mu * mu / 2 + z * mu if z else 0.0
    assert gaussian.profile(epsilon, mu) == pytest.approx(exact_profile(epsilon, mu), rel=1e-11)


@STEADY
@given(EPSILON, EPSILON, MU, MU)
def test_profile_falls_in_epsilon_and_grows_in_mu(e1: float, e2: float, m1: float, m2: float) -> None:
    (e1, e2), (m1, m2) = sorted((e1, e2)), sorted((m1, m2))
    assert gaussian.profile(e2, m1) <= gaussian.profile(e1, m1) * (1 + 1e-9)
    assert gaussian.profile(e1, m1) <= gaussian.profile(e1, m2) * (1 + 1e-9)


@STEADY
@given(EPSILON, MU)
def test_tail_bound_is_above_the_profile(epsilon: float, mu: float) -> None:
    assert 0 <= gaussian.profile(epsilon, mu) <= gaussian.tail_delta(epsilon, mu)


@STEADY
@given(DELTA, MU)
def test_epsilon_inverts_profile(delta: float, mu: float) -> None:
    epsilon = gaussian.epsilon_at(delta, mu)
    if epsilon:
        assert gaussian.profile(epsilon, mu) == pytest.approx(delta, rel=1e-8)
    else:
        assert gaussian.profile(0.0, mu) <= delta


@STEADY
@given(EPSILON, st.floats(1e-15, 1 - 1e-9), st.floats(0.1, 10))
def test_sigma_inverts_profile(epsilon: float, delta: float, sensitivity: float) -> None:
    sigma = gaussian.sigma(epsilon, delta, sensitivity)
    assert gaussian.profile(epsilon, sensitivity / sigma) == pytest.approx(delta, rel=1e-8)


@STEADY
@given(st.floats(1e-3, 1), DELTA)
def test_classical_sigma_is_never_less(epsilon: float, delta: float) -> None:
    assert gaussian.classical_sigma(epsilon, delta) >= gaussian.sigma(epsilon, delta)


def test_classical_sigma_is_refused_where_nothing_is_proved() -> None:
    with pytest.raises(BadParameter, match="epsilon must be at most 1"):
        gaussian.classical_sigma(1.5, 1e-6)


@STEADY
@given(st.floats(1e-9, 0.999), st.integers(1, 10**6), st.floats(0.01, 100))
def test_errors(beta: float, k: int, sigma: float) -> None:
    exact = gaussian.simultaneous_error(beta, k, sigma)
    assert exact <= gaussian.union_error(beta, k, sigma)
    assert 2 * ndtr(-exact / sigma) == pytest.approx(-math.expm1(math.log1p(-beta) / k), rel=1e-9)
    assert gaussian.error(beta, sigma) == gaussian.simultaneous_error(beta, 1, sigma)


def test_the_loss_is_concentrated() -> None:
    assert gaussian.zcdp(0.2) == pytest.approx(0.02)
    assert gaussian.renyi_divergence(10.0, 0.2) == pytest.approx(0.2)


@STEADY
@given(DELTA, st.floats(1e-2, 3))
def test_zcdp_conversion_bounds_the_gaussian(delta: float, mu: float) -> None:
    assert gaussian.epsilon_at(delta, mu) <= zcdp_to_epsilon(gaussian.zcdp(mu), delta) + 1e-12


@pytest.mark.parametrize("mu", [1e-50, 1e-12, 1e-8, 1e-3, 0.5, 0.999])
@pytest.mark.parametrize("at", [0, 0.1, 1, 5, 30])
def test_the_profile_keeps_its_digits_where_mu_is_small(mu: float, at: float) -> None:
    epsilon = at * mu
    with mp.workdps(130):
        m, e = mp.mpf(mu), mp.mpf(epsilon)
        truth = mp.ncdf(m / 2 - e / m) - mp.exp(e) * mp.ncdf(-m / 2 - e / m)
        assert abs(gaussian.profile(epsilon, mu) / truth - 1) < 1e-12
