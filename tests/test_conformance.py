"""Every mechanism, every example, every check.  A mechanism is covered by being listed in `mechanisms.ALL`."""

import copy
import pickle

import pytest
from running_time import quick

from tacit import ADD_REMOVE, mechanisms
from tacit.testing.mechanisms import CHECKS, Refuted, bad_data_is_refused, conform
from tacit.testing.wrong import mechanisms as wrong

CASES = [
    pytest.param(example, id=f"{kind.__name__}-{i}")
    for kind in mechanisms.ALL
    for i, example in enumerate(kind.examples())
]


@pytest.mark.parametrize("check", CHECKS, ids=lambda c: c.__name__)
@pytest.mark.parametrize("case", CASES)
def test_mechanism(case, check):
    check(case)


def test_a_copy_of_a_relation_is_the_relation():
    """A unit that moves all scores one way is recognised by its distance: rounding costs it nothing more."""
    one = ADD_REMOVE.sum(0, "0.25")
    mechanism = mechanisms.Exponential(epsilon=1, monotone=True, grid="0.25", sensitivity=one)
    for copied in (pickle.loads(pickle.dumps(mechanism)), copy.deepcopy(mechanism)):
        assert copied == mechanism and copied.loss(one) == mechanism.loss(one) == mechanism.loss()
        assert copied.sensitivity.relation == ADD_REMOVE and copied.loss() + mechanism.loss() == 2 * mechanism.loss()


def refutes(check, example):
    try:
        check(example)
    except Refuted:
        return True
    return False


@pytest.mark.parametrize("kind", wrong.ALL, ids=lambda k: k.__name__)
def test_the_suite_refutes_every_wrong_mechanism(kind):
    assert any(refutes(kind.refuted_by, example) for example in kind.examples())


def test_every_check_refutes_some_wrong_mechanism():
    assert {kind.refuted_by for kind in wrong.ALL} == set(CHECKS)


@pytest.mark.parametrize(
    "kind", quick([wrong.SaysNaN, wrong.ShowsTheValue, wrong.ShowsTheCause], most=1), ids=lambda k: k.__name__
)
def test_only_bad_data_refute_a_mechanism_that_shows_them(kind):
    assert all(refutes(bad_data_is_refused, example) for example in kind.examples() if example.mechanism.grid is None)
    for check in CHECKS:
        assert check is bad_data_is_refused or not any(refutes(check, example) for example in kind.examples())


def test_conform_runs_every_check():
    right, wrong_one = next(iter(mechanisms.Laplace.examples())), next(iter(wrong.HalfNoise.examples()))
    conform(right)
    with pytest.raises(Refuted, match="claimed"):
        conform(wrong_one)
