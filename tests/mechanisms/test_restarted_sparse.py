"""Restarts: within their price, and worth it where there are many."""

from fractions import Fraction

import pytest

from tacit.core.errors import Exhausted
from tacit.core.law import hockey_stick
from tacit.mechanisms import AboveThreshold, RestartedSparse, Sparse
from tacit.testing.sources import Seeded


@pytest.mark.parametrize("count", [1, 2, 30, 1000, 10**5])
@pytest.mark.parametrize(("epsilon", "delta"), [("0.1", "1e-9"), (1, "1e-6"), (8, "1e-3")])
def test_the_whole_session_is_within_its_price(count, epsilon, delta):
    m = RestartedSparse(threshold=0, epsilon=epsilon, delta=delta, count=count)
    assert m.loss().epsilon(delta) <= float(Fraction(epsilon))
    assert m.loss().epsilon(delta) > 0.999 * float(Fraction(epsilon)) or count == 1
    assert m.each.epsilon >= Fraction(epsilon) / count
    pure = RestartedSparse(threshold=0, epsilon=epsilon, count=count)
    assert pure.loss().epsilon() == pytest.approx(float(Fraction(epsilon)), rel=1e-12)
    assert pure.error() >= m.error()


def test_the_exact_law_is_within_the_price_at_its_delta():
    m = RestartedSparse(threshold=1, epsilon=1, delta="0.05", count=3, queries=6)
    x, y = (0, 0, 1, 0, 0, 1), (1, 1, 0, 1, 1, 0)
    assert max(hockey_stick(m.law(x), m.law(y), 1.0), hockey_stick(m.law(y), m.law(x), 1.0)) <= 0.05
    assert sum(m.law(x).masses.values()) == pytest.approx(1, abs=1e-12)


def test_one_restart_is_above_threshold():
    one, m = AboveThreshold(threshold=2, epsilon=1), RestartedSparse(threshold=2, epsilon=1, count=1)
    stream = (0, 3, 1, 5)
    for at, mass in one.law(stream).masses.items():
        assert m.law(stream).mass(() if at is None else (at,)) == pytest.approx(mass, rel=1e-12)
    assert m.error() == one.error() and m.classical_error() == one.classical_error()


def test_restarts_pay_where_there_are_many_and_a_delta():
    few, many = ({"threshold": 0, "epsilon": 1, "count": count} for count in (3, 1000))
    assert RestartedSparse(**few, delta="1e-6").error() > Sparse(**few).error()
    assert RestartedSparse(**many, delta="1e-6").error() < Sparse(**many).error() / 2


def test_the_noisy_threshold_is_drawn_anew_after_each_answer_above():
    m, source = RestartedSparse(threshold=0, epsilon=1, count=2), Seeded(3)
    state = m.begin(source)
    after, top = m.step(state, -(10**6), source)
    assert not top and after.bar == state.bar and (after.asked, after.hits) == (1, 0)
    then, top = m.step(after, 10**6, source)
    assert top and then.bar != after.bar and (then.asked, then.hits) == (2, 1)
    last, top = m.step(then, 10**6, source)
    assert top and m.over(last)
    with pytest.raises(Exhausted, match="2 answers above the threshold"):
        m.step(last, 0, source)
