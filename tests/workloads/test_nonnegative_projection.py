"""Counts that are not negative: where neighbours are alike, where they are not, and what is kept."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as some

from tacit.mechanisms import project_to_simplex
from tacit.testing.sources import Seeded
from tacit.workloads import Domain, Histogram, Price, marginals, method, ranges
from tacit.workloads.models.nonnegative_projection import _top_down, nonnegative


def released(workload, counts, seed):
    return method("histogram").release(
        workload, Histogram(workload.domain, counts), Price.of(epsilon="0.2"), Seeded(seed)
    )


def gaps(workload, counts, seeds=range(8)):
    """Mean absolute errors of the noisy answers, and of those that are not negative."""
    truth = workload.answer(Histogram(workload.domain, counts))
    runs = [released(workload, counts, seed) for seed in seeds]
    return tuple(np.mean([np.abs(r.answers - truth) for r in each]) for each in (runs, [r.nonnegative() for r in runs]))


def bell(n, deviation, dimensions):
    rng = np.random.default_rng(1)
    places = np.clip(rng.normal(n / 2, deviation, (10_000, dimensions)).astype(int), 0, n - 1)
    return np.histogramdd(places, [np.arange(n + 1) - 0.5] * dimensions)[0].astype(int)


def test_ranges_of_a_line_are_no_worse():
    """They were three times as bad when every cell gave the same."""
    noisy, near = gaps(ranges(Domain.of({"x": 1000})), bell(1000, 60, 1), range(4))
    assert near < 1.25 * noisy


def test_boxes_are_no_worse_and_cells_much_better():
    domain, rng = Domain.of({"x": 64, "y": 64}), np.random.default_rng(2)
    ends = np.sort(rng.integers(0, 64, (2, 500, 2)), axis=0)
    boxes, counts = ranges(domain, "x", "y", low=ends[0], high=ends[1]), bell(64, 6, 2)
    noisy, near = gaps(boxes, counts)
    assert near < 1.15 * noisy
    noisy, near = gaps(marginals(domain, k=1), counts)
    assert near < 0.7 * noisy
    noisy, near = gaps(marginals(domain, k=2), counts)
    assert near < 0.25 * noisy


def test_a_few_cells_among_empty_ones_are_found_by_the_nearest_counts():
    """There is nothing that neighbours have in common, and halves would keep twice the error."""
    rng = np.random.default_rng(3)
    counts = np.where(rng.random(4096) < 0.005, 500, 0)
    for seed in range(5):
        r = released(marginals(Domain.of({"x": 4096}), k=1), counts, seed)
        near = r.nonnegative().answers
        total = r.answers.sum()
        np.testing.assert_allclose(near, project_to_simplex(r.answers / total) * total, atol=1e-9)
        assert np.abs(near - counts).sum() < 0.7 * np.abs(_top_down(r.answers, total) - counts).sum()


tables = st.one_of(
    some.arrays(float, some.array_shapes(min_dims=0, max_dims=4, max_side=5), elements=st.floats(-1e6, 1e6)),
    some.arrays(float, (2,) * 7, elements=st.integers(-9, 9).map(float)),
)


@given(tables, st.floats(-10, 0) | st.floats(1, 1e7))
def test_no_count_is_negative_and_the_total_is_kept(table, total):
    near = nonnegative(table, total)
    assert near.shape == table.shape and near.min() >= 0
    assert near.sum() == pytest.approx(max(total, 0), rel=1e-6)
    if total > 0:
        down = _top_down(table, total)
        assert down.min() >= 0 and down.sum() == pytest.approx(total, rel=1e-6)


@given(some.arrays(float, some.array_shapes(max_dims=3, max_side=5), elements=st.floats(0, 1e6)))
def test_what_is_not_negative_stays(table):
    np.testing.assert_allclose(nonnegative(table, float(table.sum())), table, rtol=1e-12)
    if table.sum() > 0:
        np.testing.assert_allclose(_top_down(table, float(table.sum())), table, rtol=1e-9, atol=1e-9 * table.max())


def test_each_half_is_the_nearest():
    """Two parts, of one and two cells, that have 3 in all: by quadratic distance weighed by their sizes."""
    found = _top_down(np.array([4.0, -2.0, 2.5]), 3.0)
    grid = np.linspace(0, 3, 300_001)  # of the first two together
    best = grid[np.argmin((grid - 2.0) ** 2 / 2 + (3 - grid - 2.5) ** 2)]
    assert found[:2].sum() == pytest.approx(best, abs=1e-4) and found[1] == 0
