"""The schema of an answer: the names and types of its columns, known before anything is bought.

The columns are computed as those of a release are, from one row of zeros, so the two agree.  The only exceptions are
integers beyond 64 bits and the least and largest of no rows, which a release has as reals.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal, cast

import numpy as np

from ..select.output_types import of_answer
from ..select.outputs import ColumnEstimate, labels, numbers
from ..select.query import Key, Query
from ..select.selections import AnswerRows, Lineage
from .estimators import NoisyMeasure, Recipe

AnswerType = Literal["integer", "real", "boolean", "text", "date", "timestamp"]
_ZERO = np.zeros(1, np.int64)


def answer_schema(query: Query, recipes: Iterable[tuple[str, Recipe]]) -> tuple[tuple[str, AnswerType], ...]:
    """The name and type of each column of the answer to a question."""
    columns = {key.name: _key(key) for key in query.keys} | {name: _aggregate(recipe) for name, recipe in recipes}
    rows, types = AnswerRows(columns, 1, Lineage.released(query)), of_answer(query)
    for selection in query.selections:
        rows = rows.select(replace(selection, where=None, having=None))
    kinds = ((name, c.kind) for name, c in rows.columns.items())
    return tuple((name, cast(AnswerType, types[name] or "text") if kind == "label" else kind) for name, kind in kinds)


def _key(key: Key) -> ColumnEstimate:
    match key.domain.kind:
        case "number":
            return numbers(_ZERO if key.domain.grid.denominator == 1 else _ZERO.astype(float))
        case "boolean":
            truth = _ZERO.astype(float)
            return ColumnEstimate("boolean", truth, truth, truth)
    return labels([None])


def _aggregate(recipe: Recipe) -> ColumnEstimate:
    chosen = recipe.kind in ("quantile", "top")
    nothing = NoisyMeasure(np.zeros((1, recipe.place + 1), np.int64) if chosen else _ZERO)
    return recipe.estimate([nothing] * max(1, *(part + 1 for part in recipe.parts)))
