"""Selections on the rows of an answer, one after the other: which rows are left, in which order, with which columns.

The order is that of SQL: conditions, windows and other columns, one row of those that are equal, conditions on those,
order, limit.  Only released values are used, so all of it is free.

`Lineage` says, from the question alone, what the noise of each column comes from, and what decides which rows there
are.  An interval of a column without windows holds if the noises of its own row do.  One of a sum or a mean of released
counts or sums holds if the noise of that sum does, and any other interval of a window if the noises of all rows do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .evaluation import Columns, evaluate
from .outputs import ColumnEstimate, Output, ReleasedColumn, Window, released, windows
from .query import Query, Selection
from .windows import codes


@dataclass(frozen=True)
class Origin:
    """Where a column comes from: the noisy columns that have a say in it, and which noises its interval is about.

    `column` is the released column that it is, if it is one, and `additive` says that the noise of a sum of its values
    is bounded as one.  `sums` counts such sums in it, and `joint` says that the noises of all rows matter.
    """

    sources: frozenset[str]
    column: str | None = None
    additive: bool = False
    sums: int = 0
    joint: bool = False


@dataclass(frozen=True)
class Lineage:
    """The columns after some selections, and the noisy columns that decide which rows there are and how they stand."""

    columns: Mapping[str, Origin]
    deciding: frozenset[str] = frozenset()
    ordering: frozenset[str] = frozenset()
    chosen: bool = False  # whether keys were selected privately, so that noise decides which rows there are at all

    @classmethod
    def released(cls, query: Query, additive: Set[str] = frozenset()) -> Lineage:
        """Of the columns that are released."""
        keys = {key.name: Origin(frozenset(), key.name) for key in query.keys}
        named = (name for name, _ in query.aggregates)
        aggregates = {name: Origin(frozenset((name,)), name, name in additive) for name in named}
        return cls(keys | aggregates, chosen=any(key.values is None for key in query.keys))

    @classmethod
    def of(cls, query: Query, additive: Set[str] = frozenset()) -> Lineage:
        """Of the columns of the answer."""
        lineage = cls.released(query, additive)
        for selection in query.selections:
            lineage = lineage.after(selection)
        return lineage

    def noisy(self, *outputs: Output | None) -> frozenset[str]:
        """The noisy columns that outputs are computed from."""
        names = (name for output in outputs if output is not None for name in released(output))
        return frozenset[str]().union(*(self.columns[name].sources for name in names))

    def loose(self, window: Window) -> tuple[bool, bool]:
        """Whether noise decides which rows are in a window, and whether it decides their order."""
        apart = bool(self.chosen or self.deciding or self.noisy(*window.partition))
        return apart, bool(self.ordering or self.noisy(*(by for by, _ in window.order)))

    def after(self, selection: Selection) -> Lineage:
        """The columns that a selection leaves."""
        kept = replace(self, deciding=self.deciding | self.noisy(selection.where))
        columns = {name: kept._origin(output) for name, output in selection.outputs}
        deciding = kept.deciding | kept.noisy(selection.having, *(selection.distinct or ()))
        ordering = kept.ordering | kept.noisy(*(by for by, _ in selection.order))
        if selection.limit is not None or selection.offset:
            deciding |= ordering
        return Lineage(columns, deciding, ordering, self.chosen)

    def _origin(self, output: Output) -> Origin:
        if isinstance(output, ReleasedColumn):
            return self.columns[output.name]
        found, own = windows(output), [self.columns[name] for name in released(output)]
        deciding = self.deciding if found else frozenset()
        sums, joint = sum(each.sums for each in own), any(each.joint for each in own)
        for window in found:
            sums += 1
            joint = joint or not self._linear(window)
        return Origin(self.noisy(output) | deciding, sums=sums, joint=joint)

    def _linear(self, window: Window) -> bool:
        """Whether a window depends on no noise, or on that of one sum of a released column."""
        if not self.noisy(window) and not self.chosen:
            return True
        added = isinstance(window.a, ReleasedColumn) and self.columns[window.a.name].additive
        return added and window.function in ("sum", "mean") and not any(self.loose(window))


@dataclass(frozen=True)
class AnswerRows:
    """Rows of an answer: how many there are, and their columns."""

    columns: Columns
    count: int
    lineage: Lineage
    evaluate: Callable[..., ColumnEstimate] = evaluate  # as `evaluation` does, or knowing more about the columns

    def select(self, selection: Selection) -> AnswerRows:
        """What a selection leaves."""
        rows, lineage = self._kept(selection.where), self.lineage
        rows = replace(rows, lineage=replace(lineage, deciding=lineage.deciding | lineage.noisy(selection.where)))
        value: Callable[[Output], ColumnEstimate] = rows._value
        count, shown = rows.count, np.arange(rows.count)
        if selection.distinct is not None:
            if not selection.distinct and not count:
                value, count, shown = rows._of_no_rows, 1, np.arange(1)
            shown = _first([value(by) for by in selection.distinct], count)
        if selection.having is not None:
            shown = shown[value(selection.having).values[shown] == 1]
        for by, descending in reversed(selection.order):
            shown = _ordered(value(by), descending, shown)
        shown = shown[selection.offset :][: selection.limit]
        columns = {name: value(output).take(shown) for name, output in selection.outputs}
        return AnswerRows(columns, len(shown), lineage.after(selection))

    def _kept(self, where: Output | None) -> AnswerRows:
        if where is None:
            return self
        kept = np.flatnonzero(self._value(where).values == 1)
        return replace(self, columns={name: c.take(kept) for name, c in self.columns.items()}, count=len(kept))

    def _value(self, output: Output) -> ColumnEstimate:
        return self.evaluate(output, self.columns, self.count, self.lineage.loose)

    def _of_no_rows(self, output: Output) -> ColumnEstimate:
        return self.evaluate(output, self.columns, 0, self.lineage.loose, as_one=True)


def _first(by: list[ColumnEstimate], rows: int) -> NDArray[np.int64]:
    """The first of all rows that are equal in these columns."""
    if not by:
        return np.arange(min(rows, 1))
    keys = np.stack([codes(c) for c in by])
    return np.sort(np.unique(keys, axis=1, return_index=True)[1])


def _ordered(by: ColumnEstimate, descending: bool, rows: NDArray[np.int64]) -> NDArray[Any]:
    """The rows in an order: missing values last, and ties as they were."""
    return np.asarray(rows[np.argsort(codes(by, descending)[rows], kind="stable")])


def noises(origin: Origin, parts: Mapping[str, Set[int]], rows: int) -> int:
    """How many noises must be within their bounds for an interval of a column to hold."""
    used = set[int]().union(*(parts.get(name, ()) for name in origin.sources))
    return (len(used) + origin.sums) * max(rows, 1) if origin.joint else len(used) + origin.sums
