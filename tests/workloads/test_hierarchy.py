from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from tacit import ADD_REMOVE, SUBSTITUTE
from tacit.testing.sources import Seeded
from tacit.workloads import Domain, Histogram, Price, Rows, Stack, marginals, method, predicates, prefixes, ranges
from tacit.workloads.methods.trees._buckets import buckets
from tacit.workloads.models.trees.tree import Tree, top_down
from tacit.workloads.models.trees.tree_design import Design, design, line, sketch

LINE = Domain.of({"x": 300})
COUNTS = np.where(np.arange(300) % 37 == 0, 40, 0)
HIERARCHY, ISOTONIC = method("hierarchy"), method("isotonic")


@pytest.mark.parametrize("price", [Price.of(epsilon=1), Price.of(rho="0.05")], ids=str)
def test_a_fitted_tree_is_better_than_the_usual_ones(price):
    w = ranges(LINE)
    best = HIERARCHY.predict(w, None, price).mean
    for branching, levels in ((2, 10), (16, 4)):
        plan = Design(300, branching, (1,) * levels)
        noises = plan.noises(w, price)
        tree = plan.tree(noises)
        usual = np.sqrt(tree.range_variances(w.low[:, 0], w.high[:, 0])).mean() * 0.8
        assert best < usual
    assert design(w, price) is design(ranges(LINE), price)  # fitted once


@pytest.mark.parametrize("price", [Price.of(epsilon=1), Price.of(rho="0.05")], ids=str)
@pytest.mark.parametrize("longest", [1, 15, 300])
@pytest.mark.parametrize("size", [1, 2, 30, 300])
def test_a_sketched_tree_is_about_as_good(price, longest, size):
    """On ranges of all kinds within a few percent of the tree that took many more trials."""
    low, high = np.triu_indices(size)
    short = high - low < longest
    w = ranges(Domain.of({"x": size}), low=low[short], high=high[short])
    deviations = []
    for plan in (design(w, price), sketch(w, price)):
        tree = plan.tree(plan.noises(w, price))
        deviations.append(np.sqrt(tree.range_variances(w.low[:, 0], w.high[:, 0])).mean())
    assert deviations[1] <= 1.06 * deviations[0]


@pytest.mark.parametrize("unit", [ADD_REMOVE.histogram(), SUBSTITUTE.histogram()])
@pytest.mark.parametrize("currency", ["epsilon", "rho"])
def test_levels_share_the_price_exactly(unit, currency):
    price = Price.of(**{currency: "0.7"}, unit=unit)
    w = ranges(LINE)
    noises = [n for n in design(w, price).noises(w, price) if n is not None]
    if currency == "epsilon":
        assert sum(unit.l1 / n.scale for n in noises) == price.amount
    else:
        assert sum(unit.l2_squared / (2 * n.sigma2) for n in noises) == price.amount


@given(st.lists(st.integers(0, 299), min_size=1, max_size=1), st.lists(st.integers(0, 299), min_size=1, max_size=1))
def test_a_record_moves_one_node_of_each_level(came, went):
    w = ranges(LINE)
    plan = design(w, Price.of(epsilon=1))
    tree = plan.tree(plan.noises(w, Price.of(epsilon=1)))
    change = np.bincount(came, minlength=300)
    assert all(np.abs(level).sum() == 1 for level in tree.counts(change))
    swapped = change - np.bincount(went, minlength=300)
    assert all(np.abs(level).sum() <= 2 and (level**2).sum() <= 2 for level in tree.counts(swapped))


def test_rising_counts_are_a_contraction():
    """In every release: no larger mean square of errors over variances, no larger maximum, and no negative count."""
    w, data, truth = prefixes(LINE), Histogram(LINE, COUNTS), np.cumsum(COUNTS)
    plan = design(w, Price.of(epsilon="0.5"))
    tree = plan.tree(plan.noises(w, Price.of(epsilon="0.5")))
    variances = tree.range_variances(w.low[:, 0], w.high[:, 0])
    for seed in range(20):
        before = HIERARCHY.release(w, data, Price.of(epsilon="0.5"), Seeded(seed)).answers - truth
        after = ISOTONIC.release(w, data, Price.of(epsilon="0.5"), Seeded(seed))
        errors = after.answers - truth
        assert (errors**2 / variances).sum() <= (before**2 / variances).sum() * (1 + 1e-9)
        assert np.abs(errors).max() <= max(np.abs(before).max(), 1e-9) * (1 + 1e-9)
        assert (after.model.values >= 0).all() and (np.abs(errors) <= after.errors).all()


