"""Rules by which a holdout set answers questions: what every rule provides.

A rule is a frozen value, fixed before any data is seen.

    begin, step    a pure function of an explicit state, as in `core.interactive`; the state is as private as the data
    promise        how far all answers together are from the truth about the population, and by which theorem
    loss           the privacy loss of a whole session, under substitution of a record
    open           binds it to a holdout set: `session.Holdout`

Each holdout set has one session: a second rule would be asked by someone who knows the answers of the first, and no
guarantee covers both.
"""

from __future__ import annotations

import decimal
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from ...core.accounting.atoms import Approximate
from ...core.accounting.loss import Loss
from ...core.distance import SUBSTITUTE
from ...core.errors import BadData, BadParameter, Exhausted, Refused
from ...core.exact import ceiling, from_above, up
from ...core.parameters import Number, positive, probability, rational, whole
from ...core.randomness import Source
from ...core.search import least_positive, least_whole
from ...storage import stored
from .. import histories
from ..questions import HoldoutQuestion, Pairs

if TYPE_CHECKING:
    from ..keeper import Keeper
    from ..session import Holdout

MAX_RECORDS = 1 << 34  # up to which the smallest n for a width is searched
_FLOOR = decimal.Context(7, decimal.ROUND_FLOOR)
VACUOUS = 0.5
COUNTED = "counting histories"
UNPROTECTED = Loss({Approximate(Fraction(0), Fraction(1)): 1}, SUBSTITUTE)  # no privacy is guaranteed


@stored("HoldoutState", ("asked", "told", "mark", "values", "rounds"), optional={"rounds": None})
@dataclass(frozen=True)
class State:
    """The number of questions, of answers computed from the holdout set, and two private parts: `mark` and `values`.

    `rounds` is the number of rounds; None if each question was a round of its own.
    """

    asked: int = 0
    told: int = 0
    mark: int = field(default=0, repr=False)
    values: str = field(default="", repr=False)
    rounds: int | None = None

    @property
    def rounds_asked(self) -> int:
        """The number of rounds so far."""
        return self.asked if self.rounds is None else self.rounds

    def after(self, questions: int, told: int, **changes: Any) -> State:
        """The state after a round of so many questions, of which so many were answered from the holdout set."""
        alone = self.rounds is None and questions == 1
        rounds = None if alone else self.rounds_asked + 1
        return replace(self, asked=self.asked + questions, told=self.told + told, rounds=rounds, **changes)


@dataclass(frozen=True, slots=True)
class Counted:
    """What `Statement.interval` needs of a count of histories: how far answers are from the sample, n, ln(N / beta)."""

    off: float
    n: int
    nats: float


@dataclass(frozen=True, slots=True)
class Statement:
    """With probability at least 1 - beta, every answer is within `width` of the truth about the population."""

    width: float
    beta: Fraction
    theorem: str
    about: str = "Every answer is within {width} of its true value in the population"
    counted: Counted | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", min(1.0, self.width))  # within 1 of the truth is all of [0, 1]

    def interval(self, answer: float) -> tuple[float, float]:
        """Where the truth is for one answer, for all answers at once: near 0 and 1 it is known more closely.

        Where histories are counted, a sample mean in [answer - off, answer + off] has its interval of relative entropy
        (`histories.interval`), whose ends grow with the mean.
        """
        low, high = max(0.0, answer - self.width), min(1.0, answer + self.width)
        if self.counted is None:
            return low, high
        off, n, nats = self.counted.off, self.counted.n, self.counted.nats
        below = histories.interval(max(0.0, answer - off), n, nats)[0]
        above = histories.interval(min(1.0, answer + off), n, nats)[1]
        return max(low, below), min(high, above)

    def __str__(self) -> str:
        percent = 100 - 100 * self.beta
        confidence = f"{_FLOOR.divide(Decimal(percent.numerator), Decimal(percent.denominator)):f} %"
        if self.beta < Fraction(1, 10**6):
            confidence = f"1 - {from_above(up(self.beta), 3)}"
        guarantee = self.about.format(width=shown(self.width))
        return f"{guarantee}, all at once, with probability at least {confidence} ({self.theorem})."


def shown(width: float) -> str:
    """A width as text with three digits, rounded up."""
    return f"{ceiling(width).normalize():f}"


