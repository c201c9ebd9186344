"""The right sparse vector holds where seven wrong ones are refuted, by exact enumeration of the same streams."""

from __future__ import annotations

import math
from itertools import pairwise, product

import pytest

from tacit.core.law import max_divergence
from tacit.core.mechanism import Example
from tacit.mechanisms.sparse_vector.sparse import Sparse
from tacit.testing.mechanisms import (
    Refuted,
    error_bound_holds,
    farther_is_dearer,
    file_states_its_theorems,
    sampler_follows_law,
)
from tacit.testing.wrong import sparse_vector
from tacit.testing.wrong.sparse_vector import (
    ALL,
    Chen,
    HalfOnThreshold,
    HalfOnValues,
    LeeClifton,
    Roth,
    Stoddard,
    WrongSparse,
)

EXAMPLES = [example for wrong in ALL for example in wrong.examples()]


def name(example: Example) -> str:
    return type(example.mechanism).__name__


@pytest.mark.parametrize("example", EXAMPLES, ids=name)
def test_the_suite_refutes_the_claim(example: Example) -> None:
    with pytest.raises(Refuted):
        type(example.mechanism).refuted_by(example)


@pytest.mark.parametrize("example", EXAMPLES, ids=name)
def test_nothing_but_the_claim_is_wrong(example: Example) -> None:
    for check in (sampler_follows_law, error_bound_holds, farther_is_dearer, file_states_its_theorems):
        check(example)
    assert math.fsum(example.mechanism.law(example.x).masses.values()) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("example", EXAMPLES, ids=name)
def test_the_right_one_holds_on_the_same_streams(example: Example) -> None:
    right = Sparse(threshold=0, epsilon=example.mechanism.epsilon, count=example.mechanism.count, noise="laplace")
    p, q = right.law(example.x), right.law(example.y)
    assert max(max_divergence(p, q), max_divergence(q, p)) <= 1 + 1e-12


def worst(mechanism: WrongSparse | Sparse, before: int, after: int) -> float:
    """The largest ratio over neighbours that move one way `before` times and then the other way."""
    ratios = []
    for low, gap in product(range(-8, 6), range(-4, 5)):
        x = (low,) * before + (low + gap,) * after
        y = (low + 1,) * before + (low + gap - 1,) * after
        p, q = mechanism.law(x), mechanism.law(y)
        ratios += [max_divergence(p, q), max_divergence(q, p)]
    return max(ratios)


def test_what_each_costs_at_eight_queries() -> None:
    """Each is as bad as the table in its file says, or on its way there."""
    right = Sparse(threshold=0, epsilon=1, count=1, noise="laplace")
    assert worst(right, 7, 1) <= 1
    assert worst(LeeClifton(), 7, 1) == pytest.approx(1.75, abs=1e-3)
    assert worst(LeeClifton(count=2), 5, 2) == pytest.approx(3.25, abs=1e-2)
    assert worst(HalfOnValues(), 7, 1) == pytest.approx(1.5, abs=1e-3)
    assert worst(HalfOnThreshold(), 7, 1) == pytest.approx(1.5, abs=0.02)
    assert worst(Stoddard(), 1, 1) == math.inf
    assert worst(Chen(), 4, 4) > 3
    assert worst(Roth(), 7, 1) == pytest.approx(4)


def test_two_have_no_bound() -> None:
    """The price grows with the number of queries, for the same claim."""
    chen = [worst_at_zero(Chen(), n, n) for n in (2, 3, 4, 5)]
    roth = [worst_at_zero(Roth(), n, 1) for n in (2, 4, 8, 16)]
    for costs in (chen, roth):
        assert all(a + 0.5 < b for a, b in pairwise(costs))


def worst_at_zero(mechanism: WrongSparse, before: int, after: int) -> float:
    p = mechanism.law((0,) * before + (1,) * after)
    q = mechanism.law((1,) * before + (0,) * after)
    return max(max_divergence(p, q), max_divergence(q, p))


def test_the_gallery_lists_every_class() -> None:
    classes = [c for c in vars(sparse_vector).values() if isinstance(c, type) and issubclass(c, WrongSparse)]
    assert set(ALL) == set(classes) - {WrongSparse}
