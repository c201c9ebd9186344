"""Estimates: sound at their stated confidence, near the truth, and above the claim wherever a fault was planted.

All draws are seeded.  With fresh seeds a test of soundness here would fail by chance with probability below 1e-9.
"""

import math
import time
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from tacit import BadParameter, Gaussian, Laplace, RandomizedResponse, audit
from tacit.audit import bounds
from tacit.audit.events import _lowest, read
from tacit.testing.sources import Seeded
from tacit.testing.wrong import mechanisms, sparse_vector

SURE = "0.9999999999"
ONE = Laplace(epsilon=1)
COIN = RandomizedResponse(epsilon=1)


def many(mechanism, seed=1):
    source = Seeded(seed)
    return lambda x, n: mechanism.sample(np.repeat(np.asarray(x)[None], n, axis=0), source)


def test_clopper_and_pearson_are_exact():
    for n, hits in ((10, 3), (1000, 1), (1000, 999), (50, 25)):
        for alpha in (0.05, 1e-9):
            assert binom.sf(hits - 1, n, float(bounds.at_least(hits, n, alpha))) == pytest.approx(alpha)
            assert binom.cdf(hits, n, float(bounds.at_most(hits, n, alpha))) == pytest.approx(alpha)
    assert bounds.at_least(0, 10, 0.05) == 0 and bounds.at_most(10, 10, 0.05) == 1
    assert bounds.two_samples(5, 50, 100, 0.0, 0.01) == 0


@pytest.mark.parametrize("mechanism", [ONE, COIN], ids=["laplace", "randomized response"])
def test_a_million_samples_come_near_the_truth_in_seconds(mechanism):
    start = time.perf_counter()
    found = audit.estimate(many(mechanism), 0, 1, 1_000_000, confidence=SURE, batch=True)
    assert time.perf_counter() - start < 20
    assert 0.95 <= found.epsilon <= 1
    assert not found.refutes(mechanism.loss()) and found.refutes("0.9")


def test_the_default_comes_near_too():
    assert 0.9 <= audit.estimate(many(ONE), 0, 1, batch=True).epsilon <= 1
    source = Seeded(2)
    one_by_one = audit.estimate(lambda x: ONE.sample(x, source), 0, 1, 4000)
    assert one_by_one.epsilon >= 0.6 and one_by_one.trials == 2000


@pytest.mark.parametrize(
    ("mechanism", "y", "truth", "runs"),
    [(ONE, 0, 0.0, 300), (COIN, 1, 1.0, 150), (Laplace(epsilon=1, grid=2.0**-30), 1, 1.0, 150)],
    ids=["equal", "coin", "grid"],
)
def test_it_errs_no_oftener_than_it_says(mechanism, y, truth, runs):
    """At confidence 0.8, on laws whose epsilon is known.  Were events chosen by what tests them, this would fail."""
    run = many(mechanism, seed=5)
    wrong_ones = sum(audit.estimate(run, 0, y, 200, confidence="0.8", batch=True).epsilon > truth for _ in range(runs))
    assert binom.sf(wrong_ones - 1, runs, 0.2) > 1e-9


def test_delta_is_taken_off():
    m = Gaussian(rho="0.5")
    for delta in ("0.01", "0.1"):
        found = audit.estimate(many(m), 0, 1, 400_000, delta=delta, confidence=SURE, batch=True)
        truth = audit.exact(m, 0, 1).epsilon(delta)
        assert 0.8 * truth <= found.epsilon <= truth


def test_half_the_noise_is_found():
    found = audit.estimate(many(mechanisms.HalfNoise(epsilon=1)), 0, 1, 20_000, confidence=SURE, batch=True)
    assert found.refutes(ONE.loss()) and found.epsilon <= 2


def test_a_gaussian_of_wrong_sigma_is_found():
    claimed, real = Gaussian(sigma=4), Gaussian(sigma=2)
    found = audit.estimate(many(real), 0, 1, 200_000, delta="1e-3", confidence=SURE, batch=True)
    assert found.refutes(claimed.loss())
    assert not audit.estimate(many(claimed), 0, 1, 200_000, delta="1e-3", confidence=SURE, batch=True).refutes(
        claimed.loss()
    )


def sparse(mechanism, source):
    """A batch of what a wrong sparse vector tells: which values are above, or of Roth's the first and its number."""

    def draw(x, n):
        on_threshold, on_value = mechanism.noises
        noisy = np.array(x) + np.asarray(on_value.draw(source, n * len(x))).reshape(n, -1)
        above = noisy >= np.asarray(on_threshold.draw(source, n))[:, None]
        above &= np.cumsum(above, axis=1) <= mechanism.most(x)
        if not isinstance(mechanism, sparse_vector.Roth):
            return above
        first, some = np.argmax(above, axis=1), above.any(axis=1)
        return np.stack([np.where(some, first, -1), np.where(some, noisy[np.arange(n), first], 0)], axis=1)

    return draw


