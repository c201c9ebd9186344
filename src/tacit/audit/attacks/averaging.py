r"""Averaging: the same question again and again, with fresh noise each time.

The mean of k answers misses the truth by about the noise over sqrt k.  A system that draws anew and counts nothing
gives everything away; one that stores its first answer tells a thousand askers what it told the first.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...core.parameters import function, whole
from ...core.randomness import Source
from ...mechanisms import Laplace
from .outcome import Attack, Outcome

REPEATS, TRIALS, COUNT = 400, 400, 1000


def averaging(ask: Callable[[], float], repeats: int, low: float, high: float) -> bool:
    """Whether the truth is `high` rather than `low`, by the mean of many answers."""
    function("ask", ask, "a function that gives an answer")
    return float(np.mean([ask() for _ in range(whole("repeats", repeats))])) > (low + high) / 2


def _trials(asker: Callable[[int], Callable[[], float]], source: Source, claim: float) -> Outcome:
    """Is one person more in the table, or not?"""
    right = 0
    for _ in range(TRIALS):
        secret = source.integer(2)
        right += averaging(asker(COUNT + secret), REPEATS, COUNT, COUNT + 1) == bool(secret)
    return Outcome(right, TRIALS, claim)


def against_fresh_noise(source: Source) -> Outcome:
    """Each answer is drawn anew at epsilon 1, and nobody adds them up."""
    count = Laplace(epsilon=1)

    def asker(truth: int) -> Callable[[], float]:
        answers = iter(np.asarray(count.sample(np.full(REPEATS, truth), source)).tolist())
        return lambda: float(next(answers))

    return _trials(asker, source, np.inf)


def against_tacit(source: Source) -> Outcome:
    """The first answer, at epsilon 1, is stored and told again."""
    count = Laplace(epsilon=1)

    def asker(truth: int) -> Callable[[], float]:
        stored = float(np.asarray(count.sample(truth, source)))
        return lambda: stored

    return _trials(asker, source, 1)


AVERAGING = Attack(
    "averaging",
    "fresh noise for each repetition of a question, none of it added up",
    "one question, one draw, at epsilon 1",
    against_fresh_noise,
    against_tacit,
)
