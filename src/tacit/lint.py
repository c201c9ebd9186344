"""What a custodian would regret about a schema and a budget, and what each costs in noise.

Public facts show some of it.  Whether `rows` or bounds are wider than the data need shows only in the data: these are
looked at if the custodian says so, and what is found is for the custodian alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from .core.accounting.budget import Budget
from .core.exact import from_above
from .query.plan.offer import offer
from .query.schema.schema import Schema
from .query.sql import parser

MAX_EPSILON, WIDE = 10, 100
_SHARE = Fraction(1, 10)  # of the budget, at which noise is stated


def lint(schema: Schema, budget: Budget) -> Iterator[str]:
    """Remarks from public facts alone."""
    epsilon, delta = budget.guarantee(budget.delta or Fraction(1, 10**6))
    if epsilon > MAX_EPSILON:
        right = 1 / (1 + math.exp(-float(epsilon)))
        yield (
            f"The budget is epsilon = {float(epsilon):.3g}, above {MAX_EPSILON}: an attacker may guess any one fact "
            f"about a person right with probability {right:.5f}. Most releases stay at a few units or below."
        )
    if schema.size is not None and delta > Fraction(1, schema.size):
        yield (
            f"delta = {float(delta):.2g} is above 1 / size = {1 / schema.size:.2g}: a mechanism with such a delta "
            "could publish somebody's rows as they are. Take a tenth of 1 / size at most."
        )
    if schema.size is None:
        yield "There is no `size`: errors of means and relative errors cannot be stated. Set it, if it is public."
    if schema.unit is not None and schema.rows > 1:
        yield (
            f"rows = {schema.rows}: a count at a tenth of the budget errs by {_count_error(schema, budget)}; with "
            f"rows = {(schema.rows + 1) // 2} by {_count_error(replace(schema, rows=(schema.rows + 1) // 2), budget)}."
        )
    for name, column in schema.columns:
        d = column.domain
        if d.kind == "number" and not d.declared:
            ends = f"{d.label(d.lower):g} to {d.label(d.upper):g}"
            yield f"{name} has no bounds, so its sums are noisy as if it went from {ends}. Declare bounds, or buy them."


def lint_data(schema: Schema, spans: Mapping[str, tuple[Any, Any]], most_rows: int | None) -> Iterator[str]:
    """Remarks about what the data need: the middle 99 % of each column in steps, and the rows of the largest unit."""
    if most_rows is not None and most_rows < schema.rows:
        yield f"rows = {schema.rows}, but no unit has more than {most_rows} rows: all noise is larger than it need be."
    for name, (low, high) in spans.items():
        d = schema.domain(name)
        declared, needed = d.upper - d.lower, max(high - low, 1)
        if d.declared and declared > WIDE * needed:
            yield (
                f"The bounds of {name} are {declared / needed:,.0f} times as wide as the middle 99 % of its values, "
                "and sums as noisy. `tacit bounds` buys bounds that may be made public; what the data hold may not."
            )


def _count_error(schema: Schema, budget: Budget) -> str:
    query = parser.parse(f"SELECT COUNT(*) AS n FROM {schema.name}", {schema.name: schema}, {}).query
    (error,) = offer(query, budget, schemas={schema.name: schema}, share=_SHARE).errors
    return f"+-{from_above(error.error or 0.0)}"
