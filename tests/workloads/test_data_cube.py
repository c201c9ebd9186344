"""Many marginals at once: each as if it had been counted on its own."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.workloads.models.marginals.residuals import subsets
from tacit.workloads.queries import data_cube as module
from tacit.workloads.queries.data import Histogram, Rows
from tacit.workloads.queries.data_cube import cube
from tacit.workloads.queries.domain import Domain


class Watched(Rows):
    """Rows that remember what was counted."""

    def __init__(self, domain, codes):
        super().__init__(domain, codes)
        self.counted = []

    def marginal(self, axes):
        self.counted.append(axes)
        return super().marginal(axes)


def watched(shape, n=40, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, m, n) for m in shape], axis=1)
    return Watched(Domain.of({f"a{i}": m for i, m in enumerate(shape)}), codes)


def same(data, sets):
    found = [item for some in cube(data, sets) for item in some.items()]
    assert sorted(axes for axes, _ in found) == sorted(sets)
    for axes, table in found:
        alone = Rows.marginal(data, axes)
        assert (table == alone).all() and table.shape == alone.shape and table.dtype == np.int64


@given(st.lists(st.integers(1, 4), min_size=1, max_size=6), st.integers(0, 9), st.data())
def test_tables_are_as_counted_one_by_one(shape, bits, data):
    """Whatever room there is for a table: from one cell, where each is counted alone, to all cells."""
    rows = watched(shape, data.draw(st.integers(0, 30)))
    sets = data.draw(st.lists(st.sampled_from(list(subsets(rows.domain.all))), min_size=1, unique=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CELLS", 1 << bits)
        same(rows, sets)
    largest = max(rows.domain.cells(axes) for axes in sets)
    assert max(map(rows.domain.cells, rows.counted)) <= max(module._CELLS, largest)


def test_few_tables_are_counted():
    sixteen = watched([2] * 16)
    same(sixteen, [a for a in subsets(sixteen.domain.all) if len(a) <= 3])
    assert sixteen.counted == [sixteen.domain.all]
    many = watched([2] * 40)
    same(many, [(), *combinations(many.domain.all, 1), *combinations(many.domain.all, 2)])
    assert len(many.counted) == 10  # pairs of five runs of eight attributes


def test_a_wide_table_is_counted_alone():
    wide = watched([1 << 15, 3, 3, 3])
    same(wide, list(subsets(wide.domain.all)))
    assert max(map(wide.domain.cells, wide.counted)) == wide.domain.size  # none is more than was asked for


def test_histograms_are_summed_too_and_left_as_they_were():
    domain = Domain.of({"a": 2, "b": 3, "c": 2})
    data = Histogram(domain, np.arange(12))
    for _ in range(2):
        (tables,) = cube(data, list(subsets(domain.all)))
        assert len(tables) == 8
        for axes, found in tables.items():
            assert (found == np.arange(12).reshape(domain.shape).sum(tuple({0, 1, 2} - {*axes}))).all()
            found[...] = -1
