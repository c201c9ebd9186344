"""AboveThreshold against its law, computed a second time by hand, and against the theory it comes from."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core import law
from tacit.core.distance import ADD_REMOVE, SUBSTITUTE, norms
from tacit.core.errors import BadData, BadParameter
from tacit.mechanisms.sparse_vector._comparison_noise import (
    ComparisonNoise,
    DiscreteGaussian,
    DiscreteLaplace,
    Geometric,
)
from tacit.mechanisms.sparse_vector._comparisons import transcripts
from tacit.mechanisms.sparse_vector._pure_comparisons import KINDS
from tacit.mechanisms.sparse_vector.above_threshold import AboveThreshold
from tacit.mechanisms.sparse_vector.numeric_sparse import NumericSparse
from tacit.mechanisms.sparse_vector.restarted_sparse import RestartedSparse
from tacit.mechanisms.sparse_vector.sparse import Sparse

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "golden.json").read_text())["entries"]
AT = [e for e in GOLDEN if e["id"].startswith("at.") and not e["id"].endswith("worst_loss")]


@pytest.mark.parametrize("entry", AT, ids=lambda e: e["id"])
def test_on_a_fine_grid_the_law_is_the_continuous_one(entry: dict) -> None:
    """Steps of 2^-8 put ties and the means' rounding within 1 % of the golden values."""
    fine = 1 << 8
    given = entry["inputs"]
    kind = Geometric if given["noise"] == "exponential" else DiscreteLaplace
    threshold, query = (kind(Fraction(given[name]) * fine) for name in ("scale_threshold", "scale_query"))
    z = np.arange(threshold.interval(1e-15)[0], threshold.interval(1e-15)[1] + 1)
    found = transcripts(threshold.mass(z), z + given["T"] * fine, query, [q * fine for q in given["queries"]], 1)
    name = entry["id"].rsplit(".", 1)[1]
    hits = () if name == "none" else (int(name.removeprefix("stop")) - 1,)
    assert found[hits] == pytest.approx(entry["value"], rel=0.01)


@pytest.mark.parametrize(
    "noise", [Geometric(Fraction(5, 2)), DiscreteLaplace(Fraction(5, 2)), DiscreteGaussian(Fraction(7))]
)
def test_noise_tails_are_sums_of_masses_and_core_laws(noise: ComparisonNoise) -> None:
    core = {
        Geometric: law.GeometricLaw,
        DiscreteLaplace: law.DiscreteLaplaceLaw,
        DiscreteGaussian: law.DiscreteGaussianLaw,
    }[type(noise)](getattr(noise, "scale", None) or noise.sigma2)
    z = np.arange(-80, 81)
    masses = noise.mass(z)
    assert masses == pytest.approx([core.mass(int(k)) for k in z], rel=1e-12, abs=1e-300)
    assert noise.at_least(z) == pytest.approx(np.cumsum(masses[::-1])[::-1], abs=1e-12)
    assert noise.below(z) + noise.at_least(z) == pytest.approx(np.ones(z.size), abs=1e-12)
    assert noise.mean == pytest.approx(float(z @ masses), abs=1e-9)
    low, high = noise.interval(1e-6)
    assert math.fsum(core.mass(k) for k in range(low, high + 1)) >= 1 - 1e-6


def slow_law(m: AboveThreshold, x: tuple[int, ...]) -> dict[int | None, float]:
    """Enumerate every noise of every value."""
    kind = law.GeometricLaw if m.noise == "exponential" else law.DiscreteLaplaceLaw
    threshold, query = kind(m.threshold_noise.scale), kind(m.query_noise.scale)
    shift = 0 if m.noise == "laplace" else round(mean(query) - mean(threshold))
    masses: dict[int | None, float] = dict.fromkeys([*range(len(x)), None], 0.0)
    for z, *noises in product(threshold.support(1e-9), *[query.support(1e-9)] * len(x)):
        tops = (i for i, (q, w) in enumerate(zip(x, noises, strict=True)) if q + w >= m.threshold + z + shift)
        masses[next(tops, None)] += threshold.mass(z) * math.prod(query.mass(w) for w in noises)
    return masses


def mean(noise: law.GeometricLaw) -> float:
    return math.fsum(k * noise.mass(k) for k in noise.support(1e-12))


@pytest.mark.parametrize("kind", KINDS)
def test_the_law_is_that_of_the_algorithm(kind: str) -> None:
    m = AboveThreshold(threshold=1, epsilon=5, noise=kind)
    for x in ((0, 2), (1, 1), (3, -1)):
        found, slow = m.law(x), slow_law(m, x)
        assert {y: found.mass(y) for y in slow} == pytest.approx(slow, abs=1e-7)


