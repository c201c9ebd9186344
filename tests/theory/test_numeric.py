"""The integral of a log-concave function and the differences that cancel, against closed forms."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.theory._numeric import exp_excess, increasing_root, legendre, log_excess, log_integral
from tacit.theory._validate import Vector

from . import STEADY


@STEADY
@given(st.floats(-1e4, 1e4), st.floats(1e-6, 1e6))
def test_a_normal_density_from_any_kink(kink: float, width: float) -> None:
    found = log_integral(lambda x: -((x - 3) ** 2) / 2, [kink], width)
    assert found == pytest.approx(math.log(2 * math.pi) / 2, rel=1e-12)


@STEADY
@given(st.floats(0.1, 50), st.floats(0, 100))
def test_a_gamma_density_on_a_half_line(shape: float, low: float) -> None:
    def log_f(x: Vector) -> Vector:
        y = x - low
        with np.errstate(divide="ignore"):
            return np.asarray(shape * np.log(y) - y)

    assert log_integral(log_f, [low], 1.0, low) == pytest.approx(math.lgamma(shape + 1), rel=1e-12, abs=1e-12)


def test_a_plateau_of_great_length() -> None:
    found = log_integral(lambda x: np.minimum(0.0, np.minimum(x + 1e12, -x)), [-1e12, 0.0], 1.0)
    assert found == pytest.approx(math.log(1e12 + 2), rel=1e-13)


def test_far_below_the_smallest_float() -> None:
    found = log_integral(lambda x: -np.abs(x) - 5000.0, [0.0], 1.0)
    assert found == pytest.approx(math.log(2) - 5000, rel=1e-15)


@STEADY
@given(st.floats(-50, 50))
def test_excesses(x: float) -> None:
    with mp.workdps(60):
        assert exp_excess(x) == pytest.approx(float(mp.expm1(x) - mp.mpf(x)), rel=1e-13)
        if x > -0.999:
            assert log_excess(x) == pytest.approx(float(mp.mpf(x) - mp.log1p(x)), rel=1e-13)


@STEADY
@given(st.integers(1, 60))
def test_gauss_legendre_is_exact_for_its_degree(nodes: int) -> None:
    x, weight = legendre(nodes)
    assert weight @ x ** (2 * nodes - 1) == pytest.approx(1 / (2 * nodes), rel=1e-12)


@pytest.mark.parametrize("at", [1e-280, 0.3, 1.0, 668.0])
def test_where_tiny_values_cross(at: float) -> None:
    assert increasing_root(lambda x: math.exp(-at) - math.exp(-x)) == pytest.approx(at, rel=1e-13, abs=1e-16)
