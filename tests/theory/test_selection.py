from __future__ import annotations

import math
from itertools import combinations, permutations

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core.errors import BadParameter
from tacit.theory import selection
from tacit.theory.selection import NOISES, NoiseName

from . import STEADY

SCORES = st.lists(st.floats(-20, 20), min_size=1, max_size=12)
SCALE = st.floats(0.05, 50)


@settings(STEADY, max_examples=40)
@given(SCORES, SCALE, st.sampled_from(NOISES))
def test_laws_sum_to_one_in_the_order_of_scores(scores: list[float], scale: float, noise: NoiseName) -> None:
    law = selection.noisy_max(scores, scale, noise)
    assert law.sum() == pytest.approx(1, rel=1e-12)
    assert (law >= 0).all()
    by_score = law[np.argsort(scores, kind="stable")]
    assert (np.diff(by_score) >= -1e-12).all()


@settings(STEADY, max_examples=60)
@given(st.lists(st.tuples(st.floats(-20, 20), st.floats(-1, 1)), min_size=1, max_size=8), st.floats(0.2, 20))
def test_log_probabilities_move_by_at_most_twice_the_scores(moved: list[tuple[float, float]], scale: float) -> None:
    scores, neighbour = [s for s, _ in moved], [s + v for s, v in moved]
    assert np.exp(selection.log_probabilities(scores, scale) / scale) == pytest.approx(
        selection.exponential_mechanism(scores, scale), rel=1e-12
    )
    found = selection.log_probability_sensitivity(scores, neighbour, scale)
    assert found <= selection.range_sensitivity(scores, neighbour) + 1e-9 <= 2 * max(abs(v) for _, v in moved) + 1e-8
    p, q = (selection.exponential_mechanism(s, scale) for s in (scores, neighbour))
    assert found / scale == pytest.approx(np.abs(np.log(p / q)).max(), rel=1e-6, abs=1e-9)


def test_randomized_response_and_laplace_noise_lose_no_factor_two() -> None:
    """No data move their normalisers: their log-probabilities are as sensitive as their scores."""
    response = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]
    assert selection.log_probability_sensitivity(*response, scale=1) == pytest.approx(1)
    laplace = [[-abs(f - y) for y in range(-200, 201)] for f in (0, 1)]
    assert selection.log_probability_sensitivity(*laplace, scale=2) == pytest.approx(1)
    with pytest.raises(BadParameter, match="as many scores"):
        selection.log_probability_sensitivity([1, 2], [1], 1)


@settings(STEADY, max_examples=40)
@given(SCORES, SCALE, st.floats(-1e3, 1e3), st.sampled_from(NOISES))
def test_only_differences_matter(scores: list[float], scale: float, shift: float, noise: NoiseName) -> None:
    moved = selection.noisy_max([s + shift for s in reversed(scores)], scale, noise)
    assert moved[::-1] == pytest.approx(selection.noisy_max(scores, scale, noise), rel=1e-8, abs=1e-12)


@settings(STEADY, max_examples=30)
@given(st.data(), st.floats(0.1, 3), st.booleans(), st.sampled_from(NOISES))
def test_each_law_keeps_epsilon(data: st.DataObject, epsilon: float, monotone: bool, noise: NoiseName) -> None:
    scores = data.draw(st.lists(st.integers(-5, 5), min_size=2, max_size=6))
    steps = st.integers(0, 1) if monotone else st.integers(-1, 1)
    moved = [s + data.draw(steps) for s in scores]
    scale = selection.noise_scale(epsilon, monotone=monotone)
    here, there = (selection.noisy_max(x, scale, noise) for x in (scores, moved))
    assert np.abs(np.log(here / there)).max() <= epsilon * (1 + 1e-9)
    assert selection.range_sensitivity(scores, moved) <= (1 if monotone else 2)


