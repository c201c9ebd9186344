"""Composed losses: bounds that hold the golden values, and exact laws of small compositions, on the right side."""

import json
import math
from fractions import Fraction
from itertools import product
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit import Gaussian, Laplace
from tacit.core.accounting.atoms import (
    Approximate,
    DiscreteGaussianNoise,
    DiscreteGaussianVector,
    DiscreteLaplaceNoise,
    GaussianNoise,
    KaryResponse,
    LaplaceNoise,
    RenyiCurve,
)
from tacit.core.accounting.loss import Concentrated, Loss, Pure
from tacit.core.accounting.sampled import Sampled
from tacit.core.law import DiscreteGaussianLaw, DiscreteLaplaceLaw, hockey_stick, renyi_divergence
from tacit.core.pld.composition_bounds import Sum
from tacit.core.pld.dominating_pairs import (  # fmt: skip
    BoundedRangePair,
    Coin,
    DiscreteGaussianShift,
    DiscreteLaplaceShift,
    GaussianShift,
    LaplaceShift,
    Response,
)
from tacit.core.pld.grid import sampled_gaussian, sampled_laplace

ENTRIES = json.loads((Path(__file__).parents[1] / "golden" / "golden.json").read_text())["entries"]


def exactly(x):
    return Fraction(str(x))


def times(n, atom):
    return Loss({atom: n})


def golden(*prefixes):
    return [pytest.param(e, id=e["id"]) for e in ENTRIES if e["id"].startswith(prefixes)]


@pytest.mark.parametrize("entry", golden("pld.laplace.e0"))
def test_laplace_compositions_are_bracketed(entry):
    i = entry["inputs"]
    total = Sum({LaplaceShift(i["eps0"]): i["k"]})
    lower, upper = total.lower_epsilon(i["delta"]), total.upper_epsilon(i["delta"])
    assert lower <= entry["value"] <= upper * (1 + 1e-12)
    assert upper <= entry["value"] * 1.001
    answer = times(i["k"], LaplaceNoise(exactly(i["eps0"]))).epsilon(exactly(i["delta"]))
    assert entry["value"] * (1 - 1e-9) <= answer <= entry["value"] * 1.001


@pytest.mark.parametrize("entry", golden("pld.laplace.delta"))
def test_laplace_deltas_are_bracketed(entry):
    i = entry["inputs"]
    bounds = Sum({LaplaceShift(i["eps0"]): i["k"]}).delta(i["eps"])
    assert bounds.lower <= entry["value"] <= bounds.upper
    assert bounds.upper <= entry["value"] * 1.05


@pytest.mark.parametrize("entry", golden("bracket."))
def test_golden_brackets_are_met(entry):
    i, loss = entry["inputs"], Loss()
    if "q" in i:
        loss = times(i["k"], Sampled(exactly(i["q"]), GaussianNoise(1 / exactly(i["sigma"]) ** 2)))
    elif "eps0" in i:
        loss = times(i["k"], LaplaceNoise(exactly(i["eps0"])))
    else:
        loss = sum((times(n, LaplaceNoise(exactly(e))) for e, n in i["laplace"]), loss)
        loss = sum((times(n, GaussianNoise(1 / exactly(s) ** 2)) for s, n in i["gauss"]), loss)
    found = loss.epsilon(exactly(i["delta"]))
    assert found >= entry["value"] * (1 - 1e-6) if entry["id"].endswith(".lo") else True
    assert found <= entry["value"] * 1.001 + 1e-3 if entry["id"].endswith(".hi") else True


@pytest.mark.parametrize("entry", golden("sgm.eps.q", "sgm.eps.remove"))
def test_sampled_gaussians_are_tight(entry):
    i = entry["inputs"]
    loss = times(i["k"], Sampled(exactly(i["q"]), GaussianNoise(1 / exactly(i["sigma"]) ** 2)))
    assert entry["value"] <= loss.epsilon(exactly(i["delta"])) <= entry["value"] * 1.001


@pytest.mark.parametrize("entry", golden("sgm.eps.add"))
def test_adding_to_a_sample_is_bounded_too(entry):
    i = entry["inputs"]
    _, add = sampled_gaussian(i["q"], 1 / i["sigma"], 2.0**-13)
    assert entry["value"] <= Sum({add: i["k"]}).upper_epsilon(i["delta"]) <= entry["value"] * 1.003


