"""Random schemas, hostile tables and closed plans, for engines to be tested on.

Everything follows from one seed; cells are those of `testing.hostile`.  `nodes.DRAWN` says how each type of
expression node is drawn: a type that has no entry there refutes every engine, since no world would try it.
"""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeVar

from ..core.errors import BadQuestion
from ..query.plan.plan import BinCounts, Measure, QueryPlan, RowCount, Total, UnitCount, ValueCount
from ..query.relation import build
from ..query.relation.relation import Derive, Join, PerUnit, Relation, Where
from ..query.schema.schema import Schema
from ..query.select.query import Key
from ..query.values.coercion import parts_of
from ..query.values.nodes import Column, Expression, node_types, tree_sizes
from .hostile import DATES, DECIMALS, MOMENTS, NAMES, NUMBERS, OTHERS, REALS, SHIFTS, TEXTS
from .mechanisms import Refuted
from .nodes import DAY_PARTS, DRAWN, EVERY_TYPE, OPERATORS, PATTERNS

T = TypeVar("T")


@dataclass
class World:
    """What is drawn from one seed."""

    r: random.Random

    def any(self, things: Sequence[T]) -> T:
        return things[self.r.randrange(len(things))]

    def likely(self, chance: float) -> bool:
        return self.r.random() < chance

    # Schemas and raw tables

    def schema(self, name: str = "t", unit: str | None = None) -> Schema:
        """One to four columns; a unit is one row, or at most a few."""
        names = self.r.sample(NAMES, self.r.randint(1, 4) + 1)
        unit = unit or ("row" if self.likely(0.15) else names[0])
        columns = {column: self.column() for column in names[1:] if column.casefold() != unit.casefold()}
        table: dict[str, Any] = {"name": name, "unit": unit}
        if unit != "row":
            table["rows"] = self.any([1, 1, 2, 3, 5])
            parts = [column for column, facts in columns.items() if facts["type"] == "category"]
            if parts and self.likely(0.15):
                table["partition"] = self.any(parts)
        return Schema.load({"table": table, "columns": columns})

    def column(self) -> dict[str, Any]:
        kind = self.any(["integer", "integer", "real", "boolean", "category", "category", "date", "timestamp", "text"])
        facts: dict[str, Any] = {"type": kind}
        match kind:
            case "integer" if self.likely(0.9):
                ends = [
                    (0, 9),
                    (-5, 5),
                    (0, 99),
                    (-128, 127),
                    (50, 32_767),
                    (-200, 300),
                    (-(2**40), 2**40),
                    (-(2**62), 2**62),
                    (7, 7),
                    (2**31 - 2, 2**31 + 2),
                ]
                facts["lower"], facts["upper"] = self.any(ends)
            case "real" if self.likely(0.9):
                ends = [(0, 1), (-3, 4), (0, 500), (-1000, 1000)]
                facts["lower"], facts["upper"] = self.any(ends)
                if self.likely(0.6):
                    facts["grid"] = self.any(["1", "0.25", "0.5", "2", "0.0009765625"])
            case "category":
                facts["values"] = self.r.sample(
                    ["n", "north", "", "It's", 'q"', "7", "true", "-1", "é" * 3, "名"], self.r.randint(1, 5)
                )
            case "date" if self.likely(0.7):
                facts["lower"], facts["upper"] = datetime.date(2015, 1, 1), datetime.date(2024, 12, 31)
            case "timestamp" if self.likely(0.7):
                facts["lower"], facts["upper"] = datetime.datetime(1970, 1, 1), datetime.datetime(2024, 12, 31)
        return facts

    def cell(self) -> Any:
        """A raw cell of any type."""
        pools: list[Sequence[Any]] = [[None], TEXTS, NUMBERS, NUMBERS[:10], REALS, DATES, MOMENTS, DECIMALS, OTHERS]
        return self.any(self.any(pools))

    def rows(
        self, schema: Schema, units: Sequence[Any], likely: Callable[[str], Sequence[Any]]
    ) -> list[dict[str, Any]]:
        """Rows of each unit: for most few, for some many; columns draw on what is likely there."""
        made = []
        for unit in units:
            for _ in range(self.any([1, 1, 2, 3, 8])):
                made.append(self.row(schema, unit, likely))
        self.r.shuffle(made)
        return made

    def row(self, schema: Schema, unit: Any, likely: Callable[[str], Sequence[Any]]) -> dict[str, Any]:
        row = {name: self.any(likely(name)) for name, _ in schema.columns}
        return row if schema.unit is None else row | {schema.unit: unit}

    # Closed plans

    def every_type(self) -> tuple[Schema, list[dict[str, Any]]]:
        """A table with a column of every type, and rows in which some cells of each column are missing."""
        table = {"name": "t", "unit": "who", "rows": self.any([1, 2, 3])}
        schema = Schema.load({"table": table, "columns": {name: facts for name, (facts, _) in EVERY_TYPE.items()}})
        nobody: dict[str, Any] = {"who": 99, **dict.fromkeys(EVERY_TYPE)}
        return schema, [nobody, *self.rows(schema, range(8), lambda name: EVERY_TYPE[name][1])]

    def node(self, kind: type[Expression], x: Relation, depth: int = 1) -> Expression:
        """An expression that holds a node of this type, over rows that have columns of every type."""
        for _ in range(200):
            if (e := self._tried(kind, x, depth)) is not None:
                return e
        raise Refuted(f"no world draws {kind.__name__}: say in tacit.testing.nodes.DRAWN how it is drawn")

    def _tried(self, kind: type[Expression], x: Relation, depth: int) -> Expression | None:
        """One attempt at a node of this type: there may be no such column, and constants are folded."""
        try:
            e = DRAWN[kind](self, x, depth)
        except (BadQuestion, KeyError):
            return None
        return e if any(type(part) is kind for part, _, _ in tree_sizes([e], parts_of)) else None

    def every_node(self, x: Relation) -> list[QueryPlan]:
        """Plans in which every type of node is measured, one is a condition, and one is a key."""
        nodes = [self.node(kind, x) for kind in node_types()]
        measures = [measure for e in nodes for measure in self._measured(e)]
        conditions = [e for e in nodes if e.domain.kind == "boolean"]
        keys = [e for e in nodes if (e.domain.size or 1 << 40) < 1000 and e.domain.kind != "text"]
        return [
            QueryPlan(x, (), tuple(measures)),
            *(
                QueryPlan(Where(x, e), (), (RowCount(), UnitCount()))
                for e in self.r.sample(conditions, min(len(conditions), 2))
            ),
            *(QueryPlan(x, (_every_key(e),), (RowCount(),)) for e in self.r.sample(keys, min(len(keys), 2))),
        ]

    def _measured(self, e: Expression) -> list[Measure]:
        """How many values an expression has, and which."""
        if e.domain.kind == "text":
            return [RowCount(e)]
        if e.domain.kind == "number":
            return [RowCount(e), Total(e)]
        low, high = e.domain.lower, e.domain.upper
        step = max(1, (high - low) // 7)
        return [RowCount(e), BinCounts(e, tuple(range(low, high + step + 1, step)))]

    def column_of(self, x: Relation, *kinds: str) -> Column:
        """A column of one of these kinds, or BadQuestion."""
        names = [name for name, domain in x.columns.items() if domain.kind in kinds]
        if not names:
            raise BadQuestion(f"there is no column of {kinds}")
        return build.column(x, self.any(names))

    def looked_up(self, x: Relation) -> Expression:
        """What a public table says of a column; the table has some of its values."""
        column = self.column_of(x, "category", "number", "boolean", "text")
        if column.domain.kind == "category" and self.likely(0.3):
            return build.recased(column, str.upper)
        labels: dict[str, list[Any]] = {"category": [*column.domain.labels], "boolean": [True, False], "text": TEXTS}
        known = labels.get(column.domain.kind, [0, 1, 2, 7, 9])
        table = {key: self.any([-3, 0, 1, 40]) for key in known if self.likely(0.7)}
        return build.lookup(column, table)

    def number(self, x: Relation, depth: int) -> Expression:  # noqa: PLR0912
        """A number, of columns and constants."""
        if self.likely(0.05):
            e = self._tried(self.any(list(DRAWN)), x, depth - 1) if depth > 0 else None
            if e is not None and e.domain.kind == "number":
                return e
        if depth == 0 or self.likely(0.3):
            columns = [name for name, domain in x.columns.items() if domain.kind == "number"]
            if not columns or self.likely(0.2):
                return build.constant(self.any([0, 1, 2, -3, 7, 10]))
            return build.column(x, self.any(columns))
        if self.likely(0.15):
            return self.widened(self.number(x, depth - 1))
        if self.likely(0.2):  # terms that a database may take in another order
            return reduce(build.add, [self.term(x) for _ in range(self.r.randint(3, 6))])
        a, b = (self.number(x, depth - 1) for _ in range(2))
        match self.r.randrange(12):
            case 0:
                return build.add(a, b)
            case 1:
                return build.subtract(a, b)
            case 2:
                return build.multiply(a, b)
            case 3:
                return build.divide(a, b)
            case 4:
                return build.modulo(a, build.constant(self.any([2, 3, 10])))
            case 5:
                return build.bin_to(a, self.any([1, 2, 10, 100]))
            case 6:
                return build.clamp(a, self.any([-5, 0]), self.any([3, 10]))
            case 7:
                return build.coalesce(a, b)
            case 8:
                return build.case([(self.condition(x, depth - 1), a)], b if self.likely(0.7) else None)
            case 9:
                return self.any([build.absolute, build.negate, build.floor, build.ceil, build.round_to])(a)
            case 10:
                return self.any([build.least, build.greatest])(a, b)
        moments = [name for name, domain in x.columns.items() if domain.kind == "date"]
        if not moments:
            return a
        return build.date_part(self.any(DAY_PARTS), build.column(x, self.any(moments)))

    def widened(self, e: Expression) -> Expression:
        """The same number, or one that is shifted, computed in more bits: up to 128, where its domain needs 64."""
        shift = build.constant(self.any(SHIFTS))
        for i in range(self.r.randint(1, 6)):
            try:
                e = (build.subtract if i % 2 else build.add)(e, shift)
            except BadQuestion:  # it would need more than 64
                return e
        return e

    def term(self, x: Relation) -> Expression:
        """A column, what is left of one, or a constant that may take a sum beyond a type of integers."""
        e = self.number(x, 0)
        match self.r.randrange(5):
            case 0:
                return build.modulo(e, build.constant(self.any([3, 10, 50])))
            case 1 | 2:
                return build.constant(self.any([1, 10, 20, 40, -3, -20, -60, 100, 127, -128, 250, 32_700]))
        return e

    def condition(self, x: Relation, depth: int) -> Expression:
        """A condition on a row."""
        if depth > 0 and self.likely(0.05):
            e = self._tried(self.any(list(DRAWN)), x, depth - 1)
            if e is not None and e.domain.kind == "boolean":
                return e
        if depth > 0 and self.likely(0.5):
            a, b = self.condition(x, depth - 1), self.condition(x, depth - 1)
            return self.any([build.and_(a, b), build.or_(a, b), build.not_(a)])
        name = self.any(list(x.columns))
        column, kind = build.column(x, name), x.columns[name].kind
        if self.likely(0.15):
            return build.is_missing(column)
        operator = self.any(OPERATORS)
        match kind:
            case "text":
                if self.likely(0.5):
                    return build.like(column, self.any(PATTERNS))
                return build.compare(self.any(OPERATORS[:2]), column, build.constant(self.any(TEXTS[:12])))
            case "category":
                return build.is_in(column, self.r.sample(x.columns[name].labels, 1))
            case "boolean":
                return column
            case "number":
                return build.compare(operator, self.number(x, depth), self.number(x, depth))
            case "date":
                return build.compare(operator, column, build.constant(self.any(DATES)))
        return build.compare(operator, column, build.constant(self.any(MOMENTS)))

    def relation(self, x: Relation, other: Relation | None = None) -> Relation:
        """Rows of a table, perhaps chosen, joined, gathered or computed."""
        if other is not None and self.likely(0.7):
            left = Derive(x, tuple((f"l{i}", build.column(x, name)) for i, name in enumerate(x.columns)))
            right = Derive(other, tuple((f"r{i}", build.column(other, name)) for i, name in enumerate(other.columns)))
            x = Join(left, right)
        for _ in range(self.r.randint(0, 2)):
            match self.r.randrange(3):
                case 0:
                    x = Where(x, self.condition(x, 2))
                case 1:
                    kept = tuple((name, build.column(x, name)) for name in x.columns)
                    x = Derive(x, (*kept, (f"new{len(kept)}", self.number(x, 2))))
                case _:
                    x = self.per_unit(x)
        return x

    def per_unit(self, x: Relation) -> PerUnit:
        keys = [name for name in x.columns if self.likely(0.4) and not name.startswith("n")]
        folds = [("n", build.fold("count", x))]
        for how in ("count", "sum", "min", "max"):
            if self.likely(0.5):
                folds.append((f"new_{how}", build.fold(how, x, self.number(x, 1))))
        return PerUnit(x, tuple((name, build.column(x, name)) for name in keys), tuple(folds))

    def key(self, x: Relation, i: int, chosen: bool) -> Key:
        name = self.any(list(x.columns))
        e: Expression = build.column(x, name)
        if e.domain.kind == "number":
            e = self.number(x, 1)
        if chosen and self.likely(0.7):
            return Key(f"key{i}", e, None)
        if (e.domain.size or 1 << 40) > 1000 and e.domain.kind == "number":
            if self.likely(0.2):
                return Key(f"key{i}", e, tuple(sorted({e.domain.lower, *self._inside(e, 2), e.domain.upper})))
            low = self.any([-2, *self._inside(e, 1)])
            e = build.clamp(e, low * e.domain.grid, (low + self.any([2, 40])) * e.domain.grid)
        if e.domain.kind == "date":
            e = build.date_part("month", e)
        if (e.domain.size or 1 << 40) > 10_000:
            raise BadQuestion("too many cells to be tested with")
        values = build.keys(e, x)
        return Key(f"key{i}", e, tuple(self.r.sample(values, min(len(values), 60))) if self.likely(0.2) else values)

    def _inside(self, e: Expression, n: int) -> list[int]:
        """Steps of the domain of a number: near its ends, or anywhere."""
        low, high = e.domain.lower, e.domain.upper
        near = [low, low + 3, high - 3, high, 0, self.r.randint(low, high)]
        return [min(max(self.any(near), low), high) for _ in range(n)]

    def measure(self, x: Relation) -> Measure:
        match self.r.randrange(10) // 2 if self.likely(0.7) else self.r.randrange(4):
            case 0:
                return RowCount(self.number(x, 2) if self.likely(0.5) else None)
            case 1 if self.likely(0.3):
                return ValueCount(self.number(x, 2))
            case 1:
                return UnitCount(self.number(x, 2) if self.likely(0.5) else None)
            case 2:
                return Total(self.number(x, 2))
            case 3:
                return Total(self.number(x, 2), self.any([(0, 1), (-3, 10), (0, 0), (-(2**40), 2**40)]))
        e = self.number(x, 2)
        low, high = e.domain.lower, e.domain.upper
        (at,), step = self._inside(e, 1), max(1, (high - low) // 7)
        edges = self.any(
            [
                (0, 1, 2, 3),
                (-5, 0, 100),
                (low, high),
                tuple(range(0, 200_000, 50_000)),
                (-(2**50), 0, 3, 2**50),
                (low, *self._inside(e, 2), high),
                tuple(range(at, at + 30, 5)),
                tuple(range(low, high + step, step)),
            ]
        )
        return BinCounts(e, tuple(sorted({*edges})) if len({*edges}) > 1 else (low, low + 1))

    def plan(self, x: Relation, measures: int = 3, other: Relation | None = None) -> QueryPlan:
        """A plan of few cells; what cannot be asked is drawn again."""
        while True:
            try:
                rows = self.relation(x, other)
                chosen = self.likely(0.2)
                keys = tuple(self.key(rows, i, chosen) for i in range(self.r.randint(0, 2)))
                found = any(key.values is None for key in keys)  # then their units are counted, whatever else is
                asked = tuple(self.measure(rows) for _ in range(0 if found and self.likely(0.1) else measures))
                made = QueryPlan(rows, keys, asked, self.any([None, None, 1, 2]))
            except BadQuestion:
                continue
            if (made.cells or 1) <= 10_000:
                return made


def _every_key(e: Expression) -> Key:
    return Key("k", e, tuple(range(e.domain.lower, e.domain.upper + 1)))
