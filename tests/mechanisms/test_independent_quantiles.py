"""Quantiles that are chosen one by one: each as a single quantile is, and released in order."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.mechanisms import IndependentQuantiles, Quantiles
from tacit.testing.sources import Seeded

aims = st.lists(st.sampled_from(["0.1", "0.25", "0.5", "0.75", "0.9"]), min_size=1, max_size=3, unique=True).map(sorted)
counts = st.lists(st.integers(0, 5), min_size=2, max_size=4)


@given(x=counts, quantiles=aims)
def test_the_law_is_that_of_single_ones_put_in_order(x: list[int], quantiles: list[str]) -> None:
    m = IndependentQuantiles(epsilon=3, quantiles=quantiles, cells=len(x))
    each = [Quantiles(epsilon=Fraction(3, len(quantiles)), quantiles=[q], cells=len(x)).law(x) for q in quantiles]
    found: Counter[tuple[int, ...]] = Counter()
    for cells in itertools.product(range(len(x)), repeat=len(quantiles)):
        found[tuple(sorted(cells))] += np.prod([law.mass((v,)) for law, v in zip(each, cells, strict=True)])
    for cells, mass in found.items():
        assert m.law(x).mass(cells) == pytest.approx(mass, rel=1e-9)


@given(x=counts, quantiles=aims, seed=st.integers(0, 9))
def test_order_moves_no_quantile_farther_than_the_farthest(x: list[int], quantiles: list[str], seed: int) -> None:
    m = IndependentQuantiles(epsilon=1, quantiles=quantiles, cells=len(x))
    cells = Seeded(seed).words(len(quantiles)) % np.uint64(len(x))
    chosen = tuple(int(v) for v in cells)
    assert m.miss(x, tuple(sorted(chosen))) <= m.miss(x, chosen)


def test_two_are_promised_nearer_than_by_bisection_and_many_cost_more_levels() -> None:
    for quantiles in (["0.1", "0.5"], ["0.5", "0.9"], ["0.25", "0.75"]):
        terms = {"epsilon": 1, "quantiles": quantiles, "cells": 200}
        assert IndependentQuantiles(**terms).error() < Quantiles(**terms).error() / 1.2
        assert IndependentQuantiles(**terms).loss() == Quantiles(**terms).loss()
    assert (IndependentQuantiles(epsilon=1).levels, Quantiles(epsilon=1).levels) == (3, 2)
