"""Exact audits: the truth between two laws, in closed form, by brute force, and beside true and false claims."""

import math
import time
from itertools import count

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import (
    BadParameter,
    Gaussian,
    KeySelection,
    Laplace,
    NoisyMax,
    NumericSparse,
    RandomizedResponse,
    UnaryEncoding,
    audit,
    calibrate,
    plots,
)  # fmt: skip
from tacit.audit.verification import DELTAS, Divergence
from tacit.core.law import MAX_COUNTED, Finite, hockey_stick, max_divergence, outcomes
from tacit.testing.mechanisms import loss_covers_law
from tacit.testing.wrong import mechanisms, sparse_vector

MASSES = st.lists(st.integers(0, 20), min_size=2, max_size=6).filter(any)
FALSE = [kind for kind in mechanisms.ALL if kind.refuted_by is loss_covers_law]


def law(weights):
    total = sum(weights)
    return Finite({i: w / total for i, w in enumerate(weights) if w})


@given(MASSES, MASSES, st.floats(0, 3))
def test_delta_is_the_hockey_stick_divergence(a, b, epsilon):
    p, q = law(a), law(b)
    assert Divergence(p, q).delta(epsilon) == pytest.approx(hockey_stick(p, q, epsilon), abs=1e-12)


@given(MASSES, MASSES, st.floats(0.001, 0.9))
def test_epsilon_inverts_delta(a, b, delta):
    way = Divergence(law(a), law(b))
    epsilon = way.epsilon(delta)
    if math.isinf(epsilon):
        alone = sum(law(a).mass(i) for i in range(6) if not law(b).mass(i))
        assert alone > delta - 1e-12
        return
    assert way.delta(epsilon) <= delta + 1e-9
    if epsilon > 1e-6:
        assert way.delta(epsilon - 1e-6) > delta - 1e-12


@given(MASSES, MASSES)
def test_at_delta_zero_it_is_the_largest_ratio(a, b):
    p, q = law(a), law(b)
    assert Divergence(p, q).epsilon() == pytest.approx(max(0.0, max_divergence(p, q)), abs=1e-9)


@given(MASSES, MASSES, st.floats(0.01, 0.5))
def test_no_event_does_better(a, b, delta):
    p, q = law(a), law(b)
    epsilon = Divergence(p, q).epsilon(delta)
    for event in range(1, 1 << 6):
        within = [i for i in range(6) if event >> i & 1]
        assert sum(map(p.mass, within)) <= math.exp(min(epsilon, 50)) * sum(map(q.mass, within)) + delta + 1e-9 or (
            math.isinf(epsilon)
        )


def test_randomized_response_in_closed_form():
    found = audit.exact(RandomizedResponse(epsilon=1), 0, 1)
    for epsilon in (0.0, 0.3, 0.9):
        assert found.delta(epsilon) == pytest.approx((math.e - math.exp(epsilon)) / (1 + math.e))
    assert found.epsilon() == pytest.approx(1)
    assert found.epsilon("0.1") == pytest.approx(math.log(math.e - 0.1 * (1 + math.e)))
    assert found.holds


def test_a_gaussian_meets_its_claim_and_not_a_smaller_one():
    found = audit.exact(Gaussian(rho="0.5"), 0, 1)
    assert found.holds
    for row in found.rows()[1:]:
        assert row["x to y"] == pytest.approx(row["claimed"], rel=1e-3)
    assert not audit.exact(Gaussian(rho="0.5"), 0, 2, distance=1).holds
    assert audit.exact(Gaussian(rho="0.5"), 0, 2, distance=2).holds


def test_directions_are_distinguished():
    kind = sparse_vector.LeeClifton
    example = next(iter(kind.examples()))
    row = audit.exact(example.mechanism, example.x, example.y).rows()[0]
    assert row["x to y"] != pytest.approx(row["y to x"], rel=0.01)


def test_every_mechanism_holds_exactly_within_a_minute():
    start = time.perf_counter()
    found = audit.package(samples=0)
    verdicts = {finding.verdict for finding in found}
    assert time.perf_counter() - start < 60
    assert verdicts == {"holds"} and len(found) > 100
    assert len({finding.name for finding in found}) == len(audit.catalogue.ALL)
    assert all(math.isfinite(finding.claim) for finding in found)
    assert all(finding.true <= finding.claim * (1 + 1e-9) + 1e-9 for finding in found)


@pytest.mark.parametrize("kind", FALSE, ids=lambda kind: kind.__name__)
def test_every_false_claim_is_refuted_exactly(kind):
    assert "the claim is FALSE" in {finding.verdict for finding in audit.package([kind], samples=0)}


def test_rows_text_and_curve_agree():
    found = audit.exact(mechanisms.HalfNoise(epsilon=1), 0, 1)
    assert [row["delta"] for row in found.rows()] == [float(delta) for delta in DELTAS]
    assert "FALSE" in str(found) and "holds" in str(audit.exact(Laplace(epsilon=1), 0, 1))
    curve = found.curve(5)
    assert len(curve) == 15
    assert {row["of"] for row in curve} == {"claimed", "x to y", "y to x"}
    for row in curve:
        if row["of"] != "claimed":
            assert row["delta"] == pytest.approx(found.delta(row["epsilon"]))
    with pytest.raises(BadParameter, match="points"):
        found.curve(1)