@STEADY
@given(SCORES, SCALE)
def test_permute_and_flip_is_never_worse_than_softmax(scores: list[float], scale: float) -> None:
    flip = selection.expected_gap(scores, selection.permute_and_flip(scores, scale))
    softmax = selection.expected_gap(scores, selection.exponential_mechanism(scores, scale))
    assert flip <= softmax * (1 + 1e-10) + 1e-12
    assert 0 <= softmax <= selection.expected_gap_bound(len(scores), scale, scores.count(max(scores))) + 1e-9


@STEADY
@given(SCORES, SCALE, st.floats(1e-6, 0.999))
def test_utility_bound_holds_exactly(scores: list[float], scale: float, beta: float) -> None:
    law = selection.exponential_mechanism(scores, scale)
    gap = selection.utility_bound(beta, len(scores), scale, scores.count(max(scores)))
    assert law[np.array(scores) <= max(scores) - gap].sum() <= beta * (1 + 1e-9)


def test_equal_candidates_help() -> None:
    assert selection.expected_gap_bound(12, 2.0, 3) == pytest.approx(2 * math.log(4))
    assert selection.utility_bound(0.5, 12, 2.0, 3) == pytest.approx(2 * math.log(8))


def test_the_sum_in_the_notes_would_be_no_bound() -> None:
    candidates, t = 1000, 3.0
    misprint = 2 * math.log(candidates + t)
    law = selection.exponential_mechanism([misprint, *[0.0] * (candidates - 1)], 2.0)
    assert law[1:].sum() > math.exp(-t)
    assert selection.utility_bound(math.exp(-t), candidates, 2.0) > misprint


def laplace_win(scores: list[float], i: int, scale: float) -> float:
    with mp.workdps(35):
        s = [mp.mpf(x) / scale for x in scores]

        def cdf(x: mp.mpf) -> mp.mpf:
            return mp.exp(x) / 2 if x < 0 else 1 - mp.exp(-x) / 2

        def f(x: mp.mpf) -> mp.mpf:
            return mp.exp(-abs(x - s[i])) / 2 * mp.fprod(cdf(x - y) for j, y in enumerate(s) if j != i)

        top = max(s)
        return float(mp.quad(f, [min(s) - 60, min(s) - 8, *sorted(set(s)), top + 4, top + 20, top + 90]))


@pytest.mark.parametrize(
    ("scores", "scale"),
    [([0.0, 1.5, 1.5, -4.0], 1.0), ([0.0, 30.0, 29.0], 2.0), ([3.0, 2.0, 1.0, 0.0, -1.0, -2.0], 0.7)],
)
def test_laplace_noise_against_thirty_digits(scores: list[float], scale: float) -> None:
    law = selection.noisy_max(scores, scale)
    for i in range(len(scores)):
        assert law[i] == pytest.approx(laplace_win(scores, i, scale), rel=1e-12)


def other_win(scores: list[float], i: int, noise: NoiseName) -> float:
    with mp.workdps(35):
        own, top = mp.mpf(scores[i]), max(scores)
        others = [mp.mpf(s) for j, s in enumerate(scores) if j != i]

        def f(x: mp.mpf) -> mp.mpf:
            if noise == "gumbel":
                return mp.exp(own - x - mp.fsum(mp.exp(y - x) for y in [own, *others]))
            return mp.exp(own - x) * mp.fprod(1 - mp.exp(y - x) for y in others)

        left = mp.linspace(top - 8, top, 5) if noise == "gumbel" else [top]
        return float(mp.quad(f, [*left, top + 2, top + 8, top + 30, top + 100]))


@pytest.mark.parametrize("noise", ["exponential", "gumbel"])
def test_closed_forms_against_thirty_digits(noise: NoiseName) -> None:
    scores = [1.0, 0.25, -2.0, 0.25]
    law = selection.noisy_max([1.5 * s for s in scores], 1.5, noise)
    for i in range(len(scores)):
        assert law[i] == pytest.approx(other_win(scores, i, noise), rel=1e-12)


