"""Counts of histories against trees that are walked."""

import math
from fractions import Fraction

import pytest

from tacit.holdout import histories


def walk(questions: int, exceptions: int, values: int) -> int:
    """Questions in the tree: each is answered `right`, or by one of the values while exceptions last."""
    nodes, level = 0, {0: 1}
    for _ in range(questions):
        nodes += sum(level.values())
        after: dict[int, int] = {}
        for told, count in level.items():
            after[told] = after.get(told, 0) + count
            if told + 1 < exceptions:
                after[told + 1] = after.get(told + 1, 0) + count * values
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
    assert histories.exceptional(k, b, v) == walk(k, b, v)


@pytest.mark.parametrize(("k", "v"), [(1, 4), (2, 4), (5, 3), (6, 2), (3, 8)])
def test_records(k: int, v: int) -> None:
    assert histories.climbing(k, v) == climb(k, 0, v)


def test_uneven_splits_share_no_more_than_the_whole() -> None:
    values, total = 3, Fraction(0)
    for asked in range(60):
        for f in range(asked + 1):
            count = math.comb(asked, f) * values**f
            total += Fraction(count, histories.weighted(asked - f, f, count))
    assert Fraction(9, 10) < total < 1


def test_deviation_is_hoeffdings() -> None:
    t = histories.deviation(1000, Fraction(20))
    assert 2 * 20 * math.exp(-2 * 1000 * t * t) == pytest.approx(1, rel=1e-8)
    assert 2 * 20 * math.exp(-2 * 1000 * t * t) < 1
    assert histories.deviation(1000, 10**5000) == pytest.approx(math.sqrt((5000 * math.log(10) + math.log(2)) / 2000))
