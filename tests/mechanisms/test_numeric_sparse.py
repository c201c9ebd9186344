"""NumericSparse: Sparse, and numbers with noise of their own."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core import law
from tacit.core.errors import BadParameter
from tacit.mechanisms.sparse_vector._pure_comparisons import KINDS
from tacit.mechanisms.sparse_vector.numeric_sparse import NumericSparse
from tacit.mechanisms.sparse_vector.sparse import Sparse
from tacit.testing.sources import Seeded


def test_without_its_numbers_it_is_sparse_on_the_rest_of_epsilon() -> None:
    x = (0, 3, 1)
    numeric, plain = NumericSparse(threshold=2, epsilon=9, count=2), Sparse(threshold=2, epsilon=8, count=2)
    assert sum(numeric.split[:2]) == 8
    assert numeric.split[2] == 1
    assert numeric.law(x).indices == plain.law(x).masses


def test_numbers_are_independent_and_centred_on_their_values() -> None:
    m = NumericSparse(threshold=0, epsilon=20, share="0.5", count=2)
    found, x = m.law((0, 3)), (0, 3)
    points = list(found.support(1e-12))
    assert math.fsum(found.mass(y) for y in points) == pytest.approx(1, abs=1e-10)
    first = dict.fromkeys(range(-50, 60), 0.0)
    for y in points:
        if len(y) == 2:
            first[y[1][1]] += found.mass(y)
    both = math.fsum(first.values())
    assert math.fsum(v * p for v, p in first.items()) / both == pytest.approx(x[1], abs=1e-9)
    noise = law.DiscreteLaplaceLaw(Fraction(2, 10), 3)
    assert first[4] / both == pytest.approx(noise.mass(4), rel=1e-9)


@given(
    st.lists(st.tuples(st.integers(-2, 2), st.integers(-1, 1)), min_size=1, max_size=3),
    st.sampled_from(KINDS),
    st.integers(1, 2),
)
@settings(max_examples=25, deadline=None)
def test_no_neighbours_are_further_apart_than_the_price(stream: list[tuple[int, int]], kind: str, count: int) -> None:
    m = NumericSparse(threshold=0, epsilon=12, share="0.5", count=count, noise=kind)
    p, q = m.law([q for q, _ in stream]), m.law([q + move for q, move in stream])
    assert law.max_divergence(p, q, 1e-6) <= m.loss(1).epsilon() + 1e-12


def test_the_numbers_cost_their_share() -> None:
    """Without it the price would not cover the law."""
    m = NumericSparse(threshold=-2, epsilon=9, share=Fraction(1, 3), count=1)
    p, q = m.law((0, 0, 0, 1)), m.law((1, 1, 1, 0))
    assert 6 < max(law.max_divergence(p, q), law.max_divergence(q, p)) <= 9 + 1e-9
    assert next(iter(m.loss(2).terms)).pure() == 18


@pytest.mark.parametrize("grid", [None, Fraction(1, 4)])
def test_error_covers_comparisons_and_numbers(grid: Fraction | None) -> None:
    m = NumericSparse(threshold=0, epsilon=6, share="0.4", count=1, queries=3, grid=grid)
    for beta in (0.3, 0.05):
        a = m.error(beta=beta)
        for x in ((0.0, 0.0, 0.0), (-a - 1, -a - 1, a + 1), (-a - 1, -a - 1, -a - 1)):
            values = x if grid else tuple(int(q) for q in x)
            found = m.law(values)
            wrong = math.fsum(found.mass(y) for y in found.support(1e-5) if m.miss(values, y) > a)
            assert wrong <= beta
    number_alone = law.DiscreteLaplaceLaw(m.scales[2]).tail_quantile(0.05) * float(grid or 1)
    assert m.error(beta="0.05") >= number_alone


def test_classical_error() -> None:
    m = NumericSparse(threshold=0, epsilon=1, count=5, queries=1000)
    assert m.classical_error("0.05") == pytest.approx(45 * math.log(4 * 5 * 1000 / 0.05), rel=1e-12)
    assert m.error(beta="0.05") < m.classical_error("0.05") * 0.7
    for share, bar_share in product(("0.01", "0.1", "0.5", "0.9"), ("0.01", "0.5", "0.9", "0.99", None)):
        other = NumericSparse(threshold=0, epsilon=1, count=5, share=share, noise="laplace", bar_share=bar_share)
        for queries in (1, 1000):  # the printed form is for a ninth, and for halves of the rest
            assert other.error(beta="0.05", queries=queries) <= other.classical_error("0.05", queries) + 1


def test_asked_one_by_one_the_numbers_follow_the_same_law() -> None:
    m, source = NumericSparse(threshold=0, epsilon=6, count=1), Seeded(3)
    found, draws = m.law((0, 2)), 4000
    seen: dict[tuple, int] = {}
    for _ in range(draws):
        state, output = m.begin(source), ()
        for i, value in enumerate((0, 2)):
            state, answer = m.step(state, value, source)
            if answer is not None:
                output = ((i, answer),)
                break
        seen[output] = seen.get(output, 0) + 1
    cells = [(seen.get(y, 0), draws * found.mass(y)) for y in found.support(1e-9)]
    large = [(o, e) for o, e in cells if e >= 10]
    statistic = sum((o - e) ** 2 / e for o, e in large)
    assert statistic < len(large) + 7 * math.sqrt(2 * len(large))


def test_numbers_on_a_grid() -> None:
    m = NumericSparse(threshold="0.5", epsilon=500, count=3, grid="0.125")
    output = m.release(np.array([9.3, -9.3, 9.3]))
    assert [i for i, _ in output] == [0, 2]
    assert all(isinstance(v, float) and v * 8 == int(v * 8) and abs(v - 9.3) < 8 for _, v in output)
    assert m.release([-9.0]) == ()


def test_bad_shares() -> None:
    for share in (0, 1, -1, "x"):
        with pytest.raises(BadParameter):
            NumericSparse(threshold=0, epsilon=1, count=1, share=share)
