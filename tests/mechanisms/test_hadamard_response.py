"""Hadamard response: the matrix, by its definition, and counting by the fast transform."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit.mechanisms.local.hadamard_response import HadamardResponse
from tacit.mechanisms.local.unary_encoding import UnaryEncoding
from tacit.testing.sources import Seeded


def hadamard(order: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    rows = np.ones((1, 1), np.int64)
    while len(rows) < order:
        rows = np.block([[rows, rows], [rows, -rows]])
    return rows


@pytest.mark.parametrize("k", [2, 3, 4, 7, 8, 20])
def test_the_law_is_read_off_the_matrix(k: int) -> None:
    m = HadamardResponse(epsilon=1, categories=k)
    assert m.order / 2 <= k < m.order
    rows, p = hadamard(m.order), math.e / (1 + math.e)
    for x in range(k):
        expected = np.where(rows[x + 1] == 1, p, 1 - p) / (m.order / 2)
        assert [m.law(x).mass(y) for y in range(m.order)] == pytest.approx(expected.tolist())


@pytest.mark.parametrize("k", [2, 5, 8, 100])
def test_counting_by_the_fast_transform(k: int) -> None:
    m = HadamardResponse(epsilon=1, categories=k)
    reports = m.sample(np.arange(500) % k, Seeded(6))
    slow = (hadamard(m.order)[1 : k + 1, reports] == 1).sum(axis=1)
    counts, n = m.count(reports)
    assert counts.tolist() == slow.tolist()
    assert n == 500


def test_the_variance_is_the_square_of_a_hyperbolic_cotangent() -> None:
    for epsilon in (0.1, 1.0, 3.0):
        m = HadamardResponse(epsilon=epsilon, categories=9)
        assert m.variance() == pytest.approx(1 / math.tanh(epsilon / 2) ** 2)
        unary = UnaryEncoding(epsilon=epsilon, categories=9).variance()
        assert m.variance() / unary == pytest.approx(math.cosh(epsilon / 2) ** 2)
