"""The theorems by the posterior: on small mechanisms worked out in full, and their figures against others'."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from tacit.core.errors import BadParameter
from tacit.holdout import GaussianAnswers, max_questions, planning, posterior, transfer

from .test_transfer import CODES, DOMAIN, Channel, N, channels

BETA = Fraction(1, 20)


def drifts(channel: Channel) -> np.ndarray:
    """For each output, how far the posterior mean of the worst question is from its mean in the population.

    The worst of all functions of a record in [0, 1] is an event: the sum of the positive parts of the shifts.
    """
    joint = channel.joint / channel.joint.sum(axis=0)
    records = np.array([[joint[CODES[:, i] == x].sum(axis=0) for x in range(DOMAIN)] for i in range(N)]).mean(axis=0)
    return np.asarray(np.maximum(records - channel.law[:, None], 0).sum(axis=0))


@settings(max_examples=150)
@given(channels())
def test_the_posterior_mean_drifts_by_no_more_than_tanh_of_a_quarter(channel: Channel) -> None:
    """For pure privacy, whatever is answered."""
    assert drifts(channel).max() <= posterior.moved(channel.epsilon()) + 1e-12


def test_the_drift_is_attained() -> None:
    """One record of two values, told by a coin of odds e^(epsilon/2) against a prior of the same odds."""
    for epsilon in (0.1, 1.0, 3.0):
        prior = 1 / (1 + math.exp(epsilon / 2))
        # the output that is e^epsilon times likelier if the record is 1
        high, low = 1 - 1e-9, (1 - 1e-9) * math.exp(-epsilon)
        after = prior * high / (prior * high + (1 - prior) * low)
        assert after - prior == pytest.approx(posterior.moved(epsilon), rel=1e-9)


def test_the_bound_by_information_is_nearly_attained() -> None:
    """A fair bit that is told, with a lean of t, in one case of a hundred, and else not at all."""
    for t in (0.01, 0.1):
        nats = 0.01 * sum(p * math.log(2 * p) for p in (0.5 + t, 0.5 - t))
        assert t <= posterior.information("0.01", nats, 1).width <= t * 1.02


@settings(max_examples=150)
@given(channels(), st.sampled_from([0.7, 0.4, 0.1, 0.0]))
def test_beyond_that_the_mean_of_the_drift_is_at_most_delta(channel: Channel, share: float) -> None:
    e = channel.epsilon() * share
    h = math.tanh(e / 4)
    beyond = np.maximum(drifts(channel) - h, 0)
    assert float(channel.joint.sum(axis=0) @ beyond) <= (1 - h) * channel.delta(e) + 1e-12


@settings(max_examples=100)
@given(channels(), st.floats(0.0, 0.3), st.sampled_from([1.0, 0.5, 0.1]), st.floats(0.05, 0.9))
def test_answers_are_within_the_width_but_for_the_failure(
    channel: Channel, alpha: float, share: float, failure: float
) -> None:
    """Each output is an answer to its own question."""
    e = channel.epsilon() * share
    delta = channel.delta(e) + 1e-12 if share < 1 else 0.0
    excess = float((channel.joint * np.maximum(np.abs(channel.answers - channel.on_sample) - alpha, 0)).sum())
    proved = posterior.private_at(failure, e, delta, alpha=alpha, excess=excess)
    off = np.abs(channel.answers - channel.on_population) > proved.width
    assert float(channel.joint[:, off].sum()) <= failure + 1e-9
    jung = transfer.jung_at(failure, e, delta, alpha=alpha, beta=max(excess, 1e-12))
    assert proved.width <= jung.width + 1e-9


@settings(max_examples=100)
@given(channels(), st.floats(0.05, 0.9))
def test_the_information_bounds_the_drift(channel: Channel, failure: float) -> None:
    outputs = channel.joint.sum(axis=0)
    nats = float((channel.joint * np.log(channel.joint / (channel.weight[:, None] * outputs))).sum())
    width = posterior.information(failure, nats + 1e-12, N).width
    assert float(outputs[drifts(channel) > width].sum()) <= failure + 1e-9


def test_gaussian_answers_tell_no_more_than_an_eighth() -> None:
    """Of one record with two equally likely values, by integration; and by the bound for any number of questions."""
    for sigma in (0.5, 1.0, 3.0):
        density = [stats.norm(m, sigma).pdf for m in (0.0, 1.0)]

        def integrand(y: float, density=density) -> float:
            p, q = density[0](y), density[1](y)
            mixed = (p + q) / 2
            return sum(0.5 * each * math.log(each / mixed) for each in (p, q) if each > 0)

        exact, _ = integrate.quad(integrand, -30, 31)
        assert exact <= posterior.gaussian_information(1, 1, Fraction(sigma) ** 2)
        if sigma == 3.0:
            assert exact == pytest.approx(posterior.gaussian_information(1, 1, Fraction(sigma) ** 2), rel=0.05)


def test_discrete_gaussian_noise_tells_no_more_either() -> None:
    z = np.arange(-400, 401)
    for variance in (0.3, 1.0, 40.0):
        laws = np.exp(-((z - np.array([[0], [1]])) ** 2) / (2 * variance))
        laws /= laws.sum(axis=1, keepdims=True)
        mixed = laws.mean(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            nats = float(np.nansum(np.where(laws > 0, laws * np.log(laws / mixed), 0)) / 2)
        assert nats <= 1 / (8 * variance)


def test_the_drift_of_gaussian_noise_is_that_of_two_normal_laws() -> None:
    """Against a numerical minimum of tanh(e/4) + (1 - tanh(e/4)) delta(e)/beta; and better than both others."""
    for mu in (0.01, 0.3, 2.0):
        e = np.linspace(0, mu * (mu + 12), 40_000)
        delta = stats.norm.cdf(mu / 2 - e / mu) - np.exp(e) * stats.norm.cdf(-mu / 2 - e / mu)
        least = float(np.min(np.tanh(e / 4) + (1 - np.tanh(e / 4)) * np.maximum(delta, 0) / 0.05))
        found = posterior.gaussian_drift(BETA, Fraction(mu) ** 2)
        assert least <= found <= least * 1.01


def test_the_shortfall_of_the_noise_is_the_mean_of_its_worst_twentieth() -> None:
    """Of one standard normal noise, scaled: E|Z| above its 95 % quantile is 2 phi(q)/0.05."""
    q = stats.norm.isf(0.025)
    exact = 2 * stats.norm.pdf(q) / 0.05
    shares = [0.8 / 1.1**j for j in range(300)]
    found = posterior.shortfall(BETA, [(b, 0.01 * stats.norm.isf(b / 2)) for b in shares])
    assert 0.01 * exact <= found <= 0.01 * exact * 1.06
    assert posterior.shortfall(BETA, [(0.0001, 0.3)]) == pytest.approx(0.3 + 0.0001 * 0.7 / 0.05)
    assert posterior.shortfall(BETA, [(0.01, 0.1), (0.001, 0.1)]) == pytest.approx(0.1 + 0.001 * 0.9 / 0.05)


def test_many_more_questions_are_answered_than_by_jung_et_al() -> None:
    counts = {name: max_questions(10**6, "0.1", BETA, method) for name, method in (
        ("drift", "Gaussian, posterior drift"),
        ("information", "Gaussian, mutual information"),
        ("jung", "Gaussian, Jung et al. 2020"),
    )}  # fmt: skip
    assert counts["drift"] > 450_000 and counts["information"] > 130_000 and counts["jung"] < 23_000
    wide = planning.gaussian(10**6, 10**4, "0.6", "information").width, planning.gaussian(10**6, 10**4, "0.6").width
    assert wide[0] < wide[1]  # where failures are likely, information is the better bound


def test_a_rule_takes_the_least_of_all() -> None:
    rule = GaussianAnswers(n=100_000, questions=500, grid=1)
    assert set(rule.promises) == {posterior.DRIFT, posterior.INFORMATION}
    assert rule.promise.width == min(s.width for s in rule.promises.values()) < 0.05
    once = GaussianAnswers(n=100_000, questions=500, rounds=1, sigma="0.001", grid=1)
    assert once.promise.theorem == "counting histories" and once.promise.width < 0.013


def test_bad_parameters() -> None:
    for given_, name in (({"delta": -1}, "delta"), ({"alpha": -1}, "alpha"), ({"excess": "-0.1"}, "excess")):
        with pytest.raises(BadParameter) as caught:
            posterior.private_at("0.05", 1, **given_)
        assert caught.value.name == name
