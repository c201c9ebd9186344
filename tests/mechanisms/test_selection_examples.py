"""Selection at work: eye colour, and votes, where a winner can be cheaper than the counts."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit.core.distance import ADD_REMOVE, SUBSTITUTE
from tacit.core.errors import BadParameter
from tacit.mechanisms.additive.laplace import Laplace
from tacit.mechanisms.selection.exponential import Exponential
from tacit.mechanisms.selection.noisy_max import NoisyMax
from tacit.mechanisms.selection.permute_and_flip import PermuteAndFlip

COLOURS = ("brown", "blue", "green")
EYES = [10, 7, 3]


def test_the_most_common_eye_colour() -> None:
    """Counts of people: one who is added raises some and lowers none, so the noise may be half as wide."""
    right = {}
    for name, mechanism in {
        "exponential": Exponential(epsilon=1, sensitivity=ADD_REMOVE.histogram(), monotone=True),
        "both ways": Exponential(epsilon=1, sensitivity=ADD_REMOVE.histogram()),
        "permute and flip": PermuteAndFlip(epsilon=1, sensitivity=ADD_REMOVE.histogram(), monotone=True),
        "noisy max": NoisyMax(epsilon=1, sensitivity=ADD_REMOVE.histogram(), monotone=True),
    }.items():
        assert mechanism.loss().epsilon() == 1
        assert COLOURS[mechanism.release([100, 7, 3])] == "brown"  # but for a chance of 1e-18
        right[name] = mechanism.law(EYES).mass(COLOURS.index("brown"))
    assert right["both ways"] == pytest.approx(0.798, abs=1e-3)
    assert right["exponential"] == pytest.approx(0.952, abs=1e-3)
    assert right["both ways"] < right["exponential"] < right["permute and flip"]
    assert right["noisy max"] == pytest.approx(0.963, abs=1e-3)  # brown comes first, and wins the ties


def test_a_person_whose_eyes_change_colour_moves_counts_both_ways() -> None:
    with pytest.raises(BadParameter):
        Exponential(epsilon=1, sensitivity=SUBSTITUTE.histogram(), monotone=True)
    m = Exponential(epsilon=1, monotone=True)
    p, q = m.law(EYES), m.law([9, 8, 3])
    ratio = max(abs(math.log(p.mass(i) / q.mass(i))) for i in range(3))
    assert 1 < ratio <= m.loss(SUBSTITUTE.histogram()).epsilon() == 2


def winner(counts: list[int], scale: float) -> float:
    """P[the first is largest] when each count gets discrete Laplace noise of this scale."""
    return NoisyMax(epsilon=1 / scale, monotone=True).law(counts).mass(0)


def test_with_one_vote_each_the_whole_histogram_costs_no_more_than_its_winner() -> None:
    counts = Laplace(epsilon="0.5", sensitivity=ADD_REMOVE.histogram())
    only = NoisyMax(epsilon="0.5", sensitivity=ADD_REMOVE.histogram(), monotone=True)
    assert counts.loss().epsilon() == only.loss().epsilon() == 0.5
    assert counts.scale == only.scale == 2
    assert np.argmax(counts.release(np.array([300, 28, 5]))) == 0  # but for a chance of 1e-55


def test_with_approval_votes_the_winner_stays_cheap_and_the_histogram_does_not() -> None:
    """Who may vote for all of m candidates moves every count by one: l1 = m, but the range of the moves stays 1."""
    counts, m = [900, 700] + [300] * 48, 50
    histogram = Laplace(epsilon="0.1", sensitivity=ADD_REMOVE.counts(m))
    only = NoisyMax(epsilon="0.1", sensitivity=ADD_REMOVE.counts(m), monotone=True)
    assert histogram.loss().epsilon() == only.loss().epsilon() == 0.1
    assert histogram.scale == m * only.scale
    from_counts, direct = winner(counts, float(histogram.scale)), only.law(counts).mass(0)
    assert direct > 1 - 1e-7
    assert from_counts < 0.2
    # the counts at the noise that the winner needs would cost m times as much
    assert Laplace(scale=only.scale).loss(ADD_REMOVE.counts(m)).epsilon() == pytest.approx(m * 0.1)


def test_a_substituted_ballot_costs_the_winner_twice_as_much_and_no_more() -> None:
    only = NoisyMax(epsilon="0.1", sensitivity=SUBSTITUTE.counts(50))
    assert only.scale == 20
    assert only.loss().epsilon() == 0.1
    assert only.law([900, 700] + [300] * 48).mass(0) > 0.999
