"""One holdout set, one session: questions, fingerprints, and a state that survives the process."""

import copy
import json
import math
import os
import pickle
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from threading import Barrier, BrokenBarrierError

import numpy as np
import pytest
from typer.testing import CliRunner

from tacit.cli import app
from tacit.core.accounting.budget import Budget
from tacit.core.errors import BadData, BadParameter, BudgetExceeded, Exhausted, LedgerConflict, Refused
from tacit.holdout import (
    GaussianAnswers,
    GuessAndCheck,
    Ladder,
    Memory,
    ParameterFreeLadder,
    ReusableHoldout,
    Rule,
    Spent,
    Unanswered,
)
from tacit.holdout.questions import HoldoutQuestion, _filled, fingerprint, values_in_steps, written
from tacit.ledger import Ledger
from tacit.testing.sources import Seeded

N = 400
X = np.arange(3 * N).reshape(N, 3) % 7
Y = np.arange(N) % 2 == 0
TRAIN = (X[::-1].copy(), ~Y)
RULE = GuessAndCheck(n=N, width="0.4")
PRIVATE = ReusableHoldout(n=N, questions=10, exceptions=3, epsilon=1)


def even(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.asarray(x[:, 0] % 2 == 0)


def test_a_statistic_or_a_pair_is_asked_alike() -> None:
    by_statistic = RULE.open((X, Y), TRAIN).ask(even)
    by_pair = RULE.open((X, Y)).ask((even(*TRAIN).mean(), even(X, Y)))
    assert by_statistic == by_pair
    ladder = Ladder(n=N, questions=5)
    first, second = (ladder.open((X, Y), keeper=Memory()) for _ in range(2))
    assert first.ask(even(X, Y)) == second.ask(even)


def test_a_guess_is_needed_where_it_is_checked() -> None:
    for question in (even, even(X, Y)):
        with pytest.raises(BadParameter, match="a guess"):
            RULE.open((X, Y)).ask(question)
    with pytest.raises(BadParameter, match="guess"):
        RULE.open((X, Y)).ask((float("nan"), even(X, Y)))


@pytest.mark.parametrize("guess", ["abc", "1/0", "secret 7", [0.5], {}, object(), 1j, 10**400])
def test_a_guess_that_is_no_number_is_refused_by_its_type(guess: object) -> None:
    with pytest.raises(BadParameter, match=f"guess must be a number.*got '{type(guess).__name__}'"):
        RULE.open((X, Y)).ask((guess, even(X, Y)))


def test_a_guess_is_any_number_from_0_to_1() -> None:
    third = RULE.open((X, Y)).ask((1 / 3, even(X, Y)))
    for guess in ("1/3", Fraction(1, 3), np.float64(1 / 3), np.array(1 / 3)):
        assert RULE.open((X, Y)).ask((guess, even(X, Y))) == third
    assert RULE.guess_in_steps(1) == RULE.whole and RULE.guess_in_steps(0) == 0
    for beyond in (float("inf"), 57, -0.1, "1.01"):
        with pytest.raises(BadParameter, match="guess must be from 0 to 1"):
            RULE.open((X, Y)).ask((beyond, even(X, Y)))


@pytest.mark.parametrize(
    "on_training",
    [
        lambda x, y: ["a name of a person"] * len(y),
        lambda x, y: [[1], [2, 3]],
        lambda x, y: 0.5,
        lambda x, y: np.zeros(len(y) - 1),
        lambda x, y: None,
    ],
)
def test_a_statistic_is_checked_on_the_training_set_too(on_training: Callable[..., object]) -> None:
    """And what it gave there is not shown."""
    desk = RULE.open((X, Y), TRAIN)
    with pytest.raises(BadData, match=r"the statistic must be .* each of 400 records; got something else$"):
        desk.ask(lambda x, y: even(x, y) if np.array_equal(y, Y) else on_training(x, y))


@pytest.mark.parametrize(
    "values",
    [
        *(np.zeros(N - 1), np.zeros((N, 2)), np.array(["a"] * N), 0.5, np.ma.masked_array(np.zeros(N), Y), None),
        *([[1], [2, 3]], object()),
    ],
)
def test_values_of_another_shape_are_refused(values: object) -> None:
    with pytest.raises(BadData, match=r"one for each record|masked|array of them"):
        RULE.open((X, Y)).ask((0.5, values))


@pytest.mark.parametrize(
    "values",
    [
        np.where(Y, np.nan, 0.5),
        np.where(Y, 4.0, 0.5),  # squared errors
        np.where(Y, -0.1, 0.5),
        np.arange(N) % 3,  # labels of classes
        np.where(Y, -1, 1),
    ],
)
def test_values_that_are_passed_are_the_askers_own_and_refused_outside_0_to_1(values: np.ndarray) -> None:
    """And a statistic is refused for its values on the training records."""
    desk = RULE.open((X, Y), TRAIN)
    for question in ((0.5, values), lambda x, y: values):
        with pytest.raises(BadData, match=r"from 0 to 1, without NaN; .* `tacit.holdout.metrics` does"):
            desk.ask(question)
    assert desk.state.asked == 0
    assert desk.ask((0.5, Y.astype(int))) == 0.5


def test_a_statistic_cannot_change_the_records() -> None:
    pandas = pytest.importorskip("pandas")
    x, frame = X.copy(), pandas.DataFrame(X, columns=list("abc"))
    desk = Ladder(n=N, questions=5).open((x, frame, Y))

    def meddling(x: np.ndarray, frame: object, y: np.ndarray) -> np.ndarray:
        frame["a"] = 7  # type: ignore[index]
        x[:] = 0
        return y

    with pytest.raises(ValueError, match="read-only"):
        desk.ask(meddling)
    assert np.array_equal(x, X) and np.array_equal(frame.to_numpy(), X)
    assert desk.fingerprint == fingerprint((x, frame, Y))


def test_values_of_a_function_are_clamped_and_never_refused() -> None:
    odd = np.array([np.nan, np.inf, -np.inf, -3.0, 7.0, 0.5, 2**-11, 0.0])
    assert values_in_steps(odd, 8, Fraction(1, 1024)).tolist() == [0, 1024, 0, 0, 1024, 512, 1, 0]
    assert values_in_steps(np.array([-1, 0, 1, 5]), 4, Fraction(1)).tolist() == [0, 0, 1, 1]
    assert values_in_steps(np.array([True, False]), 2, Fraction(1, 4)).tolist() == [4, 0]
    with pytest.raises(BadData, match="only 0 and 1"):
        values_in_steps(np.array([0.5, 0.5]), 2, Fraction(1))


def test_one_record_moves_a_sum_by_no_more_than_a_unit() -> None:
    grid = Fraction(1, 64)
    for old in (0.0, 0.3, 1.0, np.nan):
        for new in (-9.0, 0.5, 2.0, np.inf):
            sums = [int(values_in_steps(np.array([v, 0.2, 0.7]), 3, grid).sum()) for v in (old, new)]
            assert abs(sums[0] - sums[1]) <= 64


def test_the_number_of_records_must_be_that_of_the_rule() -> None:
    with pytest.raises(BadData, match="400"):
        RULE.open(X[:-1])
    with pytest.raises(BadData):
        RULE.open((X, Y[:-1]))


def test_a_fingerprint_is_of_the_records_alone() -> None:
    kind = np.dtype([("a", "i1"), ("b", "f8")], align=True)
    one, other = np.zeros(4, kind), np.full(4 * kind.itemsize, 255, np.uint8).view(kind)
    other["a"], other["b"] = one["a"], one["b"]  # the bytes between them differ
    assert fingerprint(one) == fingerprint(other)
    other["a"][2] = 1
    assert fingerprint(one) != fingerprint(other)
    packed = np.zeros(3, [("a", "i1"), ("b", "f8"), ("c", "i2", (2,))])
    assert _filled(packed.dtype) == packed.dtype.itemsize  # then the bytes are hashed as they are
    with pytest.raises(BadData):
        fingerprint(np.zeros(3, [("a", "i1"), ("b", np.longdouble)]))
    sets = [np.array([frozenset(words)], object) for words in (["x", "y", "zz"], ["zz", "y", "x"])]
    assert fingerprint(sets[0]) == fingerprint(sets[1])
    assert fingerprint(np.array([{"a": 1, "b": (2, None)}], object)) == fingerprint(
        np.array([{"b": (2, None), "a": 1}], object)
    )
    long = [np.array([np.arange(5000) + more, None], object) for more in (0, 1e-10)]
    assert fingerprint(long[0]) != fingerprint(long[1]) == fingerprint(long[1].copy())
    mixed = [1, 2.5, "a", None, (True,), [b"x", ()]]
    assert written(mixed) == repr(mixed)  # as it was before sets had a text of their own
    for odd in (np.ones(3, np.longdouble), np.array([object()], object), np.array([len, None], object)):
        with pytest.raises(BadData):
            fingerprint(odd)


def test_fingerprints() -> None:
    assert fingerprint((X, Y)) == fingerprint((X.copy(), Y.copy()))
    changed = X.copy()
    changed[5, 1] += 1
    others = [(changed, Y), (X, ~Y), X, (X[::-1], Y), (X.astype(float), Y), (X.T.reshape(N, 3), Y)]
    assert len({fingerprint(other) for other in [(X, Y), *others]}) == 7
    words = np.array(["a", None, "b"], object)
    assert fingerprint(words) == fingerprint(words.copy()) != fingerprint(words[::-1])
    assert fingerprint(np.asfortranarray(X)) == fingerprint(X)


def test_other_records_are_refused() -> None:
    desk = RULE.open((X, Y))
    desk.check((X, Y))
    with pytest.raises(Refused, match="fingerprints differ"):
        desk.check(TRAIN)
    assert RULE.open((X, Y), known_as=desk.fingerprint).fingerprint == desk.fingerprint
    with pytest.raises(Refused, match="fingerprints differ"):
        RULE.open(TRAIN, known_as=desk.fingerprint)
    with pytest.raises(Refused, match="The training set is the holdout set"):
        RULE.open((X, Y), (X.copy(), Y.copy()))


def test_a_named_question_that_is_asked_at_once_is_answered_once() -> None:
    """The other asks after this one has looked, and before it takes its step."""
    keeper, result = Memory(), []
    one, other = (RULE.open((X, Y), TRAIN, keeper=keeper) for _ in range(2))
    read = one._session.read

    def late() -> tuple[int, bytes]:
        one._session.read = read  # type: ignore[method-assign]
        result.append(other.ask(even, "even"))
        return read()

    one._session.read = late  # type: ignore[method-assign]
    assert [one.ask(even, "even")] == result and one.state.asked == 1


def test_a_named_question_is_answered_once() -> None:
    desk = GaussianAnswers(n=N, questions=50, sigma="0.05").open((X, Y))
    first = desk.ask(even, "even")
    assert [desk.ask(even, "even") for _ in range(5)] == [first] * 5
    assert desk.state.asked == 1
    assert len({desk.ask(even) for _ in range(5)} | {first}) == 6  # without a name each is drawn afresh
    assert desk.state.asked == 6


def test_questions_are_not_distinguished_by_private_values() -> None:
    """Two statistics that agree on every record get noises of their own: to repeat one would tell that they agree."""
    desk = GaussianAnswers(n=N, questions=50, sigma="0.05").open((X, Y))
    assert desk.ask(even, "even") != desk.ask(lambda x, y: x[:, 0] % 2 != 1, "not odd")


def test_a_session_in_memory_is_neither_copied_nor_forked() -> None:
    desk = RULE.open((X, Y))
    for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="copied"):
            duplicate(desk)
    child = os.fork()
    if not child:  # pragma: no cover
        try:
            desk.ask((0.5, Y))
        except Exhausted:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_to_open_the_same_records_again_does_not_renew_them() -> None:
    first = PRIVATE.open((X, Y))
    result = first.ask((0.9, Y), "a")
    again = PRIVATE.open((X.copy(), Y.copy()), TRAIN)
    assert (again.ask((0.9, Y), "a"), again.state.asked) == (result, 1)
    while not PRIVATE.over(again.state):
        again.ask((0.9, Y))
    del again
    for spent in (first, PRIVATE.open((X, Y))):
        with pytest.raises(Spent):
            spent.ask((0.5, Y))
    with pytest.raises(Refused, match=r"already begun to answer by ReusableHoldout.n=400, .*. Continue with that rule"):
        RULE.open((X, Y))
    assert RULE.open(TRAIN).state.asked == 0  # other records are another holdout
    assert RULE.open((X, Y), keeper=Memory()).state.asked == 0  # and an experiment may begin anew


