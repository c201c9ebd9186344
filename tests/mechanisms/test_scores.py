"""What all selection mechanisms share: reading scores, and how far they move."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.accounting.loss import BoundedRange, Pure
from tacit.core.distance import ADD_REMOVE, SUBSTITUTE, norms
from tacit.core.errors import BadData, BadParameter
from tacit.mechanisms.selection.exponential import Exponential
from tacit.mechanisms.selection.noisy_max import NoisyMax
from tacit.mechanisms.selection.permute_and_flip import PermuteAndFlip
from tacit.mechanisms.selection.top_k import TopK

MAKERS: tuple[Any, ...] = (
    Exponential,
    PermuteAndFlip,
    NoisyMax,
    lambda **given: NoisyMax(noise="gumbel", **given),
    lambda **given: TopK(k=2, **given),
)
makers = pytest.mark.parametrize("make", MAKERS)
SECRET = 8675309


@makers
@pytest.mark.parametrize(
    "scores",
    [
        [],
        SECRET,
        [[SECRET, 2], [3, 4]],
        [[SECRET], [2, 3]],
        [SECRET + 0.5, 1.0],
        [True, False],
        ["a", "b"],
        np.array([SECRET, 2], object),
        [10**30, 1],
        [2**62, SECRET],
        [None, 1],
        np.array([SECRET, 2], complex),
        np.array([SECRET, 2], np.longdouble),
    ],
)
def test_scores_that_cannot_be_read(make: Any, scores: Any) -> None:
    m = make(epsilon=1)
    for read in (m.release, m.law):
        with pytest.raises(BadData) as caught:
            read(scores)
        assert str(SECRET) not in str(caught.value)
        assert "675309" not in repr(caught.value)


@makers
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_real_scores_are_finite(make: Any, bad: float) -> None:
    with pytest.raises(BadData):
        make(epsilon=1, grid="0.5").release([1.0, bad, 2.0])


@makers
def test_the_number_of_candidates_is_checked(make: Any) -> None:
    m = make(epsilon=1, candidates=3)
    m.release([1, 2, 3])
    with pytest.raises(BadData):
        m.release([1, 2, 3, 4])
    assert m.error() == make(epsilon=1).error(candidates=3)
    with pytest.raises(BadParameter):
        make(epsilon=1).error()
    for bad in (0, 2.5, True):
        with pytest.raises(BadParameter):
            make(epsilon=1, candidates=bad)
        with pytest.raises(BadParameter):
            m.error(candidates=bad)
    with pytest.raises(BadParameter):
        m.error(beta=0)


@makers
@pytest.mark.parametrize(
    "given_",
    [
        {},
        {"epsilon": 1, "rho": 1},
        {"epsilon": 0},
        {"epsilon": "nan"},
        {"epsilon": "1e-30"},
        {"epsilon": "1e30"},
        {"rho": 0},
        {"epsilon": 1, "sensitivity": 0},
        {"epsilon": 1, "sensitivity": "0.5"},
        {"epsilon": 1, "grid": "0.3"},
        {"epsilon": 1, "range_sensitivity": 2, "sensitivity": 2},
        {"epsilon": 1, "range_sensitivity": 2, "monotone": True},
        {"epsilon": 1, "range_sensitivity": 0},
        {"epsilon": 1, "sensitivity": SUBSTITUTE.counts(3), "monotone": True},
    ],
)
def test_parameters_that_cannot_be_read(make: Any, given_: dict[str, Any]) -> None:
    with pytest.raises(BadParameter):
        make(**given_)


def test_names_are_checked() -> None:
    for make in (
        lambda: NoisyMax(epsilon=1, noise="uniform"),  # type: ignore[arg-type]
        lambda: TopK(k=2, epsilon=1, selector="noisy"),  # type: ignore[arg-type]
        lambda: TopK(k=0, epsilon=1),
        lambda: TopK(k=3, epsilon=1, candidates=2),
        lambda: Exponential(epsilon=1).error(candidates=3, optimal=4),
    ):
        with pytest.raises(BadParameter):
            make()


@makers
def test_integers_of_every_width_and_order_are_read(make: Any) -> None:
    m = make(epsilon=2, candidates=3)
    want = m.law([3, 0, 1]).masses
    for kind in (np.int8, np.uint8, np.int32, np.uint64, np.int64):
        assert m.law(np.array([3, 0, 1], kind)).masses == want
    assert m.law(np.array([3, 9, 0, 9, 1])[::2]).masses == want
    assert m.law((1000003, 1000000, 1000001)).masses == want
    low = -(2**60)
    assert m.law([low + 3, low, low + 1]).masses == want


@makers
def test_extreme_scores_do_not_wrap(make: Any) -> None:
    assert np.ravel(make(epsilon=1).release([2**60, -(2**60)]))[0] == 0


@makers
def test_narrow_integers_do_not_wrap_in_a_miss(make: Any) -> None:
    m, x = make(epsilon=1), np.array([127, -128], np.int8)
    y = (1, 0) if isinstance(m, TopK) else 1
    assert m.miss(x, y) == 255


def test_losses() -> None:
    free, monotone = Exponential(epsilon=1), Exponential(epsilon=1, monotone=True)
    assert free.scale == 2
    assert monotone.scale == 1
    assert Exponential(epsilon=1, range_sensitivity=3).scale == 3
    for m in (free, monotone):
        assert m.loss().terms == {BoundedRange(Fraction(1)): 1}
        assert m.loss(3).terms == {BoundedRange(Fraction(3)): 1}
        assert m.loss(0).terms == {}
        assert m.loss().group(2) == m.loss(2)
    assert PermuteAndFlip(epsilon=1).loss().terms == {Pure(Fraction(1)): 1}
    assert NoisyMax(epsilon=1).loss().terms == {Pure(Fraction(1)): 1}
    assert NoisyMax(epsilon=1, noise="gumbel").loss() == free.loss()
    assert TopK(k=5, epsilon=1).loss().terms == {BoundedRange(Fraction(1, 5)): 5}
    assert TopK(k=5, epsilon=1, selector="permute-and-flip").loss().terms == {Pure(Fraction(1, 5)): 5}
    assert free.loss(norms(l1=7, linf=2)).epsilon() == 2  # one that does not say how many coordinates move


def test_the_relation_decides_whether_counts_move_together() -> None:
    m = Exponential(epsilon=1, sensitivity=ADD_REMOVE.counts(4), monotone=True)
    assert m.loss().relation is ADD_REMOVE
    assert m.loss(ADD_REMOVE.histogram()).epsilon() == 1
    assert m.loss(SUBSTITUTE.histogram()).epsilon() == 2
    assert m.loss(SUBSTITUTE.histogram()).relation is SUBSTITUTE


@makers
@given(rho=st.sampled_from(["0.001", "0.125", "2", "50"]))
def test_rho_is_spent_and_not_exceeded(make: Any, rho: str) -> None:
    terms = make(rho=rho).loss().terms
    spent = sum(n * atom.concentrated() for atom, n in terms.items())
    assert float(rho) * (1 - 1e-9) <= spent <= float(rho)


QUARTER = Fraction(1, 4)
sixteenths = st.integers(-40, 40)


@given(x=st.lists(sixteenths, min_size=2, max_size=5), d=st.integers(1, 20), data=st.data())
def test_rounding_to_the_grid_widens_the_range_no_further_than_said(x: list[int], d: int, data: Any) -> None:
    """In sixteenths, on a grid of four of them; every move the three kinds of sensitivity allow."""
    size, shift = Fraction(d, 16), data.draw(sixteenths)
    moves = {
        "sensitivity": st.integers(-d, d),
        "monotone": st.integers(0, d),
        "range": st.integers(0, d).map(lambda v: v + shift),
    }
    kind = data.draw(st.sampled_from(sorted(moves)))
    v = data.draw(st.lists(moves[kind], min_size=len(x), max_size=len(x)))
    given_ = {"range_sensitivity": size} if kind == "range" else {"sensitivity": size, "monotone": kind == "monotone"}
    m = Exponential(epsilon=1, grid=QUARTER, **given_)  # type: ignore[arg-type]
    assert m.loss().epsilon() == 1
    before, after = (m.gaps(np.array(u) / 16) for u in (x, np.add(x, v)))
    assert np.ptp(before - after) <= m.move_range()


@given(
    x=st.lists(sixteenths, min_size=2, max_size=4),
    d=st.integers(1, 20),
    signs=st.lists(st.booleans(), min_size=2, max_size=3),
    data=st.data(),
)
def test_a_group_of_monotone_units_may_move_scores_both_ways(
    x: list[int], d: int, signs: list[bool], data: Any
) -> None:
    m = PermuteAndFlip(epsilon=1, grid=QUARTER, sensitivity=Fraction(d, 16), monotone=True)
    y = np.array(x)
    for up in signs:
        v = data.draw(st.lists(st.integers(0, d), min_size=len(x), max_size=len(x)))
        y = y + np.array(v) * (1 if up else -1)
    spread = np.ptp(m.gaps(np.array(x) / 16) - m.gaps(y / 16))
    assert spread * m.unit <= m.loss(m.sensitivity.group(len(signs))).epsilon()
    assert spread * m.unit <= m.loss().group(len(signs)).epsilon()


@makers
def test_calibration_by_accuracy(make: Any) -> None:
    kind, fixed = type(make(epsilon=1)), {"candidates": 50}
    if kind is TopK:
        fixed["k"] = 2
    m = kind.for_error(10, beta="0.01", **fixed)
    assert m.error(beta="0.01") <= 10
    assert m.error(beta="0.01") <= m.classical_error(beta="0.01")
    assert kind(epsilon=float(m.loss().epsilon()) * 0.9, **fixed).error(beta="0.01") > 10
    assert m.sample_size("0.01", beta="0.01") <= 1000


@makers
def test_a_grid_adds_one_step_for_rounding(make: Any) -> None:
    fine = make(epsilon=1, grid=Fraction(1, 1024))
    coarse = make(epsilon=1, grid=1)
    assert coarse.error(candidates=20) == make(epsilon=1).error(candidates=20) + 1
    assert abs(fine.error(candidates=20) - make(epsilon=1).error(candidates=20)) <= 1.1


def test_mechanisms_are_values() -> None:
    assert Exponential(epsilon=1) == Exponential(epsilon="1.0") != PermuteAndFlip(epsilon=1)
    assert (
        len({NoisyMax(epsilon=1), NoisyMax(epsilon=1), NoisyMax(epsilon=1, noise="gumbel"), TopK(k=1, epsilon=1)}) == 3
    )
