"""Sessions: one life, one price, no copies."""

from __future__ import annotations

import copy
import os
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest

from tacit.core.errors import BadData, Exhausted
from tacit.core.interactive import Interactive, MechanismSession
from tacit.mechanisms.sparse_vector.above_threshold import AboveThreshold
from tacit.mechanisms.sparse_vector.gaussian_sparse import GaussianSparse
from tacit.mechanisms.sparse_vector.numeric_sparse import NumericSparse
from tacit.mechanisms.sparse_vector.sparse import Sparse
from tacit.testing.sources import Seeded

ONE = AboveThreshold(threshold=0, epsilon=1)
THREE = Sparse(threshold=0, epsilon=1, count=3)
NUMBERS = NumericSparse(threshold=0, epsilon=1, count=3)
CAPPED = GaussianSparse(threshold=0, queries=5, count=3, sigma_threshold=2, sigma_query=3)
HIGH, LOW = 10**6, -(10**6)


@pytest.mark.parametrize("mechanism", [ONE, THREE, NUMBERS, CAPPED], ids=lambda m: type(m).__name__)
def test_a_life_ends_with_its_last_hit(mechanism: Interactive) -> None:
    session = mechanism.start()
    assert session.ask(LOW) in (False, None)
    for _ in range(mechanism.count):
        answer = session.ask(HIGH)
        assert answer is True or abs(answer - HIGH) < 10**4
    before = session.state
    for value in (LOW, HIGH, "never looked at"):
        with pytest.raises(Exhausted, match=f"{mechanism.count} answer"):
            session.ask(value)
    assert session.state == before


def test_a_capped_life_ends_with_its_last_query() -> None:
    session = CAPPED.start()
    assert [session.ask(LOW) for _ in range(5)] == [False] * 5
    with pytest.raises(Exhausted, match="5 in all"):
        session.ask(LOW)


@pytest.mark.parametrize("mechanism", [ONE, THREE, NUMBERS], ids=lambda m: type(m).__name__)
def test_the_price_is_paid_on_opening_and_answers_below_are_free(mechanism: Interactive) -> None:
    session = mechanism.start()
    assert session.spent == mechanism.loss()
    assert session.spent.epsilon() == 1
    for _ in range(1000):
        session.ask(LOW)
    session.ask(HIGH)
    assert session.spent == mechanism.loss()


def test_a_session_cannot_be_copied_but_its_state_can_be_kept() -> None:
    session = THREE.start()
    session.ask(HIGH)
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="two sessions cost two prices"):
            attempt(session)
    kept = pickle.loads(pickle.dumps(session.state))
    assert kept == session.state
    again = THREE.resume(kept)
    assert [again.ask(HIGH), again.ask(LOW), again.ask(HIGH)] == [True, False, True]
    with pytest.raises(Exhausted):
        again.ask(LOW)


def test_neither_repr_shows_the_bar() -> None:
    session = Sparse(threshold=123456, epsilon="1e-3", count=3).start()
    assert "bar" not in repr(session.state)
    assert str(session.state.bar) not in repr(session).replace("threshold=123456", "")


def test_a_bad_value_is_refused_and_changes_nothing() -> None:
    session = THREE.start()
    before = session.state
    for value in (0.5, "7", None, [1, 2], True):
        with pytest.raises(BadData):
            session.ask(value)
    assert session.state is before


def test_threads_share_one_count() -> None:
    session = Sparse(threshold=0, epsilon=1, count=50).start()

    def ask(_: int) -> bool:
        try:
            return session.ask(HIGH)
        except Exhausted:
            return False

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(ask, range(400))) == 50


def test_a_step_is_a_pure_function() -> None:
    state = THREE.begin(Seeded(1))
    assert state == THREE.begin(Seeded(1))
    assert THREE.step(state, 2, Seeded(2)) == THREE.step(state, 2, Seeded(2))


@pytest.mark.parametrize("mechanism", [ONE, THREE, CAPPED], ids=lambda m: type(m).__name__)
def test_asking_one_by_one_is_the_batch(mechanism: Interactive) -> None:
    """Short batches draw in the order of questions, so with equal words both tell the same."""
    x = [0, 3, -2, 1, 4]
    for seed in range(200):
        source, tops = Seeded(seed), []
        session = MechanismSession(mechanism, mechanism.begin(source), source)
        for i, value in enumerate(x):
            if len(tops) < mechanism.count and session.ask(value):
                tops.append(i)
        batch = mechanism.sample(x, Seeded(seed))
        assert tops == ([] if batch is None else [batch] if isinstance(batch, int) else list(batch))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_session_answers_nothing():
    session = AboveThreshold(threshold=5, epsilon=1).start()
    child = os.fork()
    if not child:
        try:
            session.ask(0)
        except Exhausted:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
