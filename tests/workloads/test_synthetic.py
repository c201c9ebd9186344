"""Rows drawn from a graphical model: their counts are as near to the model as whole numbers can be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.errors import BadParameter
from tacit.testing.sources import Seeded
from tacit.workloads.methods.marginals.residual import Residual
from tacit.workloads.models.graphical.bins import Bins
from tacit.workloads.models.graphical.graphical_model import Graphical, _deal
from tacit.workloads.models.graphical.junction_tree import Junction
from tacit.workloads.models.records import records
from tacit.workloads.price import Price
from tacit.workloads.queries.data import Rows
from tacit.workloads.queries.domain import Domain
from tacit.workloads.queries.marginals import marginals


def model(seed: int = 0) -> Graphical:
    """A loop of four attributes, the last in bins of three values."""
    rng = np.random.default_rng(seed)
    shape, sets = (3, 4, 3, 2), [(0, 1), (1, 2), (2, 3), (0, 3)]
    tree = Junction.of(sets, shape)
    beliefs, _ = tree.calibrate({axes: 2 * rng.normal(size=[shape[a] for a in axes]) for axes in sets})
    bins = [*(Bins.each(n) for n in shape[:3]), Bins(np.array([0, 3]), 6)]
    shares = [*(np.ones(n) for n in shape[:3]), np.array([0.5, 0.3, 0.2, 0.0, 0.9, 0.1])]
    domain = Domain.of({"a": 3, "b": 4, "c": 3, "d": 6})
    return Graphical(domain, 1000.0, bins=bins, shares=shares, tree=tree, beliefs=beliefs)


@given(
    st.lists(st.integers(0, 3), max_size=40),
    st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3).filter(any), min_size=4, max_size=4),
    st.integers(0, 100),
)
def test_every_group_gets_whole_numbers_next_to_its_share(groups, weights, seed):
    groups, weights = np.array(groups, np.int64), np.array(weights)
    drawn = _deal(groups, weights, Seeded(seed))
    for group in range(4):
        here = drawn[groups == group]
        got = np.bincount(here, minlength=3)
        expected = here.size * weights[group] / weights[group].sum()
        assert (np.abs(got - expected) < 1 + 1e-9).all()


def test_a_row_gets_each_column_with_its_share():
    """5000 draws for one row among ten: each frequency within seven standard errors."""
    weights, groups, source = np.array([[0.2, 0.5, 0.3]]), np.zeros(10, np.int64), Seeded(1)
    runs = 5_000
    got = np.bincount([_deal(groups, weights, source)[4] for _ in range(runs)], minlength=3)
    assert (np.abs(got / runs - weights[0]) < 7 * np.sqrt(0.25 / runs)).all()


def test_counts_of_rows_follow_the_model():
    drawn_from, n = model(), 50_000
    rows = Rows(drawn_from.domain, drawn_from.synthetic(n, Seeded(2)))
    for k in (1, 2, 3):
        workload = marginals(drawn_from.domain, k=k)
        gap = np.abs(workload.answer(rows) / n - workload.answer(drawn_from) / drawn_from.total)
        chance = np.sqrt(workload.answer(drawn_from) / drawn_from.total / n)
        assert (gap <= 7 * chance + 1e-4).all()
    for clique in drawn_from.tree.cliques[:1]:  # the root is rounded, and not drawn
        exact = drawn_from.binned(clique) * (n / drawn_from.total)
        binned = np.where(np.arange(6) < 3, 0, 1)
        codes = rows._columns.copy()
        codes[3] = binned[codes[3]]
        shape = tuple(drawn_from.tree.shape[a] for a in clique)
        got = np.bincount(np.ravel_multi_index(tuple(codes[list(clique)]), shape), minlength=exact.size)
        assert np.abs(got - exact.ravel()).max() <= 1


def test_rows_are_in_no_order_and_no_impossible_value_is_drawn():
    drawn_from = model()
    rows = drawn_from.synthetic(4000, Seeded(3))
    assert not (rows[:, 3] == 3).any()  # its share is 0
    halves = [np.bincount(half[:, 0], minlength=3) / 2000 for half in (rows[:2000], rows[2000:])]
    assert np.abs(halves[0] - halves[1]).max() < 0.15
    with pytest.raises(BadParameter):
        drawn_from.synthetic(0, Seeded(3))


@pytest.mark.parametrize("axes", [(), (3,), (0, 2), (0, 1, 2, 3)])
def test_marginals_on_values_add_up(axes):
    drawn_from = model()
    table = drawn_from.marginal(axes)
    assert table.shape == tuple(drawn_from.domain.shape[a] for a in axes)
    assert table.sum() == pytest.approx(drawn_from.total)
    everything = drawn_from.marginal(drawn_from.domain.all)
    np.testing.assert_allclose(table, everything.sum(axis=tuple(a for a in range(4) if a not in axes)), atol=1e-9)


def test_rows_of_a_wide_table_from_noisy_pairs():
    """Residuals of 3^30 cells cannot be laid out; the tree that explains them can be drawn from."""
    rng = np.random.default_rng(5)
    first = rng.integers(0, 3, 5000)
    columns = [first, *(np.where(rng.random(5000) < 0.9, first, rng.integers(0, 3, 5000)) for _ in range(29))]
    domain = Domain.of({f"a{i}": 3 for i in range(30)})
    data, workload = Rows(domain, np.stack(columns, axis=1)), marginals(domain, k=2)
    released = Residual().release(workload, data, Price.of(rho=1), Seeded(6))
    rows = Rows(domain, released.model.synthetic(5000, Seeded(7)))
    truth = workload.answer(data)
    assert np.abs(workload.answer(rows) - truth).mean() < 0.1 * np.abs(5000 / 9 - truth).mean()


def test_a_synthetic_table_has_the_values_of_the_domain():
    values = {"age": range(20, 30), "sex": ["f", "m"], "weight": [0.5, 1.5], "any": ["x", 1, None], "on": [False, True]}
    domain = Domain.of(values)
    codes = np.stack(np.unravel_index(np.arange(domain.size), domain.shape), axis=1)
    table = records(domain, codes)
    assert [str(kind) for kind in table.schema.types] == ["int64", "string", "double", "string", "bool"]
    for axis, name in enumerate(domain.names):
        wanted = [values[name][code] for code in codes[:, axis]]
        assert table[name].to_pylist() == (list(map(str, wanted)) if name == "any" else wanted)
