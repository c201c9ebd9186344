r"""Gaussian answers: noise on every answer, clipped to [0, 1].

Definition.  Each of k questions is answered by (h + Z) / whole, clamped to [0, 1], where h is the integer sum of the
holdout values and Z discrete Gaussian noise of standard deviation `sigma` times the whole.

Privacy.  Each answer is (1 / (2 n^2 sigma^2))-zCDP under substitution, and all k cost k times that, however adaptively
the questions are chosen.

Utility.  With probability 1 - b all k noises are at most alpha(b), the exact quantile of `Gaussian.error`.  The promise
is Jung et al.'s: alpha(b) + e^epsilon - 1 + (sqrt(b) + sqrt(2 delta))^2 / beta, the least over b and delta on a grid,
where k answers are (epsilon, delta)-private.  `sigma` is by default the one that `planning.gaussian` finds best.

References.  Dwork, Feldman, Hardt, Pitassi, Reingold, Roth, STOC 2015; Jung et al., ITCS 2020, section 4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ...core.accounting.loss import Loss
from ...core.distance import SUBSTITUTE
from ...core.parameters import Number, positive, whole
from ...core.randomness import Source
from ...mechanisms import Gaussian
from ...storage import bare, stored
from .. import histories, planning, transfer
from ..questions import HoldoutQuestion
from .rule import Rule, State, Statement


@stored("GaussianAnswers", ("n", "beta", "grid", "width", "questions", "sigma"), make=bare)
@dataclass(frozen=True, init=False, repr=False)
class GaussianAnswers(Rule):
    """Answer `questions` questions with Gaussian noise of standard deviation `sigma` on the mean."""

    questions: int
    sigma: Fraction | None

    def __init__(
        self,
        *,
        n: int,
        questions: int,
        beta: Number = "0.05",
        sigma: Number | None = None,
        grid: Number = Fraction(1, 1024),
        width: Number | None = None,
    ) -> None:
        super().__init__(n, transfer.shared(beta), grid, width)
        self._set(questions=whole("questions", questions))
        self._set(sigma=None if sigma is None else positive("sigma", sigma, Fraction(10**9)))
        self._keep_width()

    @cached_property
    def mechanism(self) -> Gaussian:
        """The noise of one answer, in steps of the grid."""
        best = self.sigma or Fraction(f"{planning.gaussian(self.n, self.questions, self.beta).sigma:.4g}")
        return Gaussian(sigma=best * self.whole, sensitivity=SUBSTITUTE.sum(0, self.unit))

    def loss(self) -> Loss:
        return self.questions * self.mechanism.loss()

    @cached_property
    def promise(self) -> Statement:
        shares, best = [self.beta / 10**j for j in range(1, 12)], math.inf
        alphas = [(b, self.mechanism.error(beta=b, size=self.questions) / self.whole) for b in shares]
        for delta in shares:
            cost = transfer.drift(self.loss().epsilon(delta))
            if alphas[0][1] + cost >= best:
                break  # a smaller delta costs more
            slacks = ((math.sqrt(b) + math.sqrt(2 * delta)) ** 2 / float(self.beta) for b in shares)
            best = min(best, *(alpha + cost + slack for (_, alpha), slack in zip(alphas, slacks, strict=True)))
        return Statement((best + self.rounding) * histories.OUTWARD, self.beta, "Jung et al. 2020")

    def step(self, state: State, question: HoldoutQuestion, source: Source) -> tuple[State, float]:
        self.refuse_if_over(state)
        noisy = question.total + int(self.mechanism.draw(source, None))
        return State(state.asked + 1, state.asked + 1), max(0, min(noisy, self.whole)) / self.whole

    def over(self, state: State) -> bool:
        return state.asked >= self.questions

    @property
    def allowed(self) -> str:
        return f"{self.questions} answers"

    def left(self, state: State) -> str:
        return f"{self.questions - state.asked} of {self.questions} questions are left."
