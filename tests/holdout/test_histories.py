"""Counts of histories against trees that are walked."""

import math
import time
from fractions import Fraction
from typing import Any

import mpmath
import pytest

from tacit.holdout import Ladder, ReusableHoldout, histories


def walk(questions: int, exceptions: int, values: int) -> int:
    """Questions in the tree: each is answered `right`, or by one of the values while exceptions last."""
    nodes, level = 0, {0: 1}
    for _ in range(questions):
        nodes += sum(level.values())
        after: dict[int, int] = {}
        for result, count in level.items():
            after[result] = after.get(result, 0) + count
            if result + 1 < exceptions:
                after[result + 1] = after.get(result + 1, 0) + count * values
        level = after
    return nodes


def climb(questions: int, record: int, values: int) -> int:
    """The same for a record that stays or rises."""
    if not questions:
        return 0
    higher = sum(climb(questions - 1, better, values) for better in range(record + 1, values + 1))
    return 1 + climb(questions - 1, record, values) + higher


@pytest.mark.parametrize(("k", "b", "v"), [(1, 1, 3), (5, 2, 3), (6, 6, 2), (9, 3, 129), (4, 7, 2)])
def test_exceptions(k: int, b: int, v: int) -> None:
    assert histories.exceptional(k, b, v) == math.log(walk(k, b, v))


@pytest.mark.parametrize(("k", "v"), [(1, 4), (2, 4), (5, 3), (6, 2), (3, 8)])
def test_records(k: int, v: int) -> None:
    assert histories.climbing(k, v) == math.log(climb(k, 0, v))


def log_choose(n: int, m: int) -> Any:
    return mpmath.loggamma(n + 1) - mpmath.loggamma(m + 1) - mpmath.loggamma(n - m + 1)


@pytest.mark.parametrize("n", [2500, 10**6, 10**12, 1 << 62])
@pytest.mark.parametrize("m", [1025, 1200])
def test_ways_to_choose_many_are_bounded_from_above_and_hardly(n: int, m: int) -> None:
    with mpmath.workdps(60):
        for part in (m, n - m, n // 2):
            exact, found = log_choose(n, part), histories.log_choose(n, part)
            assert exact <= found <= exact * (1 + 1e-11)


def test_many_exceptions_are_bounded_from_above_and_hardly() -> None:
    """Against the sum in whole numbers; at worst, where the last term is about the largest, a nat is lost."""
    for k, b, v, lost in (
        (2000, 1030, 2, 3e-3),
        (2000, 1333, 2, 0.7),
        (1500, 9999, 3, 1e-11),
        (10**6, 1500, 129, 1e-8),
    ):
        exact = mpmath.log(sum(math.comb(k, i + 1) * v**i for i in range(min(b, k))))
        assert exact <= histories.exceptional(k, b, v) <= exact + lost


def test_the_largest_counts_take_no_time() -> None:
    start = time.perf_counter()
    ladder = Ladder(n=10**6, questions=10**6, rise=Fraction(1, 1 << 20)).promise
    reusable = ReusableHoldout(n=10**6, questions=10**6, exceptions=20_000, epsilon=1).promise
    assert 0.8 < ladder.width < 0.9 and reusable.width == 1
    assert histories.exceptional(1 << 62, 1 << 61, 1 << 20) < 1e20 and histories.climbing(1 << 62, 1 << 20) < 1e8
    assert time.perf_counter() - start < 5


def test_uneven_splits_share_no_more_than_the_whole() -> None:
    values, total = 3, Fraction(0)
    for asked in range(60):
        for f in range(asked + 1):
            count = math.comb(asked, f) * values**f
            total += Fraction(count, histories.weighted(asked - f, f, count))
    assert Fraction(9, 10) < total < 1


def test_deviation_is_hoeffdings() -> None:
    t = histories.deviation(1000, math.log(20))
    assert 2 * 20 * math.exp(-2 * 1000 * t * t) == pytest.approx(1, rel=1e-8)
    assert 2 * 20 * math.exp(-2 * 1000 * t * t) < 1
    assert histories.deviation(1000, 5000 * math.log(10)) == pytest.approx(
        math.sqrt((5000 * math.log(10) + math.log(2)) / 2000)
    )
