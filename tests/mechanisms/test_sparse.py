"""Sparse against its law, by hand, and against neighbours that try every way to be far apart."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core import law
from tacit.core.errors import BadParameter
from tacit.mechanisms.sparse_vector._pure_comparisons import KINDS
from tacit.mechanisms.sparse_vector.above_threshold import AboveThreshold
from tacit.mechanisms.sparse_vector.sparse import Sparse

GOLDEN = {e["id"]: e for e in json.loads((Path(__file__).parents[1] / "golden" / "golden.json").read_text())["entries"]}


def slow_law(m: Sparse, x: tuple[int, ...]) -> dict[tuple[int, ...], float]:
    """Multiply and add, one threshold noise at a time, over all strings of answers."""
    kind = law.GeometricLaw if m.noise == "exponential" else law.DiscreteLaplaceLaw
    threshold, query = kind(m.threshold_noise.scale), kind(m.query_noise.scale)
    shift = round(m.query_noise.mean - m.threshold_noise.mean)
    masses: dict[tuple[int, ...], float] = {}
    for answers in product((False, True), repeat=len(x)):
        if sum(answers[:-1]) >= m.count and any(answers[i] for i in range(len(x)) if sum(answers[:i]) >= m.count):
            continue  # the session was over
        hits = tuple(i for i, top in enumerate(answers) if top)
        reached = hits[-1] + 1 if len(hits) == m.count else len(x)
        masses[hits] = math.fsum(
            threshold.mass(z)
            * math.prod(
                query.at_least(m.threshold + z + shift - x[i])
                if i in hits
                else 1 - query.at_least(m.threshold + z + shift - x[i])
                for i in range(reached)
            )
            for z in threshold.support(1e-18)
        )
    return masses


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_law_is_that_of_the_algorithm(kind: str, count: int) -> None:
    m = Sparse(threshold=2, epsilon=2, count=count, noise=kind)
    x = (0, 3, 2, 1)
    found, slow = m.law(x), slow_law(m, x)
    assert found.masses == pytest.approx(slow, abs=1e-12)
    assert set(found.masses) == {hits for i in range(count + 1) for hits in combinations(range(4), i)}
    assert math.fsum(found.masses.values()) == pytest.approx(1, abs=1e-14)


def test_one_hit_is_above_threshold() -> None:
    x = (0, 3, 2, 1)
    one = AboveThreshold(threshold=2, epsilon=2).law(x)
    assert Sparse(threshold=2, epsilon=2, count=1).law(x).masses == {
        () if y is None else (y,): mass for y, mass in one.masses.items()
    }


streams = st.lists(st.tuples(st.integers(-4, 4), st.integers(0, 2)), min_size=1, max_size=6)


mechanisms = st.builds(
    Sparse,
    threshold=st.just(0),
    epsilon=st.sampled_from(["0.3", "1", "4"]),
    count=st.integers(1, 3),
    noise=st.sampled_from(KINDS),
    monotone=st.booleans(),
)


@given(mechanisms, streams, st.booleans())
@settings(max_examples=150, deadline=None)
def test_no_neighbours_are_further_apart_than_the_price(m: Sparse, stream: list[tuple[int, int]], flip: bool) -> None:
    x = [q for q, _ in stream]
    y = [q + (move > 0 if m.monotone else move - 1) for q, move in stream]
    p, q = (m.law(y), m.law(x)) if flip else (m.law(x), m.law(y))
    assert law.max_divergence(p, q) <= m.loss(1).epsilon() + 1e-12


def test_the_price_is_attained() -> None:
    m = Sparse(threshold=-3, epsilon=4, count=2)
    p, q = m.law((0, 0, 1, 0, 0, 1)), m.law((1, 1, 0, 1, 1, 0))
    assert law.max_divergence(p, q) == pytest.approx(4, rel=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("beta", [0.3, 0.05])
def test_error_holds_on_streams_that_mix_both_sides(kind: str, beta: float) -> None:
    m = Sparse(threshold=5, epsilon=2, count=2, noise=kind, queries=6)
    a = int(m.error(beta=beta))
    wrong = {}
    for sides in product((-1, 1), repeat=6):
        x = [5 + side * (a + 1) for side in sides]
        wrong[sides] = math.fsum(mass for y, mass in m.law(x).masses.items() if m.miss(x, y) > a)
    assert max(wrong.values()) <= beta
    assert max(wrong.values()) > beta / 3


def test_miss_looks_only_at_what_was_reached() -> None:
    m = Sparse(threshold=10, epsilon=1, count=2)
    x = (8, 13, 10, 99)
    assert m.miss(x, (1, 2)) == 0
    assert m.miss(x, (0, 2)) == 3  # 13 was passed over; 8 is only 2 below
    assert m.miss(x, (0, 1)) == 2
    assert m.miss(x, (1,)) == 89
    assert m.miss(x, (1, 3)) == 0


def test_golden_bounds_and_splits() -> None:
    entry = GOLDEN["sparse.accuracy.pure"]
    m = Sparse(threshold=0, epsilon=1, count=5, queries=1000)
    assert m.classical_error("0.05") == pytest.approx(entry["value"], rel=1e-12)
    assert m.error(beta="0.05") < entry["value"] / 2
    for name, entry in GOLDEN.items():
        if name.startswith(("svt.split.", "svt.var.")):
            given = entry["inputs"]
            m = Sparse(threshold=0, epsilon=1, count=given["c"], monotone=given["monotone"])
            found = m.split[0] if "split" in name else 2 * sum(scale**2 for scale in m.scales)
            assert float(found) == pytest.approx(entry["value"], rel=1e-3 if "split" in name else 1e-6)


@given(st.integers(1, 10**6), st.fractions(Fraction(1, 1000), 10), st.booleans())
@settings(deadline=None)
def test_the_parts_add_up_to_epsilon(count: int, epsilon: Fraction, monotone: bool) -> None:
    m = Sparse(threshold=0, epsilon=epsilon, count=count, monotone=monotone)
    assert sum(m.split) == epsilon
    assert all(part >= 0 for part in m.split)
    assert next(iter(m.loss().terms)).pure() == epsilon


def test_one_sided_noise_is_the_more_accurate() -> None:
    for count, queries in ((1, 10), (5, 1000), (50, 10**5)):
        errors = [Sparse(threshold=0, epsilon=1, count=count, queries=queries, noise=kind).error() for kind in KINDS]
        assert errors[0] < 0.98 * errors[1]


def test_a_law_of_eight_values_is_quick() -> None:
    m = Sparse(threshold=0, epsilon="0.1", count=3)
    start = perf_counter()
    m.law((0, 1, 2, 3, 0, 1, 2, 3))
    assert perf_counter() - start < 0.2


def test_a_long_stream_gives_the_first_hits() -> None:
    m = Sparse(threshold=0, epsilon=1, count=3)
    x = np.full(200_000, -(10**6))
    x[[5, 60_000, 130_000, 199_999]] = 10**6
    assert m.release(x) == (5, 60_000, 130_000)
    x[60_000] = -(10**6)
    assert m.release(x[:150_000]) == (5, 130_000)


def test_bad_counts() -> None:
    for count in (0, -1, 1.5, True):
        with pytest.raises(BadParameter):
            Sparse(threshold=0, epsilon=1, count=count)
