"""Promises of rules, by what they must count: possible histories, noise, rounding, the ends of sessions."""

import math
import time
from fractions import Fraction

import numpy as np
import pytest

from tacit.holdout import (
    GaussianAnswers,
    GuessAndCheck,
    Ladder,
    ParameterFreeLadder,
    ReusableHoldout,
    histories,
    planning,
    transfer,
)
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


def test_what_is_left_is_found_at_once_however_many_records_there_are():
    """It took two minutes at a million records and a width of 0.3."""
    rule, start = GuessAndCheck(n=10**6, width="0.3"), time.process_time()
    assert rule.wrong_guesses_left(State(10**6, 10**3)) > 1000
    assert "more may be" in rule.left(State(5, 2))
    assert time.process_time() - start < 2


def walk_in_rounds(rounds, size, exceptions, values):
    """Questions in the tree of rounds, each list answered at once."""
    nodes, level = 0, {0: 1}
    for _ in range(rounds):
        nodes += size * sum(count for told, count in level.items() if told < exceptions)
        after = {}
        for told, count in level.items():
            for more in range(size + 1):
                ways = math.comb(size, more) * values**more
                after[told + more] = after.get(told + more, 0) + count * ways
        level = after
    return nodes


@pytest.mark.parametrize(("rounds", "size", "b", "v"), [(1, 7, 3, 5), (4, 3, 2, 2), (3, 5, 6, 3), (6, 1, 3, 4)])
def test_lists_of_questions_are_counted_once_a_round(rounds, size, b, v):
    """From above; exactly for one round and for rounds of one."""
    exact, found = walk_in_rounds(rounds, size, b, v), histories.exceptional(rounds * size, b, v, rounds)
    assert math.log(exact) <= found * (1 + 1e-12)
    if rounds == 1 or size == 1:
        assert found == pytest.approx(math.log(exact))
    apart = histories.exceptional(rounds * size, b, v)
    assert found <= apart + 1e-12
    by_f = [histories.after_exceptions(rounds * size, f, v, rounds) for f in range(min(b, (rounds - 1) * size + 1))]
    assert math.log(math.fsum(map(math.exp, by_f))) == pytest.approx(found)


def climb_in_rounds(rounds, size, record, values):
    """Submissions in the tree of a record that a list may raise, by one of its members."""
    if not rounds:
        return 0
    higher = sum(size * climb_in_rounds(rounds - 1, size, better, values) for better in range(record + 1, values + 1))
    return size + climb_in_rounds(rounds - 1, size, record, values) + higher


@pytest.mark.parametrize(("rounds", "size", "v"), [(1, 4, 8), (2, 3, 4), (4, 2, 3), (3, 1, 5)])
def test_a_record_rises_once_a_round(rounds, size, v):
    exact = climb_in_rounds(rounds, size, 0, v)
    assert histories.climbing(rounds * size, v, rounds) == pytest.approx(math.log(exact))


def test_one_list_is_bonferroni_and_ten_lists_come_near():
    """500 candidates: 0.050 at 2,000 records and 0.022 at 10,000; one by one, with 5 exceptions, 0.19 and 0.084."""
    for n, bonferroni in ((2000, 0.0498), (10_000, 0.02226)):
        one, ten = (GuessAndCheck(n=n, width="0.3", questions=500, rounds=r, grid=1) for r in (1, 10))
        assert one.deviation(State()) == pytest.approx(planning.beforehand(n, 500, "0.05").width, rel=1e-6)
        assert one.deviation(State()) <= bonferroni
        assert ten.deviation(State(450, 0, rounds=9)) <= 1.04 * bonferroni  # after nine lists of right guesses
        assert Ladder(n=n, questions=500, rounds=1, grid=1).promise.width <= bonferroni * 1.001
        apart = Ladder(n=n, questions=500, grid=1).promise.width
        assert Ladder(n=n, questions=500, rounds=10, grid=1).promise.width < 0.73 * apart
        assert GuessAndCheck(
            n=n, width=Fraction(bonferroni), resolution=Fraction(1, 1 << 16), questions=500, rounds=1, grid=1
        )


@pytest.mark.parametrize(("n", "width", "least"), [(2000, "0.05", 100), (10_000, "0.03", 500)])
def test_at_an_accuracy_of_95_percent_many_more_questions_are_answered(n, width, least):
    """Guesses from a validation set of as many records; Hoeffding's inequality gave 7 and 20 answers."""
    drawn, rule = np.random.default_rng(8), GuessAndCheck(n=n, width=width, questions=500, grid=1)
    state, answered = State(), 0
    for _ in range(500):
        held, seen = (np.asarray(drawn.random(n) < 0.95, np.int64) for _ in range(2))
        if rule.over(state):
            break
        state, answer = rule.step(state, HoldoutQuestion(rule.guess_in_steps(float(seen.mean())), held), Seeded(1))
        answered += not math.isnan(answer)
    assert answered >= least
