"""Choices in several rows at once, where not every index is there, are those of each row by itself."""

import math
from fractions import Fraction

import numpy as np
import pytest

from tacit.core import samplers
from tacit.core.randomness import SYSTEM
from tacit.testing.sources import Seeded


class Once(Seeded):
    """One uniform integer that was prepared, and coins that all fall one way."""

    def __init__(self, at, heads):
        super().__init__(1, 9)
        self.at, self.heads, self.asked = at, heads, []

    def integer(self, n, spare=0):
        if self.asked:
            raise StopIteration
        self.asked.append(n)
        return self.at

    def below(self, *args):
        return self.heads


@pytest.mark.parametrize("counts", [[0], [0, 1, 2], [5, 0, 3, 3, 900]])
def test_what_is_not_there_is_never_chosen(counts):
    """Among others that are not there, each unit, and each coin, chooses what it would choose without them."""
    unit, there = Fraction(1, 7), [2 * i + 1 for i in range(len(counts))]
    wider = np.full((1, 15), -1)
    wider[0, there] = counts
    padded = np.full((1, 15), 10**9)  # of weight 0, so that both have words of one length
    padded[0, : len(counts)] = counts
    for heads in (True, False):
        at, last = 0, None
        while last is None or at < last:
            found, plain = Once(at, heads), Once(at, heads)
            chosen = _tried(wider, unit, found)
            expected = _tried(padded, unit, plain)
            if at < found.asked[0] - 3 * len(counts):
                assert chosen == there[expected]
            else:
                extra = (at - found.asked[0] + 3 * len(counts)) // 3
                assert chosen == (there[extra] if heads else None)
            at, last = at + 1, found.asked[0]


def _tried(counts, unit, source):
    try:
        return samplers.choices(counts, unit, source)[0]
    except StopIteration:
        return None


def test_rows_are_chosen_from_each_by_itself():
    counts = np.array([[0, -1, 2], [-1, 0, -1], [1, 1, 0]])
    draws = [samplers.choices(counts, Fraction(1), Seeded(i)) for i in range(4000)]
    for row, column in zip(counts.tolist(), zip(*draws, strict=True), strict=True):
        weights = [math.exp(-n) if n >= 0 else 0.0 for n in row]
        for i, w in enumerate(weights):
            p = w / sum(weights)
            far = 7 * math.sqrt(4000 * p * (1 - p))  # a false alarm is below 1e-11
            assert abs(column.count(i) - 4000 * p) <= far
    assert samplers.choices(counts[:0], Fraction(1), SYSTEM) == []
