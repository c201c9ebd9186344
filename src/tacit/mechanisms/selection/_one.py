"""Choosing one candidate: what is common to the mechanisms that release a single index."""

from __future__ import annotations

import numpy as np

from ...core import law
from ...core.parameters import Number, natural, probability
from ...core.randomness import Source
from ._scores import Scores, Selection


class One(Selection[int]):
    """Chooses one candidate, and releases its index."""

    def law(self, x: Scores) -> law.Finite:
        return law.Finite(dict(enumerate(self.rule.masses(self.gaps(x), self.unit).tolist())))

    def sample(self, x: Scores, source: Source) -> int:
        return self.rule.draw(self.gaps(x), self.unit, source)

    def error(self, beta: Number = 0.05, candidates: int | None = None, optimal: int = 1) -> float:
        """The quantile of the gap for the worst scores, when at least `optimal` of the candidates share the best."""
        m, o = self.sizes(candidates, optimal)
        return self.in_units(self.rule.shortfall(float(probability("beta", beta)), self.unit, m, o))

    def classical_error(self, beta: Number = 0.05, candidates: int | None = None, optimal: int = 1) -> float:
        """The textbook bound, for any number of candidates: only its logarithm enters."""
        m, o = self.sizes(candidates, optimal, natural)
        return float(self.scale) * self.rule.classical(float(probability("beta", beta)), m, o) + float(self.grid or 0)

    def expected_error(self, candidates: int | None = None, optimal: int = 1) -> float:
        """A bound on the mean gap."""
        return float(self.scale) * self.rule.mean(*self.sizes(candidates, optimal)) + float(self.grid or 0)

    def miss(self, x: Scores, y: int) -> float:
        scores = np.asarray(x).tolist()  # Python numbers do not wrap
        return float(max(scores) - scores[y])
