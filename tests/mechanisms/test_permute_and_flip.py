"""Permute-and-flip against its golden values, its definition, its theorems and its own law."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.mechanisms.selection._rule import harmonic
from tacit.mechanisms.selection.exponential import Exponential
from tacit.mechanisms.selection.permute_and_flip import PermuteAndFlip
from tacit.testing.sources import enumerate_draws

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "golden.json").read_text("utf-8"))["entries"]
scores = st.lists(st.integers(-8, 8), min_size=2, max_size=6)


@pytest.mark.parametrize("entry", [e for e in GOLDEN if e["id"].startswith("pf.")], ids=lambda e: e["id"])
def test_golden_laws(entry: dict[str, Any]) -> None:
    given_ = entry["inputs"]
    law = PermuteAndFlip(epsilon=given_["eps"], sensitivity=given_["sens"]).law(given_["scores"])
    assert law.mass(given_["index"]) == pytest.approx(entry["value"], rel=entry["tolerance"])


def weights(x: list[int], unit: float) -> list[Fraction]:
    return [Fraction(math.exp(-(max(x) - u) * unit)) for u in x]


@given(x=scores)
def test_inclusion_and_exclusion(x: list[int]) -> None:
    w, n = weights(x, 0.5), len(x)
    law = PermuteAndFlip(epsilon=1).law(x)
    for i in range(n):
        others = [w[j] for j in range(n) if j != i]
        terms = (
            Fraction((-1) ** size, size + 1) * math.prod(chosen, start=Fraction(1))
            for size in range(n)
            for chosen in combinations(others, size)
        )
        assert law.mass(i) == pytest.approx(float(w[i] * sum(terms)), rel=1e-13)


@given(x=st.lists(st.integers(-4, 4), min_size=2, max_size=5))
def test_permuting_and_flipping_until_the_first_head(x: list[int]) -> None:
    w = weights(x, 0.5)
    masses = [Fraction(0)] * len(x)
    for order in permutations(range(len(x))):
        left = Fraction(1, math.factorial(len(x)))
        for i in order:
            masses[i] += left * w[i]
            left *= 1 - w[i]
        assert left == 0
    law = PermuteAndFlip(epsilon=1).law(x)
    assert [law.mass(i) for i in range(len(x))] == pytest.approx([float(p) for p in masses], rel=1e-13)


@pytest.mark.parametrize("x", [[0, 0], [2, 0], [1, 0, 3]])
def test_the_sampler_follows_the_law_on_every_branch(x: list[int]) -> None:
    m = PermuteAndFlip(epsilon="1.5")
    found, unresolved = enumerate_draws(lambda source: m.sample(x, source), width=3)
    law = m.law(x)
    for i in range(len(x)):
        assert float(found[i]) == pytest.approx(law.mass(i), abs=float(unresolved) + 1e-14)


@pytest.mark.parametrize("n", [1, 2, 40, 3000])
@pytest.mark.parametrize("epsilon", ["0.001", "1", "100"])
def test_the_law_of_many_candidates_sums_to_one(n: int, epsilon: str) -> None:
    masses = PermuteAndFlip.rule.masses(np.arange(n) % 50, Fraction(epsilon))
    assert math.fsum(masses) == pytest.approx(1, abs=1e-13)


def test_equals_share_equally() -> None:
    masses = PermuteAndFlip.rule.masses(np.zeros(100_000, np.int64), Fraction(1))
    assert masses == pytest.approx(np.full(100_000, 1e-5), rel=1e-12)


@given(x=scores, d=st.integers(1, 3), epsilon=st.sampled_from(["0.1", "1", "5"]), data=st.data())
def test_the_loss_covers_the_law(x: list[int], d: int, epsilon: str, data: Any) -> None:
    monotone = data.draw(st.booleans())
    v = data.draw(st.lists(st.integers(0 if monotone else -d, d), min_size=len(x), max_size=len(x)))
    m = PermuteAndFlip(epsilon=epsilon, sensitivity=d, monotone=monotone)
    p, q = m.law(x), m.law([a + b for a, b in zip(x, v, strict=True)])
    assert max(abs(math.log(p.mass(i) / q.mass(i))) for i in range(len(x))) <= float(epsilon) + 1e-9


def test_the_loss_is_tight_and_its_range_is_not_bounded() -> None:
    m = PermuteAndFlip(epsilon=1, monotone=True)
    p, q = m.law([0, 0]), m.law([0, 1])
    up, down = (math.log(p.mass(i) / q.mass(i)) for i in (0, 1))
    assert up == pytest.approx(1, abs=1e-14)
    assert up - down == pytest.approx(1 + math.log(2 - math.exp(-1)), abs=1e-14)


@given(x=scores, gap=st.integers(1, 12), unit=st.sampled_from([Fraction(1, 5), Fraction(1), Fraction(3)]))
def test_no_scores_are_worse_than_the_tail_says(x: list[int], gap: int, unit: Fraction) -> None:
    rule, gaps = PermuteAndFlip.rule, max(x) - np.array(x)
    optimal = int((gaps == 0).sum())
    short = rule.masses(gaps, unit)[gaps >= gap].sum()
    worst = np.array([0] * optimal + [gap] * (len(x) - optimal))
    found = rule.masses(worst, unit)[worst > 0].sum()
    assert found == pytest.approx(rule.tail(gap, unit, len(x), optimal), rel=1e-12)
    assert short <= rule.tail(gap, unit, len(x), 1) * (1 + 1e-12)
    assert short <= found * (1 + 1e-12)


@given(x=scores, epsilon=st.sampled_from(["0.1", "1", "5"]))
def test_the_mean_gap_is_within_its_bound_and_that_of_the_exponential_mechanism(x: list[int], epsilon: str) -> None:
    m, other = PermuteAndFlip(epsilon=epsilon), Exponential(epsilon=epsilon)
    mean, larger = (math.fsum(k.law(x).mass(i) * k.miss(x, i) for i in range(len(x))) for k in (m, other))
    assert mean <= larger + 1e-12
    assert mean <= m.expected_error(len(x), x.count(max(x))) + 1e-12


@pytest.mark.parametrize("candidates", [2, 10, 10**6])
@pytest.mark.parametrize("beta", ["0.3", "0.001"])
def test_the_error_is_no_larger_than_the_exponential_mechanism_s(candidates: int, beta: str) -> None:
    made = [kind(epsilon="0.1").error(beta=beta, candidates=candidates) for kind in (PermuteAndFlip, Exponential)]
    assert made[0] <= made[1]


def test_a_long_harmonic_sum_is_bounded_closely():
    for first, last in ((0, 10**5), (7, 10**6), (10**5, 10**6)):
        truth = math.fsum(1 / j for j in range(first + 1, last + 1))
        assert truth <= harmonic(first, last) * (1 + 1e-15) and harmonic(first, last) == pytest.approx(truth, rel=1e-9)
    assert harmonic(0, 10**18) == pytest.approx(math.log(10**18) + np.euler_gamma, rel=1e-9)
    assert harmonic(3, 3) == 0
