"""Continual counts: what a strategy measures, how far one unit moves it, and what running totals are off by."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise
from statistics import NormalDist

import numpy as np
import pytest

from tacit.core.distance import norms
from tacit.core.errors import BadData, BadParameter, Exhausted
from tacit.core.law import DiscreteGaussianLaw, DiscreteLaplaceLaw
from tacit.mechanisms import ToeplitzCount, TreeCount
from tacit.mechanisms.continual._tails import radius
from tacit.mechanisms.continual.tree_count import depth
from tacit.testing.sources import Seeded

KINDS = {
    "toeplitz": ToeplitzCount,
    "coarse toeplitz": lambda **given: ToeplitzCount(**{"grid": "1/4", **given}),
    "binary tree": TreeCount,
    "tree of three": lambda **given: TreeCount(branches=3, **given),
    "two levels": lambda **given: TreeCount(branches=2, levels=2, **given),
    "independent": lambda **given: TreeCount(levels=1, **given),
}
every_kind = pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)


def matrix(mechanism):
    """The strategy as a matrix of integers: the measurements of every single count."""
    columns = [mechanism.exactly([int(i == j) for i in range(mechanism.periods)]) for j in range(mechanism.periods)]
    return np.array(columns, object).T


def test_the_coefficients_are_those_of_one_over_the_square_root():
    exact = [Fraction(math.comb(2 * k, k), 4**k) for k in range(300)]
    for grid in (Fraction(1, 4), Fraction(1, 1 << 16), Fraction(1, 1 << 40)):
        found = ToeplitzCount(periods=300, rho=1, grid=grid).coefficients
        assert found == tuple(math.floor(r / grid + Fraction(1, 2)) for r in exact)
        assert all(a >= b >= 0 for a, b in pairwise(found))


@every_kind
def test_no_unit_moves_the_measurements_further_than_the_price_says(make):
    """Every way to share out c counts over the periods; one of them moves as far as it is said to, in each norm."""
    mechanism = make(periods=7, rho=1, sensitivity=norms(l0=3, l1=3, linf=3))
    strategy, most = matrix(mechanism), mechanism.moves(None)
    reached = [0, 0, 0]
    for places in combinations_with_replacement(range(7), 3):
        moved = sum(strategy[:, j] for j in places)
        far = [sum(moved), sum(moved**2), max(moved)]
        assert far[0] <= most.l1 and far[1] <= most.l2_squared and far[2] <= most.linf
        assert sum(moved > 0) <= most.l0
        reached = [max(pair) for pair in zip(reached, far, strict=True)]
    assert reached == [most.l1, most.l2_squared, most.linf]


@every_kind
def test_the_price_is_that_of_the_longest_column(make):
    mechanism = make(periods=40, rho="0.3", sensitivity=2)
    longest = max(sum(column**2) for column in matrix(mechanism).T)
    assert 4 * longest / (2 * mechanism.noise.sigma2) == Fraction("0.3")
    (atom,) = mechanism.loss().terms
    assert atom.concentrated() == pytest.approx(0.3, rel=1e-12)


@every_kind
def test_what_is_measured_in_a_period_holds_no_later_count(make):
    mechanism = make(periods=9, rho=1)
    strategy = matrix(mechanism)
    for period in range(1, 9):
        assert not strategy[: mechanism.size(period), period:].any()


@every_kind
def test_without_noise_the_totals_are_exact(make):
    mechanism, x = make(periods=60, rho=1), [7 * i % 23 for i in range(60)]
    for n in (0, 1, 2, 17, 60):
        measured = mechanism.exactly(x[:n])
        assert len(measured) == mechanism.size(n)
        assert mechanism.totals(measured) == pytest.approx(np.cumsum(x[:n]), abs=1e-6)
    measured = mechanism.exactly(x)
    sliding = [sum(x[max(0, t - 5) : t]) for t in range(1, 61)]
    assert mechanism.windows(measured, 5) == pytest.approx(sliding, abs=1e-6)


@every_kind
@pytest.mark.parametrize("window", [None, 1, 4])
def test_totals_are_the_weighted_sums_whose_errors_are_stated(make, window):
    mechanism = make(periods=20, rho="0.5")
    measured = [int(v) for v in Seeded(3).words(mechanism.size(20)) % 1000]
    sums, radii = mechanism.windows(measured, window), mechanism.radii(0.1, window)
    for t in range(1, 21):
        weights = mechanism._window_weights(t, window)
        assert weights @ measured[: mechanism.size(t)] == pytest.approx(sums[t - 1], rel=1e-9)
        assert radii[t - 1] == pytest.approx(radius(mechanism.noise, weights, 0.1), rel=1e-6)
        if window is None:
            variance = sum(weights**2) * float(mechanism.noise.sigma2)
            assert mechanism.variances()[t - 1] == pytest.approx(variance, rel=1e-9)
    assert mechanism.radii(0.1, window, [3, 20]) == pytest.approx(radii[[2, 19]])


def test_estimation_from_below_is_the_best_of_a_full_tree():
    """Least squares on all that was measured of the periods of one node gives the same weights."""
    for b in (2, 3):
        mechanism = TreeCount(periods=b * b, branches=b, rho=1)
        strategy = matrix(mechanism).astype(float)
        best = np.linalg.pinv(strategy).T @ np.ones(b * b)
        assert mechanism.weights(b * b) == pytest.approx(best)


@pytest.mark.parametrize("sigma", ["0.05", "0.3", "0.8", "1", "1.7", "4", "30"])
def test_discrete_gaussians_are_within_one_step_of_continuous_ones(sigma):
    """Tails on either side of the normal's, one step away: so both can be drawn together with |Z - N| <= 1."""
    law, root = DiscreteGaussianLaw(Fraction(sigma) ** 2), math.sqrt(2) * float(sigma)
    for k in range(-60, 61):
        assert math.erfc((k + 1) / root) / 2 <= law.at_least(k) * (1 + 1e-9) + 1e-290
        assert law.at_least(k) <= math.erfc((k - 1) / root) / 2 * (1 + 1e-9) + 1e-290


