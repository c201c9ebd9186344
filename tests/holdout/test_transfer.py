"""The transfer theorems: on small cases worked out in full, and the numbers their proofs rest on."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core.errors import BadParameter
from tacit.holdout import transfer

DOMAIN, N, OUTPUTS = 3, 3, 4
SAMPLES = list(product(range(DOMAIN), repeat=N))
CODES = np.array(SAMPLES)
NEIGHBOURS = np.nonzero((CODES[:, None] != CODES).sum(axis=2) == 1)  # both orders of each pair


class Channel:
    """A random mechanism from N records to one of a few questions, each with an answer, and all that is true of it."""

    def __init__(self, weights: np.ndarray, questions: np.ndarray, answers: np.ndarray, law: np.ndarray) -> None:
        self.rows = weights / weights.sum(axis=1, keepdims=True)
        self.questions, self.answers, self.law = questions, answers, law / law.sum()
        self.weight = np.array([math.prod(self.law[x] for x in s) for s in SAMPLES])
        self.on_sample = np.array([[q[list(s)].mean() for q in questions] for s in SAMPLES])
        self.on_population = questions @ self.law
        self.joint = self.weight[:, None] * self.rows

    def epsilon(self) -> float:
        """The largest log ratio between samples that differ in one record."""
        logs = np.log(self.rows)
        return float(np.max(np.abs(logs[NEIGHBOURS[0]] - logs[NEIGHBOURS[1]])))

    def delta(self, epsilon: float) -> float:
        """The hockey stick at epsilon."""
        gaps = self.rows[NEIGHBOURS[0]] - math.exp(epsilon) * self.rows[NEIGHBOURS[1]]
        return float(np.maximum(0, gaps).sum(axis=1).max())


def positive(shape: tuple[int, ...]) -> st.SearchStrategy[np.ndarray]:
    size = math.prod(shape)
    return st.lists(st.floats(0.05, 1), min_size=size, max_size=size).map(lambda v: np.array(v).reshape(shape))


@st.composite
def channels(draw: st.DrawFn) -> Channel:
    sharpness = draw(st.sampled_from([0.05, 0.3, 1.0, 3.0]))
    weights = draw(positive((len(SAMPLES), OUTPUTS))) ** sharpness
    questions = draw(positive((OUTPUTS, DOMAIN))).round()
    return Channel(weights, questions, draw(positive((OUTPUTS,))), draw(positive((DOMAIN,))))


@settings(max_examples=60)
@given(channels())
def test_private_choices_generalize_in_the_mean(channel: Channel) -> None:
    excess = float(np.sum(channel.joint * (channel.on_sample - channel.on_population)))
    assert excess <= transfer.expected(channel.epsilon()) + 1e-12
    e = channel.epsilon() / 2
    assert excess <= transfer.expected(e, channel.delta(e)) + 1e-12


@settings(max_examples=60)
@given(channels(), st.floats(0.0, 0.5), st.floats(0.02, 0.5), st.floats(0.02, 0.5), st.sampled_from([1.0, 0.5, 0.1]))
def test_jung(channel: Channel, alpha: float, c: float, d: float, share: float) -> None:
    e = channel.epsilon() * share
    delta = channel.delta(e) + 1e-12 if share < 1 else 0.0
    beta = float(channel.joint[np.abs(channel.answers - channel.on_sample) > alpha].sum()) + 1e-12
    proved = transfer.jung(e + 1e-12, delta, alpha=alpha, beta=beta, c=c, d=d)
    off = np.abs(channel.answers - channel.on_population) > proved.width
    failed = float(channel.joint[:, off].sum())
    assert failed <= proved.failure + 1e-9
    # and, as the proof says, with d in place of 2 d
    tighter = np.abs(channel.answers - channel.on_population) > proved.width - d
    assert float(channel.joint[:, tighter].sum()) <= proved.failure + 1e-9


def test_the_best_slack_is_the_least() -> None:
    b, x, p = 1e-4, 1e-7, 0.05
    c, d = transfer.jung_slack(b, x, p)
    assert b / c + x / d <= p
    assert b / c + x / d == pytest.approx(p, rel=1e-12)
    for factor in (0.5, 0.9, 1.1, 2.0):
        other = x / (p - b / (c * factor)) if p > b / (c * factor) else math.inf
        assert c * factor + 2 * other > c + 2 * d
    assert transfer.jung_at(p, "0.1", x, alpha="0.01", beta=b).failure == p


@given(st.floats(1e-3, 0.125), st.floats(1e-12, 1e-3), st.integers(100, 10**7))
def test_what_the_notes_say_follows_from_the_monitor(epsilon: float, delta: float, n: int) -> None:
    """Each step of the proof, at the p that the theorem allows."""
    if epsilon**2 * n < 12.01 or delta > epsilon / 16:
        return
    p = transfer.notes(epsilon, delta, n).failure
    ts = [3] if p > 0.25 else [math.floor(1 / p)]
    for t in ts:
        right = 2 * math.log(2 * t) / (epsilon * n) + math.expm1(2 * epsilon) + t * delta
        assert 6 * epsilon * (1 - (1 - p * (1 + 1e-9)) ** t) >= right * (1 - 1e-9) or p >= 1


def test_the_numbers_in_the_proofs() -> None:
    assert math.expm1(2 / 8) * 8 < 2.2723 and 6 * (1 - math.exp(-3 / 4)) > 3.1657
    assert 3.1657 - 2.2723 >= 0.8934 and (0.8934 - 1 / 4) / 2 >= 0.32 and math.log(2) <= (0.32 - 1 / 8) * 12
    assert 2 * math.log(6) / 12 + 3 / 16 + 2.2723 < 3 < 6 * (1 - 0.75**3)
    assert math.expm1(2 / 3) * 3 < 2.85
    assert 2 + 2.85 + 1 < 9 < 18 * (1 - math.exp(-3 / 4))


@pytest.mark.parametrize(
    ("epsilon", "delta", "n"),
    [(0.125, 0.0, 768), (0.125, 0.0078, 800), (0.05, 1e-4, 4800), (0.1, 1e-9, 10**5), (0.02, 0.00125, 30_000)],
)
def test_the_printed_theorem_is_true(epsilon: float, delta: float, n: int) -> None:
    """A larger chance than the printed one contradicts the Monitor's two bounds, at T = floor(1/p) or, above 1/4, 3."""
    printed, sharp = (f(epsilon, delta, n).failure for f in (transfer.notes_as_printed, transfer.notes))
    assert sharp <= printed
    for p in np.geomspace(sharp * (1 + 1e-9), 0.9, 500) if sharp < 0.9 else []:
        t = math.floor(1 / p) if p <= 1 / 4 else 3
        right = 2 * math.log(2 * t) / (epsilon * n) + math.expm1(2 * epsilon) + t * delta
        assert 6 * epsilon * (1 - (1 - p) ** t) > right
    assert transfer.monitor(6 * epsilon, epsilon, delta, n) <= sharp


