r"""Guess and check: any number of questions, until the confidence is used up.

Definition.  Each question has its own chance b of failure, and so its sample mean m an interval [l, u] of relative
entropy around m that contains the truth but for b (`histories.interval`).  If [l, u] is within `width` of the guess,
the guess is the answer.  Otherwise the answer is the multiple of `resolution` next to m that is within `width` of all
of [l, u]; if there is none, the question is not answered, which counts as one more value.  The session ends when no
mean could be answered, not even 0 or 1.  A rule whose first question could not be answered at a mean of 0.9 is refused.

    open-ended     question i, after s right and f wrong guesses, has b = beta w(s) w(f) / (C(s+f, f) V^f), w(j) = 1 /
                   ((j+1)(j+2)); in a round of c questions, b / c
    `questions`    declared, in R `rounds` of c: b = beta w(f) / ((c C(M, f) + C(M, f + 1)) V^f), M = (R - 1) c, where f
                   counts the wrong guesses of earlier rounds, of which one round has none, so w(f)
                   is left out; right guesses cost nothing more

Privacy.  None: there is no noise.  It protects conclusions, not the people in the holdout set.

Utility.  All answers are within `width` of the truth, with probability at least 1 - beta (`histories.py`).  V counts
the multiples of `resolution`, and one for no answer.  A right guess costs little, a wrong one about ln(k V) nats of
those that the interval can bear: n kl, which near 0 and 1 is much more than the 2 n width^2 of Hoeffding's inequality.
    A question about pairs, such as an area under the curve, has a sample mean as accurate as that of m independent
pairs (`metrics.py`), and its interval is that of m records.

References.  Rogers, Roth, Smith, Srebro, Thakkar, Woodworth, AISTATS 2020.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from ...core.errors import BadParameter
from ...core.exact import MANY_ULPS, down, up
from ...core.parameters import Number, whole
from ...core.randomness import Source
from ...core.search import least_whole
from ...storage import bare, stored
from .. import histories
from ..questions import HoldoutQuestion, Pairs
from .rule import COUNTED, Rule, State, Statement, unit_fraction

SURE = 0.9  # a mean that the first question must be answered about, or the rule is refused
_MOST = 1 << 40  # wrong guesses, up to which those that are left are counted


@stored(
    "GuessAndCheck",
    ("n", "beta", "grid", "width", "resolution", "questions", "rounds"),
    optional={"questions": None, "rounds": None},
    make=bare,
)
@dataclass(frozen=True, init=False, repr=False)
class GuessAndCheck(Rule):
    """Answer with the guess if the holdout set confirms it, else with its own mean: within `width` of the truth."""

    guesses = True

    width: Fraction
    resolution: Fraction
    questions: int | None

    def __init__(
        self,
        *,
        n: int,
        width: Number,
        beta: Number = "0.05",
        resolution: Number = Fraction(1, 128),
        grid: Number = Fraction(1, 1024),
        questions: int | None = None,
        rounds: int | None = None,
    ) -> None:
        declared = None if questions is None else whole("questions", questions)
        super().__init__(n, beta, grid, width=width, questions=declared, rounds=rounds)
        self._set(resolution=unit_fraction("resolution", resolution), questions=declared)
        room = float(self.width) - self._rounding_error
        if room <= 0:
            raise BadParameter("width", width, f"above {self._rounding_error:g}, which rounding alone takes")
        nats = self.nats(State())
        if not self._answers(SURE, n, nats):
            fewest = least_whole(lambda m: self._answers(SURE, m, nats), n)
            any_mean = math.ceil((nats + math.log(2)) / (2 * room**2) * 1.000001)
            allowed = f"at least {fewest} for a width of {width} about means of 0.1 or 0.9, and {any_mean} about any"
            raise BadParameter("n", n, allowed)

    @property
    def _rounding_error(self) -> float:
        """How far rounding the values and the answer can move an answer."""
        return float(self.resolution / 2) + self.rounding

    def _answers(self, mean: float, n: int, nats: float) -> bool:
        """Whether a sample mean of n records is answered, if it has a chance of e^-nats to be far from the truth."""
        low, high = histories.interval(mean, n, nats)
        return (high - low) / 2 + self._rounding_error <= self.width

    @property
    def _outcomes(self) -> int:
        """V: the values of an answer to a wrong guess, and that there is none."""
        return int(1 / self.resolution) + 2

    def _enough(self) -> str:
        return "its width is its promise"

    def nats(self, state: State, together: int = 1) -> float:
        """ln(1 / b) for each of so many questions of the next round."""
        f, s = state.told, state.asked - state.told
        split = (math.log((f + 1) * (f + 2)) if self.rounds != 1 else 0.0) - math.log(self.beta)
        if self.questions is not None:
            return histories.after_exceptions(self.questions, f, self._outcomes, self.rounds) + split
        ways = histories.log_choose(state.asked, f) + f * math.log(self._outcomes) * MANY_ULPS
        return ways + math.log((s + 1) * (s + 2) * together) + split

    def deviation(self, state: State) -> float:
        """The bound on how far the next sample mean is from the truth, whatever it is."""
        return histories.deviation(self.n, self.nats(state))

    @cached_property
    def promise(self) -> Statement:
        return Statement(up(self.width), self.beta, COUNTED)

    def about_pairs(self, guess: int | None, pairs: Pairs) -> HoldoutQuestion:
        steps = math.floor(pairs.mean * self.whole + Fraction(1, 2))
        return HoldoutQuestion(guess, np.array([steps], np.int64), pairs.independent)

    def answer(self, state: State, questions: Sequence[HoldoutQuestion], source: Source) -> tuple[State, list[float]]:
        self.refuse_if_over(state, len(questions))
        nats, told, answers = self.nats(state, len(questions)), 0, []
        for question in questions:
            low, high = self._near(question, nats)
            guess = (question.guess or 0) / self.whole
            right = low <= guess <= high
            answers.append(guess if right else self._own(question.total / self.whole, low, high))
            told += not right
        return state.after(len(questions), told), answers

    def _near(self, question: HoldoutQuestion, nats: float) -> tuple[float, float]:
        """The least and the greatest number that is within `width` of all that the truth may be; or none."""
        low, high = histories.interval(question.total / self.whole, question.records or self.n, nats)
        steps = 1 / self.whole if question.records else 0.0  # a mean of pairs is rounded to a step
        room = (down(self.width) - self.rounding - steps) / histories.OUTWARD
        return high - room, low + room

    def _own(self, mean: float, low: float, high: float) -> float:
        """The multiple of `resolution` next to a mean, from `low` to `high`; NaN if there is none."""
        parts = int(1 / self.resolution)
        least, most = max(0, math.ceil(low * parts)), min(parts, math.floor(high * parts))
        return max(least, min(math.floor(mean * parts + 0.5), most)) / parts if least <= most else math.nan

    def over(self, state: State) -> bool:
        """Whether no mean can be answered any more: those of 0 and 1 have the narrowest intervals."""
        if super().over(state):
            return True
        return not self._answers(0.0, self.n, self.nats(state))

    @property
    def allowed(self) -> str:
        most = "" if self.questions is None else f" to {self.questions} questions"
        return f"answers{most} within {float(self.width):g} of the truth while its confidence lasts"

    def wrong_guesses_left(self, state: State, mean: float = 0.5) -> int:
        """The number of further guesses in a row that may be wrong and still get an answer, for a sample mean."""

        def ends(more: int) -> bool:
            then = State(state.asked + more, state.told + more)
            if self.questions is not None and then.asked >= self.questions:
                return True
            return more > _MOST or not self._answers(mean, self.n, self.nats(then))

        return least_whole(ends)

    def left(self, state: State) -> str:
        used = f"{state.told} of {state.asked} guesses were wrong"
        half, high = (self.wrong_guesses_left(state, mean) for mean in (0.5, 0.95))
        more = f"{used}, and {half} more may be, or {high} about means near 0.05 or 0.95; right ones cost little."
        if self.questions is None:
            return more
        return f"{self.questions - state.asked} of {self.questions} questions are left; {more}"
