"""Quotients by the number of rows stay in the range that they can have: a rate is between 0 and 1.

A sum of values in [a, b] over some of n rows lies in [n min(a, 0), n max(b, 0)], and a count of some of them in [0, n].
So their quotient by COUNT(*) is bounded whatever the noise is, and so are its multiples.  Clipping to what the truth
can be moves no estimate away from the truth.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

import numpy as np

from ..core.exact import down, up
from ..query.plan.estimators import Recipe
from ..query.select.evaluation import Columns, Loose, evaluate
from ..query.select.outputs import Arithmetic, ColumnEstimate, Output, OutputValue, ReleasedColumn, Window
from ..query.select.query import Aggregate

Range = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Rates:
    """Evaluates outputs, with the rates in them, but for those in windows, clipped to their ranges."""

    aggregates: Mapping[str, Aggregate]
    recipes: Mapping[str, Recipe]

    def __call__(
        self, output: Output, columns: Columns, rows: int, loose: Loose, *, as_one: bool = False
    ) -> ColumnEstimate:
        """The value of an output in each row."""
        if as_one or not any(each.kind == "count" and each.expression is None for each in self.aggregates.values()):
            return evaluate(output, columns, rows, loose, as_one=as_one)
        known = dict(columns)

        def clipped(part: Output) -> Output:
            if isinstance(part, Window):
                return part
            if isinstance(part, Arithmetic) and (ends := _range(part, self.aggregates, self.recipes)) is not None:
                name = f"\0{len(known)}"
                known[name] = _within(evaluate(part, columns, rows, loose), *ends)
                return ReleasedColumn(name)
            inner: dict[str, Any] = {f.name: getattr(part, f.name) for f in fields(part)}
            changed = {name: clipped(each) for name, each in inner.items() if isinstance(each, Output)}
            return replace(part, **changed) if changed else part

        return evaluate(clipped(output), known, rows, loose)


def _range(part: Arithmetic, aggregates: Mapping[str, Aggregate], recipes: Mapping[str, Recipe]) -> Range | None:
    """The range of a quotient by COUNT(*), or None."""
    by = aggregates.get(part.b.name) if part.operator == "/" and isinstance(part.b, ReleasedColumn) else None
    if by is None or by.kind != "count" or by.expression is not None:
        return None
    return _share(part.a, recipes)


def _share(top: Output, recipes: Mapping[str, Recipe]) -> Range | None:
    """The range of a count or a sum, or of a multiple of it, divided by the number of all rows."""
    match top:
        case ReleasedColumn() if top.name in recipes:
            recipe = recipes[top.name]
            if recipe.kind in ("count", "units"):
                return Fraction(0), Fraction(1)
            if recipe.kind == "sum" and recipe.per_unit is None:
                d = recipe.domain
                return min(d.lower * d.grid, Fraction(0)), max(d.upper * d.grid, Fraction(0))
        case Arithmetic("*", OutputValue(Fraction() as times), other) | Arithmetic(
            "*", other, OutputValue(Fraction() as times)
        ):
            if (ends := _share(other, recipes)) is not None:
                low, high = sorted(times * end for end in ends)
                return low, high
    return None


def _within(c: ColumnEstimate, least: Fraction, most: Fraction) -> ColumnEstimate:
    low, high = down(least) + 0.0, up(most) + 0.0
    values = c.values if c.kind == "label" else np.clip(c.values, low, high)
    return replace(c, values=values, lower=np.clip(c.lower, low, high), upper=np.clip(c.upper, low, high))
