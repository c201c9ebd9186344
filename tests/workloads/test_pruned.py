"""A tree that is looked into only where there is somebody: what it counts, makes of that, and states."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from tacit import ADD_REMOVE, SUBSTITUTE, BadParameter
from tacit.mechanisms import Gaussian, Laplace
from tacit.testing.sources import Seeded
from tacit.workloads import Domain, Histogram, Price, Rows, marginals, method, prefixes, ranges
from tacit.workloads.methods.trees._tree_descent import descent

PRUNED = method("pruned")
ONE = ADD_REMOVE.histogram()
PURE, CONCENTRATED = Price.of(epsilon=1), Price.of(rho="0.1")


def recorded(run):
    """What comes of a run, and all noisy counts it has drawn, in order."""
    drawn, sample = [], Laplace.sample

    def kept(noise, x, source):
        drawn.append(np.asarray(sample(noise, x, source), float))
        return drawn[-1]

    with patch.object(Laplace, "sample", kept):
        return run(), drawn


@pytest.mark.parametrize("size", [1, 2, 5, 64, 65, 1000, 4097, 1 << 20])
@pytest.mark.parametrize("unit", [ONE, SUBSTITUTE.histogram()])
def test_every_design_costs_the_price(size, unit):
    for price in (Price.of(epsilon="0.7", unit=unit), Price.of(rho="0.3", unit=unit)):
        tree = descent(size, 16, price, unit)
        assert tree.branching * tree.widths[0] >= size and tree.widths[-1] == 1
        assert all(wide == tree.branching * narrow for wide, narrow in pairwise(tree.widths))
        for noises in tree.noises:
            assert len(noises) == len(tree.widths) and noises[0] == tree.noises[0][0]
            paid = (unit.l1 / n.scale if price.epsilon else unit.l2_squared / (2 * n.sigma2) for n in noises)
            assert sum(paid, Fraction(0)) == price.amount


def test_more_records_are_counted_further_down():
    tree = descent(1 << 20, 16, PURE, ONE)
    chosen = [tree.chosen(10.0**digits) for digits in range(-1, 10)]
    assert chosen == sorted(chosen) and chosen[0] == 0 and chosen[-1] == len(tree.noises) - 1
    assert tree.chosen(-1e9) == 0


@pytest.mark.parametrize("size", [65, 100, 700, 4000])
def test_children_are_the_nearest_that_add_up(size):
    """Against a general solver, family by family; and the leaves are nodes side by side, over all values."""
    counts = np.random.default_rng(size).integers(0, 200, size) * (np.arange(size) % 7 == 0)
    tree = descent(size, 8, PURE, ONE)
    leaves, drawn = recorded(lambda: tree.measure(counts, Seeded(size)))
    assert len(drawn) == leaves.levels > 1
    level, expected = dict(zip(range(0, size, tree.widths[0]), drawn[0], strict=True)), {}
    for (wide, width), y, threshold in zip(
        pairwise(tree.widths), drawn[1:], tree.thresholds[leaves.design], strict=False
    ):
        expected |= {start: x for start, x in level.items() if x <= threshold}
        own, below = iter(y), {}
        for start, x in level.items():
            if x > threshold:
                children = range(start, min(start + wide, size), width)
                rows = np.vstack([np.eye(len(children)), np.full(len(children), 1e6)])
                values = [*(next(own) for _ in children), 1e6 * x]
                below |= dict(zip(children, np.linalg.lstsq(rows, values, rcond=None)[0], strict=True))
        assert next(own, None) is None
        level = below
    expected |= level
    assert leaves.starts.tolist() == sorted(expected) and leaves.starts[0] == 0
    np.testing.assert_allclose(leaves.estimates, [expected[start] for start in sorted(expected)], atol=1e-3)
    assert leaves.estimates.sum() == pytest.approx(drawn[0].sum(), abs=1e-6)


@pytest.mark.parametrize(("size", "branching"), [(1, 3), (3, 3), (23, 3), (27, 3), (40, 4), (16, 2)])
@pytest.mark.parametrize("price", [PURE, CONCENTRATED], ids=str)
def test_no_sum_strays_farther_than_is_said(size, branching, price):
    """Exactly: the coefficient of every noise in every sum of nodes, of whatever level, by the level of the noise."""
    tree = descent(size, branching, price, ONE)
    depth, noises = len(tree.widths), tree.noises[-1]
    energies = [tree.sums(len(tree.noises) - 1, levels).widest.energies[0] for levels in range(1, depth + 1)]
    scales = [float(n.scale) ** 2 if price.epsilon else float(n.sigma2) for n in noises]
    most = np.diff(energies, prepend=0.0) / scales
    for levels in range(1, depth + 1):
        cut, ends = replace(tree), np.cumsum(tree.nodes[:levels])
        cut.__dict__["thresholds"] = [[-9.0] * (levels - 1) + [9.0] * (depth - levels)] * len(tree.noises)
        columns = []
        for one in np.eye(ends[-1]):
            parts = iter(np.split(one, ends[:-1]))
            with patch.object(type(noises[0]), "sample", lambda self, x, source, parts=parts: next(parts)):
                columns.append(np.cumsum(cut.measure(np.zeros(size, np.int64), Seeded(0)).estimates))
        coefficients = np.stack(columns, axis=1)
        assert coefficients.shape[0] == tree.nodes[levels - 1] and np.abs(coefficients).max() <= 1 + 1e-9
        squares = [(part**2).sum(axis=1).max() for part in np.split(coefficients, ends[:-1], axis=1)]
        assert (squares <= most[:levels] * (1 + 1e-9)).all() and squares[-1] > 0.85 * most[levels - 1]


def test_only_what_holds_somebody_is_counted():
    """Of 2^20 values a few dozen nodes on the way to each lump, which ends as a value by itself; and it is quick."""
    domain, places = Domain.of({"x": 1 << 20}), [5, 70_000, 70_001, (1 << 20) - 1]
    counts = np.zeros(1 << 20, np.int64)
    counts[places] = 10**6
    w = ranges(domain, low=[0, 5, 6, 70_000, 0], high=[4, 5, 70_000, 1_000_000, (1 << 20) - 1])
    r, drawn = recorded(lambda: PRUNED.release(w, Histogram(domain, counts), PURE, Seeded(0)))
    assert sum(y.size for y in drawn) <= 16 * (1 + 3 * 4 + 2)
    assert np.isin(places, r.model.cuts).all() and np.isin(np.array(places) + 1, r.model.cuts).all()
    assert (np.abs(r.answers - [0, 10**6, 10**6, 2 * 10**6, 4 * 10**6]) <= r.errors).all() and r.errors.max() < 2000
    assert r.model.values.size == 1 << 20 and r.model.values.sum() == pytest.approx(r.answers[-1])


def test_many_values_that_hold_few_each():
    """Less error than that of a whole tree, whose lower levels have nothing to tell."""
    random, size = np.random.default_rng(1), 1 << 16
    domain, ends = Domain.of({"x": size}), np.sort(random.integers(0, size, (2000, 2)), axis=1)
    counts = np.bincount(random.normal(20_000, 4000, 20_000).astype(int) % size, minlength=size)
    w, data = ranges(domain, low=ends[:, 0], high=ends[:, 1]), Histogram(domain, counts)
    errors = {}
    for m in (PRUNED, method("isotonic")):
        releases = [m.release(w, data, PURE, Seeded(seed)).answers - w.answer(data) for seed in range(10)]
        errors[m.name] = np.abs(releases).mean()
    assert errors["pruned"] < 0.9 * errors["isotonic"]


def tables(size, threshold):
    """Nobody; an even table; one lump; and lumps at the ends of leaves, each too small to be looked into."""
    steps, small = np.arange(size), int(threshold * 0.9)
    lump = np.where(steps == size // 3, 10**5, 0)
    return [0 * steps, 0 * steps + 3, lump, small * (steps % 100 == 0), small * (steps % 256 == 255) + lump]


@pytest.mark.parametrize("price", [PURE, CONCENTRATED, Price.of(epsilon=1, unit=SUBSTITUTE.histogram())], ids=str)
def test_stated_errors_hold_for_all_ranges_at_once(price):
    """With probability 1 - beta each time: more failures than this have a probability below 1e-9."""
    size, beta, each = 3000, 0.05, 50
    domain = Domain.of({"x": size})
    w, failures = prefixes(domain), 0
    threshold = descent(size, 16, price.alone, Histogram(domain, [0] * size, price.unit).distance).thresholds[0][0]
    for table in tables(size, threshold):
        data, truth = Histogram(domain, table, price.unit), np.cumsum(table)
        for seed in range(each):
            r = PRUNED.release(w, data, price, Seeded(seed), beta=beta)
            failures += bool((np.abs(r.answers - truth) > r.errors).any())
            assert np.isfinite(r.errors).all()
    assert failures <= binom.isf(1e-9, 5 * each, beta)


def test_within_a_leaf_the_error_is_at_most_what_it_holds():
    """Every table with the same noisy counts has errors within what is stated, if its own at the cuts are."""
    domain = Domain.of({"x": 1000})
    r = PRUNED.release(prefixes(domain), Histogram(domain, [0] * 1000), PURE, Seeded(2))
    cuts, sums, t = np.array([0, 3, 400, 1000]), np.array([0.0, 5.0, 45.0, 45.0]), 2.5
    model = type(r.model)(domain, 0, cuts, sums, SimpleNamespace(worst=lambda beta: t))
    answers, stated = model.range_answers(prefixes(domain), 0.05)
    np.testing.assert_allclose(answers, np.cumsum(model.values))
    assert stated[2] == stated[399] == stated[999] == t and stated[500] == t and stated[4] > stated[200] > t
    for off in ([t, t, t], [-t, -t, 0], [-t, t, t]):  # of the true sums at the cuts
        before, *ends = np.concatenate([[0.0], np.maximum.accumulate(np.maximum(sums[1:] + off, 0))])
        for early in (True, False):  # in each leaf everybody is at one end
            true, first = np.zeros(1000), before
            for low, high, last in zip(cuts, cuts[1:], ends, strict=False):
                true[low : high - 1], true[high - 1], first = (last if early else first), last, last
            assert (np.abs(true - answers) <= stated + 1e-9).all()


prices = st.builds(
    lambda currency, digits: Price.of(**{currency: f"{10.0**digits:.9f}"}),
    st.sampled_from(["epsilon", "rho"]),
    st.floats(-6, 6),
)


@settings(max_examples=150)
@given(
    st.sampled_from([1, 2, 3, 16, 17, 64, 70, 257, 300, 4097]),
    prices,
    st.sampled_from([0, 1, 3, 10**5, 1 << 41, 1 << 50]),
    st.sampled_from([None, 1, 30, 10**9, 1 << 60]),
    st.integers(0, 2**32),
)
def test_every_release_ends(size, price, most, largest, seed):
    """Whatever the table, the price and the noise: by its law, or of any size up to the largest."""
    random, domain = np.random.default_rng(seed), Domain.of({"x": size})
    counts = random.integers(0, min(most, (1 << 53) // size - 1), size, endpoint=True) * (
        random.random(size) < random.random()
    )

    def draw(self, source, n):
        return (np.float64(largest) ** random.random(n) * random.choice([-1, 0, 1], n)).astype(np.int64)

    w = ranges(domain, low=[0, size // 2, 0], high=[0, size - 1, size - 1]) + marginals(domain, k=1)
    w = w.parts[seed % 2]
    data, own = Histogram(domain, counts), largest is None
    with (
        patch.object(Laplace, "draw", Laplace.draw if own else draw),
        patch.object(Gaussian, "draw", Gaussian.draw if own else draw),
    ):
        r = PRUNED.release(w, data, price, Seeded(seed), n=int(counts.sum()) or None)
    assert np.isfinite(r.answers).all() and np.isfinite(r.errors).all() and r.errors.min() >= 0
    scale = 1 + np.abs(r.model.sums).max()
    assert r.answers.min() >= -1e-9 * scale and (r.model.values >= 0).all() and r.model.values.size == size
    np.testing.assert_allclose(w.answer(r.model), r.answers, atol=1e-6 * scale)
    if own and price.amount >= 10**4:  # hardly any noise: nothing is missed
        np.testing.assert_allclose(r.answers, w.answer(data), atol=1e-6 * scale)
    p = PRUNED.predict(w, None, price)
    assert math.isfinite(p.worst) and p.mean <= p.worst and p.seconds > 0


def test_noise_that_cannot_be_drawn_is_refused_before_the_data_are_seen():
    """At this price that of the top level could be, and that of the lowest could not."""
    price, domain = Price.of(epsilon="1e-17"), Domain.of({"x": 10**6})
    price.part(Fraction(1, 4)).noise(ONE)
    w, data = ranges(domain, low=[0], high=[7]), Histogram(domain, np.zeros(10**6, np.int64))
    with pytest.raises(BadParameter, match="scale"):
        PRUNED.refusal(w, None, price)
    with patch.object(Histogram, "marginal", side_effect=AssertionError), pytest.raises(BadParameter, match="scale"):
        PRUNED.release(w, data, price)


def test_one_attribute_of_a_wide_table():
    wide = Domain.of({"x": 500, "y": 3, "z": 10**6})
    rows = np.stack([np.random.default_rng(0).integers(0, s, 1000) for s in wide.shape], axis=1)
    w, data = ranges(wide, "x", low=[3, 0], high=[90, 499]), Rows(wide, rows)
    r = PRUNED.release(w, data, PURE, Seeded(0))
    assert (np.abs(r.answers - w.answer(data)) <= r.errors).all() and r.nonnegative().answers == pytest.approx(
        r.answers
    )
    again = r.query(marginals(wide, subsets=[["x"], ["y"]]) + prefixes(wide, "x"))
    assert np.isfinite(again.errors[:500]).all() and np.isinf(again.errors[500:503]).all()
    assert np.isfinite(again.errors[503:]).all() and again.answers[-1] == pytest.approx(r.answers[1])
    assert "not ranges" in PRUNED.refusal(ranges(wide, "x", "y", low=[[0, 0]], high=[[1, 1]]), None, PURE)
