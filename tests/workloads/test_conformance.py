"""Every method, every case, every check.  A method is covered by being listed in `workloads.METHODS`."""

import numpy as np
import pytest

from tacit import AboveThreshold, Laplace
from tacit.core.accounting.loss import zero
from tacit.testing import workloads
from tacit.testing.mechanisms import Refuted
from tacit.testing.replay import recorded, replayed, spent
from tacit.testing.sources import Seeded
from tacit.testing.workloads import (
    CHECKS,
    PRICES,
    applicable,
    cases,
    conform,
    neighbours,
    privacy_is_paid_for,
)
from tacit.testing.wrong import methods
from tacit.workloads import METHODS, Price
from tacit.workloads.methods.direct.per_query import PerQuery

ALL = {"marginals", "weighted", "ranges", "prefixes", "predicates"}
LINES = {"ranges", "prefixes"}
ON = {  # the kinds of workload that each method is for
    "queries": ALL,
    "histogram": ALL,
    "local": ALL,
    "hierarchy": LINES,
    "isotonic": LINES,
    "partition": LINES,
    "pruned": LINES,
    "optimised": ALL,
    "small_db": ALL - {"ranges"},
    "mwem": ALL,
    "pmw": ALL,
    "residual": {"marginals", "weighted"},
    "tree": ALL,
    "adaptive": ALL,
}
AT = {"local": {"substitute"}}  # the kinds of price, where a method is not for all of them: reports replace answers

# Releases of these methods take most of the time.  By default they meet each kind of workload at one kind of price, and
# each kind of price with some workload; `make slow` runs the others.
LONG = {"small_db", "pmw"}
BY_DEFAULT = {
    *("marginals-epsilon", "weighted-rho", "prefixes-delta", "predicates-substitute", "ranges-epsilon"),
}


def pair(method, case):
    """A method and a case; one process runs all checks of a pair, which share their releases."""
    name = f"{method.name}-{case.name}"
    slow = [pytest.mark.slow] if method.name in LONG and case.name not in BY_DEFAULT else []
    return pytest.param(method, case, id=name, marks=[pytest.mark.xdist_group(name), *slow])


PAIRS = [pair(m, c) for m, c in applicable(METHODS)]


@pytest.mark.parametrize("check", CHECKS, ids=lambda c: c.__name__)
@pytest.mark.parametrize(("method", "case"), PAIRS)
def test_method(method, case, check):
    check(method, case)


def test_every_method_is_tried():
    assert {m.name for m, _ in applicable(METHODS)} == {m.name for m in METHODS}
    assert len({m.name for m in METHODS}) == len(METHODS)


@pytest.mark.parametrize("wrong", methods.ALL, ids=lambda wrong: wrong.__name__)
def test_the_suite_refutes_wrong_methods(wrong):
    case = cases()[0]
    with pytest.raises(Refuted):
        wrong.refuted_by(wrong(), case)
    with pytest.raises(Refuted):
        conform(wrong(), case)


NOT_PRIVATE = {
    methods.Exact: "another way than by draws",
    methods.HalfTheNoise: "draws cost",
    methods.ForgetsAPart: "draws cost",
    methods.ForgetsItsPicks: "draws cost",
    methods.OpensTwo: "draws cost",
    methods.TwoFromOneState: "a state that no session",
    methods.ClaimsNothing: "finite neither",
    methods.Whispers: "another way than by draws",
    methods.Hoards: "another way than by draws",
    methods.Adjusts: "on a neighbour of",
}
READ_THE_NUMBER_OF_RECORDS = {methods.Whispers, methods.Adjusts}  # which is public under substitution


def test_every_wrong_method_that_is_not_private_is_tried():
    assert set(NOT_PRIVATE) == {wrong for wrong in methods.ALL if wrong.refuted_by is privacy_is_paid_for}


@pytest.mark.parametrize(
    ("wrong", "case"),
    [
        pytest.param(wrong, case, id=f"{wrong.__name__}-{case.name}")
        for case in cases()
        if case.name.startswith(("marginals-", "weighted-"))
        for wrong in NOT_PRIVATE
        if not (case.name.endswith("substitute") and wrong in READ_THE_NUMBER_OF_RECORDS)
    ],
)
def test_a_method_that_is_not_private_is_refuted(wrong, case):
    with pytest.raises(Refuted, match=NOT_PRIVATE[wrong]):
        privacy_is_paid_for(wrong(), case)
    with pytest.raises(Refuted):
        conform(wrong(), case)


