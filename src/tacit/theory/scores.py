"""Good quality scores for the exponential mechanism: their sensitivity by enumeration, and the cost of a poor score.

The exponential mechanism chooses by a score q(x, r) of each outcome r on a table x.  A good score

    grows with what the analyst wants, so that a better outcome is likelier;
    separates a close second from a poor outcome, which a score of 1 for the best and 0 for all others does not;
    moves little when one record changes: its sensitivity D = max over r and neighbours x, y of |q(x, r) - q(y, r)|.

With b = 2D/eps the mechanism is eps-DP; b = D/eps is enough if all scores move the same way (monotone), and in general
b = range/eps, where range is the largest difference of two moves (`selection.range_sensitivity`).
DR14 = Dwork & Roth 2014, section 3.4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..core.distance import Neighbours, Records, neighbours
from ..core.errors import BadParameter
from ..core.parameters import Number, function, rational
from . import _validate as check
from . import selection

ScoreFunction = Callable[[Records, Any], Number]


@dataclass(frozen=True, slots=True)
class ScoreSensitivity:
    """How far one record moves a score on all neighbouring tables of a small universe, and where it moves most."""

    sensitivity: Fraction
    range_sensitivity: Fraction
    monotone: bool
    worst: tuple[Records, Records, Any]


def score_sensitivity(
    score: ScoreFunction, outcomes: Sequence[Any], universe: Sequence[Any], size: int, relation: Neighbours
) -> ScoreSensitivity:
    """The sensitivity of score(table, outcome), by enumeration of all neighbours with up to `size` records.

    Under SUBSTITUTE all tables have exactly `size` records.  A table is a tuple of records in the universe's order.
    """
    function("score", score, "a function of a table and an outcome that returns a number")
    listed = _listed("outcomes", outcomes)
    cache: dict[Records, list[Fraction]] = {}

    def scores(table: Records) -> list[Fraction]:
        if table not in cache:
            cache[table] = [rational("score", score(table, r)) for r in listed]
        return cache[table]

    largest, widest, monotone, worst = Fraction(-1), Fraction(0), True, None
    for x, y in neighbours(_listed("universe", universe), size, relation):
        moves = [a - b for a, b in zip(scores(x), scores(y), strict=True)]
        low, high = min(moves), max(moves)
        widest, monotone = max(widest, high - low), monotone and not low < 0 < high
        if max(high, -low) > largest:
            largest = max(high, -low)
            worst = x, y, listed[next(i for i, move in enumerate(moves) if abs(move) == largest)]
    if worst is None:
        raise BadParameter("universe", len(universe), "two records or more, so that one can be substituted")
    return ScoreSensitivity(largest, widest, monotone, worst)


@dataclass(frozen=True, slots=True)
class TwoScores:
    """Choices by counts, and by 1 for the best and 0 for all others: laws, mean counts, and chance of the worst."""

    by_count: dict[str, float]
    by_best: dict[str, float]
    mean_by_count: float
    mean_by_best: float
    worst_by_count: float
    worst_by_best: float


def two_scores(counts: Mapping[str, float], epsilon: Number) -> TwoScores:
    """The most common value chosen by two scores of sensitivity 1, without the gain of monotone scores.

    The second score does not distinguish a win by one vote from a win by a thousand, nor one loser from another.
    """
    values = check.vector(counts=counts, low=0)
    scale = selection.noise_scale(epsilon)
    laws = [
        selection.exponential_mechanism(scores, scale)
        for scores in (values, np.asarray(values == values.max(), dtype=np.float64))
    ]
    one, other = (dict(zip(counts, law.tolist(), strict=True)) for law in laws)
    means, last = [float(law @ values) for law in laws], int(values.argmin())
    return TwoScores(one, other, *means, *(float(law[last]) for law in laws))


def _listed(name: str, value: object) -> tuple[Any, ...]:
    items = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(items, Sequence) or isinstance(items, str | bytes) or not items:
        raise BadParameter(name, type(value).__name__, "a list of at least one")
    return tuple(items)
