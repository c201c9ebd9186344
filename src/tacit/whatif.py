r"""What a schema, questions and a budget would give: errors, what better bounds would gain, what an attacker gains.

No data are read: every number follows from public facts, or from attacks on made-up tables.

An attacker who guesses at a fair coin (whether a person is in the table, what a secret bit is) from all that an
(epsilon, delta) budget buys is right with probability at most

    (e^epsilon + delta) / (1 + e^epsilon)      (Kairouz, Oh, Viswanath, ICML 2015, theorem 2.1).

Beside this limit stand the shares that two attacks of `tacit.audit` reach with Laplace noise that spends epsilon:
reconstruction from 4 n subset sums, and tracing through 4000 marginals.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .audit.attacks import membership, reconstruction
from .audit.plots import COLOURS
from .core.accounting.budget import Budget
from .core.errors import BadParameter, BudgetExceeded
from .core.parameters import Number, positive
from .core.randomness import SYSTEM, Source
from .mechanisms import Laplace
from .plot_style import SHORT, altair, styled
from .query.plan.offer import offer
from .query.schema.schema import Schema
from .query.sql import parser

if TYPE_CHECKING:
    from altair import TopLevelMixin

SCALES = (Fraction(1, 10), Fraction(3, 10), Fraction(1), Fraction(3), Fraction(10))  # of the budget
DELTA = Fraction(1, 10**6)  # at which a budget in zCDP is stated as an epsilon
_BITS = 64  # of the secret column that is attacked
_REPEATS = 4  # of each attack


@dataclass(frozen=True)
class ExpectedError:
    """The error of one output of a question; `error` is None where it depends on a number that is not public."""

    question: str
    output: str
    text: str
    error: float | None


@dataclass(frozen=True)
class Gain:
    """A change of the schema, and the error of an output after it, as a part of the error before."""

    change: str
    question: str
    output: str
    ratio: float


@dataclass(frozen=True)
class AttackerShare:
    """The share of fair coins that an attacker guesses right at a budget: at most, and in two attacks."""

    budget: str
    epsilon: float
    limit: float
    membership: float
    reconstruction: float


@dataclass(frozen=True)
class WhatIf:
    """A schema, questions about its table, a budget, and the share of the budget that each question takes."""

    schema: Schema
    questions: tuple[str, ...]
    budget: Budget
    share: Fraction

    @cached_property
    def errors(self) -> list[ExpectedError]:
        """The error of each output of each question."""
        return list(_errors(self.schema, self.questions, self.budget, self.share))

    @property
    def left(self) -> int:
        """How many more questions of the same share the budget buys."""
        return math.floor((1 - self.share * len(self.questions)) / self.share)

    @cached_property
    def gains(self) -> list[Gain]:
        """What half the bounds of a column, half the rows, or one group for each unit would gain."""
        before = {(e.question, e.output): e.error for e in self.errors}
        gains = []
        for change, schema in _changes(self.schema):
            for e in _errors(schema, self.questions, self.budget, self.share):
                old = before.get((e.question, e.output))
                if old and e.error is not None and e.error < 0.99 * old:
                    gains.append(Gain(change, e.question, e.output, e.error / old))
        return gains

    def at_budgets(self) -> list[dict[str, Any]]:
        """The error of each output under smaller and larger budgets, in the same shares."""
        rows = []
        for budget in map(self._scaled, SCALES):
            for e in _errors(self.schema, self.questions, budget, self.share):
                if e.error:
                    rows.append({"epsilon": _epsilon(budget)[0], "output": self.label(e), "error": e.error})
        return rows

    def label(self, of: ExpectedError | Gain) -> str:
        """An output by its name, and by the number of its question if other questions have one of that name."""
        namesakes = {e.question for e in self.errors if e.output == of.output}
        return of.output if len(namesakes) < 2 else f"{of.output} of question {self.questions.index(of.question) + 1}"

    def attackers(self, source: Source = SYSTEM) -> list[AttackerShare]:
        """What an attacker gains under smaller and larger budgets."""
        shares = []
        for budget in map(self._scaled, SCALES):
            epsilon, delta = _epsilon(budget)
            limit = (1 + delta * math.exp(-epsilon)) / (1 + math.exp(-epsilon))
            traced, rebuilt = (
                sum(attack(epsilon, source) for _ in range(_REPEATS)) / _REPEATS
                for attack in (traced_share, rebuilt_share)
            )
            shares.append(AttackerShare(str(budget), epsilon, limit, traced, rebuilt))
        return shares

    def _scaled(self, scale: Fraction) -> Budget:
        """The budget with its epsilon or rho multiplied by this."""
        b = self.budget
        if b.rho is not None:
            return Budget(rho=b.rho * scale, delta=b.delta or None)
        return Budget(epsilon=b.limit * scale, delta=b.delta or None)

    def plot(self, attackers: Sequence[AttackerShare]) -> TopLevelMixin:
        """One page: errors against the budget, what changes of the schema gain, and what an attacker gains."""
        alt = altair()
        charts = [
            _error_lines(alt, self.at_budgets()),
            _gain_bars(alt, [replace(gain, output=self.label(gain)) for gain in self.gains]),
            _attack_lines(alt, attackers),
        ]
        page: TopLevelMixin = styled(
            alt.vconcat(*(chart for chart in charts if chart is not None)).resolve_scale(
                color="independent", strokeDash="independent"
            ),
            labelLimit=400,
        )
        return page


def what_if(schema: Schema, questions: Sequence[str], budget: Budget, share: Number | None = None) -> WhatIf:
    """What these questions would give, each at this share of the budget; by default at equal shares of all of it."""
    if not questions:
        raise BadParameter("questions", "none", "at least one question in SQL")
    each = Fraction(1, len(questions)) if share is None else positive("share", share)
    if each * len(questions) > 1:
        says = (
            f"{len(questions)} questions at a share of {float(each):g} take more than the budget. Pass a lower share."
        )
        raise BadParameter("share", share, "at most 1 in all", says=says)
    return WhatIf(schema, tuple(questions), budget, each)


def _errors(schema: Schema, questions: Sequence[str], budget: Budget, share: Fraction) -> Iterator[ExpectedError]:
    """The errors of the questions; a question that this budget cannot buy has none."""
    tables: Mapping[str, Schema] = {schema.name: schema}
    for question in questions:
        query = parser.parse(question, tables, {}).query
        try:
            offered = offer(query, budget, schemas=tables, share=share)
        except BudgetExceeded as refusal:
            yield ExpectedError(question, "-", str(refusal), None)
            continue
        yield from (ExpectedError(question, e.name, str(e), e.error) for e in offered.errors if e.theorem)


def _changes(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """Schemas that would make answers more accurate, each with the change in words."""
    if schema.rows > 1:
        half = schema.rows // 2
        yield f"rows = {half} instead of {schema.rows}", replace(schema, rows=half)
        if (schema.groups or schema.rows) > 1:
            yield "groups = 1", replace(schema, groups=1)
    for i, (name, column) in enumerate(schema.columns):
        d = column.domain
        if d.kind == "number" and d.declared and d.upper > d.lower:
            middle = (d.lower + d.upper) // 2
            around_zero = d.lower < 0 < d.upper
            narrow = d.within(d.lower // 2, d.upper // 2) if around_zero else d.within(d.lower, middle)
            columns = (*schema.columns[:i], (name, replace(column, domain=narrow)), *schema.columns[i + 1 :])
            ends = f"{d.label(narrow.lower)} to {d.label(narrow.upper)}"
            yield (
                f"{name} from {ends} instead of {d.label(d.lower)} to {d.label(d.upper)}",
                replace(schema, columns=columns),
            )


def _epsilon(budget: Budget) -> tuple[float, float]:
    """The (epsilon, delta) that all purchases of a budget have together."""
    epsilon, delta = budget.guarantee(budget.delta or DELTA)
    return float(epsilon), float(delta)


def traced_share(epsilon: float, source: Source = SYSTEM) -> float:
    """The share of people whose membership is guessed right from 4000 marginals at epsilon in all."""
    noise = Laplace(scale=Fraction(membership.ATTRIBUTES / epsilon))
    return membership.guesses(source, lambda members: noise.sample(members.sum(axis=0), source), epsilon).share


def rebuilt_share(epsilon: float, source: Source = SYSTEM) -> float:
    """The share of secret bits that 4 n subset sums give back at epsilon in all."""
    secret = reconstruction.secret_column(_BITS, source)
    queries = reconstruction.subset_queries(_BITS, 4 * _BITS, source)
    answers = reconstruction.noisy_sums(secret, queries, Fraction(4 * _BITS / epsilon), source)
    return reconstruction.recovered(secret, queries, answers, epsilon).share


def _error_lines(alt: Any, rows: list[dict[str, Any]]) -> Any:
    if not rows:
        return None
    ticks = sorted({row["epsilon"] for row in rows})
    chart = alt.Chart(alt.Data(values=rows), width=520, height=260, title="Error of each output, at 95 %")
    return chart.mark_line(strokeWidth=2.5, point=True).encode(
        x=_budget_axis(alt, ticks),
        y=alt.Y(
            "error:Q",
            title="error (+-)",
            scale=alt.Scale(type="log"),
            axis=alt.Axis(labelExpr=SHORT, tickCount=5, grid=False),
        ),
        color=alt.Color("output:N", title="output", scale=alt.Scale(range=[*COLOURS])),
    )


def _gain_bars(alt: Any, gains: Sequence[Gain]) -> Any:
    if not gains:
        return None
    rows = [{"change": gain.change, "output": gain.output, "ratio": gain.ratio} for gain in gains]
    chart = alt.Chart(alt.Data(values=rows), width=520, title="What a change of the schema would leave of the error")
    return chart.mark_bar().encode(
        x=alt.X("ratio:Q", title="error after / error before", scale=alt.Scale(domain=[0, 1])),
        y=alt.Y("change:N", title=None, axis=alt.Axis(labelLimit=320)),
        yOffset="output:N",
        color=alt.Color("output:N", title="output", scale=alt.Scale(range=[*COLOURS])),
    )


def _attack_lines(alt: Any, attackers: Sequence[AttackerShare]) -> Any:
    names = {"limit": "any attacker, at most", "membership": "membership attack", "reconstruction": "reconstruction"}
    rows = [
        {"epsilon": a.epsilon, "attack": name, "share": getattr(a, key)}
        for a in attackers
        for key, name in names.items()
    ]
    ticks = sorted({a.epsilon for a in attackers})
    chart = alt.Chart(alt.Data(values=rows), width=520, height=260, title="Guesses of an attacker (a coin gets 0.5)")
    return chart.mark_line(strokeWidth=2.5, point=True).encode(
        x=_budget_axis(alt, ticks),
        y=alt.Y("share:Q", title="share of right guesses", scale=alt.Scale(domain=[0.35, 1.02], nice=False)),
        color=alt.Color("attack:N", title=None, scale=alt.Scale(domain=[*names.values()], range=[*COLOURS])),
        strokeDash=alt.StrokeDash("attack:N", title=None, scale=alt.Scale(domain=[*names.values()])),
    )


def _budget_axis(alt: Any, ticks: Sequence[float]) -> Any:
    scale = alt.Scale(type="log", nice=False, padding=10)
    return alt.X("epsilon:Q", title="epsilon of the budget", scale=scale, axis=alt.Axis(values=ticks, labelExpr=SHORT))
