r"""Averaging: the same question again and again, with fresh noise each time.

The mean of k answers misses the truth by about the noise over sqrt k.  A system that draws anew each time, and adds no
prices up, gives everything away; one that stores its first answer gives a thousand askers that answer.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...core.errors import Refused
from ...core.exact import Floats
from ...core.parameters import function, whole
from ...core.randomness import Source
from ...mechanisms import Laplace
from .outcome import Attack, Outcome
from .reconstruction import Bits, secret_column
from .system import People, System

REPEATS, TOWNS, PEOPLE = 400, 400, 20


def averaging(ask: Callable[[], float], repeats: int, low: float, high: float) -> bool:
    """Whether the truth is `high` rather than `low`, by the mean of many answers."""
    function("ask", ask, "a function that gives an answer")
    return float(np.mean([ask() for _ in range(whole("repeats", repeats))])) > (low + high) / 2


def _town_by_town(ask: Callable[[], Floats], secret: Bits, claim: float) -> Outcome:
    """Is there one person more in a town, or not?  Until repetitions are refused, every town is in each answer."""
    answers = []
    for _ in range(REPEATS):
        try:
            answers.append(ask())
        except Refused:
            break
    guesses = np.mean(answers, axis=0) > PEOPLE + 0.5 if answers else np.zeros(secret.size, np.bool_)
    return Outcome(int(np.count_nonzero(guesses == secret)), secret.size, claim)


def against_fresh_noise(source: Source) -> Outcome:
    """Each answer is drawn anew at epsilon 1, and no prices are added up."""
    count, secret = Laplace(epsilon=1), secret_column(TOWNS, source)
    return _town_by_town(lambda: np.asarray(count.sample(PEOPLE + secret.astype(np.int64), source)), secret, np.inf)


def on_system(system: System, source: Source) -> Outcome:
    """One question, at epsilon 1, again and again."""
    secret = secret_column(TOWNS, source)
    towns = np.repeat(np.arange(TOWNS), PEOPLE + secret.astype(np.int64))
    with system(People({"town": towns}, {"town": (0, TOWNS - 1)}), 1) as ask:
        return _town_by_town(lambda: ask("SELECT town, COUNT(*) AS n FROM people GROUP BY town", 1), secret, 1)


AVERAGING = Attack(
    "averaging",
    "fresh noise for each repetition of a question, none of it added up",
    "one question, one draw, at epsilon 1",
    against_fresh_noise,
    on_system,
)
