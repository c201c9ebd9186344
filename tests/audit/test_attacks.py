"""Attacks: each breaks the system it is for, and gets no further with the curator than its claim allows.

Attackers' draws are seeded, but for the clock; the curator's are fresh, and a control fails by chance with probability
below 1e-9.
"""

import json
import math
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from tacit import BadParameter, Curator, Laplace, Refused
from tacit.audit import attacks
from tacit.audit.attacks import floating_point, reconstruction
from tacit.audit.attacks.membership import trace
from tacit.core.randomness import SYSTEM
from tacit.testing.attacks import conform, curator, table, withstands
from tacit.testing.mechanisms import Refuted
from tacit.testing.sources import Seeded

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "golden.json").read_text())["entries"]


@pytest.mark.parametrize("attack", attacks.ALL, ids=lambda attack: attack.name)
def test_each_attack_breaks_what_it_is_for(attack):
    found = attack.on_naive(Seeded(1))
    assert found.share > 0.9
    assert found.epsilon("0.999999999") > 1
    assert found.limit == 1 or found.epsilon("0.999999999") > found.claim


@pytest.mark.parametrize("attack", attacks.ALL, ids=lambda attack: attack.name)
def test_and_fails_against_its_control(attack):
    """The number of right guesses is at most binomial with the chance that the claim allows."""
    found = withstands(curator, attack, Seeded(1))
    assert found.claim <= 1
    assert binom.sf(found.right - 1, found.guesses, found.limit) > 1e-10
    assert found.epsilon("0.9999999999") <= found.claim


def test_the_table_has_both():
    rows = table(Seeded(2))
    assert len(rows) == 2 * len(attacks.ALL)
    assert all(naive["right"] > tacit["right"] for naive, tacit in zip(rows[::2], rows[1::2], strict=True))


class Redrawing(Curator):
    """A curator that answers each repetition with a new draw, and has no end of money."""

    def ask(self, question, **terms):
        return super().ask(question, **terms, fresh=True)


def test_a_curator_that_redraws_on_each_repeat_is_caught():
    def redrawing(people, epsilon):
        return curator(people, 1000, Redrawing)

    with pytest.raises(Refuted, match=r"averaging proves an epsilon of .*, where the system claims 1"):
        conform(redrawing, Seeded(1))
    for attack in set(attacks.ALL) - {attacks.AVERAGING}:
        withstands(redrawing, attack, Seeded(1))  # the others ask nothing twice


def test_a_curator_that_redraws_is_stopped_by_its_budget():
    """A repetition that is charged again is refused, and one answer says no more than its epsilon."""
    found = withstands(lambda people, epsilon: curator(people, epsilon, Redrawing), attacks.AVERAGING)
    assert binom.sf(found.right - 1, found.guesses, found.limit) > 1e-10


class Loud(Curator):
    """A curator that adds next to no noise, whatever epsilon is asked for."""

    def ask(self, question, *, epsilon):
        return super().ask(question, epsilon=2**20)


ASKING = (attacks.RECONSTRUCTION, attacks.DIFFERENCING, attacks.AVERAGING, attacks.MEMBERSHIP)


@pytest.mark.parametrize("attack", ASKING, ids=lambda attack: attack.name)
def test_a_curator_with_next_to_no_noise_is_caught(attack):
    with pytest.raises(Refuted, match=f"{attack.name} proves"):
        withstands(lambda people, epsilon: curator(people, 2**30, Loud), attack, Seeded(1))


def test_a_system_with_noise_in_doubles_is_caught_by_its_last_bits():
    @contextmanager
    def naive(people, epsilon):
        yield lambda question, epsilon: floating_point.naive_laplace(people.columns["value"], 1.0, Seeded(2))

    with pytest.raises(Refuted, match="floating point proves"):
        withstands(naive, attacks.FLOATING_POINT, Seeded(1))


