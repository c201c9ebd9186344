"""Trying to break the bounds: exact laws, closed forms in fifty digits, and the algebra, in every view.  About 20 s."""

import math
import re
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpf

from tacit.core.accounting.accountants import (
    PLD,
    Advanced,
    Basic,
    GaussianDP,
    Optimal,
    Profile,
    Renyi,
    Zcdp,
)
from tacit.core.accounting.atoms import (
    DiscreteGaussianNoise,
    DiscreteGaussianVector,
    DiscreteLaplaceNoise,
    GaussianNoise,
    KaryResponse,
    LaplaceNoise,
)
from tacit.core.accounting.best_bound import VIEWS
from tacit.core.accounting.loss import Concentrated, Loss, Pure
from tacit.core.pld.composition_bounds import Sum
from tacit.core.pld.dominating_pairs import (
    Coin,
    DiscreteGaussianShift,
    DiscreteLaplaceShift,
    GaussianShift,
    LaplaceShift,
    Response,
)
from tacit.core.pld.fourier import TrapezoidalSum
from tacit.core.pld.grid import Lattice, on_grid, sampled_gaussian, sampled_laplace

mpmath.mp.dps = 50
DELTAS = (1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 0.1)
deltas = st.floats(-15, -0.5).map(lambda x: 10.0**x)
amounts = st.fractions(Fraction(1, 100), 3, max_denominator=1000)


def times(n, atom):
    return Loss({atom: n})


def exact(x):
    return mpf(x.numerator) / x.denominator if isinstance(x, Fraction) else mpf(x)


def source(seed):
    return np.random.Generator(np.random.PCG64(seed))


def coins(epsilon, n, at):
    """delta(E) of n coins: (1 + e^e)^-n sum over k of C(n, k) (e^((n - k) e) - e^(E + k e))_+."""
    e, at = exact(epsilon), exact(at)
    terms = (
        mpmath.binomial(n, k) * (mpmath.exp((n - k) * e) - mpmath.exp(at + k * e))
        for k in range(n + 1)
        if (n - 2 * k) * e > at
    )
    return mpmath.fsum(terms) / (1 + mpmath.exp(e)) ** n


def gauss(mu2, at):
    mu, at = mpmath.sqrt(exact(mu2)), exact(at)
    return mpmath.ncdf(mu / 2 - at / mu) - mpmath.exp(at) * mpmath.ncdf(-mu / 2 - at / mu)


def hockey(law, at):
    """Of a law of losses: {loss: probability}."""
    at = exact(at)
    return mpmath.fsum(p * -mpmath.expm1(at - x) for x, p in law.items() if x > at)


def convolved(laws):
    total = {mpf(0): mpf(1)}
    for law in laws:
        step: dict = {}
        for x, p in total.items():
            for y, r in law.items():
                step[x + y] = step.get(x + y, 0) + p * r
        total = step
    return total


# randomized response, exactly


@given(amounts, st.integers(2, 60), st.floats(0, 1), deltas)
@settings(max_examples=60)
def test_coins_are_never_below_the_binomial_formula(epsilon, n, share, delta):
    loss = times(n, Pure(epsilon))
    at = share * n * float(epsilon)
    truth = coins(epsilon, n, at)
    for view in (Optimal(), PLD()):
        assert truth <= view.delta(view.total(loss), at) <= truth * (1 + mpf(10) ** -7) + mpf(10) ** -12
    found = loss.epsilon(delta)
    assert coins(epsilon, n, found) <= delta
    assert found < 1e-6 or coins(epsilon, n, found * (1 - 1e-6)) > delta * (1 - 1e-9)


@pytest.mark.parametrize("n", [1000, 3000])
@pytest.mark.parametrize("delta", [1e-15, 1e-6])
def test_many_coins(n, delta):
    found = times(n, Pure(Fraction(1, 10))).epsilon(delta)
    assert coins(Fraction(1, 10), n, found) <= delta < coins(Fraction(1, 10), n, found * (1 - 1e-7))


# Gaussian noise in closed form


