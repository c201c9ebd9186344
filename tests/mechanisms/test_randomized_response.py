"""Randomized response: golden values, the exact coin, and linear queries on bits."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest

from tacit.core.errors import BadParameter
from tacit.core.exact import odds
from tacit.mechanisms.local.randomized_response import RandomizedResponse
from tacit.testing.sources import Seeded
from tacit.theory import randomized_response as theory

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "golden.json").read_text())["entries"]
ENTRIES = {e["id"]: e for e in GOLDEN if e["id"].split(".")[0] in ("rr", "krr")}


@pytest.mark.parametrize("name", ENTRIES)
def test_golden(name: str) -> None:
    entry, i = ENTRIES[name], ENTRIES[name]["inputs"]
    kind = name.split(".")[1]
    if kind == "eps_from_p":
        found = i["p"] / (1 - i["p"])
        assert RandomizedResponse(epsilon=entry["value"]).chances.own == pytest.approx(found / (1 + found), rel=1e-12)
        return
    m = RandomizedResponse(epsilon=i["eps"], categories=i.get("k", 2))
    found = {
        "p": lambda: m.chances.own,
        "var": m.variance,
        "var0": m.variance,
        "var_mean": lambda: m.variance(i["n"], "0.3"),
        "hoeffding": lambda: m.classical_query_error(i["n"], i["beta"], i["Q"]),
    }[kind]()
    assert found == pytest.approx(entry["value"], rel=entry["tolerance"])


@pytest.mark.parametrize("others", [Fraction(0), Fraction(1), Fraction(7), Fraction(5, 3), Fraction(10**9)])
@pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 1000), Fraction(1), Fraction(40)])
def test_odds_encloses_its_number(x: Fraction, others: Fraction) -> None:
    with mpmath.workdps(120):
        rounding = mpmath.mpf(10) ** -40
        weight = mpmath.exp(mpmath.mpf(x.numerator) / x.denominator)
        truth = weight / (weight + mpmath.mpf(others.numerator) / others.denominator)
        for bits in (0, 1, 30, 64, 200):
            low, high = odds(x, others)(bits)
            assert low - rounding <= truth * 2**bits <= high + rounding
            assert high - low <= 6


def test_two_categories_may_be_booleans() -> None:
    m = RandomizedResponse(epsilon=2)
    bits = np.arange(1000) % 3 == 0
    reports = m.sample(bits, Seeded(5))
    assert reports.dtype == bool
    assert (reports == m.sample(bits.astype(int), Seeded(5))).all()
    assert m.sample(bits.astype(int), Seeded(5)).dtype == np.int64
    assert type(m.release(True)) is bool
    assert type(m.release(1)) is int
    assert m.frequencies(reports).sum() == pytest.approx(1)


def test_a_million_answers_are_estimated_to_within_the_error() -> None:
    m = RandomizedResponse(epsilon=1)
    bits = np.arange(10**6) % 10 < 3
    assert m.miss(bits, m.sample(bits, Seeded(2))) <= m.error(10**6, 1e-6)
    assert m.error(10**6) < 1.05 * theory.exact_error(0.05, 10**4, 1.0, 3000) / 10


def test_linear_queries_are_unbiased_and_within_their_error() -> None:
    m, n = RandomizedResponse(epsilon=1), 8
    bits = np.array([1, 0, 0, 1, 1, 0, 1, 0])
    weights = np.array([np.ones(n), np.arange(n) / 7, np.arange(n) % 2])
    truth = weights @ bits / n
    every = [np.array(y) for y in itertools.product((0, 1), repeat=n)]
    masses = [m.law(bits).mass(tuple(y.tolist())) for y in every]
    answers = np.array([m.answer(weights, y) for y in every])
    assert masses @ answers == pytest.approx(truth, rel=1e-12)
    for beta in (0.3, 0.1, 0.01):
        missed = np.abs(answers - truth).max(axis=1) > m.query_error(n, beta, queries=3)
        assert math.fsum(mass for mass, bad in zip(masses, missed, strict=True) if bad) <= beta
    assert m.answer(np.ones(n), bits == 1) == pytest.approx(m.frequencies(bits)[1])


def test_query_error_is_below_the_classical_ones() -> None:
    for epsilon, n, queries in itertools.product(("0.1", "1", "4", "9"), (1, 100, 10**6), (1, 1000)):
        m = RandomizedResponse(epsilon=epsilon)
        found = m.query_error(n, "0.05", queries)
        assert found <= m.classical_query_error(n, "0.05", queries)
        assert found <= theory.bernstein_error(0.05, n, float(epsilon), queries) * 1.001


def test_linear_queries_need_bits_and_weights_from_0_to_1() -> None:
    m = RandomizedResponse(epsilon=1)
    for weights in ([0.5], [0.5, 1.5], [-0.1, 0.5], [math.nan, 0]):
        with pytest.raises(BadParameter, match="weights"):
            m.answer(weights, [0, 1])
    three = RandomizedResponse(epsilon=1, categories=3)
    for call in (lambda: three.answer([1], [0]), three.query_error, three.classical_query_error):
        with pytest.raises(BadParameter, match="categories"):
            call()


def test_counts_of_reports_are_enough():
    m, reports = RandomizedResponse(epsilon=1, categories=3), np.array([0, 2, 2, 1, 2])
    assert m.estimate(np.bincount(reports)) == pytest.approx(m.frequencies(reports))