def test_the_theorem_needs_no_factor_2_and_falls_faster_than_printed() -> None:
    printed, proved = (f("0.1", "1e-9", 5000) for f in (transfer.notes_as_printed, transfer.notes))
    assert proved.failure == pytest.approx(2 * math.exp(-0.32 * 50))
    assert printed.failure == pytest.approx(math.exp(-50 / 8))
    assert proved.width == printed.width == pytest.approx(0.6)


def test_the_monitor_proves_the_smallest_chances() -> None:
    """As many samples as it takes: with 2^40, no chance below 2e-13 could be proved."""
    assert transfer.monitor("0.1", "0.01", 0, 10**6) < 1e-290
    assert transfer.monitor("0.06", "0.01", 0, 10**6) <= transfer.notes("0.01", 0, 10**6).failure < 1e-12


def test_sample_accuracy_is_added() -> None:
    plain, noisy = transfer.notes("0.1", "1e-6", 5000), transfer.notes("0.1", "1e-6", 5000, alpha="0.2", beta="0.01")
    assert noisy.width == pytest.approx(plain.width + 0.2)
    assert noisy.failure == pytest.approx(plain.failure + 0.01)
    both = transfer.bassily("0.1", "1e-6", 5000, alpha="0.01", beta="0.02")
    assert (both.width, both.failure) == pytest.approx((1.81, 0.02 + 1e-5))
    low = transfer.jung("0.1", "1e-6", alpha=0, beta="1e-6", c="0.01", d="0.001", spread=1)
    assert low.width == pytest.approx(math.expm1(0.1) + 0.01 + 4 * 0.001)