def test_counts_from_the_root_down_are_the_nearest_that_are_not_negative():
    """A family of one level, against a general solver; and in a tree the error is lower than that of least squares."""
    tree, total = Tree(6, 6, (2.0, 1e-9)), 7.0
    adds_up = {"type": "eq", "fun": lambda c: c.sum() - total}
    for seed in range(5):
        z = np.random.default_rng(seed).normal(0, 5, 6)
        found = top_down(tree, [z, np.array([total])])
        far = lambda c, z=z: ((c - z) ** 2).sum()  # noqa: E731
        nearest = minimize(far, np.full(6, total / 6), bounds=[(0, None)] * 6, constraints=adds_up).x
        assert found.sum() == pytest.approx(total) and np.allclose(found, nearest, atol=1e-3)
    w, data = ranges(LINE), Histogram(LINE, COUNTS)
    truth = w.answer(data)
    releases = [HIERARCHY.release(w, data, Price.of(epsilon=1), Seeded(seed)) for seed in range(8)]
    plain, moved = (
        [np.abs(x.answers - truth).mean() for x in xs] for xs in (releases, [r.nonnegative() for r in releases])
    )
    assert np.mean(moved) < 0.9 * np.mean(plain)
    assert all((r.nonnegative().model.values >= 0).all() for r in releases)
    assert all((r.nonnegative().errors >= np.abs(r.nonnegative().answers - r.answers)).all() for r in releases)


def test_whole_answers_on_request():
    r = HIERARCHY.release(ranges(LINE), Histogram(LINE, COUNTS), Price.of(epsilon=1), Seeded(0))
    rounded = r.whole()
    assert (rounded.answers == np.round(rounded.answers)).all() and np.abs(rounded.answers - r.answers).max() <= 0.5
    assert np.array_equal(rounded.errors, r.errors + 0.5)


def test_empty_cells_are_seen_to_be_empty():
    w, data = ranges(LINE), Histogram(LINE, np.where(np.arange(300) == 20, 5000, 0))
    truth = w.answer(data)
    mean = {}
    for m in (HIERARCHY, ISOTONIC):
        releases = [m.release(w, data, Price.of(epsilon=1), Seeded(seed)) for seed in range(8)]
        mean[m.name] = np.mean([np.abs(r.answers - truth) for r in releases])
    assert mean["isotonic"] < 0.6 * mean["hierarchy"]


def test_one_attribute_of_a_wide_table():
    wide = Domain.of({"x": 50, "y": 3, "z": 10**6})
    rows = np.stack([np.random.default_rng(0).integers(0, s, 1000) for s in wide.shape], axis=1)
    w = ranges(wide, "x")
    for m in (HIERARCHY, ISOTONIC):
        r = m.release(w, Rows(wide, rows), Price.of(epsilon=1), Seeded(0))
        assert np.abs(r.answers - w.answer(Rows(wide, rows))).mean() < 100
        again = r.query(marginals(wide, subsets=[["x"], ["y"]]) + prefixes(wide, "x"))
        assert np.isfinite(again.errors[:50]).all() and np.isinf(again.errors[50:53]).all()
        assert np.isfinite(again.errors[53:]).all()


def test_any_query_on_the_attribute_has_a_known_error():
    d = Domain.of({"x": 40})
    r = HIERARCHY.release(ranges(d), Histogram(d, np.arange(40)), Price.of(epsilon=1), Seeded(0))
    odd = predicates(d, [{"x": list(range(1, 40, 2))}, {}])
    found = r.query(odd)
    assert np.isfinite(found.errors).all()
    assert np.abs(found.answers - odd.answer(Histogram(d, np.arange(40)))).max() <= found.errors.max()


