"""Report noisy max against its golden values, an enumeration of the noise, its theorems and its own law."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core import law
from tacit.mechanisms.selection.exponential import Exponential
from tacit.mechanisms.selection.noisy_max import LaplaceMax, NoisyMax
from tacit.mechanisms.selection.permute_and_flip import PermuteAndFlip
from tacit.testing.sources import Seeded

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "golden.json").read_text("utf-8"))["entries"]
CONTINUOUS = [e for e in GOLDEN if e["id"].startswith("rnm.") and e["inputs"].get("noise") in ("exponential", "gumbel")]
scores = st.lists(st.integers(-8, 8), min_size=2, max_size=6)
rule = LaplaceMax()


@pytest.mark.parametrize("entry", CONTINUOUS, ids=lambda e: e["id"])
def test_golden_laws(entry: dict[str, Any]) -> None:
    given_ = entry["inputs"]
    m = NoisyMax(epsilon=given_["eps"], noise=given_["noise"], monotone="monotone" in entry["id"])
    assert m.scale == Fraction(given_["scale"])
    assert m.law(given_["scores"]).mass(given_["index"]) == pytest.approx(entry["value"], rel=entry["tolerance"])


def test_continuous_noise_is_drawn_as_its_twin() -> None:
    x = [3, 2, 2]
    for noise, twin in (("gumbel", Exponential), ("exponential", PermuteAndFlip)):
        m = NoisyMax(epsilon=1, noise=noise, candidates=3)  # type: ignore[arg-type]
        other = twin(epsilon=1, candidates=3)
        assert m.law(x) == other.law(x)
        assert m.loss() == other.loss()
        assert (m.error(), m.classical_error()) == (other.error(), other.classical_error())
        one, two = Seeded(3), Seeded(3)
        assert [m.sample(x, one) for _ in range(99)] == [other.sample(x, two) for _ in range(99)]


@pytest.mark.parametrize("x", [[0, 0], [1, 0], [0, 3], [2, 0, 2], [0, 1, 1]])
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(2)])
def test_the_law_is_that_of_the_noise_with_ties_to_the_first(x: list[int], scale: Fraction) -> None:
    noise = law.DiscreteLaplaceLaw(scale)
    values = noise.support(1e-8 if len(x) == 3 else 1e-15)
    found = np.zeros(len(x))
    for zs in product(values, repeat=len(x)):
        noisy = [u + z for u, z in zip(x, zs, strict=True)]
        found[noisy.index(max(noisy))] += math.prod(noise.mass(z) for z in zs)
    assert rule.masses(max(x) - np.array(x), 1 / scale) == pytest.approx(found, abs=1e-7 if len(x) == 3 else 1e-13)


@given(x=scores, scale=st.sampled_from([Fraction(1, 100), Fraction(1), Fraction(40)]))
def test_the_law_sums_to_one(x: list[int], scale: Fraction) -> None:
    assert math.fsum(rule.masses(max(x) - np.array(x), 1 / scale)) == pytest.approx(1, abs=1e-13)


def test_a_long_table_is_summed_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    gaps, unit = np.array([0, 3, 1, 40]), Fraction(1, 3)
    whole = rule.masses(gaps, unit)
    monkeypatch.setattr("tacit.mechanisms.selection.noisy_max._CELLS", 100)
    assert rule.masses(gaps, unit) == pytest.approx(whole, rel=1e-14)


@given(x=scores, d=st.integers(1, 3), epsilon=st.sampled_from(["0.5", "1", "5"]), data=st.data())
def test_the_loss_covers_the_law(x: list[int], d: int, epsilon: str, data: Any) -> None:
    monotone = data.draw(st.booleans())
    v = data.draw(st.lists(st.integers(0 if monotone else -d, d), min_size=len(x), max_size=len(x)))
    m = NoisyMax(epsilon=epsilon, sensitivity=d, monotone=monotone)
    p, q = m.law(x), m.law([a + b for a, b in zip(x, v, strict=True)])
    assert max(abs(math.log(p.mass(i) / q.mass(i))) for i in range(len(x))) <= float(epsilon) + 1e-9


def test_the_loss_is_tight() -> None:
    """Against many equals one needs a large noise, and the ratio of two large noises is e^(range / scale)."""
    m = NoisyMax(epsilon=2, monotone=True)
    x = [0] + [30] * 3
    assert math.log(m.law([1, *x[1:]]).mass(0) / m.law(x).mass(0)) == pytest.approx(2, abs=0.05)


@given(x=scores, gap=st.integers(1, 12), scale=st.sampled_from([Fraction(1, 3), Fraction(1), Fraction(5)]))
def test_no_scores_are_worse_than_the_tail_says(x: list[int], gap: int, scale: Fraction) -> None:
    unit, gaps = 1 / scale, max(x) - np.array(x)
    optimal = int((gaps == 0).sum())
    short = rule.masses(gaps, unit)[gaps >= gap].sum()
    worst = np.array([gap] * (len(x) - optimal) + [0] * optimal)  # where ties go to the worse
    found = rule.masses(worst, unit)[worst > 0].sum()
    assert found == pytest.approx(rule.tail(gap, unit, len(x), optimal), rel=1e-11)
    assert short <= found * (1 + 1e-11)
    assert short <= rule.tail(gap, unit, len(x), 1) * (1 + 1e-11)


@pytest.mark.parametrize("optimal", [1, 3])
def test_blocks_of_a_wide_noise_err_outward_and_little(optimal: int) -> None:
    gap, scale, m = 2500, Fraction(300), 8
    worst = np.array([gap] * (m - optimal) + [0] * optimal)
    exact = rule.masses(worst, 1 / scale)[worst > 0].sum()
    assert exact <= rule.tail(gap, 1 / scale, m, optimal) <= 1.02 * exact


@pytest.mark.parametrize("scale", [2**12, 2**40, 2**59])
def test_the_error_grows_with_the_scale_and_the_classical_bound_is_above(scale: int) -> None:
    small, large = NoisyMax(epsilon=Fraction(2, 64)), NoisyMax(epsilon=Fraction(2, scale))
    ratio = large.error(candidates=100) / scale
    assert ratio == pytest.approx(small.error(candidates=100) / 64, rel=0.02)
    assert ratio * scale < large.classical_error(candidates=100)


@given(x=scores, epsilon=st.sampled_from(["0.5", "1", "5"]))
def test_the_mean_gap_is_within_its_bound(x: list[int], epsilon: str) -> None:
    m = NoisyMax(epsilon=epsilon)
    mean = math.fsum(m.law(x).mass(i) * m.miss(x, i) for i in range(len(x)))
    assert mean <= m.expected_error(len(x)) + 1e-12


def test_noise_wider_than_a_machine_word_is_added_exactly() -> None:
    m = NoisyMax(epsilon=Fraction(1, 1 << 58))
    assert {m.release([0, 1]) for _ in range(99)} == {0, 1}
    assert m.release([0] * 40) in range(40)


@pytest.mark.parametrize(("candidates", "optimal"), [(5, 1), (5, 2), (10**6 + 5, 10**6)])
@pytest.mark.parametrize("beta", ["1e-21", "1e-100", "1e-300"])
def test_errors_at_a_tiny_beta_are_the_quantile_of_the_sum(candidates: int, optimal: int, beta: str) -> None:
    """Against P[max of m - o noises >= t + 1 + max of o others], summed in many digits."""
    error = int(NoisyMax(epsilon=2, candidates=candidates).error(beta=beta, optimal=optimal))
    with mpmath.workdps(400):
        q = mpmath.exp(-1)
        most = {v: q**-v / (1 + q) if v < 0 else 1 - q ** (v + 1) / (1 + q) for v in range(-2000, 2000)}

        def falls_short(gap: int) -> Any:
            mass = {v: most[v] ** optimal - most[v - 1] ** optimal for v in range(-900, 400)}
            return mpmath.fsum(m * (1 - most[v + gap - 1] ** (candidates - optimal)) for v, m in mass.items())

        assert falls_short(error + 1) <= mpmath.mpf(beta) < falls_short(error)
