"""Residual planning: its optimum against a spectrum, its variances against a matrix, its privacy against exact laws."""

import itertools
import math
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core.distance import ADD_REMOVE, SUBSTITUTE
from tacit.core.errors import BadQuestion
from tacit.mechanisms import Gaussian, project_to_simplex
from tacit.testing.sources import Seeded
from tacit.workloads import method
from tacit.workloads import plan as planned
from tacit.workloads.methods.direct.per_query import PerQuery
from tacit.workloads.methods.marginals._residual_plan import moves, plan, residual
from tacit.workloads.methods.marginals.residual import Residual
from tacit.workloads.models.marginals import residuals
from tacit.workloads.models.marginals.residuals import Energy, Residuals, centred, subsets
from tacit.workloads.price import Price, variance
from tacit.workloads.queries.data import Histogram, Rows
from tacit.workloads.queries.domain import Domain
from tacit.workloads.queries.marginals import marginals
from tacit.workloads.queries.predicates import predicates

shapes = st.lists(st.integers(1, 4), min_size=1, max_size=3)


def domain_of(shape) -> Domain:
    return Domain.of({f"a{i}": n for i, n in enumerate(shape)})


def some_rows(domain: Domain, n: int, seed: int = 0) -> Rows:
    rng = np.random.default_rng(seed)
    return Rows(domain, np.stack([rng.integers(0, m, n) for m in domain.shape], axis=1))


def workload_of(domain: Domain):
    """Some marginals of every size, weighted unevenly."""
    sets = [s for s in subsets(domain.all) if s][::-2]
    return marginals(domain, subsets=[[domain.names[a] for a in s] for s in sets], weights=np.arange(1, len(sets) + 1))


@given(shapes, st.integers(0, 10**6))
def test_a_table_is_the_sum_of_its_residuals(shape, seed):
    domain = domain_of(shape)
    data = some_rows(domain, 50, seed)
    exact = {axes: centred(data.marginal(axes).astype(float)) for axes in subsets(domain.all)}
    model = Residuals(domain, exact, {}, laplace=False)
    for axes in subsets(domain.all):
        np.testing.assert_allclose(model.marginal(axes), data.marginal(axes), atol=1e-9)


@settings(max_examples=30)
@given(shapes)
def test_the_total_variance_is_the_least_of_all_strategies(shape):
    """(sum of the singular values of W)^2 / cells is a lower bound for every matrix mechanism (Li and Miklau 2013)."""
    domain = domain_of(shape)
    workload = workload_of(domain)
    W = workload.matrix().toarray() * np.sqrt(workload.weights)[:, None]
    bound = np.linalg.svd(W, compute_uv=False).sum() ** 2 / domain.size
    price = Price.of(rho=Fraction(1, 2**20))  # much noise, so that rounding of sigma^2 is not seen
    mean_square = Residual().predict(workload, None, price).rms ** 2
    assert mean_square * workload.weights.sum() * 2 * float(price.amount) == pytest.approx(bound, rel=1e-6)


@settings(max_examples=30)
@given(shapes)
def test_variances_are_those_of_the_linear_map(shape):
    """The error of each answer as a matrix times independent noises."""
    domain = domain_of(shape)
    workload = workload_of(domain)
    noises = plan(workload, Price.of(rho=1))
    energies = {axes: Energy.of(noise, domain.cells(axes)) for axes, noise in noises.items()}
    square = np.zeros(workload.queries)
    for axes, energy in energies.items():
        for cell in range(domain.cells(axes)):
            one = np.zeros(domain.cells(axes))
            one[cell] = 1.0
            unit = Residuals(domain, {axes: centred(one.reshape([domain.shape[a] for a in axes]))}, {}, laplace=False)
            square += workload.answer(unit) ** 2 * energy.variance
    got = Residuals(domain, {}, energies, laplace=False).cell_errors([part.axes for part in workload.parts])
    np.testing.assert_allclose(np.repeat(got.deviations**2, [p.queries for p in workload.parts]), square, atol=1e-12)