@pytest.mark.parametrize("entry", golden("amp."))
def test_one_sampled_step(entry):
    atom = Sampled(Fraction(1, 10), GaussianNoise(Fraction(1)))
    assert math.isclose(atom.profile(math.log1p(0.1 * math.expm1(1))), entry["value"], rel_tol=1e-9)


PAIRS = {
    "laplace": lambda i: LaplaceShift(i["eps"]),
    "rr": lambda i: Coin(i["eps"]),
    "gauss": lambda i: GaussianShift(1 / i["sigma"]),
}


@pytest.mark.parametrize("entry", golden("plrv."))
def test_moments_of_the_privacy_loss(entry):
    _, kind, moment, *_ = entry["id"].split(".")
    pair = PAIRS[kind](entry["inputs"])
    found = pair.mean if moment == "mean" else pair.variance
    assert math.isclose(found, entry["value"], rel_tol=max(entry["tolerance"], 1e-4 if pair.variance < 0.02 else 0))


PURE = [e for e in golden("comp.kov.eps", "comp.hetero") if not e.id.endswith((".adv", ".delta.e"))]


@pytest.mark.parametrize("entry", PURE)
def test_optimal_composition_of_pure_losses(entry):
    i = entry["inputs"]
    delta = exactly(i.get("delta", i.get("delta_prime")))
    epsilons = i["eps"] if isinstance(i["eps"], list) else [i["eps"]] * i["k"]
    loss = sum((times(1, Pure(exactly(e))) for e in epsilons), Loss())
    assert entry["value"] * (1 - 1e-10) <= loss.epsilon(delta) <= entry["value"] * 1.001


# exact laws, by brute force

noises = st.one_of(
    st.integers(1, 30).map(lambda e: Pure(Fraction(e, 10))),
    st.tuples(st.integers(1, 30), st.integers(2, 5)).map(lambda t: KaryResponse(Fraction(t[0], 10), t[1])),
    st.tuples(st.integers(1, 20), st.integers(1, 4)).map(lambda t: DiscreteLaplaceNoise(Fraction(t[0], 10), t[1])),
)


def losses_of(atom):
    """(loss, probability) pairs of one mechanism."""
    e = mpmath.mpf(atom.epsilon.numerator) / atom.epsilon.denominator
    if isinstance(atom, KaryResponse):
        low = 1 / (mpmath.exp(e) + atom.categories - 1)
        return [(e, mpmath.exp(e) * low), (-e, low), (mpmath.mpf(0), (atom.categories - 2) * low)]
    if isinstance(atom, DiscreteLaplaceNoise):
        d, rate = atom.shift, e / atom.shift
        q = mpmath.exp(-rate)
        inner = [((d - 2 * k) * rate, (1 - q) / (1 + q) * q**k) for k in range(1, d)]
        return [(e, 1 / (1 + q)), *inner, (-e, q**d / (1 + q))]
    return [(e, 1 / (1 + mpmath.exp(-e))), (-e, 1 / (1 + mpmath.exp(e)))]


@given(st.lists(noises, min_size=2, max_size=4), st.floats(0, 3))
@settings(max_examples=10)
def test_no_bound_is_below_the_exact_law(atoms, epsilon):
    with mpmath.workdps(30):
        truth = mpmath.mpf(0)
        for outcome in product(*map(losses_of, atoms)):
            total = sum(loss for loss, _ in outcome)
            truth += mpmath.fprod(p for _, p in outcome) * max(mpmath.mpf(0), 1 - mpmath.exp(epsilon - total))
        loss = sum((times(1, a) for a in atoms), Loss())
        claimed = loss.delta(Fraction(epsilon))
        assert claimed >= truth * (1 - mpmath.mpf(10) ** -13)
        if truth > 1e-12:
            assert loss.epsilon(Fraction(float(truth))) >= epsilon * (1 - 1e-9)
            assert epsilon < 0.1 or loss.epsilon(Fraction(float(truth))) <= epsilon * 1.01 + 0.01


