r"""Peeking at an experiment that grows: an interval for one mean that holds at every look, whenever anyone looks.

A list of looks that is fixed beforehand may share beta by Bonferroni.  A confidence sequence needs no list: with
probability at least 1 - beta the true mean is in all intervals, for all sample sizes at once, so anyone may stop when
the interval says enough.

Theorem [proved].  Let values in [0, 1] arrive one after another, each of mean p given the earlier ones, with sum x
after t.  For any q the product of (q/p)^v ((1-q)/(1-p))^(1-v) over the values v is a nonnegative supermartingale of
mean at most 1: each factor is convex in v, so at most its chord, whose mean is p (q/p) + (1-p) (1-q)/(1-p) = 1.  So is
its mean over q from a Beta(a, b) law,
    M_t(p)  =  B(a + x, b + t - x) / B(a, b)  /  (p^x (1-p)^(t-x)).
By Ville's inequality M_t(p) reaches 1/beta at any t with probability at most beta: the interval of all p with M_t(p) <
1/beta holds at every t.  ln M_t(p) is convex in p, and least at p = x/t, so these are an interval.  It is about t
kl(x/t, p) - (1/2) ln t: the price of looking at any time instead of once is half a logarithm, that of about sixty
looks at 10,000 values by Bonferroni (`looks`).

References.  Ville 1939; Robbins, Annals of Mathematical Statistics 41 (1970); Howard, Ramdas, McAuliffe, Sekhon, Annals
of Statistics 49 (2021); Waudby-Smith, Ramdas, JRSS B 86 (2024), who bet adaptively and gain where values vary little.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import betaln

from ..core.errors import BadData
from ..core.parameters import Number, positive, probability, whole
from . import histories

_FINE = 2.0**-40


@dataclass(frozen=True)
class Growing:
    """The interval for a mean at every look at values in [0, 1] that arrive one after another.

    `heads` and `tails` are the parameters of the Beta law over bets: where the mean is expected, and how firmly.
    """

    beta: Number = "0.05"
    heads: Number = "0.5"
    tails: Number = "0.5"
    count: int = 0
    total: float = 0.0

    def __post_init__(self) -> None:
        probability("beta", self.beta), positive("heads", self.heads), positive("tails", self.tails)
        if not 0 <= self.total <= whole("count", self.count, at_least=0):
            raise BadData("total", self.total, "from 0 to the number of values")

    def add(self, values: object) -> Growing:
        """The same experiment after more values."""
        array = np.asarray(values).ravel()
        if array.dtype.kind not in "biuf" or not bool(np.all((array >= 0) & (array <= 1))):
            raise BadData("values", "some that are not", "from 0 to 1, without NaN")
        total = math.fsum([self.total, *array.tolist()])
        return Growing(self.beta, self.heads, self.tails, self.count + array.size, min(total, self.count + array.size))

    @property
    def mean(self) -> float:
        """The mean of the values so far."""
        return self.total / self.count if self.count else 0.5

    @property
    def interval(self) -> tuple[float, float]:
        """Where the true mean is; with probability at least 1 - beta this holds at every look."""
        x, rest = self.total, self.count - self.total
        if not self.count:
            return 0.0, 1.0
        a, b = float(positive("heads", self.heads)), float(positive("tails", self.tails))
        room = -math.log(probability("beta", self.beta)) - float(betaln(a + x, b + rest) - betaln(a, b))
        room += 1e-9 + 1e-12 * self.count  # outweighs all rounding
        return 1 - _last(rest, x, room), _last(x, rest, room)

    def excludes(self, value: float) -> bool:
        """Whether the interval excludes a value: a test of it that may be looked at, and stopped, at any time."""
        low, high = self.interval
        return not low <= value <= high

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"{self.mean:.4g} of {self.count} values; the true mean is between {low:.4g} and {high:.4g} at every look."
        )


def _last(x: float, rest: float, room: float) -> float:
    """The greatest p with -x ln p - rest ln(1 - p) <= room, rounded up."""
    if not rest:
        return 1.0
    low, high = x / (x + rest), 1.0
    while high - low > _FINE:
        p = (low + high) / 2
        low, high = (p, high) if -(x * math.log(p) if x else 0.0) - rest * math.log1p(-p) <= room else (low, p)
    return high


def looks(n: int, mean: float, count: int, beta: Number = "0.05") -> tuple[float, float]:
    """For comparison: the interval at n values, if `count` looks are fixed beforehand and share beta (Bonferroni)."""
    return histories.interval(mean, whole("n", n), histories.log(whole("looks", count) / probability("beta", beta)))
