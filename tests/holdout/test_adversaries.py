"""Analysts who do their worst, many times: promises by histories, rounds, relative entropy and the posterior are kept.

Records are coins, so every model is right about half of them in truth; or dice, of which every model excludes one face,
and so is right about 15 of 16.  The analysts know all answers, and look for the model that the holdout set overrates.
Seeds are fixed.  A promise at 95 % that is true fails in more than 33 of 200 runs with probability below 1e-9; these
promises are for the worst analyst, and most never fail.
"""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tacit.core.exact import constant
from tacit.core.samplers import bernoulli
from tacit.holdout import (
    GaussianAnswers,
    GuessAndCheck,
    Holdout,
    Ladder,
    Memory,
    ParameterFreeLadder,
    ReusableHoldout,
    Rule,
    Spent,
    Unanswered,
)
from tacit.testing.sources import Seeded

N, K = 1000, 60
HALF = constant(Fraction(1, 2))
FINE = Fraction(1, 1024)
RUNS = 200
ALLOWED = 33  # failures of 200, at 5 % each


def coins(seed: int, rows: int) -> np.ndarray:
    return np.asarray(bernoulli(HALF, Seeded(seed), N * rows).reshape(rows, N), bool)


def asked(desk: Holdout, values: np.ndarray, guess: float = 0.5) -> float:
    try:
        return desk.ask((guess, values))
    except Unanswered:
        return math.nan


def boosting(desk: Holdout, seed: int) -> None:
    """Blum and Hardt: the majority of all random models that the answers call better than a coin."""
    labels, models, kept = coins(seed, 1)[0], coins(seed + 1, K), []
    for model in models:
        answer = asked(desk, model == labels)
        if answer > 0.5:
            kept.append(model)
        elif answer < 0.5:
            kept.append(~model)
    vote = 2 * np.sum(kept, axis=0) >= max(1, len(kept))
    asked(desk, vote == labels)


def flipping(desk: Holdout, seed: int) -> None:
    """Flip two predictions of the record, and keep what the answers call better."""
    labels, best, told = coins(seed, 1)[0], coins(seed + 1, 1)[0], -1.0
    places = np.random.default_rng(seed)
    for _ in range(10 * K):
        model = best.copy()
        model[places.choice(N, 2, replace=False)] ^= True
        answer = asked(desk, model == labels)
        if answer > told:
            best, told = model, answer


