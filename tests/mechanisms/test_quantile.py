"""Private quantiles against their definition, their theorems and their own law."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core.distance import SUBSTITUTE
from tacit.core.errors import BadData, BadParameter
from tacit.core.loss import BoundedRange
from tacit.mechanisms import quantile
from tacit.mechanisms._bisection import Node, bisect
from tacit.mechanisms.exponential import Exponential
from tacit.mechanisms.quantile import Quantiles
from tacit.testing.sources import Seeded

counts = st.lists(st.integers(0, 4), min_size=1, max_size=4)
aims = st.lists(st.sampled_from([0.1, 0.25, 1 / 3, 0.5, 0.75, 0.9]), min_size=1, max_size=4, unique=True).map(sorted)


def slow_law(histogram: list[int], quantiles: list[Fraction], epsilon: float) -> dict[tuple[int, ...], float]:
    """The definition, on a list of records: middle quantile first, then each side by itself."""
    levels = math.ceil(math.log2(len(quantiles) + 1))
    records = [cell for cell, n in enumerate(histogram) for _ in range(n)]

    def solve(mine: list[int], low: int, high: int, qs: list[Fraction]) -> dict[tuple[int, ...], float]:
        if not qs:
            return {(): 1.0}
        at = (len(qs) - 1) // 2
        q = qs[at]
        scores = [-abs(sum(r < t for r in mine) - q * len(mine)) for t in range(low, high + 1)]
        weight = [math.exp(epsilon / levels * float((s - max(scores)) / (2 * max(q, 1 - q)))) for s in scores]
        masses: dict[tuple[int, ...], float] = {}
        for t, w in zip(range(low, high + 1), weight, strict=True):
            left = solve([r for r in mine if r < t], low, t, [p / q for p in qs[:at]])
            right = solve([r for r in mine if r >= t], t, high, [(p - q) / (1 - q) for p in qs[at + 1 :]])
            for a, p in left.items():
                for b, r in right.items():
                    masses[(*a, t, *b)] = w / sum(weight) * p * r
        return masses

    return solve(records, 0, len(histogram), quantiles)


@given(x=counts, quantiles=aims)
@settings(max_examples=50, deadline=None)
def test_the_law_is_that_of_the_definition(x: list[int], quantiles: list[float]) -> None:
    m = Quantiles(epsilon=2, quantiles=quantiles)
    slow = slow_law(x, list(m.quantiles), 2.0)
    law = m.law(x)
    assert set(law.masses) == set(slow)
    assert all(law.mass(y) == pytest.approx(p, rel=1e-11) for y, p in slow.items())
    assert all(list(y) == sorted(y) for y in slow)


@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(1, 4), Fraction(2, 3), Fraction(9, 10)])
def test_the_range_of_one_record_s_moves(share: Fraction) -> None:
    """Twice max(a, b - a) is reached, and never exceeded."""
    node, found = Node(0, -1, 1, share), 0
    for total in range(1, 13):
        for first in range(total + 1):
            x = np.array([first, total - first, 0])
            for cell in range(3):
                y = x + (np.arange(3) == cell)
                gaps = [node.gaps(np.append(0, np.cumsum(c)), 0, 3) for c in (x, y)]
                found = max(found, int(np.ptp(gaps[0] - gaps[1])))
    assert found == node.range == 2 * max(share.numerator, share.denominator - share.numerator)


@given(x=counts, quantiles=aims, data=st.data())
@settings(max_examples=50, deadline=None)
def test_the_loss_covers_the_law(x: list[int], quantiles: list[float], data: Any) -> None:
    m = Quantiles(epsilon=2, quantiles=quantiles)
    cells = st.integers(0, len(x) - 1)
    more, moved = list(x), list(x)
    more[data.draw(cells)] += 1
    moved[data.draw(cells)] += 1
    p, q, r = m.law(x), m.law(more), m.law(moved)
    for a, b, loss in ((p, q, m.loss()), (q, r, m.loss(SUBSTITUTE.histogram()))):
        assert max(abs(math.log(a.mass(y) / b.mass(y))) for y in p.masses) <= loss.epsilon() + 1e-9  # type: ignore[arg-type]


def test_losses() -> None:
    for k, levels in ((1, 1), (2, 2), (3, 2), (4, 3), (7, 3), (8, 4), (99, 7)):
        m = Quantiles(epsilon=1, quantiles=[Fraction(i, k + 1) for i in range(1, k + 1)])
        assert m.levels == levels
        assert m.loss().terms == {BoundedRange(Fraction(1, levels)): levels}
        assert m.loss(2).epsilon() == m.loss(SUBSTITUTE.histogram()).epsilon() == 2
    assert m.loss(0).terms == {}
    assert Quantiles(epsilon=1, sensitivity=SUBSTITUTE.histogram()).loss().epsilon() == 1
    spent = sum(n * a.concentrated() for a, n in Quantiles(rho="0.1").loss().terms.items())
    assert spent == pytest.approx(0.1, rel=1e-9)
    assert spent <= 0.1


def test_the_tree_is_balanced_and_each_quantile_is_chosen_once() -> None:
    for k in range(1, 40):
        tree = bisect([Fraction(i, k + 1) for i in range(1, k + 1)])
        assert sorted(node.at for node in tree) == list(range(k))
        depth = {-1: 0, k: 0}
        for node in tree:
            depth[node.at] = 1 + max(depth[node.left], depth[node.right])
        assert max(depth.values()) == math.ceil(math.log2(k + 1))


@given(x=counts, quantiles=aims, beta=st.sampled_from(["0.3", "0.05", "0.001"]))
@settings(max_examples=50, deadline=None)
def test_ranks_are_near_their_aims(x: list[int], quantiles: list[float], beta: str) -> None:
    m = Quantiles(epsilon=20, quantiles=quantiles, cells=len(x))
    law, allowed = m.law(x), m.error(beta=beta)
    assert math.fsum(p for y, p in law.masses.items() if m.miss(x, y) > allowed) <= float(beta)  # type: ignore[arg-type]
    assert allowed <= m.classical_error(beta)
    ranks, n, largest = np.append(0, np.cumsum(x)), sum(x), max(x)
    far = allowed + m.levels * largest / 2 + 1e-9
    off = {y: max(abs(ranks[t] - q * n) for t, q in zip(y, m.quantiles, strict=True)) for y in law.masses}  # type: ignore[call-overload]
    assert math.fsum(p for y, p in law.masses.items() if off[y] > far) <= float(beta)


def test_one_quantile_is_one_exponential_mechanism() -> None:
    x = [3, 0, 2, 5]
    m = Quantiles(epsilon=1, quantiles=["0.3"], cells=4)
    below = np.append(0, np.cumsum(x))
    one = Exponential(epsilon=1, range_sensitivity=14, candidates=5)
    law = one.law(-np.abs(10 * below - 3 * 10))
    assert [m.law(x).mass((t,)) for t in range(5)] == pytest.approx([law.mass(t) for t in range(5)], rel=1e-12)
    assert m.error() == pytest.approx(one.error() / 10)


def test_floats_are_read_as_the_fractions_they_stand_for() -> None:
    assert Quantiles(epsilon=1, quantiles=[1 / 3, 2 / 3]).quantiles == (Fraction(1, 3), Fraction(2, 3))
    many = Quantiles(epsilon=1, quantiles=np.linspace(0, 1, 12)[1:-1].tolist()).quantiles
    assert many == tuple(Fraction(i, 11) for i in range(1, 11))


def test_a_million_cells() -> None:
    x = np.bincount(np.arange(3_000_000) % 1_000_000)
    m = Quantiles(epsilon=1, cells=x.size)
    ranks = np.append(0, np.cumsum(x))[list(m.sample(x, Seeded(1)))]
    allowed = m.error(beta="1e-9") + m.levels * 3 / 2
    assert np.abs(ranks - np.array([0.25, 0.5, 0.75]) * 3_000_000).max() <= allowed
    assert m.sample_size("0.001") * 0.001 >= m.error()


def test_draws_follow_the_law() -> None:
    m, x, n, source = Quantiles(epsilon=4, quantiles=["0.2", "0.7"]), [2, 1, 3], 10_000, Seeded(2)
    draws = [m.sample(x, source) for _ in range(n)]
    masses = m.law(x).masses
    assert set(draws) <= set(masses)
    common = {y: n * p for y, p in masses.items() if n * p > 5}
    statistic = sum((draws.count(y) - e) ** 2 / e for y, e in common.items())  # type: ignore[arg-type]
    assert statistic < 75


@pytest.mark.parametrize("together", [1, 1 << 20])
def test_rows_are_drawn_each_by_its_own_law(together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantile, "_TOGETHER", together)
    m, rows, n, source = (
        Quantiles(epsilon=4, quantiles=["0.2", "0.7"]),
        np.array([[2, 1, 3], [0, 0, 9]]),
        5000,
        Seeded(3),
    )
    draws = [m.sample_rows(rows, source) for _ in range(n)]
    for i, row in enumerate(rows):
        masses, drawn = m.law(row).masses, [each[i] for each in draws]
        assert set(drawn) <= set(masses)
        common = {y: n * p for y, p in masses.items() if n * p > 5}
        assert sum((drawn.count(y) - e) ** 2 / e for y, e in common.items()) < 75  # type: ignore[arg-type]
    assert m.sample_rows(rows[:0], source) == []
    for bad in (rows[0], rows - 1, rows[:, :0], rows / 2):
        with pytest.raises(BadData):
            m.sample_rows(bad, source)


def test_no_records_at_all() -> None:
    m = Quantiles(epsilon=1, cells=3)
    assert all(0 <= t <= 3 for t in m.release([0, 0, 0]))
    assert m.miss([0, 0, 0], (0, 1, 3)) == 0


@pytest.mark.parametrize(
    "bad", [[], 3, [[1, 2]], [1.5, 2.0], [-1, 2], [True], np.array([1, 2], object), [1 << 40, 1], [1 << 59] * 20]
)
def test_counts_that_cannot_be_read(bad: Any) -> None:
    with pytest.raises(BadData):
        Quantiles(epsilon=1).release(bad)


def test_parameters_that_cannot_be_read() -> None:
    for bad in ([], [0], [1], ["0.5", "0.5"], ["0.7", "0.2"], ["1e-9"], [Fraction(1, 999983), "0.123457", "0.500009"]):
        with pytest.raises(BadParameter):
            Quantiles(epsilon=1, quantiles=bad)
    for given_ in (
        {},
        {"epsilon": 1, "rho": 1},
        {"epsilon": 0},
        {"epsilon": 1, "cells": 0},
        {"epsilon": 1, "sensitivity": 0},
    ):
        with pytest.raises(BadParameter):
            Quantiles(**given_)  # type: ignore[arg-type]
    with pytest.raises(BadParameter):
        Quantiles(epsilon=1).error()
    with pytest.raises(BadParameter):
        Quantiles(epsilon=1, cells=3).error(cells=0)
    with pytest.raises(BadData):
        Quantiles(epsilon=1, cells=3).release([1, 2])
