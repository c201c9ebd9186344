r"""Differencing: two harmless questions, one person between them.

How many have the disease?  How many, not counting Ms X?  Each answer is about everyone, passes every rule about small
cells, and is no one's secret; the difference of the two is Ms X's secret.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...core.parameters import function, whole
from ...core.randomness import Source
from .outcome import Attack, Outcome
from .reconstruction import Bits, secret_column
from .system import People, System

Count = Callable[[Bits], float | None]  # how many of these people have a 1; None where that is suppressed

PEOPLE, TRIALS = 200, 400


def differencing(ask: Count, n: int, person: int) -> bool:
    """The guess at one person's bit from two counts; 0 where one of the counts is suppressed."""
    everyone = np.ones(whole("n", n), np.bool_)
    function("ask", ask, "a function from the people that are asked about to an answer")
    others = everyone.copy()
    others[person] = False
    first, second = ask(everyone), ask(others)
    return first is not None and second is not None and first - second > 0.5


def against_suppression(source: Source) -> Outcome:
    """Counts below 20 are suppressed; each table and each system is a new one."""
    right = 0
    for _ in range(TRIALS):
        secret, person = secret_column(PEOPLE, source), source.integer(PEOPLE)
        right += differencing(_suppressing(secret), PEOPLE, person) == bool(secret[person])
    return Outcome(right, TRIALS, np.inf)


def _suppressing(secret: Bits) -> Count:
    def ask(people: Bits) -> float | None:
        count = int(np.count_nonzero(secret & people))
        return None if count < 20 else count

    return ask


def on_system(system: System, source: Source) -> Outcome:
    """Two counts, each at epsilon 1/2, in each of many towns; a person in each town is the target."""
    ill, rows = secret_column(TRIALS * PEOPLE, source), np.arange(TRIALS * PEOPLE)
    targets = np.array([source.integer(PEOPLE) for _ in range(TRIALS)])
    is_target = rows % PEOPLE == targets[rows // PEOPLE]
    columns = {"town": rows // PEOPLE, "ill": ill.astype(np.int64), "target": is_target.astype(np.int64)}
    people = People(columns, {"town": (0, TRIALS - 1), "ill": (0, 1), "target": (0, 1)})
    with system(people, 1) as ask:
        everyone = ask("SELECT town, COUNT(*) AS n FROM people WHERE ill = 1 GROUP BY town", 0.5)
        others = ask("SELECT town, COUNT(*) AS n FROM people WHERE ill = 1 AND target = 0 GROUP BY town", 0.5)
    return Outcome(int(np.count_nonzero((everyone - others > 0.5) == ill[is_target])), TRIALS, 1)


DIFFERENCING = Attack(
    "differencing",
    "exact counts, small cells suppressed",
    "two counts at epsilon 1 in all",
    against_suppression,
    on_system,
)