def test_moments_of_discrete_laplace_noise_are_below_those_of_continuous_noise():
    for scale in (Fraction(1, 3), Fraction(1), Fraction(12)):
        law, s = DiscreteLaplaceLaw(scale), float(scale)
        for share in (0.1, 0.5, 0.9):
            x = share / s
            reach = math.ceil(30 * s / (1 - share))
            moment = math.fsum(law.mass(k) * math.exp(x * k) for k in range(-reach, reach))
            assert moment <= 1 / (1 - share**2) * (1 + 1e-9)


def spread(law, weight, reach, step):
    """The law of a weighted noise, on a grid of `step`."""
    masses = np.zeros(2 * reach + 1)
    most = int(reach * step / weight)
    for k in range(-most, most + 1):
        masses[reach + round(k * weight / step)] += law.mass(k)
    return masses


def test_a_running_total_of_laplace_noise_misses_its_radius_as_rarely_as_it_says():
    """The exact law of the fourth total of a binary tree, whose weights are 4/7, 2/7 and 1/7."""
    mechanism = TreeCount(periods=4, epsilon=3)
    assert sorted(mechanism.weights(4) * 7) == pytest.approx([1, 1, 1, 1, 2, 2, 4])
    noise, reach = mechanism.noise.noise(), 7 * 60
    law = np.ones(1)
    for weight in np.round(mechanism.weights(4) * 7):
        law = np.convolve(law, spread(noise, weight, reach, 1))
    centre = len(law) // 2
    for beta in (0.2, 0.05, 0.001):
        bound = mechanism.radii(beta)[3]
        outside = np.abs(np.arange(len(law)) - centre) / 7 > bound
        assert law[outside].sum() <= beta
        assert law[np.abs(np.arange(len(law)) - centre) / 7 > bound / 2.5].sum() > beta


def test_a_running_total_of_gaussian_noise_has_the_normal_interval():
    mechanism = ToeplitzCount(periods=100, rho="0.5")
    sigma, normal = np.sqrt(mechanism.variances()), NormalDist().inv_cdf(0.975)
    assert mechanism.radii(0.05) == pytest.approx(normal * sigma, rel=1e-3)
    assert (mechanism.radii(0.05) > normal * sigma).all()


@pytest.mark.parametrize(("periods", "factor", "least"), [(1000, 3.2650, 2.9020), (10_000, 3.9980, 3.6338)])
def test_the_square_root_is_near_the_best_of_all_factorizations(periods, factor, least):
    """At rho = 1/2 the largest deviation is the factor itself: Landau's constant, against the factorization norm."""
    found = math.sqrt(ToeplitzCount(periods=periods, rho="0.5").variances()[-1])
    assert found == pytest.approx(factor, abs=1e-4)
    r = np.cumprod(1 - 1 / (2 * np.arange(1, periods)))
    landau = 1 + float(np.sum(r**2))
    assert 1 + math.log(periods) / math.pi < landau < 1.0663 + math.log(periods) / math.pi
    assert landau * (1 - 1e-9) <= found <= landau * (1 + 1e-4)  # what rounding to the grid costs
    j = np.arange(1, periods + 1)
    assert np.mean(1 / (2 * np.sin((2 * j - 1) * math.pi / (4 * periods + 2)))) == pytest.approx(least, abs=1e-4)