@STEADY
@given(st.floats(0, 700), SCALE)
def test_a_duel(r: float, scale: float) -> None:
    win = selection.laplace_duel(r * scale, scale)
    law = selection.noisy_max([r * scale, 0.0], scale)
    assert law[0] == pytest.approx(win, rel=1e-12)
    assert law[1] == pytest.approx(math.exp(-r) * (0.5 + r / 4), rel=1e-11)


@STEADY
@given(st.lists(st.floats(-8, 0), min_size=1, max_size=7))
def test_permute_and_flip_by_inclusion_and_exclusion(scores: list[float]) -> None:
    law = selection.permute_and_flip(scores, 1.0)
    with mp.workdps(40):
        w = [mp.exp(mp.mpf(s) - max(scores)) for s in scores]
        for i in range(len(w)):
            rest = w[:i] + w[i + 1 :]
            subsets = [c for size in range(len(rest) + 1) for c in combinations(rest, size)]
            exact = w[i] * mp.fsum((-1) ** len(c) * mp.fprod(c) / (len(c) + 1) for c in subsets)
            assert law[i] == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("count", [25, 400])
def test_many_candidates(count: int) -> None:
    scores = [math.sin(i) * 5 for i in range(count)]
    assert selection.permute_and_flip([0.0] * count, 1.0) == pytest.approx(1 / count, rel=1e-11)
    assert selection.permute_and_flip(scores, 0.5).sum() == pytest.approx(1, rel=1e-12)
    assert selection.noisy_max(scores[:60], 0.5).sum() == pytest.approx(1, rel=1e-12)


def test_a_candidate_far_behind() -> None:
    law = selection.noisy_max([0.0, 1e9], 1.0)
    assert law.tolist() == [0.0, 1.0]


@STEADY
@given(st.lists(st.floats(-20, 20), min_size=1, max_size=5), SCALE, st.data())
def test_the_orders_of_the_top_sum_to_one(scores: list[float], scale: float, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(scores)))
    orders = permutations(range(len(scores)), k)
    assert sum(selection.top_k(scores, scale, order) for order in orders) == pytest.approx(1, rel=1e-9)


def test_the_first_of_the_top_is_the_exponential_mechanism() -> None:
    scores = [5.0, 4.0, 4.0, 1.0]
    assert [selection.top_k(scores, 2.0, [i]) for i in range(4)] == pytest.approx(
        selection.exponential_mechanism(scores, 2.0).tolist(), rel=1e-14
    )


@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 1.0, 1.3, 5.0, 800.0])
def test_largest_mean_loss_of_bounded_range(epsilon: float) -> None:
    with mp.workdps(40):
        e = mp.mpf(epsilon)
        y = e / mp.expm1(e)
        assert selection.bounded_range_kl(epsilon) == pytest.approx(float(y - 1 - mp.log(y)), rel=1e-12)
    assert selection.bounded_range_kl(epsilon) <= selection.bounded_range_zcdp(epsilon)
    assert selection.bounded_range_zcdp(epsilon) == pytest.approx(epsilon**2 / 8)


@pytest.mark.parametrize("epsilon", [0.3, 2.0, 6.0])
def test_largest_mean_loss_is_attained_by_two_points(epsilon: float) -> None:
    t = np.linspace(0, epsilon, 200_001)
    p = (math.exp(epsilon) - np.exp(t)) / math.expm1(epsilon)
    assert (t - (1 - p) * epsilon).max() == pytest.approx(selection.bounded_range_kl(epsilon), rel=1e-8)


def test_limits_between_parameters() -> None:
    with pytest.raises(BadParameter, match="optimal must be at most"):
        selection.utility_bound(0.05, 3, 1.0, 4)
    with pytest.raises(BadParameter, match="neighbour must be as many"):
        selection.range_sensitivity([1.0], [1.0, 2.0])
    with pytest.raises(BadParameter, match="probabilities must be one for each"):
        selection.expected_gap([1.0], [0.5, 0.5])
    for order in ([0, 0], [2], [], [0.5], "01"):
        with pytest.raises(BadParameter, match="order must be distinct"):
            selection.top_k([1.0, 2.0], 1.0, order)  # type: ignore[arg-type]
