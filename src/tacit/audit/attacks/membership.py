r"""Membership: who is in a table of which only averages are released.

The table has d yes-or-no attributes, of which the population's rates p are known, and one-way marginals q of its
members are released.  The attacker holds a person's attributes y and computes

    <y - p, q - p>,   of mean 0 for a stranger and sum over j of p_j (1 - p_j) / n for one of n members.

Its deviation is about that over sqrt(d / n), so once d is several times n the two can be distinguished, though every q
is an average over all.  The same statistic traces a person through noisy marginals, as long as the noise stays below
what sampling itself adds.

References.  Homer et al., PLoS Genetics 2008; Dwork, Smith, Steinke, Ullman, Vadhan, FOCS 2015.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import samplers
from ...core.errors import BadParameter
from ...core.exact import Floats
from ...core.parameters import reals
from ...core.randomness import Source
from .outcome import Attack, Outcome
from .system import People, System

PEOPLE, ATTRIBUTES = 200, 4000


def trace(people: Any, marginals: Any, rates: Any, members: float) -> NDArray[np.bool_]:
    """Which of these people, a row of attributes each, are among the about `members` people of the marginals."""
    y, q, p = reals("people", people), reals("marginals", marginals), reals("rates", rates)
    if y.ndim != 2 or q.shape != p.shape or y.shape[1:] != p.shape or members <= 0:
        raise BadParameter(
            "marginals",
            q.shape,
            f"one for each of {y.shape[-1]} attributes, as there are rates",
            says=f"Pass a marginal and a rate for each attribute of people, and a positive number of members: people"
            f" have shape {y.shape}, marginals {q.shape}, rates {p.shape}.",
        )
    members_by_score: NDArray[np.bool_] = (y - p) @ (q - p) > (p * (1 - p)).sum() / members / 2
    return members_by_score


def guesses(source: Source, release: Callable[[NDArray[np.bool_]], Any], claim: float) -> Outcome:
    """Candidates are in the table or not by the toss of a coin; a guess is made about each."""
    rates = 0.2 + 0.6 * _uniform(ATTRIBUTES, source)
    people = _uniform(PEOPLE * ATTRIBUTES, source).reshape(PEOPLE, ATTRIBUTES) < rates
    inside = samplers.integers(2, source, PEOPLE).astype(np.bool_)
    marginals = release(people[inside]) / (PEOPLE / 2)
    guessed = trace(people, marginals, rates, PEOPLE / 2)
    return Outcome(int(np.count_nonzero(guessed == inside)), PEOPLE, claim)


def _uniform(n: int, source: Source) -> Floats:
    return samplers.integers(1 << 32, source, n).astype(np.float64) * 2.0**-32


def against_exact_marginals(source: Source) -> Outcome:
    """The exact counts of 4000 attributes among about 100 people."""
    return guesses(source, lambda members: members.sum(axis=0), math.inf)


def on_system(system: System, source: Source) -> Outcome:
    """Ask for the counts in one question, at epsilon 1: a person has a row for each attribute, 4000 at most."""

    def release(members: NDArray[np.bool_]) -> Any:
        person, attribute = np.nonzero(members)
        table = {"person": person, "attribute": attribute}
        people = People(table, {"attribute": (0, ATTRIBUTES - 1)}, unit="person", rows=ATTRIBUTES)
        with system(people, 1) as ask:
            return ask("SELECT attribute, COUNT(*) AS n FROM people GROUP BY attribute", 1)

    return guesses(source, release, 1)


MEMBERSHIP = Attack(
    "membership",
    "exact one-way marginals of 4000 attributes",
    "the same marginals at epsilon 1 in all",
    against_exact_marginals,
    on_system,
)
