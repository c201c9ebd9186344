"""Queries answered from local reports: what is said of their errors, by the exact law of the reports and by draws."""

from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from tacit import SUBSTITUTE, storage
from tacit.mechanisms import HadamardResponse, RandomizedResponse, SubsetSelection
from tacit.testing.sources import Seeded
from tacit.workloads import (
    Domain,
    Histogram,
    Price,
    from_matrix,
    marginals,
    method,
    predicates,
    prefixes,
)
from tacit.workloads.methods.direct import local_reports
from tacit.workloads.methods.direct.local_report_error import Stray
from tacit.workloads.methods.direct.local_reports import Reported

WIDE = Domain.of({"a": 2, "b": 3})
LOCAL, UNIT = method("local"), SUBSTITUTE.histogram()
ORACLES = [
    RandomizedResponse(epsilon=1),
    RandomizedResponse(epsilon=4),
    RandomizedResponse(epsilon=1, categories=4),
    RandomizedResponse(epsilon=3, categories=5),
    SubsetSelection(epsilon="0.5", categories=4),
    SubsetSelection(epsilon=1, categories=5, size=3),
    HadamardResponse(epsilon=1, categories=3),
    HadamardResponse(epsilon=3, categories=6),
]
each_oracle = pytest.mark.parametrize("oracle", ORACLES, ids=lambda o: f"{type(o).__name__}-{o.epsilon}-{o.categories}")


def line(cells):
    return Domain.of({"x": cells})


def queries(cells):
    """Every 0/1 query, and some fractions, large and small."""
    some = np.random.default_rng(cells).random((9, cells)) * np.repeat([1, 0.3, 0.01], 3)[:, None]
    return from_matrix(line(cells), [*product((0, 1), repeat=cells)]), from_matrix(line(cells), some)


def added(oracle, w, x):
    """What one person in cell x may add to the answers, a row for each report, and the probabilities of these."""
    law = oracle.one(x)
    reports = [(oracle.count(np.array([y])), law.mass(y)) for y in law.support(0)]
    rows = [w.answer(Reported(w, seen, people, oracle)) for (seen, people), _ in reports]
    return np.array(rows), np.array([mass for _, mass in reports])


@each_oracle
def test_the_variance_of_one_report_is_within_what_is_said(oracle):
    """By the exact law; for sets and 0/1 queries it is what is said, so that nothing is added by the data."""
    for w in queries(oracle.categories):
        stray, coefficients = Stray.of(oracle, w, (0,)), w.matrix().toarray()
        for x in range(oracle.categories):
            values, masses = added(oracle, w, x)
            mean = masses @ values
            assert mean == pytest.approx(coefficients[:, x], abs=1e-12)
            variances = masses @ (values - mean) ** 2 * stray.gain**2
            assert (variances >= stray.least - 1e-12).all() and (variances <= stray.most + 1e-12).all()
            assert (np.ptp(values, axis=0) * stray.gain <= stray.width + 1e-12).all()
            if w.grid == 1:
                assert (variances <= np.where(coefficients[:, x] == 0, stray.absent, stray.most) + 1e-12).all()
            if w.grid == 1 and not isinstance(oracle, HadamardResponse):
                ends = np.minimum(np.abs(variances - stray.least), np.abs(variances - stray.most))
                assert ends == pytest.approx(0, abs=1e-12)


@each_oracle
@pytest.mark.parametrize("n", [1, 2, 3])
def test_stated_errors_cover_few_reports_whoever_they_are_of(oracle, n):
    for w in queries(oracle.categories):
        stray, coefficients = Stray.of(oracle, w, (0,)), w.matrix().toarray()
        each = [added(oracle, w, x) for x in range(oracle.categories)]
        for held in combinations_with_replacement(range(oracle.categories), n):
            sums, masses = np.zeros((1, w.queries)), np.ones(1)
            for values, own in (each[x] for x in held):
                sums = (sums[:, None] + values).reshape(-1, w.queries)
                masses = np.outer(masses, own).ravel()
            misses = np.abs(sums - coefficients[:, held].sum(axis=1))
            for beta in (0.5, 0.05, 1e-3):
                assert (masses @ (misses > stray.bounds(n, beta)) <= beta).all()


