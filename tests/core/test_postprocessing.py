"""Post-processing: no map that is blind to the data raises a divergence (Dwork and Roth 2014, proposition 2.1)."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.law import Finite, hockey_stick, max_divergence, renyi_divergence
from tacit.mechanisms import Exponential, RandomizedResponse

Masses = tuple[Fraction, ...]

POINTS, IMAGES = 4, 3


def laws(size: int) -> st.SearchStrategy[Masses]:
    weights = st.lists(st.integers(0, 20), min_size=size, max_size=size).filter(any)
    return weights.map(lambda w: tuple(Fraction(x, sum(w)) for x in w))


MAPS = st.lists(laws(IMAGES), min_size=POINTS, max_size=POINTS)
ODDS = st.fractions(0, 8, max_denominator=12)  # e^epsilon; below 1 too, as composition needs it


def through(p: Masses, rows: list[Masses]) -> Masses:
    """The law of the image: row y is the law of what becomes of y."""
    return tuple(sum((p[y] * rows[y][z] for y in range(POINTS)), Fraction(0)) for z in range(IMAGES))


def stick(p: Masses, q: Masses, odds: Fraction) -> Fraction:
    """sum (P - odds Q)_+, in rationals."""
    return sum((max(a - odds * b, Fraction(0)) for a, b in zip(p, q, strict=True)), Fraction(0))


@given(laws(POINTS), laws(POINTS), MAPS, ODDS)
def test_no_stochastic_map_raises_a_hockey_stick(p: Masses, q: Masses, rows: list[Masses], odds: Fraction) -> None:
    assert stick(through(p, rows), through(q, rows), odds) <= stick(p, q, odds)


@given(laws(POINTS), laws(POINTS), st.permutations(range(POINTS)), ODDS)
def test_a_map_that_can_be_undone_keeps_it(p: Masses, q: Masses, order: list[int], odds: Fraction) -> None:
    assert stick(tuple(p[i] for i in order), tuple(q[i] for i in order), odds) == stick(p, q, odds)


def test_a_map_that_sees_the_data_can_raise_it() -> None:
    p = (Fraction(1, 4),) * POINTS
    one, other = [(Fraction(1), Fraction(0), Fraction(0))] * POINTS, [(Fraction(0), Fraction(1), Fraction(0))] * POINTS
    assert stick(p, p, Fraction(2)) == 0 < stick(through(p, one), through(p, other), Fraction(2))


@pytest.mark.parametrize(
    ("p", "q"),
    [
        (RandomizedResponse(epsilon=1, categories=4).law(0), RandomizedResponse(epsilon=1, categories=4).law(1)),
        (Exponential(epsilon=2).law([0, 1, 3, 2]), Exponential(epsilon=2).law([1, 0, 2, 3])),
    ],
)
@given(rows=MAPS, epsilon=st.floats(0, 3))
def test_what_is_made_of_a_release_is_as_private(p: Finite, q: Finite, rows: list[Masses], epsilon: float) -> None:
    made, other = (law.through(lambda y: Finite(dict(enumerate(map(float, rows[y]))))) for law in (p, q))
    assert sum(made.masses.values()) == pytest.approx(1)
    assert hockey_stick(made, other, epsilon) <= hockey_stick(p, q, epsilon) + 1e-14
    assert max_divergence(made, other) <= max_divergence(p, q) + 1e-12
    assert renyi_divergence(made, other, 2.5) <= renyi_divergence(p, q, 2.5) + 1e-12
