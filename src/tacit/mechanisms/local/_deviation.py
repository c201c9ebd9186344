r"""How far counts of coins may stray, for the worst data.

Of n reports, those that speak for a category of frequency f are a sum of f n coins of probability p and (1 - f) n of
probability q.  Let psi_a(t) = ln E exp(t (B - a)) for a coin B of probability a.

Exponential moments.  By Markov's inequality, summed over k categories whose frequencies add up to 1,
    P[some share is too high by s] <= exp(-n t s) (exp(n psi_p(t)) + (k - 1) exp(n psi_q(t)))
for every t > 0, whatever the data: the sum of k moments is convex in the frequencies, so it is greatest where everyone
has one category.  With -t, the inequality bounds what is too low.  Every t is valid, so the best of a grid is taken.
As psi(t) <= t^2 / 8, this is never above Hoeffding's bound sqrt(ln(2 k / beta) / (2 n)) but for the grid.

Normal tails.  By Berry and Esseen a share's two tails differ from the normal ones by at most 0.56 times the third
moment each; for large n this is the better bound.

References.  Hoeffding, JASA 58 (1963); Shevtsova, Doklady Mathematics 82 (2010), for the constant 0.56.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from ...core.exact import Floats

_TILTS: Floats = np.geomspace(2.0**-16, 2.0**9, 2000)
_OUTWARD = 1 + 2.0**-32  # psi loses 2^-52 / t to rounding


class Chances(NamedTuple):
    """p = `own`, 1 - p = `lost`, q = `other` and p - q = `gain`, each to a relative 1e-15."""

    own: float
    lost: float
    other: float
    gain: float


def shares(c: Chances, n: int, categories: int, sides: int, beta: float) -> float:
    """With probability at least 1 - beta no share of n reports is off by more, on either of so many sides."""
    events = sides * categories / beta
    over, under = (
        _least(n, math.log(sides / beta) + np.logaddexp(n * _psi(a), math.log(categories - 1) + n * _psi(b)))
        for a, b in ((c.own, c.other), (c.lost, 1 - c.other))
    )
    return min(max(over, under), _normal(c, n, events), hoeffding(n, events), max(c.own, 1 - c.other) * _OUTWARD)


def weighted(c: Chances, n: int, events: float) -> float:
    """How far a weighted sum strays, weights in [0, 1], as psi(w t) <= psi(t); the sides are among the `events`."""
    worst = np.max([_psi(a) for a in (c.own, c.other, c.lost, 1 - c.other)], axis=0)
    return min(_least(n, math.log(events) + n * worst), hoeffding(n, events), max(c.own, 1 - c.other) * _OUTWARD)


def hoeffding(n: int, events: float) -> float:
    """sqrt(ln(events) / (2 n))."""
    return math.sqrt(math.log(events) / (2 * n))


def _psi(a: float) -> Floats:
    return np.log1p(a * np.expm1(_TILTS)) - a * _TILTS


def _least(n: int, log_moments: Floats) -> float:
    """The least s with moments exp(-n t s) <= 1 at one of the tilts t."""
    return float(np.min(log_moments / (n * _TILTS))) * _OUTWARD + 2.0**-48


def _normal(c: Chances, n: int, events: float) -> float:
    """The normal bound at the worst variance and third moment; a coin of variance v has E|B - a|^3 = v (1 - 2 v)."""
    variances = [max(a * b, 1e-300) for a, b in ((c.own, c.lost), (c.other, 1 - c.other))]
    third = max(1 - 2 * v for v in variances) / math.sqrt(n * min(variances))
    tail = 1 / events - 0.56 * third
    return -NormalDist().inv_cdf(tail) * math.sqrt(max(variances) / n) * _OUTWARD if tail > 0 else math.inf
