"""Rules of selection: how the gaps between scores become a choice, with the law, the sampler and the tail."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...core.accounting.loss import Pure
from ...core.parameters import Number, exactly_one, positive
from ...core.randomness import Source
from ...core.search import greatest_positive, least_whole

Gaps = NDArray[np.int64]
Masses = NDArray[np.float64]
_MAX_RHO = Fraction(10**100)  # so that its epsilon is a float
_MAX_TERMS = 1 << 14  # of a harmonic sum that are added one by one
_OUTWARD = 1 + 1e-11  # covers the rounding of a tail


def harmonic(first: int, last: int) -> float:
    """1/(first + 1) + ... + 1/last, from above: 1/j is at most the integral of 1/x from j - 1/2 to j + 1/2."""
    near = min(last, first + _MAX_TERMS)
    return math.fsum(1 / j for j in range(first + 1, near + 1)) + math.log1p((last - near) / (near + 0.5))


class SelectionRule(ABC):
    """A choice among candidates whose scores lie `gaps` steps below the best; `unit` is epsilon for a step of range."""

    atom: type[Pure]  # the loss of one choice

    @abstractmethod
    def masses(self, gaps: Gaps, unit: Fraction) -> Masses:
        """The probability of each candidate."""

    @abstractmethod
    def draw(self, gaps: Gaps, unit: Fraction, source: Source) -> int:
        """One choice."""

    @abstractmethod
    def tail(self, gap: int, unit: Fraction, candidates: int, optimal: int) -> float:
        """The most that P[the choice lies `gap` or more steps below the best] can be, whatever the scores.

        Under every rule here a candidate gains by a higher score and loses by another's.  So the worst scores have
        no more than the `optimal` candidates at the top, and all others `gap` steps below, no farther.
        """

    @abstractmethod
    def mean(self, candidates: int, optimal: int) -> float:
        """A bound on the mean gap of the choice, in multiples of 1 / unit."""

    def classical(self, beta: float, candidates: int, optimal: int) -> float:
        """The textbook bound on the gap exceeded with probability beta, in multiples of 1 / unit."""
        return math.log(candidates) - math.log(optimal) - math.log(beta)

    def near(self, beta: float, unit: Fraction, candidates: int, optimal: int) -> int:
        """A guess at `shortfall`, where there is a formula; else 0."""
        return 0

    def shortfall(self, beta: float, unit: Fraction, candidates: int, optimal: int = 1) -> int:
        """The least number of steps by which the choice falls short with probability at most beta."""

        def rare(steps: int) -> bool:
            return self.tail(steps + 1, unit, candidates, optimal) * _OUTWARD <= beta

        if candidates == optimal:
            return 0
        near = self.near(beta, unit, candidates, optimal)
        return least_whole(rare, near if not near or not rare(near - 1) else 0)


def share(atom: type[Pure], epsilon: Number | None, rho: Number | None, times: int) -> Fraction:
    """The epsilon of each of so many atoms, when together they may cost epsilon, or rho (to a relative 2^-40)."""
    exactly_one(epsilon=epsilon, rho=rho)
    if epsilon is not None:
        return positive("epsilon", epsilon) / times
    most = positive("rho", 0 if rho is None else rho, _MAX_RHO)

    def within(each: float) -> bool:
        return times * atom(Fraction(each)).concentrated() <= most

    return Fraction(greatest_positive(within, floor=0.0, precision=2.0**-40))
