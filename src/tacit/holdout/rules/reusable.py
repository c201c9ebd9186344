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
    Jung et al.    alpha(b) + e^epsilon - 1 + b/beta, for the best b                     (transfer.jung)
    histories      alpha(beta/2) + sqrt(ln(4 N/beta) / (2 n)), N = sum_{i < B} C(k, i+1) V^i  (histories.exceptional)
Values other than 0 and 1 are off the grid by up to grid/2, which is added.  With few exceptions the second is narrower
by far: the answers then have a short description, private or not.  Epsilon is by default the one of 1/32, 1/8, 1/2, 2
and 8 with the narrowest promise; pass a smaller one to protect the people in the holdout set too.

References.  Dwork, Feldman, Hardt, Pitassi, Reingold, Roth, Science 349 (2015) and NeurIPS 2015, whose own constants
are in `transfer.thresholdout`; Lyu, Su, Li, PVLDB 10 (2017); Jung et al., ITCS 2020.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ...core import samplers
from ...core.accounting.loss import Loss
from ...core.distance import SUBSTITUTE
from ...core.exact import down
from ...core.parameters import Number, positive, probability, whole
from ...core.randomness import Source
from ...mechanisms import NumericSparse
from ...storage import bare, stored
from .. import histories, transfer
from ..questions import HoldoutQuestion
from .rule import Rule, State, Statement, least, unit_fraction

EPSILONS = tuple(Fraction(2) ** j for j in range(-5, 4, 2))
NUMBERS_SHARE = Fraction(1, 4)  # of epsilon, for the numbers that are released
THEOREMS = ("Jung et al. 2020", "counting histories")


@stored(
    "ReusableHoldout",
    ("n", "beta", "grid", "width", "questions", "exceptions", "threshold", "epsilon", "resolution"),
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
    ) -> None:
        super().__init__(n, transfer.shared(beta), grid, width)
        self._set(questions=whole("questions", questions), exceptions=whole("exceptions", exceptions))
        self._set(threshold=None if threshold is None else probability("threshold", threshold))
        self._set(epsilon=None if epsilon is None else positive("epsilon", epsilon, Fraction(10**6)))
        self._set(resolution=unit_fraction("resolution", resolution))
        self._keep_width()

    @cached_property
    def effective_threshold(self) -> Fraction:
        """`threshold`, by default sqrt(ln(2 k / beta) / n), by which two means of n records rarely differ."""
        if self.threshold is not None:
            return self.threshold
        natural = math.sqrt(math.log(2 * self.questions / self.beta) / self.n)
        return Fraction(min(natural, 0.5)).limit_denominator(10**6)

    def _mechanism(self, epsilon: Fraction) -> NumericSparse:
        return NumericSparse(
            threshold=math.floor(self.effective_threshold * self.whole),
            epsilon=epsilon,
            count=self.exceptions,
            share=NUMBERS_SHARE,
            sensitivity=SUBSTITUTE.sum(0, self.unit),
            queries=self.questions,
        )

    @cached_property
    def mechanism(self) -> NumericSparse:
        """The sparse vector mechanism that makes the comparisons and draws the noise."""
        if self.epsilon is not None:
            return self._mechanism(self.epsilon)
        return self._mechanism(min(EPSILONS, key=lambda e: least(self._promises(self._mechanism(e))).width))

    def alpha(self, beta: Number, mechanism: NumericSparse | None = None) -> Fraction:
        """How near all answers are to the mean of the holdout values, with probability at least 1 - beta."""
        error = Fraction((mechanism or self.mechanism).error(beta=beta))
        threshold = math.floor(self.effective_threshold * self.whole)
        return max((threshold + error) / self.whole, error / self.whole + self.resolution / 2)

    def _promises(self, m: NumericSparse) -> list[Statement]:
        nats = histories.exceptional(self.questions, self.exceptions, int(1 / self.resolution) + 1)
        deviation = histories.deviation(self.n, nats - histories.log(self.beta / 2))
        counted = float(self.alpha(self.beta / 2, m)) + deviation
        shares = [Fraction(down(self.beta)) / 10**j for j in range(1, 6)]
        private = [
            transfer.jung_at(self.beta, m.epsilon, alpha=self.alpha(share, m), beta=share).width for share in shares
        ]
        widths = (min(private), counted)
        return [
            Statement((width + self.rounding) * histories.OUTWARD, self.beta, theorem)
            for width, theorem in zip(widths, THEOREMS, strict=True)
        ]

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

    def step(self, state: State, question: HoldoutQuestion, source: Source) -> tuple[State, float]:
        self.refuse_if_over(state)
        guess, total = question.guess or 0, question.total
        exception = bool(abs(total - guess) + self.mechanism.query_noise.draw(source) >= state.mark)
        after = State(state.asked + 1, state.told + exception, state.mark)
        if not exception:
            return after, guess / self.whole
        parts = int(1 / self.resolution)
        return after, self.rounded(total + samplers.laplace(self.mechanism.scales[2], source), parts) / parts

    def over(self, state: State) -> bool:
        return state.told >= self.exceptions or state.asked >= self.questions

    @property
    def allowed(self) -> str:
        return f"{self.exceptions} answers from the holdout set, and {self.questions} in all"

    def left(self, state: State) -> str:
        more = f"{self.questions - state.asked} of {self.questions} questions are left"
        return f"{more}, and {self.exceptions - state.told} of {self.exceptions} guesses may still be wrong."
