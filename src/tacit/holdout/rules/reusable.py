r"""The reusable holdout: Thresholdout, with exact noise.

Definition.  A question comes with a guess g, such as its value on the training set.  Let h be the holdout sum.  If
|h - g| + Z_i < T + Z, the answer is the guess, and reveals only that it was right; otherwise, in an exception, the
answer is h + W_i, rounded to a multiple of `resolution` and clamped to [0, 1].  There may be `exceptions` of these.
All arithmetic is on integers: sums of values on a grid, geometric noise for comparisons, discrete Laplace noise W_i.

Privacy.  That of `NumericSparse` with sensitivity 1/grid under substitution, which moves |h - g| and h by no more than
that.  The noisy threshold T + Z is drawn once, not again after each exception as in the paper, which would cost more.

Utility.  Sample accuracy.  With probability 1 - b all comparisons and numbers are right to within a steps, where a is
the exact quantile of `NumericSparse.error`.  So each answer is within alpha(b) = max(T + a, a + resolution/2) of the
mean of the holdout values.
    Transfer.  The promise is the least of two, both true:
    posterior drift    expected shortfall of the error on the sample, and tanh(epsilon/4)      (`posterior.py`)
    histories          alpha(b) + sqrt(ln(2 N/(beta - b)) / (2 n)) for the best b    (`histories.exceptional`)
Values other than 0 and 1 are off the grid by up to grid/2, which is added.  With few exceptions the second is narrower
by far: the answers then have a short description, private or not.  In `rounds`, lists of questions that are fixed
beforehand, only exceptions of earlier rounds count.
    Epsilon is by default the one of 1/32, 1/8, 1/2, 2 and 8 with the narrowest promise; pass a smaller one to protect
the people in the holdout set too.  The threshold is by default sqrt(ln(2 k / beta) / n), by which two means of n
records rarely differ, and at least the quantile of the noise that half of all sessions keep to: with less, noise alone
would use up exceptions on guesses that are right.

References.  Dwork, Feldman, Hardt, Pitassi, Reingold, Roth, Science 349 (2015) and NeurIPS 2015, whose own constants
are in `transfer.thresholdout`; Lyu, Su, Li, PVLDB 10 (2017).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ...core import samplers
from ...core.accounting.loss import Loss
from ...core.distance import SUBSTITUTE
from ...core.exact import up
from ...core.parameters import Number, positive, probability, whole
from ...core.randomness import Source
from ...mechanisms import NumericSparse
from ...storage import bare, stored
from .. import histories, posterior, transfer
from ..questions import HoldoutQuestion
from .rule import COUNTED, Counted, Rule, State, Statement, least, unit_fraction

EPSILONS = tuple(Fraction(2) ** j for j in range(-5, 4, 2))
NUMBERS_SHARE = Fraction(1, 4)  # of epsilon, for the numbers that are released


@stored(
    "ReusableHoldout",
    ("n", "beta", "grid", "width", "questions", "exceptions", "threshold", "epsilon", "resolution", "rounds"),
    optional={"rounds": None},
    make=bare,
)
@dataclass(frozen=True, init=False, repr=False)
class ReusableHoldout(Rule):
    """Answer with the guess while it is right, and with the noisy holdout value up to `exceptions` times."""

    guesses = True

    questions: int
    exceptions: int
    threshold: Fraction | None
    epsilon: Fraction | None
    resolution: Fraction

    def __init__(
        self,
        *,
        n: int,
        questions: int,
        exceptions: int,
        beta: Number = "0.05",
        threshold: Number | None = None,
        epsilon: Number | None = None,
        resolution: Number = Fraction(1, 128),
        grid: Number = Fraction(1, 1024),
        width: Number | None = None,
        rounds: int | None = None,
    ) -> None:
        super().__init__(
            n, transfer.shared(beta), grid, width=width, questions=whole("questions", questions), rounds=rounds
        )
        self._set(questions=questions, exceptions=whole("exceptions", exceptions))
        self._set(threshold=None if threshold is None else probability("threshold", threshold))
        self._set(epsilon=None if epsilon is None else positive("epsilon", epsilon, Fraction(10**6)))
        self._set(resolution=unit_fraction("resolution", resolution))
        self._keep_width()

    @cached_property
    def effective_threshold(self) -> Fraction:
        """`threshold`, or the default for the epsilon of this rule."""
        return Fraction(self.mechanism.threshold, self.whole) if self.threshold is None else self.threshold

    def _mechanism(self, epsilon: Fraction) -> NumericSparse:
        def at(threshold: int) -> NumericSparse:
            return NumericSparse(
                threshold=threshold,
                epsilon=epsilon,
                count=self.exceptions,
                share=NUMBERS_SHARE,
                sensitivity=SUBSTITUTE.sum(0, self.unit),
                queries=self.questions,
            )

        if self.threshold is not None:
            return at(math.floor(self.threshold * self.whole))
        natural = math.sqrt(math.log(2 * self.questions / self.beta) / self.n)
        noise = math.ceil(at(0).error(beta=Fraction(1, 2)))
        return at(min(max(math.floor(natural * self.whole), noise), self.whole // 2))

    @cached_property
    def mechanism(self) -> NumericSparse:
        """The sparse vector mechanism that makes the comparisons and draws the noise."""
        if self.epsilon is not None:
            return self._mechanism(self.epsilon)
        return min(map(self._mechanism, EPSILONS), key=lambda m: least(self._promises(m)).width)

    @cached_property
    def burns(self) -> bool:
        """Whether the noise alone is likely to take right guesses for wrong ones, in half of all sessions or more."""
        return self.mechanism.error(beta=Fraction(1, 2)) > self.mechanism.threshold

    def alpha(self, beta: Number, mechanism: NumericSparse | None = None) -> Fraction:
        """How near all answers are to the mean of the holdout values, with probability at least 1 - beta."""
        m = mechanism or self.mechanism
        error = Fraction(m.error(beta=beta))
        return max((m.threshold + error) / self.whole, error / self.whole + self.resolution / 2)

    def _promises(self, m: NumericSparse) -> list[Statement]:
        nats = histories.exceptional(self.questions, self.exceptions, int(1 / self.resolution) + 1, self.rounds)
        accuracy = [(b, up(self.alpha(b, m))) for b in self._shares]
        private = posterior.shortfall(self.beta, accuracy) + posterior.moved(up(m.epsilon))
        counted = min((self._counted(nats, *each) for each in accuracy if each[0] < self.beta), key=lambda s: s.width)
        return [Statement((private + self.rounding) * histories.OUTWARD, self.beta, posterior.DRIFT), counted]

    @property
    def _shares(self) -> list[Fraction]:
        """Shares of beta, and some beyond it, for the noise."""
        first = min(8 * self.beta, Fraction(1, 2))
        return [first / 16**j for j in range(6)]

    def _counted(self, nats: float, share: Fraction, alpha: float) -> Statement:
        """The guarantee by histories, with a share of beta for the noise."""
        here = nats - histories.log(self.beta - share)
        counted = Counted((alpha + self.rounding) * histories.OUTWARD, self.n, here)
        width = (alpha + histories.deviation(self.n, here) + self.rounding) * histories.OUTWARD
        return Statement(width, self.beta, COUNTED, counted=counted)

    @cached_property
    def promises(self) -> dict[str, Statement]:
        """The guarantee that each theorem proves, by the theorem's name."""
        return {statement.theorem: statement for statement in self._promises(self.mechanism)}

    @cached_property
    def promise(self) -> Statement:
        return least(self.promises.values())

    def loss(self) -> Loss:
        return self.mechanism.loss()

    def begin(self, source: Source) -> State:
        return State(mark=self.mechanism.begin(source).bar)

    def answer(self, state: State, questions: Sequence[HoldoutQuestion], source: Source) -> tuple[State, list[float]]:
        self.refuse_if_over(state, len(questions))
        answers, told, parts = list[float](), 0, int(1 / self.resolution)
        for question in questions:
            if state.told + told >= self.exceptions:
                answers.append(math.nan)
                continue
            guess, total = question.guess or 0, question.total
            exception = bool(abs(total - guess) + self.mechanism.query_noise.draw(source) >= state.mark)
            told += exception
            noisy = total + samplers.laplace(self.mechanism.scales[2], source) if exception else 0
            answers.append(self.rounded(noisy, parts) / parts if exception else guess / self.whole)
        return state.after(len(questions), told), answers

    def over(self, state: State) -> bool:
        return state.told >= self.exceptions or super().over(state)

    @property
    def allowed(self) -> str:
        return f"{self.exceptions} answers from the holdout set, and {self.questions} in all"

    def left(self, state: State) -> str:
        more = f"{self.questions - state.asked} of {self.questions} questions are left"
        wrong = f"{more}, and {self.exceptions - state.told} of {self.exceptions} guesses may still be wrong."
        burns = " Noise exceeds the threshold, so right guesses count as wrong: raise the threshold or epsilon."
        return f"{wrong}{burns if self.burns else ''}"
