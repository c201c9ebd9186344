r"""Permute-and-flip.

Definition.  Go through the candidates in random order; flip for each a coin of probability w_i = exp(-gap_i / scale),
where gap_i = max u - u_i; the first that lands heads is chosen.  The first head in a random order is uniform among all
heads, so one may as well flip every coin and choose among the heads.  By the arrival times t of a random order
    P[M(u) = i] = w_i Integral_0^1 prod_{j != i} (1 - t w_j) dt.
One-sided exponential noise of this scale on each score, and the index of the largest, has the same law.

Privacy.  If the moves of the scores have range at most r then M is (r / scale)-DP.  As noise: given the others', i wins
if its own Exp(scale) exceeds some t, which moves by at most r, and P[Exp > t + r] >= exp(-r / scale) P[Exp > t].  Its
log-ratio is not of bounded range: two scores 0 | 0 and 0 | d, monotone, have range eps + ln(2 - e^-eps).

Utility.  The choice falls short by g or more with probability at most (m - o) w Integral_0^1 (1 - t)^o
(1 - t w)^(m - o - 1) dt, w = exp(-g / scale), which is at most (m - o) w / (o + 1): about half of what the exponential
mechanism's is.  `error` is the quantile of this.  The mean gap is at most scale (1/2 + 1/3 + ... + 1/m), since it
is at most E max Z - E Z_best.  Never worse than the exponential mechanism in the mean, for any scores.

References.  McKenna and Sheldon, NeurIPS 2020; Ding, Kifer, Steinke and others (2021), arXiv 2105.07260, for the noise.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from ...core import samplers
from ...core.accounting.loss import Pure
from ...core.mechanism import Example
from ...core.randomness import Source
from ._rule import Gaps, Masses, SelectionRule, harmonic
from ._scores import Scores, SelectOne

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)


def _quadrature(total: float) -> tuple[Masses, Masses]:
    """Nodes and weights on [0, 1] for products of (1 - t w_j), w_j in [0, 1], of sum `total`.

    Gauss-Legendre on [0, a], [a, 2 a], ..., [1/2, 1] with a <= 1 / total.  On the ellipse of parameter 4 about each
    interval the product is below e^1.6, so n nodes err by less than 4^-2n: below rounding.
    """
    ends = np.append(0.0, 2.0 ** np.arange(-math.ceil(math.log2(max(total, 1.0))), 1))
    half = np.diff(ends)[:, None] / 2
    return (ends[:-1, None] + half * (1 + _NODES)).ravel(), (half * _WEIGHTS).ravel()


class Flips(SelectionRule):
    """Uniform among the heads of coins of probability exp(-gap unit)."""

    atom = Pure

    def masses(self, gaps: Gaps, unit: Fraction) -> Masses:
        w: Masses = np.exp(-gaps * float(unit))
        masses = np.zeros_like(w)
        for t, weight in zip(*_quadrature(float(w.sum())), strict=True):
            miss = np.log1p(-t * w)
            masses += weight * np.exp(miss.sum() - miss)
        return w * masses

    def draw(self, gaps: Gaps, unit: Fraction, source: Source) -> int:
        heads = np.flatnonzero(samplers.bernoulli_exp(gaps, unit, source))
        return int(heads[source.integer(heads.size)])

    def tail(self, gap: int, unit: Fraction, candidates: int, optimal: int) -> float:
        w, bad = math.exp(-float(gap * unit)), candidates - optimal
        t, weight = _quadrature(optimal + bad * w)
        return bad * w * float(weight @ np.exp(optimal * np.log1p(-t) + (bad - 1) * np.log1p(-t * w)))

    def mean(self, candidates: int, optimal: int) -> float:
        """H_m - H_o, the mean of max Z less that of the best among the optimal."""
        return harmonic(optimal, candidates)


class PermuteAndFlip(SelectOne):
    """Choose the first candidate, in random order, whose coin lands heads."""

    rule = Flips()

    @classmethod
    def examples(cls) -> Iterable[Example[Scores]]:
        for epsilon in ("0.1", 1, 3):
            yield Example(cls(epsilon=epsilon, candidates=3), np.array([3, 2, 2]), np.array([2, 3, 3]), 1)
        yield Example(cls(epsilon=1, candidates=4), np.array([0, 0, 0, 9]), np.array([3, 3, 3, 6]), 3)
        yield Example(cls(epsilon=1, monotone=True, candidates=2), np.array([0, 0]), np.array([0, 1]), 1)
        yield Example(cls(epsilon=2, monotone=True, candidates=3), np.array([1, 0, 0]), np.array([1, 4, 0]), 4)
        yield Example(cls(epsilon=1, range_sensitivity=3, candidates=3), np.array([5, 1, 0]), np.array([7, 0, 2]), 3)
        yield Example(
            cls(epsilon=1, sensitivity="0.3", grid="0.25", candidates=3),
            np.array([0.12, 0.4, 1.0]),
            np.array([0.42, 0.1, 1.3]),
            "0.3",
        )
