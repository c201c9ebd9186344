"""Weights that have noisy marginals, whole numbers in their place, and copulas."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from tacit.testing.sources import Seeded
from tacit.workloads import Domain, Price, Rows, marginals, method
from tacit.workloads.models.marginals.matching import correlated
from tacit.workloads.models.marginals.raking import NoisyTable, _scattered, cells, rake
from tacit.workloads.models.marginals.weighted_points import whole_numbers
from tacit.workloads.models.model import rounded


def domain_of(shape) -> Domain:
    return Domain.of({f"a{i}": n for i, n in enumerate(shape)})


def all_cells(domain):
    return np.stack(np.unravel_index(np.arange(domain.size), domain.shape), axis=1)


def sums(domain, points, weights, axes):
    return np.bincount(cells(domain, list(points.T), axes), weights, domain.cells(axes))


@given(st.lists(st.integers(1, 4), min_size=3, max_size=4), st.integers(0, 10**6))
def test_tables_without_noise_are_met(shape, seed):
    domain, rng = domain_of(shape), np.random.default_rng(seed)
    table = rng.gamma(0.5, size=shape) * 1000 + 20
    sets = [(0, 1), (1, 2), (0, 2)]
    tables = [NoisyTable(s, table.sum(axis=tuple(a for a in domain.all if a not in s)), 0.0) for s in sets]
    points, weights = all_cells(domain), np.full(domain.size, table.mean())
    rake(domain, points, tables, weights)
    for t in tables:
        assert np.abs(sums(domain, points, weights, t.axes) - t.counts.ravel()).sum() < 1e-3 * table.sum()


def test_the_weights_are_the_best_there_are():
    """Against a minimiser that knows nothing of the problem."""
    domain, rng = domain_of([2, 3, 2]), np.random.default_rng(1)
    points, q = all_cells(domain), rng.gamma(2.0, size=12) * 10
    tables = [
        NoisyTable(s, rng.normal(60, 30, domain.cells(s)), v) for s, v in (((0, 1), 50.0), ((1, 2), 500.0), ((0,), 5.0))
    ]

    def objective(logs):
        w = np.exp(logs)
        gaps = [(np.square(sums(domain, points, w, t.axes) - t.counts).sum()) / (0.2 * t.variance) for t in tables]
        return (w * (logs - np.log(q)) - w).sum() + sum(gaps)

    best = minimize(objective, np.log(q), method="BFGS", options={"gtol": 1e-7})
    weights = q.copy()
    rake(domain, points, tables, weights)
    assert objective(np.log(weights)) == pytest.approx(best.fun, rel=1e-3)
    np.testing.assert_allclose(weights, np.exp(best.x), rtol=0.01, atol=0.05)


def test_a_large_noise_leaves_the_weights_as_they_are():
    domain, weights = domain_of([3, 3]), np.arange(1.0, 10.0)
    rake(domain, all_cells(domain), [NoisyTable((0,), np.array([1000.0, -1000.0, 0.0]), 1e12)], weights)
    np.testing.assert_allclose(weights, np.arange(1.0, 10.0), rtol=1e-6)


def test_tables_that_no_counts_have_are_met_halfway():
    """a equals b, b equals c, and a is not c: which cannot be; and counts below 0."""
    domain, same, other = domain_of([2, 2, 2]), np.eye(2) * 5, (1 - np.eye(2)) * 5
    for tables in ([((0, 1), same), ((1, 2), same), ((0, 2), other)], [((0,), np.array([-1e9, -1.0]))]):
        weights = np.ones(8)
        rake(domain, all_cells(domain), [NoisyTable(axes, table, 0.0) for axes, table in tables], weights)
        assert np.isfinite(weights).all() and weights.min() > 0


@given(st.integers(1, 500), st.integers(0, 30))
def test_each_table_comes_once_in_a_sweep(count, sweep):
    assert sorted(_scattered(count, sweep)) == list(range(count))


def test_exchanges_keep_the_rows_and_bring_sums_nearer():
    domain, rng = domain_of([3] * 6), np.random.default_rng(2)
    points = rng.integers(0, 3, (5000, 6))
    points = points[np.lexsort(points.T[::-1])]
    weights, sets = rng.gamma(0.5, size=5000), [(a, b) for b in range(6) for a in range(b)]
    counts = whole_numbers(domain, points, sets, weights, n=1000, source=Seeded(3))
    assert counts.sum() == 1000 and counts.min() >= 0
    shares = weights * (1000 / weights.sum())
    plain = rounded(shares, 1000, Seeded(3))

    def gaps(own):
        return np.concatenate([sums(domain, points, own - shares, axes) for axes in sets])

    assert np.square(gaps(counts)).mean() < 0.2 * np.square(gaps(plain)).mean() and np.abs(gaps(counts)).max() < 4


def test_a_copula_has_the_shares_and_about_the_correlations():
    """Bits that copy one hidden bit with chance 0.7, and an attribute of one value."""
    rng, n = np.random.default_rng(1), 20_000
    hidden = rng.random((n, 1)) < 0.3
    codes = np.where(rng.random((n, 30)) < 0.7, hidden, rng.random((n, 30)) < 0.5).astype(int)
    data = Rows(domain_of([2] * 30 + [1]), np.column_stack([codes, np.zeros(n, int)]))
    known = method("residual").release(marginals(data.domain, k=2), data, Price.of(rho=1), Seeded(1)).model
    drawn = correlated(known, 50_000, Seeded(2))
    assert drawn.shape == (50_000, 31) and set(np.unique(drawn)) == {0, 1} and not drawn[:, 30].any()
    assert np.abs(drawn[:, :30].mean(axis=0) - codes.mean(axis=0)).max() < 0.02  # 7 standard errors, and the noise
    truth, got = np.corrcoef(codes.T), np.corrcoef(drawn[:, :30].T)
    assert np.abs(got - truth).max() < 0.1 < truth.min()
