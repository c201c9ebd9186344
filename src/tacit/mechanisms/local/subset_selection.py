r"""Subset selection.

Definition.  A report is a set of w of the k categories.  It holds one's own with probability
p = w e^epsilon / (w e^epsilon + k - w), and given that, the others in it are uniform.  By default w is the whole
number nearest to k / (e^epsilon + 1), and at least 1; w = 1 is randomized response.

Privacy.  Each set that holds one's own has probability p / C(k-1, w-1), each other one (1 - p) / C(k-1, w), and the
ratio of the two is p (k - w) / ((1 - p) w) = e^epsilon.  So each report that changes costs epsilon: one for each
person who is substituted (see `_frequency.py`).

Utility.  A report holds any other category with probability q = (w - p) / (k - 1), as its expected size is w.
Estimated frequencies are unbiased, of variance q (1 - q) / (p - q)^2 / n where the frequency is 0; with the best w the
sum of squared errors is asymptotically minimax among all oracles (Ye and Barg 2019).  `error` bounds the worst of the
estimates for any data (see `_deviation.py`).

References.  Ye and Barg, IEEE Trans. Inf. Theory 64 (2018), Electronic J. Statistics 13 (2019); Wang et al., arXiv
1607.08025; Bentley and Floyd, Comm. ACM 30 (1987), for uniform subsets.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import law, samplers
from ...core.errors import BadParameter
from ...core.exact import Real, odds
from ...core.mechanism import Example
from ...core.parameters import Number, whole
from ...core.randomness import Source
from ...storage import bare, stored
from ._deviation import Chances
from ._frequency import Answers, MaskOracle


@stored("SubsetSelection", ("epsilon", "categories", "size"), make=bare)
@dataclass(frozen=True, init=False, repr=False)
class SubsetSelection(MaskOracle):
    """Report a set of `size` categories, more often one that holds one's own than not."""

    size: int

    def __init__(self, *, epsilon: Number, categories: int, size: int | None = None) -> None:
        super().__init__(epsilon, categories)
        best = max(1, round(self.categories / (1 + math.exp(min(float(self.epsilon), 700.0)))))
        object.__setattr__(self, "size", best if size is None else whole("size", size))
        if self.size >= self.categories:
            raise BadParameter("size", size, f"below the number of categories, which is {self.categories}")

    @property
    def _keep(self) -> Real:
        return odds(self.epsilon, Fraction(self.categories, self.size) - 1)

    @cached_property
    def chances(self) -> Chances:
        shrink, k, w = math.exp(-float(self.epsilon)), self.categories, self.size
        own = w / (w + (k - w) * shrink)
        lost = (k - w) * shrink / (w + (k - w) * shrink)
        gain = -math.expm1(-float(self.epsilon)) * own * (k - w) / (k - 1)
        return Chances(own, lost, (w - 1 + lost) / (k - 1), gain)

    @property
    def idle(self) -> float:
        """The probability that two categories are both in the set, or neither."""
        others, c = self.categories - 1, self.chances
        return (c.own * (self.size - 1) + c.lost * (others - self.size)) / others

    def one(self, answer: int) -> law.Finite:
        k, w, c = self.categories, self.size, self.chances
        inside, outside = c.own / math.comb(k - 1, w - 1), c.lost / math.comb(k - 1, w)
        sets = (frozenset(chosen) for chosen in combinations(range(k), w))
        return law.Finite({tuple(j in s for j in range(k)): inside if answer in s else outside for s in sets})

    def draw(self, answers: NDArray[Any], source: Source) -> NDArray[Any]:
        """Floyd's way: the j-th step adds one of the first others, or the next one if that is in already."""
        k, w, n = self.categories, self.size, answers.size
        reports = np.zeros((n, k), np.bool_)
        flat, start = reports.ravel(), np.arange(n) * k
        keep = samplers.bernoulli(self._keep, source, n)
        first = samplers.integers(k - w, source, n)
        flat[start + np.where(keep, answers, first + (first >= answers))] = True
        for last in range(k - w, k - 1):
            pick = samplers.integers(last + 1, source, n)
            pick += pick >= answers
            pick += start
            flat[np.where(flat[pick], start + last + (last >= answers), pick)] = True
        return reports

    @classmethod
    def examples(cls) -> Iterable[Example[Answers]]:
        for epsilon in (Fraction(1, 10), Fraction(1, 2), Fraction(4)):
            yield Example(cls(epsilon=epsilon, categories=5), 3, 0, 1)
        yield Example(cls(epsilon=1, categories=6, size=3), 0, 5, 1)
        yield Example(cls(epsilon=1, categories=3, size=2), 0, 2, 1)
