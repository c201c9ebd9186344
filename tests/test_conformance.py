"""Every mechanism, every example, every check.  A mechanism is covered by being listed in `mechanisms.ALL`."""

import copy
import math
import pickle

import pytest

from tacit import ADD_REMOVE, mechanisms
from tacit.testing import wrong
from tacit.testing.mechanisms import CHECKS, Refuted, conform

CASES = [
    pytest.param(example, id=f"{kind.__name__}-{i}")
    for kind in mechanisms.ALL
    for i, example in enumerate(kind.examples())
]


@pytest.mark.parametrize("check", CHECKS, ids=lambda c: c.__name__)
@pytest.mark.parametrize("case", CASES)
def test_mechanism(case, check):
    check(case)


@pytest.mark.parametrize("case", CASES)
def test_errors_are_finite_and_fall_as_beta_grows(case):
    errors = [case.mechanism.error(beta=beta, **case.given) for beta in ("1e-300", "1e-100", "1e-30", "0.999")]
    assert all(isinstance(error, float) and math.isfinite(error) for error in errors)
    assert errors == sorted(errors, reverse=True)


@pytest.mark.parametrize("again", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy], ids=["pickle", "deepcopy"])
@pytest.mark.parametrize("case", CASES)
def test_a_copy_is_the_same_mechanism_at_the_same_price(case, again):
    mechanism, far = again((case.mechanism, case.distance))
    assert mechanism == case.mechanism and far == case.distance
    prices = {m.loss(d) for m in (mechanism, case.mechanism) for d in (far, case.distance)}
    assert len(prices) == 1 and again(prices) == prices


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


def test_conform_runs_every_check():
    right, wrong_one = next(iter(mechanisms.Laplace.examples())), next(iter(wrong.HalfNoise.examples()))
    conform(right)
    with pytest.raises(Refuted, match="claimed"):
        conform(wrong_one)
