r"""Report noisy max with its lead over the others, which is free.

Definition.  With v_j = u_j + Z_j, of discrete Laplace noise Z_j as in `noisy_max.py`, M(u) = (i, m): the index of the
largest v_i, of equals the first, and its lead

    m = v_i - max over j != i of (v_j + [j < i]),

which is at least 0 for the winner and for no other candidate.  It is v_i less the second largest, or one less than that
if the latter stands before i, and must be exceeded.

Privacy.  If the moves of the scores have range at most r then M is (r / scale)-DP, as if the index alone were released.
Given the noise of all others, (i, m) comes out for one value of Z_i only: m - u_i + max (u_j + Z_j + [j < i]).  From a
neighbour to the next the maximum moves by no less than the least of the moves and no more than the largest of them, so
this value moves by at most r; and P[Z = z + r] >= e^(-r / scale) P[Z = z].

Utility.  The lead is that of the candidate's own score over the best of the others, but for |Z_i|, the largest |Z_j| of
these, and one.  If no noise exceeds t, it is off by at most 2 t + 1; and so if m > 2 t + 1 the choice is the true best.

References.  Ding, Wang, Zhang, Kifer, Free gap information from the differentially private sparse vector and noisy max
mechanisms, PVLDB 13 (2019), for continuous noise; that the tie-break needs the [j < i] is proved above.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ...core import law as laws
from ...core import samplers
from ...core.errors import BadData, BadParameter
from ...core.mechanism import Example
from ...core.parameters import Number, probability
from ...core.randomness import Source
from ..additive.laplace import Laplace
from ._rule import Gaps, Masses, SelectionRule
from ._scores import Scores, Selection
from .noisy_max import LaplaceMax, log_at_most

Led = tuple[int, int | float]
_MAX_VALUES = 1 << 24  # of the best of the others, times how many others there are


@dataclass(frozen=True)
class Leads:
    """The law of the index and of its lead, in steps of `grid`, of scores that lie `gaps` below the best."""

    gaps: tuple[int, ...]
    unit: Fraction
    grid: Fraction | None

    def mass(self, y: Led) -> float:
        i, lead = y
        steps = lead / (self.grid or 1)
        if steps < 0 or steps != int(steps) or not 0 <= i < len(self.gaps):
            return 0.0
        moved = int(steps) + self.gaps[i]
        values, masses = _others(self.gaps, self.unit, i, max(moved, *self.gaps).bit_length())
        rate = float(self.unit)
        own = np.exp(-np.abs(values + moved) * rate) * math.tanh(rate / 2)
        return float(masses @ own)

    def support(self, tail: float) -> Iterable[Led]:
        """A lead of m takes a noise that is m / 2 high, or one that is as low."""
        quantile = laws.DiscreteLaplaceLaw(1 / self.unit).tail_quantile(tail / (2 * len(self.gaps)))
        most = 2 * quantile + max(self.gaps) + 1
        size = 1 if self.grid is None else float(self.grid)
        return ((i, m * size) for i in range(len(self.gaps)) for m in range(most + 1))


@lru_cache(maxsize=64)
def _others(gaps: tuple[int, ...], unit: Fraction, i: int, bits: int) -> tuple[Masses, Masses]:
    """The law of what candidate i must exceed, M = max over j != i of (v_j + [j < i]): values, and their masses.

    P[M = v] is the sum over j of P[those before j are below v, j is at v, those after are at most v].  No terms cancel,
    as they would in P[M <= v] - P[M <= v - 1].  Below -2^bits the mass of M and of the noise of i both fall by e^-rate
    a step, and so they do above 0: e^-92 of the sum lies beyond.
    """
    rate = float(unit)
    end = math.ceil(46 / rate) + 1
    others = [(gap, int(j < i)) for j, gap in enumerate(gaps) if j != i]
    if ((1 << bits) + 2 * end) * len(others) > _MAX_VALUES:
        raise BadParameter(
            "scale",
            float(1 / unit),
            f"such that a law takes at most {_MAX_VALUES} values",
            says=f"The law of these scores takes more than {_MAX_VALUES} values at a scale of {float(1 / unit):g}."
            " Use fewer scores, or less noise.",
        )
    values = np.arange(-end - (1 << bits), end + 2, dtype=float)
    noises = [values + (gap - first) for gap, first in others]
    after = sum((log_at_most(noise, rate) for noise in noises), np.zeros(values.size))
    before, masses = np.zeros(values.size), np.zeros(values.size)
    for noise in noises:
        after = after - log_at_most(noise, rate)
        masses += np.exp(before + after - np.abs(noise) * rate)
        before = before + log_at_most(noise - 1, rate)
    return values, masses * math.tanh(rate / 2)


@dataclass(frozen=True, init=False, repr=False)
class NoisyMaxWithGap(Selection[Led]):
    """Choose the candidate whose score is highest after noise, and release by how much it leads."""

    @property
    def rule(self) -> SelectionRule:
        return LaplaceMax()

    def gaps(self, scores: Scores) -> Gaps:
        gaps = super().gaps(scores)
        if gaps.size < 2:
            raise BadData("scores", "one score", "two scores or more")
        return gaps

    def law(self, x: Scores) -> Leads:
        return Leads(tuple(self.gaps(x).tolist()), self.unit, self.grid)

    def sample(self, x: Scores, source: Source) -> Led:
        values = samplers.laplace(1 / self.unit, source, (gaps := self.gaps(x)).size) - gaps
        i = int(np.argmax(values))
        behind = np.delete(values + (np.arange(values.size) < i), i).max()
        lead = int(values[i]) - int(behind)  # Python numbers do not wrap
        return i, lead if self.grid is None else lead * float(self.grid)

    def error(self, beta: Number = 0.05, candidates: int | None = None) -> float:
        """By how much, at most, the lead differs from that of the candidate's score over the best of the others."""
        m, _ = self.sizes(candidates)
        return self.in_units(2 * int(Laplace(scale=1 / self.unit).error(probability("beta", beta), m)) + 1)

    def miss(self, x: Scores, y: Led) -> float:
        scores, (i, lead) = np.asarray(x).tolist(), y  # Python numbers do not wrap
        return float(abs(lead - (scores[i] - max(s for j, s in enumerate(scores) if j != i))))

    @classmethod
    def examples(cls) -> Iterable[Example[Scores]]:
        for epsilon in ("0.5", 1, 3):
            yield Example(cls(epsilon=epsilon, candidates=3), np.array([3, 2, 2]), np.array([2, 3, 3]), 1)
        yield Example(cls(epsilon=1, candidates=2), np.array([0, 0]), np.array([1, -1]), 1)
        yield Example(cls(epsilon=2, monotone=True, candidates=3), np.array([0, 4, 4]), np.array([1, 5, 4]), 1)
        reals = np.array([0.12, 0.4, 1.0]), np.array([0.42, 0.1, 1.3])
        yield Example(cls(epsilon=1, sensitivity="0.3", grid="0.25", candidates=3), *reals, "0.3")
