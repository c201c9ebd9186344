"""The reference engine: the definition of bounding, relations and plans, in plain Python over lists of rows.

It is slow: it is written to be read, and every other engine must agree with it.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from ...query.plan.plan import BinCounts, Measure, QueryPlan, RowCount, Total, UnitCount, ValueCount
from ...query.relation.relation import (
    Cohort,
    Derive,
    Fold,
    Join,
    PerUnit,
    Relation,
    Scan,
    Where,
    scans,
)
from ...query.schema.schema import Schema
from ...query.values.cells import steps, unit_text
from ...query.values.nodes import CellValue, Expression
from ..base import Engine, EngineAnswer, Integers, integers
from ..keyed_hash import order
from .sources import DataSource

if TYPE_CHECKING:
    from ...query.python.table import Table

Row = Mapping[str, CellValue]
Owned = tuple[str, Row]  # the text of a unit, and one of its rows
Cell = tuple[int | str, ...]
T = TypeVar("T")


class Reference(Engine):
    """An engine that holds tables as lists of rows."""

    def __init__(self) -> None:
        super().__init__()
        self._tables: dict[str, tuple[list[Owned], str]] = {}
        self._fingerprints: dict[str, str] = {}

    def _register(self, table: Table, key: str) -> None:
        source = DataSource(table.data, table.schema)
        self._tables[table.schema.name] = bounded(canonical(source.rows(), table.schema), table.schema, key), key
        self._fingerprints[table.schema.name] = source.fingerprint

    def _forget(self, name: str) -> None:
        del self._tables[name], self._fingerprints[name]

    def _contents(self) -> Mapping[str, str]:
        return self._fingerprints

    def close(self) -> None:
        super().close()
        self._tables.clear()

    def _answer(self, plan: QueryPlan, content: str | None) -> EngineAnswer:
        self._check(content)
        groups = cells(self._rows(plan.relation), plan, self._key(plan.relation))
        names = sorted(groups) if plan.chosen else list(itertools.product(*(key.values or () for key in plan.keys)))
        answers = tuple(_array(measure, [groups.get(name, []) for name in names]) for measure in plan.measures)
        if not plan.chosen:
            return EngineAnswer(answers)
        return EngineAnswer(answers, tuple(names), _array(UnitCount(), [groups[name] for name in names]))

    def _rows(self, relation: Relation) -> Iterator[Owned]:
        match relation:
            case Scan():
                yield from self._tables[relation.table][0]
            case Where():
                yield from ((u, row) for u, row in self._rows(relation.source) if relation.condition.meaning(row) == 1)
            case Derive():
                for u, row in self._rows(relation.source):
                    yield u, {name: e.meaning(row) for name, e in relation.derived}
            case PerUnit():
                groups = group_by(self._rows(relation.source), lambda r: (r[0], *values(relation.keys, r[1])))
                for (unit, *key), rows in groups.items():
                    keys = dict(zip((name for name, _ in relation.keys), key, strict=True))
                    yield str(unit), keys | {name: folded(f, [row for _, row in rows]) for name, f in relation.folds}
            case Cohort():
                members = {u for u, _ in self._rows(relation.members)}
                yield from ((u, row) for u, row in self._rows(relation.source) if (u in members) == relation.inside)
            case Join():
                others = group_by(self._rows(relation.right), lambda r: r[0])
                for u, row in self._rows(relation.left):
                    yield from ((u, {**row, **other}) for _, other in others.get(u, []))

    def _key(self, relation: Relation) -> str:
        """The key of the first table that a relation reads."""
        return self._tables[next(scans(relation)).table][1]


def canonical(raw: Iterable[Mapping[str, object]], schema: Schema) -> Iterator[Owned]:
    """The rows with canonical cells, each with its unit; where each row is a unit, its position is its name."""
    for place, cells in enumerate(raw):
        unit = str(place) if schema.unit is None else unit_text(cells.get(schema.unit), schema.missing)
        if unit is not None:
            yield unit, {name: steps(cells.get(name), column) for name, column in schema.columns}


def bounded(rows: Iterable[Owned], schema: Schema, key: str) -> list[Owned]:
    """Of each unit, the part of smallest hash (if the schema has parts), and there the `rows` rows of smallest hash."""
    bounded_rows: list[Owned] = []
    domains = [column.domain for _, column in schema.columns]
    for unit, own in group_by(rows, lambda row: row[0]).items():
        if schema.partition is not None:
            whole = [schema.domain(schema.partition)]
            parts = group_by(own, lambda row: (row[1][schema.partition or ""],))
            own = parts[min(parts, key=lambda part: order(key, "part", unit, part, whole))]  # noqa: PLW2901
        ordered = sorted(own, key=lambda row: order(key, "rows", unit, [*row[1].values()], domains))
        bounded_rows += ordered[: schema.rows]
    return bounded_rows


def cells(rows: Iterable[Owned], plan: QueryPlan, key: str) -> dict[Cell, list[Owned]]:
    """The rows in each cell; under a group cap, a unit has rows only in its cells of smallest hash."""
    public = [None if k.values is None else set(k.values) for k in plan.keys]

    def cell(row: Owned) -> Cell | None:
        values = (k.expression.meaning(row[1]) for k in plan.keys)
        at = [v for v, listed in zip(values, public, strict=True) if v is not None and (listed is None or v in listed)]
        return tuple(at) if len(at) == len(plan.keys) else None

    in_cells = {at: own for at, own in group_by(rows, cell).items() if at is not None}
    if plan.groups is not None:
        of_unit: dict[str, set[Cell]] = defaultdict(set)
        for at, own in in_cells.items():
            for unit, _ in own:
                of_unit[unit].add(at)
        domains = [k.domain for k in plan.keys]
        of_unit = {
            unit: set(sorted(its, key=lambda at: order(key, "groups", unit, at, domains))[: plan.groups])
            for unit, its in of_unit.items()
        }
        in_cells = {at: [row for row in own if at in of_unit[row[0]]] for at, own in in_cells.items()}
    return {at: own for at, own in in_cells.items() if own}


def folded(fold: Fold, rows: Sequence[Row]) -> CellValue:
    """The count, sum, minimum or maximum of the values of a unit's rows that are not missing."""
    if fold.a is None:
        return len(rows)
    there = present(fold.a, rows)
    match fold.how:
        case "count":
            return len(there)
        case "sum":
            return sum(map(int, there))
        case "min":
            return min(there, default=None)
    return max(there, default=None)


