"""Values in steps of a grid: exact for integers and floats, clamped without a word, never through a wider float."""

import math
from fractions import Fraction
from typing import Any, get_overloads, get_type_hints

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tacit import ADD_REMOVE, AboveThreshold, BadData, BadParameter, Exponential, Gaussian, Laplace, norms
from tacit.mechanisms._grid import MAX_STEPS, steps
from tacit.mechanisms.additive._additive import Additive

grids = st.integers(-70, 70).map(lambda j: Fraction(2) ** j)


def nearest(x, grid):
    exact = (Fraction(x) / grid + Fraction(1, 2)).__floor__()
    return max(-MAX_STEPS, min(exact, MAX_STEPS))


@given(st.integers(-(1 << 63), (1 << 63) - 1), grids)
def test_integers_stay_integers(x, grid):
    assert steps("value", x, grid) == nearest(x, grid)
    assert steps("value", np.array([x, x]), grid).tolist() == [nearest(x, grid)] * 2


@given(st.integers(0, (1 << 64) - 1), grids)
def test_unsigned_integers_too(x, grid):
    assert steps("value", np.array([x], np.uint64), grid).tolist() == [nearest(x, grid)]


@given(st.floats(-1e300, 1e300), st.integers(-60, 60).map(lambda j: Fraction(2) ** j))
def test_floats_are_rounded_exactly(x, grid):
    assert steps("value", x, grid) == nearest(x, grid)
    assert steps("value", np.array([x]), grid).tolist() == [nearest(x, grid)]


@pytest.mark.parametrize("x", [(1 << 53) + 1, (1 << 59) + 64, 1 << 61])
def test_neighbouring_integers_stay_neighbours(x):
    for grid in (None, Fraction(1), Fraction(4)):
        assert abs(steps("value", np.array([x + 1]), grid) - steps("value", np.array([x]), grid)).max() <= 1


def test_a_value_beyond_the_range_is_answered_like_its_neighbour():
    m = Laplace(epsilon=1)
    assert abs(m.release((1 << 60) + 1) - (1 << 60)) < 1000
    assert abs(m.release(np.array([1 << 62]))[0] - (1 << 60)) < 1000
    assert m.release(np.array([1 << 60])).dtype == np.int64


def test_an_error_holds_up_to_where_values_are_moved_or_rounded():
    """As the documents have it: 2^60 without a grid, and 2^53 steps on one, where the float is exact."""
    for m, edge in ((Laplace(epsilon=1), 1 << 60), (Gaussian(rho=1), 1 << 60)):
        for x in (edge, -edge, edge - 1):
            assert abs(m.release(x) - x) <= m.error("1e-12") < abs(m.release(3 * x) - 3 * x)
    for m in (Laplace(epsilon=1, sensitivity=2**-20, grid=2**-20), Gaussian(rho=1, sensitivity=2**-20, grid=2**-20)):
        near = 2.0**33 - 2.0**-10
        assert abs(m.release(near) - near) <= m.error("1e-12")
        assert all(m.release(2.0**39) * 2**20 % 64 == 0 for _ in range(20))  # rounded, beyond half a step


def test_a_number_gives_a_number_and_an_array_an_array():
    """The type hints say so: `tacit.tour` relies on it."""
    hints = [get_type_hints(overload) for overload in get_overloads(Additive.release)]
    assert [(t["x"], t["return"]) for t in hints] == [(float, float), (NDArray[Any], NDArray[Any])]
    for m, kind in ((Laplace(epsilon=1), int), (Gaussian(rho=1, grid="0.25"), float)):
        assert type(m.release(3)) is kind
        assert m.release(np.array([[3, 4]])).shape == (1, 2)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (0.5, "floats"),
        ([0.5], "floats"),
        ("ten", "text"),
        ([True], "booleans"),
        ({1: 2}, "a dict"),
        ([{}], "other obj"),
    ],
)
def test_a_value_that_is_no_integer_is_described_by_its_type(value, found):
    with pytest.raises(BadData, match=rf"value must be integers, not {found}.*\. For reals, give the mechanism a grid"):
        Laplace(epsilon=1).release(value)


def test_scores_that_are_no_list_are_described_by_their_type():
    with pytest.raises(BadData, match=r"at least 1 in all; got a dict$"):
        Exponential(epsilon=1).release({"a": 1})


def test_scores_beyond_the_range_are_refused():
    with pytest.raises(BadData, match="2\\^60"):
        Exponential(epsilon=1).release([1 << 61, 0])


def test_a_distance_without_l0_does_not_go_on_a_grid():
    d = norms(l2=2)
    for make in (
        lambda: Exponential(epsilon=1, sensitivity=d, grid="0.25"),
        lambda: AboveThreshold(threshold=1, epsilon=1, sensitivity=d, grid="0.25"),
        lambda: Laplace(epsilon=1, sensitivity=d, grid="0.25"),
    ):
        with pytest.raises(BadParameter, match="l0"):
            make()
    with pytest.raises(BadParameter, match="l2"):
        norms(l2="0.5")


def test_two_small_monotone_units_may_be_rounded_apart():
    m = Exponential(epsilon=3, sensitivity=3, grid=1, monotone=True)
    assert m.loss().epsilon() == 3
    assert m.loss(norms(l0=1, linf="1.1").group(2)).epsilon() >= 4


@pytest.mark.parametrize("fixed", [{}, {"grid": "0.25"}])
def test_sizes_and_prices_for_several_answers_count_them_all(fixed: dict[str, str]) -> None:
    """One draw of n answers is accurate if its largest noise is small."""
    hundred = ADD_REMOVE.counts(100)
    m = Laplace(epsilon="0.5", sensitivity=hundred, **fixed)
    error = m.error("0.05", size=100)
    assert m.sample_size("0.01", "0.05", size=100) == math.ceil(100 * error) > 2 * m.sample_size("0.01", "0.05")
    made = Laplace.for_error(error, "0.05", size=100, sensitivity=hundred, **fixed)
    assert made.error("0.05", size=100) <= error and made.loss().epsilon() == pytest.approx(0.5, rel=1e-3)
    normal = Gaussian.for_error(400, "0.05", size=100, delta="1e-6", sensitivity=hundred, **fixed)
    assert 399 < normal.error("0.05", size=100) <= 400


@pytest.mark.parametrize("half", [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5])
def test_halves_go_up_alone_and_in_arrays(half):
    up = int(half + 0.5)
    assert steps("value", half, Fraction(1)) == up == steps("value", np.array([half]), Fraction(1))[0]
    assert steps("value", half / 4, Fraction(1, 4)) == up
