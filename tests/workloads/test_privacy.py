"""The privacy of additive methods, exactly, on the way from the table to the noise.

Under the same random words two neighbours' releases differ by what their measurements differ by, so that difference is
seen.  For Laplace noise the largest log-ratio of the two laws is sum |d_i| / b_i, for Gaussian noise the largest Renyi
divergence of order a is at most a sum d_i^2 / (2 sigma_i^2): both must be within the price, and mostly reach it.  At an
epsilon and delta it is the sum of the mu^2 that must be.
"""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from tacit import ADD_REMOVE, SUBSTITUTE, Laplace
from tacit.core.pld.discrete_gaussian import mu_squared
from tacit.testing.sources import Seeded
from tacit.workloads import Domain, Histogram, Price, marginals, method, predicates, ranges
from tacit.workloads.models.measured_model import solvable
from tacit.workloads.models.trees.tree_design import design

WIDE, LINE = Domain.of({"a": 2, "b": 3, "c": 8, "d": 20}), Domain.of({"x": 23})
CURRENCIES = {"epsilon": {"epsilon": 1}, "rho": {"rho": 1}, "delta": {"epsilon": 1, "delta": "1e-9"}}
UNITS = {"add or remove": ADD_REMOVE.histogram(), "substitute": SUBSTITUTE.histogram()}


def of_queries(w, price, data):
    r = method("queries").release(w, data, price, Seeded(4))
    starts = np.cumsum([0, *(part.queries for part in w.parts)])
    pieces = [r.answers[a:b] for a, b in pairwise(starts)]
    return list(zip(pieces, method("queries").noises(w, price), strict=True))


def of_histogram(w, price, data):
    r = method("histogram").release(w, data, price, Seeded(4))
    return [(r.model.tables[w.span].ravel(), method("histogram").noise(w, price))]


def of_hierarchy(w, price, data):
    r = method("hierarchy").release(w, data, price, Seeded(4))
    noises = design(w, price).noises(w, price)
    return [(y, noise) for y, noise in zip(r.model.noisy, noises, strict=True) if noise is not None]


CASES = {
    "queries-marginals": (of_queries, marginals(WIDE, k=2)),
    "queries-weighted": (of_queries, marginals(WIDE, subsets=[["a"], ["b", "c"]], weights=[9, 1])),
    "queries-mixed": (of_queries, predicates(WIDE, [{"a": 1}, {"b": [0, 1], "d": 5}]) + ranges(WIDE, "c")),
    "histogram-marginals": (of_histogram, marginals(WIDE, subsets=[["a", "b"], ["b", "c"]])),
    "hierarchy-ranges": (of_hierarchy, ranges(LINE)),
}


def neighbours(domain, relation):
    """The changes that one unit can make to a histogram, some hundred of them."""
    cells = np.random.default_rng(0).permutation(domain.size)[:24]
    for cell in cells:
        change = np.zeros(domain.size, int)
        change[cell] += 1
        if relation == "add or remove":
            yield change
        else:
            for other in cells[:6]:
                swap = change.copy()
                swap[other] -= 1
                yield swap


@pytest.mark.parametrize("relation", UNITS)
@pytest.mark.parametrize("currency", CURRENCIES)
@pytest.mark.parametrize("name", CASES)
def test_what_is_measured_moves_within_the_price(name, currency, relation):
    measured, w = CASES[name]
    assert not (measured is of_queries and len(w.parts) == 1 and solvable(w))  # then answers are not measurements
    price = Price.of(**CURRENCIES[currency], unit=UNITS[relation])
    counts = np.full(w.domain.size, 3)
    before = measured(w, price, Histogram(w.domain, counts, UNITS[relation]))
    costs = []
    for change in neighbours(w.domain, relation):
        after = measured(w, price, Histogram(w.domain, counts + change, UNITS[relation]))
        cost = Fraction(0)
        for (x, noise), (y, _) in zip(before, after, strict=True):
            moved = [Fraction(int(step)) for step in np.round(y - x)[np.round(y - x) != 0]]
            if isinstance(noise, Laplace):
                cost += sum(map(abs, moved), Fraction(0)) / noise.scale
            elif currency == "rho":
                cost += sum((m * m for m in moved), Fraction(0)) / (2 * noise.sigma2)
            elif moved:
                cost += mu_squared(noise.sigma2, sum((m * m for m in moved), Fraction(0)), len(moved)) / 2
        costs.append(cost)
    assert max(costs) <= price.alone.amount
    if "mixed" not in name and (name, relation) != ("hierarchy-ranges", "substitute"):  # there the root never moves
        assert max(costs) == pytest.approx(price.alone.amount, rel=0.01 if currency == "delta" else 0)  # not wasted