@pytest.mark.parametrize("unit", [ADD_REMOVE.histogram(), SUBSTITUTE.histogram()])
def test_the_price_is_spent_exactly_and_never_exceeded(unit):
    domain = domain_of([2, 3, 5, 1])
    price = Price.of(rho="0.1", unit=unit)
    workload = marginals(domain, k=2)
    noises = plan(workload, price)
    spent = sum(
        moves(domain, axes, unit).l2_squared / (2 * noise.sigma2)
        for axes, noise in noises.items()
        if isinstance(noise, Gaussian)
    )
    assert spent == price.amount
    assert not any(3 in axes for axes in noises)  # of one value, so it has no residual


@pytest.mark.parametrize(("n", "claim_of_the_table"), [(2, 2), (3, Fraction(3, 2))])
def test_a_residual_costs_less_than_its_table(n, claim_of_the_table):
    """The exact law of what is released of n counts: Renyi divergences of every order stay within rho, and touch it."""
    domain = domain_of([n])
    far, rho = moves(domain, (0,), ADD_REMOVE.histogram()), 0.5
    assert far.l2_squared == n * (n - 1)
    sigma2 = float(far.l2_squared) / (2 * rho)
    reach = math.ceil(9 * math.sqrt(sigma2))
    one = np.arange(-reach, reach + 1)
    mass = np.exp(-(one**2) / (2 * sigma2))
    law: dict[tuple[int, ...], float] = {}
    for z in itertools.product(range(one.size), repeat=n):
        key = tuple(one[i] - one[z[0]] for i in z[1:])
        law[key] = law.get(key, 0.0) + math.prod(mass[i] for i in z) / mass.sum() ** n
    for moved in range(n):
        step = [n * (i == moved) for i in range(n)]
        shift = [s - step[0] for s in step[1:]]
        there = {key: law.get(tuple(k - s for k, s in zip(key, shift, strict=True)), 0.0) for key in law}
        for order in (1.5, 2.0, 4.0):
            terms = (p**order * there[k] ** (1 - order) for k, p in law.items() if there[k] > 1e-25 and p > 1e-25)
            divergence = math.log(sum(terms)) / (order - 1)
            assert divergence <= rho * order * (1 + 1e-6)
            assert divergence >= rho * order * 0.97
    assert n**2 / (2 * sigma2) == pytest.approx(rho * claim_of_the_table)  # what the whole table would have cost


def test_only_the_residual_leaves():
    """Tables that differ by what a residual does not see give the same release under the same noise."""
    noise = Gaussian(sigma=10)
    table = np.arange(12).reshape(3, 4) ** 2
    other = table + np.arange(4)[None, :] * 7 + np.arange(3)[:, None] * 5
    first, second = (residual(np.array([t, 2 * t]), noise, Seeded(3)) for t in (table, other))
    assert (first == second).all()


def test_a_stack_has_independent_noises_and_the_residuals_of_its_own_tables():
    tables = np.random.default_rng(4).integers(0, 10**6, (50, 3, 2))
    got = residual(tables, Gaussian(sigma="0.01"), Seeded(3))
    np.testing.assert_allclose(got, [centred(t.astype(float)) for t in tables], atol=1e-9)  # no noise to speak of
    alone = residual(np.zeros((50, 3, 2), np.int64), Gaussian(sigma=10**6), Seeded(3))
    assert np.unique(alone).size == alone.size


@settings(max_examples=30)
@given(shapes, st.integers(0, 10**6))
def test_stacks_of_tables_are_as_one_by_one(shape, seed):
    """Marginals that are not negative, against a loop over tables."""
    domain, rng = domain_of([*shape, 2, 2]), np.random.default_rng(seed)
    sets = [a for a in subsets(domain.all) if len(a) < 4 and all(domain.shape[i] > 1 for i in a)]
    noisy = {a: centred(rng.normal(0, 20, [domain.shape[i] for i in a])) if a else np.array(90.0) for a in sets}
    model = Residuals(domain, noisy, dict.fromkeys(sets, Energy(25.0, 25.0, 5.0, 1.0)), laplace=False)
    near: dict = {}
    for a in sets:
        table = model.shrunk().marginal(a)
        near[a] = project_to_simplex(table.ravel() / 90).reshape(table.shape) * 90
        for i in range(len(a)) if len(a) > 1 else ():
            sums = near[a].sum(axis=i)
            ratio = np.divide(near[a[:i] + a[i + 1 :]], sums, out=np.zeros_like(sums), where=sums > 0)
            near[a] = near[a] * np.expand_dims(ratio, i)
    got = model.nonnegative().tables
    assert got.keys() == near.keys()
    for a in sets:
        np.testing.assert_allclose(got[a], near[a], atol=1e-9)


