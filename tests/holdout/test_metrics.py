"""Scores beyond accuracy, against their own definitions and scikit-learn's; experiments that grow."""

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from tacit.core.errors import BadData, BadParameter
from tacit.holdout import GaussianAnswers, Growing, GuessAndCheck, Ladder, Memory, growing, histories, metrics
from tacit.holdout.questions import HoldoutQuestion

DRAWN = np.random.default_rng(3)
Y, P = DRAWN.random(500) < 0.3, DRAWN.random(500)


def test_the_area_under_the_curve_is_that_of_all_pairs() -> None:
    scores = np.round(P, 1)  # with ties
    pairs = [(a > b) + (a == b) / 2 for a in scores[Y] for b in scores[~Y]]
    found = metrics.auc(Y, scores)
    assert float(found.mean) == pytest.approx(np.mean(pairs), abs=1e-12)
    assert found.independent == min(Y.sum(), (~Y).sum())
    learn = pytest.importorskip("sklearn.metrics")
    assert float(found.mean) == pytest.approx(learn.roc_auc_score(Y, scores))


def test_what_is_no_number_is_refused() -> None:
    for y, predicted in ((["a"], ["b"]), ([math.nan], [1.0]), ([1.0], [None])):
        with pytest.raises(BadData):
            metrics.squared_error(y, predicted, most=1)
    for values in (["a"], [None], [math.nan], [2]):
        with pytest.raises(BadData):
            Growing().add(values)


def test_an_area_is_a_mean_of_matched_pairs() -> None:
    """Averaged over all ways to match, which is what the bound rests on."""
    ones, zeros = np.array([0.3, 0.8]), np.array([0.1, 0.3, 0.9])
    y, scores = np.r_[np.ones(2), np.zeros(3)], np.r_[ones, zeros]
    ways = [np.mean([(a > b) + (a == b) / 2 for a, b in zip(ones, way, strict=True)]) for way in permutations(zeros, 2)]
    assert np.mean(ways) == pytest.approx(float(metrics.auc(y, scores).mean))


def test_the_interval_of_an_area_holds_for_its_matched_size() -> None:
    """The area of scores that know nothing is 1/2; of 60 positives among 600, an interval of 60 records has it."""
    areas = [metrics.auc(np.arange(600) < 60, np.random.default_rng(seed).random(600)) for seed in range(300)]

    def misses(n: int) -> int:
        found = (histories.interval(float(pairs.mean), n, math.log(20)) for pairs in areas)
        return sum(not low <= 0.5 <= high for low, high in found)

    assert {pairs.independent for pairs in areas} == {60}
    assert misses(60) <= 15  # 5 % of 300
    assert misses(600) > 30  # what all records in place of pairs would give


