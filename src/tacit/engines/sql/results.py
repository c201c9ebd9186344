"""The answer of a plan, from the columns that its statements gave.

Here is the seam between a database and tacit: keys, bins, flags, counts and sums are taken as integers of at most 64
bits, sums that need more as their digits, and private keys that are text as text.  A driver gives what it cannot hold
in another type, rounded, so a column of any other type is refused, whatever its values are.  Nothing that a table holds
decides the type of a column.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...core.errors import EngineError
from ...query.plan.plan import Histogram, Plan, Total
from ...query.select.query import Key
from ..base import Answer, Integers, Scattered, integers
from .statements import Statement

Columns = Mapping[str, Integers]
Cell = tuple[int | str, ...]
_DIGITS = re.compile("-?[0-9]{1,39}")  # of an integer of 128 bits


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
            bins, counts, cell = columns[f"b{i}"][sets[i]], _counts(columns["n"])[sets[i]], at[sets[i]]
            if (missing := np.ma.getmask(bins)) is not np.ma.nomask:
                bins, counts, cell = bins[~missing], counts[~missing], cell[~missing]
            size = len(_histogram(plan, i).edges) - 1
            places = cell * size + axis.place(_integers(bins))
            if keys is None:
                out[i] = _summed(places, counts, cells * size).reshape(cells, size)
            else:
                out[i] = Scattered((cells, size), places, counts)
        once = next(iter(sets.values()), slice(None))  # the other measures are in each set: one is enough
        for i in statement.measures:
            taken = _digits if i in statement.wide else _integers if _signed(plan, i) else _counts
            out[i] = _summed(at[once], taken(columns[f"m{i}"])[once], cells)
    answers = tuple(out[i] for i in range(len(plan.measures)))
    return Answer(answers) if keys is None else Answer(answers, tuple(keys), out[len(plan.measures)])


def _set(statement: Statement, columns: Columns, i: int) -> Integers | slice:
    """Which rows of a result are of the grouping set of histogram i."""
    return _integers(columns[f"g{i}"]) == 0 if len(statement.bins) > 1 else slice(None)


def _signed(plan: Plan, i: int) -> bool:
    """Whether a measure may be below 0; the units of keys that are found come after all measures."""
    return i < len(plan.measures) and isinstance(plan.measures[i], Total)


def _integers(column: Integers) -> Integers:
    """A column of integers of at most 64 bits, none of them missing."""
    if column.dtype.kind != "i" or np.ma.is_masked(column):
        raise EngineError
    return np.ma.getdata(column).astype(np.int64, copy=False)


def _counts(column: Integers) -> Integers:
    """A column of counts."""
    counts = _integers(column)
    if len(counts) and counts.min() < 0:
        raise EngineError
    return counts


def _texts(column: Integers) -> Integers:
    """A column of text, none of it missing."""
    if (
        column.dtype.kind != "O"
        or np.ma.is_masked(column)
        or not all(type(text) is str for text in np.ma.getdata(column))
    ):
        raise EngineError
    return np.ma.getdata(column)


def _digits(column: Integers) -> Integers:
    """A column of integers of up to 128 bits, in digits."""
    texts = _texts(column)
    if not all(map(_DIGITS.fullmatch, texts)):
        raise EngineError
    return np.array([int(digits) for digits in texts], dtype=object)


def _found(key: Key, column: Integers) -> Integers:
    """The values of a key that is chosen privately: text, or steps within its domain."""
    if key.domain.kind == "text":
        return _texts(column)
    steps = _integers(column)
    if len(steps) and not key.domain.lower <= steps.min() <= steps.max() <= key.domain.upper:
        raise EngineError
    return steps


def _histogram(plan: Plan, i: int) -> Histogram:
    measure = plan.measures[i]
    assert isinstance(measure, Histogram)
    return measure


def _tuples(plan: Plan, statement: Statement, columns: Columns) -> list[tuple[int | str, ...]]:
    """The key of each row of a result, in steps or text."""
    lists = []
    for i, (key, axis) in enumerate(zip(plan.keys, statement.keys, strict=True)):
        found = columns[f"k{i}"]
        if axis is None:
            lists.append(_found(key, found).tolist())
        else:
            lists.append(np.array(key.values, np.int64)[axis.place(_integers(found))].tolist())
    return list(zip(*lists, strict=True))


def _places(plan: Plan, statement: Statement, columns: Columns, found: Mapping[Cell, int] | None) -> Integers:
    """The cell of each row of a result."""
    if found is not None:
        return np.array([found[key] for key in _tuples(plan, statement, columns)], dtype=np.int64)
    at = np.zeros(len(next(iter(columns.values()))), dtype=np.int64)
    for i, axis in enumerate(statement.keys):
        assert axis is not None
        at = at * len(axis.places) + axis.place(_integers(columns[f"k{i}"]))
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
