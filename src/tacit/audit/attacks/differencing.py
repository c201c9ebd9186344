r"""Differencing: two harmless questions, one person between them.

How many have the disease?  How many, not counting Ms X?  Each answer is about everyone, passes every rule about small
cells, and is no one's secret; their difference is Ms X's.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ...core.parameters import function, whole
from ...core.randomness import Source
from ...mechanisms import Laplace
from .outcome import Attack, Outcome
from .reconstruction import secret_column

Bits = NDArray[np.bool_]
Ask = Callable[[Bits], float | None]  # how many of these people have a 1, if that is told

PEOPLE, TRIALS = 200, 400


def differencing(ask: Ask, n: int, person: int) -> bool:
    """The guess at one person's bit from two counts; if one is not told, that it is 0."""
    everyone = np.ones(whole("n", n), np.bool_)
    function("ask", ask, "a function from the people that are asked about to an answer")
    others = everyone.copy()
    others[person] = False
    first, second = ask(everyone), ask(others)
    return first is not None and second is not None and first - second > 0.5


def _trials(asker: Callable[[Bits], Ask], source: Source, claim: float) -> Outcome:
    """A fresh table and a fresh system each time."""
    right = 0
    for _ in range(TRIALS):
        secret = secret_column(PEOPLE, source)
        person = source.integer(PEOPLE)
        right += differencing(asker(secret), PEOPLE, person) == bool(secret[person])
    return Outcome(right, TRIALS, claim)


def against_suppression(source: Source) -> Outcome:
    """Counts below 20 are not told."""

    def asker(secret: Bits) -> Ask:
        def ask(people: Bits) -> float | None:
            count = int(np.count_nonzero(secret & people))
            return None if count < 20 else count

        return ask

    return _trials(asker, source, np.inf)


def against_tacit(source: Source) -> Outcome:
    """Two counts, each at epsilon 1/2."""
    count = Laplace(epsilon="0.5")

    def asker(secret: Bits) -> Ask:
        return lambda people: float(np.asarray(count.sample(int(np.count_nonzero(secret & people)), source)))

    return _trials(asker, source, 1)


DIFFERENCING = Attack(
    "differencing",
    "exact counts, small cells suppressed",
    "two counts at epsilon 1 in all",
    against_suppression,
    against_tacit,
)