@pytest.mark.parametrize(("epsilon", "cells", "m"), [(10, 2, 1), (1, 2, 1), ("0.2", 8, 3), (3, 30, 1), (6, 30, 12)])
@pytest.mark.parametrize("n", [30, 2000])
def test_stated_errors_cover_many_reports(epsilon, cells, m, n):
    """A 0/1 query counts coins of two kinds, so its law is known."""
    oracle = RandomizedResponse(epsilon=epsilon, categories=cells)
    c, stray = oracle.chances, Stray.of(oracle, predicates(line(cells), [{"x": [*range(m)]}]), (0,))
    coins = c.own + (m - 1) * c.other, m * c.other
    for held in (0, 1, n // 3, n):
        law = np.convolve(binomial(held, coins[0]), binomial(n - held, coins[1]))
        misses = np.abs((np.arange(n + 1) - n * coins[1]) / c.gain - held)
        assert (law @ misses**2) ** 0.5 <= stray.deviations(n)[0]
        for beta in (0.5, 0.05, 1e-4):
            assert law[misses > stray.bounds(n, beta)].sum() <= beta


def test_the_data_add_nothing_to_the_error():
    """Halves of 10,000 at epsilon 10: nearly everyone reports the truth; the coins have a deviation of 0.674."""
    w, price = marginals(line(2), k=1), Price.of(epsilon=10, unit=UNIT)
    data = Histogram(w.domain, [5000, 5000], UNIT)
    drawn = [LOCAL.release(w, data, price, Seeded(seed), n=10_000) for seed in range(300)]
    rms = np.sqrt(np.mean([(r.answers - 5000) ** 2 for r in drawn]))
    predicted = LOCAL.predict(w, 10_000, price)
    assert predicted.rms == pytest.approx(rms, rel=0.15) and predicted.rms == pytest.approx(0.674, rel=1e-3)
    assert drawn[0].errors.max() < 3.1 and predicted.worst < 3.5
    one = LOCAL.predict(w, 10**6, Price.of(epsilon=1, unit=UNIT))
    assert one.worst <= 2.3 * one.rms  # of two answers: 2.24 deviations by the normal tail


def test_a_person_counts_in_one_cell_of_a_marginal():
    """100 cells of which a report tells the truth half of the time: 99 queries of 100 have the small variance."""
    w, price = marginals(line(100), k=1), Price.of(epsilon="4.6", unit=UNIT)
    counts = np.zeros(100, int)
    counts[0] = 1000
    misses = [LOCAL.release(w, Histogram(w.domain, counts, UNIT), price, Seeded(s), n=1000).answers for s in range(40)]
    rms = np.sqrt(np.mean((np.array(misses) - counts) ** 2))
    assert LOCAL.predict(w, 1000, price).rms == pytest.approx(rms, rel=0.1)


def test_the_total_is_known_and_fractions_are_covered():
    w, price = prefixes(line(6)), Price.of(epsilon=1, unit=UNIT)
    data = Histogram(w.domain, [100, 0, 50, 20, 30, 0], UNIT)
    r = LOCAL.release(w, data, price, Seeded(1), n=200)
    assert r.answers[-1] == pytest.approx(200) and r.errors[-1] < 1e-6 < r.errors[0]
    half = from_matrix(w.domain, [[0.5, 0.25, 0, 0, 0, 1], [0.5] * 6])
    told = r.query(half)
    assert (np.abs(told.answers - half.answer(data)) <= told.errors).all()
    assert np.isinf(
        LOCAL.release(marginals(WIDE, subsets=[["a"]]), Histogram(WIDE, [3] * 6, UNIT), price, n=18)
        .query(marginals(WIDE, k=2))
        .errors
    ).all()


@pytest.mark.parametrize(
    ("epsilon", "cells", "kind", "rms"),
    [
        (1, 32, SubsetSelection, 184),
        (1, 1024, SubsetSelection, 192),
        (1, 1200, HadamardResponse, 216),
        (4, 4096, SubsetSelection, 28),
    ],
)
def test_many_cells_are_reported_by_sets_or_signs(epsilon, cells, kind, rms):
    """The root mean square of 10,000 reports, which randomized response has at 333 on 32 cells, and at 1863 on 1024."""
    w, price = marginals(line(cells), k=1), Price.of(epsilon=epsilon, unit=UNIT)
    assert type(LOCAL.response(w, price)) is kind
    counts = np.bincount(np.random.default_rng(0).geometric(0.1, 10_000) % cells, minlength=cells)
    r = LOCAL.release(w, Histogram(w.domain, counts, UNIT), price, Seeded(1), n=10_000)
    found, predicted = np.sqrt(np.mean((r.answers - counts) ** 2)), LOCAL.predict(w, 10_000, price)
    assert predicted.rms == pytest.approx(rms, rel=0.03) and found == pytest.approx(rms, rel=0.3 if cells < 99 else 0.1)
    assert np.mean(np.abs(r.answers - counts) > r.errors) <= 0.05 and r.loss.epsilon() == pytest.approx(epsilon)


def test_few_cells_and_sure_reports_stay_with_randomized_response():
    for epsilon, cells in ((1, 2), (1, 4), (8, 1024)):
        assert isinstance(
            LOCAL.response(marginals(line(cells), k=1), Price.of(epsilon=epsilon, unit=UNIT)), RandomizedResponse
        )


def test_people_are_asked_in_batches(monkeypatch):
    """As many as fit; each once."""
    w, price = prefixes(line(40)), Price.of(epsilon=1, unit=UNIT)
    data = Histogram(w.domain, [25] * 40, UNIT)
    monkeypatch.setattr(local_reports, "_MAX_BITS", 400)
    r = LOCAL.release(w, data, price, Seeded(3), n=1000)
    assert r.model.people == 1000 and r.answers[-1] == pytest.approx(1000)
    assert np.mean(np.abs(r.answers - w.answer(data)) > r.errors) <= 0.05


@pytest.mark.parametrize("cells", [2, 32, 1200])
def test_a_release_survives_the_ledger(cells):
    w, price = marginals(line(cells), k=1), Price.of(epsilon=1, unit=UNIT)
    r = LOCAL.release(w, Histogram(w.domain, [40] * cells, UNIT), price, Seeded(2), n=40 * cells)
    again = storage.loads(storage.canonical(r))
    assert storage.canonical(again) == storage.canonical(r)
    assert np.array_equal(again.model.error_bounds(w, 0.01), r.model.error_bounds(w, 0.01))


def binomial(n, p):
    law = np.ones(1)
    for _ in range(n):
        law = np.convolve(law, [1 - p, p])
    return law