@given(st.fractions(Fraction(1, 10**4), 1, max_denominator=10**4), st.integers(1, 500), deltas)
@settings(max_examples=60)
def test_gaussian_compositions_are_never_below_the_closed_form(mu2, n, delta):
    loss = times(n, GaussianNoise(mu2))
    for view in (GaussianDP(), PLD(), Zcdp(), Renyi()):
        found = view.epsilon(loss, delta)
        assert gauss(n * mu2, found) <= delta
        if found > 1e-9 and isinstance(view, GaussianDP | PLD):
            slack = 1e-3 if isinstance(view, PLD) else 1e-8
            assert gauss(n * mu2, found - slack * max(found, math.sqrt(n * mu2))) > delta * (1 - 1e-6)


@given(st.fractions(Fraction(1, 10**4), 9, max_denominator=10**4), st.floats(0, 6))
@settings(max_examples=30)
def test_lines_bracket_the_closed_form(mu2, at):
    bounds, truth = Sum({GaussianShift(math.sqrt(mu2)): 1}).delta(at), gauss(mu2, at)
    assert bounds.lower <= truth * (1 + mpf(10) ** -9)
    assert truth * (1 - mpf(10) ** -9) <= bounds.upper
    assert truth < 1e-280 or bounds.upper <= truth * (1 + mpf("1e-3" if truth > 1e-100 else "0.02"))


# small discrete laws, convolved by brute force


def law_of(atom):
    e = exact(atom.epsilon)
    if isinstance(atom, KaryResponse):
        low = 1 / (mpmath.exp(e) + atom.categories - 1)
        return convolved([{e: mpmath.exp(e) * low, -e: low, mpf(0): (atom.categories - 2) * low}])
    if isinstance(atom, DiscreteLaplaceNoise):
        d, rate = atom.shift, e / atom.shift
        q = mpmath.exp(-rate)
        inner = {(d - 2 * k) * rate: (1 - q) / (1 + q) * q**k for k in range(1, d)}
        return {e: 1 / (1 + q), **inner, -e: q**d / (1 + q)}
    return {e: 1 / (1 + mpmath.exp(-e)), -e: 1 / (1 + mpmath.exp(e))}


eighths = st.integers(1, 24).map(lambda x: Fraction(x, 8))  # sums of a few of these coincide often
discrete = st.one_of(
    eighths.map(Pure),
    st.builds(KaryResponse, eighths, st.integers(3, 6)),
    st.builds(DiscreteLaplaceNoise, eighths, st.integers(1, 4)),
)


@given(st.lists(discrete, min_size=2, max_size=5), st.floats(0, 1), deltas)
@settings(max_examples=12)
def test_discrete_laws_are_bracketed(atoms, share, delta):
    loss = sum((times(1, atom) for atom in atoms), Loss())
    law = convolved(map(law_of, atoms))
    at = share * float(sum(atom.epsilon for atom in atoms))
    truth = hockey(law, at)
    (total,) = PLD().sums(loss)
    assert total.lower_delta(at) <= truth * (1 + mpf(10) ** -12)
    for view in VIEWS:
        assert view.delta(view.total(loss), at) >= truth * (1 - mpf(10) ** -12)
        assert hockey(law, view.epsilon(loss, delta)) <= delta * (1 + 1e-12)
    low = total.lower_epsilon(delta)
    assert low == 0 or hockey(law, low) >= delta * (1 - 1e-9)


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(1, 50)), min_size=2, max_size=6), st.integers(2, 5))
@settings(max_examples=40)
def test_pairs_of_fractions_on_a_grid_dominate_and_their_cells_do_not(weights, n):
    """Any two laws on the same points: grids are above their exact hockey stick, cells are below it."""
    p = [Fraction(a, sum(a for a, _ in weights)) for a, _ in weights]
    q = [Fraction(b, sum(b for _, b in weights)) for _, b in weights]
    spacing = 2.0**-6
    ratios = [math.log(a / b) for a, b in zip(p, q, strict=True)]
    first = math.floor(min(ratios) / spacing) - 1
    size = math.ceil(max(ratios) / spacing) - first + 2
    in_p, in_q = np.zeros(size), np.zeros(size)
    for a, b, x in zip(p, q, ratios, strict=True):
        in_p[math.floor(x / spacing) - first] += float(a)
        in_q[math.floor(x / spacing) - first] += float(b)
    lattice = on_grid(spacing, first, in_p, in_q, in_p - in_q * np.exp(spacing * (first + np.arange(size))))
    joint = [(Fraction(1), Fraction(1))]
    for _ in range(n):
        joint = [(a * c, b * d) for a, b in joint for c, d in zip(p, q, strict=True)] if len(joint) < 2000 else joint
    copies = round(math.log(len(joint), len(p)))
    total = Sum({lattice: copies})
    for at in (0.0, 0.1, 0.7):
        factor = Fraction(math.exp(at))
        truth = float(sum(max(Fraction(0), a - factor * b) for a, b in joint))
        assert truth * (1 - 1e-9) - 1e-15 <= total.upper_delta(at)
        assert total.lower_delta(at) <= truth * (1 + 1e-9) + 1e-15


