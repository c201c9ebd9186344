r"""Randomized response.

Definition.  Each person reports their own category with probability p = e^epsilon / (e^epsilon + k - 1), and else one
of the k - 1 others, each equally likely.  For two categories this is a coin of bias p; the report is its comparison
with the answer.

Privacy.  No curator is needed: whatever the report, the probabilities that two answers give it are in a ratio of at
most p / ((1 - p) / (k - 1)) = e^epsilon.  So each report that changes costs epsilon: one for each
person who is substituted (see `_frequency.py`).

Utility.  Estimated frequencies are unbiased, of variance (e^epsilon + k - 2) / (e^epsilon - 1)^2 / n where the
frequency is 0; for two categories e^epsilon / (e^epsilon - 1)^2 / n at every frequency.  `error` bounds the worst of
them for any data (see `_deviation.py`).

Linear queries.  On n bits x and weights w in [0, 1], sum w_i x_i / n is estimated by putting
1/2 + (y_i - 1/2) coth(epsilon / 2) for x_i, unbiased; the reports are paid for once, however many queries are asked.
`query_error` bounds the worst of Q; Hoeffding's bound is coth(epsilon / 2) sqrt(ln(2 Q / beta) / (2 n)).

References.  Warner, JASA 60 (1965); Dwork and Roth (2014), section 3.2; Kairouz, Bonawitz, Ramage, ICML 2016, for k
categories; Duchi, Jordan, Wainwright, FOCS 2013, for the rate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import law, samplers
from ...core.accounting.atoms import KaryResponse
from ...core.accounting.loss import Pure
from ...core.errors import BadParameter
from ...core.exact import Floats, Real, odds
from ...core.mechanism import Example
from ...core.parameters import Number, probability, reals, whole
from ...core.randomness import Source
from ...storage import bare, stored
from ._deviation import Chances, hoeffding, weighted
from ._frequency import Answers, FrequencyOracle, ReportCounts


@stored("RandomizedResponse", ("epsilon", "categories"), make=bare)
@dataclass(frozen=True, init=False, repr=False)
class RandomizedResponse(FrequencyOracle):
    """Report one's own category, or sometimes another."""

    def __init__(self, *, epsilon: Number, categories: int = 2) -> None:
        super().__init__(epsilon, categories)

    @property
    def _keep(self) -> Real:
        return odds(self.epsilon, Fraction(self.categories - 1))

    @cached_property
    def chances(self) -> Chances:
        e, others = float(self.epsilon), self.categories - 1
        own = 1 / (1 + others * math.exp(-e))
        return Chances(own, others * math.exp(-e) * own, math.exp(-e) * own, -math.expm1(-e) * own)

    @property
    def idle(self) -> float:
        """The probability that the report is neither of two categories."""
        return (self.categories - 2) * self.chances.other

    @property
    def each(self) -> Pure:
        """The loss of one answer that changes: among k > 2 categories many reports do not distinguish two answers."""
        return Pure(self.epsilon) if self.categories == 2 else KaryResponse(self.epsilon, self.categories)

    @property
    def bits(self) -> int:
        return (self.categories - 1).bit_length()

    @property
    def sides(self) -> int:
        """1 for two categories, of which one is too low by as much as the other is too high; else 2."""
        return 1 if self.categories == 2 else 2

    def one(self, answer: int) -> law.Finite:
        c = self.chances
        return law.Finite({report: c.own if report == answer else c.other for report in range(self.categories)})

    def draw(self, answers: NDArray[Any], source: Source) -> NDArray[Any]:
        keep = samplers.bernoulli(self._keep, source, answers.size)
        if self.categories == 2:
            np.equal(keep, answers.astype(bool, copy=False), out=keep)
            return keep.astype(answers.dtype, copy=False)
        other = samplers.integers(self.categories - 1, source, answers.size)
        other += other >= answers
        return np.where(keep, answers, other)

    def count(self, reports: Any) -> tuple[ReportCounts, int]:
        sent = self.read("report", reports).ravel()
        return np.bincount(sent.astype(np.int64, copy=False), minlength=self.categories), sent.size

    def estimate(self, counts: Any, n: int | None = None) -> Floats:
        """The frequency of each category, unbiased, from how many reports name it; their sum is n."""
        return super().estimate(counts, int(reals("counts", counts).sum()) if n is None else n)

    def answer(self, weights: Any, reports: Any) -> Floats:
        """sum w_i x_i / n, unbiased, for one vector of weights in [0, 1] or for each row of a matrix of them."""
        self._binary()
        w, sent = reals("weights", weights), self.read("report", reports).ravel()
        if w.shape[-1:] != sent.shape or not ((w >= 0) & (w <= 1)).all():
            raise BadParameter("weights", w.shape, f"{sent.size} numbers from 0 to 1 in each row")
        answers: Floats = np.asarray(w @ (0.5 + (sent - 0.5) / self.chances.gain) / sent.size)
        return answers

    def query_error(self, n: int = 1, beta: Number = 0.05, queries: int = 1) -> float:
        """With probability at least 1 - beta so many linear queries on n bits are each answered to within this."""
        self._binary()
        events = 2 * whole("queries", queries) / float(probability("beta", beta))
        return weighted(self.chances, whole("n", n), events) / self.chances.gain

    def classical_query_error(self, n: int = 1, beta: Number = 0.05, queries: int = 1) -> float:
        """coth(epsilon / 2) sqrt(ln(2 Q / beta) / (2 n)), by Hoeffding's inequality."""
        self._binary()
        events = 2 * whole("queries", queries) / float(probability("beta", beta))
        return hoeffding(whole("n", n), events) / self.chances.gain

    def _binary(self) -> None:
        if self.categories != 2:
            raise BadParameter("categories", self.categories, "2 for linear queries on bits")

    @classmethod
    def examples(cls) -> Iterable[Example[Answers]]:
        for epsilon in (Fraction(1, 10), Fraction(1), Fraction(4)):
            yield Example(cls(epsilon=epsilon), 0, 1, 1)
            yield Example(cls(epsilon=epsilon, categories=5), 3, 0, 1)
        yield Example(cls(epsilon=1), np.array([True, False, True]), np.array([False, True, True]), 2)
        yield Example(cls(epsilon="0.7", categories=3), np.array([0, 2]), np.array([1, 1]), 2)