class Spent(Exhausted):
    """A holdout set has given all the answers it may; the guarantee of those answers stands."""

    def __init__(self, name: str, allowed: str, statement: Statement) -> None:
        super().__init__(name, allowed)
        self.statement = statement
        self.args = (f"{name} is exhausted: it gives {allowed}.  {statement}  To ask more, use fresh data.",)


class Unanswered(Refused):
    """The holdout set cannot answer this question to the width of its rule; others it may.  It counts as asked."""


@dataclass(frozen=True, init=False, repr=False)
class Rule(ABC):
    """A rule by which one holdout set of n records answers questions with values in [0, 1]."""

    guesses: ClassVar[bool] = False  # whether a question must come with a guess

    n: int
    beta: Fraction
    grid: Fraction
    width: Fraction | None
    rounds: int | None

    def __init__(
        self,
        n: int,
        beta: Number,
        grid: Number,
        width: Number | None,
        *,
        questions: int | None = None,
        rounds: int | None = None,
    ) -> None:
        self._set(n=whole("n", n, at_least=2), beta=probability("beta", beta), grid=unit_fraction("grid", grid))
        self._set(width=None if width is None else probability("width", width))
        if rounds is not None and (questions is None or not 1 <= whole("rounds", rounds) <= questions):
            raise BadParameter("rounds", rounds, "at most the number of questions, which must be given")
        self._set(rounds=rounds)

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        parameters = ((f.name, getattr(self, f.name)) for f in fields(self))
        return (
            f"{type(self).__name__}({', '.join(f'{name}={value}' for name, value in parameters if value is not None)})"
        )

    def _keep_width(self) -> None:
        """Refuse a holdout set that is too small for the width asked for, and report how large it would have to be."""
        if self.width is None or self.promise.width <= self.width:
            return

        def enough(n: float) -> bool:
            return replace(self, n=min(math.ceil(n), MAX_RECORDS), width=None).promise.width <= float(self.width or 0)

        if not enough(MAX_RECORDS):
            raise BadParameter(
                "width", float(self.width), "larger: with these parameters no holdout set is large enough"
            )
        near = self.n * (self.promise.width / float(self.width)) ** 2  # widths fall like 1/sqrt(n)
        least = least_positive(enough, near, floor=float(self.n), precision=0.01)
        raise BadParameter("n", self.n, f"at least {math.ceil(least)} for a width of {float(self.width):g}")

    @property
    def limit(self) -> int | None:
        """The number of questions that the rule answers; None if that is not fixed beforehand."""
        return getattr(self, "questions", None)

    @property
    def unit(self) -> int:
        """How far one record can move a sum, in steps."""
        return int(1 / self.grid)

    @property
    def whole(self) -> int:
        """The sum of n values of 1, in steps."""
        return self.n * self.unit

    @property
    def rounding(self) -> float:
        """How far values move when they are rounded to the grid; 0 and 1 do not move."""
        return float(self.grid / 2) if self.unit > 1 else 0.0

    def guess_in_steps(self, guess: Number) -> int:
        """A guess at the mean, in [0, 1], as a sum in steps."""
        try:
            value = float(rational("guess", guess) if isinstance(guess, str) else guess)
        except (TypeError, ValueError, OverflowError):
            value = math.nan
        if math.isnan(value):
            raise BadParameter("guess", type(guess).__name__, "a number, such as the value on the training set")
        if not 0 <= value <= 1:
            raise BadParameter("guess", guess, "from 0 to 1, like every mean of values in [0, 1]")
        return math.floor(Fraction(value) * self.whole + Fraction(1, 2))

    def about_pairs(self, guess: int | None, pairs: Pairs) -> HoldoutQuestion:
        """A question about pairs of records, for rules that answer these."""
        raise BadData("question", "a mean of pairs of records", "a mean of one value for each record, for this rule")

    def rounded(self, total: int, parts: int) -> int:
        """The mean for a sum, clamped to [0, 1] and rounded to a multiple of 1 / parts; returns the multiple."""
        return (2 * max(0, min(total, self.whole)) * parts + self.whole) // (2 * self.whole)

    def begin(self, source: Source) -> State:
        """The state before the first question."""
        return State()

    def step(self, state: State, question: HoldoutQuestion, source: Source) -> tuple[State, float]:
        """The next state and the answer; raises `Spent`, before it reads the values, if the session has ended.

        The answer is NaN if the holdout set cannot tell.  A rule defines this, or `answer`, which it then calls.
        """
        after, (answer,) = self.answer(state, [question], source)
        return after, answer

    def answer(self, state: State, questions: Sequence[HoldoutQuestion], source: Source) -> tuple[State, list[float]]:
        """The next state and the answers to a round; NaN where the set cannot tell, or is exhausted meanwhile.

        A rule that counts a list once defines this; by default each question is a `step` of its own.
        """
        self.refuse_if_over(state)
        answers = []
        for question in questions:
            if self.over(state):
                answers.append(math.nan)
                continue
            state, answer = self.step(state, question, source)
            answers.append(answer)
        return state, answers

    @cached_property
    @abstractmethod
    def promise(self) -> Statement:
        """The guarantee for all answers of a session, before the first question."""

    def statement(self, state: State) -> Statement:
        """The guarantee for all answers so far."""
        return self.promise

    def over(self, state: State) -> bool:
        """Whether the session has ended."""
        if self.limit is None:
            return False
        return state.asked >= self.limit or (self.rounds is not None and state.rounds_asked >= self.rounds)

    @property
    @abstractmethod
    def allowed(self) -> str:
        """The answers that one session gives, in words."""

    @abstractmethod
    def left(self, state: State) -> str:
        """How many questions are left, as a sentence."""

    def loss(self) -> Loss:
        """The privacy loss of a whole session; a rule without noise protects conclusions, not people."""
        return UNPROTECTED

    def refuse_if_over(self, state: State, questions: int = 1) -> None:
        """Raise `Spent` if the session has ended, and refuse more questions than one round may have."""
        if self.over(state):
            raise Spent(type(self).__name__, self.allowed, self.statement(state))
        if self.limit is not None and questions > (most := histories.in_rounds(self.limit, self.rounds)[0]):
            allowed = f"at most {most} in a round" + ("" if self.rounds else ": declare `rounds` to ask lists")
            raise BadParameter("questions", questions, allowed)

    def refuse_if_vacuous(self) -> None:
        """Refuse a rule whose promise says next to nothing: answers within 1/2 are no better than 1/2."""
        if self.promise.width < VACUOUS:
            return
        found = f"a promise of {shown(self.promise.width)}, which says next to nothing"
        raise BadParameter("rule", found, f"one with a promise below 1/2: {self._enough()}")

    def _enough(self) -> str:
        """How many records, or how few questions, would do."""

        def narrow(**changes: Any) -> bool:
            try:
                return replace(self, width=None, **changes).promise.width < VACUOUS
            except (BadParameter, TypeError):  # or a rule of one's own with other parameters
                return False

        ways = []
        if narrow(n=MAX_RECORDS):
            ways.append(f"{least_whole(lambda n: n >= MAX_RECORDS or narrow(n=n), self.n)} records would do")
        if self.limit is not None and self.rounds is None and narrow(questions=1):
            fewest = least_whole(lambda k: not narrow(questions=k), 1) - 1
            ways.append(f"of {self.n} records, {fewest} questions")
        return " or, ".join(ways) or "change its other parameters"

    def open(
        self,
        data: object,
        train: object = None,
        *,
        keeper: Keeper | None = None,
        analyst: str = "analyst",
        unprotected: bool = False,
        known_as: str | None = None,
        ids: object = None,
    ) -> Holdout:
        """Bind the rule to a holdout set, and to a training set if statistics are to be asked.

        Without a `keeper` the session is stored in this process: opening the same records again continues it, by the
        same rule.  For an experiment that must begin anew, pass a `Memory()` of its own.  A ledger is charged `loss()`.
        A rule without noise has no loss that a ledger admits: `unprotected` declares that these people were promised no
        privacy, and charges nothing.  `known_as` is the fingerprint that the records must have.  A set that shares
        records with another session's is refused: `ids`, one identifier for each record, tells records apart where
        their values are alike (`records.py`).
        """
        from ..session import Holdout  # imports rules

        return Holdout(
            self, data, train, keeper=keeper, analyst=analyst, unprotected=unprotected, known_as=known_as, ids=ids
        )


def unit_fraction(name: str, value: Number) -> Fraction:
    """The value, if it is one of 1, 1/2, 1/4, ..., 2^-20."""
    x = positive(name, value)
    if x.numerator != 1 or x.denominator.bit_count() != 1 or x.denominator > 1 << 20:
        raise BadParameter(name, value, "1/2^j with j from 0 to 20")
    return x


def least(statements: Iterable[Statement]) -> Statement:
    """The statement with the smallest width."""
    return min(statements, key=lambda s: s.width)