def present(e: Expression, rows: Iterable[Row]) -> list[int | str]:
    """The values of an expression that are not missing."""
    return [value for row in rows if (value := e.meaning(row)) is not None]


def values(named: Iterable[tuple[str, Expression]], row: Row) -> tuple[CellValue, ...]:
    """The values of named expressions in one row."""
    return tuple(e.meaning(row) for _, e in named)


def group_by(rows: Iterable[Owned], by: Callable[[Owned], T]) -> dict[T, list[Owned]]:
    """The rows in groups that share a value of `by`."""
    groups: dict[T, list[Owned]] = defaultdict(list)
    for row in rows:
        groups[by(row)].append(row)
    return dict(groups)


def _array(measure: Measure, groups: list[list[Owned]]) -> Integers:
    if isinstance(measure, BinCounts):
        flat = [n for rows in groups for n in _histogram(measure, rows)]
        return integers(flat).reshape(len(groups), len(measure.edges) - 1)
    return integers([_measured(measure, rows) for rows in groups])


def _measured(measure: RowCount | UnitCount | ValueCount | Total, rows: list[Owned]) -> int:
    e = measure.expression
    there = [(unit, 0 if e is None else e.meaning(row)) for unit, row in rows]
    there = [(unit, value) for unit, value in there if value is not None]
    match measure:
        case RowCount():
            return len(there)
        case UnitCount():
            return len({unit for unit, _ in there})
        case ValueCount():
            return len({value for _, value in there})
    if measure.per_unit is None:
        return sum(int(value or 0) for _, value in there)
    each: Counter[str] = Counter()
    for unit, value in there:
        each[unit] += int(value or 0)
    lower, upper = measure.per_unit
    return sum(min(max(total, lower), upper) for total in each.values())


def _histogram(measure: BinCounts, rows: list[Owned]) -> list[int]:
    counts, edges = [0] * (len(measure.edges) - 1), measure.edges
    for value in map(int, present(measure.expression, (row for _, row in rows))):
        if edges[0] <= value <= edges[-1]:
            counts[min(bisect_right(edges, value) - 1, len(counts) - 1)] += 1
    return counts
