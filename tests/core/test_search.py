"""Searches find the least, and err on the side that holds."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.search import greatest_positive, least, least_positive, least_value, least_whole


@given(st.integers(-50, 50), st.integers(0, 10**6))
def test_least_whole(low: int, above: int) -> None:
    tried: list[int] = []

    def holds(n: int) -> bool:
        tried.append(n)
        return n >= low + above

    assert least_whole(holds, low) == low + above
    assert min(tried) >= low
    assert len(tried) <= 2 * (above + 1).bit_length() + 1


@given(st.floats(1e-9, 1e9), st.sampled_from([1e-3, 1.0, 40.0]))
def test_least_positive(root: float, start: float) -> None:
    found = least_positive(lambda x: x >= root, start, floor=2.0**-40, precision=2.0**-20)
    assert root <= found <= root * (1 + 2.0**-19)


def test_least_positive_within_limits() -> None:
    assert least_positive(lambda x: x >= 5000, floor=0.0, ceiling=1024.0, precision=0.5) == math.inf
    assert least_positive(lambda x: x >= 1000, floor=0.0, ceiling=1024.0, precision=2.0**-30) < 1001
    assert 0 < least_positive(lambda x: True, floor=2.0**-10, precision=2.0**-20) <= 2.0**-9


@given(st.floats(1e-9, 1e9), st.sampled_from([2.0, 16.0]))
def test_greatest_positive(root: float, fall: float) -> None:
    found = greatest_positive(lambda x: x <= root, floor=2.0**-40, precision=2.0**-20, fall=fall)
    assert root * (1 - 2.0**-19) <= found <= root


def test_greatest_positive_within_limits() -> None:
    assert greatest_positive(lambda x: False, floor=2.0**-10, precision=2.0**-20) == 0
    assert 1023 < greatest_positive(lambda x: True, floor=0.0, ceiling=1024.0, precision=2.0**-20) < 1024


@given(st.floats(1e-9, 1e9), st.floats(-1e-5, 1e-5), st.sampled_from([2.0, 16.0]))
def test_a_guess_saves_tries_and_changes_nothing(root: float, off: float, fall: float) -> None:
    tried: list[float] = []

    def holds(x: float) -> bool:
        tried.append(x)
        return x <= root

    limits = {"floor": 2.0**-40, "precision": 2.0**-44, "fall": fall}
    found, plain = greatest_positive(holds, **limits), len(tried)
    assert greatest_positive(holds, **limits, near=root * (1 + off)) == found
    assert len(tried) - plain <= plain + 3
    tried.clear()
    assert greatest_positive(holds, **limits, near=root) == found
    assert len(tried) <= 12


def test_a_guess_about_what_is_not_monotone_is_given_up() -> None:
    """What is inferred from the guess is tried before it is believed."""

    def holds(x: float) -> bool:
        return x <= 1.5 or 2.9 < x < 3.1

    def holds_at(near: float | None) -> float:
        return greatest_positive(holds, floor=2.0**-10, ceiling=8.0, precision=2.0**-20, near=near)

    assert holds(holds_at(3.0)) and holds(holds_at(3.05)) and holds_at(None) <= 1.5


@given(st.floats(0, 1e6))
def test_least(root: float) -> None:
    found = least(lambda x: x >= root, 2.0**-30, 2.0**19)
    assert found == math.inf if root > 2.0**19 else max(root, 2.0**-30 * (root > 0)) <= found * (1 + 1e-15)
    assert found in (0.0, math.inf) or found <= max(root, 2.0**-30) * (1 + 2.0**-39)


@given(st.floats(-6, 12), st.floats(-3, 3))
def test_least_value(at: float, value: float) -> None:
    found = least_value(lambda x: value + (x - at) ** 2, -7.0, 14.0)
    assert value <= found <= value + 1e-8


@pytest.mark.parametrize("at", [-6.9, -1.2345, 0.0, 0.7071, 5.0, 13.9])
def test_the_least_value_of_a_smooth_function(at: float) -> None:
    calls: list[float] = []

    def f(x: float) -> float:
        calls.append(x)
        return math.cosh(x - at) + math.sin(x - at) ** 3 / 7 - 0.25

    assert 0.75 - 1e-15 <= least_value(f, -7.0, 14.0) <= 0.75 + 2e-15
    assert len(calls) < 60 and min(calls) >= -7 and max(calls) <= 14


def test_the_least_value_where_there_is_no_parabola() -> None:
    assert least_value(lambda x: x, 0.0, 1.0) == 0
    assert least_value(lambda x: -x, 0.0, 1.0) == -1
    assert least_value(lambda x: 3.0, 0.0, 1.0) == 3
    assert least_value(lambda x: math.inf, 0.0, 1.0) == math.inf
    assert least_value(lambda x: abs(x - 0.3), 0.0, 1.0) < 1e-4
