r"""Gaussian answers: noise on every answer, clipped to [0, 1].

Definition.  Each of k questions is answered by (h + Z) / whole, clamped to [0, 1], where h is the integer sum of the
holdout values and Z discrete Gaussian noise of standard deviation `sigma` times the whole.

Privacy.  Each answer is (1 / (2 n^2 sigma^2))-zCDP under substitution, and all k cost k times that, however adaptively
the questions are chosen.

Utility.  With probability 1 - b all k noises are at most alpha(b), the exact quantile of `Gaussian.error`.  The promise
is the least of what the theorems of `posterior.py` give for this noise and for mu-Gaussian privacy, mu = sqrt(k) / (n
sigma); for one round also the noise and the union bound over k fixed questions.  `sigma` is by default the one that
`planning.gaussian` finds best.

References.  Dwork, Feldman, Hardt, Pitassi, Reingold, Roth, STOC 2015; `posterior.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ...core.accounting.loss import Loss
from ...core.distance import SUBSTITUTE
from ...core.parameters import Number, positive, whole
from ...core.randomness import Source
from ...mechanisms import Gaussian
from ...storage import bare, stored
from .. import histories, planning, posterior, transfer
from ..questions import HoldoutQuestion
from .rule import COUNTED, Counted, Rule, State, Statement, least


@stored(
    "GaussianAnswers",
    ("n", "beta", "grid", "width", "questions", "sigma", "rounds"),
    optional={"rounds": None},
    make=bare,
)
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
        rounds: int | None = None,
    ) -> None:
        super().__init__(
            n, transfer.shared(beta), grid, width=width, questions=whole("questions", questions), rounds=rounds
        )
        self._set(questions=questions)
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
        return least(self.promises.values())

    @cached_property
    def promises(self) -> dict[str, Statement]:
        """The guarantee that each theorem proves, by the theorem's name."""
        accuracy = [(b, self.mechanism.error(beta=b, size=self.questions) / self.whole) for b in self._shares]
        (atom, times), *_ = self.loss().terms.items()
        mu_squared = times * atom.gaussian()
        drift = posterior.gaussian_drift(self.beta, mu_squared) if mu_squared < math.inf else 1.0
        nats = posterior.gaussian_information(self.n, self.questions, self.mechanism.sigma2 / self.whole**2)
        widths = {
            posterior.DRIFT: posterior.shortfall(self.beta, accuracy) + drift,
            posterior.INFORMATION: posterior.information(self.beta, nats, self.n, accuracy).width,
        }
        proved = {name: self._stated(width, name) for name, width in widths.items()}
        if self.rounds == 1:
            proved[COUNTED] = min((self._fixed(b, a) for b, a in accuracy if b < self.beta), key=lambda s: s.width)
        return proved

    @property
    def _shares(self) -> list[Fraction]:
        """Shares of beta, and some beyond it, for the noise; the last of them counts as certain failure."""
        return [min(self.beta * Fraction(16), Fraction(1, 2)) / 2**j for j in range(40)]

    def _stated(self, width: float, theorem: str, counted: Counted | None = None) -> Statement:
        return Statement((width + self.rounding) * histories.OUTWARD, self.beta, theorem, counted=counted)

    def _fixed(self, share: Fraction, alpha: float) -> Statement:
        """The guarantee for one round: noise within alpha but for `share`, and all sample means near the truth."""
        nats = histories.log(self.questions / (self.beta - share))
        counted = Counted((alpha + self.rounding) * histories.OUTWARD, self.n, nats)
        return self._stated(alpha + histories.deviation(self.n, nats), COUNTED, counted)

    def answer(self, state: State, questions: Sequence[HoldoutQuestion], source: Source) -> tuple[State, list[float]]:
        self.refuse_if_over(state, len(questions))
        noisy = [each.total + int(self.mechanism.draw(source, None)) for each in questions]
        answers = [max(0, min(total, self.whole)) / self.whole for total in noisy]
        return state.after(len(questions), len(questions)), answers

    @property
    def allowed(self) -> str:
        return f"{self.questions} answers"

    def left(self, state: State) -> str:
        return f"{self.questions - state.asked} of {self.questions} questions are left."
