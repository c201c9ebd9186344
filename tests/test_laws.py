"""Divergences and post-processing as public functions."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import chain, combinations, pairwise, product

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit import ADD_REMOVE, SUBSTITUTE, laws
from tacit.core.errors import BadParameter

MASSES = st.lists(st.integers(1, 50), min_size=4, max_size=4).map(
    lambda w: {y: Fraction(x, sum(w)) for y, x in zip("abcd", w, strict=True)}
)


def events(outcomes):
    return chain.from_iterable(combinations(outcomes, r) for r in range(len(outcomes) + 1))


@given(MASSES, MASSES, st.floats(-1, 2))
def test_no_event_beats_the_hockey_stick(p, q, epsilon):
    best = max(float(sum(p[y] for y in e)) - math.exp(epsilon) * float(sum(q[y] for y in e)) for e in events("abcd"))
    assert laws.hockey_stick(p, q, epsilon) == pytest.approx(best, abs=1e-12)


@given(MASSES, MASSES)
def test_divergences_are_ordered(p, q):
    kl, renyi = laws.kl_divergence(p, q), [laws.renyi_divergence(p, q, a) for a in (1.001, 2, 10, 1000)]
    assert 0 <= kl <= renyi[0] + 1e-9
    assert all(a <= b + 1e-9 for a, b in pairwise(renyi))
    assert renyi[-1] <= laws.max_divergence(p, q) + 1e-9
    assert laws.total_variation(p, q) <= math.sqrt(kl / 2) + 1e-9  # Pinsker


@given(MASSES, MASSES, st.sampled_from([0, "1e-3", "0.05"]))
def test_indistinguishable_at_their_own_epsilon_and_not_below(p, q, delta):
    loss = tacit.losses.dominating_pair(p, q, relation=SUBSTITUTE)
    epsilon = loss.epsilon(delta)
    assert laws.indistinguishable(p, q, epsilon, delta)
    if epsilon > 1e-6:
        assert not laws.indistinguishable(p, q, epsilon * (1 - 1e-6), delta)


@given(MASSES, MASSES, st.lists(st.floats(0, 1), min_size=4, max_size=4), st.floats(0, 2))
def test_means_of_bounded_values_are_as_close_as_the_laws(p, q, values, epsilon):
    """E f(X) <= e^epsilon E f(Y) + delta for f in [0, 1]."""
    value, delta = dict(zip("abcd", values, strict=True)), laws.hockey_stick(p, q, epsilon)
    one, other = (laws.expectation(law, value.__getitem__) for law in (p, q))
    assert one <= math.exp(epsilon) * other + delta + 1e-12


@given(MASSES, MASSES, st.lists(MASSES, min_size=4, max_size=4), st.floats(0, 2))
def test_no_channel_tells_more(p, q, rows, epsilon):
    channel = dict(zip("abcd", rows, strict=True)).__getitem__
    made, other = laws.through(p, channel), laws.through(q, channel)
    assert laws.hockey_stick(made, other, epsilon) <= laws.hockey_stick(p, q, epsilon) + 1e-12


def test_a_channel_may_be_a_function():
    law = laws.through(tacit.Laplace(epsilon=1).law(3), lambda y: max(0, y))
    assert law.mass(-1) == 0 and law.mass(4) == pytest.approx(tacit.Laplace(epsilon=1).law(3).mass(4))
    assert sum(law.masses.values()) == pytest.approx(1)


def test_divergences_of_mechanisms():
    one, other = (tacit.RandomizedResponse(epsilon=1).law(x) for x in (0, 1))
    assert laws.max_divergence(one, other) == pytest.approx(1)
    assert laws.kl_divergence(one, other) == pytest.approx(math.tanh(0.5))
    assert laws.indistinguishable(one, other, 1) and not laws.indistinguishable(one, other, "0.999")
    noise = tacit.Laplace(epsilon=1)
    assert laws.indistinguishable(noise.law(0), noise.law(1), 1)
    assert laws.max_divergence({"a": 1, "b": 0}, {"a": "0.5", "b": "0.5"}) == pytest.approx(math.log(2))
    assert laws.max_divergence({"a": 1}, {"b": 1}) == laws.kl_divergence({"a": 1}, {"b": 1}) == math.inf
    assert laws.renyi_divergence({"a": 1}, {"b": 1}, 2) == math.inf


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: laws.finite({"a": "0.5", "b": "0.4"}), "The masses of a law must sum to 1; these sum to 0.9"),
        (lambda: laws.finite({}), "a mapping from outcomes"),
        (lambda: laws.finite({"a": 2, "b": -1}), "the mass of 'b' must be at least 0"),
        (lambda: laws.finite([1]), "a mapping from outcomes"),
        (lambda: laws.hockey_stick({"a": 1}, 3, 0), "q must be a law"),
        (lambda: laws.hockey_stick({"a": 1}, {"a": 1}, 1000), "between -700 and 700"),
        (lambda: laws.renyi_divergence({"a": 1}, {"a": 1}, 1), "at order 1 the divergence is kl_divergence"),
        (lambda: laws.indistinguishable({"a": 1}, {"a": 1}, -1), "epsilon must be at least 0"),
        (lambda: laws.through({"a": 1}, 3), "a function of one outcome"),
        (lambda: laws.through({"a": 1}, lambda y: [1]), "an outcome that can be hashed, or a law"),
        (lambda: laws.through({"a": 1}, lambda y: laws.Finite({1: 0.7})), "the result of the channel sum to 0.7"),
        (lambda: laws.through(laws.Finite({1: 0.7}), lambda y: y), "those of law sum to 0.7, off by -0.3"),
        (lambda: laws.hockey_stick(laws.Finite({1: math.nan}), {1: 1}, 0), "those of p sum to nan"),
        (lambda: laws.expectation({"a": 1}, lambda y: "x"), "the result of value must be a number"),
        (lambda: laws.expectation({"a": 1}, lambda y: None), "the result of value must be a number"),
        (lambda: laws.expectation({"a": 1}, lambda y: 1j), "the result of value must be a number"),
        (lambda: laws.neighbours([], 2, ADD_REMOVE), "at least one record"),
        (lambda: laws.neighbours([1], 2, None), "ADD_REMOVE or SUBSTITUTE"),
        (lambda: laws.neighbours(range(100), 9, SUBSTITUTE), "pairs of neighbouring tables of 9 records"),
    ],
)
def test_what_is_refused(call, says):
    with pytest.raises(BadParameter, match=says):
        call()


@pytest.mark.parametrize("universe", [2, 3])
@pytest.mark.parametrize("size", [1, 2, 4])
def test_neighbours_are_all_that_there_are(universe, size):
    from tacit.core.distance import count_neighbours

    tables = {tuple(sorted(t)) for n in range(size + 1) for t in product(range(universe), repeat=n)}
    added = {(x, y) for x, y in product(tables, repeat=2) if len(x) == len(y) + 1 and contains(x, y)}
    assert set(laws.neighbours(range(universe), size, ADD_REMOVE)) == added
    full = [t for t in tables if len(t) == size]
    rest = [t for t in tables if len(t) == size - 1]
    swapped = {
        (x, y) for x, y in product(full, repeat=2) if x != y and any(contains(x, t) and contains(y, t) for t in rest)
    }
    assert set(laws.neighbours(range(universe), size, SUBSTITUTE)) == swapped
    for relation, found in ((ADD_REMOVE, added), (SUBSTITUTE, swapped)):
        listed = list(laws.neighbours(range(universe), size, relation))
        assert len(listed) == count_neighbours(universe, size, relation) == len(found)


def contains(x, y):
    return all(x.count(v) >= y.count(v) for v in set(y))


def gaussian(shift, sigma=1):
    return tacit.Gaussian(sigma=sigma).law(shift)


@pytest.mark.parametrize("sigma", [1, 3, 40])
@pytest.mark.parametrize("shift", [1, 5])
def test_the_tails_of_gaussian_noise_count(shift, sigma):
    """mu = shift / sigma: D_a = a mu^2 / 2 for discrete noise too where the peak of its sum is a whole number."""
    p, q = gaussian(0, sigma), gaussian(shift, sigma)
    for order in (2, 3, 5):
        assert laws.renyi_divergence(p, q, order) == pytest.approx(order * shift**2 / (2 * sigma**2), rel=1e-9)
    assert laws.kl_divergence(p, q) == pytest.approx(shift**2 / (2 * sigma**2), rel=1e-9)
    assert laws.max_divergence(p, q) == laws.max_divergence(q, p) == math.inf
    for epsilon in (1, 9, 100):
        assert not laws.indistinguishable(p, q, epsilon)


def test_far_tails_of_gaussian_noise():
    p, q = gaussian(0), gaussian(1)
    assert laws.renyi_divergence(p, q, 10) == pytest.approx(5, rel=1e-9)
    with mpmath.workdps(40):
        masses = {k: mpmath.exp(-(mpmath.mpf(k) ** 2) / 2) for k in range(-40, 41)}
        total = mpmath.fsum(masses.values())
        for e in (0, 3, 9, 20):
            sticks = [m - mpmath.exp(e) * mpmath.exp(-(mpmath.mpf(k - 1) ** 2) / 2) for k, m in masses.items()]
            truth = mpmath.fsum(s for s in sticks if s > 0) / total
            assert laws.hockey_stick(p, q, e) == pytest.approx(float(truth), rel=1e-9)
    assert laws.indistinguishable(p, q, 9, "1e-18") and not laws.indistinguishable(p, q, 9, "1e-19")


def test_a_divergence_that_floats_cannot_hold_is_refused_or_infinite():
    with pytest.raises(BadParameter, match="too unlikely for floats"):
        laws.renyi_divergence(gaussian(0), gaussian(1), 100)
    with pytest.raises(BadParameter, match="too unlikely for floats"):  # which is infinite
        laws.renyi_divergence(tacit.Laplace(scale=3).law(0), tacit.Laplace(scale=1).law(0), 2)
    assert laws.max_divergence(gaussian(0), gaussian(60)) == math.inf


@pytest.mark.parametrize("epsilon", ["0.001", "0.1", "1", "20", "100"])
@pytest.mark.parametrize("shift", [1, 3])
def test_laplace_noise_has_an_end_to_its_divergence(epsilon, shift):
    noise = tacit.Laplace(epsilon=epsilon)
    p, q, largest = noise.law(0), noise.law(shift), shift * float(epsilon)
    assert laws.max_divergence(p, q) == pytest.approx(largest, rel=1e-9)
    assert laws.indistinguishable(p, q, largest * (1 + 1e-9)) and not laws.indistinguishable(p, q, largest * 0.999)
    assert laws.renyi_divergence(p, q, 3) <= largest * (1 + 1e-9)
    assert laws.max_divergence(tacit.Laplace(scale=3).law(0), tacit.Laplace(scale=2).law(0)) == math.inf
    assert laws.max_divergence(tacit.Laplace(scale=2).law(0), tacit.Laplace(scale=3).law(0)) < 1