def test_what_is_not_ranges_of_one_attribute_is_refused():
    wide = Domain.of({"x": 5, "y": 3})
    for w in (marginals(wide, k=2), ranges(wide, "x", "y"), predicates(wide, [{"x": [1, 3]}]), marginals(wide, k=0)):
        assert "not ranges" in HIERARCHY.refusal(w, None, Price.of(epsilon=1))
    assert HIERARCHY.refusal(marginals(wide, subsets=[["x"]]).parts[0], None, Price.of(epsilon=1)) is None


def test_parts_on_one_attribute_are_ranges_together():
    wide = Domain.of({"x": 200, "y": 3})
    long, short = ranges(wide, "x", low=[0, 7], high=[199, 90], weights=[1, 5]), marginals(wide, subsets=[["x"]])
    both = long + prefixes(wide, "x") + short
    data = Rows(wide, np.random.default_rng(0).integers(0, [200, 3], (3000, 2)))
    for name in ("hierarchy", "isotonic", "partition", "pruned"):
        assert method(name).refusal(both, None, Price.of(epsilon=1)) is None
        r = method(name).release(both, data, Price.of(epsilon=1), Seeded(0))
        assert r.answers.shape == r.errors.shape == (402,)
        assert (
            np.abs(r.answers - both.answer(data)).mean() < 60
            and (np.abs(r.answers - both.answer(data)) <= r.errors).mean() > 0.9
        )
    joined = line(both)
    assert joined.weights.tolist() == [1, 5] + [1] * 400 and np.array_equal(joined.answer(data), both.answer(data))
    for other in (marginals(wide, k=1), long + ranges(wide, "y"), long + predicates(wide, [{"x": {1, 3}}])):
        assert "not ranges" in HIERARCHY.refusal(other, None, Price.of(epsilon=1))


def test_totals_and_runs_of_values_are_ranges():
    wide = Domain.of({"y": 3, "x": 60})
    runs = predicates(wide, [{"x": range(i + 1)} for i in range(60)] + [{"x": 4}, {}], weights=np.arange(1, 63))
    asked = Stack([marginals(wide, k=0), runs, marginals(wide, subsets=[["x"]])], [5, 2, 1])
    found = line(asked)
    assert found.axes == (1,) and np.array_equal(found.weights, asked.weights)
    assert found.low[[0, 1, 61, 62]].ravel().tolist() == [0, 0, 4, 0]
    assert found.high[[0, 1, 61, 62]].ravel().tolist() == [59, 0, 4, 59]
    data = Rows(wide, np.random.default_rng(0).integers(0, [3, 60], (3000, 2)))
    assert np.array_equal(found.answer(data), asked.answer(data))
    for name in ("hierarchy", "isotonic", "partition", "pruned"):
        released = method(name).release(asked, data, Price.of(epsilon=1), Seeded(0))
        assert (np.abs(released.answers - asked.answer(data)) <= released.errors).mean() > 0.9
        assert np.isfinite(released.query(marginals(wide, k=0)).errors).all()
    for other in (
        predicates(wide, [{"x": range(9)}, {"y": 1}]),
        predicates(wide, [{"x": []}]),
        predicates(wide, [{"x": np.full(60, 0.5)}]),
        predicates(wide, [{"x": 1, "y": 1}]),
    ):
        assert line(other) is None and line(other + marginals(wide, k=0)) is None


def test_few_lumps_are_counted_by_bucket():
    """A third of the error of one tree where the table is a few lumps, and within the bounds on any."""
    partition, w = method("partition"), ranges(LINE)
    errors = {}
    for m in (ISOTONIC, partition):
        data = Histogram(LINE, np.where(np.arange(300) % 101 == 5, 900, 0))
        releases = [m.release(w, data, Price.of(epsilon=1), Seeded(seed)) for seed in range(10)]
        errors[m.name] = np.mean([np.abs(r.answers - w.answer(data)) for r in releases])
        within = [(np.abs(r.answers - w.answer(data)) <= r.errors).mean() for r in releases]
        assert np.mean(within) >= 0.95 and (m is ISOTONIC or min(within) == 1)
    assert errors["partition"] < 0.8 * errors["isotonic"]
    dense = Histogram(LINE, np.random.default_rng(0).poisson(50, 300))
    r = partition.release(w, dense, Price.of(epsilon=1), Seeded(0))
    assert np.abs(r.answers - w.answer(dense)).mean() < 3 * HIERARCHY.predict(w, None, Price.of(epsilon=1)).mean
    assert r.loss == Price.of(epsilon=1).loss() and "buckets" in r.notes[1]


