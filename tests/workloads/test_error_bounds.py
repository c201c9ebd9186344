"""Means and tails of sums of noises, against their exact laws by convolution."""

import numpy as np
import pytest
from scipy.special import ndtr

from tacit import Gaussian, Laplace
from tacit.testing.sources import Seeded
from tacit.workloads import Domain, Histogram, Price, from_matrix, marginals, method, ranges
from tacit.workloads.models.error_bounds import Spread, joined


def law(noise, terms):
    """Masses of a sum of independent noises on -R .. R."""
    far = noise.noise().tail_quantile(1e-13)
    one = np.array([noise.noise().mass(k) for k in range(-far, far + 1)])
    masses = np.ones(1)
    for _ in range(terms):
        masses = np.convolve(masses, one)
    return np.arange(masses.size) - masses.size // 2, masses


@pytest.mark.parametrize("terms", [1, 2, 3, 10, 40])
@pytest.mark.parametrize(
    "noise",
    [Laplace(epsilon=1), Laplace(epsilon="0.2"), Gaussian(rho="0.1"), Gaussian(rho="0.002"), Gaussian(rho=2)],
    ids=repr,
)
def test_sums_of_noises(noise, terms):
    values, masses = law(noise, terms)
    spread = Spread.of(noise, np.array([float(terms)]))
    assert spread.deviations[0] == pytest.approx(np.sqrt(values**2 @ masses), rel=1e-6)
    assert spread.means[0] == pytest.approx(np.abs(values) @ masses, rel=0.1)
    for beta in (0.3, 0.05, 1e-3, 1e-6):
        bound = spread.bounds(beta)[0]
        assert masses[np.abs(values) > bound].sum() <= beta
        exact = values[np.searchsorted(np.cumsum(masses), 1 - beta / 2)]
        assert bound <= 2.2 * exact + 1  # and not far above the truth


@pytest.mark.parametrize("rho", [0.00002, 0.002, 0.1, 0.4, 0.5, 0.6, 1, 2, 10, 100])
def test_a_discrete_gaussian_is_within_one_step_of_a_normal(rho):
    """P[N > m] <= P[Z >= m] <= P[N >= m - 1], which is what couples the two, as far as floats tell."""
    noise = Gaussian(rho=rho)
    sigma = noise.sigma
    for m in {1, 2, 3, *np.linspace(1, 30 * sigma, 40).astype(int).tolist()} - {0}:
        upper = noise.noise().at_least(m)
        assert ndtr(-m / sigma) * (1 - 1e-12) <= upper <= ndtr(-(m - 1) / sigma) * (1 + 1e-12)


@pytest.mark.parametrize(("rho", "within"), [("0.002", 2.3), ("0.0002", 2.1), ("0.000002", 1.98)])
def test_gaussian_noise_is_stated_nearly_as_normal_noise_is(rho, within):
    noise = Gaussian(rho=rho)
    for spread in (Spread.of(noise, np.array([9.0])), Spread.of(noise, np.array([7.3]), 1.0)):
        assert 1.96 < spread.bounds(0.05)[0] / spread.deviations[0] < within
    one = Spread.of(noise, np.ones(1))
    assert one.bounds(0.05)[0] == pytest.approx(1.96 * noise.sigma + 1, rel=1e-3)


@pytest.mark.parametrize("terms", [1, 2, 5, 30, 200])
@pytest.mark.parametrize("epsilon", [1, 3, 5, 8])
def test_means_of_sums_that_are_mostly_nothing(epsilon, terms):
    """Laplace noise exactly; Gaussian noise to an eighth, where the steps are seen."""
    for noise, within in ((Laplace(epsilon=epsilon), 0.005), (Gaussian(rho=epsilon), 0.13)):
        values, masses = law(noise, terms)
        exact = np.abs(values) @ masses
        assert Spread.of(noise, np.array([float(terms)])).means[0] == pytest.approx(exact, rel=within)
        scaled = Spread.of(noise, np.array([terms / 16]), 0.25)
        assert scaled.means[0] == pytest.approx(exact / 4, rel=within)


def test_the_number_of_terms_counts_where_coefficients_differ():
    """0.9 Z + 0.3 Z' + 0.3 Z'': nearly always at most one of the noises is not 0, and the mean is sum |a| E|Z|."""
    noise = Laplace(epsilon=9)
    spread = Spread.of(noise, np.array([0.99]), 0.9, 1.5**2 / 0.99)
    assert spread.means[0] == pytest.approx(1.5 / np.sinh(9), rel=0.01)


