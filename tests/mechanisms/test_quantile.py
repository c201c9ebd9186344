"""Private quantiles against their definition, their theorems and their own law."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core.accounting.loss import BoundedRange
from tacit.core.distance import SUBSTITUTE
from tacit.core.errors import BadData, BadParameter
from tacit.mechanisms.selection import quantile
from tacit.mechanisms.selection._bisection import Node, bisect
from tacit.mechanisms.selection.exponential import Exponential
from tacit.mechanisms.selection.quantile import Quantiles
from tacit.testing.sources import Seeded

counts = st.lists(st.integers(0, 4), min_size=1, max_size=4)
aims = st.lists(st.sampled_from([0.1, 0.25, 1 / 3, 0.5, 0.75, 0.9]), min_size=1, max_size=4, unique=True).map(sorted)


def slow_law(histogram: list[int], quantiles: list[Fraction], epsilon: float) -> dict[tuple[int, ...], float]:
    """The definition, on a list of records: middle quantile first, its cell is cut, then each side by itself."""
    each = epsilon / math.ceil(math.log2(len(quantiles) + 1))
    records = [cell for cell, n in enumerate(histogram) for _ in range(n)]

    def solve(mine: list[int], low: int, high: int, qs: list[Fraction]) -> dict[tuple[int, ...], float]:
        if not qs:
            return {(): 1.0}
        at = (len(qs) - 1) // 2
        q, cut = qs[at], 1 / 6 if len(qs) > 1 else 0.0
        aim, most = q * len(mine), float(2 * max(q, 1 - q))
        far = [max(0, sum(r < v for r in mine) - aim, aim - sum(r <= v for r in mine)) for v in range(low, high + 1)]
        weight = [math.exp(-(1 - cut) * each * float(d) / most) for d in far]
        masses: dict[tuple[int, ...], float] = {}
        for v, w in zip(range(low, high + 1), weight, strict=True):
            ends = sum(r < v for r in mine), sum(r <= v for r in mine)
            for rank, part in cuts(q, aim, most / cut / each, *ends).items() if cut else ((0, 1.0),):
                left = solve(mine[:rank], low, v, [p / q for p in qs[:at]])
                right = solve(mine[rank:], v, high, [(p - q) / (1 - q) for p in qs[at + 1 :]])
                for a, p in left.items():
                    for b, r in right.items():
                        masses[(*a, v, *b)] = masses.get((*a, v, *b), 0.0) + w / sum(weight) * part * p * r
        return masses

    return solve(records, 0, len(histogram) - 1, quantiles)


def cuts(q: Fraction, aim: Fraction, scale: float, least: int, most: int) -> dict[int, float]:
    """The law of a cut: discrete Laplace noise in steps of 1 / b on the aim, rounded, within the cell."""
    b = q.denominator
    z = np.arange(-math.ceil(45 * b * scale), math.ceil(45 * b * scale) + 1)
    mass = math.tanh(0.5 / b / scale) * np.exp(-np.abs(z) / b / scale)
    ranks = np.clip((int(aim * b) + z + b // 2) // b, least, most)
    return {rank: float(mass[ranks == rank].sum()) for rank in range(least, most + 1)}


def distance(x: Any, y: Any, quantiles: Any) -> float:
    """The largest rank distance, from its definition."""
    at, n = np.arange(len(x)), int(np.sum(x))
    found = [
        max(0, int(np.sum(x, where=at < v)) - q * n, q * n - int(np.sum(x, where=at <= v)))
        for v, q in zip(y, quantiles, strict=True)
    ]
    return float(max(found))


@given(x=counts, quantiles=aims)
@settings(max_examples=50, deadline=None)
def test_the_law_is_that_of_the_definition(x: list[int], quantiles: list[float]) -> None:
    m = Quantiles(epsilon=2, quantiles=quantiles)
    slow = slow_law(x, list(m.quantiles), 2.0)
    law = m.law(x)
    assert set(law.masses) == set(slow)
    assert all(law.mass(y) == pytest.approx(p, rel=1e-11) for y, p in slow.items())
    assert all(list(y) == sorted(y) for y in slow)


SHARES = [Fraction(1, 2), Fraction(1, 4), Fraction(2, 3), Fraction(9, 10)]


def neighbours() -> Any:
    for total in range(1, 13):
        for first in range(total + 1):
            for x in ([first, total - first, 0], [0, first, 0, total - first]):
                for cell in range(len(x)):
                    yield np.array(x), np.array(x) + (np.arange(len(x)) == cell)


def scored(node: Node, x: Any) -> tuple[Any, int, Any]:
    below = np.append(0, np.cumsum(x))
    aim = node.aim(0, int(below[-1]))
    return node.gaps(below, aim), aim, below[:-1]


@pytest.mark.parametrize("share", SHARES)
def test_the_range_of_one_record_s_moves(share: Fraction) -> None:
    """Twice max(a, b - a) is reached, and never exceeded; some cell always has the aim."""
    node, found = Node(0, -1, 1, share), 0
    for x, y in neighbours():
        gaps = [scored(node, c)[0] for c in (x, y)]
        assert gaps[0].min() == gaps[1].min() == 0
        found = max(found, int(np.ptp(gaps[0] - gaps[1])))
    assert found == node.range == 2 * max(share.numerator, share.denominator - share.numerator)


@pytest.mark.parametrize("share", SHARES)
def test_a_choice_and_its_cut_have_one_bounded_range(share: Fraction) -> None:
    """By their exact law, jointly: ln P(v, y) / P'(v, y) lies within an interval of length `each`."""
    m, node, y = Quantiles(epsilon=1, quantiles=["0.4", "0.5"]), Node(0, -1, 2, share), np.arange(-300, 301)
    rate = 1 / float(m._noise(node).scale)
    worst = 0.0
    for pair in neighbours():
        logs = []
        for x in pair:
            gaps, aim, below = scored(node, x)
            chosen = np.log(Exponential.rule.masses(gaps, m._unit(node)))
            noise = y[None, :] - (aim - share.denominator * below[:, None])
            logs.append(chosen[:, None] - np.abs(noise) * rate)
        worst = max(worst, float(np.ptp(logs[0] - logs[1])))
    assert 0.9 * float(m.each) < worst <= float(m.each) + 1e-9


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
    assert all(m.miss(x, y) == pytest.approx(distance(x, y, m.quantiles)) for y in law.masses)


