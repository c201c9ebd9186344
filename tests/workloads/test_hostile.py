"""Whatever noise is drawn, at whatever price, a release ends: its answers are finite, and not negative if that is said.

A release that failed after its draw would tell something of it, and could be tried again.
"""

import warnings
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from running_time import quick

from tacit.mechanisms import Gaussian, Laplace, project_to_simplex
from tacit.testing.sources import Seeded
from tacit.workloads import Domain, Histogram, Price, from_matrix, marginals, method, plan, ranges
from tacit.workloads.models.graphical.bins import Bins
from tacit.workloads.models.graphical.junction_tree import Junction
from tacit.workloads.models.graphical.maximum_entropy import Measurement, fit

WIDE, LINE = Domain.of({"a": 1, "b": 3, "c": 2, "d": 4}), Domain.of({"x": 17})
LINEAR = ("hierarchy", "isotonic", "partition", "pruned", "queries", "histogram", "optimised")
TABLES = ("residual", "tree", "adaptive", "queries", "histogram", "optimised")
ASKED = [(name, ranges(LINE)) for name in LINEAR] + [(name, marginals(WIDE, k=k)) for name in TABLES for k in (2, 3)]
ASKED += [(name, from_matrix(WIDE, np.random.default_rng(0).random((5, 24)))) for name in TABLES[1:]]

prices = st.builds(
    lambda currency, digits: Price.of(**{currency: f"{10.0**digits:.9f}"}),
    st.sampled_from(["epsilon", "rho"]),
    st.floats(-6, 6),
)


def noise(largest: int, seed: int):
    """Noise of any size up to `largest`, of either sign, and often 0: what a law makes likely is of no account."""
    rng = np.random.default_rng(seed)

    def draw(self, source, n):
        size = np.float64(largest) ** rng.random(n or 1) * rng.choice([-1, 0, 1], n or 1)
        return size.astype(np.int64) if n is not None else int(size[0])

    return draw


def bounded(released):
    """Every number in it is finite, and none is negative where counts are said not to be."""
    assert np.isfinite(released.answers).all()
    assert released.errors is None or not np.isnan(released.errors).any()
    near = released.nonnegative()
    assert np.isfinite(near.answers).all() and near.answers.min() >= -1e-9 * np.abs(near.answers).max()
    if released.method in ("tree", "adaptive", "isotonic", "partition", "pruned"):
        assert released.answers.min() >= -1e-9 * np.abs(released.answers).max()
    assert released.synthetic(5, Seeded(0)).shape == (5, len(released.workload.domain.shape))


@settings(max_examples=150)
@given(st.sampled_from(ASKED), prices, st.sampled_from([1, 30, 10**4, 10**9, 2**60]), st.integers(0, 2**32))
def test_any_noise_makes_a_release(asked, price, largest, seed):
    name, workload = asked
    counts = np.random.default_rng(seed).integers(0, 3, workload.domain.size) * (10 ** (seed % 5))
    draw = noise(largest, seed)
    with patch.object(Laplace, "draw", draw), patch.object(Gaussian, "draw", draw):
        bounded(method(name).release(workload, Histogram(workload.domain, counts), price, Seeded(seed)))


@pytest.mark.parametrize("name", ["tree", "adaptive"])
@pytest.mark.parametrize(
    "price", quick([Price.of(epsilon=98), Price.of(rho=20), Price.of(epsilon=2000)], most=2), ids=str
)
def test_hardly_any_noise_on_few_records(name, price):
    """Where nearly all cells are empty the model says so, and its sums must not vanish."""
    for seed in range(8):
        counts = np.bincount(np.arange(seed) * 5 % 24, minlength=24)
        workload = marginals(WIDE, k=2)
        released = method(name).release(workload, Histogram(WIDE, counts), price, Seeded(seed))
        bounded(released)


@given(st.integers(0, 2**32), st.sampled_from([1.0, 1e3, 1e6, 1e30]))
def test_no_potential_makes_a_sum_vanish(seed, size):
    rng = np.random.default_rng(seed)
    sets = [(0, 1), (1, 2), (2, 3), (0, 4)]
    potentials = {axes: size * rng.normal(size=(3, 3)) for axes in sets}
    tree = Junction.of(sets, [3] * 5)
    beliefs, log_z = tree.calibrate(potentials)
    assert np.isfinite(log_z)
    for belief in beliefs:
        assert belief.sum() == pytest.approx(1) and belief.min() >= 0
    assert tree.marginal(beliefs, (3, 4)).sum() == pytest.approx(1)


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.integers(0, 18), st.integers(-100, 30), st.integers(0, 15))
def test_contradictory_tables_are_fitted(seed, digits, variance, total):
    """Tables that nothing satisfies: negative, huge, and of different totals."""
    rng = np.random.default_rng(seed)
    tables = [
        Measurement(
            axes,
            (Bins.each(3), Bins.each(3)),
            10.0**digits * rng.normal(size=(3, 3)).round(1),
            np.full((3, 3), 10.0**variance),
        )
        for axes in [(0, 1), (1, 2), (0, 2), (0, 2)]
    ]
    shares = [np.array([1e-9, 1e-9, 1 - 2e-9])] * 3
    with warnings.catch_warnings(action="ignore"):
        tree, beliefs, tilts = fit(shares, tables, 10.0**total, np.zeros(0), 60)
    assert np.isfinite(tilts).all()
    assert tree.marginal(beliefs, (0, 1, 2)).sum() == pytest.approx(1)


def test_a_long_chain_of_cliques():
    """The marginal of its ends is found without a call in a call for each of two ways along it."""
    pairs = tuple((i, i + 1) for i in range(500))
    tree = Junction((2,) * 501, pairs, tuple(range(-1, 499)))
    beliefs, _ = tree.calibrate(dict.fromkeys(pairs, np.array([[1.0, 0.0], [0.0, 1.0]])))
    np.testing.assert_allclose(tree.marginal(beliefs, (0, 500)), 0.25, atol=1e-9)


def test_many_attributes_of_one_value():
    domain = Domain.of({**{f"a{i}": 1 for i in range(30)}, "b": 2, "c": 2})
    workload = marginals(domain, subsets=[list(domain.names)])
    data = Histogram(domain, [3000, 10, 1000, 9000])
    released = method("tree").release(workload, data, Price.of(epsilon=50), Seeded(0))
    np.testing.assert_allclose(released.answers, [3000, 10, 1000, 9000], atol=20)


@pytest.mark.parametrize("currency", ["epsilon", "rho"])
@pytest.mark.parametrize("amount", [1300, 10**4, 10**6])
def test_every_method_is_planned_at_large_prices(currency, amount):
    for workload in (ranges(LINE), marginals(WIDE, k=2)):
        names = LINEAR if workload.domain is LINE else TABLES
        price = Price.of(**{currency: amount})
        for row in plan(workload, 100, price, [method(name) for name in names]).rows:
            assert row.prediction is not None and not np.isnan([row.prediction.mean, row.prediction.worst]).any()
            if row.prediction.kind == "exact":
                assert row.prediction.mean < 0.02 and row.prediction.rms < 0.02


def test_the_nearest_frequencies_to_huge_estimates():
    np.testing.assert_allclose(project_to_simplex([1e18, -1e18, 3.0]), [1, 0, 0])
    np.testing.assert_allclose(project_to_simplex([1e300, 1e300]), [0.5, 0.5])