def test_small_stacks_are_as_large_ones(monkeypatch):
    domain = domain_of([2, 3, 2, 3, 2])
    workload, data = marginals(domain, k=3), some_rows(domain, 500)
    model, near = Residual().release(workload, data, Price.of(rho="0.1"), Seeded(8)).model, []
    for cells in (1 << 18, 1):
        monkeypatch.setattr(residuals, "_STACK", cells)
        again = Residuals(domain, model.residuals, model.energies, laplace=False)
        near.append([workload.answer(again), workload.answer(again.nonnegative())])
    np.testing.assert_allclose(near[0], near[1], rtol=1e-12)


def test_what_a_model_answers_is_the_askers_own():
    released = Residual().release(
        marginals(domain_of([3]), k=1), some_rows(domain_of([3]), 9), Price.of(rho=1), Seeded(1)
    )
    for model in (released.model, released.nonnegative().model):
        before = model.marginal((0,))
        model.marginal((0,))[:] = 7
        assert (model.marginal((0,)) == before).all()


@pytest.mark.parametrize("price", [Price.of(rho="0.5"), Price.of(epsilon=1)])
def test_errors_are_as_stated(price):
    """800 releases: the mean variance within six standard errors, and no more misses than beta allows."""
    domain = domain_of([2, 3, 2])
    workload = marginals(domain, k=2)
    data = Histogram(domain, np.arange(12).reshape(domain.shape))
    truth, source, runs = workload.answer(data), Seeded(1), 800
    gaps, misses = np.zeros(workload.queries), np.zeros(workload.queries)
    for _ in range(runs):
        released = Residual().release(workload, data, price, source, beta="0.1")
        gaps += (released.answers - truth) ** 2
        misses += np.abs(released.answers - truth) > released.errors
    predicted = Residual().predict(workload, None, price)
    assert gaps.sum() / runs / workload.queries == pytest.approx(predicted.rms**2, rel=0.12)
    assert (misses <= 0.1 * runs + 6.5 * math.sqrt(0.09 * runs)).all()
    assert released.loss.epsilon(1e-6) <= price.loss().epsilon(1e-6)


def test_it_is_better_than_noise_on_each_marginal():
    workload = marginals(domain_of([2] * 8), k=3)
    price = Price.of(rho="0.1")
    ours, theirs = (m.predict(workload, None, price).rms for m in (Residual(), PerQuery()))
    noises = np.sqrt(np.mean([variance(noise) for noise in PerQuery().noises(workload, price)]))
    assert ours < 0.9 * theirs < 0.75 * noises  # theirs after least squares


def test_counts_that_are_not_negative_are_nearer_and_answer_smaller_tables():
    domain = domain_of([9, 9, 9])
    workload, data = marginals(domain, k=2), some_rows(domain, 200)
    released = Residual().release(workload, data, Price.of(rho="0.01"), Seeded(2))
    truth, near = workload.answer(data), released.nonnegative()
    assert near.answers.min() >= 0
    assert np.abs(near.answers - truth).sum() < np.abs(released.answers - truth).sum()
    assert near.query(marginals(domain, k=1)).answers.min() >= 0


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_no_count_is_negative_if_an_attribute_has_one_value(k):
    domain, source = domain_of([1, 9, 3, 5]), Seeded(6)
    workload = marginals(domain, k=k)
    for _ in range(30):
        near = Residual().release(workload, some_rows(domain, 1), Price.of(epsilon="0.001"), source).nonnegative()
        assert near.answers.min() >= 0
        without = near.query(marginals(domain, subsets=[["a1", "a2"]])).answers if k > 2 else None
        assert without is None or np.allclose(near.model.marginal((0, 1, 2)).ravel(), without)


