"""The reusable holdout against its own law, worked out: privacy, exactly; the sampler, by its frequencies."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import chi2

from tacit.core.law import DiscreteLaplaceLaw
from tacit.holdout import ReusableHoldout
from tacit.holdout.questions import HoldoutQuestion
from tacit.testing.sources import Seeded

N, GUESSES = 4, (2, 1)
RULE = ReusableHoldout(
    n=N, questions=2, exceptions=1, threshold="0.3", epsilon="1.5", resolution="1/4", grid=1, beta="0.5"
)
Transcript = tuple[float, ...]


FINE = ReusableHoldout(
    n=2, questions=2, exceptions=1, threshold="0.3", epsilon="1.5", resolution="1/4", grid="1/4", beta="0.5"
)


def law(rule: ReusableHoldout, totals: tuple[int, int]) -> dict[Transcript, float]:
    """The probability of each transcript: a right guess is the answer; a number ends the session."""
    m, parts = rule.mechanism, int(1 / rule.resolution)
    low, high = m.threshold_noise.interval(1e-18)
    z = np.arange(low, high + 1)
    bars, live = (
        z + math.floor(rule.effective_threshold * rule.whole) + round(m.query_noise.mean - m.threshold_noise.mean),
        m.threshold_noise.mass(z),
    )
    result: dict[Transcript, float] = {}
    before: Transcript = ()
    for total, guess in zip(totals, GUESSES, strict=True):
        top = m.query_noise.at_least(bars - abs(total - guess))
        number = DiscreteLaplaceLaw(m.scales[2], total)
        for j in range(parts + 1):
            chance = math.fsum(number.mass(y) for y in number.support(1e-18) if rule.rounded(y, parts) == j)
            result[(*before, j / parts)] = result.get((*before, j / parts), 0.0) + float(np.sum(live * top)) * chance
        live, before = live * (1 - top), (*before, guess / rule.whole)
    # a guess and a number may be the same text; that they are confused is post-processing
    result[before] = result.get(before, 0.0) + float(np.sum(live))
    return result


@pytest.mark.parametrize("totals", list(product(range(N + 1), repeat=2)))
def test_privacy_is_as_stated(totals: tuple[int, int]) -> None:
    """One record substituted moves each sum by at most 1, either way."""
    here, worst = law(RULE, totals), 0.0
    assert math.fsum(here.values()) == pytest.approx(1, abs=1e-12)
    for move in product((-1, 0, 1), repeat=2):
        there = law(RULE, (totals[0] + move[0], totals[1] + move[1]))
        worst = max(worst, *(abs(math.log(here[y] / there[y])) for y in here))
    assert worst <= RULE.loss().epsilon() + 1e-9
    assert worst > 0.2  # and it is not for nothing


@pytest.mark.parametrize("totals", [(0, 8), (4, 4), (8, 2), (2, 1)])
def test_on_a_grid_a_record_moves_a_sum_by_a_unit(totals: tuple[int, int]) -> None:
    assert FINE.unit == 4
    here, worst = law(FINE, totals), 0.0
    for move in product((-4, 0, 4), repeat=2):
        there = law(FINE, (totals[0] + move[0], totals[1] + move[1]))
        worst = max(worst, *(abs(math.log(here[y] / there[y])) for y in here))
    assert 0.2 < worst <= FINE.loss().epsilon() + 1e-9
    assert FINE.loss().epsilon() == 1.5


def test_the_sampler_follows_the_law() -> None:
    totals, draws = (4, 3), 4000
    seen: dict[Transcript, int] = {}
    source = Seeded(11)
    for _ in range(draws):
        state, result = RULE.begin(source), list[float]()
        for total, guess in zip(totals, GUESSES, strict=True):
            if not RULE.over(state):
                state, answer = RULE.step(
                    state, HoldoutQuestion(guess, (np.arange(N) < total).astype(np.int64)), source
                )
                result.append(answer)
        seen[tuple(result)] = seen.get(tuple(result), 0) + 1
    exact = law(RULE, totals)
    assert set(seen) <= set(exact)
    cells = [(seen.get(y, 0), draws * p) for y, p in exact.items() if draws * p >= 5]
    statistic = sum((o - e) ** 2 / e for o, e in cells)
    assert statistic < chi2.isf(1e-9, len(cells))
    wrong = law(ReusableHoldout(**{**parameters(), "epsilon": "2.2"}), totals)  # and it would see another scale
    assert sum((seen.get(y, 0) - draws * p) ** 2 / (draws * p) for y, p in wrong.items() if draws * p >= 5) > 100


def parameters() -> dict[str, object]:
    return {
        "n": N,
        "questions": 2,
        "exceptions": 1,
        "threshold": "0.3",
        "resolution": "1/4",
        "grid": 1,
        "beta": "0.5",
    }


def test_sample_accuracy_is_as_stated() -> None:
    """Answers farther than alpha(b) from the holdout mean have probability at most b."""
    for totals in ((0, 4), (4, 0), (3, 3)):
        for b in (Fraction(1, 2), Fraction(1, 10), Fraction(1, 100)):
            far = float(RULE.alpha(b)) + 1e-12
            bad = sum(
                p
                for result, p in law(RULE, totals).items()
                if any(abs(answer - total / N) > far for answer, total in zip(result, totals, strict=False))
            )
            assert bad <= b