@pytest.mark.parametrize("kind", sparse_vector.ALL, ids=lambda kind: kind.__name__)
def test_broken_sparse_vectors_are_found(kind):
    example = next(iter(kind.examples()))
    samples = {"HalfOnThreshold": 500_000, "HalfOnValues": 200_000}.get(kind.__name__, 100_000)
    found = audit.estimate(sparse(example.mechanism, Seeded(2)), example.x, example.y, samples, batch=True)
    assert found.refutes(example.mechanism.loss())
    assert found.epsilon <= audit.exact(example.mechanism, example.x, example.y).epsilon()


def test_floats_leak_and_a_grid_does_not():
    naive = np.random.default_rng(1)
    found = audit.estimate(lambda x, n: naive.laplace(x, 1, n), 0.0, 1.0, 40_000, confidence=SURE, batch=True)
    assert found.epsilon > 5 and "bit" in found.event
    both = audit.estimate(lambda x, n: naive.laplace(x, 1, (n, 2)), (0.0, 0.0), (1.0, 0.0), 40_000, batch=True)
    assert both.epsilon > 5
    fine = Laplace(epsilon=1, grid=2.0**-40)
    assert audit.estimate(many(fine), 0.0, 1.0, 200_000, confidence=SURE, batch=True).epsilon <= 1


def test_bits_that_carry_the_secret_are_found():
    """The value says nothing, and neither does its lowest bit; one bit in the middle does."""
    source = Seeded(9)

    def run(x, n):
        words = source.words(n) >> np.uint64(12) | np.uint64(1) | np.uint64(0x3FF0000000000000)
        mark = np.uint64(1 << 20)
        return (words & ~mark | (mark if x else np.uint64(0))).view(np.float64)

    found = audit.estimate(run, 0, 1, 20_000, confidence=SURE, batch=True)
    assert found.epsilon > 4 and "bits" in found.event


def test_vectors_are_distinguished_by_a_classifier():
    m = Laplace(epsilon=2, sensitivity=20, grid=1)
    x, y = np.zeros(5, int), np.full(5, 4)
    found = audit.estimate(many(m), x, y, 200_000, confidence=SURE, batch=True)
    assert 1 < found.epsilon <= 2 and "classifier" in found.event


def test_outputs_that_are_no_numbers():
    source = Seeded(3)

    def run(x):
        return ("yes", None)[COIN.sample(x, source)]

    found = audit.estimate(run, 0, 1, 20_000, confidence="0.999")
    assert 0.85 <= found.epsilon <= 1

    def ragged(x):
        return np.zeros(1 + COIN.sample(x, source))

    assert 0.85 <= audit.estimate(ragged, 0, 1, 20_000).epsilon <= 1


def test_what_tests_an_event_does_not_decide_how_it_is_read():
    first, second = ([*range(10)] * 10 for _ in range(2))
    plain = read(first, second)
    late = read([*first[:-1], "late"], second)
    assert math.isnan(late[0].numbers[-1, 0])
    assert (late[0].numbers[:-1] == plain[0].numbers[:-1]).all() and (late[1].numbers == plain[1].numbers).all()
    assert read(["early", *first[1:]], second)[0].numbers is None
    assert read([(0, 1)] * 99 + [(0, 1, 2)], [(1, 2)] * 100)[0].numbers.shape == (100, 2)


def test_infinities_and_nans_are_outputs_too():
    def run(x, n):
        values = np.asarray(ONE.sample(np.full(n, 0), Seeded(4)), float)
        values[::2] = math.nan if x else math.inf
        return values

    assert audit.estimate(run, 0, 1, 4000, batch=True).epsilon > 3


def test_the_lowest_bit():
    values = np.array([1.0, 3.0, 0.5, 6.0, 2.0**-1074, -0.75, 0.0, math.nan])
    assert _lowest(values).tolist() == [0, 0, -1, 1, -1074, -2, 1024, 1024]


def test_what_is_said():
    found = audit.estimate(many(ONE), 0, 1, 1000, batch=True)
    text = str(replace(found, epsilon=1.99996))
    assert text.startswith("epsilon is at least 1.999, with") and "0.999" in text and "of 500 each" in text
    for name, call in {
        "samples": {"samples": 39},
        "delta": {"delta": 1},
        "confidence": {"confidence": 1},
        "batch": {"batch": "yes"},
    }.items():
        with pytest.raises(BadParameter, match=name):
            audit.estimate(many(ONE), 0, 1, **call)
    with pytest.raises(BadParameter, match="numbers, vectors of one length, or hashable values"):
        audit.estimate(lambda x: {"answer": x}, 0, 1, 100)
    with pytest.raises(BadParameter, match="as many as it is asked for"):
        audit.estimate(lambda x, n: [x], 0, 1, 100, batch=True)


def test_the_package_holds_by_sampling():
    found = audit.package(samples=40, source=Seeded(6))
    assert {finding.verdict for finding in found} == {"holds"}
    assert all(finding.row()["at least"] <= finding.true + 1e-9 for finding in found)
    assert sum(finding.estimate.epsilon > 0 for finding in found) > 15


def test_a_sampler_that_leaks_more_than_its_law_is_found():
    (found,) = audit.package([mechanisms.FloatLaplace], samples=3000, source=Seeded(6))
    assert found.verdict == "the sampler is FALSE" and found.row()["at least"] > 1


@pytest.mark.slow
def test_the_whole_package_with_fresh_randomness():
    assert {finding.verdict for finding in audit.package(samples=4000)} == {"holds"}
