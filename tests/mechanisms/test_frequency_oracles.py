"""What holds of every frequency oracle: each claim against the law, by enumeration."""

from __future__ import annotations

import itertools
import math
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.composition import parallel
from tacit.core import samplers
from tacit.core.distance import ADD_REMOVE, SUBSTITUTE, norms, scalar
from tacit.core.errors import BadData, BadParameter, MixedRelations
from tacit.core.law import Product, hockey_stick, max_divergence
from tacit.mechanisms.additive.laplace import Laplace
from tacit.mechanisms.local._frequency import FrequencyOracle
from tacit.mechanisms.local.frequency_oracle import frequency_oracle, project_to_simplex
from tacit.mechanisms.local.hadamard_response import HadamardResponse
from tacit.mechanisms.local.randomized_response import RandomizedResponse
from tacit.mechanisms.local.subset_selection import SubsetSelection
from tacit.mechanisms.local.unary_encoding import UnaryEncoding
from tacit.testing.sources import Seeded, enumerate_draws

KINDS: list[Any] = [HadamardResponse, RandomizedResponse, SubsetSelection, UnaryEncoding]
SMALL: list[FrequencyOracle] = [
    RandomizedResponse(epsilon=1),
    RandomizedResponse(epsilon="0.3", categories=3),
    UnaryEncoding(epsilon=2, categories=3),
    SubsetSelection(epsilon="0.5", categories=4),
    SubsetSelection(epsilon=3, categories=4, size=3),
    HadamardResponse(epsilon=1, categories=3),
]
each_kind = pytest.mark.parametrize("kind", KINDS)
each_oracle = pytest.mark.parametrize("oracle", SMALL, ids=str)
few = settings(max_examples=25, deadline=None, derandomize=True)
epsilons = st.fractions(Fraction(1, 100), 6, max_denominator=100)


def outcomes(oracle: FrequencyOracle, answers: list[int]) -> list[tuple[tuple[Any, ...], float]]:
    """Every way in which these people may report, with its probability."""
    law = Product(tuple(oracle.one(a) for a in answers))
    return [(y, law.mass(y)) for y in law.support(0)]  # type: ignore[arg-type, misc]


@each_kind
@few
@given(epsilon=epsilons, k=st.integers(2, 5), data=st.data())
def test_epsilon_is_the_greatest_ratio_and_is_attained(kind: Any, epsilon: Fraction, k: int, data: Any) -> None:
    oracle = kind(epsilon=epsilon, categories=k)
    x, y = data.draw(st.permutations(range(k)))[:2]
    assert max_divergence(oracle.law(x), oracle.law(y)) == pytest.approx(float(epsilon), rel=1e-12)


@each_kind
@few
@given(epsilon=epsilons, k=st.integers(2, 6), data=st.data())
def test_chances_are_those_of_the_law(kind: Any, epsilon: Fraction, k: int, data: Any) -> None:
    oracle = kind(epsilon=epsilon, categories=k)
    x = data.draw(st.integers(0, k - 1))
    law = oracle.law(x)
    masses = {y: law.mass(y) for y in law.support(0)}
    assert math.fsum(masses.values()) == pytest.approx(1, rel=1e-14)
    speaks = sum(mass * oracle.count(y)[0] for y, mass in masses.items())
    c = oracle.chances
    assert speaks == pytest.approx([c.own if j == x else c.other for j in range(k)], rel=1e-13)
    assert (c.own + c.lost, c.own - c.other) == pytest.approx((1, c.gain), rel=1e-13)


@each_oracle
def test_estimates_are_unbiased_with_the_stated_variance(oracle: FrequencyOracle) -> None:
    k = oracle.categories
    answers = [0, 1, 0]
    frequency = np.bincount(answers, minlength=k) / 3
    found = [(oracle.frequencies(np.array(y)), mass) for y, mass in outcomes(oracle, answers)]
    mean = sum(mass * estimate for estimate, mass in found)
    variance = sum(mass * (estimate - frequency) ** 2 for estimate, mass in found)
    assert mean == pytest.approx(frequency, abs=1e-12)
    assert variance == pytest.approx([oracle.variance(3, f) for f in frequency], rel=1e-12)


