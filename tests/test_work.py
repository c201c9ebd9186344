"""Work that does not depend on private values: random words that are drawn and lines that are run, counted, not timed.

On inputs of the same size and with the same seed, a mechanism draws the same number of words and runs the same number
of lines of tacit's own code, unless what it releases is itself of another length.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import tacit
from tacit import mechanisms as m
from tacit.core import samplers
from tacit.core.randomness import Source, Words
from tacit.testing.sources import Seeded
from tacit.workloads import METHODS, Domain, Histogram, Price, prefixes
from tacit.workloads.methods.weights.small_db import SmallDB

HOME = str(Path(tacit.__file__).parent)
SEEDS = range(12)


class Counting(Source):
    """Counts the words that are drawn."""

    def __init__(self, seed: int) -> None:
        self._inner, self.width, self.drawn = Seeded(seed), 64, 0

    def words(self, n: int) -> Words:
        self.drawn += n
        return self._inner.words(n)

    def word(self) -> int:
        self.drawn += 1
        return self._inner.word()


def work(draw: Callable[[Source], Any], seed: int) -> tuple[Any, int, int]:
    """What is drawn, after how many words and how many lines."""
    source, lines = Counting(seed), 0

    def line(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal lines
        lines += event == "line"
        return line

    def call(frame: FrameType, event: str, arg: object) -> Any:
        return line if frame.f_code.co_filename.startswith(HOME) else None

    before = sys.gettrace()
    gc.disable()  # else what other tests left behind may be cleared away here, by lines of tacit
    sys.settrace(call)
    try:
        found = draw(source)
    finally:
        sys.settrace(before)
        gc.enable()
    return found, source.drawn, lines


def same_work(draw: Callable[[Any, Source], Any], x: Any, y: Any) -> None:
    """Draws on both inputs are compared where what they release is as long."""
    compared = 0
    for inputs in (x, y):
        draw(inputs, Seeded(0))  # so that what is kept for the next time is there
    for seed in SEEDS:
        (a, *on_x), (b, *on_y) = (work(lambda source, at=at: draw(at, source), seed) for at in (x, y))  # type: ignore[misc]
        if np.size(a) == np.size(b) and (a is None) == (b is None):
            assert on_x == on_y, seed
            compared += 1
    assert compared


EXAMPLES = [
    pytest.param(case, id=f"{kind.__name__}-{i}")
    for kind in m.ALL
    for i, case in enumerate(kind.examples())
    if kind is not m.KeySelection  # which draws once for each key that is present
]


@pytest.mark.parametrize("case", EXAMPLES)
def test_neighbours_take_the_same_work(case: Any) -> None:
    same_work(case.mechanism.sample, case.x, case.y)


def scores(n: int = 3000) -> dict[str, Any]:
    return {
        "all alike": np.zeros(n, np.int64),
        "one far ahead": np.eye(1, n, dtype=np.int64)[0] * 10**9,
        "all in a row": np.arange(n),
        "half far behind": np.arange(n) % 2 * 10**6,
    }


SELECTIONS = [
    m.Exponential(epsilon=1),
    m.PermuteAndFlip(epsilon=1),
    m.NoisyMax(epsilon=1),
    m.NoisyMaxWithGap(epsilon=1),
    m.TopK(k=3, epsilon=3),
    m.TopK(k=3, epsilon=3, selector="permute-and-flip"),
]


@pytest.mark.parametrize("selection", SELECTIONS, ids=lambda s: type(s).__name__)
def test_selections_take_the_same_work_on_hostile_scores(selection: Any) -> None:
    first, *others = scores().values()
    for other in others:
        same_work(selection.sample, first, other)


def test_choices_among_many_draw_the_same_words() -> None:
    """How many units there are depends on the data: no round of words may be refused for it."""
    n = 1 << 21
    for counts in (
        np.zeros(n, np.int64),
        np.r_[0, np.full(n - 1, 10**6)],
        np.r_[np.zeros(n // 3, int), np.full(9, 70)],
    ):
        drawn = set()
        for seed in range(30):
            source = Counting(seed)
            samplers.choice(counts, Fraction(1), source)
            drawn.add(source.drawn)
        assert drawn == {2}


@pytest.mark.parametrize("noise", [m.AboveThreshold(threshold=0, epsilon=1), m.Sparse(threshold=0, epsilon=1, count=4)])
def test_streams_are_compared_to_their_end_wherever_the_last_hit_is(noise: Any) -> None:
    late = np.r_[np.full(500, -(10**6)), np.full(4, 10**6)]
    for early in (late[::-1], np.zeros(504, int)):
        same_work(noise.sample, late, early)


def test_small_tables_are_chosen_with_the_same_work() -> None:
    domain = Domain.of({"x": 4})
    workload = prefixes(domain, "x")
    for price in (Price.of(epsilon=1), Price.of(rho="0.1")):
        for size in (None, 3, 8):
            method = SmallDB(size=size)

            def choose(data: Any, source: Source, method: Any = method, price: Any = price) -> Any:
                return method.choose(workload, data, price, source, 400)

            fits, misfits = Histogram(domain, [100, 100, 100, 100]), Histogram(domain, [399, 1, 0, 0])
            same_work(choose, fits, misfits)


# How much these draw follows from earlier draws of theirs, which are paid for: updates, and bins of noisy counts.
ADAPTIVE = ("pmw", "tree")


@pytest.mark.parametrize(
    "method", [each for each in METHODS if each.name not in ADAPTIVE], ids=lambda method: method.name
)
def test_methods_draw_the_same_words_on_hostile_tables(method: Any) -> None:
    """Tables of one size, so that it does not matter which of them is chosen privately, to be measured.

    Lines are not compared: what is fitted to noisy numbers is post-processing, and takes as long as it takes.
    """
    domain = Domain.of({"x": 4, "y": 4})
    tried = 0
    for price in (Price.of(epsilon=1), Price.of(rho="0.1"), Price.of(epsilon=1, unit=tacit.SUBSTITUTE.histogram())):
        workload = tacit.workloads.marginals(domain, k=1)
        if method.refusal(workload, 1200, price) is not None:
            continue
        tables = [[75] * 16, [1200, *[0] * 15], [0, 0, 600, 0, 0, 0, 0, 600, *[0] * 8]]
        for seed in SEEDS[:4]:
            drawn = set()
            for table in tables:
                source = Counting(seed)
                method.release(workload, Histogram(domain, table, price.unit), price, source, n=1200)
                drawn.add(source.drawn)
            assert len(drawn) == 1, (price, seed, drawn)
        tried += 1
    assert tried or method.refusal(tacit.workloads.marginals(domain, k=1), 1200, Price.of(epsilon=1))


def test_a_draw_until_a_coin_lands_heads_is_seen() -> None:
    """The check above can fail."""

    def draw(gap: Any, source: Source) -> int:
        while not samplers.bernoulli_exp(np.array([gap]), Fraction(1), source)[0]:
            pass
        return 0

    with pytest.raises(AssertionError):
        same_work(draw, 0, 3)
