"""MWEM: the exact law of its transcript on toy universes, its sampler, its price, and that it learns."""

import json
import math
import time
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2

from tacit.core.accounting.budget import Budget
from tacit.core.accounting.loss import zero
from tacit.core.distance import SUBSTITUTE
from tacit.core.errors import BadQuestion
from tacit.core.law import Finite, Product, hockey_stick, max_divergence, renyi_divergence
from tacit.testing.sources import Seeded
from tacit.workloads import Domain, Histogram, Price, Rows, from_matrix, marginals, plan, predicates, prefixes, ranges
from tacit.workloads.methods.weights.mwem import MWEM, Groups, Learner, classical_bound
from tacit.workloads.models.multiplicative_weights import Weights

GOLDEN = Path(__file__).parents[1] / "golden" / "golden.json"
TAIL = 1e-13


def learnt(workload, n, among, rounds, deviations):
    """The model after these rounds of measurements, as `run` makes it."""
    learner = Learner(workload, float(n))
    for told in rounds:
        for pick, numbers in told:
            learner.note(among[pick], np.array(numbers), deviations[pick])
        learner.fit(10)
    return learner


def transcript_law(method, workload, data, price, n):
    """Every transcript of picks and numbers with its mass, but for what lies in the tails of the noise."""
    among = Groups(workload, price.unit)
    choice, each = method._parts(workload, n, price)
    noises = [each.noise(group.moves) for group in among]
    deviations = [math.sqrt(noise.noise().variance()) for noise in noises]
    truth = np.round(workload.answer(data) / float(workload.grid)).astype(int)
    measured = [
        Product(tuple(noise.noise(int(v)) for v in truth[g.all])) for g, noise in zip(among, noises, strict=True)
    ]
    rounds, _ = method.counts(workload, n, price)
    live = {(): 1.0}
    for _ in range(rounds):
        going, live = live, {}
        for past, mass in going.items():
            gaps = truth - learnt(workload, n, among, past, deviations).guess()
            for picks, chance in choice.law(method.scores(among, gaps, each)).masses.items():
                for numbers in product(*(measured[pick].support(TAIL) for pick in picks)):
                    told = tuple(zip(picks, numbers, strict=True))
                    weight = math.prod(measured[pick].mass(y) for pick, y in told)
                    if mass * chance * weight > 1e-16:
                        live[*past, told] = mass * chance * weight
    return Finite(live), deviations


TWO, FOUR, THREE = Domain.of({"x": 2}), Domain.of({"x": 2, "y": 2}), Domain.of({"z": 3})
TOYS = {
    "two rounds of two queries": (from_matrix(TWO, [[1, 0], [0, 1]]), 2, 1, [3, 1], [2, 1], None),
    "substitution": (from_matrix(TWO, [[1, 0], [0, 1]]), 2, 1, [3, 1], [2, 2], SUBSTITUTE.histogram()),
    "marginals of four cells": (marginals(FOUR, k=1), 1, 1, [4, 0, 1, 2], [4, 1, 1, 2], None),
    "two picks at once": (prefixes(THREE, "z"), 1, 2, [2, 0, 3], [2, 0, 2], None),
}


@pytest.mark.parametrize("money", [{"epsilon": 6}, {"rho": 3}], ids=["pure", "zCDP"])
@pytest.mark.parametrize("toy", TOYS)
def test_the_exact_law_is_within_the_price(toy, money):
    workload, rounds, picks, x, y, unit = TOYS[toy]
    price, method = Price.of(**money, unit=unit), MWEM(rounds=rounds, picks=picks)
    laws = [
        transcript_law(method, workload, Histogram(workload.domain, table, price.unit), price, 5)[0] for table in (x, y)
    ]
    loss = method.loss(workload, 5, price)
    for p, q in (laws, laws[::-1]):
        assert math.fsum(p.masses.values()) == pytest.approx(1, abs=1e-9)
        common = Finite({t: m for t, m in p.masses.items() if q.mass(t)})
        if price.epsilon is not None:
            assert max_divergence(common, q) <= float(price.epsilon) * (1 + 1e-9)
        for epsilon in (0.5, 1.5, 4.0, float(price.epsilon or 6)):
            assert hockey_stick(p, q, epsilon) <= loss.delta(epsilon) + 1e-9
        for order in (1.5, 3.0):
            line = order * sum(k * atom.concentrated() for atom, k in loss.terms.items())
            assert renyi_divergence(common, q, order) <= line + 1e-6


