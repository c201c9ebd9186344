r"""Frequency oracles: each of n people sends one randomized report of a category, and anyone counts.

Every oracle says, of a report, which categories it speaks for: one's own with probability p, any other one with
probability q < p.  If a share S of n reports speaks for a category, (S - q) / (p - q) is its frequency, unbiased, of
variance (q (1 - q) + f (p (1 - p) - q (1 - q))) / (n (p - q)^2) where it is f.  How far S may stray for the worst data
is in `_deviation.py`.

Privacy.  Anyone can count the reports, so n and n - 1 people are distinguished and nothing is private where people are
added or removed: every loss is stated under substitution, where n is public.  A person who is substituted leaves one
cell of the histogram of answers and enters another, and changes one report: the cost is epsilon.

What several reports cost.  Of two categories a report speaks for one alone, by which the loss is +-epsilon, or for both
or neither, by which it is 0: with the same probability, r, from either.  So r and epsilon are the whole law of the loss
(`atoms.LocalReport`).

Reference.  Wang, Blocki, Li, Jha, USENIX Security 2017, theorems 1 and 2.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ...core import law
from ...core.accounting.atoms import LocalReport
from ...core.accounting.loss import Loss, Pure
from ...core.distance import SUBSTITUTE, Distance, Substitute
from ...core.errors import BadData, BadParameter
from ...core.exact import Floats
from ...core.mechanism import Mechanism
from ...core.parameters import Number, positive, probability, rational, reals, whole
from ...core.randomness import Source
from ...core.search import least_whole
from .._grid import as_array, element_type
from ._deviation import Chances, hoeffding, shares

Answers = int | bool | NDArray[Any]
ReportCounts = NDArray[np.int64]
_MAX_ERROR = Fraction(10**100)  # beyond any error


@dataclass(frozen=True, init=False, repr=False)
class FrequencyOracle(Mechanism[Answers, Any]):
    """Randomizes each person's category by itself."""

    epsilon: Fraction
    categories: int

    def __init__(self, epsilon: Number, categories: int) -> None:
        object.__setattr__(self, "epsilon", positive("epsilon", epsilon, within=Fraction(1 << 30)))
        object.__setattr__(self, "categories", whole("categories", categories, at_least=2))

    @property
    @abstractmethod
    def chances(self) -> Chances:
        """With what probability a report speaks for a category."""

    @property
    @abstractmethod
    def bits(self) -> int:
        """How many bits one report takes."""

    @abstractmethod
    def one(self, answer: int) -> law.Law:
        """The law of one report."""

    @abstractmethod
    def draw(self, answers: NDArray[Any], source: Source) -> NDArray[Any]:
        """One report for each answer, along the first axis."""

    @abstractmethod
    def count(self, reports: Any) -> tuple[ReportCounts, int]:
        """How many reports speak for each category, and how many reports there are."""

    @property
    def sides(self) -> int:
        """On how many sides an estimate may err: it may be too high or too low."""
        return 2

    def read(self, name: str, x: Answers) -> NDArray[Any]:
        """A category, or an array of them; two categories may be given as booleans."""
        array = as_array(name, x)
        if array.dtype == bool and self.categories == 2:
            return array
        if array.dtype.kind not in "iu":
            raise BadData(name, element_type(array), "whole numbers")
        if array.size and not (array.min() >= 0 and array.max() < self.categories):
            raise BadData(name, "another number", f"a category from 0 to {self.categories - 1}")
        return array.astype(np.int64, copy=False)

    def law(self, x: Answers) -> law.Law:
        at = self.read("answer", x)
        return law.Product(tuple(map(self.one, at.ravel().tolist()))) if at.ndim else self.one(int(at))

    def sample(self, x: Answers, source: Source) -> Any:
        at = self.read("answer", x)
        reports = self.draw(at.ravel(), source)
        reports = reports.reshape(at.shape + reports.shape[1:])
        return reports if reports.ndim else reports.item()

    def loss(self, distance: Number | Distance[Any] | None = None) -> Loss:
        """epsilon for each report that changes, under substitution; by default one person is substituted.

        `distance` is how many people are substituted, or how far that moves the histogram of their answers.
        """
        if isinstance(distance, Distance):
            return Loss({self.each: _changed(distance)}, SUBSTITUTE)
        changed = math.ceil(rational("distance", 1 if distance is None else distance))
        return Loss({self.each: whole("distance", changed, at_least=0)}, SUBSTITUTE)

    @property
    @abstractmethod
    def idle(self) -> float:
        """An upper bound on r, the probability that a report does not distinguish one's own category from another."""

    @property
    def each(self) -> Pure:
        """The loss of one answer that changes: +-epsilon with probability 1 - r, and else 0."""
        informative = 1 - Fraction(self.idle) * (1 - Fraction(1, 10**12))  # outward, by more than `idle` errs
        return LocalReport(self.epsilon, informative) if informative < 1 else Pure(self.epsilon)

    def frequencies(self, reports: Any) -> Floats:
        """The frequency of each category among those who sent these reports, unbiased; some may be negative."""
        return self.estimate(*self.count(reports))

    def estimate(self, counts: Any, n: int | None = None) -> Floats:
        """The frequency of each category, unbiased, from how many of n reports speak for it."""
        if n is None:
            raise BadParameter(
                "n",
                n,
                "the number of reports",
                says="Pass n, the number of reports: each may speak for several categories, so counts do not give n.",
            )
        supports = reals("counts", counts)
        if supports.shape[-1:] != (self.categories,):
            raise BadParameter("counts", supports.shape, f"one for each of the {self.categories} categories")
        estimates: Floats = (supports / whole("n", n) - self.chances.other) / self.chances.gain
        return estimates

    def interval(self, reports: Any, beta: Number = 0.05) -> tuple[Floats, Floats]:
        """With probability at least 1 - beta every frequency lies between these two."""
        counts, n = self.count(reports)
        middle, width = self.estimate(counts, n), self.error(n, beta)
        return np.clip(middle - width, 0, 1), np.clip(middle + width, 0, 1)

    def variance(self, n: int = 1, frequency: Number = 0) -> float:
        """The variance of one estimated frequency, where the true one is `frequency`."""
        c, f = self.chances, float(rational("frequency", frequency))
        if not 0 <= f <= 1:
            raise BadParameter("frequency", frequency, "at least 0 and at most 1")
        return (f * c.own * c.lost + (1 - f) * c.other * (1 - c.other)) / (whole("n", n) * c.gain**2)

    def error(self, n: int = 1, beta: Number = 0.05) -> float:
        """With probability at least 1 - beta every frequency among n people is estimated to within this."""
        b = float(probability("beta", beta))
        return shares(self.chances, whole("n", n), self.categories, self.sides, b) / self.chances.gain

    def classical_error(self, n: int = 1, beta: Number = 0.05) -> float:
        """sqrt(ln(2 k / beta) / (2 n)) / (p - q), by Hoeffding's inequality and a union bound."""
        events = self.sides * self.categories / float(probability("beta", beta))
        return hoeffding(whole("n", n), events) / self.chances.gain

    def miss(self, x: Answers, y: Any) -> float:
        answers = self.read("answer", x).ravel().astype(np.int64)
        truth = np.bincount(answers, minlength=self.categories) / answers.size
        return float(np.max(np.abs(self.frequencies(y) - truth)))

    def sample_size(self, relative_error: Number, beta: Number = 0.05) -> int:
        """The least n for which every frequency is estimated to within `relative_error`."""
        target = float(min(positive("relative_error", relative_error), _MAX_ERROR))
        return least_whole(lambda n: self.error(n, beta) <= target, 1)

    @classmethod
    def for_error(cls, error: Number, beta: Number = 0.05, *, n: int = 1, **fixed: Any) -> Self:
        """An epsilon, to six digits, with which n reports estimate every frequency to within `error`, just less not."""
        return cls._for_error(error, beta, {"n": n}, fixed)


class MaskOracle(FrequencyOracle):
    """Frequency oracles whose report says of each of the k categories whether it speaks for it: a row of booleans."""

    @property
    def bits(self) -> int:
        return self.categories

    def count(self, reports: Any) -> tuple[ReportCounts, int]:
        masks = as_array("reports", reports)
        if masks.dtype != bool or masks.shape[-1:] != (self.categories,):
            shape = f"shape {masks.shape}, dtype {masks.dtype}"
            raise BadParameter("reports", shape, f"rows of {self.categories} booleans")
        rows = masks.reshape(-1, self.categories)
        return np.count_nonzero(rows, axis=0), rows.shape[0]


def _changed(distance: Distance[Any]) -> int:
    """How many reports change when the histogram of answers moves this far."""
    if not isinstance(distance.relation, Substitute):
        raise BadParameter(
            "distance",
            distance,
            "under SUBSTITUTE",
            says="Local reports are private only under SUBSTITUTE: anyone can count the reports, so they show whether"
            " a person was added or removed. Pass a distance under SUBSTITUTE, such as SUBSTITUTE.histogram(), or the"
            " number of people who are substituted.",
        )
    return distance.substituted
