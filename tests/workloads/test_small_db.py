"""SmallDB: its exact law on toy universes, its sampler, and what it promises and refuses."""

import json
import math
import time
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from tacit.core.distance import SUBSTITUTE
from tacit.core.errors import BadParameter, BadQuestion
from tacit.core.law import Finite, hockey_stick, max_divergence, renyi_divergence
from tacit.testing.sources import Seeded
from tacit.workloads import Domain, Histogram, Price, from_matrix, marginals, plan, predicates, prefixes
from tacit.workloads.methods.weights import small_db
from tacit.workloads.methods.weights.small_db import (
    SmallDB,
    candidates,
    classical_error,
    classical_rate,
    classical_size,
    multisets,
    size_for,
)

GOLDEN = {
    entry["id"]: entry
    for entry in json.loads((Path(__file__).parents[1] / "golden" / "golden.json").read_text())["entries"]
    if entry["id"].startswith("smalldb.")
}


@pytest.mark.parametrize("name", [name for name in GOLDEN if ".m." in name])
def test_golden_sizes(name):
    i = GOLDEN[name]["inputs"]
    assert (classical_size if "dr14" in name else size_for)(i["Q"], i["alpha"]) == GOLDEN[name]["value"]


def test_golden_errors():
    i = GOLDEN["smalldb.error.X1024.Q100.a0.1"]["inputs"]
    found = classical_error(i["X"], i["Q"], i["alpha"], n=i["n"], epsilon=i["eps"], beta=i["beta"])
    assert found == pytest.approx(GOLDEN["smalldb.error.X1024.Q100.a0.1"]["value"], rel=1e-12)
    entry = GOLDEN["smalldb.error.tight.X16.Q50.a0.2"]
    i = entry["inputs"]
    assert size_for(i["Q"], i["alpha"]) == i["m"]
    log = math.log(candidates(i["X"], i["m"])) + math.log(1 / i["beta"])
    assert i["alpha"] + 2 * log / (i["eps"] * i["n"]) == pytest.approx(entry["value"], rel=1e-12)
    entry = GOLDEN["smalldb.R.X16.m5"]
    assert candidates(entry["inputs"]["X"], entry["inputs"]["m"]) == entry["value"] == len(multisets(16, 5))


def test_golden_law():
    domain = Domain.of({"x": ["a", "b"]})
    found = SmallDB(size=2).law(marginals(domain, k=1), Histogram(domain, [3, 1]), Price.of(rho="0.5"), 4)
    masses = {tuple(np.bincount(y, minlength=2)[::-1]): p for y, p in found.masses.items()}  # type 1 is cell a
    for y in ((2, 0), (1, 1), (0, 2)):
        assert masses[y] == pytest.approx(GOLDEN[f"smalldb.tiny.y{y[0]}{y[1]}"]["value"], rel=1e-9)


@pytest.mark.parametrize(("types", "size"), [(1, 1), (1, 4), (16, 3), (16, 4), (64, 2), (65, 2), (200, 1)])
def test_scores_are_what_they_are_said_to_be(types, size):
    """One by one, for odd and even sizes, where two members are looked up together and where they are not."""
    domain, random = Domain.of({"x": types}), np.random.default_rng(types)
    queries, counts = np.vstack([np.eye(types, dtype=int), random.integers(0, 2, (5, types))]), np.arange(types)
    workload, data, n = from_matrix(domain, queries), Histogram(domain, counts), int(counts.sum()) or 1
    tables = multisets(types, size)[:3000]
    of_cell = small_db._types(workload).of_cell
    names = np.argsort(of_cell)  # of which cell a type is
    answers = queries @ counts
    expected = [-int(np.abs(size * answers - n * queries[:, names[y]].sum(axis=1)).max()) for y in tables]
    assert SmallDB(size=size).scores(workload, data, n, tables).tolist() == expected


@pytest.mark.parametrize(("types", "size"), [(1, 1), (1, 4), (4, 1), (5, 3), (3, 7)])
def test_multisets(types, size):
    assert [tuple(row) for row in multisets(types, size).tolist()] == list(
        combinations_with_replacement(range(types), size)
    )


@st.composite
def neighbours(draw):
    """A histogram of 2 to 8 cells, a neighbour of it, some queries on it, and the relation."""
    cells = draw(st.integers(2, 8))
    x = draw(st.lists(st.integers(0, 4), min_size=cells, max_size=cells))
    y, unit = list(x), None
    i, j = draw(st.tuples(st.integers(0, cells - 1), st.integers(0, cells - 1)))
    y[i] += 1
    if draw(st.booleans()) and x[j]:
        y[j], unit = y[j] - 1, SUBSTITUTE.histogram()
    rows = draw(
        st.lists(st.lists(st.sampled_from([0, 1, 0.5]), min_size=cells, max_size=cells), min_size=1, max_size=3)
    )
    return Domain.of({"x": cells}), x, y, rows, unit