# sampling


@pytest.mark.parametrize("make", [sampled_gaussian, sampled_laplace])
@pytest.mark.parametrize("rate", [0.01, 0.3])
def test_brackets_of_sampled_noise_close_as_the_grid_becomes_fine(make, rate):
    for way in (0, 1):
        uppers, lowers = [], []
        for spacing in (2.0**-7, 2.0**-9, 2.0**-11):
            total = Sum({make(rate, 0.8, spacing)[way]: 200})
            uppers.append(total.upper_epsilon(1e-6))
            lowers.append(total.lower_epsilon(1e-6))
            bounds = total.delta(lowers[-1])
            assert bounds.lower <= bounds.upper and bounds.upper >= 1e-6 * (1 - 1e-6)
        assert max(lowers) <= min(uppers)
        assert all(a >= b * (1 - 1e-9) for a, b in pairwise(uppers))
        assert uppers[-1] - lowers[-1] < 0.01 * uppers[-1]


@given(st.floats(0.001, 0.9), st.floats(0.2, 2), st.floats(0, 3))
@settings(max_examples=40)
def test_one_sampled_step_is_bracketed(rate, mu, at):
    """Removing: q delta(ln(1 + (e^E - 1)/q)) of the noise alone."""
    remove, _ = sampled_gaussian(rate, mu, 2.0**-8)
    truth = float(exact(rate) * gauss(mu**2, mpmath.log1p(mpmath.expm1(at) / exact(rate))))
    losses, masses = remove.inside.points
    inside = float(masses @ np.maximum(0, -np.expm1(np.minimum(at - losses, 0))))
    outside = float(remove.masses @ np.maximum(0, -np.expm1(np.minimum(at - remove.losses, 0)))) + remove.infinite
    assert inside <= truth * (1 + 1e-9) + 1e-15
    assert truth * (1 - 1e-9) <= outside


def test_a_lattice_without_cells_has_no_lower_bound():
    bare = Lattice(0.5, -1, np.array([0.3, 0.3, 0.4]), 0.0)
    assert Sum({bare: 3}).lower_epsilon(0.1) == 0 and Sum({bare: 3}).lower_delta(0.1) == 0


# conversions, in fifty digits


