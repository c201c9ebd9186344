"""The audit in one run: its bound against brute force and the literature's formula, and what it finds."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from tacit import BadParameter, Laplace, RandomizedResponse, audit
from tacit.audit.bounds import one_run_p_value
from tacit.testing.sources import Seeded


def test_the_p_value_by_its_definition():
    for records, guesses, right, epsilon, delta in (
        (40, 20, 15, 0.5, 0.0),
        (40, 20, 15, 0.5, 1e-3),
        (9, 9, 9, 2, 0.01),
    ):
        law = binom(guesses, 1 / (1 + math.exp(-epsilon)))
        slopes = [sum(law.pmf(w) for w in range(right - i, right)) / i for i in range(1, right + 1)]
        expected = min(1.0, law.sf(right - 1) + 2 * records * delta * max(slopes))
        assert one_run_p_value(records, guesses, right, epsilon, delta) == pytest.approx(expected)


def test_the_bound_is_where_the_p_value_meets_the_risk():
    for delta in (0, 1e-5):
        epsilon = audit.one_run_epsilon(1000, 800, records=5000, delta=delta, confidence="0.95")
        assert one_run_p_value(5000, 1000, 800, epsilon, delta) == pytest.approx(0.05, rel=1e-6)
    assert audit.one_run_epsilon(1000, 800, records=5000, delta="1e-5") < audit.one_run_epsilon(1000, 800)
    assert audit.one_run_epsilon(1000, 500) == 0 == audit.one_run_epsilon(10, 0)


def test_randomized_response_is_met_closely():
    """Every report is a guess as good as any mechanism allows."""
    m, source = RandomizedResponse(epsilon=1), Seeded(1)
    found = audit.one_run(
        lambda present: m.sample(present, source), lambda reports: reports, 20_000, guesses=20_000, source=source
    )
    assert 0.85 <= found.epsilon <= 1
    assert found.guesses == found.records == 20_000 and "20000 guesses" in str(found)


def test_a_noisy_histogram_is_met_and_half_its_noise_found():
    source = Seeded(2)
    for scale, least, most in ((1, 0.8, 1.0), ("0.5", 1.5, 2.0)):
        m = Laplace(scale=scale)
        found = audit.one_run(
            lambda present, m=m: m.sample(present.astype(int), source), lambda y: y, 20_000, source=source
        )
        assert least <= found.epsilon <= most
        assert found.guesses == 2000


def test_it_errs_no_oftener_than_it_says():
    """At confidence 0.8; false alarm below 1e-9."""
    m, source, runs = RandomizedResponse(epsilon="0.5"), Seeded(3), 400
    wrong = sum(
        audit.one_run(
            lambda present: m.sample(present, source),
            lambda y: y,
            100,
            guesses=100,
            confidence="0.8",
            source=source,
        ).epsilon
        > 0.5
        for _ in range(runs)
    )
    assert wrong > 0 and binom.sf(wrong - 1, runs, 0.2) > 1e-9


def test_a_mechanism_that_says_nothing_proves_nothing():
    found = audit.one_run(
        lambda present: None, lambda _: np.zeros(1000), 1000, confidence="0.9999999999", source=Seeded(4)
    )
    assert found.epsilon == 0


def test_what_is_refused():
    for name, call in {
        "records": {"records": 1},
        "guesses": {"guesses": 11, "records": 10},
        "scores": {"records": 10, "guesses": 5},
    }.items():
        with pytest.raises(BadParameter, match=name):
            audit.one_run(lambda present: present, lambda y: [0.0], **call)
    with pytest.raises(BadParameter, match="right"):
        audit.one_run_epsilon(10, 11)