def in_rounds(desk: Holdout, seed: int) -> None:
    """Lists of models, each around the best of the last list."""
    labels, best = coins(seed, 1)[0], coins(seed + 1, 1)[0]
    places = np.random.default_rng(seed)
    for _ in range(desk.rule.rounds or 1):
        models = [best ^ (places.random(N) < 0.2) for _ in range(K // (desk.rule.rounds or 1))]
        answers = desk.ask_all([(0.5, model == labels) for model in models])
        best = models[int(np.nanargmax([*answers, -1.0])) % len(models)]


def dice(desk: Holdout, seed: int) -> None:
    """Models that exclude a face for each record; the last excludes what the answers call best, record by record."""
    drawn = np.random.default_rng(seed)
    faces, models, votes = drawn.integers(0, 16, N), drawn.integers(0, 16, (K, N)), np.zeros((N, 16))
    if desk.rule.rounds:
        desk.ask_all([(0.5, model != faces) for model in models])
        return
    for model in models:
        votes[np.arange(N), model] += np.nan_to_num(asked(desk, model != faces, 0.85) - 15 / 16)
    asked(desk, votes.argmax(axis=1) != faces, 0.85)


RULES: dict[str, tuple[Callable[[], Rule], Callable[[Holdout, int], None]]] = {
    "reusable": (lambda: ReusableHoldout(n=N, questions=K + 1, exceptions=5, grid=1), boosting),
    "private": (lambda: ReusableHoldout(n=N, questions=K + 1, exceptions=1, epsilon=2, grid=1), boosting),
    "guess": (lambda: GuessAndCheck(n=N, width="0.1", grid=1), boosting),
    "declared": (lambda: GuessAndCheck(n=N, width="0.1", questions=10 * K, grid=1), flipping),
    "sharp": (lambda: GuessAndCheck(n=N, width="0.06", questions=K + 1, grid=1), dice),
    "sharp round": (lambda: GuessAndCheck(n=N, width="0.04", questions=K, rounds=1, resolution=FINE, grid=1), dice),
    "one round": (lambda: GuessAndCheck(n=N, width="0.064", questions=K, rounds=1, resolution=FINE, grid=1), in_rounds),
    "rounds": (lambda: GuessAndCheck(n=N, width="0.12", questions=K, rounds=6, grid=1), in_rounds),
    "reusable rounds": (lambda: ReusableHoldout(n=N, questions=K, exceptions=5, rounds=6, grid=1), in_rounds),
    "gaussian": (lambda: GaussianAnswers(n=N, questions=K + 1, grid=1), boosting),
    "little noise": (lambda: GaussianAnswers(n=N, questions=K + 1, sigma="0.02", grid=1), boosting),
    "information": (lambda: GaussianAnswers(n=N, questions=K + 1, beta="0.5", sigma="0.01", grid=1), boosting),
    "gaussian round": (lambda: GaussianAnswers(n=N, questions=K, rounds=1, sigma="0.01", grid=1), in_rounds),
    "ladder": (lambda: Ladder(n=N, questions=K + 1, grid=1), boosting),
    "ladder rounds": (lambda: Ladder(n=N, questions=K, rounds=6, grid=1), in_rounds),
    "parameter-free": (lambda: ParameterFreeLadder(n=N, width="0.25", grid=1), flipping),
}


class Watched(Holdout):
    """A holdout that writes down what it told."""

    told: list[float]

    def _round(self, questions: Sequence[Any], names: Sequence[str] | None) -> list[float]:
        answers = super()._round(questions, names)
        self.told = [*getattr(self, "told", []), *answers]
        return answers


def fails(name: str, seed: int) -> bool:
    """Whether an answer is farther from the truth than promised, or the truth outside the interval of an answer."""
    make, analyst = RULES[name]
    rule, truth = make(), 15 / 16 if analyst is dice else 0.5
    desk = Watched(rule, coins(seed, 1)[0], keeper=Memory(), source=Seeded(seed + 7))
    with suppress(Spent):
        analyst(desk, seed)
    answers = [answer for answer in desk.told if not math.isnan(answer)]
    if isinstance(rule, Ladder | ParameterFreeLadder):  # the record, once a model has been submitted
        answers = [max(answers)]
    statement = desk.statement
    assert answers and statement.width <= rule.promise.width * (1 + 1e-12)
    return any(
        abs(answer - truth) > statement.width
        or not statement.interval(answer)[0] <= truth <= statement.interval(answer)[1]
        for answer in answers
    )


@pytest.mark.parametrize("name", RULES)
def test_a_few_runs(name: str) -> None:
    assert not any(fails(name, 100 * seed) for seed in range(2))


@pytest.mark.slow
@pytest.mark.parametrize("name", RULES)
def test_two_hundred_runs(name: str) -> None:
    failures = sum(fails(name, 100 * seed) for seed in range(RUNS))
    assert failures <= (ALLOWED if name in ("one round", "sharp round") else 0)  # Bonferroni's, and as tight as that is


def test_the_promise_of_much_doubt_is_by_mutual_information() -> None:
    """Which is the narrower theorem there, for little noise."""
    assert RULES["information"][0]().promise.theorem == "mutual information"


def test_an_unprotected_holdout_fails_at_once() -> None:
    """The control: with the means themselves as answers the majority vote is far from 1/2."""
    labels, models = coins(0, 1)[0], coins(1, K)
    means = (models == labels).mean(axis=1)
    vote = 2 * np.where((means > 0.5)[:, None], models, ~models).sum(axis=0) >= K
    assert (vote == labels).mean() > 0.55


def test_the_parameter_free_ladder_promises_what_holds_for_all_answers_to_come() -> None:
    """A thousand submissions that flip two predictions of the record are told 0.62 to 0.63 on coins."""
    rule = ParameterFreeLadder(n=N, grid=1)
    labels, best = coins(3, 1)[0], coins(4, 1)[0]
    desk, told, places = Holdout(rule, labels, keeper=Memory()), -1.0, np.random.default_rng(5)
    seen = []
    for _ in range(1000):
        model = best.copy()
        model[places.choice(N, 2, replace=False)] ^= True
        try:
            answer = desk.ask(model == labels)
        except Spent:
            break
        seen.append(desk.statement.width)
        assert abs(answer - 0.5) <= seen[-1] <= rule.promise.width
        if answer > told:
            best, told = model, answer
    assert told > 0.55  # it is misled, as it says
    assert seen == sorted(seen) and "0.499" in str(rule.promise)
