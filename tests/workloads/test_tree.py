"""Trees against dense least squares."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.workloads.models.trees.tree import Tree, heights

RNG = np.random.default_rng(2)


def dense(tree):
    """The measured nodes as rows over the cells, and the variance of each."""
    rows, variances = [], []
    for level, (nodes, variance) in enumerate(zip(heights(tree.size, tree.branching), tree.variances, strict=True)):
        width = tree.branching**level
        for node in range(nodes):
            row = np.zeros(tree.size)
            row[node * width : (node + 1) * width] = 1
            rows.append(row)
            variances.append(variance)
    return np.array(rows), np.array(variances)


def weighted(tree):
    """The estimator as a matrix from noisy nodes to cells."""
    rows, variances = dense(tree)
    weights = np.where(np.isinf(variances), 0, 1 / variances)
    return np.linalg.solve(rows.T * weights @ rows, rows.T * weights), np.where(np.isinf(variances), 0, variances)


def made(size, branching, variances):
    levels = len(heights(size, branching))
    return Tree(size, branching, (variances[0] if math.isfinite(variances[0]) else 1.0, *variances[1:levels]))


trees = st.builds(
    made,
    st.integers(1, 40),
    st.integers(2, 7),
    st.lists(st.sampled_from([0.5, 1.0, 3.0, math.inf]), min_size=7, max_size=7),
)


@given(trees)
def test_two_passes_are_least_squares(tree):
    estimator, _ = weighted(tree)
    noisy = [RNG.normal(0, 5, nodes) for nodes in heights(tree.size, tree.branching)]
    assert np.allclose(tree.estimate(noisy), estimator @ np.concatenate(noisy), atol=1e-8)


@given(trees)
def test_variances_are_exact(tree):
    estimator, variances = weighted(tree)
    low, high = np.triu_indices(tree.size)
    ranges = (np.arange(tree.size) >= low[:, None]) & (np.arange(tree.size) <= high[:, None])
    through = ranges @ estimator
    exact = through**2 @ variances
    assert np.allclose(tree.range_variances(low, high), exact, rtol=1e-8)
    assert np.allclose(tree.variance(ranges.astype(float)), exact, rtol=1e-8)
    assert tree.prefix_variance() >= exact[low == 0].max() * (1 - 1e-9)
    scales = np.sqrt([0 if math.isinf(v) else v for v in tree.variances])
    assert np.abs(through * np.sqrt(variances)).max() <= tree.largest(scales.tolist()) * (1 + 1e-9)


@given(trees)
def test_arbitrary_queries(tree):
    estimator, variances = weighted(tree)
    queries = RNG.random((5, tree.size))
    assert np.allclose(tree.variance(queries), (queries @ estimator) ** 2 @ variances, rtol=1e-8)
    assert np.allclose(tree.sizes(queries), np.abs(queries @ estimator) @ variances, rtol=1e-8)


@given(trees, st.integers(0, 2))
def test_one_level_may_be_as_good_as_known(tree, sure):
    """Its variance may be next to nothing beside the others': what it says then holds, and no number is lost."""
    levels = len(tree.variances)
    known = Tree(tree.size, tree.branching, tuple(1e-100 if i == sure else v for i, v in enumerate(tree.variances)))
    noisy = [RNG.normal(0, 5, nodes) for nodes in heights(tree.size, tree.branching)]
    cells, (low, high) = known.estimate(noisy), np.triu_indices(tree.size)
    assert np.isfinite(cells).all() and np.isfinite(known.sizes(np.eye(tree.size))).all()
    assert (known.range_variances(low, high) > 0).all() and (known.variance(np.eye(tree.size)) > 0).all()
    if sure < levels:
        assert np.allclose(known.counts(cells)[sure], noisy[sure], atol=1e-8)


def test_levels_add_up():
    cells = RNG.integers(0, 9, 1000)
    tree = Tree(1000, 10, (1.0,) * 4)
    counts = tree.counts(cells)
    assert [c.size for c in counts] == [1000, 100, 10, 1] == heights(1000, 10)
    assert all(c.sum() == cells.sum() and c.dtype == cells.dtype for c in counts)
    assert np.allclose(tree.estimate([c.astype(float) for c in counts]), cells)  # without noise, the truth


@pytest.mark.parametrize("size", [1, 2, 3])
def test_small_trees(size):
    tree = Tree(size, 2, (1.0,) * len(heights(size, 2)))
    assert tree.range_variances(np.array([0]), np.array([size - 1]))[0] > 0