def test_conversions_are_never_below_the_truth():
    """2500 parameters of each of five closed forms, and a few of those that search: outward, and by little."""
    rng, tight = source(39), 1 + mpf(10) ** -9
    for i in range(2500):
        rho, e = Fraction(float(rng.uniform(1e-4, 5))), Fraction(float(rng.uniform(1e-4, 3)))
        n, delta = int(rng.integers(1, 2000)), float(10 ** rng.uniform(-15, -0.5))
        ln = -mpmath.log(exact(Fraction(delta)))
        total, square = n * exact(rho), n * exact(e) ** 2
        truth = total + 2 * mpmath.sqrt(total * ln)
        assert truth <= Zcdp().epsilon(times(n, Concentrated(rho)), delta) <= truth * tight
        truth = n * exact(e) * mpmath.tanh(exact(e) / 2) + mpmath.sqrt(2 * ln * square)
        assert truth <= Advanced().epsilon(times(n, Pure(e)), delta) <= truth * tight
        assert n * exact(e) <= Basic().epsilon(times(n, Pure(e)), delta) <= n * exact(e) * tight
        order = float(1 + 10 ** rng.uniform(-1, 2))
        a, x = exact(order), exact(e)
        truth = mpmath.log((mpmath.exp(a * x) + mpmath.exp((1 - a) * x)) / (1 + mpmath.exp(x))) / (a - 1)
        assert truth <= Pure(e).renyi(order) <= truth * tight
        truth = mpmath.log(a * mpmath.exp((a - 1) * x) + (a - 1) * mpmath.exp(-a * x)) - mpmath.log(2 * a - 1)
        assert truth / (a - 1) <= LaplaceNoise(e).renyi(order) <= truth / (a - 1) * tight + mpf(10) ** -12
        if i % 50 == 0:
            one = times(1, GaussianNoise(2 * rho))
            assert gauss(2 * rho, Profile().epsilon(one, delta)) <= delta
            found = Renyi().epsilon(times(n, Concentrated(rho)), delta)
            assert found >= _renyi(n * exact(rho), ln) * (1 - mpf(10) ** -12)


def _renyi(rho, ln):
    """The least of rho a + ln(1 - 1/a) + (ln(1/delta) - ln a) / (a - 1), by trisection in ln(a - 1)."""

    def at(x):
        a = 1 + mpmath.exp(x)
        return rho * a + mpmath.log1p(-1 / a) + (ln - mpmath.log(a)) / (a - 1)

    low, high = mpf(-7), mpf(14)
    for _ in range(120):
        third = (high - low) / 3
        low, high = (low, high - third) if at(low + third) < at(high - third) else (low + third, high)
    return max(mpf(0), at((low + high) / 2))


# near zero


@pytest.mark.parametrize(
    "pair",
    [
        Coin(0.01), Response(0.3, 4), LaplaceShift(0.1), LaplaceShift(1e-6), DiscreteLaplaceShift(Fraction(30), 2),
        GaussianShift(0.02), DiscreteGaussianShift(Fraction(100), 3), DiscreteGaussianShift(Fraction(9), 1),
    ],
    ids=repr,
)  # fmt: skip
def test_epsilon_falls_to_zero_at_the_total_variation(pair):
    total = Sum({pair: 12})
    variation = total.delta(0.0)
    assert 0 < variation.lower <= variation.upper <= variation.lower * 1.01
    assert total.upper_epsilon(variation.upper * 1.001) == 0
    deviation = math.sqrt(total.variance)
    near = total.upper_epsilon(variation.lower * 0.999)
    assert 0 < near < 0.05 * max(deviation, total.mean)
    assert total.lower_delta(near) <= variation.lower * 0.999 * (1 + 1e-9)


def test_windows_err_on_the_safe_side_whatever_their_width():
    total, at = Sum({LaplaceShift(0.5): 4}), 0.9
    lines = [TrapezoidalSum.at(total, at, None, share) for share in (0.5, 0.1, 0.02, 0.004, 2e-4)]
    uppers, lower = [line.upper(at) for line in lines], lines[-1].lower(at)
    assert all(a >= b * (1 - 1e-9) for a, b in pairwise(uppers))
    assert lower <= uppers[-1] <= lower * 1.001
    assert all(line.lower(at) <= uppers[-1] for line in lines)


# the algebra

noises = st.one_of(
    amounts.map(Pure), amounts.map(LaplaceNoise), amounts.map(GaussianNoise), amounts.map(Concentrated),
    st.builds(KaryResponse, amounts, st.integers(2, 9)), st.builds(DiscreteLaplaceNoise, amounts, st.integers(1, 5)),
    st.integers(1, 9).map(lambda s: DiscreteGaussianNoise(Fraction(1, 2 * s), 1, Fraction(s))),
    st.builds(DiscreteGaussianVector, amounts, st.integers(200, 900).map(Fraction), st.integers(1, 9)),
)  # fmt: skip
losses = st.dictionaries(noises, st.integers(1, 9), min_size=1, max_size=3).map(Loss)