streams = st.lists(st.tuples(st.integers(-4, 4), st.integers(0, 2)), min_size=1, max_size=5)


mechanisms = st.builds(
    AboveThreshold,
    threshold=st.integers(-3, 3),
    epsilon=st.sampled_from(["0.3", "1", "4"]),
    noise=st.sampled_from(KINDS),
    monotone=st.booleans(),
)


@given(mechanisms, streams, st.booleans())
@settings(max_examples=150, deadline=None)
def test_no_neighbours_are_further_apart_than_the_price(
    m: AboveThreshold, stream: list[tuple[int, int]], flip: bool
) -> None:
    """Moves are -1, 0, 1; or 0, 1 and so the same way, in either order of the neighbours."""
    x = [q for q, _ in stream]
    y = [q + (move > 0 if m.monotone else move - 1) for q, move in stream]
    p, q = (m.law(y), m.law(x)) if flip else (m.law(x), m.law(y))
    assert law.max_divergence(p, q) <= m.loss(1).epsilon() + 1e-12


def test_the_price_is_attained() -> None:
    m = AboveThreshold(threshold=-2, epsilon=3)
    p, q = m.law((0, 0, 0, 0, 1)), m.law((1, 1, 1, 1, 0))
    assert law.max_divergence(p, q) == pytest.approx(3, rel=1e-9)


def test_a_group_on_a_grid_may_be_rounded_apart() -> None:
    """One person moves a value up by 0.3, another a second value down: 2 steps each way, not 3 in all."""
    m = AboveThreshold(threshold=0, epsilon=2, sensitivity="0.3", grid="0.25", monotone=True)
    assert m.shifts() == (m.sensitivity, 2, 2)
    assert m.shifts("0.6")[1:] == (3, 4)
    p, q = m.law((0.1, 0.1, 0.4)), m.law((0.4, 0.4, 0.1))
    assert law.max_divergence(p, q) <= m.loss("0.6").epsilon()


def test_loss_follows_distance_exactly() -> None:
    m = AboveThreshold(threshold=0, epsilon="0.1", sensitivity=3)
    assert sum(m.split) == Fraction(1, 10)
    (atom,) = m.loss().terms
    assert atom.pure() == Fraction(1, 10)
    assert next(iter(m.loss(9).terms)).pure() == Fraction(3, 10)
    assert m.loss(0).terms == {}
    assert AboveThreshold(threshold=0, epsilon=1, sensitivity=ADD_REMOVE.counts(5)).loss().relation is ADD_REMOVE
    unknown = norms(l1=7, linf=2)
    assert AboveThreshold(threshold=0, epsilon=1, sensitivity=unknown).loss().epsilon() == 1


