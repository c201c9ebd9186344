"""Optimised unary encoding: golden values, and why the own bit is a fair coin."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from tacit.mechanisms.local.unary_encoding import UnaryEncoding

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "golden.json").read_text())["entries"]


@pytest.mark.parametrize("entry", [e for e in GOLDEN if e["id"].startswith("oue.")], ids=lambda e: e["id"])
def test_golden(entry: dict[str, object]) -> None:
    for k in (2, 17):
        m = UnaryEncoding(epsilon=entry["inputs"]["eps"], categories=k)  # type: ignore[index]
        assert m.variance() == pytest.approx(entry["value"], rel=entry["tolerance"])


def test_a_fair_coin_has_the_least_variance() -> None:
    least = UnaryEncoding(epsilon=1, categories=5).variance()
    for i in range(1, 100):
        p = i / 100  # and q such that p (1 - q) / ((1 - p) q) = e
        q = p / (p + (1 - p) * math.e)
        assert q * (1 - q) / (p - q) ** 2 >= least * (1 - 1e-12)


def test_the_law_is_that_of_independent_bits() -> None:
    m = UnaryEncoding(epsilon=1, categories=3)
    q = 1 / (1 + math.e)
    assert m.law(1).mass((True, False, False)) == pytest.approx(q * 0.5 * (1 - q))