def test_a_holdout_answers_about_an_area() -> None:
    rule = GuessAndCheck(n=500, width="0.2")
    desk, area = rule.open(P, keeper=Memory()), metrics.auc(Y, P)
    assert desk.ask((float(area.mean), area)) == pytest.approx(float(area.mean), abs=1e-5)
    assert abs(desk.ask((0.9, area)) - float(area.mean)) <= 0.02
    few = GuessAndCheck(n=500, width="0.06")
    mean = HoldoutQuestion(None, np.array([few.whole // 2]), 0), HoldoutQuestion(None, np.array([few.whole // 2]), 50)
    widths = [high - low for low, high in (few._near(each, few.nats(_start())) for each in mean)]
    assert widths[1] < widths[0]  # fewer pairs leave less room
    for other in (Ladder(n=500, questions=3), GaussianAnswers(n=500, questions=1)):
        with pytest.raises(BadData, match="one value for each record"):
            other.open(P, keeper=Memory()).ask(area)


def _start():
    from tacit.holdout.rules.rule import State

    return State()


def test_losses_are_clipped_at_a_declared_bound() -> None:
    chance = np.array([0.9, 0.0, 0.5, 1.0])
    found = metrics.log_loss(np.array([1, 1, 0, 1]), chance, most=4)
    assert found.tolist() == pytest.approx([-math.log(0.9) / 4, 1.0, math.log(2) / 4, 0.0])
    three = metrics.log_loss(np.array([2, 0]), np.array([[0.2, 0.3, 0.5], [0.1, 0.8, 0.1]]), most=5)
    assert three.tolist() == pytest.approx([-math.log(0.5) / 5, -math.log(0.1) / 5])
    score = metrics.scaled(0.25, 0.1, most=4)
    assert (score.value, score.low, score.high) == pytest.approx((1.0, 0.6, 1.4))
    for wrong in ({"y": [0, 3], "probability": [0.5, 0.5]}, {"y": [0, 1], "probability": [0.5, 1.5]}):
        with pytest.raises(BadData):
            metrics.log_loss(np.array(wrong["y"]), wrong["probability"], most=4)
    with pytest.raises(BadParameter):
        metrics.log_loss([1], [0.5], most=0)


def test_roots_and_ratios_have_the_interval_of_their_means() -> None:
    y, guess = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 2.5, 2.0, 9.0])
    values = metrics.squared_error(y, guess, most=2)
    assert values.tolist() == [0, 0.0625, 0.25, 1]  # an error of 5 counts as 2
    score = metrics.rmse(float(values.mean()), 0.05, most=2)
    assert score.value == pytest.approx(2 * math.sqrt(values.mean()))
    assert score.low < score.value < score.high and "truly between" in str(score)
    u = metrics.in_units(y, low=0, high=5)
    error, mean, square = values.mean(), u.mean(), (u**2).mean()
    exact = 1 - (error * 4) / np.var(y)
    found = metrics.r_squared(error, mean, square, 0.0, most=2, low=0, high=5)
    assert found.value == pytest.approx(exact) and found.low == pytest.approx(exact) == found.high
    wide = metrics.r_squared(error, mean, square, 0.01, most=2, low=0, high=5)
    for e, m, s in ((a, b, c) for a in (-0.01, 0.01) for b in (-0.01, 0.01) for c in (-0.01, 0.01)):
        near = metrics.r_squared(error + e, mean + m, square + s, 0.0, most=2, low=0, high=5).value
        assert wide.low - 1e-12 <= near <= wide.high + 1e-12
    assert metrics.r_squared(0.5, 0.5, 0.25, 0.1, most=2, low=0, high=5).low == -math.inf
    with pytest.raises(BadData):
        metrics.in_units([0.0, math.nan], low=0, high=1)
    assert metrics.accuracy(["a", "b"], ["a", "c"]).tolist() == [True, False]
    with pytest.raises(BadData):
        metrics.accuracy([1, 2], [1])


def test_relative_entropy_is_inverted_from_outside_and_hardly() -> None:
    import mpmath

    with mpmath.workdps(40):
        for n in (10, 2000, 10**9, 10**15):
            for mean in (0.0, 1e-6, 0.05, 0.5, 0.999, 1.0):
                for nats in (1.0, 30.0):
                    low, high = histories.interval(mean, n, nats)
                    bound = mpmath.mpf(nats) + mpmath.log(2)
                    for p in (low, high):
                        if 0 < p < 1:
                            m = mpmath.mpf(mean)
                            kl = (m * mpmath.log(m / p) if m else 0) + (
                                (1 - m) * mpmath.log((1 - m) / (1 - mpmath.mpf(p))) if m < 1 else 0
                            )
                            assert n * kl >= bound  # fmt: skip
                            assert abs(p - mean) < 1e-12 or n * kl <= bound * (1 + 1e-3) or abs(p - mean) < 1e-9
                    t = histories.deviation(n, nats)
                    assert mean - low <= t * (1 + 1e-9) + 1e-12 and high - mean <= t * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("truth", [0.03, 0.5])
def test_a_growing_experiment_may_be_looked_at_any_time(truth: float) -> None:
    """After every eighth of 400 values, in 100 runs at 90 %, with fixed seeds: no more than 10 ever miss."""
    drawn, missed, plain = np.random.default_rng(1), 0, 0
    for _ in range(100):
        values = (drawn.random(400) < truth).astype(float)
        sums, ever, once = np.cumsum(values), False, False
        for t in range(10, 401, 8):
            look = Growing(beta="0.1", count=t, total=float(sums[t - 1]))
            ever |= look.excludes(truth)
            low, high = growing.looks(t, sums[t - 1] / t, 1, "0.1")
            once |= not low <= truth <= high
        missed, plain = missed + ever, plain + once
    assert missed <= 10
    assert plain > missed  # an interval for one look, looked at often, misses more


def test_a_confidence_sequence_against_looks_that_share_beta() -> None:
    """It is wider than one look, narrower than a hundred at their least chance, and never ends."""
    for n, mean in ((1000, 0.5), (10_000, 0.1)):
        low, high = Growing(count=n, total=mean * n).interval
        one, many = (growing.looks(n, mean, count) for count in (1, 100_000))
        assert one[1] - one[0] < high - low < 1.02 * (many[1] - many[0])
    assert Growing().interval == (0.0, 1.0)
    grown = Growing().add([0.5] * 10).add(np.ones(5))
    assert (grown.count, grown.total) == (15, 10.0) and "at every look" in str(grown)
    assert grown.interval == Growing(count=15, total=10.0).interval
    for wrong in ([1.5], [math.nan], [-1]):
        with pytest.raises(BadData):
            Growing().add(wrong)
    with pytest.raises(BadData):
        Growing(count=3, total=4.0)
    assert Growing(beta=Fraction(1, 20), count=4, total=4.0).interval[1] == 1.0


def test_the_martingale_has_mean_at_most_1() -> None:
    """Worked out for all sequences of three values of which the mean is p."""
    from scipy.special import betaln

    p, values, chances = 0.4, (0.0, 0.5, 1.0), (0.45, 0.3, 0.25)
    assert sum(v * c for v, c in zip(values, chances, strict=True)) == pytest.approx(p)
    total = 0.0
    for a, ca in zip(values, chances, strict=True):
        for b, cb in zip(values, chances, strict=True):
            for c, cc in zip(values, chances, strict=True):
                x = a + b + c
                ratio = math.exp(betaln(0.5 + x, 3.5 - x) - betaln(0.5, 0.5)) / (p**x * (1 - p) ** (3 - x))
                total += ca * cb * cc * ratio
    assert total <= 1
