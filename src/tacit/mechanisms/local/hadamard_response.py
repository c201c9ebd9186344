r"""Hadamard response.

Definition.  Let K be the least power of two above k, and <r, y> the parity of the common bits of two numbers.  Category
x owns those y in [0, K) with <x + 1, y> = 0, where a row of the Hadamard matrix of order K is +1: half of them.  A
report is a uniform y that one's own category owns, with probability p = e^epsilon / (e^epsilon + 1), else a uniform one
of the other half.

Privacy.  Every y has probability 2 p / K or 2 (1 - p) / K, whose ratio is e^epsilon.  So each report that changes costs
epsilon: one for each person who is substituted (see `_frequency.py`).

Utility.  Two rows other than the first are orthogonal: of what one category owns, any other owns half.  So a report
speaks for any other category with probability q = 1/2, and estimated frequencies are unbiased, of variance
coth(epsilon / 2)^2 / n where the frequency is 0: within cosh(epsilon / 2)^2 of unary encoding, for log2 K bits a
report in place of k.  Counting takes K log K steps for all categories at once.  `error` bounds the worst estimate for
any data (see `_deviation.py`).

References.  Acharya, Sun, Zhang, AISTATS 2019; Bassily, Nissim, Stemmer, Thakurta, NeurIPS 2017.
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
from ...core.errors import BadParameter
from ...core.exact import Real, logistic
from ...core.mechanism import Example
from ...core.parameters import Number
from ...core.randomness import Source
from ...storage import bare, stored
from .._grid import as_array
from ._deviation import Chances
from ._frequency import Answers, FrequencyOracle, ReportCounts


@stored("HadamardResponse", ("epsilon", "categories"), make=bare)
@dataclass(frozen=True, init=False, repr=False)
class HadamardResponse(FrequencyOracle):
    """Report a number that speaks for half of the categories, more often than not for one's own."""

    def __init__(self, *, epsilon: Number, categories: int) -> None:
        super().__init__(epsilon, categories)

    @property
    def _keep(self) -> Real:
        return logistic(self.epsilon)

    @cached_property
    def chances(self) -> Chances:
        e = float(self.epsilon)
        own = 1 / (1 + math.exp(-e))
        return Chances(own, math.exp(-e) * own, 0.5, math.tanh(e / 2) / 2)

    @property
    def idle(self) -> float:
        """Two rows of the matrix agree in half of its columns."""
        return 0.5

    @property
    def bits(self) -> int:
        return self.categories.bit_length()

    @property
    def order(self) -> int:
        """K: reports are whole numbers below this."""
        return 1 << self.bits

    def one(self, answer: int) -> law.Finite:
        c, half = self.chances, self.order // 2
        odd = [(answer + 1 & y).bit_count() % 2 for y in range(self.order)]
        return law.Finite({y: (c.lost if odd[y] else c.own) / half for y in range(self.order)})

    def draw(self, answers: NDArray[Any], source: Source) -> NDArray[Any]:
        """A uniform y in the wrong half is moved to the other by its row's lowest bit, one to one."""
        row = answers.astype(np.int64) + 1
        keep = samplers.bernoulli(self._keep, source, row.size)
        reports = samplers.integers(self.order, source, row.size)
        odd = (np.bitwise_count(row & reports) & 1).astype(np.bool_)
        reports ^= np.where(odd == keep, row & -row, 0)
        return reports

    def count(self, reports: Any) -> tuple[ReportCounts, int]:
        sent = as_array("reports", reports)
        if sent.dtype.kind not in "iu" or (sent.size and not (sent.min() >= 0 and sent.max() < self.order)):
            raise BadParameter(
                "reports", f"an array of dtype {sent.dtype}", f"whole numbers from 0 to {self.order - 1}"
            )
        signed = np.bincount(sent.ravel().astype(np.int64), minlength=self.order)
        for bit in range(self.bits):
            even, odd = signed.reshape(-1, 2, 1 << bit).transpose(1, 0, 2)
            signed = np.stack([even + odd, even - odd], axis=1).ravel()
        return (sent.size + signed[1 : self.categories + 1]) // 2, sent.size

    @classmethod
    def examples(cls) -> Iterable[Example[Answers]]:
        for epsilon in (Fraction(1, 10), Fraction(1), Fraction(4)):
            yield Example(cls(epsilon=epsilon, categories=2), 0, 1, 1)
            yield Example(cls(epsilon=epsilon, categories=5), 4, 2, 1)
