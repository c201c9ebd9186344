"""Iterative proportional fitting, and the rows that are drawn from it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.testing.sources import Seeded
from tacit.workloads import Domain, Price, Rows, marginals, method, ranges
from tacit.workloads.noisy_marginals import NoisyMarginals
from tacit.workloads.proportional import proportional


def domain_of(shape) -> Domain:
    return Domain.of({f"a{i}": n for i, n in enumerate(shape)})


def mixture(attributes: int, n: int = 10_000) -> Rows:
    """Bits that depend on one another through a half of all people: no tree has their pairs."""
    rng = np.random.default_rng(1)
    codes = (rng.random((n, attributes)) < np.where(rng.random((n, 1)) < 0.5, 0.1, 0.6)).astype(int)
    return Rows(domain_of([2] * attributes), codes)


def apart(workload, rows, answers, n):
    """The mean distance in total variation."""
    return np.abs(workload.answer(rows) - answers).sum() / 2 / n / len(workload.parts)


@given(st.lists(st.integers(1, 4), min_size=3, max_size=4), st.integers(0, 10**6))
def test_marginals_of_some_table_are_met(shape, seed):
    domain, rng = domain_of(shape), np.random.default_rng(seed)
    table = rng.gamma(0.5, size=shape) + 0.05
    sets = [(0, 1), (1, 2), (0, 2), (1,), tuple(range(3, len(shape)))]
    tables = {s: table.sum(axis=tuple(a for a in domain.all if a not in s)) for s in sets}
    cells = proportional(domain, tables)
    for s in sets:
        got = cells.sum(axis=tuple(a for a in domain.all if a not in s))
        assert np.abs(got - tables[s] / table.sum()).sum() < 2e-4


def test_what_is_not_known_is_independent():
    first, second = np.array([3.0, 1.0]), np.array([1.0, 0.0, 4.0])
    cells = proportional(domain_of([2, 3, 5]), {(0,): first, (1,): second})
    product = np.multiply.outer(first / 4, second / 5)
    np.testing.assert_allclose(cells, np.repeat(product[:, :, None], 5, axis=2) / 5, atol=1e-8)


def test_tables_that_no_counts_have_are_met_halfway():
    """a equals b, b equals c, and a is not c: which cannot be; and nothing at all."""
    same, other = np.eye(2) * 5, (1 - np.eye(2)) * 5
    cells = proportional(domain_of([2, 2, 2]), {(0, 1): same, (1, 2): same, (0, 2): other})
    assert np.isfinite(cells).all() and cells.min() >= 0 and cells.sum() == pytest.approx(1)
    nothing = proportional(domain_of([2, 2]), {(0,): np.zeros(2), (1,): np.zeros(2)})
    np.testing.assert_allclose(nothing, 0.25)


@pytest.mark.parametrize("name", ["residual", "queries"])
@pytest.mark.parametrize("price", [Price.of(epsilon=1), Price.of(rho="0.05")], ids=str)
def test_rows_have_the_marginals_that_were_released(name, price):
    """0.088 apart when cells were cut off at 0, whatever the price; a row of whole numbers is some 0.001."""
    data, n = mixture(12), 10_000
    workload = marginals(data.domain, k=2)
    released = method(name).release(workload, data, price, Seeded(1))
    own = apart(workload, data, released.answers, n)
    for one in (released, released.nonnegative()):
        rows = Rows(data.domain, one.model.synthetic(n, Seeded(2)))
        assert apart(workload, rows, workload.answer(data), n) < 1.1 * own + 0.002


def test_tables_of_a_million_cells_are_fitted_too():
    data, n = mixture(20), 10_000
    workload = marginals(data.domain, k=2)
    released = method("residual").release(workload, data, Price.of(rho="0.05"), Seeded(1))
    rows = Rows(data.domain, released.model.synthetic(n, Seeded(2)))
    assert apart(workload, rows, workload.answer(data), n) < 0.03  # 0.10 for a tree


def test_rows_of_a_wide_release_without_negative_counts():
    """2^40 cells: nobody lays them out."""
    data, n = mixture(40, 4000), 4000
    workload = marginals(data.domain, k=2)
    near = method("residual").release(workload, data, Price.of(rho=1), Seeded(1)).nonnegative()
    assert isinstance(near.model, NoisyMarginals)
    rows = Rows(data.domain, near.model.synthetic(n, Seeded(2)))
    single = marginals(data.domain, k=1)
    assert apart(single, rows, single.answer(data), n) < 0.02


def test_rows_of_a_line_have_its_ranges():
    """Largest gaps of prefixes: noise that is cut off at 0 adds up to 1600."""
    domain = Domain.of({"x": 1000})
    data = Rows(domain, np.clip(np.random.default_rng(1).normal(500, 60, 10_000).astype(int), 0, 999)[:, None])
    for name in ("hierarchy", "histogram"):
        released = method(name).release(ranges(domain), data, Price.of(epsilon="0.2"), Seeded(1))
        made = Rows(domain, released.model.synthetic(10_000, Seeded(2)))
        assert np.abs(np.cumsum(made.marginal((0,)) - data.marginal((0,)))).max() < 400


def test_rows_of_a_noisy_histogram_have_its_sums():
    domain, rng = Domain.of({"x": 100, "y": 100}), np.random.default_rng(1)
    x = np.clip(rng.normal(50, 12, 10_000).astype(int), 0, 99)
    data = Rows(domain, np.stack([x, np.clip(x + rng.normal(0, 5, x.size).astype(int), 0, 99)], axis=1))
    released = method("histogram").release(marginals(domain, k=2), data, Price.of(epsilon=1), Seeded(1))
    rows, single = Rows(domain, released.model.synthetic(10_000, Seeded(2))), marginals(domain, k=1)
    assert apart(single, rows, single.answer(data), 10_000) < 0.06  # 0.144 before