def test_the_monitor_is_at_least_as_good_as_the_theorem_made_of_it() -> None:
    for e, d, n in ((0.1, 1e-6, 5000), (0.05, 1e-8, 50_000), (0.125, 1e-5, 3000)):
        assert transfer.monitor(6 * e, e, d, n) <= transfer.notes(e, d, n).failure


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: transfer.notes("0.2", 0, 10**6), "epsilon"),
        (lambda: transfer.notes("0.01", 0, 1000), "epsilon"),
        (lambda: transfer.notes("0.1", "0.01", 10**6), "delta"),
        (lambda: transfer.bassily("0.4", "1e-6", 10**6), "epsilon"),
        (lambda: transfer.bassily("0.1", "0.03", 10**6), "delta"),
        (lambda: transfer.bassily("0.1", "1e-6", 100), "n"),
        (lambda: transfer.jung("0.1", "1e-6", alpha=0, beta="0.1", c=0, d=1), "c"),
        (lambda: transfer.jung("0.1", "1e-6", alpha=0, beta="0.1", c=1), "d"),
        (lambda: transfer.expected(-1), "epsilon"),
        (lambda: transfer.expected(1, -1), "delta"),
    ],
)
def test_outside_its_domain_a_theorem_says_nothing(call: object, name: str) -> None:
    with pytest.raises(BadParameter) as caught:
        call()  # type: ignore[operator]
    assert caught.value.name == name


def test_the_sample_that_bassily_asks_for_is_named() -> None:
    with pytest.raises(BadParameter, match="which is 1290"):
        transfer.bassily("0.1", "1e-6", 100)
    assert transfer.bassily("0.1", "1e-6", 1290).failure == pytest.approx(1e-5)
    assert math.ceil(math.log(4 * Fraction(1, 10) * 10**6) * 100) == 1290


def test_at_a_large_epsilon_nothing_is_promised_and_nothing_overflows() -> None:
    assert transfer.expected(1000) == transfer.expected("709.5") == math.inf
    assert transfer.expected(700) == pytest.approx(math.exp(700))
    assert transfer.monitor("0.5", 1000, 0, 100) == transfer.monitor("0.5", 700, 0, 100) == 1.0
    found = transfer.jung(1000, "1e-6", alpha=0, beta="1e-6", c="0.1", d="0.1")
    assert found == transfer.Transferred(math.inf, pytest.approx(2e-5), "Jung et al. 2020")
    assert transfer.jung_at("0.05", 1000, alpha="0.1").width == math.inf


@pytest.mark.parametrize(
    ("e", "d", "n"), [("0.125", 0, 768), ("0.1", "1e-6", 2000), ("0.01", "1e-9", 10**6), (2, 0, 10)]
)
@pytest.mark.parametrize("p", ["0.4", "0.05", "1e-6"])
def test_the_monitor_proves_its_width(e, d, n, p) -> None:
    """At a width that it names the chance it bounds is the one that was asked for, or less."""
    found = transfer.monitor_at(p, e, d, n)
    assert found.failure == pytest.approx(float(p))
    if found.width <= 1:
        assert transfer.monitor(Fraction(found.width), e, d, n) <= float(p) * 1.2  # other numbers of samples are tried
    part = transfer.monitor_at(p, e, d, n, alpha="0.01", beta=Fraction(p) / 2)
    assert part.width >= found.width + 0.01
    with pytest.raises(BadParameter, match="beta must be below `failure`"):
        transfer.monitor_at(p, e, d, n, beta=p)


def test_the_monitor_at_the_ends_of_its_parameters() -> None:
    assert transfer.monitor_at("1e-3", 800, 0, 100).width == math.inf
    assert transfer.monitor_at("1e-300", 700, 0, 100).width > 1
    with pytest.raises(BadParameter, match="failure less beta"):
        transfer.monitor_at("0.1", 1, 0, 100, beta=Fraction(1, 10) - Fraction(1, 10**330))
    assert transfer.mean_bound(0, 1000, "0.01") == pytest.approx(0.01)


EPSILONS = st.just(Fraction(0)) | st.fractions(Fraction(1, 10**12), 3)  # the smaller ones are refused


@given(st.fractions(0, 1), st.fractions(0, 1), EPSILONS, st.fractions(0, 1))
def test_means_of_close_laws(p: Fraction, f: Fraction, e: Fraction, d: Fraction) -> None:
    """Lemma 0.6 on two points: Q is (q, 1-q), P as far from it as (e, d) allows, f is 1 and `f`."""
    near = min(Fraction(1), p * Fraction(math.exp(e)) + d)
    mean_x, mean_y = near + (1 - near) * f, p + (1 - p) * f
    assert mean_x <= Fraction(transfer.mean_bound(mean_y, e, d)) + Fraction(1, 10**12)


def test_thresholdout_at_a_delta() -> None:
    pure, at = (transfer.thresholdout("0.1", 1000, 400, "0.05", 10**6, delta=d) for d in (0, "1e-6"))
    assert (at.threshold, at.sigma) == (pure.threshold, pure.sigma)
    assert at.epsilon == pytest.approx(math.sqrt(32 * 400 * math.log(2e6)) / (at.sigma * 10**6))
    assert at.epsilon < pure.epsilon