@pytest.mark.parametrize(
    "pair",
    [
        Coin(0.7), BoundedRangePair(0.7), BoundedRangePair(5.0), Response(1.1, 4), LaplaceShift(0.4),
        DiscreteLaplaceShift(Fraction(5, 2), 1), DiscreteLaplaceShift(Fraction(5, 2), 4),
        GaussianShift(0.8), DiscreteGaussianShift(Fraction(1, 4), 1),
        DiscreteGaussianShift(Fraction(3), 2), DiscreteGaussianShift(Fraction(40), 5),
    ],
    ids=repr,
)  # fmt: skip
def test_transforms_are_those_of_their_moments(pair):
    """m(0) = m(-1) = 1, and derivatives at 0 are the mean and the variance."""
    h = 1e-4
    z = np.array([0, -1, h, -h], complex)
    log_m = np.array([complex(v) for v in pair.log_transform(z + 0j)])
    assert abs(np.exp(log_m[0]) - 1) < 1e-12
    assert abs(np.exp(log_m[1]) - 1) < 1e-12
    assert math.isclose(((log_m[2] - log_m[3]) / (2 * h)).real, pair.mean, rel_tol=1e-5)
    assert math.isclose(((log_m[2] + log_m[3]) / h**2).real, pair.variance, rel_tol=1e-3)


@pytest.mark.parametrize("sigma2", [Fraction(1), Fraction(2), Fraction(30)])
@pytest.mark.parametrize("shift", [1, 3])
def test_the_discrete_gaussian_transform_against_its_sum(sigma2, shift):
    z = np.array([0.3 + 0.2j, 1 + 9j, 0.5 + 200j, 0.5 - 31j])
    k = np.arange(-60, 61)
    weights = np.exp(-(k**2) / float(2 * sigma2))
    losses = (shift**2 + 2 * shift * k) / float(2 * sigma2)
    direct = np.array([(weights / weights.sum() * np.exp(x * losses)).sum() for x in z])
    found = np.exp(DiscreteGaussianShift(sigma2, shift).log_transform(z))
    at_real = np.array([(weights / weights.sum() * np.exp(x.real * losses)).sum() for x in z])
    assert (np.abs(found - direct) / at_real).max() < 1e-9


@pytest.mark.parametrize(
    ("atom", "p", "q"),
    [
        (DiscreteLaplaceNoise(Fraction(3, 2), 3), DiscreteLaplaceLaw(Fraction(2), 3), DiscreteLaplaceLaw(Fraction(2))),
        (
            DiscreteGaussianNoise(Fraction(1, 2), 2, Fraction(4)),
            DiscreteGaussianLaw(Fraction(4), 2),
            DiscreteGaussianLaw(Fraction(4)),
        ),
    ],
)
def test_atoms_of_discrete_noise_against_their_laws(atom, p, q):
    for epsilon in (0.0, 0.2, 0.7, 1.3, 2.0):
        exact = hockey_stick(p, q, epsilon)
        assert exact * (1 - 1e-12) <= atom.profile(epsilon) <= exact * (1 + 1e-9) + 1e-14
    for order in (1.5, 2.0, 8.0):
        assert renyi_divergence(p, q, order) <= atom.renyi(order) * (1 + 1e-9)


def test_sampled_lattices_dominate_in_both_directions():
    for rate, make, base in (
        (0.1, sampled_gaussian, GaussianNoise(Fraction(1))),
        (0.3, sampled_laplace, LaplaceNoise(Fraction(1))),
    ):
        remove, add = make(rate, 1.0, 2.0**-8)
        for e in np.linspace(0.001, 1.2, 40):
            removing = rate * base.profile(math.log1p(math.expm1(e) / rate))
            inner = 1 - math.exp(e) * (1 - rate)
            adding = inner * base.profile(math.log(math.exp(e) * rate / inner)) if inner > 0 else 0.0
            for lattice, exact in ((remove, removing), (add, adding)):
                x = lattice.losses
                found = float(lattice.masses @ np.maximum(0, -np.expm1(e - x))) + lattice.infinite
                assert exact * (1 - 1e-9) <= found <= exact + 1e-3
        assert abs(remove.masses.sum() + remove.infinite - 1) < 1e-9 and abs(add.masses.sum() - 1) < 1e-9


# the algebra, in every view