@pytest.mark.parametrize("parts", [(4, 1), (4, 2), (4, 1, 1, 1), (5, 3), (8, 1, 1, 1, 1, 1)])
@pytest.mark.parametrize("epsilon", ["0.3", 1, 3])
def test_one_noise_above_all_others(parts, epsilon):
    """(Z + sum of a / c of others), c the first: the bound against the exact law, on a grid of 1 / c."""
    noise = Laplace(epsilon=epsilon)
    far = noise.noise().tail_quantile(1e-13)
    one = np.array([noise.noise().mass(k) for k in range(-far, far + 1)])
    masses = np.ones(1)
    for part in parts:
        fine = np.zeros(2 * far * part + 1)
        fine[::part] = one
        masses = np.convolve(masses, fine)
    values = (np.arange(masses.size) - masses.size // 2) / parts[0]
    m = sum(part**2 for part in parts) / parts[0] ** 2
    scale, sd = float(noise.scale), np.sqrt([values**2 @ masses])
    grain = 0.5 - scale * np.log(2 - m)
    spread = Spread(
        True, sd, np.array([m * scale**2]), np.array([scale]), np.array([grain]), np.zeros(1), np.array([np.inf])
    )
    without = Spread(True, sd, spread.energies, spread.largest, np.zeros(1), np.zeros(1), spread.rates)
    for beta in (0.3, 0.05, 1e-3, 1e-6):
        assert masses[np.abs(values) > spread.bounds(beta)].sum() <= beta
        assert spread.bounds(beta) <= without.bounds(beta)
    assert spread.bounds(1e-3) < 0.9 * without.bounds(1e-3)


WIDE, LINE = Domain.of({"a": 4, "b": 2, "c": 3}), Domain.of({"x": 37})
FRACTIONAL = from_matrix(WIDE, np.random.default_rng(0).random((40, 24)))


@pytest.mark.parametrize("price", [Price.of(epsilon=4), Price.of(rho=4)], ids=str)
@pytest.mark.parametrize(
    ("name", "workload"),
    [(name, marginals(WIDE, k=2)) for name in ("histogram", "queries", "residual", "optimised")]
    + [(name, ranges(LINE)) for name in ("histogram", "queries", "hierarchy", "optimised")]
    + [("histogram", FRACTIONAL), ("queries", FRACTIONAL), ("optimised", FRACTIONAL)],
)
def test_predicted_means_hold_where_most_noises_are_nothing(name, workload, price):
    data, source = Histogram(workload.domain, np.full(workload.domain.size, 10)), Seeded(7)
    truth, runs = workload.answer(data), 120
    found = sum(np.abs(method(name).release(workload, data, price, source).answers - truth).mean() for _ in range(runs))
    assert 2 / 3 < found / runs / method(name).predict(workload, None, price).mean < 1.5


def test_the_largest_of_many_is_a_union_bound():
    noise = Laplace(epsilon=1)
    spread = joined([Spread.of(noise, np.ones(1)), Spread.of(noise, np.full(1, 4.0))], [50, 50])
    assert len(spread) == 100 and spread.worst(0.05) == spread.bounds(0.05 / 100).max()


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
@pytest.mark.parametrize("terms", [1, 3, 40])
@pytest.mark.parametrize("noise", [Laplace(epsilon=1), Gaussian(rho="0.1"), Gaussian(rho=2)], ids=repr)
def test_the_root_mean_square_of_the_largest_error_is_bounded(noise, terms, size):
    """By the exact law of the largest of independent sums, the case in which it is largest."""
    values, masses = law(noise, terms)
    within = np.cumsum(np.bincount(np.abs(values), masses)).clip(0, 1) ** size
    truth = np.sqrt(np.diff(within, prepend=0) @ np.arange(within.size) ** 2.0)
    bound = Spread.of(noise, np.array([float(terms)])).root_mean_square_of_largest(size)
    assert truth * (1 - 1e-9) <= bound <= 1.7 * truth + 0.1


def test_a_square_of_one_need_not_be_one_noise():
    """Four noises with coefficients of one half have lighter tails, but only what is proved of them is stated."""
    noise = Laplace(epsilon="0.5")
    values, masses = law(noise, 4)
    bound = Spread.of(noise, np.array([1.0]), 0.5).bounds(0.05)[0]
    assert masses[np.abs(values) / 2 > bound].sum() <= 0.05
    assert bound < Spread.of(noise, np.array([1.0]), 1.0).bounds(0.05)[0]


def test_nothing_is_stated_of_infinite_variance():
    assert np.isinf(Spread.of(Laplace(epsilon=1), np.array([np.inf]), np.array([np.inf])).bounds(0.05)).all()
