"""What every rule must do, and what each promises, held against an analyst who does his worst."""

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tacit.core.errors import BadParameter, Exhausted, TacitError
from tacit.core.exact import constant
from tacit.core.samplers import bernoulli
from tacit.holdout import (
    GaussianAnswers,
    GuessAndCheck,
    Holdout,
    Ladder,
    ParameterFreeLadder,
    ReusableHoldout,
    Rule,
    Spent,
    Unanswered,
    histories,
    posterior,
)
from tacit.holdout.questions import HoldoutQuestion
from tacit.holdout.rules.rule import State, Statement, shown
from tacit.testing.sources import Seeded

N, COINS = 2000, 101
RULES: dict[str, Callable[[], Rule]] = {
    "reusable": lambda: ReusableHoldout(n=N, questions=120, exceptions=5, beta="1e-9", grid=1),
    "private": lambda: ReusableHoldout(n=N, questions=120, exceptions=2, beta="1e-3", epsilon=2, grid=1),
    "guess": lambda: GuessAndCheck(n=N, width="0.2", beta="1e-9", grid=1),
    "gaussian": lambda: GaussianAnswers(n=N, questions=120, beta="0.01", grid=1),
    "ladder": lambda: Ladder(n=N, questions=120, beta="1e-9", grid=1),
    "parameter-free": lambda: ParameterFreeLadder(n=N, beta="1e-9", width="0.3", grid=1),
    "rounds": lambda: GuessAndCheck(n=N, width="0.2", beta="1e-9", questions=120, rounds=120, grid=1),
}
each = pytest.mark.parametrize("name", RULES)


def coins(seed: int, d: int) -> np.ndarray:
    return bernoulli(constant(Fraction(1, 2)), Seeded(seed), N * d).reshape(d, N)


def leaderboard(rule: Rule) -> bool:
    return isinstance(rule, Ladder | ParameterFreeLadder)


@each
def test_promises_are_kept_against_an_analyst_who_overfits(name: str) -> None:
    """Coins are asked about, and then the vote of those that seemed to come up heads, or tails: its truth is 1/2."""
    rule, records = RULES[name](), coins(1, COINS)
    desk, result = Holdout(rule, records.T, source=Seeded(2)), list[float]()
    with suppress(Spent):
        for i in range(COINS):
            result.append(desk.ask((0.5, records[i])))
        result.append(desk.ask((0.5, vote(records, np.array(result)))))
    assert result
    assert max(abs(answer - 0.5) for answer in result) <= desk.statement.width < 1


def vote(records: np.ndarray, answers: np.ndarray) -> np.ndarray:
    return np.asarray(np.where(answers >= 0.5, 1, -1) @ (2 * records.astype(int) - 1) > 0)


def test_a_plain_holdout_is_overfitted() -> None:
    records = coins(1, COINS)
    assert vote(records, records.mean(axis=1)).mean() > 0.56


@each
def test_a_step_is_a_pure_function_of_state_and_randomness(name: str) -> None:
    rule, records = RULES[name](), coins(3, 2)
    first = rule.begin(Seeded(4))
    assert first == rule.begin(Seeded(4))
    for guess in (0.5, 0.9):
        question = HoldoutQuestion(rule.guess_in_steps(guess), records[0].astype(np.int64))
        state, answer = rule.step(first, question, Seeded(5))
        assert (state, answer) == rule.step(first, question, Seeded(5))
        assert state.asked == first.asked + 1
        assert 0 <= answer <= 1
        assert hash(state) == hash(replace(state))


@each
def test_a_spent_holdout_refuses_and_stands_by_its_word(name: str) -> None:
    rule, records = RULES[name](), coins(6, 1)
    desk = Holdout(rule, records.T, source=Seeded(7))
    result = 0

    def use_up() -> None:
        nonlocal result
        while True:
            better = np.arange(N) < 500 + 20 * min(result, 70)  # for leaderboards; coins are far from every guess
            with suppress(Unanswered):  # a wrong guess about a mean that the width no longer allows for
                desk.ask((0.99, better if leaderboard(rule) else records[0]))
            result += 1

    with pytest.raises(Spent) as caught:
        use_up()
    assert result
    assert isinstance(caught.value, Exhausted)
    assert "fresh data" in str(caught.value)
    assert "start a new one" not in str(caught.value)
    assert caught.value.statement == desk.statement
    assert str(desk.statement) in str(caught.value)
    assert desk.state.asked == result
    with pytest.raises(Spent):
        desk.ask((0.5, records[0]))
    assert desk.state.asked == result