@given(st.integers(1, 9), st.integers(0, 10**6), st.floats(0.01, 10))
def test_no_cuts_are_better(size, seed, price):
    """Against all ways to cut the values; the share of the ends at the last cut is what the others leave."""
    random = np.random.default_rng(seed)
    unsure = np.where(random.random(size) < 0.6, random.exponential(4, size), 0.0)
    ends = random.random(size) / size
    before = np.concatenate([[0.0], np.cumsum(ends)])

    def cost(low, high):
        """What the bucket of values low to high - 1 misses, and what it costs."""
        own, F = unsure[low:high], (before[low] + before[high]) / 2
        A = np.cumsum(own)[:-1]
        missed = float((ends[low + 1 : high] * A * (own.sum() - A)).sum() / own.sum()) if own.sum() else 0.0
        return missed, price * F * (1 - F)

    def total(cuts):
        """Of these cuts, where each bucket is allowed."""
        each = [cost(*bucket) for bucket in pairwise(cuts)]
        return sum(map(sum, each)) if max(missed for missed, _ in each) <= price * (1 + 1e-9) else np.inf

    found = buckets(unsure, ends, price)
    assert found[0] == 0 and set(np.diff(found)) <= {0, 1}
    places = np.flatnonzero(unsure)[1:].tolist()  # a bucket that begins elsewhere misses as much
    ways = [(0, *some, size) for k in range(len(places) + 1) for some in combinations(places, k)]
    assert total((0, *(np.flatnonzero(np.diff(found)) + 1), size)) <= min(map(total, ways)) * (1 + 1e-6) + 1e-9


@pytest.mark.parametrize("size", [31, 33, 34, 200])
@pytest.mark.parametrize("price", [0.02, 0.5, 20.0])
def test_windows_lose_nothing(size, price):
    """Against a plain programme that tries all places where the last bucket may begin, where ends come in many rows."""
    random = np.random.default_rng(size)
    unsure = np.where(random.random(size) < 0.8, random.exponential(4, size), 0.0)
    ends = random.dirichlet(np.full(size, 0.3))
    A, W = (np.concatenate([[0.0], np.cumsum(values)]) for values in (unsure, ends))

    def cost(low, high):
        whole, before, middle = A[high] - A[low], A[low + 1 : high] - A[low], (W[low] + W[high]) / 2
        missed = float((ends[low + 1 : high] * before * (whole - before)).sum() / whole) if whole else 0.0
        return missed + price * middle * (1 - middle) if missed <= price else np.inf

    places, least = [0, *np.flatnonzero(unsure)[1:].tolist(), size], [0.0]
    for k, high in enumerate(places[1:], 1):
        least.append(min(before + cost(low, high) for before, low in zip(least, places[:k], strict=True)))
    cuts = [0, *(np.flatnonzero(np.diff(buckets(unsure, ends, price))) + 1).tolist(), size]
    assert sum(cost(*bucket) for bucket in pairwise(cuts)) == pytest.approx(least[-1], rel=1e-6)


def test_one_lump_needs_one_bucket():
    alone, ends = np.where(np.arange(50) == 20, 25.0, 0.0), np.full(50, 0.02)
    assert buckets(alone, ends, 0.5).max() == 0
    assert buckets(np.zeros(50), ends, 0.5).max() == 0
    two = buckets(alone + np.where(np.arange(50) == 40, 25.0, 0), ends, 0.5)
    assert two.tolist() == [0] * 40 + [1] * 10
    assert buckets(np.full(50, 25.0), ends, 0.01).max() == 49
    assert buckets(np.full(50, 25.0), ends, 1e6).max() == 0
