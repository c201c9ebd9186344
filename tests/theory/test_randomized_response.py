from __future__ import annotations

import math
from itertools import accumulate, combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.errors import BadParameter
from tacit.theory import randomized_response as rr

from . import STEADY

EPSILON = st.floats(1e-3, 20)
BETA = st.floats(1e-6, 0.5)


@STEADY
@given(EPSILON)
def test_keep_and_flip(epsilon: float) -> None:
    keep, flip = rr.keep_probability(epsilon), rr.flip_probability(epsilon)
    assert keep + flip == pytest.approx(1)
    assert keep / flip == pytest.approx(math.exp(epsilon), rel=1e-12)
    assert rr.epsilon_of(keep) == pytest.approx(epsilon, rel=1e-6)
    assert rr.epsilon_of(0.25) == pytest.approx(math.log(3))


@STEADY
@given(EPSILON)
def test_estimate_is_unbiased_and_its_variance_is_that_of_two_points(epsilon: float) -> None:
    keep, flip = rr.keep_probability(epsilon), rr.flip_probability(epsilon)
    one, zero = rr.estimate(1.0, epsilon), rr.estimate(0.0, epsilon)
    assert keep * one + flip * zero == pytest.approx(1, rel=1e-9)
    assert flip * one + keep * zero == pytest.approx(0, abs=1e-9)
    assert keep * flip * (one - zero) ** 2 == pytest.approx(rr.variance(epsilon), rel=1e-9)
    assert rr.variance(epsilon, 50) == pytest.approx(rr.variance(epsilon) / 50)


@STEADY
@given(BETA, st.integers(1, 200), EPSILON, st.data())
def test_exact_error_is_within_bounds(beta: float, n: int, epsilon: float, data: st.DataObject) -> None:
    ones = data.draw(st.integers(0, n))
    exact = rr.exact_error(beta, n, epsilon, ones)
    assert exact <= rr.hoeffding_error(beta, n, epsilon) * (1 + 1e-12)
    assert exact <= rr.bernstein_error(beta, n, epsilon) * (1 + 1e-12)


@pytest.mark.parametrize("bits", [(0, 0, 0, 0, 0), (1, 0, 1, 0, 0), (1, 1, 1, 1, 1)])
@pytest.mark.parametrize("beta", [0.01, 0.2, 0.6])
def test_exact_error_by_enumeration(bits: tuple[int, ...], beta: float) -> None:
    epsilon, n = 1.2, len(bits)
    keep, flip = rr.keep_probability(epsilon), rr.flip_probability(epsilon)
    errors = sorted(
        (
            abs(rr.estimate(sum(answers) / n, epsilon) - sum(bits) / n),
            math.prod(keep if a == b else flip for a, b in zip(answers, bits, strict=True)),
        )
        for answers in product((0, 1), repeat=n)
    )
    covered = accumulate(chance for _, chance in errors)
    exact = next(error for (error, _), c in zip(errors, covered, strict=True) if c >= 1 - beta)
    assert rr.exact_error(beta, n, epsilon, sum(bits)) == pytest.approx(exact, rel=1e-9)


def test_exact_error_of_many_is_nearly_that_of_a_normal_law() -> None:
    n = 10**6
    assert rr.exact_error(0.05, n, 1.0, n // 3) == pytest.approx(1.959964 * math.sqrt(rr.variance(1.0, n)), rel=1e-3)


def test_bernstein_forgets_the_noise_and_hoeffding_does_not() -> None:
    assert rr.bernstein_error(0.05, 10_000, 20.0) < 0.03 * rr.hoeffding_error(0.05, 10_000, 20.0)
    assert rr.bernstein_error(0.05, 10_000, 0.1) > 0.9 * rr.hoeffding_error(0.05, 10_000, 0.1)


@STEADY
@given(BETA, st.integers(1, 10**6), EPSILON, st.integers(1, 1000))
def test_bernstein_solves_its_equation(beta: float, n: int, epsilon: float, queries: int) -> None:
    t = rr.bernstein_error(beta, n, epsilon, queries)
    most = max(abs(rr.estimate(y, epsilon) - x) for x in (0, 1) for y in (0, 1))
    right = 2 * math.log(2 * queries / beta) * (rr.variance(epsilon) + most * t / 3)
    assert n * t * t == pytest.approx(right, rel=1e-9)


@STEADY
@given(st.floats(1e-3, 0.05), BETA, EPSILON, st.integers(1, 1000))
def test_sample_size_is_the_least(alpha: float, beta: float, epsilon: float, queries: int) -> None:
    n = math.ceil(rr.sample_size(alpha, beta, epsilon, queries) * (1 - 1e-12))
    assert rr.hoeffding_error(beta, n, epsilon, queries) <= alpha * (1 + 1e-11)
    assert rr.hoeffding_error(beta, n - 1, epsilon, queries) > alpha * (1 - 1e-11)


@STEADY
@given(st.integers(2, 500), st.floats(1e-3, 8))
def test_oracles_are_private(categories: int, epsilon: float) -> None:
    limit = math.exp(epsilon) * (1 + 1e-9)
    for oracle in (rr.k_ary(categories, epsilon), rr.local_hashing(epsilon), rr.unary(epsilon)):
        assert oracle.gain == pytest.approx(oracle.p - oracle.q, rel=1e-6)
        assert 0 < oracle.q < oracle.p < 1
    krr, oue = rr.k_ary(categories, epsilon), rr.unary(epsilon)
    assert krr.p / krr.q <= limit
    assert oue.p * (1 - oue.q) / (oue.q * (1 - oue.p)) <= limit


@pytest.mark.parametrize(("k", "size"), [(2, 1), (5, 1), (5, 2), (6, 3), (7, 6)])
def test_subset_selection_by_enumeration(k: int, size: int) -> None:
    epsilon = 0.9
    weights = {s: math.exp(epsilon) if 0 in s else 1.0 for s in combinations(range(k), size)}
    total = sum(weights.values())
    oracle = rr.subset_selection(k, epsilon, size)
    assert oracle.p == pytest.approx(sum(w for s, w in weights.items() if 0 in s) / total, rel=1e-13)
    assert oracle.q == pytest.approx(sum(w for s, w in weights.items() if 1 in s) / total, rel=1e-13)
    assert oracle.gain == pytest.approx(oracle.p - oracle.q, rel=1e-12)


@STEADY
@given(st.integers(2, 500), EPSILON)
def test_a_subset_of_one_is_k_ary(categories: int, epsilon: float) -> None:
    subset, krr = rr.subset_selection(categories, epsilon, 1), rr.k_ary(categories, epsilon)
    assert (subset.p, subset.q) == pytest.approx((krr.p, krr.q), rel=1e-12)


@STEADY
@given(st.integers(2, 2000), EPSILON)
def test_the_best_oracle(categories: int, epsilon: float) -> None:
    best = rr.best_oracle(categories, epsilon)
    rivals = [rr.k_ary(categories, epsilon), rr.unary(epsilon), rr.local_hashing(epsilon)]
    around = range(max(1, rr.subset_size(categories, epsilon) - 3), categories)
    rivals += [rr.subset_selection(categories, epsilon, size) for size in around[:8]]
    assert all(best.variance() <= rival.variance() * (1 + 1e-12) for rival in rivals)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.5])
