"""Subset selection: golden values, a slow law, and the size that is best."""

from __future__ import annotations

import json
import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tacit.core.errors import BadParameter
from tacit.mechanisms.local.randomized_response import RandomizedResponse
from tacit.mechanisms.local.subset_selection import SubsetSelection
from tacit.testing.sources import Seeded

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "golden.json").read_text())["entries"]


@pytest.mark.parametrize("entry", [e for e in GOLDEN if e["id"].startswith("subsel.")], ids=lambda e: e["id"])
def test_golden(entry: dict[str, Any]) -> None:
    m = SubsetSelection(epsilon=entry["inputs"]["eps"], categories=entry["inputs"]["k"])
    assert m.size == entry["inputs"]["omega"]
    found = m.chances.own if entry["id"].startswith("subsel.p.") else m.variance()
    assert found == pytest.approx(entry["value"], rel=entry["tolerance"])


@pytest.mark.parametrize(("k", "w"), [(2, 1), (4, 1), (5, 2), (6, 5)])
def test_a_set_with_the_own_category_is_e_to_the_epsilon_times_as_likely(k: int, w: int) -> None:
    law = SubsetSelection(epsilon=1, categories=k, size=w).law(1)
    weights = {y: (math.e if y[1] else 1.0) for y in product((False, True), repeat=k) if sum(y) == w}
    total = sum(weights.values())
    assert {y: law.mass(y) for y in weights} == pytest.approx({y: v / total for y, v in weights.items()})
    assert set(law.support(0)) == set(weights)


def test_sets_of_one_are_randomized_response() -> None:
    m, rr = SubsetSelection(epsilon=2, categories=7, size=1), RandomizedResponse(epsilon=2, categories=7)
    assert m.chances == pytest.approx(rr.chances)
    assert m.variance(10, "0.2") == pytest.approx(rr.variance(10, "0.2"))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.5])
def test_the_default_size_is_nearly_best(epsilon: float) -> None:
    for k in (5, 16, 61):
        variances = [SubsetSelection(epsilon=epsilon, categories=k, size=w).variance() for w in range(1, k)]
        assert SubsetSelection(epsilon=epsilon, categories=k).variance() <= 1.15 * min(variances)


def test_every_set_has_its_size() -> None:
    m = SubsetSelection(epsilon="0.5", categories=50)
    reports = m.sample(np.arange(2000) % 50, Seeded(4))
    assert (reports.sum(axis=1) == m.size).all()


def test_the_size_must_leave_something_out() -> None:
    for size in (0, 3, 4):
        with pytest.raises(BadParameter, match="size"):
            SubsetSelection(epsilon=1, categories=3, size=size)
