"""Every mechanism, every example, every check.  A mechanism is covered by being listed in `mechanisms.ALL`."""

import pytest

from tacit import mechanisms
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