def test_one_price_for_two_rounds_is_refuted():
    """The check above can fail: two rounds, each at the whole price, are not within it."""
    workload, _, _, x, y, _ = TOYS["two rounds of two queries"]
    price = Price.of(epsilon=3)
    laws = [
        transcript_law(MWEM(rounds=2, picks=1), workload, Histogram(TWO, table), price.part(2), 5)[0]
        for table in (x, y)
    ]
    assert max(hockey_stick(p, q, 3.0) for p, q in (laws, laws[::-1])) > 1e-3


@pytest.mark.parametrize("money", [{"epsilon": 14}, {"rho": 10}], ids=["pure", "zCDP"])
def test_the_sampler_follows_the_law(money):
    workload, price, method, n = TOYS["two rounds of two queries"][0], Price.of(**money), MWEM(rounds=2, picks=1), 5
    data, among = Histogram(TWO, [3, 1]), Groups(workload, price.unit)
    law, deviations = transcript_law(method, workload, data, price, n)
    masses: Counter = Counter()
    for told, mass in law.masses.items():
        learner = learnt(workload, n, among, told, deviations)
        learner.fit(100)
        masses[tuple(np.round(workload.answer(learner.weights), 6))] += mass
    source, draws = Seeded(4), 1000
    seen = Counter(tuple(np.round(method.release(workload, data, price, source, n=n).answers, 6)) for _ in range(draws))
    assert sum(count for answers, count in seen.items() if answers not in masses) <= 2
    cells = [(seen[a], draws * p) for a, p in masses.items() if draws * p >= 8]
    cells.append((draws - sum(o for o, _ in cells), draws - sum(e for _, e in cells)))
    statistic = sum((o - e) ** 2 / e for o, e in cells if e > 0)
    assert chi2.sf(statistic, len(cells) - 1) > 1e-10


def test_golden_bound():
    entry = next(e for e in json.loads(GOLDEN.read_text())["entries"] if e["id"] == "mwem.bound")
    i = entry["inputs"]
    found = classical_bound(i["X"], i["Q"], n=i["n"], rounds=i["T"], epsilon=i["eps"])
    assert found == pytest.approx(entry["value"], rel=1e-12)


def test_the_rate_is_that_of_the_bound_at_its_best():
    """2 sqrt(L / R) + 10 R ln k / (n e) is least at R^(3/2) = n e sqrt(L) / (10 ln k): 3 (10 L ln k / (n e))^(1/3)."""
    cells, queries = 1024, 1000
    for n in (10**6, 10**8):
        least = min(classical_bound(cells, queries, n=n, rounds=r, epsilon=1) for r in range(1, 10**5)) / n
        rate = (math.log(cells) * math.log(queries) / n) ** (1 / 3)
        assert least == pytest.approx(3 * 10 ** (1 / 3) * rate, rel=1e-3)
    assert MWEM.theorem.startswith("(ln|X| ln k / (n epsilon))^(1/3)")


@pytest.mark.parametrize("n", [800, None])
@pytest.mark.parametrize("unit", [None, SUBSTITUTE.histogram()])
@pytest.mark.parametrize("money", [{"epsilon": "0.9"}, {"rho": "0.02"}], ids=["pure", "zCDP"])
def test_the_price_is_spent_and_no_more(money, unit, n):
    workload, price = marginals(Domain.of({"a": 3, "b": 2, "c": 2}), k=2), Price.of(**money, unit=unit)
    loss = MWEM(rounds=3, picks=2).loss(workload, n, price)
    name = next(iter(money))
    assert Budget(**money).admits(zero, loss)
    assert not Budget(**{name: price.amount * (1 - price.amount / 10**6)}).admits(zero, loss)
    data = Histogram(workload.domain, np.arange(12) * 12, price.unit)
    release = MWEM(rounds=3, picks=2).release(workload, data, price, Seeded(1), n=n)
    assert release.loss == loss
    assert release.model.total == pytest.approx(n or 792, abs=1e-6 if n else 792)


def people(n, d, seed):
    """Bits of which each leans on an earlier one."""
    random = np.random.default_rng(seed)
    codes = np.zeros((n, d), int)
    for j in range(d):
        parent = codes[:, random.integers(j)] if j else np.zeros(n, int)
        low, high = random.uniform(0.1, 0.9, 2)
        codes[:, j] = random.random(n) < np.where(parent, low, high)
    return codes


