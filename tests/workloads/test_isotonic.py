"""Cumulative counts that rise: the nearest at the ends that are asked for, and never much worse than the tree's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import binom

from tacit.testing.sources import Seeded
from tacit.workloads import Domain, Histogram, Price, marginals, method, plan, predicates, prefixes, ranges
from tacit.workloads.methods.trees._breakpoints import Stretches
from tacit.workloads.methods.trees.isotonic import _monotone
from tacit.workloads.models.trees.tree import Tree
from tacit.workloads.models.trees.tree_design import Design, design, range_errors

HIERARCHY, ISOTONIC, ONE = method("hierarchy"), method("isotonic"), Price.of(epsilon=1)


def means(workload, counts, price, releases=30):
    """The mean errors of isotonic and of hierarchy, with the same noises."""
    data = Histogram(workload.domain, counts)
    truth, errors = workload.answer(data), []
    for seed in range(releases):
        each = (m.release(workload, data, price, Seeded(seed)).answers for m in (ISOTONIC, HIERARCHY))
        errors.append([workload.mean(np.abs(answers - truth)) for answers in each])
    return np.mean(errors, axis=0)


SINGLE = Domain.of({"x": 100})


@pytest.mark.parametrize(
    ("workload", "price"),
    [
        (ranges(SINGLE, "x", low=[[0]], high=[[99]]), Price.of(epsilon="0.1", delta="1e-6")),
        (ranges(SINGLE, "x", low=[[3]], high=[[7]]), Price.of(epsilon="0.1", delta="1e-6")),
        (prefixes(Domain.of({"x": 1}), "x"), Price.of(epsilon="0.01", delta="1e-6")),
        (prefixes(Domain.of({"x": 2}), "x"), Price.of(rho="1e-4")),
    ],
)
@pytest.mark.parametrize("name", ["isotonic", "pruned", "partition"])
def test_mean_errors_of_few_queries_are_within_their_bounds(name, workload, price):
    """What a quantile at beta = 1 says is nothing of a mean."""
    data = Histogram(workload.domain, np.full(workload.domain.size, 10**4))
    truth, runs = workload.answer(data), 200
    found = [method(name).release(workload, data, price, Seeded(i)).answers - truth for i in range(runs)]
    told = method(name).predict(workload, None, price)
    assert np.abs(found).mean() <= told.mean * 1.2 and np.sqrt(np.square(found).mean()) <= told.rms * 1.2


def bands(size, *widths, cumulative=True):
    """Bands of these widths, side by side, and all that is before the end of the first ones, and after it."""
    low = np.concatenate([np.arange(0, size, w) for w in widths])
    high = np.concatenate([np.arange(w - 1, size, w) for w in widths])
    first = np.arange(0, size, widths[0])
    if cumulative:
        low, high = np.concatenate([low, 0 * first, first]), np.concatenate([high, first + widths[0] - 1, 0 * first])
        high[-first.size :] = size - 1
    return ranges(Domain.of({"x": size}), low=low, high=high)


LUMPS = np.where(np.arange(1000) % 50 == 10, 3000, 0)
AGES = (3000 * np.exp(-(((np.arange(120) - 38) / 20) ** 2))).astype(int)
ROUND = np.flatnonzero(LUMPS)


@pytest.mark.parametrize(
    ("workload", "counts", "price"),
    [
        (bands(120, 5, 10), AGES, ONE),
        (bands(120, 5, 10), AGES // 10, Price.of(epsilon="0.1")),
        (bands(1000, 10), LUMPS, ONE),
        (bands(1000, 10), LUMPS, Price.of(rho="0.05")),
        (bands(1000, 10, cumulative=False), LUMPS, ONE),
        (ranges(Domain.of({"x": 1000}), low=ROUND, high=ROUND), LUMPS, ONE),
        (ranges(Domain.of({"x": 1000}), low=ROUND - 2, high=ROUND + 2), LUMPS, ONE),
        (ranges(Domain.of({"x": 1000}), low=[*ROUND, 0], high=[*ROUND, 999], weights=[20] * 20 + [1]), LUMPS, ONE),
        (marginals(Domain.of({"x": 1000}), k=1), LUMPS, ONE),
    ],
    ids=["ages", "ages-dear", "bands", "bands-rho", "bands-alone", "values", "gaps", "values-in-a-range", "marginal"],
)
def test_no_worse_than_the_tree_on_aligned_bands(workload, counts, price):
    """Nor on single values with nothing asked between them, or nothing but within one wide range."""
    mine, trees = means(workload, counts, price)
    assert mine <= 1.1 * trees


@pytest.mark.parametrize("size", [2, 8, 64])
def test_a_marginal_is_the_tree_where_it_is_full_and_better_where_it_is_not(size):
    """What the planner says of it, for which it ranks it so."""
    w, price = marginals(Domain.of({"x": size}), k=1), ONE
    for counts, share in ((np.full(size, 300), 1.0), (np.arange(size) % 2 * 300, 0.96), (np.zeros(size, int), 0.6)):
        mine, trees = means(w, counts, price, 6000 // size // 4)
        assert mine == pytest.approx(trees, rel=1e-12) if share == 1 else mine < share * trees


def test_no_worse_than_the_tree_on_random_ranges():
    random = np.random.default_rng(0)
    for _ in range(60):
        m, k, kind = (int(random.choice(of)) for of in ([20, 60, 120, 300], [3, 10, 40], [0, 1, 2]))
        if kind == 0:
            low, high = np.sort(random.integers(0, m, (k, 2)), axis=1).T
        elif kind == 1:
            low = np.arange(0, m, max(1, m // k))
            high = np.minimum(low + max(1, m // k) - 1, m - 1)
        else:
            high = np.sort(random.choice(m, min(k, m), replace=False))
            low = 0 * high
        shape = np.exp(-(((np.arange(m) - m / 3) / (m / 5)) ** 2))
        counts, price = random.poisson(random.choice([1, 30, 300]) * shape), str(random.choice([0.1, 1]))
        mine, trees = means(ranges(Domain.of({"x": m}), low=low, high=high), counts, Price.of(epsilon=price), 8)
        assert mine <= 1.1 * trees, (m, k, kind)


def test_sparse_tables_gain():
    """A third less for ranges, two thirds for the values themselves; and auto takes it."""
    sparse = np.zeros(1000, np.int64)
    sparse[np.random.default_rng(0).integers(0, 1000, 10)] = 3000
    line = Domain.of({"x": 1000})
    for workload, share in ((prefixes(line), 0.8), (marginals(line, k=1), 0.35)):
        mine, trees = means(workload, sparse, ONE, 10)
        assert mine < share * trees
        assert plan(workload, 30_000, ONE).best.name == "isotonic"


@pytest.mark.parametrize("price", [ONE, Price.of(rho="0.1")], ids=str)
def test_a_marginal_states_what_a_histogram_states(price):
    """On dense tables hardly any answer is moved, and that of a value is one noise."""
    line = Domain.of({"x": 1000})
    w, data = marginals(line, k=1), Histogram(line, np.full(1000, 500))
    stated = {
        m: np.median(method(m).release(w, data, price, Seeded(0)).errors)
        for m in ("isotonic", "hierarchy", "histogram")
    }
    assert stated["isotonic"] <= 1.01 * stated["histogram"] and stated["hierarchy"] == pytest.approx(
        stated["histogram"]
    )
    two = Design(4, 2, (1, 1, 0))
    w = ranges(Domain.of({"x": 4}), low=[0], high=[0])
    noises = two.noises(w, price)
    assert range_errors(two.tree(noises), noises, w).grain[0] == 0  # a value of a tree is made of several


@pytest.mark.parametrize("price", [ONE, Price.of(rho="0.1")], ids=str)
def test_each_error_is_within_what_is_stated(price):
    """With probability 1 - beta each: all ranges of a release fail together at worst."""
    line, beta, releases = Domain.of({"x": 60}), 0.05, 150
    asked = predicates(line, [{"x": list(range(1, 60, 2))}]) + ranges(line)
    for counts in (np.zeros(60, int), np.where(np.arange(60) % 7 == 0, 40, 0), np.full(60, 3)):
        data, failed = Histogram(line, counts), 0
        for seed in range(releases):
            release = ISOTONIC.release(bands(60, 6), data, price, Seeded(seed), beta=beta)
            for known in (release, release.query(asked)):
                failed = failed + (np.abs(known.answers - known.workload.answer(data)) > known.errors)[-20:]
        assert failed.max() <= binom.isf(1e-9 / 120, 2 * releases, beta)


ENDS = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11), st.floats(0.1, 10)), min_size=1, max_size=6)


@settings(max_examples=60)
@given(ENDS, st.integers(0, 10**6), st.lists(st.integers(0, 9), min_size=12, max_size=12))
def test_the_nearest_that_rise(found, seed, counts):
    """Against a general solver, run by run; a contraction in its norm and in the largest, and all bounds on ranges."""
    low, high = np.sort([[a, b] for a, b, _ in found], axis=1).T
    w = ranges(Domain.of({"x": 12}), low=low, high=high, weights=[each for *_, each in found])
    tree = Tree(12, 3, (2.0, 0.5, np.inf, 1.0))
    asked = Stretches.of(w, tree)
    values = np.array(counts) + np.random.default_rng(seed).normal(0, 3, 12)
    risen, covered = _monotone(values, asked), np.zeros(12, bool)
    for a, b in zip(low, high, strict=True):
        covered[a : b + 1] = True
    assert np.array_equal(np.repeat(asked.asked, np.diff(asked.cuts)), covered)
    assert np.allclose(
        tree.range_variances(low, high),
        tree.variance(np.eye(12)[low].cumsum(1) - np.eye(12)[high].cumsum(1) + np.eye(12)[high]),
    )
    for run in range(asked.moved.size):
        ends = asked.cuts[asked.ends[asked.run == run]]
        start = asked.cuts[asked.ends[asked.run == run][0] - 1]
        before, after, true = ([c[start:end].sum() for end in ends] for c in (values, risen, np.array(counts)))
        if asked.moved[run] > 0.1:
            assert np.allclose(before, after)
            continue
        weights = asked.weights[asked.run == run]
        rises = {"type": "ineq", "fun": lambda x: np.diff(x, prepend=0.0)}
        far = lambda x, y=before, u=weights: (u * (x - y) ** 2).sum() / u.max()  # noqa: E731
        nearest = minimize(
            far, np.maximum.accumulate(np.maximum(before, 0)), constraints=rises, method="SLSQP", tol=1e-12
        )
        assert far(np.array(after)) <= far(nearest.x) + 1e-6
        e, S = np.subtract(after, true), np.subtract(before, true)
        assert (weights * e**2).sum() <= (weights * S**2).sum() * (1 + 1e-9) + 1e-9
        assert np.abs(e).max() <= np.abs(S).max() + 1e-9
    assert (risen[np.repeat(~asked.asked, np.diff(asked.cuts))] >= 0).all()
    sums = np.concatenate([[0.0], np.cumsum(risen - counts)])
    total = (w.weights * (sums[high + 1] - sums[low]) ** 2).sum()
    e = sums[asked.cuts[asked.ends]] - sums[asked.cuts[asked.ends[asked.first] - 1]][asked.run]
    times = (asked.weights * e**2).sum() / (asked.variances.max() * asked.shares.sum())  # 1 on average before it
    assert total / w.weights.sum() <= asked.bound(w) * times * (1 + 1e-9) + 1e-9


def test_what_is_left_as_it_was_is_not_negative_on_request():
    line = Domain.of({"x": 1000})
    w, data = ranges(line, low=[*ROUND, 0], high=[*ROUND, 999], weights=[20] * 20 + [1]), Histogram(line, LUMPS)
    mine, trees = (m.release(w, data, ONE, Seeded(1)) for m in (ISOTONIC, HIERARCHY))
    assert np.array_equal(mine.answers, trees.answers) and np.allclose(mine.errors, trees.errors)
    assert mine.model.values.min() < 0 <= mine.nonnegative().model.values.min()
    assert np.array_equal(mine.nonnegative().answers, trees.nonnegative().answers)


def test_only_ends_that_are_asked_for_are_looked_at():
    """On 2^20 values the counts between are laid out all the same, none of them negative."""
    line, ends = Domain.of({"x": 1 << 20}), np.sort(np.random.default_rng(0).integers(0, 1 << 20, (200, 2)), axis=1)
    w = ranges(line, low=ends[:, 0], high=ends[:, 1])
    counts = np.bincount(np.arange(10**5) * 7 % (1 << 18), minlength=1 << 20)
    release = ISOTONIC.release(w, Histogram(line, counts), ONE, Seeded(0))
    plan = design(w, ONE)
    asked = Stretches.of(w, plan.tree(plan.noises(w, ONE)))
    assert asked.ends.size <= 400 and release.model.values.size == 1 << 20 and release.model.values.min() >= 0
