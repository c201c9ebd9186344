"""Laws: masses add to one, tails agree with masses, divergences with closed forms."""

import json
import math
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core.law import (
    DiscreteGaussianLaw,
    DiscreteLaplaceLaw,
    Finite,
    GeometricLaw,
    OnGrid,
    Product,
    hockey_stick,
    max_divergence,
    renyi_divergence,
)

GOLDEN = {e["id"]: e for e in json.loads((Path(__file__).parents[1] / "golden" / "golden.json").read_text())["entries"]}
scales = st.fractions(min_value=Fraction(1, 20), max_value=40, max_denominator=1000)
integer_laws = st.one_of(
    st.builds(DiscreteLaplaceLaw, scales, st.integers(-5, 5)),
    st.builds(GeometricLaw, scales, st.integers(-5, 5)),
    st.builds(DiscreteGaussianLaw, scales.map(lambda s: s * s), st.integers(-5, 5)),
)


@given(integer_laws)
@settings(max_examples=60, deadline=None)
def test_masses_add_to_one_and_tails_to_masses(law):
    points = law.support(1e-14)
    assert math.isclose(math.fsum(map(law.mass, points)), 1, rel_tol=1e-12)
    for k in (law.centre - 3, law.centre, law.centre + 1, law.centre + 7):
        above = math.fsum(law.mass(y) for y in points if y >= k)
        assert math.isclose(law.at_least(k), above, rel_tol=1e-10, abs_tol=2e-14)


@given(integer_laws, st.floats(1e-9, 0.9))
@settings(max_examples=60, deadline=None)
def test_the_tail_quantile(law, tail):
    radius = law.tail_quantile(tail)

    def beyond(t):
        low = 0.0 if isinstance(law, GeometricLaw) else 1 - law.at_least(law.centre - t)
        return low + law.at_least(law.centre + t + 1)

    assert beyond(radius) <= tail * (1 + 1e-9)
    assert radius == 0 or beyond(radius - 1) > tail * (1 - 1e-9)


def far_beyond(law, t):
    """P[|Y| > t], in many digits."""
    with mpmath.workdps(40):
        if isinstance(law, DiscreteLaplaceLaw):
            rate = mpmath.mpf(law.scale.denominator) / law.scale.numerator
            return 2 * mpmath.exp(-(t + 1) * rate) / (1 + mpmath.exp(-rate))
        weights = [mpmath.exp(-mpmath.mpf(k * k) / (2 * int(law.sigma2))) for k in range(t + 500)]
        return 2 * mpmath.fsum(weights[t + 1 :]) / (2 * mpmath.fsum(weights) - 1)


@pytest.mark.parametrize(
    "law",
    [DiscreteLaplaceLaw(Fraction(1, 3)), DiscreteLaplaceLaw(Fraction(1 << 60)), DiscreteGaussianLaw(Fraction(100))],
)
@pytest.mark.parametrize("tail", [9e-301, 1e-312, 2e-319, 5e-324])
def test_the_tail_quantile_where_floats_run_out(law, tail):
    """Never below the quantile, and above it by at most a hundredth and a step."""
    radius = law.tail_quantile(tail)
    assert far_beyond(law, radius) <= tail < far_beyond(law, int(0.99 * radius) - 1)
    assert radius >= law.tail_quantile(1e-300)


@pytest.mark.parametrize("name", [n for n in GOLDEN if n.startswith(("dlap.", "dgauss."))])
def test_golden(name):
    entry = GOLDEN[name]
    given, (family, what, *_) = entry["inputs"], name.split(".")
    law = (
        DiscreteLaplaceLaw(1 / Fraction(str(given["eps"])))
        if family == "dlap"
        else DiscreteGaussianLaw(Fraction(str(given["sigma2"])))
    )
    found = {
        "pmf": lambda: law.mass(given.get("k", given.get("n"))),
        "var": law.variance,
        "tail3": lambda: law.tail(3),
        "tail5": lambda: law.at_least(5),
        "delta": lambda: hockey_stick(DiscreteGaussianLaw(law.sigma2, 1), law, given["eps"]),
    }[what]()
    assert math.isclose(found, entry["value"], rel_tol=entry["tolerance"])


def test_a_large_gaussian_agrees_with_its_sum():
    """The midpoint rule above sigma 1000 against direct summation, within the accuracy it states."""
    law, k = DiscreteGaussianLaw(Fraction(1001**2)), np.arange(0, 15 * 1001)
    weights = np.exp(-(k.astype(float) ** 2) / (2 * 1001.0**2))
    for t in (1, 500, 1001, 3003, 8008, 12_000):
        assert math.isclose(law.at_least(t), weights[t:].sum() / law.total, rel_tol=law.tail_accuracy(t))


def test_divergences_of_coins():
    p, q = Finite({0: 0.75, 1: 0.25}), Finite({0: 0.25, 1: 0.75})
    assert math.isclose(max_divergence(p, q), math.log(3))
    assert math.isclose(hockey_stick(p, q, math.log(2)), 0.75 - 2 * 0.25)
    assert math.isclose(renyi_divergence(p, q, 2), math.log(0.75**2 / 0.25 + 0.25**2 / 0.75))
    assert max_divergence(p, Finite({0: 1.0})) == math.inf == renyi_divergence(p, Finite({0: 1.0}), 2)


def test_a_product_is_independent_and_a_grid_is_a_grid():
    law = Product((Finite({0: 0.5, 1: 0.5}), Finite({0: 0.9, 1: 0.1})))
    assert math.isclose(sum(map(law.mass, law.support(0))), 1)
    assert law.mass((1, 1)) == pytest.approx(0.05)
    grid = OnGrid(DiscreteLaplaceLaw(Fraction(3)), 0.25)
    assert grid.mass(0.25) == DiscreteLaplaceLaw(Fraction(3)).mass(1)
    assert grid.mass(0.3) == 0
