from __future__ import annotations

import math
from functools import partial
from itertools import product

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core.errors import BadParameter
from tacit.theory import sparse_vector as svt
from tacit.theory.sparse_vector import NOISES, NoiseName, Scales

from . import STEADY

STREAM = st.lists(st.floats(-10, 10), min_size=1, max_size=8)
SCALE = st.floats(0.1, 20)
NOISE = st.sampled_from(NOISES)


@settings(STEADY, max_examples=40)
@given(STREAM, st.floats(-10, 10), SCALE, SCALE, NOISE)
def test_laws_sum_to_one(queries: list[float], threshold: float, b: float, c: float, noise: NoiseName) -> None:
    law = svt.above_threshold(queries, threshold, Scales(b, c), noise)
    assert len(law) == len(queries) + 1
    assert law.sum() == pytest.approx(1, rel=1e-11)


def integral(queries: list[float], stop: int, threshold: float, scales: Scales, noise: NoiseName) -> float:
    with mp.workdps(32):
        b, c = mp.mpf(scales.threshold), mp.mpf(scales.query)
        gaps = [threshold - mp.mpf(q) for q in queries]

        def cdf(x: mp.mpf) -> mp.mpf:
            if noise == "exponential":
                return 1 - mp.exp(-x) if x > 0 else mp.mpf(0)
            return mp.exp(x) / 2 if x < 0 else 1 - mp.exp(-x) / 2

        def f(z: mp.mpf) -> mp.mpf:
            density = mp.exp(-abs(z) / b) / (b if noise == "exponential" else 2 * b)
            fail = mp.fprod(cdf((z + g) / c) for g in gaps[:stop])
            return density * fail * (1 - cdf((z + gaps[stop]) / c) if stop < len(gaps) else 1)

        kinks = sorted({mp.mpf(0), *(-g for g in gaps)})
        right = [kinks[-1] + 4 * b, kinks[-1] + 20 * b, kinks[-1] + 90 * b]
        if noise == "exponential":
            return float(mp.quad(f, [x for x in kinks if x >= 0] + right))
        return float(mp.quad(f, [kinks[0] - 90 * b, kinks[0] - 20 * b, kinks[0] - 4 * b, *kinks, *right]))


@pytest.mark.parametrize("noise", NOISES)
def test_law_against_thirty_digits(noise: NoiseName) -> None:
    queries, threshold, scales = [0.5, -1.0, 2.5, 2.5], 1.0, Scales(1.3, 2.1)
    law = svt.above_threshold(queries, threshold, scales, noise)
    for stop in (0, 2, 4):
        assert law[stop] == pytest.approx(integral(queries, stop, threshold, scales, noise), rel=1e-12)


@pytest.mark.parametrize("noise", NOISES)
def test_a_long_stream_under_a_narrow_threshold(noise: NoiseName) -> None:
    k, r = 300, 40.0  # the integrand peaks far out in the tail of the threshold noise
    law = svt.above_threshold([0.0] * k, 0.0, Scales(1.0, r), noise)
    with mp.workdps(40):
        if noise == "exponential":
            none = mp.beta(r, k + 1) * r
        else:
            left = mp.mpf(2) ** -k / (2 * (1 + k / r))
            none = left + r / 2 * mp.mpf(2) ** r * mp.betainc(r, k + 1, 0, mp.mpf(1) / 2)
    assert law[-1] == pytest.approx(float(none), rel=1e-11)
    assert law.sum() == pytest.approx(1, rel=1e-11)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(("monotone", "d"), [(False, 1.0), (True, 1.0), (True, 0.4)])
def test_worst_neighbour_among_all(noise: NoiseName, monotone: bool, d: float) -> None:
    queries, threshold, scales = [0.3, 1.0, -0.5], 0.5, Scales(1.0, 1.7)
    here = np.log(svt.above_threshold(queries, threshold, scales, noise))
    sets = ((0.0, d), (0.0, -d)) if monotone else ((-d, 0.0, d),)
    moves = {move for steps in sets for move in product(steps, repeat=3)}
    found = max(
        np.abs(np.log(svt.above_threshold(np.add(queries, move), threshold, scales, noise)) - here).max()
        for move in moves
    )
    claimed = svt.worst_loss(queries, threshold, scales, noise, d, monotone=monotone)
    assert claimed == pytest.approx(found, rel=1e-10)