def test_it_learns_three_way_marginals():
    domain, n = Domain.of({f"x{i}": 2 for i in range(10)}), 50_000
    data, workload = Rows(domain, people(n, 10, 0)), marginals(domain, k=3)
    truth = workload.answer(data)
    release = MWEM().release(workload, data, Price.of(epsilon=1, delta="1e-9"), Seeded(7), n=n)

    def error(answers):
        return float(np.add.reduceat(np.abs(answers - truth), workload.starts[:-1]).mean()) / n

    assert error(release.answers) < 0.012  # 0.006 is usual; noise on every marginal gives 0.017
    assert error(release.answers) < error(workload.answer(Weights(domain, float(n)))) / 20
    assert (release.answers >= 0).all()
    assert MWEM().predict(workload, n, Price.of(epsilon=1)).worst == n


def test_no_error_is_left_that_a_price_cannot_remove():
    """Where noise is nothing the model comes to what was measured: two replays left 59 and 243."""
    pair, line = marginals(Domain.of({"a": 4, "b": 2}), k=2), prefixes(Domain.of({"x": 8}))
    for workload, method, most in ((pair, MWEM(), 0.1), (line, MWEM(rounds=8, picks=1), 30)):
        data = Histogram(workload.domain, [4000, 0, 0, 1000, 50, 2950, 0, 2000])
        release = method.release(workload, data, Price.of(rho=10**5), Seeded(3), n=10_000)
        assert np.abs(release.answers - workload.answer(data)).mean() < most


@pytest.mark.parametrize("workload", [ranges(Domain.of({"x": 500})), ranges(Domain.of({"x": 20, "y": 25}), "x", "y")])
def test_ranges_are_scored_together_and_in_the_time_that_is_predicted(workload):
    """One by one they took three to five seconds, and a hundredth of one was predicted."""
    data, price = Histogram(workload.domain, [20] * 500), Price.of(rho="0.1")
    start = time.process_time()
    MWEM().release(workload, data, price, Seeded(1), n=10_000)
    took = time.process_time() - start
    assert took / 8 < MWEM().predict(workload, 10_000, price).seconds < 8 * took
    assert took < 2.5


def test_groups_are_marginals_and_single_queries():
    domain = Domain.of({"x": 3, "y": 2})
    among = Groups(marginals(domain, k=1) + prefixes(domain, "x"), Price.of(rho=1).unit)
    assert [(g.first, g.queries, g.axes) for g in among] == [
        (0, 3, (0,)), (3, 2, (1,)), (5, 1, None), (6, 1, None), (7, 1, None)
    ]  # fmt: skip
    assert {float(g.moves.l1) for g in among} == {1.0}


def test_fractions_and_counts_of_nothing():
    workload = from_matrix(THREE, [[0, 0.5, 1], [0, 0, 0], [1, 1, 0.25]])
    data = Histogram(THREE, [500, 100, 400])
    release = MWEM().release(workload, data, Price.of(epsilon=5), Seeded(2), n=1000)
    assert np.abs(release.answers - workload.answer(data)).max() < 60


def test_large_domains_are_refused():
    wide = Domain.of({f"x{i}": 10 for i in range(9)})
    with pytest.raises(BadQuestion, match=r"at most 16777216 cells, and this domain has 1e\+09 cells"):
        MWEM().release(marginals(wide, k=1), Rows(wide, np.zeros((2, 9), int)), Price.of(epsilon=1), n=2)
    with pytest.raises(BadQuestion, match="; use residual"):
        plan(marginals(wide, k=1), 2, Price.of(epsilon=1)).row("mwem")


@pytest.mark.parametrize("epsilon", [300, 10**4, 10**6])
def test_hardly_any_noise_is_no_failure(epsilon):
    """Measurements that are exact, of queries that overlap, some of which count nobody and some everybody."""
    domain = Domain.of({"x": 30})
    for table in (np.zeros(30, int), np.repeat([333, 0], [3, 27])):
        for w in (prefixes(domain), predicates(domain, [{"x": [i, i + 1]} for i in range(29)])):
            for n in (None, int(table.sum()) or None):
                r = MWEM().release(w, Histogram(domain, table), Price.of(epsilon=epsilon), Seeded(1), n=n)
                assert np.isfinite(r.answers).all() and r.answers.min() >= 0


def test_more_records_than_floats_can_count_are_refused():
    pair = Domain.of({"a": 2, "b": 2})
    whole, half = marginals(pair, k=1), from_matrix(pair, [[0.5, 1, 0, 0]])
    for workload, most in ((whole, 2**53 - 1), (half, 2**33 - 1)):
        assert MWEM().refusal(workload, most, Price.of(rho=1)) is None
        assert "2^53" in MWEM().refusal(workload, most + 1, Price.of(rho=1))
    assert Learner(half, 2.0**60).guess().tolist() == [2**53 - 1]  # and no overflow
