r"""Guess and check: any number of questions, until the confidence is used up.

Definition.  Question i, after s right and f wrong guesses, may err with probability beta w(s) w(f) / (C(s+f, f) V^f),
w(j) = 1 / ((j+1)(j+2)), so its sample mean is within t = sqrt(ln(2 / that) / (2 n)) of the truth.  If the guess is
within width - t of the sample mean, the guess is the answer, and is within `width` of the truth; otherwise the answer
is the sample mean, rounded to one of V multiples of `resolution`.  The session ends when t + resolution/2 > width.

Privacy.  None: there is no noise.  It protects conclusions, not the people in the holdout set.

Utility.  All answers are within `width` of the truth, with probability at least 1 - beta (`histories.py`).  A right
guess costs little, a wrong one about ln(k V) of 2 n width^2 nats in all.

References.  Rogers, Roth, Smith, Srebro, Thakkar, Woodworth, AISTATS 2020.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ...core.errors import BadParameter
from ...core.exact import down, up
from ...core.parameters import Number
from ...core.randomness import Source
from ...storage import bare, stored
from .. import histories
from ..questions import HoldoutQuestion
from .rule import Rule, State, Statement, unit_fraction


@stored("GuessAndCheck", ("n", "beta", "grid", "width", "resolution"), make=bare)
@dataclass(frozen=True, init=False, repr=False)
class GuessAndCheck(Rule):
    """Answer with the guess if the holdout set confirms it, else with its own mean: within `width` of the truth."""

    guesses = True

    width: Fraction
    resolution: Fraction

    def __init__(
        self,
        *,
        n: int,
        width: Number,
        beta: Number = "0.05",
        resolution: Number = Fraction(1, 128),
        grid: Number = Fraction(1, 1024),
    ) -> None:
        super().__init__(n, beta, grid, width)
        self._set(resolution=unit_fraction("resolution", resolution))
        room = float(self.width) - self._rounding_error
        if room <= 0:
            raise BadParameter("width", width, f"above {self._rounding_error:g}, which rounding alone takes")
        if self.over(State()):
            nats = histories.log(2 * histories.weighted(0, 0, 1) / self.beta)
            raise BadParameter("n", n, f"at least {math.ceil(nats / (2 * room**2) * 1.000001)} for a width of {width}")

    @property
    def _rounding_error(self) -> float:
        """How far rounding the values and the answer can move an answer."""
        return float(self.resolution / 2) + self.rounding

    def deviation(self, state: State) -> float:
        """The bound on how far the next sample mean is from the truth."""
        f = state.told
        count = math.comb(state.asked, f) * (int(1 / self.resolution) + 1) ** f
        return histories.deviation(self.n, histories.log(histories.weighted(state.asked - f, f, count) / self.beta))

    @cached_property
    def promise(self) -> Statement:
        return Statement(up(self.width), self.beta, "counting histories")

    def step(self, state: State, question: HoldoutQuestion, source: Source) -> tuple[State, float]:
        self.refuse_if_over(state)
        guess, total = question.guess or 0, question.total
        margin = math.floor((down(self.width) - self.deviation(state) - self.rounding) * self.whole / histories.OUTWARD)
        if abs(guess - total) <= margin:
            return State(state.asked + 1, state.told), guess / self.whole
        parts = int(1 / self.resolution)
        return State(state.asked + 1, state.told + 1), self.rounded(total, parts) / parts

    def over(self, state: State) -> bool:
        return self.deviation(state) + self._rounding_error > self.width

    @property
    def allowed(self) -> str:
        return f"answers within {float(self.width):g} of the truth while its confidence lasts"

    def wrong_guesses_left(self, state: State) -> int:
        """The number of further guesses in a row that may be wrong."""
        more = 0
        while not self.over(State(state.asked + more, state.told + more)):
            more += 1
        return more

    def left(self, state: State) -> str:
        used = f"{state.told} of {state.asked} guesses were wrong"
        return f"{used}, and {self.wrong_guesses_left(state)} more may be; right ones cost little."