def test_threads_that_open_the_same_records_share_one_session() -> None:
    rule = GaussianAnswers(n=N, questions=40, sigma="0.05")
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: rule.open((X, Y)).ask(even), range(40)))
    assert rule.open((X, Y)).state.asked == 40


def test_a_forked_process_opens_other_records_only() -> None:
    RULE.open((X, Y))
    child = os.fork()
    if not child:  # pragma: no cover
        try:
            RULE.open(TRAIN).ask((0.5, Y))
            RULE.open((X, Y))
        except Exhausted:
            os._exit(7 if RULE.open(TRAIN).state.asked == 1 else 0)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_a_stale_step_is_refused() -> None:
    life = Memory().start(key="k", loss=RULE.loss(), state=b"0", analyst="a")
    assert life.step(0, "q", b"1", b"x") == b"x"
    with pytest.raises(LedgerConflict):
        life.step(0, "r", b"1", b"y")
    assert life.read() == (1, b"1")


def test_of_two_steps_at_once_one_is_stale() -> None:
    """Each thread waits for the other between its look at the count and its step, unless one has to be first."""
    life, both = Memory().start(key="k", loss=RULE.loss(), state=b"0", analyst="a"), Barrier(2)

    class Met(int):
        def __ne__(self, other: object) -> bool:
            found = int(self) != other
            with suppress(BrokenBarrierError):
                both.wait(0.2)
            return found

    def step(name: str) -> str:
        try:
            life.step(Met(0), name, b"1", b"x")
        except LedgerConflict:
            return "stale"
        return "taken"

    with ThreadPoolExecutor(2) as threads:
        assert sorted(threads.map(step, "qr")) == ["stale", "taken"]
    assert life.read() == (1, b"1")


