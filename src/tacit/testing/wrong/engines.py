"""A gallery of wrong engines.  The suite must refute every one, by the check named beside it.

Each is the reference engine with one mistake, made on purpose; the class says which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ...engines.base import EngineAnswer
from ...engines.keyed_hash import order
from ...engines.rows import reference
from ...engines.rows.reference import Owned, Reference, bounded, canonical
from ...engines.rows.sources import DataSource
from ...query.plan.plan import QueryPlan, RowCount
from ...query.python.table import Table
from ...query.relation.relation import Cohort, Join, Relation
from ...query.values.reading import PLAIN
from ..engines import (
    agrees_on_every_node,
    answers_of_one_content,
    computes_in_every_width,
    equals_the_reference,
    forgets_order,
    is_stable,
    joins_as_the_reference,
    keeps_cohorts_as_the_reference,
    names_units_as_the_reference,
    orders_equal_hashes_by_content,
    reads_what_is_written,
)


class Miscounting(Reference):
    """One too many, wherever there is something."""

    refuted_by = equals_the_reference

    def _answer(self, plan: QueryPlan, content: str | None) -> EngineAnswer:
        answer = super()._answer(plan, content)
        return replace(answer, cells=tuple(cells + (cells > 0) for cells in answer.cells))


class CountsTheMissing(Reference):
    """A count of values counts rows, with those that have no value."""

    refuted_by = agrees_on_every_node

    def _answer(self, plan: QueryPlan, content: str | None) -> EngineAnswer:
        measures = tuple(RowCount() if isinstance(m, RowCount) else m for m in plan.measures)
        return super()._answer(replace(plan, measures=measures), content)


class Narrow(Reference):
    """Numbers of 32 bits."""

    refuted_by = computes_in_every_width

    def _answer(self, plan: QueryPlan, content: str | None) -> EngineAnswer:
        answer = super()._answer(plan, content)
        return replace(answer, cells=tuple((cells + 2**31) % 2**32 - 2**31 for cells in answer.cells))


class JoinsOnce(Reference):
    """Of the rows that a join finds for a row, the first."""

    refuted_by = joins_as_the_reference

    def _rows(self, relation: Relation) -> Iterator[Owned]:
        if not isinstance(relation, Join):
            yield from super()._rows(relation)
            return
        others = dict(reversed(list(self._rows(relation.right))))
        for unit, row in self._rows(relation.left):
            if unit in others:
                yield unit, {**row, **others[unit]}


@contextmanager
def _ordered(by: Callable[..., Any]) -> Iterator[None]:
    """The reference engine takes the rows of a unit in another order."""
    vars(reference)["order"] = by
    try:
        yield
    finally:
        vars(reference)["order"] = order


class KeepsAll(Reference):
    """A cohort is not kept apart: all units are in it."""

    refuted_by = keeps_cohorts_as_the_reference

    def _rows(self, relation: Relation) -> Iterator[Owned]:
        yield from super()._rows(relation.source if isinstance(relation, Cohort) else relation)


class Ordered(Reference):
    """The first rows of a unit, instead of those of least hash."""

    refuted_by = forgets_order

    def _register(self, table: Table, key: str) -> None:
        with _ordered(lambda *_: 0):
            super()._register(table, key)


class FirstOfEqual(Reference):
    """Of rows with one hash those that come first, whatever they hold."""

    refuted_by = orders_equal_hashes_by_content

    def _register(self, table: Table, key: str) -> None:
        with _ordered(lambda *row: order(*row)[0]):
            super()._register(table, key)


class Unbounded(Reference):
    """Every row of a unit is kept twenty times."""

    refuted_by = is_stable

    def _register(self, table: Table, key: str) -> None:
        super()._register(table, key)
        rows, _ = self._tables[table.schema.name]
        self._tables[table.schema.name] = rows * 20, key


class Stale(Reference):
    """Answers about whatever content it holds."""

    refuted_by = answers_of_one_content

    def _check(self, content: str | None) -> None:
        pass


class TrimsUnits(Reference):
    """Units whose texts differ by spaces are one."""

    refuted_by = names_units_as_the_reference

    def _register(self, table: Table, key: str) -> None:
        super()._register(table, key)
        rows = canonical(DataSource(table.data, table.schema).rows(), table.schema)
        trimmed = ((unit.strip(), row) for unit, row in rows)
        self._tables[table.schema.name] = bounded(trimmed, table.schema, key), key


class ReadsPlainly(Reference):
    """Cells are read as if they were written plainly, whatever the schema says of them."""

    refuted_by = reads_what_is_written

    def _register(self, table: Table, key: str) -> None:
        super()._register(table, key)
        plain = tuple((name, replace(column, reading=PLAIN)) for name, column in table.schema.columns)
        schema = replace(table.schema, columns=plain)
        rows = canonical(DataSource(table.data, schema).rows(), schema)
        self._tables[schema.name] = bounded(rows, schema, key), key


ALL: tuple[Any, ...] = (
    Miscounting, CountsTheMissing, Narrow, JoinsOnce, KeepsAll, Ordered, FirstOfEqual, Unbounded, Stale, TrimsUnits,
    ReadsPlainly,
)  # fmt: skip