@each
def test_it_says_what_is_left_and_what_is_true(name: str) -> None:
    rule = RULES[name]()
    desk = Holdout(rule, coins(8, 1).T)
    assert desk.left.endswith(".")
    assert f" {shown(rule.promise.width)} of" in str(rule.promise)
    sure = {"gaussian": "99 %", "private": "99.9 %"}.get(name, "1 - 1e-09")  # never rounded up to certainty
    assert f"at least {sure} (" in str(desk.statement)
    assert type(rule).__name__ in repr(desk)


def test_text_never_claims_more_than_was_proved() -> None:
    assert [shown(x) for x in (0.1391, 0.139, 0.25, 1.0, 0.00012301)] == ["0.14", "0.139", "0.25", "1", "0.000124"]
    for beta in (Fraction(1, 3), Fraction(123456789, 10**14), Fraction(1, 10**6 - 1), Fraction(1, 20)):
        output = str(Statement(0.1, beta, "a theorem")).split("at least ")[1].split(" %")[0]
        assert Fraction(output) <= 100 - 100 * beta < Fraction(output) + Fraction(1, 10**4)
    assert "at least 1 - 1.24e-10 (" in str(Statement(0.1, Fraction(1231, 10**13), "a theorem"))


@each
def test_the_price_is_paid_on_opening(name: str) -> None:
    rule, records = RULES[name](), coins(9, 1)
    desk = Holdout(rule, records.T)
    before = desk.spent
    desk.ask((0.5, records[0]))
    assert desk.spent == before == rule.loss()
    private = isinstance(rule, ReusableHoldout | GaussianAnswers)
    assert (rule.loss().epsilon(Fraction(1, 10**6)) < math.inf) == private


@pytest.mark.parametrize(
    "make",
    [
        lambda n: ReusableHoldout(n=n, questions=100, exceptions=5, epsilon=4, width="0.15"),
        lambda n: GaussianAnswers(n=n, questions=20, sigma="0.02", width="0.3"),
        lambda n: Ladder(n=n, questions=100, width="0.1"),
        lambda n: GuessAndCheck(n=n, width="0.05"),
        lambda n: ParameterFreeLadder(n=n, width="0.1"),
    ],
)
def test_a_small_holdout_set_is_refused_with_the_size_it_needs(make: Callable[[int], Rule]) -> None:
    with pytest.raises(BadParameter, match="at least") as caught:
        make(100)
    assert caught.value.name == "n"
    enough = int(caught.value.allowed.split()[2])
    assert make(enough).promise.width <= float(make(enough).width or 0)
    with pytest.raises(BadParameter):
        make(int(enough * 0.97))


def test_no_holdout_set_would_do() -> None:
    with pytest.raises(BadParameter, match="no holdout set is large enough"):
        ReusableHoldout(n=100, questions=100, exceptions=5, threshold="0.2", width="0.1")
    with pytest.raises(BadParameter, match="rounding alone"):
        GuessAndCheck(n=10**6, width="0.003")


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: GuessAndCheck(n=1, width="0.1"), "n"),
        (lambda: GuessAndCheck(n=1000, width=1), "width"),
        (lambda: GuessAndCheck(n=1000, width="0.2", beta=0), "beta"),
        (lambda: GuessAndCheck(n=1000, width="0.2", grid="0.3"), "grid"),
        (lambda: Ladder(n=1000, questions=0), "questions"),
        (lambda: Ladder(n=1000, questions=5, rise="0.1"), "rise"),
        (lambda: ReusableHoldout(n=1000, questions=5, exceptions=0), "exceptions"),
        (lambda: ReusableHoldout(n=1000, questions=5, exceptions=1, epsilon=0), "epsilon"),
        (lambda: ReusableHoldout(n=1000, questions=5, exceptions=1, threshold=2), "threshold"),
        (lambda: GaussianAnswers(n=1000, questions=5, sigma=-1), "sigma"),
    ],
)
def test_bad_parameters_are_refused_by_name(make: Callable[[], Rule], name: str) -> None:
    with pytest.raises(BadParameter) as caught:
        make()
    assert caught.value.name == name
    assert isinstance(caught.value, TacitError)