def test_one_quantile_is_one_exponential_mechanism() -> None:
    x = [3, 0, 2, 5]
    m = Quantiles(epsilon=1, quantiles=["0.3"], cells=4)
    below = np.append(0, np.cumsum(x))
    one = Exponential(epsilon=1, range_sensitivity=14, candidates=4)
    law = one.law(-np.maximum(0, np.maximum(10 * below[:-1] - 30, 30 - 10 * below[1:])))
    assert [m.law(x).mass((v,)) for v in range(4)] == pytest.approx([law.mass(v) for v in range(4)], rel=1e-12)
    assert m.error() == pytest.approx(one.error() / 10)


def shared(size: int, **rows: int) -> Any:
    """Counts over so many values, most of them at a few: `_7=3` is three rows of value 7."""
    return np.array([rows.get(f"_{v}", 0) for v in range(size)])


HEAVY = [
    (shared(1025, _77=1000), "0.5", 77),
    (shared(121, _77=1000), "0.01", 77),
    (shared(121, _77=1000), "0.95", 77),
    (shared(121, _0=600, _120=400), "0.58", 0),
    (shared(121, _0=600, _120=400), "0.62", 120),
    (shared(600, _0=600) + (np.arange(600) % 2), "0.4", 0),
]


@pytest.mark.parametrize(("x", "q", "truth"), HEAVY)
@pytest.mark.parametrize("epsilon", [1, 100])
def test_a_value_that_many_share_is_found(x: Any, q: str, truth: int, epsilon: int) -> None:
    """By the exact law: it is the only one at no distance from its rank, and whatever else is chosen is promised."""
    m = Quantiles(epsilon=epsilon, quantiles=[q], cells=x.size)
    law = m.law(x)
    assert [v for (v,) in law.masses if distance(x, (v,), m.quantiles) == 0] == [truth]
    nearest = min(distance(x, (v,), m.quantiles) for (v,) in law.masses if v != truth)
    lost = (x.size - 1) * math.exp(-epsilon * nearest / float(2 * max(m.quantiles[0], 1 - m.quantiles[0])))
    assert law.mass((truth,)) >= 1 / (1 + lost) - 1e-12
    assert math.fsum(p for y, p in law.masses.items() if m.miss(x, y) > m.error()) <= 0.05
    assert epsilon == 1 or law.mass((truth,)) > 1 - 1e-9


