"""What is no number, no word and no loss is refused in words of our own, wherever it is given."""

import math

import numpy as np
import pytest

from tacit import Budget, Gaussian, Laplace, NoisyMax, Odometer, Sparse, TopK, calibrate, composition, norms
from tacit.core import parameters
from tacit.core.errors import BadParameter
from tacit.holdout import planning, ranking

LOSS = Laplace(epsilon=1).loss()
PAIR = np.array([1, 2])


class Frame:
    """Something that shows what it holds."""

    def __repr__(self):
        return "Ann, Bob"


@pytest.mark.parametrize(
    "given",
    [
        Frame(),
        [Frame()],
        (Frame(),),
        {"x": Frame()},
        np.array([77, 31]),
        [1] * 101,
        [{"name": "Ann"}],
        [[77, 31]],
        {"age": [77]},
    ],
)
def test_what_may_hold_data_is_told_by_its_type(given):
    message = str(BadParameter("x", given, "something else"))
    assert message == f"x must be something else; got {type(given).__name__}"


@pytest.mark.parametrize(
    "given", [3, 0.5, "text", None, [1, 2], (True,), {"a": 1}, np.float64(2), np.int8(3), Budget, range(10**12)]
)
def test_what_a_person_writes_is_shown(given):
    assert str(BadParameter("x", given, "something else")) == f"x must be something else; got {given!r}"


@pytest.mark.parametrize("beta", [1e-320, "1e-301", 0, 1, 1 - 1e-17])
def test_a_probability_is_one_that_can_be_divided_by(beta):
    with pytest.raises(BadParameter, match=r"beta must be strictly .*, and at least 1e-300"):
        Laplace(epsilon=1).error(beta=beta)
    assert math.isfinite(Laplace(epsilon=1).error(beta="1e-300"))


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("noise", lambda: NoisyMax(epsilon=1, noise=PAIR)),
        ("noise", lambda: Sparse(threshold=1, epsilon=1, count=1, noise=PAIR)),
        ("selector", lambda: TopK(k=1, epsilon=1, selector=PAIR)),
        ("drift", lambda: composition.advanced(1, 0, 2, "0.1", PAIR)),
        ("method", lambda: planning.max_questions(100, "0.1", method=PAIR)),
        ("method", lambda: planning.min_records(100, "0.1", method=PAIR)),
        ("theorem", lambda: planning.gaussian(100, 10, "0.1", PAIR)),
        ("epsilons", lambda: composition.basic(np.array(1.5))),
        ("questions", lambda: ranking.compare(100, math.inf)),
        ("questions", lambda: ranking.compare(100, [10, None])),
        ("make", lambda: calibrate(None, (1, 0))),
        ("cost", lambda: Budget(epsilon=1).admits(LOSS, None)),
        ("loss", lambda: Budget(epsilon=1).remaining(None)),
        ("loss", lambda: Odometer(delta="0.1").epsilon(None)),
    ],
)
def test_wrong_kinds_are_named(name, call):
    with pytest.raises(BadParameter, match=f"{name} must be"):
        call()


@pytest.mark.parametrize("way", [planning.beforehand, planning.splitting, planning.rounded, planning.gaussian])
@pytest.mark.parametrize("bad", [None, "x", 0, -1, 0.5, PAIR])
def test_plans_are_for_whole_numbers(way, bad):
    for n, questions, name in ((bad, 10, "n"), (100, bad, "questions")):
        with pytest.raises(BadParameter, match=f"{name} must be"):
            way(n, questions, "0.05")


def test_a_list_is_read_and_a_number_is_not():
    assert parameters.several("epsilons", PAIR, parameters.positive) == (1, 2)
    assert {plan.questions for plan in ranking.compare(100, np.array([3]))} == {3}


def test_losses_beyond_the_floats_between_add_up():
    assert composition.optimal(10**18, 3, "1e-5") == 3e18
    assert composition.optimal(10**6, 3, "1e-5") == pytest.approx(3e6)


def test_of_a_vector_only_its_length_counts():
    d = norms(l2="1.7320508", l0=3)
    assert Gaussian(rho=1, sensitivity=d).sigma2 == d.l2_squared / 2
    for whole in (norms(l2="1.5", l0=1), norms(l2="0.5", l0=3), "1.5"):
        with pytest.raises(BadParameter, match="is not whole, and integer data move by whole numbers"):
            Gaussian(rho=1, sensitivity=whole)
    with pytest.raises(BadParameter, match="is not whole, and integer data move by whole numbers"):
        Laplace(epsilon=1, sensitivity=d)