def test_right_guesses_are_the_answers_and_cost_little() -> None:
    rule, records = GuessAndCheck(n=N, width="0.15", grid=1), coins(10, 1)
    state, true = State(), float(records[0].mean())
    question = HoldoutQuestion(rule.guess_in_steps(true), records[0].astype(np.int64))
    first = rule.wrong_guesses_left(state)
    for _ in range(1000):
        state, answer = rule.step(state, question, Seeded(0))
        assert answer == true
    assert state == State(1000, 0)
    assert first > 3
    assert rule.wrong_guesses_left(state) >= first // 3
    wrong = HoldoutQuestion(rule.guess_in_steps(0.9), records[0].astype(np.int64))
    state, answer = rule.step(state, wrong, Seeded(0))
    assert state.told == 1
    assert abs(answer - true) <= 1 / 256


def test_guess_and_check_bears_as_many_wrong_guesses_as_it_says() -> None:
    rule = GuessAndCheck(n=N, width="0.15", grid=1)
    wrong, state = HoldoutQuestion(N, np.zeros(N, np.int64)), State()
    for more in range(rule.wrong_guesses_left(state, 0.0), 0, -1):
        assert rule.wrong_guesses_left(state, 0.0) == more
        state, answer = rule.step(state, wrong, Seeded(0))
        assert 0 <= answer <= 0.15  # as near to 0 as the width allows
    with pytest.raises(Spent):
        rule.step(state, wrong, Seeded(0))


def test_means_near_1_are_answered_longer_than_others() -> None:
    """By relative entropy; Hoeffding's inequality would give 7 answers at a mean of 0.95 and a width of 0.05."""
    rule = GuessAndCheck(n=N, width="0.05", questions=500, grid=1)
    sure, even = (rule.wrong_guesses_left(State(), mean) for mean in (0.95, 0.5))
    assert even == 0 and sure >= 4  # at 1/2 this width takes 2494 records
    state, right = State(), HoldoutQuestion(rule.guess_in_steps("0.95"), (np.arange(N) < 0.95 * N).astype(np.int64))
    for _ in range(499):
        state, answer = rule.step(state, right, Seeded(0))
        assert answer == 0.95
    half = HoldoutQuestion(0, (np.arange(N) % 2).astype(np.int64))
    state, answer = rule.step(State(asked=5, told=5), half, Seeded(0))
    assert (state.told, math.isnan(answer)) == (6, True)  # which is told, and counted


def test_all_that_an_answer_admits_is_within_the_width() -> None:
    """Every answer of guess and check, right guess or not, is within the width of both ends of the interval."""
    rule = GuessAndCheck(n=N, width="0.08", grid=1)
    for right in range(0, N + 1, 37):
        values = (np.arange(N) < right).astype(np.int64)
        for state in (State(), State(40, 3), State(3000, 6)):
            low, high = histories.interval(right / N, N, rule.nats(state))
            for guess in (0.0, right / N, min(1.0, right / N + 0.03), 0.5):
                _, answer = rule.step(state, HoldoutQuestion(rule.guess_in_steps(guess), values), Seeded(0))
                if not math.isnan(answer):
                    assert high - 0.08 <= answer <= low + 0.08
                else:
                    assert (high - low) / 2 + 1 / 256 > 0.08


def test_the_ladder_tells_only_of_clear_improvements() -> None:
    rule = Ladder(n=1000, questions=100, rise="1/16", grid=1)
    state, result = State(), []
    for right in (0, 500, 540, 562, 563, 400, 700):
        state, answer = rule.step(state, HoldoutQuestion(None, (np.arange(1000) < right).astype(np.int64)), Seeded(0))
        result.append(answer)
    assert result == [0, 0.5, 0.5, 0.5, 9 / 16, 9 / 16, 11 / 16]
    assert state.told == 3


def test_the_parameter_free_ladder_asks_for_significance() -> None:
    rule, state = ParameterFreeLadder(n=1000, grid=1), State()

    def submit(right: np.ndarray) -> float:
        nonlocal state
        state, answer = rule.step(state, HoldoutQuestion(None, right.astype(np.int64)), Seeded(0))
        return answer

    base = np.arange(1000) < 600
    assert submit(base) == 0.6
    assert submit(np.arange(1000) < 601) == 0.6  # one record more: lead 1, standard error 1
    assert submit(np.arange(1000) < 602) == 0.602  # two records, and never worse
    shuffled = np.roll(np.arange(1000) < 610, 300)  # eight better, but quite another model
    assert submit(shuffled) == 0.602
    assert state.told == 2
    widths = [rule.statement(State(10, f)).width for f in range(5)]
    assert widths == sorted(widths)


