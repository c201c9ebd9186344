"""The best k against golden values, exponential mechanisms in turn, the theorem and the law."""

from __future__ import annotations

import json
import math
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.errors import BadData
from tacit.mechanisms.selection.exponential import Exponential
from tacit.mechanisms.selection.permute_and_flip import PermuteAndFlip
from tacit.mechanisms.selection.top_k import TopK

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "golden.json").read_text("utf-8"))["entries"]
scores = st.lists(st.integers(-6, 6), min_size=3, max_size=5)
selectors = st.sampled_from(["exponential", "permute-and-flip"])
RULES = {"exponential": Exponential, "permute-and-flip": PermuteAndFlip}


@pytest.mark.parametrize("entry", [e for e in GOLDEN if e["id"].startswith("topk.")], ids=lambda e: e["id"])
def test_golden_laws(entry: dict[str, Any]) -> None:
    given_ = entry["inputs"]
    order = tuple(given_["order"])
    m = TopK(k=len(order), epsilon=len(order) * given_["eps_per_peel"])
    assert m.law(given_["scores"]).mass(order) == pytest.approx(entry["value"], rel=entry["tolerance"])


@given(x=scores, k=st.integers(1, 3), selector=selectors)
def test_the_law_is_that_of_one_choice_after_another(x: list[int], k: int, selector: Any) -> None:
    law = TopK(k=k, epsilon=k, selector=selector).law(x)
    one = RULES[selector](epsilon=1)
    found = 0.0
    for order in permutations(range(len(x)), k):
        left, chance = list(range(len(x))), 1.0
        for i in order:
            chance *= one.law([x[j] for j in left]).mass(left.index(i))
            left.remove(i)
        assert law.mass(order) == pytest.approx(chance, rel=1e-12)
        found += chance
    assert found == pytest.approx(1, abs=1e-12)


@given(x=scores, d=st.integers(1, 2), k=st.integers(1, 3), selector=selectors, data=st.data())
def test_the_loss_covers_the_law(x: list[int], d: int, k: int, selector: Any, data: Any) -> None:
    v = data.draw(st.lists(st.integers(-d, d), min_size=len(x), max_size=len(x)))
    m = TopK(k=k, epsilon=2, sensitivity=d, selector=selector)
    p, q = m.law(x), m.law([a + b for a, b in zip(x, v, strict=True)])
    assert max(abs(math.log(p.mass(y) / q.mass(y))) for y in p.masses) <= 2 + 1e-9  # type: ignore[arg-type]


@given(x=scores, k=st.integers(1, 3), selector=selectors, beta=st.sampled_from(["0.3", "0.05", "0.001"]))
def test_no_pick_falls_short_of_its_place(x: list[int], k: int, selector: Any, beta: str) -> None:
    m = TopK(k=k, epsilon=6, selector=selector)
    law, allowed = m.law(x), m.error(beta=beta, candidates=len(x))
    assert math.fsum(p for y, p in law.masses.items() if m.miss(x, y) > allowed) <= float(beta)  # type: ignore[arg-type]
    assert allowed <= m.classical_error(beta, len(x))


def test_miss_compares_each_pick_with_its_place() -> None:
    m = TopK(k=2, epsilon=1)
    assert m.miss([5, 3, 9], (2, 0)) == 0
    assert m.miss([5, 3, 9], (0, 2)) == 4
    assert m.miss([5, 3, 9], (2, 1)) == 2


@pytest.mark.parametrize("selector", ["exponential", "permute-and-flip"])
def test_draws_are_distinct_and_follow_the_law(selector: Any) -> None:
    m, x, n = TopK(k=2, epsilon=2, selector=selector), np.array([3, 1, 0, 0]), 20_000
    before = x.copy()
    draws = [m.release(x) for _ in range(n)]
    assert (x == before).all()
    law = m.law(x)
    statistic = sum((draws.count(y) - n * p) ** 2 / (n * p) for y, p in law.masses.items())  # type: ignore[arg-type]
    assert statistic < 75  # P[chi2 with 11 degrees > 75] = 1e-11


def test_all_candidates_may_be_ranked_but_no_more() -> None:
    assert sorted(TopK(k=3, epsilon=1).release([1, 2, 3])) == [0, 1, 2]
    assert TopK(k=3, epsilon=1000).release([1, 3, 2]) == (1, 2, 0)
    with pytest.raises(BadData):
        TopK(k=4, epsilon=1).release([1, 2, 3])
