"""Promises of rules, by what they must count: possible histories, noise, rounding, the ends of sessions."""

import math
from fractions import Fraction

import numpy as np
import pytest

from tacit.holdout import GaussianAnswers, GuessAndCheck, ParameterFreeLadder, ReusableHoldout, histories, transfer
from tacit.holdout.questions import HoldoutQuestion
from tacit.holdout.rules.rule import Spent, State
from tacit.testing.sources import Seeded


def test_a_wrong_guess_is_answered_by_one_of_all_values():
    rule = GuessAndCheck(n=10**4, width="0.4", resolution="0.5")  # 0, 1/2 and 1
    nats = histories.log(histories.weighted(2, 1, 3 * 4) / rule.beta)  # or by none
    assert rule.deviation(State(3, 1)) == pytest.approx(histories.deviation(10**4, nats), rel=1e-12)


def test_rounding_to_the_grid_is_taken_from_the_margin_of_a_guess():
    rule = GuessAndCheck(n=10**4, width="0.4", grid="0.5", resolution=Fraction(1, 128))
    question = HoldoutQuestion(
        rule.guess_in_steps("0.3"), np.zeros(10**4, np.int64)
    )  # 0.3 off, and values may be 1/4 more
    state, answer = rule.step(State(), question, Seeded(1))
    assert (state.told, answer) == (1, 0.0)


def test_the_places_of_wrong_guesses_are_counted():
    rule = GuessAndCheck(n=10**4, width="0.4", resolution="0.5")
    nats = histories.log(histories.weighted(7, 3, math.comb(10, 3) * 4**3) / rule.beta)
    assert rule.deviation(State(10, 3)) == pytest.approx(histories.deviation(10**4, nats), rel=1e-12)


def test_the_values_of_records_are_counted():
    rule = ParameterFreeLadder(n=1000)
    t = histories.deviation(
        1000, histories.log(histories.weighted(7, 3, math.comb(10, 3) * math.comb(1000, 3)) / rule.beta)
    )
    assert rule.statement(State(10, 3)).width == pytest.approx(1 / math.sqrt(999) + t + 1 / 2048, rel=1e-9)


def test_right_guesses_end_a_life_too():
    rule = ReusableHoldout(n=1000, questions=2, exceptions=1, threshold="0.5", epsilon=8)
    with pytest.raises(Spent):
        rule.step(State(asked=2), HoldoutQuestion(0, np.zeros(1000, np.int64)), Seeded(1))


def test_a_released_number_is_off_by_its_noise_and_by_half_a_resolution():
    rule = ReusableHoldout(n=10**5, questions=5, exceptions=2, threshold="0.001", epsilon=8, resolution="0.25")
    off = rule.mechanism.error(beta="0.01") / rule.whole
    assert rule.alpha("0.01") == pytest.approx(
        max(math.floor(rule.effective_threshold * rule.whole) / rule.whole, 0.125) + off, rel=1e-12
    )


def test_reals_widen_every_promise_by_half_a_step_of_their_grid():
    coarse, fine = (
        ReusableHoldout(n=10**5, questions=5, exceptions=2, threshold="0.01", epsilon="0.05", grid=g)
        for g in ("0.5", "1")
    )
    for name, statement in coarse.promises.items():
        assert statement.width == pytest.approx(fine.promises[name].width + 0.25, rel=1e-3)


def test_each_answer_is_paid_for():
    rule = GaussianAnswers(n=1000, questions=7, sigma="0.1", grid="1")
    assert rule.loss() == 7 * rule.mechanism.loss() and rule.loss().terms
    (atom,) = rule.loss().terms
    assert atom.rho == Fraction(1, 2 * 100**2)


def test_released_numbers_have_the_noise_they_are_paid_for():
    rule = ReusableHoldout(
        n=1000, questions=10**4, exceptions=64, threshold="0.01", epsilon="1", grid="1", resolution=Fraction(1, 1 << 20)
    )
    numbers, compared = rule.mechanism.scales[2], rule.mechanism.scales[1]
    assert numbers > compared * Fraction(5, 4)
    question, state = HoldoutQuestion(0, np.r_[np.ones(500, np.int64), np.zeros(500, np.int64)]), State(mark=-(10**9))
    source = Seeded(1)
    result = [rule.step(state, question, source)[1] * 1000 - 500 for _ in range(4000)]
    deviation = np.mean(np.abs(np.clip(result, -500, 500)))  # Laplace noise, cut at 500: scale (1 - e^(-500/scale))
    scale = float(numbers)
    assert deviation == pytest.approx(scale * -math.expm1(-500 / scale), rel=0.08)


@pytest.mark.parametrize(
    ("epsilon", "delta", "n", "width"), [(0.01, 0.0, 10**5, 0.1), (0.05, 1e-7, 10**5, 0.3), (0.05, 1e-5, 10**5, 0.3)]
)
def test_the_monitor_is_the_least_that_its_inequality_allows(epsilon, delta, n, width):
    t, choice = np.unique(np.round(np.geomspace(1, 2.0**400, 3000)))[:, None], np.geomspace(1e-4, 1, 1000)
    right = 2 * np.log(2 * t) / (choice * n) + np.expm1(epsilon + choice) + t * delta
    share = np.minimum(right / width, 1)
    with np.errstate(divide="ignore"):
        least = float(np.min(np.where(share < 1, -np.expm1(np.log1p(-share) / t), 1)))
    assert least * (1 - 1e-3) <= transfer.monitor(width, epsilon, delta, n) <= 1.05 * least