@pytest.mark.parametrize("x", [[0, 100, 0], [70, 0, 30], [0, 30, 0, 69, 1], [1, 40, 40, 1]])
@pytest.mark.parametrize("epsilon", [1, 40])
def test_several_quantiles_of_values_that_many_share(x: list[int], epsilon: int) -> None:
    """The cut makes the promise hold on both sides of a value that has several of them."""
    m = Quantiles(epsilon=epsilon, quantiles=["0.2", "0.5", "0.72"], cells=len(x))
    law = m.law(x)
    assert math.fsum(law.masses.values()) == pytest.approx(1, rel=1e-12)
    assert math.fsum(p for y, p in law.masses.items() if m.miss(x, y) > m.error()) <= 0.05  # type: ignore[arg-type]
    if epsilon == 40:
        assert math.fsum(p for y, p in law.masses.items() if m.miss(x, y) == 0) > 0.99  # type: ignore[arg-type]


def test_the_promise_holds_where_smooth_and_shared_values_meet() -> None:
    """A false alarm has a chance below 1e-9, by Hoeffding's inequality."""
    rng = np.random.default_rng(1)
    spend = np.where(rng.random(3000) < 0.4, 0, np.minimum(rng.lognormal(5, 1, 3000), 1999)).astype(int)
    x, draws = np.bincount(spend, minlength=2000), 1000
    m = Quantiles(epsilon=1, quantiles=["0.25", "0.5", "0.75"], cells=2000)
    found = m.sample_rows(np.repeat(x[None], draws, axis=0), Seeded(5))
    for beta in ("0.5", "0.05"):
        missed = np.mean([m.miss(x, y) > m.error(beta=beta) for y in found])
        assert missed <= float(beta) + math.sqrt(math.log(1e9) / (2 * draws))
    first = [y[0] for y in found]
    assert np.mean(np.array(first) == 0) > 0.9


@given(x=st.lists(st.integers(0, 1), min_size=1, max_size=30), q=st.sampled_from(["0.5", "0.1", "0.75"]))
@settings(max_examples=50, deadline=None)
def test_distinct_records_keep_the_promise_of_the_edges_beside_them(x: list[int], q: str) -> None:
    """Either edge of the cell is within the error of a choice among all edges, and one record, of its rank."""
    m = Quantiles(epsilon=2, quantiles=[q], cells=len(x))
    law, b = m.law(x), m.quantiles[0].denominator
    among_edges = Exponential(epsilon=2, range_sensitivity=m.tree[0].range, candidates=len(x) + 1).error() / b
    assert m.error() <= among_edges
    below, aim = np.append(0, np.cumsum(x)), float(m.quantiles[0] * sum(x))
    far = [max(abs(below[v] - aim), abs(below[v + 1] - aim)) for v in range(len(x))]
    assert math.fsum(law.mass((v,)) for v in range(len(x)) if far[v] > among_edges + 1 + 1e-9) <= 0.05


def test_floats_are_read_as_the_fractions_they_stand_for() -> None:
    assert Quantiles(epsilon=1, quantiles=[1 / 3, 2 / 3]).quantiles == (Fraction(1, 3), Fraction(2, 3))
    many = Quantiles(epsilon=1, quantiles=np.linspace(0, 1, 12)[1:-1].tolist()).quantiles
    assert many == tuple(Fraction(i, 11) for i in range(1, 11))


def test_a_million_cells() -> None:
    x = np.bincount(np.arange(3_000_000) % 1_000_000)
    m = Quantiles(epsilon=1, cells=x.size)
    assert distance(x, m.sample(x, Seeded(1)), m.quantiles) <= m.error(beta="1e-9")
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
    monkeypatch.setattr(quantile, "_MAX_CELLS_AT_ONCE", together)
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
    assert all(0 <= v <= 2 for v in m.release([0, 0, 0]))
    assert m.miss([0, 0, 0], (0, 1, 2)) == 0


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
    Quantiles(epsilon="1e-17", quantiles=["0.5"])
    with pytest.raises(BadParameter, match="noise of a cut"):
        Quantiles(epsilon="1e-17", quantiles=["0.5", "0.5001"])
    with pytest.raises(BadParameter):
        Quantiles(epsilon=1).error()
    with pytest.raises(BadParameter):
        Quantiles(epsilon=1, cells=3).error(cells=0)
    with pytest.raises(BadData):
        Quantiles(epsilon=1, cells=3).release([1, 2])