def test_a_system_that_reads_before_it_refuses_is_caught_by_timing():
    @contextmanager
    def reading_first(people, epsilon):
        def ask(question, epsilon):
            for value in people.columns["value"]:
                if value > 100:
                    raise Refused("out of bounds")

        yield ask

    with pytest.raises(Refuted, match="timing proves"):
        withstands(reading_first, attacks.TIMING, Seeded(1))


def test_512_people_are_reconstructed_from_2048_sums_in_a_minute():
    n, source = 512, Seeded(3)
    start = time.perf_counter()
    broken = reconstruction.against_small_noise(source, n)
    assert time.perf_counter() - start < 60
    assert broken.share > 0.95
    kept = reconstruction.on_system(curator, source, n)
    assert kept.share < 0.6 and kept.guesses == n


def test_rounded_and_bounded_errors_yield_to_the_largest_error_program():
    n, source = 96, Seeded(4)
    secret, queries = attacks.secret_column(n, source), attacks.subset_queries(n, 10 * n, source)
    sums = queries.astype(int) @ secret
    assert np.mean(attacks.reconstruct(queries, 4 * np.rint(sums / 4), "linf") == secret) > 0.95
    assert (attacks.reconstruct(queries, sums, "linf") == secret).all()
    assert (attacks.reconstruct(queries, sums) == secret).all()


