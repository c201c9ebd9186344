"""The schema of an answer: the names and types of its columns, known before anything is bought.

The columns are computed as those of a release are, from no rows at all, so the two agree.  The only exception are
integers beyond 64 bits, which a release has as reals.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, cast

import numpy as np

from ..select.evaluation import evaluate
from ..select.output_types import of_query
from ..select.outputs import ColumnEstimate, labels, numbers
from ..select.query import Key, Query
from .estimators import NoisyMeasure, Recipe

AnswerType = Literal["integer", "real", "boolean", "text", "date", "timestamp"]
_EMPTY = np.zeros(0, np.int64)


def answer_schema(query: Query, recipes: Iterable[tuple[str, Recipe]]) -> tuple[tuple[str, AnswerType], ...]:
    """The name and type of each column of the answer to a question."""
    columns = {key.name: _key(key) for key in query.keys} | {name: _aggregate(recipe) for name, recipe in recipes}
    types, schema = of_query(query), list[tuple[str, AnswerType]]()
    for name, output in query.outputs:
        kind = evaluate(output, columns, 0).kind
        schema.append((name, cast(AnswerType, types.of(output) or "text") if kind == "label" else kind))
    return tuple(schema)


def _key(key: Key) -> ColumnEstimate:
    match key.domain.kind:
        case "number":
            return numbers(_EMPTY if key.domain.grid.denominator == 1 else _EMPTY.astype(float))
        case "boolean":
            truth = _EMPTY.astype(float)
            return ColumnEstimate("boolean", truth, truth, truth)
    return labels([])


def _aggregate(recipe: Recipe) -> ColumnEstimate:
    chosen = recipe.kind in ("quantile", "top")
    nothing = NoisyMeasure(np.zeros((0, recipe.place + 1), np.int64) if chosen else _EMPTY)
    return recipe.estimate([nothing] * max(1, *(part + 1 for part in recipe.parts)))
