r"""All ways to ask k questions of n records, ranked by the width that each promises: rules, methods and yardsticks.

    a fresh set for each round    n new records each time: as accurate as questions that are asked beforehand, at R n
                                  records in all
    asked beforehand              Bonferroni: only for questions that are fixed before the data is seen
    sample splitting              n / R records for each round
    guess and check               the least width at which all k questions are answered, if all guesses but `wrong` are
                                  as good as means of a validation set of so many records
    reusable holdout              with `wrong` exceptions
    Ladder                        only the best score so far is told
    parameter-free Ladder         the same, if there are no more than `wrong` records
    rounded, Gaussian             every answer is the holdout set's own (`planning.py`)

All promise their width for all answers at once, with probability 1 - beta.  `needs` says under which condition all k
questions are answered, or what is told; no condition is needed for the width of what is answered.  With an expected
`accuracy` the intervals are those of relative entropy around it (`histories.interval`); without, those of Hoeffding's
inequality, which hold for any mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from ..core.errors import BadParameter
from ..core.parameters import Number, probability, several, whole
from . import histories, planning, transfer
from .planning import HoldoutPlan
from .rules.guess_and_check import SURE, GuessAndCheck
from .rules.ladder import Ladder, ParameterFreeLadder
from .rules.reusable import ReusableHoldout
from .rules.rule import State, Statement

FINE = Fraction(1, 1 << 14)  # the resolution and the grid of rules that are compared
BEFOREHAND, FRESH = "asked beforehand", "a fresh set for each round"


@dataclass(frozen=True)
class Use:
    """How a holdout set will be used: rounds, the expected mean, and the quality of guesses."""

    n: int
    questions: int
    beta: Fraction
    rounds: int | None = None
    accuracy: float | None = None
    wrong: int = 10
    validation: int | None = None

    @property
    def gap(self) -> float:
        """By how much all good guesses differ from the holdout means: sqrt(2 v (1/n + 1/m) ln(2 k / beta))."""
        mean, m = self.accuracy or 0.5, self.validation or self.n
        v = mean * (1 - mean)
        return math.sqrt(2 * v * (1 / self.n + 1 / m) * math.log(2 * self.questions / self.beta))

    def half_width(self, nats: float) -> float:
        """How far the truth is at most from the expected sample mean, or from any."""
        if self.accuracy is None:
            return histories.deviation(self.n, nats)
        low, high = histories.interval(self.accuracy, self.n, nats)
        return max(self.accuracy - low, high - self.accuracy)


def guess_and_check(use: Use) -> HoldoutPlan:
    """Guess and check at the least width at which it answers everything, if the guesses are as good as expected."""
    one, finest = use.rounds == 1, FINE if use.rounds == 1 else Fraction(1, 128)
    declared = {"questions": use.questions, "rounds": use.rounds}
    rule = GuessAndCheck(
        n=1 << 40, width="0.5", beta=use.beta, resolution=finest, grid=FINE, **declared
    )  # for its nats
    before = 0 if one else min(use.wrong, use.questions - 1)
    margin = float(rule.resolution) if one else max(use.gap, float(rule.resolution))
    width = use.half_width(rule.nats(State(before, before))) + margin
    low, high = histories.interval(SURE, use.n, rule.nats(State()))
    least = (high - low) / 2 + float(rule.resolution / 2)  # below, the rule is refused
    needs = "" if one else f"{use.wrong} wrong guesses"
    total = (max(width, least) + rule.rounding) * histories.OUTWARD
    return HoldoutPlan("guess and check", use.n, use.questions, total, needs=needs)


def reusable(use: Use) -> HoldoutPlan:
    """The reusable holdout, with `wrong` exceptions."""
    rule = ReusableHoldout(
        n=use.n, questions=use.questions, exceptions=max(1, min(use.wrong, use.questions)), beta=use.beta,
        grid=FINE, rounds=use.rounds,
    )  # fmt: skip
    needs = f"{rule.exceptions} wrong guesses"
    epsilon = float(rule.mechanism.epsilon)
    return HoldoutPlan(
        "reusable holdout", use.n, use.questions, _around(use, rule.promise), epsilon=epsilon, needs=needs
    )


def ladder(use: Use) -> HoldoutPlan:
    """The Ladder at its best rise."""
    rule = Ladder(n=use.n, questions=use.questions, beta=use.beta, grid=FINE, rounds=use.rounds)
    return HoldoutPlan("Ladder", use.n, use.questions, _around(use, rule.promise), needs="tells only the best score")


def parameter_free(use: Use) -> HoldoutPlan:
    """The parameter-free Ladder after so many submissions and records."""
    rule = ParameterFreeLadder(n=use.n, beta=use.beta, grid=FINE)
    records = min(use.wrong, use.questions)
    width = _around(use, rule.statement(State(use.questions, records)))
    needs = f"the best score; {records} records"
    return HoldoutPlan("parameter-free Ladder", use.n, use.questions, width, needs=needs)


def fresh(use: Use) -> HoldoutPlan:
    """New records for each round, or for each question."""
    rounds = use.rounds or use.questions
    return replace(beforehand(use), method=FRESH, needs=f"{rounds * use.n} records in all")


def beforehand(use: Use) -> HoldoutPlan:
    """Bonferroni: all questions are fixed before the data is seen."""
    plan = planning.beforehand(use.n, use.questions, use.beta)
    sharp = use.half_width(histories.log(use.questions / use.beta))
    return replace(plan, width=min(plan.width, sharp), needs="" if use.rounds == 1 else "fixed questions")


def splitting(use: Use) -> HoldoutPlan:
    """Fresh records for each round, from the same n."""
    plan, rounds = planning.splitting(use.n, use.questions, use.beta, use.rounds), use.rounds or use.questions
    if not use.n // rounds:
        return plan
    part = replace(use, n=use.n // rounds)
    return replace(plan, width=min(plan.width, part.half_width(histories.log(use.questions / use.beta))))


def _around(use: Use, statement: Statement) -> float:
    """How far the truth is at most from an answer that equals the expected mean, or from any."""
    if use.accuracy is None:
        return statement.width
    low, high = statement.interval(use.accuracy)
    return max(use.accuracy - low, high - use.accuracy)


def compare(
    n: int,
    questions: int | Iterable[int],
    beta: Number = "0.05",
    *,
    rounds: int | None = None,
    accuracy: Number | None = None,
    wrong: int = 10,
    validation: int | None = None,
) -> list[HoldoutPlan]:
    """The plan of every rule, method and yardstick for each number of questions, the narrowest first.

    `rounds` lists of questions are fixed beforehand, each list after the answers to the last; by default each question
    is a round.  `accuracy` is the mean that is expected, `wrong` the number of guesses that may be off, and
    `validation` the number of records that guesses are computed from, by default n.
    """
    share, mean = transfer.shared(beta), None if accuracy is None else float(probability("accuracy", accuracy))
    ks = several("questions", questions if isinstance(questions, Iterable) else [questions], whole)
    if rounds is not None and not 1 <= whole("rounds", rounds) <= min(ks):
        raise BadParameter("rounds", rounds, f"at most the number of questions, {min(ks)}")
    size = None if validation is None else whole("validation", validation)
    uses = [Use(whole("n", n, at_least=2), k, share, rounds, mean, whole("wrong", wrong), size) for k in ks]
    return [plan for use in uses for plan in sorted(_plans(use), key=lambda plan: plan.width)]


def _plans(use: Use) -> list[HoldoutPlan]:
    ways = (beforehand, fresh, splitting, guess_and_check, reusable, ladder, parameter_free)
    others = [
        method(use.n, use.questions, use.beta)
        for name, method in planning.METHODS.items()
        if name not in (BEFOREHAND, "sample splitting", "rounded answers")
    ]
    return [*(way(use) for way in ways), planning.rounded(use.n, use.questions, use.beta, use.rounds), *others]


def table(plans: Sequence[HoldoutPlan]) -> str:
    """The plans as text, one line each."""
    head = f"{'method':30} {'n':>9} {'questions':>9} {'width':>7} {'sigma':>8} {'epsilon':>8}  needs"
    lines = [
        f"{p.method:30} {p.n:>9} {p.questions:>9} {_number(p.width):>7} {_blank(p.sigma):>8} {_blank(p.epsilon):>8}"
        f"  {p.needs}"
        for p in plans
    ]
    return "\n".join(line.rstrip() for line in [head, *lines])


def _number(x: float) -> str:
    return "none" if x >= 1 else f"{math.ceil(x * 10**4) / 10**4:.4f}"


def _blank(x: float) -> str:
    return f"{x:.4g}" if 0 < x < 10 else ""