@given(neighbours(), st.sampled_from(["0.3", 1, 4]), st.integers(1, 3), st.integers(1, 12))
@settings(max_examples=60)
def test_the_exact_law_is_within_the_price(pair, epsilon, size, n):
    domain, x, y, rows, unit = pair
    workload, method = from_matrix(domain, rows), SmallDB(size=size)
    for price in (Price.of(epsilon=epsilon, unit=unit), Price.of(rho=epsilon, unit=unit)):
        laws = [method.law(workload, Histogram(domain, table, price.unit), price, n) for table in (x, y)]
        loss = method.loss(workload, n, price)
        for p, q in (laws, laws[::-1]):
            assert math.fsum(p.masses.values()) == pytest.approx(1, rel=1e-12)
            if price.epsilon is not None:
                assert max_divergence(p, q) <= float(price.epsilon) * (1 + 1e-9)
                assert hockey_stick(p, q, float(price.epsilon)) <= 1e-12
            for order in (1.5, 2.0, 8.0):
                line = order * sum(k * atom.concentrated() for atom, k in loss.terms.items())
                assert renyi_divergence(p, q, order) <= line * (1 + 1e-9) + 1e-12


def test_a_choice_at_a_higher_price_is_seen():
    """The check above can fail: neighbours tell a choice made at epsilon = 2 from one made below 1."""
    domain = Domain.of({"x": 2})
    workload, method, price = predicates(domain, [{"x": 1}]), SmallDB(size=3), Price.of(epsilon=2)
    laws = [method.law(workload, Histogram(domain, [0, k]), price, 3) for k in range(4)]
    assert 1 < max(max_divergence(laws[k], laws[k + 1]) for k in range(3)) <= 2


def fit(law: Finite, draw, draws: int) -> float:
    """The p-value of draws against a law."""
    seen: dict = {}
    for _ in range(draws):
        y = tuple(draw())
        seen[y] = seen.get(y, 0) + 1
    assert all(law.mass(y) for y in seen)
    cells = [(seen.get(y, 0), draws * p) for y, p in law.masses.items() if draws * p >= 5]
    rest = draws - sum(o for o, _ in cells), draws - sum(e for _, e in cells)
    cells += [rest] if rest[1] >= 5 else []
    return float(chi2.sf(sum((o - e) ** 2 / e for o, e in cells), len(cells) - 1))


@pytest.mark.parametrize("money", [{"epsilon": "0.5"}, {"rho": "0.05"}])
def test_the_sampler_follows_its_law(money):
    domain, price = Domain.of({"x": 4}), Price.of(**money)
    workload, data, method = prefixes(domain, "x"), Histogram(domain, [4, 0, 3, 1]), SmallDB(size=3)
    law, source = method.law(workload, data, price, 8), Seeded(3)
    assert fit(law, lambda: method.choose(workload, data, price, source, 8).tolist(), 2000) > 1e-10


def test_tables_that_cannot_be_laid_out_are_refused_whatever_the_price(monkeypatch):
    """To draw until a coin lands heads would take as long as the data fit badly."""
    domain = Domain.of({"x": 4})
    workload, method = prefixes(domain, "x"), SmallDB(size=3)
    monkeypatch.setattr(small_db, "RECORDS", 59)
    for money in ({"epsilon": "1e-9"}, {"epsilon": "0.5"}, {"rho": "1e-9"}):
        assert "it would lay out 20 tables of 3 records" in method.refusal(workload, 8, Price.of(**money))
        with pytest.raises(BadQuestion, match="lay out"):
            method.release(workload, Histogram(domain, [4, 0, 3, 1]), Price.of(**money), n=8)


def test_the_promise_holds_under_the_law():
    domain = Domain.of({"a": 2, "b": 2})
    workload, data = marginals(domain, k=1), Histogram(domain, [30, 2, 5, 3])
    for price in (Price.of(epsilon=1), Price.of(rho="0.1")):
        method = SmallDB(size=6)
        law, truth = method.law(workload, data, price, 40), workload.answer(data)
        for beta in (0.3, 0.01):
            worst = method.predict(workload, 40, price, beta).worst
            answers = {y: _answers(workload, y, 40) for y in law.masses}
            missed = math.fsum(p for y, p in law.masses.items() if np.abs(answers[y] - truth).max() > worst)
            assert missed <= beta


def _answers(workload, y, n):
    types = small_db._types(workload)
    return types.coefficients[:, list(y)].sum(axis=1) * n / len(y)