def test_more_questions_or_exceptions_are_a_wider_promise() -> None:
    def width(questions: int, exceptions: int) -> float:
        rule = ReusableHoldout(n=N, questions=questions, exceptions=exceptions, threshold="0.05", epsilon=4, grid=1)
        return rule.promise.width

    assert width(100, 5) < width(1000, 5) < width(1000, 20)
    assert Ladder(n=N, questions=10).promise.width < Ladder(n=N, questions=10_000).promise.width
    assert GaussianAnswers(n=N, questions=10).promise.width < GaussianAnswers(n=N, questions=100).promise.width


def test_the_promise_is_the_narrower_of_two() -> None:
    few = ReusableHoldout(n=10_000, questions=1000, exceptions=10)
    assert few.promise.theorem == "counting histories"
    assert set(few.promises) == {"counting histories", "posterior drift"}
    many = ReusableHoldout(n=10**8, questions=10**5, exceptions=1, epsilon="0.001", resolution="1/1048576")
    assert many.promise == min(many.promises.values(), key=lambda s: s.width)


def test_promises_are_what_their_theorems_say() -> None:
    """Computed anew from the parts: the accuracy of the noise, its price, and the theorem."""
    rule = ReusableHoldout(n=10**6, questions=50, exceptions=2, epsilon="0.05", threshold="0.01", grid=1)
    m, shares = rule.mechanism, [Fraction(2, 5) / 16**j for j in range(6)]
    alphas = [max(0.01 + m.error(beta=b) / 10**6, m.error(beta=b) / 10**6 + 1 / 256) for b in shares]
    excess = [
        sum(float(shares[i]) * (alphas[i + 1] - alphas[i]) for i in range(j, 5)) + float(shares[5]) * (1 - alphas[5])
        for j in range(6)
    ]
    private = min(a + x / 0.05 for a, x in zip(alphas, excess, strict=True)) + math.tanh(0.05 / 4)
    assert rule.promises["posterior drift"].width == pytest.approx(private, rel=1e-9)
    count = sum(math.comb(50, b + 1) * 129**b for b in range(2))
    counted = [
        a + math.sqrt(math.log(2 * count / (0.05 - float(b))) / (2 * 10**6))
        for a, b in zip(alphas, shares, strict=True)
        if b < rule.beta
    ]
    assert rule.promises["counting histories"].width == pytest.approx(min(counted), rel=1e-9)

    noisy = GaussianAnswers(n=10**5, questions=30, sigma="0.005", grid=1)
    noise = [(b, noisy.mechanism.error(beta=b, size=30) / 10**5) for b in (Fraction(1, 2) / 2**j for j in range(40))]
    drift = posterior.gaussian_drift(noisy.beta, Fraction(30, 10**10) / Fraction("0.005") ** 2)
    assert noisy.promise.width == pytest.approx(posterior.shortfall(noisy.beta, noise) + drift, rel=1e-3)

    ladder = Ladder(n=5000, questions=9, rise="1/4", grid=1)
    count = sum(math.comb(9, b + 1) * math.comb(4, b) for b in range(5))
    assert ladder.promise.width == pytest.approx(1 / 4 + math.sqrt(math.log(2 * count / 0.05) / 10**4), rel=1e-9)
    best = Ladder(n=5000, questions=9, grid=1)
    assert best.promise.width == min(
        Ladder(n=5000, questions=9, rise=Fraction(1, 2**j), grid=1).promise.width for j in range(1, 9)
    )


def test_a_coarse_grid_is_paid_for() -> None:
    fine, coarse = (GaussianAnswers(n=N, questions=5, sigma="0.05", grid=grid) for grid in ("1/1024", "1/4"))
    assert coarse.promise.width - fine.promise.width == pytest.approx(1 / 8 - 1 / 2048, abs=1e-3)


def test_what_protects_nobody_promises_no_more_than_the_range_of_an_answer() -> None:
    assert ReusableHoldout(n=100, questions=10, exceptions=2, epsilon=1000).promises["posterior drift"].width == 1.0
    assert GaussianAnswers(n=10, questions=10**6, sigma="1e-6").promise.width == 1.0


def test_squares_are_summed_beyond_64_bits() -> None:
    n, unit = 12 << 20, 1 << 20
    rule, before, after = ParameterFreeLadder(n=n, grid=Fraction(1, unit)), np.zeros(n, int), np.zeros(n, int)
    before[::2], after[1::2], after[:4:2] = unit, unit, unit  # better by two records, of which each differs
    state, first = rule.step(State(), HoldoutQuestion(None, before), Seeded(1))
    assert rule.step(state, HoldoutQuestion(None, after), Seeded(1)) == (replace(state, asked=2), first)