@pytest.mark.parametrize("shape", [[2] * 5, [6, 5, 2]])
@pytest.mark.parametrize("tied", [0.0, 0.02, 0.9])
def test_shrunk_residuals_are_nearer_whatever_the_table(shape, tied):
    """The mean over 60 releases, on tables of which few or most records agree in all attributes."""
    domain, rng = domain_of(shape), np.random.default_rng(3)
    codes = np.stack([rng.integers(0, m, 4000) for m in shape], axis=1)
    codes = np.where(rng.random((4000, 1)) < tied, codes[:, :1] % np.array(shape), codes)
    workload, data, source = marginals(domain, k=2), Rows(domain, codes), Seeded(5)
    truth, before, after = workload.answer(data), 0.0, 0.0
    for _ in range(60):
        model = Residual().release(workload, data, Price.of(rho="0.01"), source).model
        before += np.square(workload.answer(model) - truth).sum()
        after += np.square(workload.answer(model.shrunk()) - truth).sum()
        assert model.shrunk().total == model.total
    assert after < before if tied == 0.9 else after < 0.97 * before


def test_a_hundred_attributes():
    workload = marginals(domain_of([10] * 100), k=2)
    noises = plan(workload, Price.of(rho="0.1"))
    assert len(noises) == 1 + 100 + 4950
    assert Residual().predict(workload, None, Price.of(rho="0.1")).kind == "exact"


def test_of_a_table_of_many_attributes_little_is_looked_at():
    """All 2^30 subsets of what was not measured would take days."""
    domain = domain_of([2] * 30)
    model = Residual().release(marginals(domain, k=1), some_rows(domain, 9), Price.of(rho=1), Seeded(1)).model
    assert model.energy(domain.all) == (math.inf,) * 4
    assert np.isfinite(model.energy((0,))).all()


def test_what_is_not_a_marginal_is_refused():
    domain = domain_of([3, 3])
    asked = predicates(domain, [{"a0": 1}])
    with pytest.raises(BadQuestion, match="some of the queries are not marginals"):
        Residual().release(asked, some_rows(domain, 5), Price.of(rho=1))
    with pytest.raises(BadQuestion, match="; use hierarchy"):
        planned(asked, 5, Price.of(rho=1)).row("residual")
    released = Residual().release(marginals(domain, k=1), some_rows(domain, 5), Price.of(rho=1), Seeded(1))
    pair = released.query(marginals(domain, k=2))
    assert np.isinf(pair.errors).all()  # it was not measured, and this is said
    assert np.isinf(released.query(predicates(domain, [{"a0": 1, "a1": [0, 1]}])).errors).all()
    inside = released.query(asked)  # one cell of what was
    assert inside.errors[0] == pytest.approx(released.errors[1]) and inside.answers[0] == released.answers[1]


def test_conditions_that_ask_nothing_cost_nothing():
    """All values of an attribute, or its only one, add no residual, however many such attributes there are."""
    domain = Domain.of({f"a{i}": 2 for i in range(40)} | {f"b{i}": 1 for i in range(20)})
    released = Residual().release(marginals(domain, k=1), some_rows(domain, 50), Price.of(rho=1), Seeded(1))
    two = {"a0": 1} | {f"b{i}": 0 for i in range(20)}
    start = time.process_time()
    told = released.query(predicates(domain, [two, {"a0": 1}, {f"a{i}": [0, 1] for i in range(20)}, {}]))
    assert time.process_time() - start < 2
    assert np.isfinite(told.errors).all() and told.errors[0] == told.errors[1] and told.errors[2] == told.errors[3]
    assert told.answers[0] == pytest.approx(told.answers[1])


@pytest.mark.parametrize("name", ["residual", "queries"])
@pytest.mark.parametrize("price", [Price.of(epsilon=10**6), Price.of(rho=10**5)], ids=str)
def test_what_floats_round_is_stated_too(name, price):
    domain = Domain.of({"a": 3, "b": 4, "c": 5})
    data = Histogram(domain, np.random.default_rng(3).integers(0, 10**5, 60))
    w = marginals(domain, k=2)
    for seed in range(20):
        r = method(name).release(w, data, price, Seeded(seed))
        assert (np.abs(r.answers - w.answer(data)) <= r.errors).all() and r.errors.max() < 1e-3