def test_substitution_moves_values_both_ways() -> None:
    with pytest.raises(BadParameter, match="substitution"):
        AboveThreshold(threshold=0, epsilon=1, sensitivity=SUBSTITUTE.counts(), monotone=True)
    same_way = AboveThreshold(threshold=0, epsilon=1, monotone=True)
    assert same_way.loss(SUBSTITUTE.counts()).epsilon() == pytest.approx(1.5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("beta", [0.3, 0.05, 0.001])
@pytest.mark.parametrize("queries", [1, 6])
def test_error_is_near_what_the_worst_streams_attain(kind: str, beta: float, queries: int) -> None:
    m = AboveThreshold(threshold=5, epsilon=1, noise=kind, queries=queries)
    a = int(m.error(beta=beta))

    def wrong(a: int) -> float:
        """The worst of streams that are all below, or begin above after so many below."""
        return max(
            missed(m, [5 - a - 1] * low + [5 + a + 1] * (queries - low), a)
            for low in range(max(0, queries - 1), queries + 1)
        )

    assert wrong(a) <= beta
    assert wrong(math.floor(0.8 * a) - 1) > 0.7 * beta


def missed(m: AboveThreshold, x: list[int], a: int) -> float:
    return math.fsum(mass for y, mass in m.law(x).masses.items() if m.miss(x, y) > a)


def test_half_for_the_threshold_is_the_textbooks_algorithm() -> None:
    m = AboveThreshold(threshold=0, epsilon="0.5", sensitivity=3, noise="laplace", bar_share="0.5")
    assert m.scales == (Fraction(12), Fraction(24)) and m.loss().epsilon() == 0.5
    assert AboveThreshold(threshold=0, epsilon=1, monotone=True, bar_share="0.25").scales == (4, Fraction(4, 3))
    assert NumericSparse(threshold=0, epsilon=9, count=2, bar_share="0.5").scales == (Fraction(1, 4), 1, 2)
    assert RestartedSparse(threshold=0, epsilon=2, count=2, noise="laplace", bar_share="0.5").each.scales == (2, 4)
    for share in ("0.01", "0.1", "0.9", "0.99"):
        for other in (AboveThreshold, partial(Sparse, count=5), partial(RestartedSparse, count=5)):
            made = other(threshold=0, epsilon=1, bar_share=share)
            assert made.error(beta="0.05") <= made.classical_error("0.05")
    for wrong in (0, 1, "2"):
        with pytest.raises(BadParameter, match="bar_share"):
            AboveThreshold(threshold=0, epsilon=1, bar_share=wrong)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", ["0.001", "0.1", "1"])
@pytest.mark.parametrize("queries", [1, 100, 10**6])
def test_error_is_within_the_classical_bound(kind: str, epsilon: str, queries: int) -> None:
    m = AboveThreshold(threshold=0, epsilon=epsilon, noise=kind, queries=queries)
    for beta in (0.3, 0.05, 1e-6):
        assert m.error(beta=beta) <= m.classical_error(beta) * 0.6
        assert m.error(beta=beta, queries=2 * queries) >= m.error(beta=beta)


def test_grouping_threshold_noise_only_rounds_the_error_up() -> None:
    """At a scale of 2^20 steps noises are grouped; the scale of 2^6 steps is exact."""
    exact = AboveThreshold(threshold=0, epsilon=1, grid="0.03125").error(beta="0.01")
    grouped = AboveThreshold(threshold=0, epsilon=1, grid=Fraction(1, 1 << 20)).error(beta="0.01")
    assert grouped == pytest.approx(exact, rel=0.02)


def test_the_cheapest_for_an_error() -> None:
    m = AboveThreshold.for_error(30, beta="0.1", threshold=7, queries=500)
    assert m.error(beta="0.1") <= 30
    assert AboveThreshold(threshold=7, epsilon=m.epsilon * Fraction(9, 10), queries=500).error(beta="0.1") > 30
    assert m.sample_size("0.01", beta="0.1") == 100 * m.error(beta="0.1")


def test_the_split_has_least_variance() -> None:
    for entry in GOLDEN:
        if entry["id"].startswith("svt.split.c1"):
            m = AboveThreshold(threshold=0, epsilon=1, monotone=entry["inputs"]["monotone"])
            assert float(m.split[0]) == pytest.approx(entry["value"], rel=1e-3)
        if entry["id"] == "svt.var.c1.monotone":
            m = AboveThreshold(threshold=0, epsilon=1, monotone=True)
            assert float(2 * sum(scale**2 for scale in m.scales)) == pytest.approx(entry["value"], rel=1e-9)


def test_a_long_stream() -> None:
    m = AboveThreshold(threshold=1000, epsilon=1)
    x = np.zeros(100_000, np.int64)
    assert m.release(x) is None
    x[77_777:] = 3000
    assert m.release(x) == 77_777
    assert m.release(x.astype(np.int32).tolist()) == 77_777


@pytest.mark.parametrize("noise", ["exponential", "laplace"])
def test_the_widest_noise_on_the_farthest_values_does_not_wrap_around(noise: str) -> None:
    """Scales are below 2^50 and the values 2^61 apart from the threshold: an error has a chance of e^-2000."""
    for side in (1, -1):
        m = AboveThreshold(threshold=side << 60, epsilon=Fraction(1, 1 << 47), noise=noise)
        assert max(m.scales) > 1 << 48
        assert m.release(np.full(100, -side << 60)) == (None if side > 0 else 0)


@pytest.mark.parametrize(
    "bad",
    [
        {"threshold": "0.5"},
        {"threshold": 1 << 61},
        {"threshold": float("nan")},
        {"epsilon": 0},
        {"epsilon": "1e-16"},
        {"sensitivity": "0.5"},
        {"sensitivity": 0},
        {"queries": 0},
        {"noise": "gumbel"},
        {"monotone": "no"},
        {"grid": "0.3"},
    ],
)
def test_bad_parameters(bad: dict) -> None:
    with pytest.raises(BadParameter):
        AboveThreshold(**{"threshold": 0, "epsilon": 1} | bad)


def test_bad_values_are_not_shown() -> None:
    m = AboveThreshold(threshold=0, epsilon=1)
    for x in ([0.123456], [[123456]], 123456, ["123456"]):
        with pytest.raises(BadData) as caught:
            m.release(x)
        assert "123456" not in str(caught.value)
