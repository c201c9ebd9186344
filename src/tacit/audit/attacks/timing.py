r"""Timing: how long an answer or a refusal takes.

Calls on x and on y, in random order, are timed; on one half of them a threshold is learned, and the other half is
guessed by it.  If the time says nothing, guesses are right with probability 1/2 exactly, whatever the machine does
meanwhile, for the order is a fair coin's.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import samplers
from ...core.accounting.budget import Budget
from ...core.accounting.loss import zero
from ...core.errors import Refused
from ...core.exact import Floats
from ...core.parameters import function, whole
from ...core.randomness import SYSTEM, Source
from ...mechanisms import Laplace
from .outcome import Attack, Outcome

Bits = NDArray[np.bool_]

CALLS, ROWS = 2000, 20_000


@dataclass(frozen=True)
class Timing:
    """Nanoseconds of each call, which input it was on, and what the guesses came to."""

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
        """Quantiles of the times on either input, for a table or a picture."""
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

    The clock counts nanoseconds: those on the wall, by default, or those of the processor, by `time.process_time_ns`.
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
    """A system that reads rows until it meets one that it must refuse: the refusal comes the sooner, the earlier."""

    def run(rows: list[int]) -> float:
        total = 0
        for value in rows:
            if value > 100:
                raise Refused("out of bounds")
            total += value
        return float(total)

    rows = [1] * ROWS
    return timing(run, [101, *rows], [*rows, 101], CALLS // 5, source=source).outcome


def against_tacit(source: Source) -> Outcome:
    """A refusal from public facts alone: the price is charged before any row is read, and the budget refuses it."""
    budget, count = Budget(epsilon=1), Laplace(epsilon=2)

    def run(rows: list[int]) -> float:
        budget.charge(zero, count.loss())
        return float(np.asarray(count.sample(sum(rows), source)))

    rows = [1] * ROWS
    return timing(run, [101, *rows], [*rows, 101], CALLS, source=source).outcome


TIMING = Attack(
    "timing",
    "refusals that come after rows were read",
    "refusals from public facts alone",
    against_reading_first,
    against_tacit,
)