@pytest.mark.parametrize("grid", [2.0**-20, 2.0**-50])
def test_a_law_of_too_many_outcomes_is_refused_at_once(grid):
    with pytest.raises(BadParameter, match="coarser grid"):
        audit.exact(Laplace(epsilon=1, grid=grid), 0.0, 1.0)
    with pytest.raises(BadParameter, match="coarser grid"):
        audit.exact(Laplace(epsilon="0.01", sensitivity=2), np.array([0, 0]), np.array([1, 1]))


NO_MECHANISM = [3, "x", None, Laplace, object(), [Laplace(epsilon=1), 3], (Laplace,)]


@pytest.mark.parametrize("wrong", NO_MECHANISM, ids=lambda w: type(w).__name__)
def test_what_is_no_mechanism_and_no_function_is_refused_in_words(wrong):
    shown = "the class Laplace" if mechanisms is Laplace else type(mechanisms).__name__
    for name, call in (
        ("mechanism", lambda: audit.exact(mechanisms, 0, 1)),
        ("run", lambda: audit.estimate(mechanisms, 0, 1)),
        ("run", lambda: audit.one_run(mechanisms, lambda y: y)),
        ("scores", lambda: audit.one_run(lambda present: present, mechanisms)),
        ("run", lambda: audit.attacks.timing(mechanisms, 0, 1)),
        ("ask", lambda: audit.attacks.averaging(mechanisms, 3, 0, 1)),
        ("ask", lambda: audit.attacks.differencing(mechanisms, 3, 0)),
        ("audit", lambda: audit.plots.curve(mechanisms)),
        ("make", lambda: calibrate(mechanisms, (1, 0))),
        ("distribution", lambda: plots.concentration(mechanisms)),
    ):
        with pytest.raises(BadParameter, match=f"^{name} must be an? .*; got '{shown}'$"):
            call()
    for name, call in (
        ("kinds", lambda: audit.package(mechanisms if mechanisms != (Laplace,) else [[Laplace]])),
        ("deltas?", lambda: audit.exact(Laplace(epsilon=1), 0, 1).rows(mechanisms)),
        ("rows", lambda: audit.plots.comparison(mechanisms)),
        ("loss", lambda: plots.profile(3 if isinstance(mechanisms, str) else mechanisms)),  # a mix is text
    ):
        with pytest.raises(BadParameter, match=f"^{name} must be "):
            call()


def test_vectors_and_equal_inputs():
    m = Laplace(epsilon=1, sensitivity=2)
    assert audit.exact(m, np.array([3, 5]), np.array([4, 4])).epsilon() == pytest.approx(1)
    same = audit.exact(m, 3, 3)
    assert same.epsilon() == same.epsilon("1e-6") == same.delta(0) == 0 and same.holds


@pytest.mark.parametrize(
    ("mechanism", "x"),
    [
        (NoisyMax(epsilon="1e-6"), [0] * 10),
        (KeySelection(epsilon="1e-9", delta="1e-6"), {"a": 3}),
        (KeySelection(epsilon=1, delta="1e-6"), dict.fromkeys("abcdefgh", 30)),
        (NumericSparse(threshold=1, epsilon="0.1", count=2, queries=5), [1, 2, 3, 1, 0]),
    ],
    ids=repr,
)
def test_what_has_too_many_outcomes_is_refused_before_they_are_listed(mechanism, x):
    refusals = r"law of the mechanism has over 1048576 outcomes|law of these scores takes more than|scale must be"
    with pytest.raises(BadParameter, match=refusals):
        audit.exact(mechanism, x, x)


@pytest.mark.parametrize(
    ("mechanism", "x"),
    [
        (KeySelection(epsilon=1, delta="1e-3"), {"a": 3, "b": 30}),
        (NumericSparse(threshold=1, epsilon=9, count=1, queries=3, grid="0.5"), [1.0, 2.5]),
        (Laplace(epsilon=4, grid="0.5"), [1.0, 2.5]),
    ],
    ids=repr,
)
def test_outcomes_are_counted_as_they_are_listed(mechanism, x):
    found = mechanism.law(x)
    assert outcomes(found, 1e-6) == len(list(found.support(1e-6))) > 1


def test_outcomes_that_none_counts_are_listed_to_an_end():
    class Endless:
        def mass(self, y):
            return 0.5**y

        def support(self, tail):
            return count(1)

    assert outcomes(Endless(), 1e-6) == MAX_COUNTED + 1


@pytest.mark.parametrize(
    ("mechanism", "x", "y"),
    [
        (RandomizedResponse(epsilon=1), [0, 1], [0]),
        (RandomizedResponse(epsilon=1), [0, 1], 0),
        (Laplace(epsilon=1), np.array([1, 2]), np.array([1, 2, 3])),
        (Gaussian(rho=1), [1], 1),
        (UnaryEncoding(epsilon=1, categories=3), [0, 1, 2], 0),
    ],
    ids=lambda v: type(v).__name__,
)
def test_inputs_of_unequal_length_are_refused_in_a_sentence(mechanism, x, y):
    with pytest.raises(BadParameter, match="x and y must have the same shape") as refused:
        audit.exact(mechanism, x, y)
    assert str(refused.value).endswith(".")
