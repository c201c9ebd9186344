r"""Timing: how long an answer or a refusal takes.

Calls on x and on y, in random order, are timed; one half of them gives a threshold, by which the other half is
guessed.  If the time says nothing, guesses are right with probability 1/2 exactly, whatever the machine does
meanwhile, since the order is that of a fair coin.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core import samplers
from ...core.errors import Refused
from ...core.exact import Floats
from ...core.parameters import function, whole
from ...core.randomness import SYSTEM, Source
from .outcome import Attack, Outcome
from .reconstruction import Bits
from .system import Ask, People, System

CALLS, ROWS = 2000, 20_000


@dataclass(frozen=True)
class Timing:
    """Nanoseconds of each call, which input it was on, and how many guesses were right."""

    nanoseconds: Floats
    on_y: Bits
    outcome: Outcome

    @property
    def area(self) -> float:
        """The chance that a call on y takes longer than one on x (the area under the ROC curve); 1/2 says nothing."""
        x, y = np.sort(self.nanoseconds[~self.on_y]), self.nanoseconds[self.on_y]
        below = np.searchsorted(x, y, side="left") + np.searchsorted(x, y, side="right")
        return float(below.mean() / (2 * len(x)))

    def rows(self) -> list[dict[str, Any]]:
        """Quantiles of the times on either input, for a table or a plot."""
        shares = (0.05, 0.25, 0.5, 0.75, 0.95)
        x, y = (np.quantile(self.nanoseconds[at], shares) for at in (~self.on_y, self.on_y))
        return [{"share": s, "on x": a, "on y": b} for s, a, b in zip(shares, x.tolist(), y.tolist(), strict=True)]


def timing(
    run: Callable[[Any], Any],
    x: Any,
    y: Any,
    calls: int = 2000,
    *,
    clock: Callable[[], int] = time.perf_counter_ns,
    source: Source = SYSTEM,
) -> Timing:
    """Time so many calls on x or y; a refusal counts as any other answer.

    The clock counts nanoseconds: by default those that pass, with `time.process_time_ns` those of the processor.
    """
    function("clock", clock, "one that counts nanoseconds, such as time.process_time_ns")
    n = whole("calls", calls, at_least=40)
    function("run", run, "a function of x, such as the `release` of a mechanism")
    on_y = samplers.integers(2, source, n).astype(np.bool_)
    taken = np.empty(n)
    for at in (x, y):
        _timed(run, at, clock)  # the first calls are slow for reasons of their own
    for i, second in enumerate(on_y.tolist()):
        taken[i] = _timed(run, y if second else x, clock)
    threshold, slower = _learn(taken[: n // 2], on_y[: n // 2])
    guesses = (taken[n // 2 :] >= threshold) == slower
    right = int(np.count_nonzero(guesses == on_y[n // 2 :]))
    return Timing(taken, on_y, Outcome(right, n - n // 2, 0.0))


def _timed(run: Callable[[Any], Any], at: Any, clock: Callable[[], int]) -> int:
    start = clock()
    with suppress(Refused):
        run(at)
    return clock() - start


def _learn(taken: Floats, on_y: Bits) -> tuple[float, bool]:
    """The threshold that is right most often, and whether calls above it are on y."""
    order = np.argsort(taken, kind="stable")
    gain = np.cumsum(np.where(on_y[order], -1, 1))  # calls on x below, less those on y
    gain -= gain[-1] // 2
    best = int(np.argmax(np.abs(gain)))
    below, above = taken[order[best]], taken[order[min(best + 1, taken.size - 1)]]
    return math.sqrt(below * above), bool(gain[best] > 0)


def against_reading_first(source: Source) -> Outcome:
    """A system that reads rows until it meets one that it must refuse: the earlier the row, the sooner the refusal."""

    def run(rows: list[int]) -> float:
        total = 0
        for value in rows:
            if value > 100:
                raise Refused("out of bounds")
            total += value
        return float(total)

    rows = [1] * ROWS
    return timing(run, [101, *rows], [*rows, 101], CALLS // 5, source=source).outcome


def on_system(system: System, source: Source) -> Outcome:
    """A question beyond the budget: the refusal rests on public facts alone, and no row is read."""
    first, last = (np.ones(ROWS + 1, np.int64) for _ in range(2))
    first[0] = last[-1] = 101
    ranges = {"value": (0, 100)}
    with system(People({"value": first}, ranges), 1) as x, system(People({"value": last}, ranges), 1) as y:

        def run(ask: Ask) -> Floats:
            return ask("SELECT SUM(value) AS s FROM people", 2)

        return timing(run, x, y, CALLS, source=source).outcome


TIMING = Attack(
    "timing",
    "refusals that come after rows were read",
    "refusals from public facts alone",
    against_reading_first,
    on_system,
)
