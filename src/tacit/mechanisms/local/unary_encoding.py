r"""Optimised unary encoding.

Definition.  A report is k bits, independent: one's own is a fair coin, every other is 1 with probability
q = 1 / (e^epsilon + 1).

Privacy.  Two answers give different laws to two bits only.  Their ratios are at most (1/2) / q and (1 - q) / (1/2),
whose product is (1 - q) / q = e^epsilon.  So each report that changes costs epsilon: one for each person
who is substituted (see `_frequency.py`).

Utility.  Estimated frequencies are unbiased, of variance 4 e^epsilon / (e^epsilon - 1)^2 / n where the frequency is 0,
whatever k: among all pairs of coins with that privacy p = 1/2 makes it least.  `error` bounds the worst of them for
any data (see `_deviation.py`).

References.  Wang, Blocki, Li, Jha, USENIX Security 2017; Erlingsson, Pihur, Korolova, CCS 2014.
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
from ...core.exact import Real, constant, logistic
from ...core.mechanism import Example
from ...core.parameters import Number
from ...core.randomness import Source
from ._deviation import Chances
from ._frequency import Answers, MaskOracle


@dataclass(frozen=True, init=False, repr=False)
class UnaryEncoding(MaskOracle):
    """Report a bit for each category, one's own by a fair coin and the others seldom 1."""

    def __init__(self, *, epsilon: Number, categories: int) -> None:
        super().__init__(epsilon, categories)

    @property
    def _quiet(self) -> Real:
        return logistic(self.epsilon)

    @cached_property
    def chances(self) -> Chances:
        e = float(self.epsilon)
        return Chances(0.5, 0.5, math.exp(-e) / (1 + math.exp(-e)), math.tanh(e / 2) / 2)

    @property
    def idle(self) -> float:
        """p q + (1 - p) (1 - q) with p = 1/2, the probability that the two bits agree."""
        return 0.5

    def one(self, answer: int) -> law.Product:
        c = self.chances
        own, other = (law.Finite({True: p, False: 1 - p}) for p in (c.own, c.other))
        return law.Product(tuple(own if j == answer else other for j in range(self.categories)))

    def draw(self, answers: NDArray[Any], source: Source) -> NDArray[Any]:
        quiet = samplers.bernoulli(self._quiet, source, answers.size * self.categories)
        reports = np.logical_not(quiet, out=quiet).reshape(-1, self.categories)
        reports[np.arange(answers.size), answers.astype(np.int64)] = samplers.bernoulli(_FAIR, source, answers.size)
        return reports

    @classmethod
    def examples(cls) -> Iterable[Example[Answers]]:
        for epsilon in (Fraction(1, 10), Fraction(1), Fraction(4)):
            yield Example(cls(epsilon=epsilon, categories=2), 0, 1, 1)
            yield Example(cls(epsilon=epsilon, categories=4), 3, 0, 1)


_FAIR = constant(Fraction(1, 2))
