"""Adaptive measurement: what a tree cannot say it learns, within its price and its size."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from tacit.testing.sources import Seeded
from tacit.workloads.methods.marginals import adaptive
from tacit.workloads.methods.marginals._measurement_search import Search
from tacit.workloads.methods.marginals.adaptive import Adaptive, count, grow, sets
from tacit.workloads.methods.marginals.chow_liu import ChowLiu
from tacit.workloads.price import Price
from tacit.workloads.queries.data import Rows
from tacit.workloads.queries.domain import Domain
from tacit.workloads.queries.marginals import marginals


def loop(n: int, attributes: int = 5, seed: int = 0) -> Rows:
    """Attributes in a ring, each like both of its neighbours: no tree holds all of it.  And one that is a parity."""
    rng = np.random.default_rng(seed)
    angle = rng.random(n)
    columns = [((angle + i / attributes + 0.1 * rng.normal(size=n)) % 1 * 4).astype(int) for i in range(attributes)]
    columns.append((columns[0] // 2 + columns[1] // 2) % 2)
    return Rows(Domain.of({**{f"a{i}": 4 for i in range(attributes)}, "parity": 2}), np.stack(columns, axis=1))


def error(method, k, data, price, seed):
    workload = marginals(data.domain, k=k)
    released = method.release(workload, data, price, Seeded(seed))
    assert released.loss == price.loss()
    return np.abs(released.answers - workload.answer(data)).sum() / len(workload.parts) / 20_000


@pytest.mark.parametrize("k", [2, 3])
def test_it_learns_what_a_tree_cannot_say(k):
    data, price = loop(20_000), Price.of(rho="0.1")
    assert error(Adaptive(), k, data, price, 1) < 0.6 * error(ChowLiu(), k, data, price, 1)


def test_more_privacy_is_less_accuracy_in_either_currency():
    data = loop(20_000, 3)
    for cheap, dear in ((Price.of(rho="0.001"), Price.of(rho=1)), (Price.of(epsilon="0.1"), Price.of(epsilon=10))):
        assert error(Adaptive(), 2, data, dear, 2) < error(Adaptive(), 2, data, cheap, 2)


def test_the_sets_are_those_within_the_workload():
    domain = Domain.of({"a": 2, "b": 2, "c": 2, "d": 2})
    assert list(sets(marginals(domain, k=1))) == []
    assert set(sets(marginals(domain, k=2))) == set(combinations(range(4), 2))
    some = marginals(domain, subsets=[["a", "b", "c"], ["b", "c"]])
    assert set(sets(some)) == {(0, 1), (0, 2), (1, 2), (0, 1, 2)}


@pytest.mark.parametrize("price", [Price.of(rho="0.3"), Price.of(epsilon=1)])
def test_picks_are_paid_for_and_the_model_stays_small(price, monkeypatch):
    monkeypatch.setattr("tacit.workloads.models.graphical.model_growth.CLIQUES", 300)
    search = Search(loop(2000), price, Seeded(3))
    picks = count(search.total, search.domain, price, least=2, most=9)
    assert picks in range(2, 10)
    spent = []
    measure = search.measure
    monkeypatch.setattr(search, "measure", lambda c, part: spent.append(part.amount) or measure(c, part))
    pick = search.pick
    monkeypatch.setattr(search, "pick", lambda s, part: spent.append(part.amount) or pick(s, part))
    grow(
        search,
        list(combinations(range(6), 2)),
        picks,
        price.part(Fraction(1, 2 * picks)),
        price.part(Fraction(1, 2 * picks)),
    )
    assert sum(spent) <= price.amount
    assert sum(belief.size for belief in search.model.beliefs) <= 300


def test_a_workload_of_single_attributes_needs_no_pairs():
    data = loop(500)
    workload = marginals(data.domain, k=1)
    released = Adaptive().release(workload, data, Price.of(rho=1), Seeded(4))
    assert np.abs(released.answers - workload.answer(data)).max() < 30
    assert adaptive.Adaptive().predict(workload, None, Price.of(rho=1)).mean == np.inf
