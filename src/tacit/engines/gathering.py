"""The answer of a plan, from the columns that its statements gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..tables.plan import Histogram, Plan
from .base import Answer, Integers, Scattered, integers
from .sql import Statement

Columns = Mapping[str, Integers]
Cell = tuple[int | str, ...]


def gathered(plan: Plan, parts: Sequence[tuple[Statement, Columns]]) -> Answer:
    """Sums of what each cell was given; a cell that was given nothing is 0."""
    keys = {key: i for i, key in enumerate(sorted(set(_tuples(plan, *parts[-1]))))} if plan.chosen else None
    cells = plan.cells if keys is None else len(keys)
    assert cells is not None
    out: dict[int, Any] = {}
    for statement, columns in parts:
        at = _places(plan, statement, columns, keys)
        sets = {i: _set(statement, columns, i) for i in statement.bins}
        for i, axis in statement.bins.items():
            bins, counts, cell = columns[f"b{i}"][sets[i]], np.ma.getdata(columns["n"])[sets[i]], at[sets[i]]
            if (missing := np.ma.getmask(bins)) is not np.ma.nomask:
                bins, counts, cell = np.ma.getdata(bins)[~missing], counts[~missing], cell[~missing]
            size = len(_histogram(plan, i).edges) - 1
            places = cell * size + axis.place(np.ma.getdata(bins))
            if keys is None:
                out[i] = _summed(places, counts, cells * size).reshape(cells, size)
            else:
                out[i] = Scattered((cells, size), places, counts)
        once = next(iter(sets.values()), slice(None))  # the other measures are in each set: one is enough
        for i in statement.measures:
            values = np.ma.getdata(columns[f"m{i}"])[once]
            if i in statement.wide:
                values = np.array([int(digits) for digits in values], dtype=object)
            out[i] = _summed(at[once], values, cells)
    answers = tuple(out[i] for i in range(len(plan.measures)))
    return Answer(answers) if keys is None else Answer(answers, tuple(keys), out[len(plan.measures)])


def _set(statement: Statement, columns: Columns, i: int) -> Integers | slice:
    """Which rows of a result are of the grouping set of histogram i."""
    return columns[f"g{i}"] == 0 if len(statement.bins) > 1 else slice(None)


def _histogram(plan: Plan, i: int) -> Histogram:
    measure = plan.measures[i]
    assert isinstance(measure, Histogram)
    return measure


def _tuples(plan: Plan, statement: Statement, columns: Columns) -> list[tuple[int | str, ...]]:
    """The key of each row of a result, in steps or text."""
    lists = []
    for i, (key, axis) in enumerate(zip(plan.keys, statement.keys, strict=True)):
        found = np.ma.getdata(columns[f"k{i}"])
        lists.append(found.tolist() if axis is None else np.array(key.values)[axis.place(found)].tolist())
    return list(zip(*lists, strict=True))


def _places(plan: Plan, statement: Statement, columns: Columns, found: Mapping[Cell, int] | None) -> Integers:
    """The cell of each row of a result."""
    if found is not None:
        return np.array([found[key] for key in _tuples(plan, statement, columns)], dtype=np.int64)
    at = np.zeros(len(next(iter(columns.values()))), dtype=np.int64)
    for i, axis in enumerate(statement.keys):
        assert axis is not None
        at = at * len(axis.places) + axis.place(np.ma.getdata(columns[f"k{i}"]))
    return at


def _summed(at: Integers, values: Integers, size: int) -> Integers:
    if values.dtype == object:
        sums = [0] * size
        for place, value in zip(at.tolist(), values.tolist(), strict=True):
            sums[place] += value
        return integers(sums)
    total = np.zeros(size, dtype=np.int64)
    np.add.at(total, at, values)
    return total
