r"""The classic experiment: the holdout set selects variables, and then reports how accurate they are.

There are n training and n holdout records of d variables, each +1 or -1, and a label.  Without signal no variable has
to do with the label; with signal, `informative` of them agree with it with probability 1/2 + 3/sqrt(n).  Only
agreement matters, so a record is the row of its agreements.  The analyst
    1. selects each variable whose agreement with the label differs from 1/2 by 1/(2 sqrt n) or more, in the same
       direction, on the training set and in the answers of the holdout set;
    2. lets the k of them with the largest training agreement vote, for several k;
    3. reports the accuracy of the vote on the training set, on the holdout set and on fresh data.
An unprotected holdout set selected the variables, and agrees with them: without signal it reports over 60 % where the
truth is 50 %.  Under a rule it does not, and the rule's promise holds for all d + K answers at once.

The truth is exact: votes are independent coins, and the law of their sum is a convolution of binomials.

References.  Dwork, Feldman, Hardt, Pitassi, Reingold, Roth, Science 349 (2015), figure 1, and Freedman, The American
Statistician 37 (1983), on screening.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from ..core.errors import BadParameter
from ..core.exact import constant
from ..core.parameters import whole
from ..core.randomness import SYSTEM, Source
from ..core.samplers import bernoulli
from ..core.search import least_whole
from .keeper import Memory
from .rules.guess_and_check import GuessAndCheck
from .rules.reusable import ReusableHoldout
from .rules.rule import Rule, Spent, State, Statement, Unanswered, shown
from .session import Holdout

_MAX_THOUSANDTHS = 499  # of a width; from 1/2 on it says nothing
_WIDE = 0.1  # a promise so wide that the errors of the plain holdout set would keep it
VOTERS = (1, 11, 21, 31, 45, 71, 101, 151, 201, 251, 301, 401, 501)  # odd, so that no vote is a tie
PLAIN = "plain holdout"
Bits = NDArray[np.bool_]


class Agreements:
    """n rows of d coins, by column and eight to a byte: 10,000 by 10,000 take 12.5 MB."""

    def __init__(self, n: int, d: int, informative: int, source: Source) -> None:
        self.n, words = n, -(-n // 64)
        coins = source.words(d * words).view(np.uint8).reshape(d, 8 * words)
        self._packed = np.array(coins[:, : -(-n // 8)])
        if n % 8:
            self._packed[:, -1] &= 0xFF << 8 - n % 8 & 0xFF
        bias = constant(agreement(n))
        for i in range(informative):
            self._packed[i] = np.packbits(bernoulli(bias, source, n))

    def column(self, i: int) -> Bits:
        """The coins of one variable."""
        return np.unpackbits(self._packed[i], count=self.n).view(np.bool_)

    def records(self) -> NDArray[np.uint8]:
        """The rows, eight columns to a byte."""
        parts = range(0, len(self._packed), 1024)
        coins = (np.unpackbits(self._packed[at : at + 1024], axis=1, count=self.n) for at in parts)
        return np.hstack([np.packbits(part.T, axis=1) for part in coins])

    def means(self) -> NDArray[np.float64]:
        """The share of agreements of each variable."""
        return np.asarray(np.bitwise_count(self._packed).sum(axis=1, dtype=np.int64) / self.n)

    def votes(self, chosen: Sequence[int], signs: NDArray[np.int64]) -> Bits:
        """Whether the vote of these variables, each with its sign, is right, for each record."""
        total = np.zeros(self.n, np.int64)
        for i in chosen:
            total += signs[i] * (2 * self.column(i).astype(np.int64) - 1)
        return np.asarray(total > 0)


def agreement(n: int) -> Fraction:
    """The agreement 1/2 + 3/sqrt(n) of an informative variable: six standard errors of a mean of signs."""
    return Fraction(1, 2) + Fraction(round(3 * 2**30 / math.sqrt(n)), 2**30)


def truth(n: int, right: int, wrong: int, blind: int) -> float:
    """The true accuracy of a vote of informative variables, with the right or the wrong sign, and of blind ones."""
    p, law = float(agreement(n)), np.ones(1)
    for count, chance in ((right, p), (wrong, 1 - p), (blind, 0.5)):
        j = np.arange(count + 1)
        ways = gammaln(count + 1) - gammaln(j + 1) - gammaln(count - j + 1)
        law = np.convolve(law, np.exp(ways + j * math.log(chance) + (count - j) * math.log1p(-chance)))
    return float(law[(right + wrong + blind) // 2 + 1 :].sum())


@dataclass(frozen=True, slots=True)
class Point:
    """One vote: the number of variables, and its accuracies; `reported` is None once the holdout is exhausted."""

    method: str
    signal: bool
    voters: int
    train: float
    reported: float | None
    truth: float


@dataclass(frozen=True, slots=True)
class Experiment:
    """All votes of all methods, and what each rule promised and answered."""

    points: tuple[Point, ...]
    statements: dict[str, Statement]
    asked: dict[str, tuple[int, int]]  # questions, and answers from the holdout set, in the worse case

    def worst(self, method: str) -> float:
        """The largest error of a reported accuracy."""
        reports = [p for p in self.points if p.method == method and p.reported is not None]
        return max((abs(float(p.reported or 0) - p.truth) for p in reports), default=0.0)

    def false_accuracy(self, method: str) -> float:
        """The largest accuracy reported where there is no signal."""
        return max(p.reported or 0.0 for p in self.points if p.method == method and not p.signal)

    def __str__(self) -> str:
        lines = []
        for method in dict.fromkeys(p.method for p in self.points):
            report = f"reports up to {100 * self.false_accuracy(method):.1f} % without signal; worst error"
            statement = self.statements.get(method)
            promised = f"promised {shown(statement.width)}" if statement else "nothing promised"
            lines.append(f"{method:18} {report} {self.worst(method):.3f}, {promised}")
        if max(statement.width for statement in self.statements.values()) > _WIDE:
            lines.append(
                "There are few records, so the promises are wide, and reports may be off by as much. Try more records."
            )
        return "\n".join(lines)


def rules(n: int, d: int, votes: int) -> dict[str, Rule]:
    """The rules that are compared: each must last for d questions about variables and `votes` about votes."""
    return {
        "reusable holdout": ReusableHoldout(n=n, questions=d + votes, exceptions=votes + 4, grid=1),
        "guess and check": GuessAndCheck(n=n, width=_narrowest(n, d, votes), questions=d + votes, grid=1),
    }


def _narrowest(n: int, d: int, votes: int) -> Fraction:
    """The smallest width, in steps of 1/1000, at which guess and check accepts d right guesses and lasts for votes."""
    gap = math.sqrt(math.log(2 * d) / n)  # d means on training and holdout records rarely differ by more

    def lasts(width: int) -> bool:
        try:
            rule = GuessAndCheck(n=n, width=Fraction(width, 1000), questions=d + votes, grid=1)
        except BadParameter:
            return False
        some, all_wrong = State(d, 2), State(d + votes, votes + 2)
        return max(rule.deviation(some) + gap, rule.deviation(all_wrong) + float(rule.resolution)) <= rule.width

    if not lasts(_MAX_THOUSANDTHS):
        raise BadParameter("n", n, "larger for this number of variables and votes")
    return Fraction(least_whole(lambda width: lasts(min(width, _MAX_THOUSANDTHS)), 1), 1000)


def overfit(
    n: int = 10_000,
    d: int = 10_000,
    *,
    informative: int = 20,
    voters: Sequence[int] = VOTERS,
    source: Source = SYSTEM,
) -> Experiment:
    """The experiment, without signal and with it, for the plain holdout and for each rule."""
    n, d = whole("n", n, at_least=64), whole("d", d)
    if any(whole("voters", k) % 2 == 0 for k in voters):
        raise BadParameter("voters", tuple(voters), "odd numbers, so that no vote is a tie")
    tried, points, asked = rules(n, d, len(voters)), list[Point](), dict[str, tuple[int, int]]()
    for signal in (False, True):
        train, holdout = (Agreements(n, d, informative * signal, source) for _ in range(2))
        for method, rule in {PLAIN: None, **tried}.items():
            protected = None if rule is None else Holdout(rule, holdout.records(), keeper=Memory(), source=source)
            points += _analyse(method, signal, train, holdout, protected, informative=informative, voters=voters)
            if protected is not None:
                asked[method] = max(asked.get(method, (0, 0)), (protected.state.asked, protected.state.told))
    return Experiment(tuple(points), {name: rule.promise for name, rule in tried.items()}, asked)


def _analyse(
    method: str,
    signal: bool,
    train: Agreements,
    holdout: Agreements,
    protected: Holdout | None,
    *,
    informative: int,
    voters: Sequence[int],
) -> list[Point]:
    """The votes of an analyst who uses one holdout set, unprotected if `protected` is None."""
    n, on_train = train.n, train.means()
    on_holdout = holdout.means()
    if protected is not None:
        on_holdout = np.array([_answer(protected, on_train, holdout, i) for i in range(len(on_train))])
    least, signs = 1 / (2 * math.sqrt(n)), np.where(on_train >= 0.5, 1, -1)
    selected = np.flatnonzero((np.abs(on_train - 0.5) >= least) & (signs * (on_holdout - 0.5) >= least))
    order, points = selected[np.argsort(-np.abs(on_train[selected] - 0.5), kind="stable")], []
    for k in voters:
        chosen = order[: min(k, len(order) - 1 + len(order) % 2)].tolist()
        if not chosen:
            continue
        right = train.votes(chosen, signs)
        mean, held = float(np.mean(right)), holdout.votes(chosen, signs)
        try:
            reported = float(np.mean(held)) if protected is None else protected.ask((mean, held))
        except (Spent, Unanswered):
            reported = None
        real = [i for i in chosen if signal and i < informative]
        good = sum(1 for i in real if signs[i] > 0)
        true = truth(n, good, len(real) - good, len(chosen) - len(real))
        points.append(Point(method, signal, k, mean, reported, true))
    return points


def _answer(protected: Holdout, on_train: NDArray[np.float64], holdout: Agreements, i: int) -> float:
    """The holdout's answer about one variable; the training mean where the holdout gives none."""
    try:
        return protected.ask((float(on_train[i]), holdout.column(i)))
    except (Spent, Unanswered):
        return float(on_train[i])