@pytest.mark.parametrize("view", VIEWS, ids=lambda v: v.name)
@given(a=losses, b=losses, c=losses, n=st.integers(2, 4))
@settings(max_examples=4)
def test_every_view_keeps_the_laws_of_the_algebra(view, a, b, c, n):
    def same(x, y):
        return math.isclose(view.epsilon(x, 1e-9), view.epsilon(y, 1e-9), rel_tol=1e-9)

    assert same(a + b, b + a) and same((a + b) + c, a + (b + c))
    assert same(n * a, sum([a] * n, Loss())) and same(a.group(1), a)
    found = [view.epsilon(a, d) for d in DELTAS]
    assert all(x >= y * (1 - 1e-3) for x, y in pairwise(found))


@given(losses, deltas)
@settings(max_examples=12)
def test_no_view_is_below_a_certified_lower_bound_and_the_best_is_the_least(loss, delta):
    answers = [view.epsilon(loss, delta) for view in VIEWS]
    assert loss.epsilon(Fraction(delta)) <= min(answers) * (1 + 1e-3) + 1e-9
    lower = max((total.lower_epsilon(delta) for total in PLD().sums(loss)), default=0.0)
    assert all(answer >= lower * (1 - 1e-12) for answer in answers)


def test_closed_forms_are_asked_alone(monkeypatch):
    asked = []
    for view in VIEWS:
        kind = type(view)
        monkeypatch.setattr(
            kind, "epsilon", lambda self, *given, e=kind.epsilon: asked.append(self.name) or e(self, *given)
        )
    assert times(100, GaussianNoise(Fraction(1, 100))).epsilon("1e-6") < 5
    assert set(asked) == {"zCDP", "Gaussian"}
    asked.clear()
    assert times(1, LaplaceNoise(Fraction(1, 10))).epsilon("1e-6") < 0.1
    assert {"Renyi", "optimal", "PLD"}.isdisjoint(asked) and "profile" in asked


def test_one_mechanism_is_explained_by_its_profile():
    text = times(1, LaplaceNoise(Fraction(1))).explain("1e-6")
    rows = {line[2:20].strip(): line[20:34].strip() for line in text.splitlines()[1:]}
    assert rows["PLD"] == rows["profile"] == "0.999998" and rows["optimal"] == "0.999999"
    assert text.count("*") == 1
    text = times(1, GaussianNoise(Fraction(1))).explain("1e-6")
    assert re.search(r"optimal +inf", text) and text.count("*") == 1


@pytest.mark.parametrize("sigma2", [Fraction(1, 25), Fraction(1, 10), Fraction(1, 4), Fraction(1)])
@pytest.mark.parametrize("n", [2, 3, 13])
def test_a_few_narrow_discrete_gaussians_are_summed(sigma2, n):
    """Against the sum of n noises in fifty digits, at every gap between its losses: never below, and hardly above."""
    far, shift, s = 40, 2, mpf(sigma2.numerator) / sigma2.denominator
    weights = [mpmath.exp(-(mpf(z) ** 2) / (2 * s)) for z in range(-far, far + 1)]
    one = np.array([w / mpmath.fsum(weights) for w in weights], object)
    masses = one
    for _ in range(n - 1):
        masses = np.convolve(masses, one)
    losses = [(n * shift + 2 * (z - n * far)) * shift / (2 * s) for z in range(masses.size)]
    loss = times(n, DiscreteGaussianNoise(Fraction(shift**2) / (2 * sigma2), shift, sigma2))
    for delta in (1e-100, 1e-9, 1e-6, 1e-3, 0.1):
        epsilon = loss.epsilon(delta)

        def exact(at):
            return mpmath.fsum(m * -mpmath.expm1(at - x) for m, x in zip(masses, losses, strict=True) if x > at)

        assert exact(mpf(epsilon)) <= delta * (1 + mpf(10) ** -12)
        assert exact(mpf(epsilon) * (1 - mpf(10) ** -6)) > delta
        assert exact(mpf(epsilon) * 0.99) <= loss.delta(epsilon * 0.99) <= exact(mpf(epsilon) * 0.99) * (1 + 1e-6)
