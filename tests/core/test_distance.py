"""Distances: what one unit of privacy can move, by brute force over small tables."""

import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import ADD_REMOVE, SUBSTITUTE, BadParameter, Distance, MixedRelations, norms
from tacit.core.distance import distance, scalar
from tacit.mechanisms._grid import steps


def neighbours(values, relation):
    """All pairs of small tables that differ as the relation says."""
    for size in (1, 2, 3):
        for table in product(values, repeat=size):
            if relation is ADD_REMOVE:
                yield table, table[1:]
            else:
                yield from ((table, (other, *table[1:])) for other in values)


def moved(answers, tables):
    a, b = (answers(t) for t in tables)
    return [abs(x - y) for x, y in zip(a, b, strict=True)]


def norms_of(d):
    return sum(1 for x in d if x), sum(d), sum(x * x for x in d), max(d, default=0)


QUESTIONS = {
    "histogram": ("abc", lambda t: [t.count(v) for v in "abc"], lambda r: r.histogram()),
    "two counts": ("abc", lambda t: [t.count("a"), sum(v in "ab" for v in t)], lambda r: r.counts(2)),
    "sum": ((-2, 0, 3), lambda t: [sum(t)], lambda r: r.sum(-2, 3)),
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("relation", [ADD_REMOVE, SUBSTITUTE])
def test_the_claimed_distance_is_the_largest_move(question, relation):
    values, answers, claim = QUESTIONS[question]
    seen = [norms_of(moved(answers, pair)) for pair in neighbours(values, relation)]
    claimed = claim(relation)
    largest = [max(column) for column in zip(*seen, strict=True)]
    assert largest == [claimed.l0, claimed.l1, claimed.l2_squared, claimed.linf]


def test_a_mean_needs_a_public_number_of_rows():
    assert SUBSTITUTE.mean(0, 1, n=1000).l1 == Fraction(1, 1000)
    assert not hasattr(ADD_REMOVE, "mean")


@given(
    st.lists(st.tuples(st.integers(-900, 900), st.integers(-900, 900)), min_size=1, max_size=4),
    st.sampled_from([Fraction(1, 8), Fraction(1), Fraction(64)]),
)
def test_rounding_to_the_grid_costs_what_is_stated(pairs, grid):
    """Values are multiples of 1/100, so that many lie half-way between grid points."""
    x, y = ([Fraction(v, 8) for v in side] for side in zip(*pairs, strict=True))
    d = [abs(a - b) for a, b in zip(x, y, strict=True)]
    if not any(d):
        return
    claimed = Distance(sum(d), sum(v * v for v in d), max(d), sum(1 for v in d if v)).on_grid(grid)
    rounded = [abs(steps("v", float(a), grid) - steps("v", float(b), grid)) for a, b in zip(x, y, strict=True)]
    count, total, squares, largest = norms_of(rounded)
    assert count <= claimed.l0 and total <= claimed.l1 and squares <= claimed.l2_squared and largest <= claimed.linf


def test_a_multiple_of_the_grid_costs_nothing_more():
    assert scalar(Fraction(3, 4)).on_grid(Fraction(1, 4)).l1 == 3
    assert scalar(Fraction(7, 10)).on_grid(Fraction(1, 4)).l1 == 3


def test_groups_and_vectors():
    d = SUBSTITUTE.histogram()
    assert d.group(3) == Distance(Fraction(6), Fraction(18), Fraction(3), 6, SUBSTITUTE)
    assert (d + SUBSTITUTE.counts(4)).l1 == 6 and (d + SUBSTITUTE.counts(4)).linf == 1
    with pytest.raises(MixedRelations, match="AddRemove"):
        ADD_REMOVE.histogram() + d


def test_how_many_coordinates_move():
    """Where moves are whole each adds 1 to l2^2; where none can move it is said to be 1."""
    assert ADD_REMOVE.counts(7).coordinates == 7 and SUBSTITUTE.histogram().group(3).coordinates == 6
    assert norms(l2=3).coordinates == 9 and norms(l0=4, l2=3).coordinates == 4
    assert scalar(Fraction(1, 2)).coordinates == scalar(Fraction(0)).coordinates == 1


def test_norms_follow_from_those_given():
    assert norms(l0=4, linf=2) == Distance(Fraction(8), Fraction(16), Fraction(2), 4)
    assert norms(l1=3).l0 is None and norms(l1=3).l2_squared == 9
    assert norms(l2=2, l0=9).l1 == 18 and norms(l2=2, l0=9).l2_squared == 4
    for bad in ({}, {"linf": 1}, {"l1": -1}, {"l1": math.nan}, {"l0": 0, "l1": 1}):
        with pytest.raises(BadParameter):
            norms(**bad)
    with pytest.raises(BadParameter, match="number of coordinates that move"):
        norms(l1=3).on_grid(Fraction(1, 2))


@pytest.mark.parametrize("bad", [-1, 0, math.nan, math.inf, "x", None, True])
def test_bad_distances_are_refused(bad):
    with pytest.raises(BadParameter):
        distance(bad)
