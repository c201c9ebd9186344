"""The time grid: what depends on data leaves at public moments, by a clock that the test sets."""

import math
import threading
import time

import numpy as np
import pytest

import tacit
from curator.test_silence import ROWS, SCHEMA, doors
from tacit.core.errors import BadParameter, BadQuestion, BudgetExceeded, EngineError
from tacit.curator import Curator
from tacit.curator.pace import Pace


class Clock:
    """Time that passes when work says so, and when somebody sleeps."""

    def __init__(self):
        self.time, self._passes = 0.0, threading.Condition()

    def now(self):
        return self.time

    def passes(self, seconds):
        with self._passes:
            self.time += seconds
            self._passes.notify_all()

    def wait(self, done, until):
        with self._passes:
            while not done.is_set() and self.time < until:
                self._passes.wait(0.001)

    def sleep(self, until):
        self.passes(max(0.0, until - self.time))


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def curator(tmp_path, clock):
    table, budget = tacit.Table(ROWS, SCHEMA), tacit.Budget(epsilon=1000, delta="1e-6")
    with Curator(table, ledger=tmp_path / "people.ledger", budget=budget, time_grid="0.1", deadline=1) as c:
        c.pace.clock, c.pace.uniform = clock, lambda: 0.0
        yield c


def slowed(curator, clock, monkeypatch, seconds, then=None):
    """An engine that takes so long by this clock, and fails if told so."""
    real = type(curator._registration.engine).answer

    def answer(plan, content=None):
        clock.passes(seconds)
        if then is not None:
            raise then
        return real(curator._registration.engine, plan, content)

    monkeypatch.setattr(curator._registration.engine, "answer", answer)


COUNT = "SELECT COUNT(*) FROM people WHERE age < {}"


@pytest.mark.parametrize(
    ("took", "left"), [(0.0, 0.1), (0.03, 0.1), (0.099, 0.1), (0.101, 0.2), (0.55, 0.6), (0.93, 1.0)]
)
def test_an_answer_leaves_at_a_multiple_of_the_grid(curator, clock, monkeypatch, took, left):
    slowed(curator, clock, monkeypatch, took)
    start = clock.time
    assert curator.ask(COUNT.format(10), epsilon=1)["count"].values.size == 1
    assert clock.time - start == pytest.approx(left)


@pytest.mark.parametrize(("took", "left"), [(0.03, 0.1), (0.55, 0.6), (7.0, 7.0)])
def test_an_error_leaves_on_the_grid_as_an_answer_does(curator, clock, monkeypatch, took, left):
    slowed(curator, clock, monkeypatch, took, IndexError("4711"))
    start = clock.time
    with pytest.raises(EngineError) as silent:
        curator.ask(COUNT.format(10), epsilon=1)
    assert silent.value.__context__ is None and "4711" not in str(silent.value)
    assert clock.time - start == pytest.approx(left)


@pytest.mark.parametrize("public", [0.0, 0.04, 0.1, 0.73])
def test_the_grid_counts_from_the_arrival_and_the_deadline_from_the_price(clock, public):
    """What is public takes its own time before; then there are ten steps more, and after them it is too late."""
    pace = Pace("0.1", 1, clock)
    pace.uniform = lambda: 0.0
    last = max(1, math.ceil(public / 0.1)) + 10
    for took in (0.0, 0.05, 0.31, 0.9, 0.96, 1.2, 50.0):
        arrived = clock.time = 0.0
        clock.passes(public)
        if public + took > last * 0.1:
            with pytest.raises(EngineError):
                pace.let_out(arrived, took, lambda took=took: clock.passes(took))
        else:
            pace.let_out(arrived, took, lambda took=took: clock.passes(took))
            assert clock.time == pytest.approx(0.1 * max(1, math.ceil((public + took) / 0.1)))


@pytest.mark.parametrize("took", [0.0, 0.03, 0.0999, 0.1001, 0.15])
def test_the_moment_is_blurred_so_that_no_edge_of_the_grid_tells_more_than_another(clock, took):
    """P[a step later] is the share of a step that the work took beyond the last multiple: it moves with T, and no more.

    Of 1500 draws the share is within 0.084 of that (6.5 deviations, false alarm below 1e-10).
    """
    pace, later = Pace("0.1", 1, clock), 0
    for i in range(draws := 1500):
        arrived = clock.time
        pace.let_out(arrived, i, lambda: clock.passes(took))
        later += round((clock.time - arrived) / 0.1) - 1
    assert abs(later / draws - took / 0.1) < 0.084


def test_every_door_keeps_to_the_grid(curator, clock, monkeypatch):
    """Whatever is read takes 10 ms: the first answer leaves on the grid, and the stored one at once."""
    asked = dict(doors(curator))
    slowed(curator, clock, monkeypatch, 0.01)
    for name, ask in asked.items():
        start = clock.time
        first = np.asarray(ask(), float)
        steps = (clock.time - start) / 0.1
        assert math.isclose(steps, round(steps), abs_tol=1e-6) and 1 <= round(steps) <= 10, (name, steps)
        start = clock.time
        assert np.array_equal(np.asarray(ask(), float), first) and clock.time == start, name


