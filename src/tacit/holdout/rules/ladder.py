r"""The Ladder: a leaderboard that reports a new best score only if it is clearly better.

Definition.  `Ladder`: the record R is 0 at first.  A submission of sample mean m sets it to m, rounded to a multiple of
`rise`, if m >= R + rise; the answer is the record either way.  `ParameterFreeLadder`: the record is set to m, rounded
to a multiple of 1/n, if that is above R by more than the standard error of the difference to the record's own values.

Privacy.  None: there is no noise.  It protects conclusions, not the people in the holdout set.

Utility.  Let M be the best true mean among those submitted so far.  Then |R - M| <= promise, at every time at once,
with probability at least 1 - beta.  On the sample R is within `rise` of the best: it is some mean rounded, so at most
rise/2 above, and every mean is below R + rise.  Sample means are within t = sqrt(ln(2 N/beta) / (2 n)) of the truth,
where N counts histories: a record that only rises through V = 1/rise values gives N = sum_b C(k, b+1) C(V, b)
(`histories.climbing`), which is less than the (k V)^V of the paper.  The best rise is about (ln k / n)^(1/3).
    Without parameters: a standard error is at most 1/sqrt(n - 1), and after s submissions without and f with a new
record t is that of histories C(s+f, f) C(n, f), split over s and f; the statement widens with every new record.

References.  Blum and Hardt, ICML 2015, figures 1 and 3, and theorem 3.1.
"""

from __future__ import annotations

import base64
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from ...core.exact import at_most
from ...core.parameters import Number, whole
from ...core.randomness import Source
from ...storage import bare, stored
from .. import histories
from ..questions import HoldoutQuestion, Steps
from .rule import Rule, State, Statement, shown, unit_fraction

_BLOCK = 1 << 22
ABOUT = "The record is within {width} of the best true score submitted so far"


@stored("Ladder", ("n", "beta", "grid", "width", "questions", "rise"), make=bare)
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
    ) -> None:
        super().__init__(n, beta, grid, width)
        self._set(questions=whole("questions", questions))
        self._set(rise=None if rise is None else unit_fraction("rise", rise))
        self._keep_width()

    def _width(self, rungs: int) -> float:
        nats = histories.climbing(self.questions, rungs) - histories.log(self.beta)
        return (1 / rungs + histories.deviation(self.n, nats) + self.rounding) * histories.OUTWARD

    @cached_property
    def rungs(self) -> int:
        """1 / rise."""
        return int(1 / self.rise) if self.rise else min((2**j for j in range(1, 21)), key=self._width)

    @cached_property
    def promise(self) -> Statement:
        return Statement(self._width(self.rungs), self.beta, "counting histories", ABOUT)

    def step(self, state: State, question: HoldoutQuestion, source: Source) -> tuple[State, float]:
        self.refuse_if_over(state)
        total = question.total
        better = total * self.rungs >= (state.mark + 1) * self.whole
        mark = self.rounded(total, self.rungs) if better else state.mark
        return State(state.asked + 1, state.told + better, mark), mark / self.rungs

    def over(self, state: State) -> bool:
        return state.asked >= self.questions

    @property
    def allowed(self) -> str:
        return f"{self.questions} answers"

    def left(self, state: State) -> str:
        more = f"{self.questions - state.asked} of {self.questions} submissions are left"
        return f"{more}; a new record must be better by {1 / self.rungs:g}."


@stored("ParameterFreeLadder", ("n", "beta", "grid", "width"), make=bare)
@dataclass(frozen=True, init=False, repr=False)
class ParameterFreeLadder(Rule):
    """Answer with the record, which a submission raises if it is significantly better, while `width` (if any) holds."""

    def __init__(
        self, *, n: int, beta: Number = "0.05", grid: Number = Fraction(1, 1024), width: Number | None = None
    ) -> None:
        super().__init__(n, beta, grid, width)
        self._keep_width()

    def _width(self, state: State) -> float:
        f = state.told
        count = math.comb(state.asked, f) * math.comb(self.n, min(f, self.n // 2))  # C(n, f) is largest at n // 2
        t = histories.deviation(self.n, histories.log(histories.weighted(state.asked - f, f, count) / self.beta))
        return (1 / math.sqrt(self.n - 1) + t + self.rounding) * histories.OUTWARD

    @cached_property
    def promise(self) -> Statement:
        """The guarantee for the first answer, if it is a record; later answers have their own `statement`."""
        return self.statement(State(1, 1))

    def statement(self, state: State) -> Statement:
        return Statement(self._width(state), self.beta, "counting histories", ABOUT)

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
            return State(state.asked + 1, state.told, state.mark, state.values), state.mark / n
        record = base64.b64encode(values.astype(np.int32).tobytes()).decode()
        return State(state.asked + 1, state.told + 1, mark, record), mark / n

    def over(self, state: State) -> bool:
        return self.width is not None and self._width(State(state.asked + 1, state.told + 1)) > self.width

    @property
    def allowed(self) -> str:
        return "answers while its statement is as narrow as `width`"

    def left(self, state: State) -> str:
        records, tries = at_most(state.told, "record"), at_most(state.asked, "submission")
        now = f"{records} in {tries}; the next is known to within"
        return f"{now} {shown(self._width(state))}, and each record widens that a little."


def _squares(x: Steps) -> int:
    """The sum of squares of integers up to 2^20, in blocks whose sums are below 2^63."""
    return sum(int(block @ block) for block in np.split(x, range(_BLOCK, len(x), _BLOCK)))