@each_oracle
def test_error_holds_for_all_data(oracle: FrequencyOracle) -> None:
    for n in (1, 2, 3):
        for answers in itertools.combinations_with_replacement(range(oracle.categories), n):
            misses = [(oracle.miss(np.array(answers), np.array(y)), mass) for y, mass in outcomes(oracle, [*answers])]
            for beta in (0.4, 0.1, 0.01):
                reach = oracle.error(n, beta)
                assert math.fsum(mass for miss, mass in misses if miss > reach) <= beta


@each_oracle
@pytest.mark.parametrize("n", [40, 1500])
def test_error_holds_for_one_frequency_among_many_people(oracle: FrequencyOracle, n: int) -> None:
    c = oracle.chances
    for m in sorted({0, 1, n // 3, n // 2, n}):
        masses = np.convolve(binomial(m, c.own), binomial(n - m, c.other))
        centre = m * c.own + (n - m) * c.other
        stray = np.abs(np.arange(n + 1) - centre) / n / c.gain
        for beta in (0.5, 0.05, 1e-4):
            assert masses[stray > oracle.error(n, beta)].sum() <= beta


def binomial(n: int, p: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    logs = [math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) for i in range(n + 1)]
    i = np.arange(n + 1)
    return np.exp(np.array(logs) + i * math.log(p) + (n - i) * math.log1p(-p))


@each_oracle
def test_error_is_below_the_classical_one_and_falls(oracle: FrequencyOracle) -> None:
    sizes = [1, 2, 3, 10, 30, 100, 1000, 10**4, 10**6, 10**9, 10**14]
    errors = [oracle.error(n) for n in sizes]
    assert errors == sorted(errors, reverse=True)
    assert all(error <= oracle.classical_error(n) for error, n in zip(errors, sizes, strict=True))
    assert oracle.error(100, 0.001) > oracle.error(100, 0.01)


@each_kind
def test_many_reports_are_worth_the_normal_quantile(kind: Any) -> None:
    oracle = kind(epsilon=1, categories=2)
    spread = max(oracle.variance(10**9, f) for f in (0, 1))
    quantile = 1.959964 if kind is RandomizedResponse else 2.241403  # of 0.05, of which each of two has half
    assert oracle.error(10**9) == pytest.approx(quantile * math.sqrt(spread), rel=1e-3)


@each_oracle
def test_sample_size_is_least(oracle: FrequencyOracle) -> None:
    for target in (0.9, 0.05):
        n = oracle.sample_size(target, 0.01)
        assert oracle.error(n, 0.01) <= target
        assert n == 1 or oracle.error(n - 1, 0.01) > target


@each_kind
def test_for_error_is_good_enough_and_hardly_better(kind: Any) -> None:
    oracle = kind.for_error(0.05, 0.1, n=4000, categories=3)
    assert oracle.error(4000, 0.1) <= 0.05
    assert kind(epsilon=oracle.epsilon * Fraction(9999, 10000), categories=3).error(4000, 0.1) > 0.05
    assert type(oracle) is kind


def test_for_error_says_when_it_cannot() -> None:
    with pytest.raises(BadParameter, match="error"):
        HadamardResponse.for_error(0.001, n=10, categories=3)


@each_oracle
def test_interval_is_the_estimate_within_its_error(oracle: FrequencyOracle) -> None:
    reports = oracle.sample(np.zeros(2000, int), Seeded(3))
    low, high = oracle.interval(reports, 0.01)
    assert 0 <= low[0] <= 1 == high[0]
    assert (low[1:] == 0).all()
    assert (high[1:] <= 2 * oracle.error(2000, 0.01)).all()


@each_oracle
def test_the_sampler_is_exact(oracle: FrequencyOracle) -> None:
    """Every branch of a draw, coin by coin; what is unresolved are integers refused over and over."""
    law = oracle.law(1)

    def draw(source: Any) -> Any:
        y = oracle.sample(1, source)
        return tuple(y.tolist()) if isinstance(y, np.ndarray) else y

    masses, unresolved = enumerate_draws(draw, 2, least=Fraction(1, 1 << 20))
    assert unresolved < 1e-3
    for y in law.support(0):
        assert float(masses[y]) <= law.mass(y) * (1 + 1e-12)
        assert float(masses[y] + unresolved) >= law.mass(y) * (1 - 1e-12)


@each_kind
def test_many_people_at_once_follow_the_law(kind: Any) -> None:
    """Frequencies of whole reports, each person's for themselves, within six standard deviations."""
    oracle = kind(epsilon=1, categories=4)
    n = 40_000
    answers = np.arange(n) % 4
    reports = oracle.sample(answers, Seeded(11))
    for x in range(4):
        law = oracle.law(x)
        mine = [tuple(y) if isinstance(y, list) else y for y in reports[answers == x].tolist()]
        for y in law.support(0):
            p = law.mass(y)
            assert abs(mine.count(y) / len(mine) - p) <= 6 * math.sqrt(p * (1 - p) / len(mine))


@each_kind
def test_reports_keep_the_shape_of_answers(kind: Any) -> None:
    oracle = kind(epsilon=1, categories=3)
    tail = oracle.sample(0, Seeded(1)).shape if kind in (UnaryEncoding, SubsetSelection) else ()
    for shape in [(5,), (2, 3), (0,), (1,)]:
        assert oracle.release(np.zeros(shape, np.uint8)).shape == shape + tail
    assert oracle.release([0, 1, 2]).shape == (3, *tail)


@each_oracle
def test_an_oracle_that_was_used_can_be_sent_elsewhere(oracle: FrequencyOracle) -> None:
    oracle.release(1)
    assert pickle.loads(pickle.dumps(oracle)) == oracle


@each_oracle
def test_loss_counts_changed_answers(oracle: FrequencyOracle) -> None:
    atom = oracle.each
    assert atom.pure() == oracle.epsilon
    assert oracle.loss() == oracle.loss(1) == oracle.loss("0.5")
    assert oracle.loss(3).terms == {atom: 3}
    assert oracle.loss(0).terms == {}
    for bad in (-1, norms(l1=2), norms(l1=2, relation=ADD_REMOVE), scalar(Fraction(1))):
        with pytest.raises(BadParameter, match=r"distance|report"):
            oracle.loss(bad)


@each_oracle
def test_a_person_who_is_substituted_changes_one_report(oracle: FrequencyOracle) -> None:
    """By brute force: the histogram of the answers moves by 2, and one report's law changes."""
    atom = oracle.each
    for loss in (oracle.loss(), oracle.loss(1), oracle.loss(SUBSTITUTE.histogram())):
        assert (loss.terms, loss.relation) == ({atom: 1}, SUBSTITUTE)
    assert oracle.loss(SUBSTITUTE.histogram()).epsilon() == float(oracle.epsilon)
    assert oracle.loss(SUBSTITUTE.histogram().group(3)).terms == {atom: 3}
    assert oracle.loss(norms(l0=4, l1=3, linf=1, relation=SUBSTITUTE)).terms == {atom: 2}  # a half is a whole report
    claimed = oracle.loss(SUBSTITUTE.histogram())
    for others in ([0], [1, 0], [1, 1, 1]):
        x, y = (oracle.law(np.array([own, *others])) for own in (0, 1))
        for epsilon in (0.0, float(oracle.epsilon) / 2, float(oracle.epsilon)):
            assert hockey_stick(x, y, epsilon) <= claimed.delta(epsilon) + 1e-12


@each_oracle
def test_reports_are_not_private_where_people_come_and_go(oracle: FrequencyOracle) -> None:
    """n and n - 1 reports have no outcome in common, so nothing may be claimed, alone or in a sum."""
    more, fewer = oracle.release(np.zeros(3, int)), oracle.release(np.zeros(2, int))
    assert len(more) != len(fewer)
    for distance in (ADD_REMOVE.histogram(), ADD_REMOVE.counts(4), ADD_REMOVE.histogram().group(2)):
        with pytest.raises(BadParameter, match="SUBSTITUTE") as refused:
            oracle.loss(distance)
        assert str(refused.value).endswith(".") and "reports" in str(refused.value)
    curators = Laplace(epsilon=1, sensitivity=ADD_REMOVE.histogram()).loss()
    for mixed in (
        lambda: curators + oracle.loss(),
        lambda: oracle.loss() + curators,
        lambda: oracle.loss(2) + curators,
    ):
        with pytest.raises(MixedRelations):
            mixed()
    with pytest.raises(BadParameter, match="ADD_REMOVE"):
        parallel(oracle.loss(), oracle.loss())
    assert (oracle.loss() + Laplace(epsilon=1, sensitivity=SUBSTITUTE.histogram()).loss()).relation is SUBSTITUTE


def three_reports_of_one_answer(oracle: FrequencyOracle, answer: int) -> dict[Any, float]:
    one = oracle.one(answer)
    masses = {y: one.mass(y) for y in one.support(0.0)}
    return {ys: math.prod(masses[y] for y in ys) for ys in itertools.product(masses, repeat=3)}


@pytest.mark.parametrize(
    "oracle",
    [
        HadamardResponse(epsilon=1, categories=3),
        UnaryEncoding(epsilon="0.5", categories=2),
        UnaryEncoding(epsilon=2, categories=3),
        SubsetSelection(epsilon="0.3", categories=4),
        SubsetSelection(epsilon=2, categories=5, size=2),
        RandomizedResponse(epsilon=1, categories=4),
    ],
    ids=repr,
)
def test_several_reports_cost_less_than_their_epsilons(oracle: FrequencyOracle) -> None:
    """Most reports do not tell two answers apart: by the exact law of three of them, and what they cost is not far."""
    one, two = (oracle.one(answer) for answer in (0, 1))
    idle = math.fsum(one.mass(y) for y in one.support(0.0) if math.isclose(one.mass(y), two.mass(y), rel_tol=1e-9))
    assert math.isclose(oracle.idle, idle, rel_tol=1e-9)
    p, q = (three_reports_of_one_answer(oracle, answer) for answer in (0, 1))
    for part in (0.3, 0.6, 0.9):
        epsilon = 3 * float(oracle.epsilon) * part
        truth = math.fsum(max(0.0, p[ys] - math.exp(epsilon) * q[ys]) for ys in p)
        assert truth * (1 - 1e-9) <= oracle.loss(3).delta(epsilon) <= 1.6 * truth


@each_kind
def test_bad_answers_are_refused_without_showing_them(kind: Any) -> None:
    oracle = kind(epsilon=1, categories=3)
    for answer in (7, -1, np.array([0, 77]), 0.5, np.array([True]), "one", np.array([2**63], np.uint64)):
        with pytest.raises(BadData, match="answer") as caught:
            oracle.release(answer)
        assert "7" not in str(caught.value)


@each_kind
def test_bad_parameters_are_refused(kind: Any) -> None:
    for bad in ({"epsilon": 0}, {"epsilon": -1}, {"categories": 1}, {"categories": 2.0}):
        with pytest.raises(BadParameter, match=next(iter(bad))):
            kind(**{"epsilon": 1, "categories": 3} | bad)
    oracle = kind(epsilon=1, categories=3)
    with pytest.raises(BadParameter, match="counts"):
        oracle.estimate([1, 2], 3)
    with pytest.raises(BadParameter, match="frequency"):
        oracle.variance(1, 2)
    for bad in ({"n": 0}, {"beta": 1}):
        with pytest.raises(BadParameter, match=next(iter(bad))):
            oracle.error(**bad)


@each_kind
def test_bad_reports_are_refused(kind: Any) -> None:
    oracle = kind(epsilon=1, categories=3)
    for reports in (np.array([0.5]), np.array([9]), np.zeros((2, 2), bool)):
        with pytest.raises((BadParameter, BadData), match="report"):
            oracle.frequencies(reports)
    with pytest.raises(BadParameter, match="n must"):
        oracle.frequencies(oracle.release(np.empty(0, int)))


@few
@given(epsilon=epsilons, k=st.integers(2, 200))
def test_the_chosen_oracle_has_the_least_variance(epsilon: Fraction, k: int) -> None:
    chosen = frequency_oracle(epsilon, k)
    assert chosen.variance() <= min(kind(epsilon=epsilon, categories=k).variance() for kind in KINDS) * (1 + 1e-11)
    short = frequency_oracle(epsilon, k, bits=k.bit_length())
    assert short.bits <= k.bit_length()
    assert isinstance(short, RandomizedResponse | HadamardResponse) or k < 3


def test_the_choice_by_number_of_categories() -> None:
    assert isinstance(frequency_oracle(1, 2), RandomizedResponse)
    assert isinstance(frequency_oracle(1, 4), RandomizedResponse)
    assert isinstance(frequency_oracle(1, 100), SubsetSelection)
    assert isinstance(frequency_oracle(1, 100, bits=7), HadamardResponse)
    with pytest.raises(BadParameter, match="bits"):
        frequency_oracle(1, 100, bits=3)


@few
@given(st.lists(st.floats(-3, 3), min_size=1, max_size=8), st.integers(0, 7))
def test_projection_is_nearest(values: list[float], at: int) -> None:
    v = np.array(values)
    y = project_to_simplex(v)
    assert y.sum() == pytest.approx(1)
    assert (y >= 0).all()
    vertex = np.eye(v.size)[at % v.size]
    assert (v - y) @ (vertex - y) <= 1e-9  # the obtuse angle that marks the nearest point of a convex set


def test_projection_refuses_what_it_cannot_read() -> None:
    for bad in ([], [[1.0]], [math.nan]):
        with pytest.raises(BadParameter, match="estimates"):
            project_to_simplex(bad)


@pytest.mark.parametrize(("digits", "width", "n"), [(3, 1, 1), (2, 1, 2), (2, 2, 2), (2, 2, 3), (1, 3, 2)])
def test_coins_made_in_lanes_are_exact(monkeypatch: pytest.MonkeyPatch, digits: int, width: int, n: int) -> None:
    monkeypatch.setattr(samplers, "_SHARED_DIGITS", digits)
    monkeypatch.setattr(samplers, "_MAX_SINGLE", 0)
    p = RandomizedResponse(epsilon="0.4")._keep
    one = Fraction(p(200)[0], 1 << 200)
    masses, unresolved = enumerate_draws(lambda source: tuple(samplers.bernoulli(p, source, n).tolist()), width)
    for coins in itertools.product((False, True), repeat=n):
        mass = math.prod(one if coin else 1 - one for coin in coins)
        assert abs(masses[coins] - mass) <= unresolved + Fraction(1, 1 << 70)


def test_coins_beyond_one_chunk_are_as_many_and_as_likely() -> None:
    p, n = RandomizedResponse(epsilon=1)._keep, 40_000  # two chunks and a half of words of one bit
    coins = samplers.bernoulli(p, Seeded(8, width=1), n)
    assert coins.shape == (n,)
    assert abs(coins.mean() - 1 / (1 + math.exp(-1))) < 6 * math.sqrt(0.2 / n)


@given(st.lists(st.tuples(st.floats(0.01, 1), st.floats(-1, 1)), min_size=2, max_size=9))
def test_projection_is_no_farther_off_in_l2_and_at_most_twice_as_far_in_the_worst(pairs):
    weights, off = np.array(pairs).T
    truth = weights / weights.sum()
    after = project_to_simplex(truth + off) - truth
    assert np.linalg.norm(after) <= np.linalg.norm(off) + 1e-12
    assert np.abs(after).max() <= 2 * np.abs(off).max() + 1e-12


def test_projection_may_double_the_largest_error():
    truth = np.array([0.5, *[0.5 / 999] * 999])
    off = np.array([-1e-5, *[1e-5] * 999])
    after = project_to_simplex(truth + off) - truth
    assert 1.99e-5 < np.abs(after).max() <= 2e-5 and np.linalg.norm(after) <= np.linalg.norm(off)
