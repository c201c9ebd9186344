r"""The Ladder: a leaderboard that reports a new best score only if it is clearly better.

Definition.  `Ladder`: the record R is 0 at first.  A submission of sample mean m sets it to m, rounded to a multiple of
`rise`, if m >= R + rise; the answer is the record either way.  `ParameterFreeLadder`: the record is set to m, rounded
to a multiple of 1/n, if that is above R by more than the standard error of the difference to the record's own values.

Privacy.  None: there is no noise.  It protects conclusions, not the people in the holdout set.

Utility.  Let M be the best true mean among those submitted so far.  Then |R - M| <= promise, at every time at once,
with probability at least 1 - beta.  On the sample R is within `rise` of the best: it is some mean rounded, so at most
rise/2 above, and every mean is below R + rise.  Sample means are within t = sqrt(ln(2 N/beta) / (2 n)) of the truth,
where N counts histories: a record that only rises through V = 1/rise values gives N = sum_b C(k, b+1) C(V, b)
(`histories.climbing`), which is less than the (k V)^V of the paper.  The best rise is about (ln k / n)^(1/3).  Of a
round, a list of submissions, only the best is compared with the record: it is answered with the new record, the others
with the former.
    Without parameters: a standard error is at most 1/sqrt(n - 1), and after s submissions without and f with a new
record t is that of histories C(s+f, f) C(n, f), split over s and f; the statement widens with every new record.  So the
session ends before its statement is wider than `width`, and that is what it promises for all answers to come.

References.  Blum and Hardt, ICML 2015, figures 1 and 3, and theorem 3.1.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from ...core.errors import BadParameter
from ...core.exact import at_most, up
from ...core.parameters import Number, whole
from ...core.randomness import Source
from ...core.search import least_whole
from ...storage import bare, stored
from .. import histories
from ..questions import HoldoutQuestion, Steps
from .rule import COUNTED, MAX_RECORDS, Counted, Rule, State, Statement, shown, unit_fraction

_BLOCK = 1 << 22
ABOUT = "The record is within {width} of the best true score submitted so far"


@stored("Ladder", ("n", "beta", "grid", "width", "questions", "rise", "rounds"), optional={"rounds": None}, make=bare)
@dataclass(frozen=True, init=False, repr=False)
class Ladder(Rule):
    """Answer with the record, which a submission raises if it is better by `rise` (default: best for `questions`)."""

    questions: int
    rise: Fraction | None

    def __init__(
        self,
        *,
        n: int,
        questions: int,
        beta: Number = "0.05",
        rise: Number | None = None,
        grid: Number = Fraction(1, 1024),
        width: Number | None = None,
        rounds: int | None = None,
    ) -> None:
        super().__init__(n, beta, grid, width=width, questions=whole("questions", questions), rounds=rounds)
        self._set(questions=questions)
        self._set(rise=None if rise is None else unit_fraction("rise", rise))
        self._keep_width()

    def _stated(self, rungs: int) -> Statement:
        nats = histories.climbing(self.questions, rungs, self.rounds) - histories.log(self.beta)
        return _statement(self, 1 / rungs, nats)

    @cached_property
    def rungs(self) -> int:
        """1 / rise."""
        return (
            int(1 / self.rise) if self.rise else min((2**j for j in range(1, 21)), key=lambda r: self._stated(r).width)
        )

    @cached_property
    def promise(self) -> Statement:
        return self._stated(self.rungs)

    def answer(self, state: State, questions: Sequence[HoldoutQuestion], source: Source) -> tuple[State, list[float]]:
        self.refuse_if_over(state, len(questions))
        totals = [question.total for question in questions]
        best = max(totals)
        better = best * self.rungs >= (state.mark + 1) * self.whole
        mark = self.rounded(best, self.rungs) if better else state.mark
        answers = [state.mark / self.rungs] * len(totals)
        answers[totals.index(best)] = mark / self.rungs
        return state.after(len(totals), int(better), mark=mark), answers

    @property
    def allowed(self) -> str:
        return f"{self.questions} answers"

    def left(self, state: State) -> str:
        more = f"{self.questions - state.asked} of {self.questions} submissions are left"
        return f"{more}; a new record must be better by {1 / self.rungs:g}."


@stored("ParameterFreeLadder", ("n", "beta", "grid", "width", "rounds"), optional={"rounds": None}, make=bare)
@dataclass(frozen=True, init=False, repr=False)
class ParameterFreeLadder(Rule):
    """Answer with the record, which a submission raises if it is significantly better, while `width` holds."""

    def __init__(
        self,
        *,
        n: int,
        beta: Number = "0.05",
        grid: Number = Fraction(1, 1024),
        width: Number | None = None,
        rounds: int | None = None,
    ) -> None:
        super().__init__(n, beta, grid, width=width, rounds=rounds)
        if self.over(State()):

            def enough(m: int) -> bool:
                larger = object.__new__(type(self))  # without these checks
                larger._set(n=m, beta=self.beta, grid=self.grid, width=self.width, rounds=None)
                return m >= MAX_RECORDS or not larger.over(State())

            raise BadParameter("n", n, f"at least {least_whole(enough, n)} for a width of {float(self.most):g}")

    @property
    def most(self) -> Fraction:
        """The width that ends the session: `width`, or just below 1/2, beyond which a statement says nothing."""
        return Fraction(499, 1000) if self.width is None else self.width

    @cached_property
    def promise(self) -> Statement:
        return Statement(up(self.most), self.beta, COUNTED, ABOUT)

    def statement(self, state: State) -> Statement:
        """The guarantee for the record now; each new record widens it, up to the promise."""
        f = state.told
        half = min(f, self.n // 2)  # where C(n, f) is largest
        ways = histories.log_choose(state.asked, f) + histories.log_choose(self.n, half)
        split = math.log(
            (state.asked - f + 1) * (state.asked - f + 2) * (f + 1) * (f + 2)
        )  # C(n, f) is largest at n // 2
        return _statement(self, 1 / math.sqrt(self.n - 1), ways + split - histories.log(self.beta))

    def step(self, state: State, question: HoldoutQuestion, source: Source) -> tuple[State, float]:
        self.refuse_if_over(state)
        n, values = self.n, question.values
        before = np.frombuffer(base64.b64decode(state.values), np.int32) if state.values else np.zeros(n, np.int32)
        change = values - before
        lead, scatter = question.total - state.mark * self.unit, n * _squares(change) - int(change.sum()) ** 2
        mark = self.rounded(question.total, n)
        if (
            lead <= 0 or (n - 1) * lead**2 <= scatter or mark <= state.mark
        ):  # lead / n <= s / sqrt(n), or lost in rounding
            return state.after(1, 0), state.mark / n
        record = base64.b64encode(values.astype(np.int32).tobytes()).decode()
        return state.after(1, 1, mark=mark, values=record), mark / n

    def over(self, state: State) -> bool:
        return self.statement(State(state.asked + 1, state.told + 1)).width > self.most

    @property
    def allowed(self) -> str:
        return f"answers while its statement is as narrow as {float(self.most):g}"

    def left(self, state: State) -> str:
        records, tries = at_most(state.told, "record"), at_most(state.asked, "submission")
        now = f"{records} in {tries}; the next is known to within"
        return f"{now} {shown(self.statement(state).width)}, and each record widens that a little."


def _statement(rule: Rule, off: float, nats: float) -> Statement:
    """The guarantee for a record that is within `off` of the best on the sample, among e^nats beta histories."""
    near = (off + rule.rounding) * histories.OUTWARD
    width = (near + histories.deviation(rule.n, nats)) * histories.OUTWARD
    return Statement(width, rule.beta, COUNTED, ABOUT, Counted(near, rule.n, nats))


def _squares(x: Steps) -> int:
    """The sum of squares of integers up to 2^20, in blocks whose sums are below 2^63."""
    return sum(int(block @ block) for block in np.split(x, range(_BLOCK, len(x), _BLOCK)))
