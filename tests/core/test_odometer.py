"""Odometers: golden values, and no adversary of a few coins crosses one more often than it says."""

import json
import math
import pickle
from fractions import Fraction
from functools import cache
from pathlib import Path

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit import BadParameter, Laplace
from tacit.composition import rogers_filter, whitehouse_filter
from tacit.core.accounting.atoms import Approximate, RenyiCurve
from tacit.core.accounting.loss import Concentrated, Loss, Pure, zero
from tacit.core.accounting.odometer import Odometer, mixture

GOLDEN = {e["id"]: e for e in json.loads((Path(__file__).parents[1] / "golden" / "golden.json").read_text())["entries"]}
MP = mpmath.MPContext()
MP.dps = 50

amounts = st.fractions(min_value=Fraction(1, 10**9), max_value=10**3, max_denominator=10**9)
deltas = st.fractions(min_value=Fraction(1, 10**12), max_value=Fraction(99, 100), max_denominator=10**12)


def real(x):
    return MP.mpf(x.numerator) / x.denominator


def test_the_mixture_is_golden():
    entry = GOLDEN["odometer.mixture.V1"]
    given_ = (Fraction(str(entry["inputs"][name])) for name in ("V", "gamma", "delta"))
    assert math.isclose(mixture(*given_), entry["value"], rel_tol=entry["tolerance"])
    assert Odometer(delta="1e-6").epsilon(100 * Laplace(epsilon=0.1).loss()) <= entry["value"]


def test_the_first_filter_is_golden():
    entry = GOLDEN["filter.rogers.K.e0.1.k10"]
    epsilon, delta = entry["inputs"]["eps_g"], entry["inputs"]["delta_g"]
    k = rogers_filter([entry["inputs"]["eps"]] * entry["inputs"]["k"], limit=epsilon, delta=delta)
    assert math.isclose(k, entry["value"], rel_tol=entry["tolerance"])
    assert k > whitehouse_filter(["0.1"] * 10, delta="1e-6")


def test_the_price_of_not_naming_a_limit():
    assert round(mixture(Fraction(1), Fraction(1), Fraction("1e-6")), 2) == 8.03
    assert round(whitehouse_filter([1], delta="1e-6"), 2) == 5.76


@given(amounts, amounts, deltas)
@settings(max_examples=200, deadline=None)
def test_bounds_are_rounded_outward(variance, tuning, delta):
    v, g, d = map(real, (variance, tuning, delta))
    for bound, truth in (
        (mixture(variance, tuning, delta), MP.sqrt((v + g) * MP.log((v + g) / (g * d * d))) + v / 2),
        (whitehouse_filter([variance], delta=delta), MP.sqrt(2 * v * v * MP.log(1 / d)) + v * v / 2),
    ):
        assert truth <= bound <= truth * (1 + MP.mpf(2) ** -46)


@given(amounts, deltas.filter(lambda d: d < Fraction(1, 2)), st.fractions(Fraction(1, 10), 10))
@settings(max_examples=50, deadline=None)
def test_tuning(rho, delta, factor):
    best = Odometer.tightest(rho=rho, delta=delta)
    loss = Loss({Concentrated(rho): 1})
    assert best.epsilon(loss) <= Odometer(delta=delta, tuning=best.tuning * factor).epsilon(loss) * (1 + 1e-12)


def test_with_no_delta_it_is_the_sum():
    odometer, tenth = Odometer(), Laplace(epsilon=0.1).loss()
    assert odometer.guarantee(10 * tenth) == (1, 0) and odometer.epsilon(zero) == 0
    assert odometer.epsilon(Loss({Concentrated(Fraction(1)): 1})) == math.inf


def test_it_is_never_above_the_sum_and_counts_failures():
    odometer = Odometer(delta="1e-6")
    assert odometer.guarantee(zero) == (0, Fraction("1e-6"))
    assert odometer.epsilon(Loss({Pure(Fraction(1, 10)): 10})) == 1
    assert odometer.epsilon(Loss({Pure(Fraction(1, 100)): 10**4})) < 20
    assert odometer.guarantee(Loss({Approximate(Fraction(1), Fraction("1e-7")): 2})) == (2, Fraction("1.2e-6"))
    assert odometer.epsilon(Loss({RenyiCurve(((2.0, 0.1),)): 1})) == math.inf


@pytest.mark.parametrize("odometer", [Odometer(delta="0.5"), Odometer(delta="0.3", tuning="0.2"), Odometer()], ids=str)
@pytest.mark.parametrize("levels", [("0.5", "1"), ("0.25", "1"), ("0.1", "0.7")])
def test_no_adversary_crosses_it_more_often_than_it_says(odometer, levels):
    """The largest probability, over all plays of fourteen coins, that the realised loss is ever above the bound."""
    levels = tuple(Fraction(e) for e in levels)

    @cache
    def bound(counts):
        return odometer.epsilon(Loss({Pure(e): n for e, n in zip(levels, counts, strict=True)}))

    @cache
    def crossing(counts, loss):
        if loss > bound(counts):
            return 1.0
        best = 0.0
        for i, e in enumerate(levels if sum(counts) < 14 else ()):
            p, after = 1 / (1 + math.exp(-e)), tuple(n + (j == i) for j, n in enumerate(counts))
            best = max(best, p * crossing(after, loss + e) + (1 - p) * crossing(after, loss - e))
        return best

    found = crossing((0, 0), Fraction(0))
    assert found <= odometer.delta
    assert found > 0 or not odometer.delta


@pytest.mark.parametrize("wrong", [{"delta": 1}, {"delta": -0.1}, {"delta": 0.1, "tuning": 0}])
def test_bad_odometers(wrong):
    with pytest.raises(BadParameter):
        Odometer(**wrong)


def test_odometers_are_values():
    odometer = Odometer(delta="1e-400", tuning=2)
    assert pickle.loads(pickle.dumps(odometer)) == odometer and len({odometer, Odometer(delta="1e-400", tuning=2)}) == 1
    assert 60 < odometer.epsilon(Loss({Concentrated(Fraction(1)): 1})) < 100
