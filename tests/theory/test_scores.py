from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import pytest

import tacit
from tacit import ADD_REMOVE, SUBSTITUTE
from tacit.core.errors import BadParameter
from tacit.theory import linear_queries, selection
from tacit.theory.scores import score_sensitivity, two_scores

COLOURS = ["brown", "blue", "green"]
PRICES = [1, 2, 4]


def count(table: tuple[Any, ...], colour: str) -> int:
    return table.count(colour)


def revenue(table: tuple[Any, ...], price: int) -> int:
    return price * sum(v >= price for v in table)


def test_counts_move_by_one_and_together_only_where_people_come_and_go() -> None:
    added = score_sensitivity(count, COLOURS, COLOURS, 3, ADD_REMOVE)
    assert (added.sensitivity, added.range_sensitivity, added.monotone) == (1, 1, True)
    swapped = score_sensitivity(count, COLOURS, COLOURS, 3, SUBSTITUTE)
    assert (swapped.sensitivity, swapped.range_sensitivity, swapped.monotone) == (1, 2, False)
    x, y, colour = added.worst
    assert abs(count(x, colour) - count(y, colour)) == 1


def test_revenue_moves_by_the_largest_price() -> None:
    found = score_sensitivity(revenue, PRICES, PRICES, 3, ADD_REMOVE)
    assert (found.sensitivity, found.monotone) == (max(PRICES), True)
    assert score_sensitivity(revenue, PRICES, PRICES, 3, SUBSTITUTE).sensitivity == max(PRICES)


def test_a_score_with_a_ratio_moves_by_all_it_can() -> None:
    """A mean over an unknown number of records: one record may move it from 0 to 1."""
    mean = score_sensitivity(lambda x, r: Fraction(sum(x), max(1, len(x))), [0], [0, 1], 4, ADD_REMOVE)
    assert mean.sensitivity == 1


def test_the_sensitivity_by_enumeration_is_what_privacy_needs() -> None:
    """The exponential mechanism with range/eps is eps-DP on all neighbours of the universe, and not with less."""
    found = score_sensitivity(count, COLOURS, COLOURS, 3, SUBSTITUTE)
    scale = float(found.range_sensitivity) / 1.0
    worst = 0.0
    for x in combinations_with_replacement(COLOURS, 3):
        for y in combinations_with_replacement(COLOURS, 3):
            if sum(abs(x.count(c) - y.count(c)) for c in COLOURS) == 2:
                one, other = ([float(t.count(c)) for c in COLOURS] for t in (x, y))
                worst = max(worst, selection.log_probability_sensitivity(one, other, scale) / scale)
    assert 0.5 < worst <= 1.0


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_small_db_moves_by_one_over_n(n: int) -> None:
    queries = {"a": [1.0, 0.0, 0.0], "b": [0.0, 1.0, 0.5]}
    small = list(combinations_with_replacement(range(3), 2))

    def mean(query: list[float], table: tuple[int, ...]) -> Fraction:
        return sum((Fraction(query[cell]) for cell in table), Fraction(0)) / len(table)

    def score(x: tuple[int, ...], y: tuple[int, ...]) -> Fraction:
        return -max(abs(mean(query, x) - mean(query, y)) for query in queries.values())

    found = score_sensitivity(score, small, range(3), n, SUBSTITUTE)
    assert found.sensitivity == Fraction(1, n)
    assert linear_queries.small_db_sensitivity(list(queries.values()), n) == pytest.approx(1 / n)


def test_queries_that_vary_less_move_less() -> None:
    assert linear_queries.small_db_sensitivity([[0.25, 0.5], [0.4, 0.6]], 10) == pytest.approx(0.025)


def test_a_score_of_one_for_the_best_hardly_chooses() -> None:
    found = two_scores({"brown": 100, "blue": 99, "green": 0}, 1.0)
    assert found.worst_by_count < 1e-20 and found.worst_by_best > 0.25
    assert found.mean_by_count > 99 > found.mean_by_best
    law = tacit.Exponential(epsilon=1).law([100, 99, 0])
    assert found.by_count["brown"] == pytest.approx(law.mass(0))
    assert found.by_best["brown"] == pytest.approx(math.exp(0.5) / (math.exp(0.5) + 2))


def test_too_large_a_universe_is_refused_with_its_size() -> None:
    with pytest.raises(BadParameter, match="at most 1,048,576 pairs are listed"):
        score_sensitivity(count, COLOURS, range(50), 10, ADD_REMOVE)
    with pytest.raises(BadParameter, match="two records or more"):
        score_sensitivity(count, COLOURS, ["brown"], 2, SUBSTITUTE)