def test_a_few_wild_answers_do_not_mislead_the_sum_of_errors():
    n, source = 64, Seeded(5)
    secret, queries = attacks.secret_column(n, source), attacks.subset_queries(n, 4 * n, source)
    answers = (queries.astype(int) @ secret).astype(float)
    answers[: n // 4] += 1000
    assert (attacks.reconstruct(queries, answers) == secret).all()


def test_what_fits_all_subset_sums_is_wrong_in_at_most_4_errors():
    n, source = 8, Seeded(6)
    subsets = np.arange(1 << n)[:, None] >> np.arange(n) & 1
    for error in (0.4, 0.5, 1, 1.5):
        for _ in range(5):
            secret = attacks.secret_column(n, source)
            shift = np.array([source.integer(2001) for _ in subsets]) / 1000 - 1
            fits = reconstruction.consistent(subsets @ secret + error * shift, error)
            assert (fits == secret).all(axis=1).any()
            assert (fits != secret).sum(axis=1).max() <= reconstruction.wrong_places(error)


def test_golden_values():
    (entry,) = (entry for entry in GOLDEN if entry["id"].startswith("dn."))
    assert reconstruction.wrong_places(entry["inputs"]["E"]) == pytest.approx(entry["value"], rel=entry["tolerance"])


def test_defences_compared():
    rows = attacks.compare(48, (0.25, 8.0), repeats=2, source=Seeded(7))
    shares = {(row["defence"], row["queries"]): row["recovered"] for row in rows}
    assert len(rows) == len(shares) == 12
    for weak in ("exact", "below 10 suppressed", "noise sqrt(n)/10 each"):
        assert shares[weak, 384] > 0.95 >= shares[weak, 12]
    assert shares["rounded to 10", 384] > 0.7 > shares["tacit, epsilon 1 in all", 384]
    asked = attacks.compare(16, (1.0,), repeats=1, system=curator, source=Seeded(7))
    assert [row["defence"] for row in asked] == [row["defence"] for row in rows[::2]]
    own = attacks.compare(16, (1.0,), using={"silence": lambda sums, source: np.full(sums.size, math.nan)}, repeats=1)
    assert own[0]["defence"] == "silence"


def test_the_transition_is_where_noise_is_sqrt_n():
    rows = attacks.transition((64,), (0.05, 0.1, 4.0), source=Seeded(8))
    assert [row["noise"] for row in rows] == pytest.approx([0.4, 0.8, 32.0])
    assert rows[0]["recovered"] > 0.95 and rows[1]["recovered"] > 0.9 and rows[2]["recovered"] < 0.8


@pytest.mark.slow
def test_the_full_picture_with_fresh_randomness():
    """At n = 256 the share recovered falls from all to little within a factor of 20 in the noise.

    Its deviation is about 0.01: each margin is ten of these or more.
    """
    rows = attacks.transition((256,), (0.1, 0.2, 3.0, 5.0))
    assert rows[0]["recovered"] > 0.9 and rows[1]["recovered"] > 0.85
    assert max(row["recovered"] for row in rows[2:]) < 0.75
    compared = attacks.compare(128)
    assert max(row["recovered"] for row in compared if row["defence"].startswith("tacit")) < 0.75
    for attack in attacks.ALL:
        assert attack.on_naive(SYSTEM).share > 0.9
        found = attack.on_system(curator, SYSTEM)
        assert binom.sf(found.right - 1, found.guesses, found.limit) > 1e-10


def test_differencing_and_suppression():
    secret = np.array([True, False, True])
    assert attacks.differencing(lambda people: float((secret & people).sum()), 3, 0)
    assert not attacks.differencing(lambda people: float((secret & people).sum()), 3, 1)
    assert not attacks.differencing(lambda people: None, 3, 0)


def test_averaging_beats_the_noise():
    source, noise = Seeded(9), Laplace(epsilon=1)
    assert attacks.averaging(lambda: noise.sample(11, source), 400, 10, 11)
    assert not attacks.averaging(lambda: noise.sample(10, source), 400, 10, 11)


def test_naive_laplace_has_holes_and_numpy_too():
    source, n = Seeded(10), 4000
    outputs = floating_point.naive_laplace(np.zeros(n), 1.0, source)
    assert attacks.possible(outputs, 0.0, 1).all()
    assert 0.2 < attacks.possible(outputs, 1.0, 1).mean() < 0.5
    theirs = np.random.default_rng(1).laplace(1.0, 1.0, n)
    assert attacks.possible(theirs, 1.0, 1).mean() > 0.95  # a logarithm may differ in its last bit
    guess = attacks.which(theirs, 0.0, 1.0, 1)
    assert (guess == 1).mean() > 0.5 and (guess == -1).mean() < 0.01
    assert set(attacks.which([0.1, 1.1, 5.0], 0.0, 1.0, 1).tolist()) <= {-1, 0, 1}


def test_timing_sees_a_loop_and_counts_refusals():
    found = attacks.timing(lambda n: sum(range(n)), 10, 20_000, 400, source=Seeded(11))
    assert found.area > 0.9 and found.outcome.share > 0.9 and len(found.nanoseconds) == 400
    middle = found.rows()[2]
    assert middle["share"] == 0.5 and middle["on y"] > middle["on x"]
    backwards = attacks.timing(lambda n: sum(range(n)), 20_000, 10, 400, source=Seeded(11))
    assert backwards.area < 0.1 and backwards.outcome.share > 0.9


def test_the_time_of_an_answer_does_not_depend_on_a_neighbour():
    noise = Laplace(epsilon=1)
    found = attacks.timing(lambda x: noise.sample(x, SYSTEM), 1000, 1001, 4000, source=Seeded(12))
    assert binom.sf(found.outcome.right - 1, found.outcome.guesses, 0.5) > 1e-10


def test_what_is_refused():
    with pytest.raises(BadParameter, match="answers"):
        attacks.reconstruct([[1, 0], [0, 1]], [1])
    with pytest.raises(BadParameter, match="norm"):
        attacks.reconstruct([[1, 0]], [1], "l2")
    with pytest.raises(BadParameter, match="answers"):
        reconstruction.consistent([0, 1, 1], 1)
    with pytest.raises(BadParameter, match="marginals"):
        trace([[1, 0]], [0.5], [0.5, 0.5], 10)
    with pytest.raises(BadParameter, match="calls"):
        attacks.timing(len, [], [], 10)
    nothing = attacks.Outcome(0, 0, 1.0)
    assert nothing.share == 0.5 and nothing.epsilon() == 0