def test_k_ary_wins_up_to_its_limit(epsilon: float) -> None:
    limit = rr.k_ary_limit(epsilon)
    rival = rr.unary(epsilon).variance()
    assert rr.k_ary(math.ceil(limit) - 1, epsilon).variance() < rival
    assert rr.k_ary(math.floor(limit) + 1, epsilon).variance() > rival
    assert rr.best_oracle(2, epsilon).name == "k-ary randomised response"
    assert rr.best_oracle(1000, epsilon).name == "subset selection"


def test_variance_at_a_frequency() -> None:
    oracle = rr.k_ary(7, 1.3)
    f = 0.3
    spread = f * oracle.p * (1 - oracle.p) + (1 - f) * oracle.q * (1 - oracle.q)
    assert oracle.variance(f) == pytest.approx(spread / oracle.gain**2, rel=1e-12)


@STEADY
@given(st.floats(1e-3, 0.05), BETA, st.floats(0.1, 8), st.integers(1, 1000))
def test_oracle_error_and_sample_size(alpha: float, beta: float, epsilon: float, categories: int) -> None:
    oracle = rr.unary(epsilon)
    n = math.ceil(oracle.sample_size(alpha, beta, categories) * (1 - 1e-12))
    assert oracle.error(beta, n, categories) <= alpha * (1 + 1e-11)
    assert oracle.error(beta, n - 1, categories) > alpha * (1 - 1e-11)
    # the mean of two supports, each 0 or 1, is more than t away with chance at most 2 e^(-2 n t^2)
    t = oracle.error(beta, 2) * (oracle.p - oracle.q)
    assert 2 * math.exp(-4 * t * t) == pytest.approx(beta, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 2.0, 3.3])
def test_the_best_range_of_a_hash(epsilon: float) -> None:
    g = rr.hash_range(epsilon)
    assert rr.local_hashing(epsilon) == rr.local_hashing(epsilon, g)
    best = min(rr.local_hashing(epsilon, h).variance() for h in range(2, 100))
    assert rr.local_hashing(epsilon).variance() <= best * 1.01
    assert abs(g - 1 - math.exp(epsilon)) <= 0.5


def test_no_overflow_at_great_epsilon() -> None:
    assert rr.variance(2000.0) == 0.0
    assert rr.best_oracle(10, 2000.0).variance() == 0.0


def test_limits_between_parameters() -> None:
    with pytest.raises(BadParameter, match="ones must be at most n"):
        rr.exact_error(0.05, 10, 1.0, 11)
    with pytest.raises(BadParameter, match="size must be below"):
        rr.subset_selection(4, 1.0, 4)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, math.log(3)])
def test_the_estimate_of_a_bit_is_one_of_the_ends_of_its_range(epsilon: float) -> None:
    low, high = rr.estimate_range(epsilon)
    assert (low, high) == pytest.approx((rr.estimate(0, epsilon), rr.estimate(1, epsilon)))
    assert high - low == pytest.approx(1 / math.tanh(epsilon / 2))
    assert rr.hoeffding_error(0.05, 100, epsilon) == pytest.approx((high - low) * math.sqrt(math.log(40) / 200))
