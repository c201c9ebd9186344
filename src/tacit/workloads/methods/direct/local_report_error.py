r"""Error bounds for answers that are computed from local reports.

Definition.  A report speaks for some of k cells: for one's own with probability p, for any other with probability q.
A query with coefficients a in [0, 1] is answered by n times its mean, and the estimates of the cells times what a has
above its mean, b = a - sum a / k, as the number n of reports is public.  A person in cell x adds Y / (p - q) to that,
Y the sum of b over the cells spoken for, of mean (p - q) b_x.  The data are fixed, so only the variances of the people
add up.  Let B = sum b^2: m (1 - m / k) for a 0/1 query of m cells, and at most that if sum a^2 = m, as sum a >= m.

Sets.  By subset selection two other cells are both in a report with probability s, one's own and another with r:
    s = (w - 1) (w - 2 p) / ((k - 1) (k - 2)),      r = p (w - 1) / (k - 1).
As the b add up to 0, E Y^2 = p b_x^2 + q (B - b_x^2) + s (2 b_x^2 - B) - 2 r b_x^2, and so
    Var Y = (q - s) B + (p - q + 2 (s - r) - (p - q)^2) b_x^2,      b_x^2 <= (1 - 1/k) B.
For w = 1, randomized response, Y is a coin but for a constant: P (1 - P), where P = m q or p + (m - 1) q.  A set and a
0/1 query have at least max(0, m + w - k) and at most min(m, w) cells in common, so Y has a range of min(m, k - m, w,
k - w); for any a it is at most w and k - w, and 2 sqrt(w (1 - w / k) B), by Cauchy and Schwarz.

Hadamard response.  A report y has a sign for each cell, the character of its row at y; the product of two signs is that
of the two rows added bit by bit.  Given x, a sign has mean g = 2 (p - q) if its row is that of x, else 0.  So with the
sum C of b_i b_j over ordered pairs of cells whose rows add up to that of x, which holds each cell but x once at most,
    Var Y = (B + g C - g^2 b_x^2) / 4,      |C| <= B - b_x^2,
and from (1 - g) B / 4 to (1 + g) B / 4.  For a 0/1 query of an odd number m <= k / 2 of cells one of them has no other
to go with, so C <= B - (1 - 2 m / k): one cell has hardly more than B / 4.  Y has a range of at most sum |b|: 2 B for
a 0/1 query, and sqrt(k B) for any.  Complements have the same b but for signs.

Usual data.  A person counts in at most l0 queries of a part, and in the others has a_x = 0: on average over the queries
the variance is at most that of people who count nowhere, with the l0 largest of what can be added to it.

Tails.  For n independent terms, each of a range of at most R and of a variance from u to v, and L = ln(2 / beta), the
sum is within each of these of its mean, with probability 1 - beta: R sqrt(n L / 2) (Hoeffding), sqrt(2 n v L) + R L / 3
(Bernstein), sqrt(n v / beta) (Chebyshev), and sqrt(n v) z where P[N(0, 1) > z] = beta / 2 - 0.56 R / sqrt(n u) (Berry
and Esseen, as third moments are at most R times second ones).

References.  Hoeffding, JASA 58 (1963); Boucheron, Lugosi, Massart (2013), theorem 2.10 with c = R / 3; Shevtsova,
Doklady Mathematics 82 (2010), for 0.56; Ye and Barg, IEEE Trans. Inf. Theory 64 (2018), for the sets; Acharya, Sun,
Zhang, AISTATS 2019, for Hadamard response.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from ....mechanisms import HadamardResponse, SubsetSelection
from ....mechanisms.local._frequency import FrequencyOracle
from ...queries.data import Floats
from ...queries.domain import Axes
from ...queries.workload import Workload

_OUTWARD = 1 + 2.0**-32  # rounding error of variances
_ROUNDING = 2.0**-40  # of sums of estimates, as a share of n / (p - q)


@dataclass(frozen=True)
class Stray:
    """What one report adds to each query, times p - q: the least and the most variance, and the range.

    `absent` is the variance where the person does not count; of fractions it is the most.
    """

    gain: float
    least: Floats
    most: Floats
    absent: Floats
    width: Floats

    @classmethod
    def of(cls, oracle: FrequencyOracle, workload: Workload, axes: Axes) -> Stray:
        """For reports of a cell of these axes, among which are all axes that the queries look at."""
        flat = np.repeat([part.grid == 1 for part in workload.parts], [part.queries for part in workload.parts])
        squares = workload.squares(axes)
        stray = _signs if isinstance(oracle, HadamardResponse) else _sets
        return stray(oracle, np.where(flat, np.rint(squares), squares), flat)

    def deviations(self, n: int) -> Floats:
        """The largest standard deviation of each answer, whatever the data."""
        return np.asarray(np.sqrt(n * self.most) * (_OUTWARD / self.gain))

    def rms(self, workload: Workload, n: int) -> float:
        """The root of the mean square error of all queries, by weight, at the least favourable data."""
        variances, start = self.absent.copy(), 0
        for part in workload.parts:
            end = start + part.queries
            more = part.weights * (self.most - self.absent)[start:end]
            top = start + np.argsort(more)[max(0, part.queries - (part.row.l0 or part.queries)) :]
            variances[top], start = self.most[top], end
        return math.sqrt(workload.mean(variances) * n) * (_OUTWARD / self.gain)

    def bounds(self, n: int, beta: float) -> Floats:
        """The error bound of each answer of n reports, which holds with probability at least 1 - beta each."""
        log, deviations = math.log(2 / beta), np.sqrt(n * self.most)
        tails = beta / 2 - 0.56 * self.width / np.sqrt(np.maximum(n * self.least, 1e-300))
        bounds = (
            self.width * math.sqrt(n * log / 2),
            math.sqrt(2 * log) * deviations + self.width * log / 3,
            deviations / math.sqrt(beta),
            np.where(tails > 0, -ndtri(np.maximum(tails, 1e-300)) * deviations, np.inf),
            n * self.width,
        )
        return np.asarray((np.min(bounds, axis=0) * _OUTWARD + n * _ROUNDING) / self.gain)


def _sets(oracle: FrequencyOracle, m: Floats, flat: NDArray[np.bool_]) -> Stray:
    """Subset selection, or randomized response, whose sets have one cell."""
    c, k, w = oracle.chances, oracle.categories, oracle.size if isinstance(oracle, SubsetSelection) else 1
    both = (w - 1) * (w - 2 * c.own) / ((k - 1) * max(k - 2, 1))
    slope = c.gain * (c.lost + c.other) + 2 * (both - c.own * (w - 1) / (k - 1))  # 1 - gain, to all digits
    energies = m * (1 - m / k)
    level, top = (c.other - both) * energies, (1 - 1 / k) * energies
    absent, present = (level + slope * np.minimum(b**2, top) for b in (m / k, 1 - m / k))
    most = np.where(flat, np.maximum(absent, present), level + max(slope, 0.0) * np.minimum(top, 1.0))
    return Stray(
        c.gain,
        np.where(flat, np.minimum(absent, present), 0.0),
        most,
        np.where(flat, absent, most),
        np.minimum(min(w, k - w), np.where(flat, np.minimum(m, k - m), 2 * np.sqrt(w * (1 - w / k) * energies))),
    )


def _signs(oracle: FrequencyOracle, m: Floats, flat: NDArray[np.bool_]) -> Stray:
    """Hadamard response, whose reports speak for half of all cells."""
    c, k, energies = oracle.chances, oracle.categories, m * (1 - m / oracle.categories)
    fewer = np.minimum(m, k - m)
    alone = np.where(flat & (fewer % 2 == 1), 1 - 2 * fewer / k, 0.0)
    most = (energies + 2 * c.gain * (energies - alone)) / 4
    least = np.where(flat, c.lost * energies / 2, 0.0)
    return Stray(c.gain, least, most, most, np.where(flat, 2 * energies, np.sqrt(k * energies)))
