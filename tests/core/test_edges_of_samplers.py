"""Draws that floats cannot decide are settled by further words, one by one and in arrays; each thread has its own."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from threading import Barrier

import numpy as np
import pytest

from tacit.core import samplers
from tacit.core.exact import exp_minus
from tacit.core.randomness import SYSTEM, Source


class Told(Source):
    """Gives these arrays, and then one word again and again."""

    def __init__(self, width, arrays, word):
        self.width, self.arrays, self.then = width, list(arrays), word

    def words(self, n):
        return self.arrays.pop(0)[:n].copy()

    def word(self):
        return self.then


def test_a_draw_on_the_edge_is_settled_by_further_words_in_the_vector_path_too():
    table = samplers._laplace_table(70, 1, True, 16)
    n, bits = 64, 16 - table.shift
    blocks, offset = np.arange(n, dtype=np.uint64) * np.uint64(1000), 3
    edge = math.floor(
        math.exp(-offset / 70) * 2**bits
    )  # the first bits of a number just below the weight, or just above
    words = np.full(n, offset << bits | edge, np.uint64)
    refused = {}
    for last in (0, (1 << 16) - 1):
        out = np.empty(n, np.int64)
        refused[last] = set(table._fill(out, Told(16, [blocks, words], last)).tolist())
    decided = [i for i in range(n) if i not in refused[0]]
    assert len(decided) > 50 and set(decided) <= refused[(1 << 16) - 1]


@pytest.mark.parametrize("count", range(1, 40))
def test_coins_at_full_width_are_decided_beyond_the_floats(count):
    unit = Fraction(1, 37)
    low, _ = exp_minus(count * unit)(64)
    off = np.arange(-3000, 3001, 7)
    words = np.array([low + int(d) for d in off], np.uint64)
    found = samplers.bernoulli_exp(np.full(off.size, count, np.int64), unit, Told(64, [words], 0))
    sure = (off < -1) | (off > 3)
    assert (found[sure] == (off < 0)[sure]).all()


def test_every_thread_has_a_stream_of_its_own():
    together = Barrier(4)

    def own(_):
        stream = SYSTEM._stream()
        together.wait()
        return stream

    with ThreadPoolExecutor(4) as pool:
        assert len({id(stream) for stream in pool.map(own, range(4))}) == 4