atoms = st.one_of(
    noises,
    st.integers(1, 20).map(lambda m: GaussianNoise(Fraction(m, 20))),
    st.integers(1, 20).map(lambda r: Concentrated(Fraction(r, 20))),
    st.integers(1, 20).map(lambda r: DiscreteGaussianVector(Fraction(r, 20), Fraction(1 + r), r)),
    st.integers(1, 20).map(lambda e: Approximate(Fraction(e, 10), Fraction(1, 10**8))),
)
sums = st.dictionaries(atoms, st.integers(1, 20), min_size=1, max_size=3).map(Loss)


@given(sums, st.sampled_from(["1e-12", "1e-6", "0.01"]))
@settings(max_examples=8)
def test_epsilon_falls_with_delta_and_grows_with_the_loss(loss, delta):
    answer = loss.epsilon(delta)
    assert answer >= loss.epsilon(exactly(delta) * 10) * (1 - 1e-9)
    assert (2 * loss).epsilon(delta) >= answer * (1 - 1e-3)
    assert loss.group(1) == loss
    assert loss.group(2).epsilon(delta) >= answer * (1 - 1e-3)


def test_ten_thousand_profiles_are_never_below_the_truth():
    """Against 50-digit arithmetic: continuous Gaussian and Laplace noise, and coins."""
    source = np.random.Generator(np.random.PCG64(5))
    with mpmath.workdps(50):
        for _ in range(3400):
            mu2, e0 = Fraction(float(source.uniform(0.001, 9))), Fraction(float(source.uniform(0.001, 5)))
            e = float(source.uniform(0, 4))
            mu = mpmath.sqrt(mpmath.mpf(mu2.numerator) / mu2.denominator)
            gauss = mpmath.ncdf(mu / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mu / 2 - e / mu)
            assert GaussianNoise(mu2).profile(e) >= gauss
            gap = mpmath.mpf(e0.numerator) / e0.denominator - e
            laplace = max(mpmath.mpf(0), -mpmath.expm1(-gap / 2))
            assert LaplaceNoise(e0).profile(e) >= laplace
            top = mpmath.exp(gap + e)
            assert Pure(e0).profile(e) >= max(mpmath.mpf(0), (top - mpmath.exp(e)) / (1 + top))


def test_the_epsilon_of_gaussian_noise_is_the_least_and_never_below_it():
    """Over seven decades of mu and forty of delta, against 60-digit arithmetic."""
    source = np.random.Generator(np.random.PCG64(6))
    with mpmath.workdps(60):
        for _ in range(500):
            size, delta = 10 ** float(source.uniform(-5, 2)), 10 ** float(source.uniform(-40, -0.3))
            epsilon, mu = GaussianNoise(Fraction(size) ** 2).epsilon_at(delta), mpmath.mpf(size)

            def exact(e, mu=mu):
                return mpmath.ncdf(mu / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mu / 2 - e / mu)

            assert exact(mpmath.mpf(epsilon)) <= delta
            assert epsilon < 1e-9 * size or exact(epsilon * (1 - mpmath.mpf("1e-6"))) > delta


@pytest.mark.parametrize("k", [1, 7, 1000, 10**6])
@pytest.mark.parametrize("delta", [1e-15, 1e-9, 0.1])
def test_any_number_of_mechanisms_at_any_delta(k, delta):
    for pair in (Coin(0.3), LaplaceShift(0.01), GaussianShift(0.05), DiscreteLaplaceShift(Fraction(50), 3)):
        total = Sum({pair: k})
        lower, upper = total.lower_epsilon(delta), total.upper_epsilon(delta)
        assert 0 <= lower <= upper <= k * pair.largest
        assert k < 1000 or upper <= lower * 1.003 + 0.01 * math.sqrt(total.variance)


def test_tiny_deltas_come_quickly_and_are_never_nothing():
    assert 0 < Gaussian(sigma=100).loss().delta(1) < 1e-300
    assert 0 < (100 * Gaussian(rho="0.01").loss()).delta(50) < 1e-100
    assert Laplace(epsilon=1).loss().delta(1) == 0


def test_a_renyi_curve_answers_with_the_next_order():
    curve = RenyiCurve(((2.0, 0.1), (8.0, 0.4)))
    assert curve.renyi(1.5) == 0.1 and curve.renyi(3) == 0.4 and curve.renyi(9) == math.inf
    assert curve.group(2).renyi(4) == pytest.approx(1.2) and curve.group(2).renyi(4) >= 1.2
