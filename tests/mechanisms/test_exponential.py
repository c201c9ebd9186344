"""The exponential mechanism against its golden values, its theorems and its own law."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.mechanisms.selection.exponential import Exponential
from tacit.testing.sources import Seeded

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "golden.json").read_text("utf-8"))["entries"]
LAWS = [e for e in GOLDEN if e["id"].startswith(("em.eye", "em.vote", "em.price")) and "sens" in e["inputs"]]
scores = st.lists(st.integers(-8, 8), min_size=2, max_size=6)


@pytest.mark.parametrize("entry", LAWS, ids=lambda e: e["id"])
def test_golden_laws(entry: dict[str, Any]) -> None:
    given_, name = entry["inputs"], entry["id"].rsplit(".", maxsplit=1)[1]
    made = {"epsilon": given_["eps"], "sensitivity": given_["sens"], "monotone": given_["monotone"]}
    if "counts" in given_:
        law = Exponential(**made).law(list(given_["counts"].values()))
        i = list(given_["counts"]).index(name)
    elif "votes" in given_:
        law, i = Exponential(**made).law(given_["votes"]), int(name[1:])
    else:
        prices, values = np.array(given_["prices"]), np.array(given_["valuations"])
        revenue = prices * (values[:, None] >= prices).sum(axis=0)
        law = Exponential(grid="0.5", **made).law(revenue)
        i = int(np.flatnonzero(revenue == given_["revenue"])[0])
        assert entry["id"].endswith(f"p{prices[i]}")
    assert law.mass(i) == pytest.approx(entry["value"], rel=entry["tolerance"])


def test_golden_utility() -> None:
    (entry,) = (e for e in GOLDEN if e["id"].startswith("em.utility"))
    m = Exponential(epsilon=entry["inputs"]["eps"])
    found = m.classical_error(entry["inputs"]["beta"], candidates=entry["inputs"]["R"])
    assert found == pytest.approx(entry["value"], rel=1e-12)
    assert m.error(beta=entry["inputs"]["beta"], candidates=entry["inputs"]["R"]) <= found


@given(x=scores, d=st.integers(1, 3), epsilon=st.sampled_from(["0.1", "1", "5"]), data=st.data())
def test_the_loss_has_bounded_range(x: list[int], d: int, epsilon: str, data: Any) -> None:
    monotone = data.draw(st.booleans())
    v = data.draw(st.lists(st.integers(0 if monotone else -d, d), min_size=len(x), max_size=len(x)))
    m = Exponential(epsilon=epsilon, sensitivity=d, monotone=monotone)
    p, q = m.law(x), m.law([a + b for a, b in zip(x, v, strict=True)])
    ratios = [math.log(p.mass(i) / q.mass(i)) for i in range(len(x))]
    assert max(ratios) - min(ratios) <= float(epsilon) + 1e-9
    assert min(ratios) <= 1e-12
    assert max(ratios) >= -1e-12


@pytest.mark.parametrize(("monotone", "y"), [(False, [1, 39]), (True, [1, 40])])
def test_the_loss_is_tight(monotone: bool, y: list[int]) -> None:
    m = Exponential(epsilon=1, monotone=monotone)
    assert math.log(m.law(y).mass(0) / m.law([0, 40]).mass(0)) == pytest.approx(1, abs=1e-7)


@given(x=scores, gap=st.integers(1, 12), unit=st.sampled_from([Fraction(1, 5), Fraction(1), Fraction(3)]))
def test_no_scores_are_worse_than_the_tail_says(x: list[int], gap: int, unit: Fraction) -> None:
    rule, gaps = Exponential.rule, max(x) - np.array(x)
    optimal = int((gaps == 0).sum())
    short = rule.masses(gaps, unit)[gaps >= gap].sum()
    for o in range(1, optimal + 1):
        assert short <= rule.tail(gap, unit, len(x), o) * (1 + 1e-12)
    worst = np.array([0] * optimal + [gap] * (len(x) - optimal))
    found = rule.masses(worst, unit)[worst > 0].sum()
    assert found == pytest.approx(rule.tail(gap, unit, len(x), optimal), rel=1e-12)


@pytest.mark.parametrize("beta", ["0.3", "0.05", "0.001", "1e-9"])
@pytest.mark.parametrize("m", [2, 3, 1000])
@pytest.mark.parametrize("epsilon", ["0.01", "1", "20"])
def test_the_error_is_the_quantile_in_closed_form(beta: str, m: int, epsilon: str) -> None:
    mechanism, b = Exponential(epsilon=epsilon), float(beta)
    steps = 2 / float(epsilon) * math.log((m - 1) * (1 - b) / b)
    assert mechanism.error(beta=beta, candidates=m) == max(0, math.ceil(steps) - 1)
    assert mechanism.error(beta=beta, candidates=m) <= mechanism.classical_error(beta, m)


@given(x=scores, epsilon=st.sampled_from(["0.1", "1", "5"]))
def test_the_mean_gap_is_within_its_bound(x: list[int], epsilon: str) -> None:
    m = Exponential(epsilon=epsilon)
    mean = math.fsum(m.law(x).mass(i) * m.miss(x, i) for i in range(len(x)))
    assert mean <= m.expected_error(len(x), x.count(max(x))) + 1e-12


def test_one_candidate_is_chosen_and_never_falls_short() -> None:
    m = Exponential(epsilon=1)
    assert m.release([7]) == 0
    assert m.error(candidates=1) == m.expected_error(1) == 0


def test_a_seeded_source_repeats_itself_and_draws_follow_the_law() -> None:
    m, x, n = Exponential(epsilon=1, monotone=True), [3, 2, 0], 20_000
    source = Seeded(1)
    counts = np.bincount([m.sample(x, source) for _ in range(n)], minlength=3)
    source = Seeded(1)
    assert (counts == np.bincount([m.sample(x, source) for _ in range(n)], minlength=3)).all()
    for scale, chi2 in ((1.0, 40.0), (0.9, math.inf)):  # P[chi2 with 2 degrees > 40] = 2e-9
        expected = n * Exponential.rule.masses(max(x) - np.array(x), m.unit * Fraction(scale))
        statistic = float(((counts - expected) ** 2 / expected).sum())
        assert (statistic < 40.0) == (chi2 == 40.0)


@given(
    beta=st.sampled_from([1e-300, 1e-9, 0.05, 0.5, 0.999999]),
    unit=st.fractions(Fraction(1, 10**9), 10**9),
    candidates=st.integers(1, 10**6),
    data=st.data(),
)
def test_the_shortfall_is_the_least(beta: float, unit: Fraction, candidates: int, data: Any) -> None:
    rule, optimal = Exponential.rule, data.draw(st.integers(1, candidates))
    found = rule.shortfall(beta, unit, candidates, optimal)
    assert rule.tail(found + 1, unit, candidates, optimal) <= beta
    assert found == 0 or rule.tail(found, unit, candidates, optimal) * (1 + 1e-11) > beta
