"""Rows that are drawn from noisy marginals have them."""

from dataclasses import replace

import numpy as np
import pytest

from tacit.core.errors import BadQuestion
from tacit.testing.sources import Seeded
from tacit.workloads import Domain, Price, Rows, marginals, method, ranges
from tacit.workloads.models.marginals.matching import largest
from tacit.workloads.models.marginals.noisy_marginals import NoisyMarginals


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


@pytest.mark.parametrize(("attributes", "k"), [(12, 3), (24, 2), pytest.param(60, 2, marks=pytest.mark.slow)])
def test_rows_of_a_wide_release_have_its_marginals(attributes, k):
    """2^60 cells, which nobody lays out.  No tree has such pairs: rows of one are 0.1 apart."""
    data, n = mixture(attributes), 10_000
    workload = marginals(data.domain, k=k)
    released = method("residual").release(workload, data, Price.of(rho=1), Seeded(1))
    own = apart(workload, data, released.answers, n)
    rows = Rows(data.domain, released.model.synthetic(n, Seeded(2)))
    assert apart(workload, rows, workload.answer(data), n) < 1.2 * own + 0.001


def test_rows_of_noisy_tables_are_nearer_than_tables_cut_off_at_0():
    """A hundred values each, and a noise that hides most cells."""
    rng, n = np.random.default_rng(3), 20_000
    hidden = rng.integers(0, 8, n)
    columns = [(hidden * 12 + np.minimum(rng.geometric(0.2, n), 30) * (i + 1)) % 100 for i in range(5)]
    data = Rows(domain_of([100] * 5), np.stack(columns, axis=1))
    workload = marginals(data.domain, k=2)
    released = method("residual").release(workload, data, Price.of(rho="0.05"), Seeded(1))
    rows = Rows(data.domain, released.model.synthetic(n, Seeded(2)))
    cut = apart(workload, data, released.nonnegative().answers, n)
    assert apart(workload, rows, workload.answer(data), n) < 0.9 * cut
    assert apart(workload, data, released.consistent(Seeded(2)).answers, n) < 0.9 * cut


def test_rows_of_a_wide_release_without_negative_counts():
    """2^40 cells."""
    data, n = mixture(40, 4000), 4000
    workload = marginals(data.domain, k=2)
    near = method("residual").release(workload, data, Price.of(rho=1), Seeded(1)).nonnegative()
    assert isinstance(near.model, NoisyMarginals)
    rows = Rows(data.domain, near.model.synthetic(n, Seeded(2)))
    assert apart(workload, rows, near.answers, n) < 0.003


@pytest.mark.parametrize("name", ["residual", "queries", "tree", "histogram"])
def test_counts_of_weighted_records_agree_and_none_is_negative(name):
    data, n = mixture(12), 10_000
    workload = marginals(data.domain, k=2)
    released = method(name).release(workload, data, Price.of(rho="0.01"), Seeded(1))
    near = released.consistent(Seeded(2))
    pairs, alone, everything = near.answers.reshape(-1, 2, 2), near.query(marginals(data.domain, k=1)), data.domain.all
    assert near.answers.min() >= 0 and "one table" in near.notes[-1]
    if released.errors is not None:
        np.testing.assert_allclose(near.errors, released.errors + np.abs(near.answers - released.answers))
    first = [axes[0] for axes in workload.tables]
    np.testing.assert_allclose(pairs.sum(axis=2), alone.answers.reshape(12, 2)[first], rtol=1e-9)
    np.testing.assert_allclose(near.model.marginal(everything).sum(axis=tuple(range(2, 12))), pairs[0], rtol=1e-9)
    assert near.consistent(Seeded(3)).answers.tolist() == near.answers.tolist()
    if name != "histogram":  # which has the error of all its cells
        assert apart(workload, data, near.answers, n) < 1.1 * apart(workload, data, released.answers, n)


def test_answers_alone_are_of_no_records():
    domain = domain_of([4])
    released = method("queries").release(marginals(domain, k=1), Rows(domain, np.zeros((9, 1), int)), Price.of(rho=1))
    with pytest.raises(BadQuestion, match="no model to find records"):
        replace(released, model=None).consistent()


@pytest.mark.parametrize("name", ["residual", "queries"])
@pytest.mark.parametrize("shape", [[1, 1], [1, 30], [2] * 13 + [1], [300, 300, 300]], ids=str)
@pytest.mark.parametrize("people", [0, 50])
def test_whatever_noise_brings_rows_are_of_the_domain(name, shape, people):
    domain = domain_of(shape)
    data = Rows(domain, np.zeros((people, len(shape)), int))
    for k in (0, 1, 2):
        released = method(name).release(marginals(domain, k=k), data, Price.of(rho="0.01"), Seeded(1))
        for model in (released.model, released.nonnegative().model, released.consistent(Seeded(3)).model):
            rows = model.synthetic(9, Seeded(2))
            assert rows.shape == (9, len(shape)) and rows.min() >= 0 and (rows < shape).all()


def test_of_sets_the_largest_count_and_parts_of_what_is_too_large():
    domain = domain_of([2, 3, 1000, 1000])
    assert largest(domain, [(), (0,), (1,), (0, 1)]) == [(0, 1)]
    assert largest(domain_of([2, 10**8]), [(0, 1)]) == [(0,), (1,)]  # a single one is never too large
    assert largest(domain, [()]) == largest(domain, []) == []
    many = domain_of([2] * 60)
    sets = [(a, b, c) for c in range(60) for b in range(c) for a in range(b)]  # 34,220 of them
    kept = largest(many, sets)
    assert 10_000 < len(kept) < 12_300 and {a for axes in kept for a in axes} == set(range(60))


@pytest.mark.parametrize("shape", [[800, 800], [200_000, 3], [90, 90, 90]], ids=str)
def test_rows_of_large_tables_have_them(shape):
    rng, n = np.random.default_rng(2), 200_000
    hidden = rng.random(n)
    columns = [np.minimum((hidden + 0.02 * rng.random(n)) / 1.02 * size, size - 1).astype(int) for size in shape]
    data, k = Rows(domain_of(shape), np.stack(columns, axis=1)), 1 if shape[0] == 200_000 else 2
    workload = marginals(data.domain, k=k)
    released = method("residual").release(workload, data, Price.of(rho=10), Seeded(1))
    rows = Rows(data.domain, released.model.synthetic(n, Seeded(2)))
    assert apart(workload, rows, workload.answer(data), n) < apart(workload, data, released.answers, n) + 0.002


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