@settings(STEADY, max_examples=15)
@given(st.lists(st.floats(-3, 3), min_size=1, max_size=5), st.floats(0.1, 3), st.floats(0.5, 2), NOISE)
def test_epsilon_is_kept(queries: list[float], epsilon: float, sensitivity: float, noise: NoiseName) -> None:
    limit = epsilon * (1 + 1e-9)
    for choose in (svt.above_threshold_scales, partial(svt.optimal_scales, tops=1)):
        scales = choose(epsilon, sensitivity=sensitivity)
        assert svt.worst_loss(queries, 0.0, scales, noise, sensitivity) <= limit
    scales = svt.optimal_scales(epsilon, 1, sensitivity, monotone=True)
    assert svt.worst_loss(queries, 0.0, scales, noise, sensitivity, monotone=True) <= limit


def test_noise_on_the_threshold_alone_is_not_enough() -> None:
    assert svt.worst_loss([0.0] * 4, 0.0, Scales(2.0, 0.05)) > 10


@pytest.mark.parametrize("beta", [0.01, 0.2])
def test_accuracy_theorem_holds_for_the_exact_law(beta: float) -> None:
    epsilon, k = 0.7, 20
    alpha = svt.above_threshold_error(beta, k, epsilon)
    scales = svt.above_threshold_scales(epsilon)
    law = svt.above_threshold([-alpha] * (k - 1) + [alpha], 0.0, scales)
    assert 1 - law[k - 1] <= beta


def test_errors_and_scales_as_printed() -> None:
    log = math.log(1000 * 2 * 5 / 0.05)
    assert svt.sparse_error(0.05, 1000, 5, 1.0, 1e-6) == pytest.approx(
        math.sqrt(512 * 5 * math.log(1e6)) * log, rel=1e-12
    )
    assert svt.numeric_sparse_error(0.05, 1000, 5, 1.0) == pytest.approx(45 * (log + math.log(2)), rel=1e-12)
    assert svt.above_threshold_error(0.05, 1000, 0.5, 2.0) == pytest.approx(32 * math.log(40_000), rel=1e-12)
    assert svt.sparse_scales(0.5, 3) == Scales(12.0, 24.0)
    pure = svt.numeric_sparse_scales(0.9, 2)
    assert (pure.threshold, pure.query, pure.answer) == pytest.approx((5.0, 10.0, 20.0), rel=1e-12)
    approximate = svt.numeric_sparse_scales(1.0, 5, 1e-6)
    base = math.sqrt(32 * 5 * math.log(2e6)) * (math.sqrt(512) + 1)
    assert (approximate.threshold, approximate.answer) == pytest.approx((base / math.sqrt(512), base / 2))


@STEADY
@given(st.floats(0.01, 10), st.floats(1e-12, 0.5))
def test_the_parts_of_numeric_sparse_make_up_epsilon(epsilon: float, delta: float) -> None:
    for slack in (0.0, delta):
        first, second = svt.numeric_sparse_split(epsilon, slack)
        assert first + second / 2 == pytest.approx(epsilon, rel=1e-12)


@STEADY
@given(st.integers(1, 200), st.booleans(), st.floats(0.02, 0.98))
def test_no_split_has_less_variance(tops: int, monotone: bool, share: float) -> None:
    factor = (1 if monotone else 2) * tops
    best = svt.optimal_scales(1.0, tops, monotone=monotone)
    assert best.variance() <= Scales(1 / share, factor / (1 - share)).variance() * (1 + 1e-12)
    assert best.variance("exponential") == pytest.approx(best.variance() / 2)


def test_gaussian_bound_has_its_best_order_inside() -> None:
    values = [svt.gaussian_renyi(a, 100, 20.0, 40.0) for a in (1.5, 10.0, 30.0, 1000.0)]
    assert min(values) not in (values[0], values[-1])
    alike = svt.gaussian_renyi(5.0, 100, 20 / 3, 40 / 3)
    assert svt.gaussian_renyi(5.0, 100, 20.0, 40.0, 3.0) == pytest.approx(alike)


@pytest.mark.parametrize("scales", [(0.0, 1.0), (1.0, -1.0), (1.0, 1.0, math.nan), (math.inf, 1.0)])
def test_scales_are_positive(scales: tuple[float, ...]) -> None:
    with pytest.raises(BadParameter, match=r"must be (positive|a finite number)"):
        Scales(*scales)


def test_composed_scales_are_for_an_epsilon_that_the_corollary_allows() -> None:
    assert svt.sparse_scales(5, 3, "1e-6").threshold > 0
    for call in (svt.sparse_scales, svt.numeric_sparse_scales):
        with pytest.raises(BadParameter, match=r"epsilon must be at most 8 ln\(1/delta\)"):
            call(20, 1, "0.99")
