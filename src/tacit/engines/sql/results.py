"""The answer of a plan, read from the result columns of its statements.

All that a database returns passes here.  Keys, bins, flags, counts and sums must be integers of at most 64 bits by
type; larger sums come as decimal digits, and private keys of text as text.  A driver would return what an integer type
cannot hold in another type, rounded, so a column of any other type is refused, whatever its values are.  The type of a
column never depends on the content of a table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...core.errors import EngineError
from ...query.plan.plan import BinCounts, QueryPlan, Total
from ...query.select.query import Key
from ..base import EngineAnswer, Integers, SparseMatrix, integers
from .statements import SQLStatement

Columns = Mapping[str, Integers]
Cell = tuple[int | str, ...]
_INTEGER_TEXT = re.compile("-?[0-9]{1,39}")  # of 128 bits


def exact_answer(plan: QueryPlan, parts: Sequence[tuple[SQLStatement, Columns]]) -> EngineAnswer:
    """The exact integers of a plan, from its statements and their result columns; a cell without a row is 0."""
    keys = {key: i for i, key in enumerate(sorted(set(_tuples(plan, *parts[-1]))))} if plan.chosen else None
    cells = plan.cells if keys is None else len(keys)
    assert cells is not None
    out: dict[int, Any] = {}
    for statement, columns in parts:
        at = _places(plan, statement, columns, keys)
        sets = {i: _set(statement, columns, i) for i in statement.bins}
        for i, binning in statement.bins.items():
            bins, counts, cell = columns[f"b{i}"][sets[i]], _counts(columns["n"])[sets[i]], at[sets[i]]
            if (missing := np.ma.getmask(bins)) is not np.ma.nomask:
                bins, counts, cell = bins[~missing], counts[~missing], cell[~missing]
            size = len(_histogram(plan, i).edges) - 1
            places = cell * size + binning.place(_integers(bins))
            if keys is None:
                out[i] = _summed(places, counts, cells * size).reshape(cells, size)
            else:
                out[i] = SparseMatrix((cells, size), places, counts)
        once = next(iter(sets.values()), slice(None))  # every grouping set repeats the other measures: read one
        for i in statement.measures:
            read = _digits if i in statement.wide else _integers if _signed(plan, i) else _counts
            out[i] = _summed(at[once], read(columns[f"m{i}"])[once], cells)
    answers = tuple(out[i] for i in range(len(plan.measures)))
    return EngineAnswer(answers) if keys is None else EngineAnswer(answers, tuple(keys), out[len(plan.measures)])


def _set(statement: SQLStatement, columns: Columns, i: int) -> Integers | slice:
    """The mask of result rows that belong to the grouping set of histogram i."""
    return _integers(columns[f"g{i}"]) == 0 if len(statement.bins) > 1 else slice(None)


def _signed(plan: QueryPlan, i: int) -> bool:
    """Whether a measure may be negative; the number of units of each private key comes after all measures."""
    return i < len(plan.measures) and isinstance(plan.measures[i], Total)


def _integers(column: Integers) -> Integers:
    """A column that must be integers of at most 64 bits, none missing."""
    if column.dtype.kind != "i" or np.ma.is_masked(column):
        raise EngineError
    return np.ma.getdata(column).astype(np.int64, copy=False)


def _counts(column: Integers) -> Integers:
    """A column that must be nonnegative integers."""
    counts = _integers(column)
    if len(counts) and counts.min() < 0:
        raise EngineError
    return counts


def _texts(column: Integers) -> Integers:
    """A column that must be text, none missing."""
    if (
        column.dtype.kind != "O"
        or np.ma.is_masked(column)
        or not all(type(text) is str for text in np.ma.getdata(column))
    ):
        raise EngineError
    return np.ma.getdata(column)


def _digits(column: Integers) -> Integers:
    """A column that must be integers of up to 128 bits, written in decimal digits."""
    texts = _texts(column)
    if not all(map(_INTEGER_TEXT.fullmatch, texts)):
        raise EngineError
    return np.array([int(digits) for digits in texts], dtype=object)


def _private_keys(key: Key, column: Integers) -> Integers:
    """The values of a key that is selected privately: text, or steps within its domain."""
    if key.domain.kind == "text":
        return _texts(column)
    steps = _integers(column)
    if len(steps) and not key.domain.lower <= steps.min() <= steps.max() <= key.domain.upper:
        raise EngineError
    return steps


def _histogram(plan: QueryPlan, i: int) -> BinCounts:
    measure = plan.measures[i]
    assert isinstance(measure, BinCounts)
    return measure


def _tuples(plan: QueryPlan, statement: SQLStatement, columns: Columns) -> list[tuple[int | str, ...]]:
    """The key of each result row, in steps or text."""
    lists = []
    for i, (key, binning) in enumerate(zip(plan.keys, statement.keys, strict=True)):
        cells = columns[f"k{i}"]
        if binning is None:
            lists.append(_private_keys(key, cells).tolist())
        else:
            lists.append(np.array(key.values, np.int64)[binning.place(_integers(cells))].tolist())
    return list(zip(*lists, strict=True))


def _places(plan: QueryPlan, statement: SQLStatement, columns: Columns, keys: Mapping[Cell, int] | None) -> Integers:
    """The index of the cell of each result row."""
    if keys is not None:
        return np.array([keys[key] for key in _tuples(plan, statement, columns)], dtype=np.int64)
    at = np.zeros(len(next(iter(columns.values()))), dtype=np.int64)
    for i, binning in enumerate(statement.keys):
        assert binning is not None
        at = at * len(binning.places) + binning.place(_integers(columns[f"k{i}"]))
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
