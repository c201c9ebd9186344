"""Pace: answers leave on a public grid of time, so that how long a question took reveals almost nothing.

All that touches data (reading, drawing, storing) runs apart from the asker.  If it is done T seconds after the question
arrived, then what comes of it, an answer or an error, leaves at the first multiple of `time_grid` after the arrival
that is not before T + U, U being uniform between 0 and `time_grid`.  If it is not done by the deadline, which is
counted from when the question was paid for, the question fails then, as anything fails between a charge and its draw:
with an `EngineError` that says nothing.  Its charge is kept, the work goes on, and what it stores answers the same
question later, free of charge.

Privacy.  On neighbouring tables let the work take T and T' seconds.  For one U both leave at the same moment, unless U
falls into a set of length |T - T'|; so what is seen of the two has total variation at most E|T - T'| / `time_grid`, for
the best coupling of T and T', however a question is shaped.  Without U a question whose work ends about a multiple of
the grid would reveal as much as its time does.

Repeats are free, so they must reveal no more: an answer has one moment at which it leaves, drawn once, and who asks
again before that moment waits for it.  What left before, and what is refused from public facts, does not wait.  Other
processes on the same ledger see an answer as soon as it is stored, so with a grid let one process answer.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Hashable
from fractions import Fraction
from typing import Any, Protocol, TypeVar

from ..core.errors import BadParameter, EngineError
from ..core.parameters import Number, positive
from ..core.randomness import SYSTEM

T = TypeVar("T")
STEPS = 10  # of the grid until the deadline, by default


class Clock(Protocol):
    """Seconds that never go back."""

    def now(self) -> float:
        """The time."""

    def wait(self, done: threading.Event, until: float) -> None:
        """Return when the event is set, and at this time if it is not."""

    def sleep(self, until: float) -> None:
        """Return at this time."""


class _Monotonic:
    """The clock of the operating system."""

    def now(self) -> float:
        return time.monotonic()

    def wait(self, done: threading.Event, until: float) -> None:
        done.wait(max(0.0, until - self.now()))

    def sleep(self, until: float) -> None:
        while (left := until - self.now()) > 0:
            time.sleep(left)


class _Work:
    """What touches data, on a thread of its own: its result or its error, and the one moment at which it leaves."""

    def __init__(self, step: Callable[[], Any], clock: Clock, leaving: Callable[[float], float]) -> None:
        self._step, self._clock, self._leaving, self.done = step, clock, leaving, threading.Event()
        self.result: Any = None
        self.error: BaseException | None = None
        self.leaves = math.inf

    def run(self) -> None:
        try:
            self.result = self._step()
        except BaseException as error:  # whatever it is, it leaves on the grid, too
            self.error = error
        self.leaves = self._leaving(self._clock.now())
        self.done.set()


class Pace:
    """Lets what depends on data leave on a grid of time; without one, at once."""

    def __init__(self, time_grid: Number | None, deadline: Number | None, clock: Clock | None = None) -> None:
        self.clock, self._grid, self._steps = clock or _Monotonic(), 0.0, 0
        self._lock, self._works = threading.Lock(), dict[Hashable, _Work]()
        if time_grid is None:
            if deadline is not None:
                raise BadParameter("deadline", deadline, "given together with time_grid=")
            return
        grid = positive("time_grid", time_grid)
        steps = Fraction(STEPS) if deadline is None else positive("deadline", deadline) / grid
        if steps.denominator != 1:
            raise BadParameter("deadline", deadline, f"a whole multiple of time_grid, which is {time_grid}")
        self._grid, self._steps = float(grid), int(steps)

    @property
    def on(self) -> bool:
        """Whether there is a grid."""
        return bool(self._steps)

    def arrival(self) -> float:
        """The time at which a question arrives: now."""
        return self.clock.now() if self.on else 0.0

    def let_out(self, arrived: float, key: Hashable, work: Callable[[], T]) -> T:
        """The result of the work, released on the grid of a question that arrived then and is paid for now.

        `key` names the work: a question that is asked again before its result has left waits for that result.
        """
        if not self.on:
            return work()
        limit = arrived + (self._multiple(self.clock.now() - arrived) + self._steps) * self._grid
        under_way = self._start(arrived, key, work)
        self.clock.wait(under_way.done, limit)
        leaves = under_way.leaves if under_way.done.is_set() else math.inf
        self.clock.sleep(min(leaves, limit))
        if leaves > limit:
            raise EngineError
        if under_way.error is not None:
            raise under_way.error
        result: T = under_way.result
        return result

    def hold(self, key: Hashable) -> None:
        """Wait until the result of this work has left, if it is stored and has not left yet."""
        with self._lock:
            under_way = self._works.get(key)
        if under_way is not None:
            under_way.done.wait()
            self.clock.sleep(under_way.leaves)

    @staticmethod
    def uniform() -> float:
        """A uniform number between 0 and 1."""
        return SYSTEM.word() / (1 << SYSTEM.width)

    def _multiple(self, seconds: float) -> int:
        """How many steps of the grid, at least one, are not fewer than so many seconds."""
        return max(1, math.ceil(seconds / self._grid))

    def _start(self, arrived: float, key: Hashable, work: Callable[[], Any]) -> _Work:
        """The work of this name whose result has not left, or new work; its delay is drawn once, for all who ask."""
        delay = self._grid * self.uniform()

        def leaving(ended: float) -> float:
            return arrived + self._multiple(ended + delay - arrived) * self._grid

        with self._lock:
            now = self.clock.now()
            self._works = {name: each for name, each in self._works.items() if now < each.leaves}
            if (under_way := self._works.get(key)) is not None:
                return under_way
            started = self._works[key] = _Work(work, self.clock, leaving)
        try:
            threading.Thread(target=started.run, daemon=True).start()
        except RuntimeError:  # there can be no more threads
            started.error, started.leaves = EngineError(), leaving(now)
            started.done.set()
        return started
