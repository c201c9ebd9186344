"""Estimates from noisy measures: right without noise, and wrong with probability beta at most, by the exact law."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.exact import from_above
from tacit.mechanisms import Gaussian, Laplace
from tacit.query.plan.accuracy import _quotient, level
from tacit.query.plan.estimators import NoisyMeasure, Recipe, Squares
from tacit.query.values.domain import ValueDomain, category, number

BETA = Fraction(1, 10)
domains = st.tuples(st.integers(-9, 9), st.integers(0, 12), st.sampled_from([Fraction(1), Fraction(1, 4), Fraction(3)]))


def recipe(kind: Any, domain: ValueDomain, centred: bool) -> Recipe:
    middle = (domain.lower + domain.upper) // 2
    parts = {"count": (0,), "sum": (0,), "mean": (0, 1)}.get(kind, (0, 1, 2))
    return Recipe(kind, parts, domain, centre=middle, shift=middle if centred else 0)


def measured(r: Recipe, values: list[int]) -> list[int]:
    """The exact measures of these values, in steps."""
    s = Squares.of(r.domain, r.centre)
    squares = [((x - r.centre) // s.coarse) ** 2 - s.middle for x in values]
    return [len(values), sum(x - r.shift for x in values), sum(squares)]


def truth(r: Recipe, values: list[int]) -> float:
    grid = float(r.domain.grid)
    match r.kind:
        case "mean":
            return float(statistics.fmean(values)) * grid
        case "variance":
            return float(statistics.pvariance(map(Fraction, values))) * grid**2
    return math.sqrt(statistics.pvariance(map(Fraction, values))) * grid


@given(kind=st.sampled_from(["mean", "variance", "deviation"]), told=domains, centred=st.booleans(), data=st.data())
def test_without_noise_the_estimate_is_the_statistic(kind: Any, told: Any, centred: bool, data: Any) -> None:
    domain = number(told[0], told[0] + told[1], told[2])
    values = data.draw(st.lists(st.integers(domain.lower, domain.upper), min_size=1, max_size=6))
    r = recipe(kind, domain, centred)
    estimate = r.estimate([NoisyMeasure(np.array([m])) for m in measured(r, values)])
    assert estimate.values[0] == pytest.approx(truth(r, values), abs=1e-6)
    assert estimate.lower[0] <= truth(r, values) + 1e-9 and truth(r, values) - 1e-9 <= estimate.upper[0]


@pytest.mark.parametrize("kind", ["mean", "variance", "deviation"])
@pytest.mark.parametrize("values", [[0, 10, 10, 3], [5], [10] * 6], ids=str)
@pytest.mark.parametrize("noise", [Laplace(scale=1), Gaussian(sigma=Fraction(3, 2))], ids=["laplace", "gaussian"])
def test_an_interval_misses_with_probability_beta_at_most(kind: Any, values: list[int], noise: Any) -> None:
    r = recipe(kind, number(0, 10), centred=True)
    exact = measured(r, values)[: len(r.parts)]
    law, reach = noise.noise(), noise.error(beta=level(BETA, len(r.parts)))
    points = np.array(list(product(law.support(1e-6), repeat=len(r.parts))))
    masses = np.prod([[law.mass(int(z)) for z in column] for column in points.T], axis=0)
    told = r.estimate([NoisyMeasure(m + points[:, i], reach) for i, m in enumerate(exact)])
    true = truth(r, values)
    missed = (told.lower > true + 1e-12) | (told.upper < true - 1e-12)
    assert masses[missed].sum() + 1e-5 <= BETA
    inside = ~np.isnan(told.values)
    assert (told.lower[inside] <= told.values[inside] + 1e-9).all()
    assert (told.values[inside] <= told.upper[inside] + 1e-9).all()


@pytest.mark.parametrize("parts", [1, 2, 7])
def test_independent_noises_share_beta(parts: int) -> None:
    assert (1 - level(BETA, parts)) ** parts == pytest.approx(0.9, rel=1e-12)


@pytest.mark.parametrize("kind", ["count", "sum"])
def test_counts_and_sums_miss_exactly_as_their_noise_does(kind: Any) -> None:
    law, reach = Laplace(scale=2).noise(), Laplace(scale=2).error(beta=BETA)
    points = np.array(law.support(1e-12))
    masses = np.array([law.mass(int(z)) for z in points])
    told = recipe(kind, number(-5, 5, Fraction(1, 4)), centred=False).estimate([NoisyMeasure(2 + points, reach)])
    true = 2.0 if kind == "count" else 0.5
    missed = masses[(told.lower > true) | (told.upper < true)].sum()
    assert missed == pytest.approx(law.tail(int(reach) + 1), rel=1e-9)
    assert missed <= BETA
    assert told.kind == ("integer" if kind == "count" else "real")
    assert kind == "sum" or (told.lower == np.minimum(np.maximum(told.lower, 0), told.values)).all()


@pytest.mark.parametrize("noise", [Laplace(scale=2), Laplace(scale=Fraction(1, 3)), Gaussian(sigma=3)], ids=repr)
@pytest.mark.parametrize("threshold", [1, 9])
def test_the_count_of_a_chosen_key_misses_with_probability_beta_at_most_if_it_is_shown(
    noise: Any, threshold: int
) -> None:
    """By the exact law, whatever the count: those far below the threshold are shown by their noise alone."""
    reach = noise.error(beta=BETA)
    for n in range(1, threshold + 4 * int(reach) + 2):
        shown = np.arange(threshold, threshold + n + 400)
        masses = np.array([noise.noise(n).mass(int(y)) for y in shown])
        told = Recipe("units", (0,), number(0, 1)).estimate([NoisyMeasure(shown, reach, threshold)])
        missed = (told.lower > n) | (told.upper < n)
        assert masses[missed].sum() <= BETA * masses.sum() * (1 + 1e-9)
        assert (told.lower >= 1).all() and (told.lower <= shown).all()


@pytest.mark.parametrize("kind", ["mean", "variance", "deviation"])
@pytest.mark.parametrize("count", [0, -7])
def test_a_count_that_is_not_positive_says_nothing(kind: Any, count: int) -> None:
    r = recipe(kind, number(-4, 10), centred=True)
    told = r.estimate(
        [NoisyMeasure(np.array([count]), 20.0), NoisyMeasure(np.array([3]), 5.0), NoisyMeasure(np.array([3]), 5.0)][
            : len(r.parts)
        ]
    )
    assert told.tolist() == [None]
    widest = {"mean": (-4, 10), "variance": (0, 49), "deviation": (0, 7)}[kind]
    assert (told.lower[0], told.upper[0]) == pytest.approx(widest)


@given(lower=st.integers(-(1 << 40), 1 << 40), width=st.integers(1, 1 << 41), data=st.data())
def test_squares_of_wide_ranges_are_coarse_and_their_interval_says_so(lower: int, width: int, data: Any) -> None:
    domain = number(lower, lower + width)
    r = recipe("deviation", domain, centred=True)
    s = Squares.of(domain, r.centre)
    assert s.largest <= 1 << 30
    values = data.draw(st.lists(st.integers(domain.lower, domain.upper), min_size=1, max_size=4))
    told = r.estimate([NoisyMeasure(np.array([m])) for m in measured(r, values)])
    assert told.lower[0] * (1 - 1e-9) - 1e-3 <= truth(r, values) <= told.upper[0] * (1 + 1e-9) + 1e-3


@given(st.integers(1 << 30, 1 << 34), st.lists(st.integers(0, 1 << 34), min_size=1, max_size=5))
def test_an_offer_knows_how_far_rounded_squares_are_off(width: int, values: list[int]) -> None:
    r = recipe("variance", number(0, width), centred=True)
    kept = [min(value, width) for value in values]
    told = r.estimate([NoisyMeasure(np.array([m])) for m in measured(r, kept)])
    _, rest, text, _ = _quotient(r, [0.0, 0.0, 0.0])
    assert abs(told.values[0] - truth(r, kept)) <= rest * (1 + 1e-9) and text.endswith(f"+ {from_above(rest)}")
    assert rest < 2.0**-13 * width**2


def test_quantiles_and_labels_are_values_of_the_domain() -> None:
    chosen = NoisyMeasure(np.array([[0, 2], [1, 3]]))
    r = Recipe("quantile", (0,), number(10, 19, Fraction(1, 2)), coarse=3, place=1)
    told = r.estimate([chosen])
    assert told.tolist() == [8.5, 9.5]
    assert (r.width, replace(r, domain=ValueDomain("date", 0, 9)).width) == ("1.5", "3 days")
    assert (told.lower[0], told.upper[0]) == (5, 9.5)
    day = Recipe("quantile", (0,), ValueDomain("date", 0, 10), coarse=1, place=0).estimate([chosen])
    assert [d.isoformat() for d in day.tolist()] == ["1970-01-01", "1970-01-02"]
    assert Recipe("top", (0,), category("x", "y", "z", "w"), place=1).estimate([chosen]).tolist() == ["z", "w"]
    either = Recipe("top", (0,), ValueDomain("boolean", 0, 1)).estimate([chosen])
    assert (either.kind, either.tolist()) == ("boolean", [False, True])


def test_whole_numbers_beyond_all_floats_keep_an_interval() -> None:
    told = Recipe("sum", (0,), number(0, 1)).estimate([NoisyMeasure(np.array([(1 << 60) + 1]), 3.0)])
    assert told.tolist() == [(1 << 60) + 1]
    assert told.lower[0] <= (1 << 60) - 2 and told.upper[0] >= (1 << 60) + 4
    wide = Recipe("sum", (0,), number(0, 1, Fraction(1000))).estimate([NoisyMeasure(np.array([1 << 60]), 3.0)])
    assert wide.kind == "real"