@pytest.mark.parametrize("periods", [16, 100, 1000, 10_000])
def test_polylogarithmic_error_beats_independent_noise(periods):
    """sqrt(T) for independent noise; the trees and the square root stay near log T."""
    deviations = {
        name: math.sqrt(float(np.max(make(periods=periods, rho="0.5").variances()))) for name, make in KINDS.items()
    }
    assert deviations["independent"] == pytest.approx(math.sqrt(periods))
    assert (
        deviations["toeplitz"] < deviations["binary tree"] < deviations["independent"] * (1.01 if periods < 50 else 1)
    )
    assert deviations["toeplitz"] < 1.07 + math.log(periods) / math.pi
    assert deviations["binary tree"] < 0.76 * math.log2(periods) + 1


def test_a_session_gives_the_totals_of_its_stream():
    mechanism, x = ToeplitzCount(periods=12, rho=10**6), [5, 0, 3, 11, 2, 2, 0, 1, 9, 4, 4, 1]
    state, answers, source = mechanism.begin(Seeded(1)), [], Seeded(2)
    for count in x:
        state, answer = mechanism.step(state, count, source)
        answers.append(answer)
    assert state.counts == tuple(x) and state.measured == mechanism.output(answers)
    assert mechanism.totals(state.measured) == pytest.approx(np.cumsum(x), abs=0.1)
    assert mechanism.over(state) and "counts" not in repr(state)
    with pytest.raises(Exhausted, match="12 periods"):
        mechanism.step(state, 1, source)


@every_kind
def test_several_steps_at_once_measure_what_single_steps_do(make):
    """At a rho where noise is nothing but for a few steps of the grid: the exact measurements, in the same order."""
    mechanism, x = make(periods=10, rho="1e30", grid=1), [4, 0, 7, 1, 1, 9, 2, 3, 5, 8]
    one, source = mechanism.begin(Seeded(1)), Seeded(1)
    for count in x:
        one, _ = mechanism.step(one, count, source)
    some, first = mechanism.extend(mechanism.begin(source), x[:4], source)
    more, then = mechanism.extend(some, x[4:], source)
    assert one == more and (*first, *then) == tuple(mechanism.exactly(x)) == one.measured
    with pytest.raises(Exhausted):
        mechanism.extend(some, x, source)


@every_kind
def test_misses_are_as_rare_as_stated(make):
    """400 streams; of 5 % misses, 60 or more among them have a probability below 1e-12."""
    mechanism, source = make(periods=30, rho="0.5"), Seeded(5)
    truth, x = np.cumsum([3] * 30), [3] * 30
    radii, error = mechanism.radii(0.05), mechanism.error(0.05)
    off = np.abs([mechanism.totals(mechanism.sample(x, source)) - truth for _ in range(400)])
    assert (np.count_nonzero(off > radii, axis=0) < 60).all()
    assert np.count_nonzero(off.max(axis=1) > error) < 60


def test_huge_counts_do_not_wrap():
    mechanism = ToeplitzCount(periods=3, rho=1)
    measured = mechanism.sample([1 << 60, 1 << 60, 1 << 60], Seeded(1))
    assert abs(measured[0] - (1 << 76)) < 1 << 30 and measured[2] > 1 << 76


def test_a_tree_has_as_many_levels_as_its_periods_complete():
    assert [depth(n, 2) for n in (1, 2, 3, 4, 7, 8)] == [1, 2, 2, 3, 3, 4]
    assert [depth(n, 3) for n in (2, 3, 8, 9)] == [1, 2, 2, 3]
    assert depth(10, 11) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"periods": 0},
        {"periods": 1 << 18},
        {"grid": 2},
        {"grid": "0.3"},
        {"rho": None},
        {"rho": 1, "delta": "1e-6"},
        {"sensitivity": "0.5"},
    ],
)
def test_parameters_without_a_meaning_are_refused(wrong):
    for kind in (ToeplitzCount, TreeCount):
        with pytest.raises(BadParameter):
            kind(**{"periods": 4, "rho": 1, **wrong})


def test_a_tree_of_too_many_levels_is_refused():
    for wrong in ({"levels": 4}, {"levels": 0}, {"branches": 1}):
        with pytest.raises(BadParameter):
            TreeCount(periods=7, rho=1, **wrong)


def test_more_counts_than_periods_are_refused():
    with pytest.raises(BadData, match="at most one for each of 2 periods"):
        TreeCount(periods=2, rho=1).sample([1, 2, 3], Seeded(1))