def test_after_the_deadline_a_question_fails_silently_and_its_answer_is_free_later(curator, monkeypatch, clock):
    going, real = threading.Event(), curator._registration.engine.answer

    def answer(plan, content=None):
        clock.passes(5.0)
        going.wait(60)
        return real(plan, content)

    monkeypatch.setattr(curator._registration.engine, "answer", answer)
    stored = threading.Event()
    store = curator.ledger.store
    monkeypatch.setattr(curator.ledger, "store", lambda *a, **k: (store(*a, **k), stored.set())[0])
    with pytest.raises(EngineError) as late:
        curator.ask(COUNT.format(10), epsilon=1)
    assert str(late.value) == str(EngineError()) and type(late.value) is EngineError
    left = curator.remaining
    assert left < 1000
    going.set()
    assert stored.wait(60)
    monkeypatch.setattr(curator._registration.engine, "answer", None)  # it is not asked again
    start = clock.time
    assert curator.ask(COUNT.format(10), epsilon=1)["count"].values.size == 1
    assert curator.remaining == left and clock.time <= start + 0.2 + 1e-9  # when it would have left


def test_a_question_asked_again_while_it_is_computed_starts_no_second_draw(curator, monkeypatch, clock):
    going, calls, real = threading.Event(), [], curator._registration.engine.answer

    def answer(plan, content=None):
        calls.append(plan)
        clock.passes(5.0)
        going.wait(60)
        return real(plan, content)

    monkeypatch.setattr(curator._registration.engine, "answer", answer)
    with pytest.raises(EngineError):
        curator.ask(COUNT.format(10), epsilon=1)
    again = []
    asker = threading.Thread(target=lambda: again.append(curator.ask(COUNT.format(10), epsilon=1)))
    asker.start()
    going.set()
    asker.join(60)
    assert len(again) == len(calls) == 1


def test_refusals_from_public_facts_do_not_wait(curator, clock):
    start = clock.time
    with pytest.raises(BadQuestion):
        curator.ask("SELECT COUNT(*) FROM nobody", epsilon=1)
    with pytest.raises(BudgetExceeded):
        curator.ask(COUNT.format(10), epsilon=10_000)
    curator.offer(COUNT.format(10), epsilon=1)
    assert clock.time == start


def test_without_a_grid_nothing_waits_and_no_thread_is_started(monkeypatch):
    pace = Pace(None, None)
    monkeypatch.setattr(threading, "Thread", None)
    assert not pace.on and pace.let_out(0.0, 1, lambda: 7) == 7


@pytest.mark.parametrize(
    "wrong",
    [
        {"time_grid": 0},
        {"time_grid": -1},
        {"time_grid": "soon"},
        {"time_grid": "0.1", "deadline": "0.25"},
        {"time_grid": 1, "deadline": 0},
        {"deadline": 5},
    ],
)
def test_a_grid_that_is_none_is_refused(wrong):
    with pytest.raises(BadParameter, match=r"time_grid|deadline"):
        Pace(wrong.get("time_grid"), wrong.get("deadline"))


def test_by_the_real_clock_an_answer_is_not_early(tmp_path):
    """A lower end only: how late it is depends on the machine."""
    import time

    table = tacit.Table(ROWS, SCHEMA)
    with Curator(table, ledger=tmp_path / "a", budget=tacit.Budget(epsilon=1), time_grid="0.2", deadline=60) as c:
        start = time.monotonic()
        c.ask("SELECT COUNT(*) FROM people", epsilon="0.1")
        assert time.monotonic() - start >= 0.2


def doors_of_repeats(c):
    stream = c.above_threshold(50, epsilon=1, name="repeats")
    yield lambda: c.ask(COUNT.format(77), epsilon=1)
    yield lambda: c.bounds("age", epsilon=2)
    yield lambda: stream.ask(COUNT.format(78))


def test_a_repeat_does_not_leave_before_the_answer_itself(tmp_path):
    """Repeats are free: one that left as soon as the answer is stored would tell when the work ended."""
    table, budget = tacit.Table(ROWS, SCHEMA), tacit.Budget(epsilon=1000, delta="1e-6")
    with tacit.Curator(table, ledger=tmp_path / "l", budget=budget, time_grid="0.4", deadline=40) as c:
        for ask in doors_of_repeats(c):
            left = dict[int, float]()

            def asker(name, ask=ask, left=left):
                ask()
                left[name] = time.monotonic()

            askers = [threading.Thread(target=asker, args=(i,)) for i in range(6)]
            for each in askers:
                each.start()
                time.sleep(0.03)
            for each in askers:
                each.join(60)
            assert len(left) == 6 and min(left.values()) > left[0] - 0.02


def test_a_thread_that_cannot_be_started_is_one_silent_error_and_the_question_can_be_asked_again(
    curator, monkeypatch, clock
):
    def start(self):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", start)
        begun = clock.time
        with pytest.raises(EngineError):
            curator.ask(COUNT.format(10), epsilon=1)
        steps = (clock.time - begun) / 0.1
        assert math.isclose(steps, round(steps), abs_tol=1e-6)
    assert curator.ask(COUNT.format(10), epsilon=1)["count"].values.size == 1
