"""Sparse vector with Gaussian noise: its Renyi bound against its law, and against the proof's pieces."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core import law
from tacit.core.errors import BadData, BadParameter
from tacit.mechanisms.sparse_vector.gaussian_sparse import GaussianSparse, Transcripts

GOLDEN = {e["id"]: e for e in json.loads((Path(__file__).parents[1] / "golden" / "golden.json").read_text())["entries"]}


def test_golden_bound() -> None:
    entry = GOLDEN["svt.gauss.rdp"]
    given = entry["inputs"]
    m = GaussianSparse(
        threshold=0,
        queries=given["k"],
        sigma_threshold=given["sigma_threshold"],
        sigma_query=given["sigma_query"],
    )
    (atom,) = m.loss().terms
    assert atom.bound(given["alpha"]) == pytest.approx(entry["value"], rel=1e-12)
    assert atom.renyi(given["alpha"]) <= atom.bound(given["alpha"])


@pytest.mark.parametrize("sigma2", [Fraction(1, 9), Fraction(1, 2), Fraction(4)])
@pytest.mark.parametrize("shift", [1, 2, 3])
@pytest.mark.parametrize("order", [1.1, 1.5, 2, 3.7, 10])
def test_integer_shifts_of_discrete_gaussians(sigma2: Fraction, shift: int, order: float) -> None:
    """Summed in logarithms: at order a the sum is largest about (1 - a) shift, far out in both tails."""
    k = np.arange(-300, 301)
    logs = -(order * k**2 + (1 - order) * (k - shift) ** 2) / float(2 * sigma2)
    divergence = (np.logaddexp.reduce(logs) - math.log(law.DiscreteGaussianLaw(sigma2).total)) / (order - 1)
    assert divergence <= order * shift**2 / float(2 * sigma2) * (1 + 1e-12)


@pytest.mark.parametrize("count", [1, 2, 3, 9])
def test_transcripts_are_counted_exactly(count: int) -> None:
    m = GaussianSparse(threshold=0, queries=6, count=count, sigma_threshold=1, sigma_query=1)
    transcripts = set()
    for answers in product((False, True), repeat=6):
        hits = [i for i, top in enumerate(answers) if top]
        transcripts.add(tuple(hits[:count]))
    assert m.outcomes == len(transcripts) == len(m.law((0,) * 6).masses)


@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 2)), min_size=1, max_size=5),
    st.integers(1, 3),
    st.sampled_from(["0.7", "2", "5"]),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=100, deadline=None)
def test_no_neighbours_are_further_apart_than_the_bound(
    stream: list[tuple[int, int]], count: int, sigma: str, monotone: bool, flip: bool
) -> None:
    m = GaussianSparse(
        threshold=0,
        queries=len(stream),
        count=count,
        sigma_threshold=sigma,
        sigma_query=sigma,
        monotone=monotone,
    )
    x = [q for q, _ in stream]
    y = [q + (move > 0 if monotone else move - 1) for q, move in stream]
    p, q = (m.law(y), m.law(x)) if flip else (m.law(x), m.law(y))
    (atom,) = m.loss(1).terms
    for order in (1.01, 1.5, 2.0, 5.0, 20.0):
        assert law.renyi_divergence(p, q, order) <= min(atom.renyi(order), order * atom.concentrated()) + 1e-12


def test_the_bound_is_monotone_and_continuous_in_the_order() -> None:
    atom = Transcripts(Fraction(1, 50), 1001)
    orders = np.linspace(1.001, 60, 5000)
    curve = np.array([atom.renyi(a) for a in orders])
    assert (np.diff(curve) >= -1e-12).all()
    assert np.max(np.abs(np.diff(curve))) < 0.01
    assert all(atom.renyi(a) <= min(atom.bound(a), a * atom.concentrated()) * (1 + 1e-12) for a in orders)
    assert atom.pure() == math.inf
    assert atom.profile(1.0) == 1


def test_a_group_is_a_longer_shift() -> None:
    m = GaussianSparse(threshold=0, queries=10, count=2, sigma_threshold=3, sigma_query=5)
    assert m.loss(1).group(4) == m.loss(4)
    assert m.loss(0).terms == {}


def test_calibration_meets_its_target_and_hardly_more() -> None:
    m = GaussianSparse(threshold=0, queries=1000, count=5, epsilon=1, delta="1e-6")
    assert 0.999 < m.loss().epsilon("1e-6") <= 1
    assert float(m.sigma2_query / m.sigma2_threshold) == pytest.approx(2 * math.sqrt(5), rel=1e-3)
    fine = GaussianSparse(threshold=0, queries=1000, count=5, epsilon=1, delta="1e-6", sensitivity="0.5", grid="0.5")
    assert fine.sigma2_query == m.sigma2_query / 4
    cheap = GaussianSparse(threshold=0, queries=10, epsilon=80, delta="1e-3")
    assert cheap.sigma2_threshold < 1
    assert 79 < cheap.loss().epsilon("1e-3") <= 80


def test_the_calibrated_ratio_has_least_variance() -> None:
    for count in (1, 7, 100):
        best = 2 * math.sqrt(count)
        cost = {r: (1 + 4 * count / r) * (1 + r) for r in (best * 0.9, best, best * 1.1)}  # rho at equal variance
        assert min(cost, key=cost.__getitem__) == best


@pytest.mark.parametrize("beta", [0.3, 0.05, 0.001])
def test_error_holds_and_is_within_the_classical_bound(beta: float) -> None:
    m = GaussianSparse(threshold=5, queries=5, count=2, sigma_threshold=2, sigma_query=3)
    a = int(m.error(beta=beta))
    wrong = []
    for sides in product((-1, 1), repeat=5):
        x = [5 + side * (a + 1) for side in sides]
        wrong.append(math.fsum(mass for y, mass in m.law(x).masses.items() if m.miss(x, y) > a))
    assert beta / 10 < max(wrong) <= beta
    assert a <= m.classical_error(beta)


def test_large_sigmas() -> None:
    small = GaussianSparse(threshold=0, queries=100, sigma_threshold=50, sigma_query=70).error()
    large = GaussianSparse(threshold=0, queries=100, sigma_threshold=50_000, sigma_query=70_000).error()
    assert large == pytest.approx(1000 * small, rel=0.02)
    far = GaussianSparse(threshold=0, queries=9, sigma_threshold=1 << 50, sigma_query=1)
    assert far.release([0] * 9) in ((), (0,))


def test_a_stream_longer_than_the_price_is_refused() -> None:
    m = GaussianSparse(threshold=0, queries=3, sigma_threshold=1, sigma_query=1)
    with pytest.raises(BadData, match="at most 3"):
        m.release([0, 0, 0, 0])


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"sigma_threshold": 1},
        {"epsilon": 1},
        {"sigma_threshold": 1, "sigma_query": 1, "epsilon": 1, "delta": "1e-6"},
        {"sigma_threshold": 0, "sigma_query": 1},
        {"sigma_threshold": 1, "sigma_query": 1 << 51},
    ],
)
def test_bad_parameters(bad: dict) -> None:
    with pytest.raises(BadParameter):
        GaussianSparse(threshold=0, queries=10, **bad)
