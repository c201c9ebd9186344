r"""Private multiplicative weights: any number of questions, one after the other, each chosen as one likes.

Definition.  A public model of the data (`multiplicative_weights.py`), at first uniform, guesses the answer of each
question.  With integers x for the truth and g for the guess, rounded to a step: if |x - g| + Z_i < T + Z the guess is
released; else x + W_i is, and the model is moved.  This may happen c times; then the model answers alone, and says so.
    pure    one noisy threshold T + Z for all, as in Sparse, and discrete Laplace W_i: NumericSparse on the gaps
    zCDP    a new noisy threshold after each update, as in AboveThreshold, and discrete Gaussian W_i

Privacy.  One unit moves x by at most D, and so |x - g|; g depends on earlier releases alone.  So a session costs
    pure    what Sparse costs at c, and c times what W costs: epsilon, exactly
    zCDP    c times what AboveThreshold costs, e0 tanh(e0 / 2), and c times what W costs
whatever is asked.  Guesses are free.  Floats in the model are post-processing: all that meets private data is whole.

Utility.  Let every comparison be right to a, and every number to w, which for k questions has probability 1 - beta.  An
answer of the data is then within w, a guess within T + a, and an update is of a gap of at least g = T - a - 1/2 steps,
since guesses are rounded.  If g > w and g >= n sqrt(ln|X| / (2 c)), updates go the right way and c are enough
(`multiplicative_weights.py`): all k answers are within T + a.  Otherwise T + a is promised while updates last.
`pmw_plans.py` chooses c and T.

References.  Hardt and Rothblum, FOCS 2010; Dwork and Roth (2014), section 4.2; Lyu, Su, Li, PVLDB 10 (2017).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np

from ....core.accounting.loss import Loss, Pure
from ....core.distance import Distance, Substitute, scalar
from ....core.distance import distance as read_distance
from ....core.errors import BadData, BadParameter, BadQuestion
from ....core.interactive import Interactive
from ....core.mechanism import Example
from ....core.parameters import Number, instance, positive, probability, rational, whole
from ....core.randomness import Source
from ....mechanisms import AboveThreshold, Gaussian, Laplace, Sparse
from ....mechanisms.selection._rule import share
from ....storage import stored
from ...models.multiplicative_weights import LinearQuery, Weights
from ...price import LARGEST, Price
from ...queries.domain import CELLS, Domain
from ._pmw_law import TranscriptLaw

AskedQuery = tuple[LinearQuery, int]  # and its answer on the private table, in steps of the grid
Transcript = tuple[float | None, ...]  # by question: what the data answered, or None where the model did
_ROUNDING = 1.01  # times what would be enough, if floats were exact
NUMBERS = {"pure": Fraction(1, 4), "zCDP": Fraction(2, 5)}  # the share of the price that numbers get


@stored("OnlineMove", ("question", "by"), keep=True)
@dataclass(frozen=True)
class Move:
    """The model was moved to answer this question by a share `by` more."""

    question: LinearQuery
    by: float


class Moves(Sequence[Move]):
    """An immutable sequence of moves; sequences that extend it share its list, so that no move copies the session."""

    def __init__(self, moves: Iterable[Move]) -> None:
        self._list = list(moves)
        self._count = len(self._list)

    def then(self, move: Move) -> Moves:
        """These, and one more."""
        alone = len(self._list) == self._count  # else another sequence extends this one already
        more = Moves(())
        more._list, more._count = self._list if alone else self._list[: self._count], self._count + 1
        more._list.append(move)
        return more

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, at: Any) -> Any:
        return self._list[: self._count][at] if isinstance(at, slice) else self._list[range(self._count)[at]]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return Moves, (tuple(self),)


@stored(
    "OnlineState",
    ("bar", "asked", "moves"),
    members=lambda state: (state.bar, state.asked, tuple(state.moves)),
)
@dataclass(frozen=True)
class OnlineState:
    """The state of a session: the noisy threshold `bar`, which is private, and the public moves of the model."""

    bar: int = field(repr=False)
    asked: int = 0
    moves: Sequence[Move] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return OnlineState, (self.bar, self.asked, self.moves)  # without the model, which is made again


@dataclass
class _Live:
    """Weights that are moved in place, and the moves that made them: a state with other moves cannot use them.

    All these moves lowered the divergence from the data by `fallen` at least, if there are n records.
    """

    weights: Weights
    moves: Sequence[Move]
    fallen: float = 0.0

    def next(self, bar: int, asked: int) -> OnlineState:
        """The state that these weights belong to."""
        state = OnlineState(bar, asked, self.moves)
        object.__setattr__(state, "_live", self)
        return state


@stored("OnlineAnswer", ("value", "by", "error"))
@dataclass(frozen=True)
class OnlineAnswer:
    """An answer in counts: of the model, of the data, or of the model when no comparison is left to check it.

    `error` is what all checked answers are within, with probability 1 - beta; None where nothing is promised.
    """

    value: float
    by: Literal["model", "data", "unchecked model"]
    error: float | None


@dataclass(frozen=True, init=False, repr=False)
class PrivateMultiplicativeWeights(
    Interactive[Sequence[AskedQuery], Transcript, OnlineState, AskedQuery, OnlineAnswer]
):
    """Answer linear queries on n records; the model may be moved `updates` times, by gaps above a `threshold` of n.

    `least` is the share of n that a move is made by at least, and `margin` that by which a measured gap is shortened,
    by default the deviation of the noise.  Coefficients other than 0 and 1 need their `grid`.
    """

    domain: Domain
    n: int
    price: Price
    updates: int
    threshold: Fraction
    questions: int
    beta: Fraction
    grid: Fraction
    least: Fraction
    margin: Fraction | None

    def __init__(
        self,
        domain: Domain,
        n: int,
        price: Price,
        *,
        updates: int,
        threshold: Number,
        questions: int = 10_000,
        beta: Number = "0.05",
        grid: Number = 1,
        least: Number = 0,
        margin: Number | None = None,
    ) -> None:
        if not 2 <= instance("domain", domain, Domain).size <= CELLS:
            raise BadQuestion(f"A model has 2 to {CELLS} cells, not {domain.size}; project on fewer attributes.")
        fields: dict[str, Any] = {"domain": domain, "n": whole("n", n), "price": instance("price", price, Price)}
        fields |= {"updates": whole("updates", updates), "threshold": rational("threshold", threshold)}
        fields |= {"questions": whole("questions", questions), "beta": probability("beta", beta)}
        fields |= {"grid": positive("grid", grid, LARGEST), "least": rational("least", least)}
        fields["margin"] = None if margin is None else rational("margin", margin)
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        self.loss()  # so that noise that cannot be drawn is refused here

    @property
    def renewed(self) -> bool:
        """Whether a new noisy threshold is drawn after each update."""
        return self.price.epsilon is None

    def _part(self, *, numbers: bool) -> Price:
        part = NUMBERS["zCDP" if self.renewed else "pure"]
        return self.price.part(part if numbers else 1 - part)

    def _steps(self, distance: Number | Distance[Any] | None) -> Distance[Any]:
        """How far answers move, in steps of the grid."""
        d = (
            scalar(moves(self.price), self.price.unit.relation)
            if distance is None
            else read_distance(distance, zero=True)
        )
        return scalar(Fraction(math.ceil(d.linf / self.grid)), d.relation)

    @cached_property
    def comparisons(self) -> Sparse | AboveThreshold:
        """The comparisons, in steps of the grid: one session of Sparse, or one of AboveThreshold for each update."""
        price, level, d = self._part(numbers=False), round(self.threshold * self.n / self.grid), self._steps(None)
        if price.rho is not None:
            each = share(Pure, None, price.rho, self.updates)
            return AboveThreshold(threshold=level, epsilon=each, sensitivity=d, queries=self.questions)
        return Sparse(threshold=level, epsilon=price.amount, count=self.updates, sensitivity=d, queries=self.questions)

    @cached_property
    def number(self) -> Laplace | Gaussian:
        """The noise on each answer of the data, in steps of the grid."""
        return self._part(numbers=True).part(Fraction(1, self.updates)).noise(self._steps(None))

    def loss(self, distance: Number | Distance[Any] | None = None) -> Loss:
        """The loss of the whole session, for units that move each answer by at most `distance`."""
        d = self._steps(distance)
        return (self.updates if self.renewed else 1) * self.comparisons.loss(d) + self.updates * self.number.loss(d)

    def within(self, beta: Number) -> tuple[int, int]:
        """Error bounds in steps, of all comparisons and of all numbers, that hold with probability 1 - beta."""
        half = probability("beta", beta) / 2
        each = half / self.updates if self.renewed else half
        return int(self.comparisons.error(beta=each)), int(self.number.error(beta=half, size=self.updates))

    @cached_property
    def noise_bounds(self) -> tuple[int, int]:
        """The bounds of `within` at the beta of the session."""
        return self.within(self.beta)

    def error(self, beta: Number | None = None) -> float:
        """A bound, in counts, on the errors of all checked answers among the first `questions`."""
        a, w = self.noise_bounds if beta is None else self.within(beta)
        return float(max(round(self.threshold * self.n / self.grid) + a, w) * self.grid)

    @cached_property
    def _promise(self) -> float:
        return self.error()

    def begin(self, source: Source) -> OnlineState:
        return OnlineState(self.comparisons.begin(source).bar)

    def over(self, state: OnlineState) -> bool:
        """Whether no update is left: the model then answers alone, and the data need not be read."""
        return len(state.moves) >= self.updates

    def refuted(self, state: OnlineState) -> bool:
        """Whether the model moved more than n records allow, as a uniform model diverges from them by ln |X| at most.

        If there are n records this happens with probability beta at most, with the `least` that `proven` chooses.
        """
        return self._live(state).fallen > _ROUNDING * math.log(self.domain.size)

    def model(self, state: OnlineState) -> Weights:
        """The public model: from it any linear query can be answered, and synthetic records drawn, free of charge."""
        return self._live(state).weights.copy()

    def _live(self, state: OnlineState) -> _Live:
        """The current model, which the next state takes over and moves; an older state then rebuilds its own."""
        live: _Live | None = state.__dict__.get("_live")
        if live is None or live.moves is not state.moves:
            live = _Live(Weights(self.domain, float(self.n)), state.moves)
            for move in state.moves:
                live.fallen += live.weights.move(move.question, move.by)
            object.__setattr__(state, "_live", live)
        return live

    def move(self, question: LinearQuery, guess: float, number: int) -> Move:
        """The move of the model when the data answered with this number of steps."""
        gap = (number * float(self.grid) - guess) / self.n
        if self.margin is None:
            margin = math.sqrt(self.number.noise().variance()) * float(self.grid) / self.n
        else:
            margin = float(self.margin)
        return Move(question, math.copysign(max(float(self.least), abs(gap) - margin), gap))

    def truth(self, asked: AskedQuery) -> int:
        """The private answer in steps of the grid of this session."""
        question, steps = asked
        finer = Fraction(1) if question.grid == self.grid else question.grid / self.grid
        if finer.denominator != 1:
            raise BadParameter("question", f"in steps of {question.grid}", f"in steps of the grid, {self.grid}")
        if isinstance(steps, bool) or not isinstance(steps, int | np.integer):
            raise BadData("the answer", type(steps).__name__, "a whole number of steps of the question's grid")
        return int(steps) * int(finer)

    def step(self, state: OnlineState, value: AskedQuery, source: Source) -> tuple[OnlineState, OnlineAnswer]:
        """The next state and an answer, without end: once `over`, answers no longer depend on the data."""
        question, live, unit = value[0], self._live(state), float(self.grid)
        guess = question.answer(live.weights)
        rounded, asked = round(guess / unit), state.asked + 1
        if self.over(state):
            return live.next(state.bar, asked), OnlineAnswer(rounded * unit, "unchecked model", None)
        truth = self.truth(value)
        promise = self._promise if asked <= self.questions else None
        if abs(truth - rounded) + self.comparisons.query_noise.draw(source) < state.bar:
            return live.next(state.bar, asked), OnlineAnswer(rounded * unit, "model", promise)
        number = truth + int(self.number.draw(source, None))
        move = self.move(question, guess, number)
        bar = self.comparisons.begin(source).bar if self.renewed else state.bar
        before = state.moves if isinstance(state.moves, Moves) else Moves(state.moves)
        live.moves = before.then(move)  # first: if the next line is interrupted, the state makes its model again
        live.fallen += live.weights.move(question, move.by, guess)
        return live.next(bar, asked), OnlineAnswer(number * unit, "data", promise)

    def law(self, x: Sequence[AskedQuery]) -> TranscriptLaw:
        return TranscriptLaw(self, tuple(x))

    def sample(self, x: Sequence[AskedQuery], source: Source) -> Transcript:
        state, answers = self.begin(source), []
        for asked in x:
            state, answer = self.step(state, asked, source)
            answers.append(answer)
        return self.output(answers)

    def output(self, answers: Sequence[OnlineAnswer]) -> Transcript:
        """The numbers that came from the data; None where the model answered."""
        return tuple(answer.value if answer.by == "data" else None for answer in answers)

    def miss(self, x: Sequence[AskedQuery], y: Transcript) -> float:
        """The largest error of a checked answer."""
        state, worst = OnlineState(0), 0.0
        for asked, answer in zip(x, y, strict=True):
            if self.over(state):
                break
            guess = asked[0].answer(self.model(state))
            truth = self.truth(asked) * float(self.grid)
            unit = float(self.grid)
            worst = max(worst, abs((round(guess / unit) * unit if answer is None else answer) - truth))
            if answer is not None:
                move = self.move(asked[0], guess, round(answer / self.grid))
                state = OnlineState(0, 0, (*state.moves, move))
        return worst

    @classmethod
    def examples(cls) -> Iterable[Example[Sequence[AskedQuery]]]:
        four = Domain.of({"x": 2, "y": 2})
        first, second = LinearQuery.where(four, {"x": 1}), LinearQuery.where(four, {"x": 0, "y": 1})
        both = LinearQuery.where(four, {"y": 1})
        three = Domain.of({"z": 3})
        half = LinearQuery((((0,), (0, 1, 2)),), Fraction(1, 2))
        x, y = [(first, 6), (second, 1), (both, 3)], [(first, 5), (second, 2), (both, 4)]
        for price in (Price.of(epsilon=3), Price.of(rho="0.5")):
            one = cls(four, 8, price, updates=1, threshold="0.125", questions=3, beta="0.3")
            yield Example(one, x, y, 1, draws=4000)
        for price in (Price.of(epsilon=20), Price.of(rho=8)):
            two = cls(four, 8, price, updates=2, threshold="0.125", questions=3, beta="0.3")
            yield Example(two, x, y, 1, draws=4000)
        fine = cls(three, 6, Price.of(epsilon=6), updates=1, threshold=0, questions=2, beta="0.3", grid="0.5")
        yield Example(fine, [(half, 9), (half, 9)], [(half, 7), (half, 7)], 1, draws=4000)


def moves(price: Price) -> Fraction:
    """How far one unit moves a linear query: all its records come, or go, or half do each."""
    return price.unit.l1 / 2 if isinstance(price.unit.relation, Substitute) else price.unit.l1