def test_every_method_meets_the_privacy_check():
    """Every method is tried at every kind of price, on every kind of workload that it is for."""
    assert privacy_is_paid_for in CHECKS
    assert list(PRICES) == ["epsilon", "rho", "delta", "substitute"]
    met = {m.name: set() for m in METHODS}
    for m, c in applicable(METHODS):
        met[m.name].add(tuple(c.name.split("-")))
    assert met == {
        name: {(kind, price) for kind in kinds for price in AT.get(name, PRICES)} for name, kinds in ON.items()
    }


def test_by_default_every_method_meets_every_kind_of_workload_and_of_price():
    met = {m.name: set() for m in METHODS}
    for param in PAIRS:
        if not any(mark.name == "slow" for mark in param.marks):
            method, case = param.values
            met[method.name] |= {*case.name.split("-")}
    assert met == {name: kinds | AT.get(name, PRICES.keys()) for name, kinds in ON.items()}


def test_neighbours_are_one_unit_apart():
    for case in cases():
        for x, y in neighbours(case):
            apart = np.abs(x.marginal(x.domain.all) - y.marginal(y.domain.all))
            assert apart.sum() == (2 if "substitute" in case.name else 1) and apart.max() == 1


def test_a_replay_sees_every_draw():
    """Of one noise on a count the cost is that of the noise at the distance between the counts."""
    noise = Laplace(epsilon=1, sensitivity=1)
    first, draws = recorded(lambda: noise.sample(5, Seeded(0)))
    second, again = replayed(lambda: noise.sample(7, Seeded(1)), draws)
    assert first == second and [d.value for d in again] == [7]
    assert spent(draws, again, None).epsilon() == 2
    for other in (lambda: 5, lambda: [noise.sample(5, Seeded(0)) for _ in range(2)]):
        with pytest.raises(Refuted, match="draws"):
            replayed(other, draws)
    assert noise.sample(5, Seeded(0)) == first  # and nothing is intercepted any more


def in_turn(mechanism, value):
    for _ in range(2):
        state = mechanism.begin(Seeded(0))
        for _ in range(3):
            state, _ = mechanism.step(state, value, Seeded(1))


def interleaved(mechanism, value):
    one, two = mechanism.begin(Seeded(0)), mechanism.begin(Seeded(0))
    for _ in range(3):
        one, _ = mechanism.step(one, value, Seeded(1))
        two, _ = mechanism.step(two, value, Seeded(1))


@pytest.mark.parametrize("program", [in_turn, interleaved])
def test_two_sessions_cost_the_price_of_two(program):
    """In whatever order they are begun and asked; a session whose values do not move costs nothing."""
    mechanism = AboveThreshold(threshold=1000, epsilon=1)
    _, draws = recorded(lambda: program(mechanism, 5))
    _, again = replayed(lambda: program(mechanism, 6), draws)
    assert spent(draws, again, None).epsilon() == 2
    assert spent(draws, draws, None) == zero


def test_a_step_belongs_to_the_session_of_its_state():
    mechanism = AboveThreshold(threshold=1000, epsilon=1)

    def second_alone(value):
        states = mechanism.begin(Seeded(0)), mechanism.begin(Seeded(1))
        mechanism.step(states[0], 0, Seeded(1))
        mechanism.step(states[1], value, Seeded(1))

    _, draws = recorded(lambda: second_alone(5))
    _, again = replayed(lambda: second_alone(6), draws)
    assert spent(draws, again, None).epsilon() == 1


def test_a_state_that_depends_on_the_table_is_refuted():
    mechanism = AboveThreshold(threshold=1000, epsilon=1)

    def choosing(value):
        states = mechanism.begin(Seeded(0)), mechanism.begin(Seeded(1))
        mechanism.step(states[value % 2], 0, Seeded(1))

    _, draws = recorded(lambda: choosing(5))
    with pytest.raises(Refuted, match="another state"):
        replayed(lambda: choosing(6), draws)


def test_conform_runs_every_check(monkeypatch):
    calls = []
    checks = tuple(lambda method, case, check=check: calls.append((check, method, case)) for check in CHECKS)
    monkeypatch.setattr(workloads, "CHECKS", checks)
    method, case = PerQuery(), cases()[0]
    conform(method, case)
    assert calls == [(check, method, case) for check in CHECKS]


def test_prices():
    assert Price.of(epsilon=2).part(2).epsilon == 4