def test_cells_that_no_query_tells_apart_are_one():
    domain = Domain.of({f"x{i}": 2 for i in range(12)})
    workload = predicates(domain, [{"x0": 1}, {"x3": 1, "x4": 0}])
    assert small_db._types(workload).count == 4
    data = Histogram(domain, np.random.default_rng(0).multinomial(2000, np.full(4096, 1 / 4096)))
    release = SmallDB().release(workload, data, Price.of(epsilon=1), Seeded(1), n=2000)
    assert release.model.total == pytest.approx(2000)
    assert np.abs(release.answers - workload.answer(data)).max() <= release.errors[0]
    assert release.synthetic(50, Seeded(2)).shape == (50, 12)


def test_what_is_too_large_is_refused_with_what_it_would_take():
    domain = Domain.of({"x": 64})
    workload, price = prefixes(domain, "x"), Price.of(epsilon=1)
    assert "2.61e+13 tables of 12 records" in SmallDB(size=12).refusal(workload, 1000, price)
    with pytest.raises(BadQuestion, match="tables of 12 records, and can lay out 333333"):
        SmallDB(size=12).release(workload, Histogram(domain, [1] * 64), price, n=1000)
    with pytest.raises(BadQuestion, match="; use hierarchy"):
        plan(workload, 1000, price, [SmallDB(size=12)]).row("small_db")
    square = marginals(Domain.of({"x": 256, "y": 256}), k=2)
    assert "16777216 coefficients on all cells, not 4.29e+09" in SmallDB().refusal(square, 10, price)
    digits = from_matrix(Domain.of({"x": 5000}), [[i >> bit & 1 for i in range(5000)] for bit in range(13)])
    assert "distinguish at most 4096 of the 5000 cells; these do more" in SmallDB().refusal(digits, 10, price)
    one = predicates(Domain.of({f"x{i}": 5 for i in range(100)}), [{"x0": 1}])
    assert "coefficients on all cells, not 7.89e+69" in SmallDB().refusal(one, 10, price)
    fine = prefixes(Domain.of({"x": 2000}), "x")
    assert "tables of 1 records promise nothing" in SmallDB().refusal(fine, 10**6, price)
    assert "60 records are too few" in SmallDB().refusal(workload, 60, price)  # tables of any size can be laid out
    assert "exact" in SmallDB(size=3).refusal(workload, 1 << 52, price)
    assert "n must be public" in SmallDB().refusal(workload, None, price)


def test_types_of_many_queries_are_found_together():
    """Sorted in one go each few, against one query at a time; and a million queries are refused at once."""
    random = np.random.default_rng(0)
    for cells, queries in ((16, 30_000), (5000, 300)):
        few = random.integers(0, 2, (queries, 9))[:, random.integers(0, 9, cells)].astype(float)
        found = small_db._types(from_matrix(Domain.of({"x": cells}), few))
        assert found.count == len(np.unique(few, axis=1).T)
        assert np.array_equal(found.coefficients[:, found.of_cell], few)
    start = time.process_time()
    many = from_matrix(Domain.of({"x": 2}), np.ones((10**6, 2)))
    assert "at most 65536 queries, not 1e+06" in SmallDB().refusal(many, 1000, Price.of(epsilon=1))
    assert time.process_time() - start < 10


def test_more_candidates_than_a_float_holds_are_predicted_all_the_same():
    w, price = marginals(Domain.of({"x": 1000}), k=1), Price.of(epsilon="0.01")
    method = SmallDB(size=1000)
    assert "it would lay out" in method.refusal(w, 500, price)
    assert method.predict(w, 500, price, 0.05).worst >= 500


def test_formulas_of_the_textbook_refuse_what_they_are_not_for():
    for call in (
        lambda: size_for(10, "1e-170"),
        lambda: classical_size(10, "1e170"),
        lambda: classical_error(0, 4, "0.1", n=10, epsilon=1, beta="0.05"),
        lambda: classical_error(4, 4, "0.1", n=0, epsilon=1, beta="0.05"),
    ):
        with pytest.raises(BadParameter, match="must be"):
            call()


@pytest.mark.parametrize(("cells", "queries", "n"), [(64, 100, 10**6), (1024, 10, 10**7), (2, 2, 10**4)])
def test_the_classical_rate_is_the_error_of_its_own_size(cells, queries, n):
    rate = classical_rate(cells, queries, n=n, epsilon=1, beta="0.05")
    assert rate < 1
    at_half = classical_error(cells, queries, rate / 2, n=n, epsilon=1, beta="0.05")
    assert rate / 2 < at_half <= rate * (1 + 1e-12)
