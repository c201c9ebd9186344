"""Least squares on several noisy marginals: against matrices, against exact laws, and as a release."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit import Gaussian, Laplace, storage
from tacit.testing.sources import Seeded
from tacit.workloads.methods.direct.per_query import PerQuery
from tacit.workloads.models.marginals.averaged import averaged, rates
from tacit.workloads.models.marginals.noisy_marginals import NoisyMarginals
from tacit.workloads.models.marginals.residuals import query_residuals, subsets
from tacit.workloads.planner import plan
from tacit.workloads.price import Price, variance
from tacit.workloads.queries.data import Histogram, Rows
from tacit.workloads.queries.domain import Domain
from tacit.workloads.queries.marginals import marginals
from tacit.workloads.queries.matrix import from_matrix
from tacit.workloads.queries.predicates import predicates
from tacit.workloads.queries.ranges import ranges

QUERIES = PerQuery()
shapes = st.lists(st.integers(1, 4), min_size=2, max_size=3)


def domain_of(shape) -> Domain:
    return Domain.of({f"a{i}": n for i, n in enumerate(shape)})


def some_rows(domain: Domain, n: int, seed: int = 0) -> Rows:
    rng = np.random.default_rng(seed)
    return Rows(domain, np.stack([np.minimum(rng.geometric(0.5, n) - 1, m - 1) for m in domain.shape], axis=1))


def setting(shape, laplace, pick):
    """Some marginals with noises of several sizes, and their least squares as one matrix on all noisy cells."""
    domain = domain_of(shape)
    sets = [s for i, s in enumerate(subsets(domain.all)) if s and (pick >> i) & 1] or [domain.all[:1], domain.all]
    noises = [Laplace(scale=1 + i) if laplace else Gaussian(sigma=1 + i) for i in range(len(sets))]
    workload = marginals(domain, subsets=[[domain.names[a] for a in s] for s in sets])
    W = workload.matrix().toarray()
    deviations = np.sqrt(np.repeat([variance(noise) for noise in noises], [p.queries for p in workload.parts]))
    cells = np.linalg.pinv(W / deviations[:, None]) / deviations  # the estimated cells from the noisy answers
    return domain, sets, noises, workload, W, cells, deviations


def extra(domain: Domain):
    """Queries of every other kind on all attributes or fewer."""
    rng = np.random.default_rng(1)
    high = np.array([[n - 1 for n in domain.shape], [0] * len(domain.shape)])
    half = np.array([0.25, 1, 0.5, 0.75][: domain.shape[0]])
    return (
        predicates(domain, [{"a0": [0]}, {}, {"a0": 0, "a1": [0, domain.shape[1] - 1]}])
        + predicates(domain, [{"a0": half}])
        + ranges(domain, *domain.names, low=np.zeros_like(high), high=high)
        + from_matrix(domain, rng.integers(0, 2, (2, domain.size)))
    )


@settings(max_examples=40)
@given(shapes, st.booleans(), st.integers(1, 255), st.integers(0, 10**6))
def test_it_is_the_least_squares_of_a_matrix(shape, laplace, pick, seed):
    """Answers, variances, energies and the largest noise, of the marginals themselves."""
    domain, sets, noises, workload, W, cells, deviations = setting(shape, laplace, pick)
    noisy = np.random.default_rng(seed).normal(0, 10, workload.queries)
    split = np.split(noisy, workload.starts[1:-1])
    tables = [y.reshape([domain.shape[a] for a in s]) for s, y in zip(sets, split, strict=True)]
    model = averaged(domain, sets, noises, tables)
    A = W @ cells
    np.testing.assert_allclose(workload.answer(model), A @ noisy, atol=1e-8)
    each = model.cell_errors(sets)
    times = [part.queries for part in workload.parts]
    np.testing.assert_allclose(np.repeat(each.deviations, times) ** 2, np.square(A * deviations).sum(axis=1), rtol=1e-8)
    scales = np.repeat([float(n.scale) if laplace else n.sigma for n in noises], times)
    energies, largest = np.square(A * scales).sum(axis=1), np.abs(A * scales).max(axis=1)
    np.testing.assert_allclose(np.repeat(each.energies, times), energies, rtol=1e-8)
    assert (np.repeat(each.largest, times) >= largest * (1 - 1e-9)).all()
    above = np.repeat(each.grain, times) > 0
    np.testing.assert_allclose(np.repeat(each.largest, times)[above], largest[above], rtol=1e-8)
    small, squares = deviations**2 < 1, np.square(A * deviations)
    seen = (np.abs(A[:, small]) @ deviations[small] ** 2) ** 2 + 2 / np.pi * squares[:, ~small].sum(axis=1)
    steps = seen / squares.sum(axis=1)
    told = np.repeat(rates(model, sets, noises), times)
    np.testing.assert_allclose(told[np.isfinite(told)], steps[np.isfinite(told)], rtol=1e-8)


@settings(max_examples=40)
@given(shapes, st.integers(1, 255))
def test_the_variance_of_any_query_is_known_where_it_can_be(shape, pick):
    """Under Gaussian noise what is stated is a function of the variance alone; infinite outside the row space."""
    domain, sets, noises, _, W, cells, deviations = setting(shape, False, pick)
    workload, beta = extra(domain), 0.05
    rows = np.concatenate([[part.vector(i) for i in range(part.queries)] for part in workload.parts])
    inside = np.abs(rows @ cells @ W - rows).max(axis=1) < 1e-8
    got = averaged(domain, sets, noises).error_bounds(workload, beta)
    np.testing.assert_array_equal(np.isfinite(got), inside)
    scales = np.repeat([n.sigma for n in noises], [domain.cells(s) for s in sets])
    energies = np.square(rows @ cells * scales).sum(axis=1)
    bound = np.sqrt(
        np.minimum(2 * energies * math.log(2 / beta), np.square(rows @ cells * deviations).sum(axis=1) / beta)
    )
    np.testing.assert_allclose(got[inside], bound[inside], rtol=1e-8)


@settings(max_examples=40)
@given(shapes, st.integers(1, 255))
def test_no_laplace_noise_counts_for_more_than_is_said(shape, pick):
    domain, sets, noises, _, _, cells, _ = setting(shape, True, pick)
    scales = np.repeat([float(n.scale) for n in noises], [domain.cells(s) for s in sets])
    model = averaged(domain, sets, noises)
    for part in extra(domain).parts:
        steps = np.array([part.vector(i) for i in range(part.queries)]) @ cells
        own = steps * scales
        for axes, members, each in query_residuals(part):
            found = model._energies([axes], each)
            known = np.isfinite(found[:, 1])
            np.testing.assert_allclose(found[known, 1], np.square(own[members][known]).sum(axis=1), rtol=1e-8)
            np.testing.assert_allclose(found[known, 3], np.square(steps[members][known]).sum(axis=1), rtol=1e-8)
            assert (found[known, 2] >= np.abs(own[members][known]).max(axis=1) * (1 - 1e-9)).all()


@pytest.mark.parametrize("price", [Price.of(epsilon=1), Price.of(epsilon=20), Price.of(rho="0.5")], ids=str)
def test_errors_are_as_predicted_and_stated(price):
    """300 releases: means within a tenth, and no query misses more often than beta allows, by 6.5 deviations."""
    domain = domain_of([4, 3, 2])
    workload, runs, source = marginals(domain, k=2) + marginals(domain, k=1), 300, Seeded(3)
    data = some_rows(domain, 300)
    truth, told = workload.answer(data), QUERIES.predict(workload, None, price)
    gaps, misses = np.zeros(workload.queries), np.zeros(workload.queries)
    for _ in range(runs):
        released = QUERIES.release(workload, data, price, source, beta="0.1")
        gaps += np.abs(released.answers - truth) / runs
        misses += np.abs(released.answers - truth) > released.errors
    assert gaps.mean() == pytest.approx(told.mean, rel=0.1)
    assert (misses <= 0.1 * runs + 6.5 * math.sqrt(0.09 * runs)).all()
    assert released.notes == ("made consistent by least squares",)


def test_marginals_agree_and_have_less_error_than_their_noises():
    """Sixteen bits: the noise of a pair is of scale 120, which alone would be its error in the mean."""
    domain = domain_of([2] * 16)
    workload, price = marginals(domain, k=2), Price.of(epsilon=1)
    data = some_rows(domain, 20_000)
    released = QUERIES.release(workload, data, price, Seeded(1))
    told = QUERIES.predict(workload, None, price)
    assert np.abs(released.answers - workload.answer(data)).mean() < 80 and told.mean < 75
    assert told.mean < plan(workload, None, price, beta="0.05").rows[1].prediction.mean
    assert plan(workload, None, price).best.name == "queries"
    first = [part.reshape(2, 2).sum(axis=1) for part in np.split(released.answers[: 4 * 15], 15)]
    np.testing.assert_allclose(first, np.tile(first[0], (15, 1)), atol=1e-8)


def test_a_marginal_that_is_asked_for_twice_is_known_better():
    domain = domain_of([3, 2])
    once, twice = marginals(domain, k=2), marginals(domain, k=2) + marginals(domain, k=2)
    noises = [Laplace(scale=5)]
    alone = averaged(domain, [(0, 1)], noises).cell_errors([(0, 1)])
    both = averaged(domain, [(0, 1)] * 2, noises * 2).cell_errors([(0, 1)])
    assert both.deviations == pytest.approx(alone.deviations / math.sqrt(2))
    assert QUERIES.release(twice, some_rows(domain, 9), Price.of(epsilon=1), Seeded(0)).answers.size == 2 * once.queries


def test_what_is_stated_of_one_noise_that_counts_most_is_hardly_more_than_of_it_alone():
    domain = domain_of([60, 50, 40])
    sets, noise = [(0, 1), (0, 2), (1, 2)], Laplace(scale=3)
    got = averaged(domain, sets, [noise] * 3).cell_errors(sets).bounds(0.05)
    assert (got < 1.02 * (3 * math.log(20) + 0.5)).all()


def test_a_stored_release_answers_the_same():
    domain = domain_of([3, 4, 2])
    workload, data = marginals(domain, k=2), some_rows(domain, 100)
    released = QUERIES.release(workload, data, Price.of(epsilon=1), Seeded(4))
    further = extra(domain)
    for model in (released.model, released.model.nonnegative()):
        again = storage.loads(storage.canonical(model))
        assert (again.marginal((0, 1, 2)) == model.marginal((0, 1, 2))).all()
        np.testing.assert_array_equal(again.error_bounds(further, 0.1), model.error_bounds(further, 0.1))
    noise = Laplace(epsilon=1)  # as releases were kept that had no least squares
    tables = {axes: np.asarray(noise.sample(data.marginal(axes), Seeded(5)), float) for axes in workload.tables}
    plain = storage.loads(storage.canonical(NoisyMarginals(domain, tables, dict.fromkeys(tables, noise))))
    assert all((plain.marginal(axes) == table).all() for axes, table in tables.items())
    assert np.isfinite(plain.error_bounds(workload, 0.05)).all()


@pytest.mark.parametrize("price", [Price.of(epsilon=5), Price.of(rho=5), Price.of(rho=8)], ids=str)
def test_small_noises_beside_large_ones_are_predicted(price):
    """A table that matters most has a noise that is mostly 0, and the others have not: within 1.5, over 1000 draws."""
    domain = Domain.of({"a": 2, "b": 3, "c": 1, "d": 5})
    w = marginals(domain, subsets=[["a"], ["b", "d"], ["b"], ["a", "c"]], weights=[1, 100, 1, 1])
    noises = [variance(noise) for noise in PerQuery().noises(w, price)]
    assert min(noises) < 0.1 and max(noises) > 1
    source, nobody = Seeded(4), Histogram(domain, [0] * domain.size)
    found = np.mean([w.mean(np.abs(PerQuery().release(w, nobody, price, source).answers)) for _ in range(1000)])
    assert 1 / 1.5 < PerQuery().predict(w, None, price).mean / found < 1.5