def test_what_another_process_did_meanwhile_is_taken_into_account(monkeypatch: pytest.MonkeyPatch) -> None:
    keeper, rule = Memory(), Ladder(n=N, questions=2, rise="1/4")
    mine, theirs = (rule.open((X, Y), keeper=keeper) for _ in range(2))
    step, raced = mine._session.step, []

    def late(*given: object) -> bytes:
        if not raced:
            raced.append(theirs.ask(np.ones(N)))
        return step(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(mine._session, "step", late)
    monkeypatch.setattr(theirs, "_session", Later(step, mine._session))
    assert mine.ask(Y) == 1.0  # theirs was the better
    assert raced == [1.0]
    assert mine.state.asked == theirs.state.asked == 2
    with pytest.raises(Spent):
        theirs.ask(Y)


class Later:
    """A session without the delay."""

    def __init__(self, step: object, life: object) -> None:
        self.step, self.read, self.find = step, life.read, life.find  # type: ignore[attr-defined]


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    path = tmp_path / "holdout.ledger"
    Ledger.open(path, Budget(epsilon=2), "holdout")
    return path


def test_a_keeper_that_is_no_ledger_is_refused_in_words(ledger: Path) -> None:
    for wrong in (ledger, str(ledger), 3):
        with pytest.raises(BadParameter, match=r"keeper must be a ledger that is open, as `tacit.Ledger.open"):
            PRIVATE.open((X, Y), keeper=wrong)  # type: ignore[arg-type]


def test_a_ledger_keeps_the_session_across_openings(ledger: Path) -> None:
    first = PRIVATE.open((X, Y), keeper=Ledger.open(ledger))
    result = [first.ask((0.9, Y), name) for name in ("a", "b")]
    again = PRIVATE.open((X, Y), keeper=Ledger.open(ledger))
    assert again.state == first.state
    assert again.state.asked == 2
    assert [again.ask((0.9, Y), name) for name in ("a", "b")] == result
    while not PRIVATE.over(again.state):
        again.ask((0.9, Y))
    with pytest.raises(Spent):
        PRIVATE.open((X, Y), keeper=Ledger.open(ledger)).ask((0.5, Y))
    assert Ledger.open(ledger).spent().epsilon() == 1  # once, however often it was opened


def test_no_other_rule_starts_the_same_holdout_afresh(ledger: Path) -> None:
    PRIVATE.open((X, Y), keeper=Ledger.open(ledger))
    for other in (ReusableHoldout(n=N, questions=10, exceptions=3, epsilon="0.9"), Ladder(n=N, questions=3)):
        with pytest.raises(Refused, match="already begun to answer by"):
            other.open((X, Y), keeper=Ledger.open(ledger), unprotected=isinstance(other, Ladder))
    like = ReusableHoldout(n=N, questions=11, exceptions=3, epsilon=1)  # at the same price
    with pytest.raises(Refused, match=r"by ReusableHoldout.n=400, .* questions=10"):
        like.open((X, Y), keeper=Ledger.open(ledger))
    fresh = PRIVATE.open(TRAIN, keeper=Ledger.open(ledger))  # other records are another holdout, at its own price
    assert fresh.state.asked == 0
    with pytest.raises(BudgetExceeded):
        PRIVATE.open((X + 1, Y), keeper=Ledger.open(ledger))


@pytest.mark.parametrize(
    "rule", [RULE, Ladder(n=N, questions=9), ParameterFreeLadder(n=N)], ids=lambda r: type(r).__name__
)
def test_a_ledger_records_no_privacy_for_an_unprotected_holdout(ledger: Path, rule: Rule) -> None:
    with pytest.raises(Refused, match="Pass unprotected=True to declare"):
        rule.open((X, Y), keeper=Ledger.open(ledger))
    desk = rule.open((X, Y), keeper=Ledger.open(ledger), unprotected=True)
    result = desk.ask((0.9, Y), "y")
    again = rule.open((X, Y), keeper=Ledger.open(ledger), unprotected=True)
    assert (again.state, again.ask((0.9, Y), "y")) == (desk.state, result)
    assert desk.spent.epsilon() > 10**6
    listed = CliRunner().invoke(app, ["ledger", "show", "--json", str(ledger)])
    (row,) = json.loads(listed.output)["charges"]
    assert (row["kind"], row["paid"], row["released"]) == ("holdout", 0, "session")
    assert row["question"] == f"{rule!r}, without privacy"


def test_a_vacuous_rule_is_refused_with_what_would_do() -> None:
    """284 records and 500 questions: it would promise answers within 1, with the noisiest epsilon."""
    assert ReusableHoldout(n=284, questions=500, exceptions=20).promise.width >= 0.5
    rule = ReusableHoldout(n=284, questions=500, exceptions=20, epsilon=8)
    with pytest.raises(BadParameter, match="promise below 1/2") as caught:
        rule.open(np.arange(284))
    found = re.search(r"(\d+) records would do or, of 284 records, (\d+) questions", str(caught.value))
    assert found is not None
    records, questions = map(int, found.groups())
    assert replace(rule, n=records).promise.width < 0.5 <= replace(rule, n=records - 1).promise.width
    assert replace(rule, questions=questions).promise.width < 0.5
    with pytest.raises(BadParameter, match="promise below 1/2"):
        GuessAndCheck(n=400, width="0.6").open(Y)


def test_a_small_epsilon_does_not_burn_exceptions_on_right_guesses() -> None:
    """The threshold is above the noise: most sessions end without an exception, where before all were burnt."""
    rule = ReusableHoldout(n=N, questions=100, exceptions=2, epsilon="0.5", grid=1)
    assert not rule.burns and 0.1 < float(rule.effective_threshold) < 0.5
    told = []
    for seed in range(20):
        state, source, question = rule.begin(Seeded(seed)), Seeded(seed), HoldoutQuestion(0, np.zeros(N, np.int64))
        for _ in range(100):
            if not rule.over(state):
                state, _ = rule.step(state, question, source)
        told.append(state.told)
    assert sum(count == 0 for count in told) >= 5
    burning = ReusableHoldout(n=N, questions=100, exceptions=2, epsilon="0.5", threshold="0.05", grid=1)
    assert burning.burns and "raise the threshold or epsilon" in burning.left(burning.begin(Seeded(1)))


def test_a_round_is_answered_once_and_counted_once(ledger: Path) -> None:
    rule = GuessAndCheck(n=N, width="0.2", questions=30, rounds=3)
    desk = rule.open((X, Y), keeper=Ledger.open(ledger), unprotected=True)
    first = desk.ask_all([(0.9, Y), (0.5, Y), even(X, Y)][:2], names=["a", "b"])
    assert first[1] == 0.5 and abs(first[0] - 0.5) <= 1 / 128
    again = rule.open((X, Y), keeper=Ledger.open(ledger), unprotected=True)
    assert again.ask_all([(0.9, Y), (0.5, Y)], names=["a", "b"]) == first
    assert (again.state.asked, again.state.told, again.state.rounds) == (2, 1, 1)
    with pytest.raises(BadParameter, match="at most 10 in a round"):
        again.ask_all([(0.5, Y)] * 11)
    again.ask((0.5, Y))
    again.ask_all([(0.5, Y)] * 10)
    with pytest.raises(Spent):
        again.ask((0.5, Y))
    assert again.ask_all([]) == []
    with pytest.raises(BadParameter, match="names"):
        again.ask_all([(0.5, Y)], names=["a", "b"])


def test_what_a_mean_is_too_uncertain_for_is_not_answered() -> None:
    rule = GuessAndCheck(n=N, width="0.06")
    desk = rule.open((X, Y))
    with pytest.raises(Unanswered, match="Other questions may be answered"):
        desk.ask((0.9, Y))
    assert math.isnan(desk.ask_all([(0.9, Y)])[0])
    assert abs(desk.ask((0.0, np.ones(N, bool))) - 1) <= 0.06
    assert (desk.state.asked, desk.state.told) == (3, 3)


def test_the_truth_is_known_more_closely_near_0_and_1() -> None:
    desk = Ladder(n=N, questions=5, rise="1/16").open((X, Y))
    answer = desk.ask(np.arange(N) < N - 4)
    low, high = desk.interval(answer)
    width = desk.statement.width
    assert answer - 0.9 * width < low < answer == high == 1.0
