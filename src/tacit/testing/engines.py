"""The conformance suite for engines: every claim of `engines.base`, on random tables and plans.

    conform(lambda: MyEngine())

Each check takes a factory of engines and a seed, returns how many answers it compared, and raises `Refuted` with the
seed if a claim is false.  Answers must equal those of the reference engine to the last digit; removing a unit, whatever
its rows hold, must move each measure by at most its distance, in every norm.
"""

from __future__ import annotations

import datetime
import random
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from ..core.distance import Distance
from ..core.errors import EngineError
from ..engines.base import Engine, EngineAnswer
from ..engines.keyed_hash import Coefficients, P, Q, coefficients
from ..engines.rows.reference import Reference
from ..query.plan.plan import BinCounts, Measure, QueryPlan, RowCount, Total, UnitCount, ValueCount
from ..query.python.table import Table
from ..query.relation import build
from ..query.relation.relation import Cohort, Where
from ..query.schema.schema import Schema
from ..query.select.query import Key
from .hostile import CODES, NUMBERS, SHIFTS, SPELLINGS
from .mechanisms import Refuted
from .typed import typed
from .worlds import World

Factory = Callable[[], Engine]
Check = Callable[[Factory, int], int]
Keys = tuple[tuple[int | str, ...], ...] | None
SECRETS = ("0" * 32, "fedcba9876543210" * 2)
UNITS: list[Any] = [0, 1, -7, 2**63 - 1, 12, -(2**63), 3, 4, 5, 66]
NAMED: list[Any] = ["ann", "", "bob's", "名", "7", " 7", "Ann", "|", "a,i1", "n"]
WHOLE = [0, 7, -7, 2**63 - 1, -(2**63), 10**18, Q, -Q, P, Q + 7]
SPELLED = ["-0", "+7", "07", " 7", "7 ", "7.0", "1e3", "0x1f", "1_000", "", "ann", "ß", "\U0001f600", "|"]
SPELLED += [str(n) for n in (*WHOLE, 2**63, -(2**63) - 1, 10**19, 10**37)]
HASHED: dict[str, Any] = {
    "table": {"name": "t", "unit": "who", "rows": 3, "partition": "p"},
    "columns": {
        "x": {"type": "integer", "lower": 0, "upper": 7},
        "w": {"type": "integer", "lower": -(2**61), "upper": 2**61},
        "p": {"type": "category", "values": ["a", "b"]},
        "t": {"type": "text"},
    },
}
WRITTEN: dict[str, Any] = {
    "table": {"name": "t", "unit": "who", "rows": 5, "missing": ["NA", "-999", "99", "2.5"], "decimal": ","},
    "columns": {
        "n": {"type": "integer", "lower": -1000, "upper": 1000},
        "r": {"type": "real", "lower": -1000, "upper": 1000, "grid": "0.25"},
        "b": {"type": "boolean", "true": ["Y", "1"], "false": ["N", "2"]},
        "c": {"type": "category", "values": ["a", "7", "N"]},
        "d": {"type": "date", "format": "%d.%m.%Y"},
        "e": {"type": "date", "format": "%Y%m%d", "missing": []},
        "m": {"type": "timestamp", "format": "%m/%d/%Y %H:%M"},
        "s": {"type": "text", "missing": ["", "It's", "7"]},
    },
}


def engine(factory: Factory, tables: Sequence[Table], key: str) -> Engine:
    """A new engine that holds these tables."""
    holding = factory()
    for table in tables:
        holding.register(table, key)
    return holding


def key_of(world: World) -> str:
    """A random key for the hash of rows and units."""
    return f"{world.r.getrandbits(128):032x}"


def mixed(world: World, schema: Schema) -> list[dict[str, Any]]:
    """Rows whose cells are of any type."""
    pools = {name: [world.cell() for _ in range(6)] for name, _ in schema.columns}
    units = world.any([UNITS, NAMED, [1.0, 2.5, float("nan"), "1", None]])
    return world.rows(schema, units[: world.r.randint(0, len(units))], pools.__getitem__)


def same(expected: EngineAnswer, answered: EngineAnswer, seed: int, plan: QueryPlan) -> None:
    """Raise `Refuted` unless two answers to a plan are equal: keys, units and every cell."""
    units = [None if answer.units is None else answer.units.tolist() for answer in (expected, answered)]
    if expected.keys != answered.keys or units[0] != units[1]:
        raise Refuted(f"seed {seed}: the engine finds other keys than the reference, or counts their units otherwise")
    for measure, *both in zip(plan.measures, expected.cells, answered.cells, strict=True):
        x, y = map(np.asarray, both)
        if x.shape != y.shape or x.tolist() != y.tolist():
            raise Refuted(f"seed {seed}: the engine does not answer as the reference does: {measure}")


def equals_the_reference(factory: Factory, seed: int) -> int:
    """Random plans on random tables in memory, of mixed and of typed cells, have the answers of the reference."""
    world = World(random.Random(seed))
    schema, key = world.schema(), key_of(world)
    data = typed(world, schema) if seed % 2 else mixed(world, schema)
    table = Table(data, schema)
    with engine(Reference, [table], key) as reference, engine(factory, [table], key) as tested:
        for _ in range(4):
            plan = world.plan(schema.scan())
            same(reference.answer(plan), tested.answer(plan), seed, plan)
    return 4


def agrees_on_every_node(factory: Factory, seed: int) -> int:
    """Every type of expression node, over columns of every type with missing values: measured, as condition, as key."""
    world = World(random.Random(seed))
    (schema, rows), key = world.every_type(), key_of(world)
    table, plans = Table(rows, schema), world.every_node(schema.scan())
    with engine(Reference, [table], key) as reference, engine(factory, [table], key) as tested:
        for plan in plans:
            same(reference.answer(plan), tested.answer(plan), seed, plan)
    return len(plans)


def computes_in_every_width(factory: Factory, seed: int) -> int:
    """Numbers are computed exactly in 8 to 128 bits, as keys, bins, measures and private keys, capped or not."""
    world = World(random.Random(seed))
    ends = world.any([(0, 9), (-100, 100), (0, 30_000), (-(2**40), 2**40), (-(2**62), 2**62)])
    facts = {"n": {"type": "integer", "lower": ends[0], "upper": ends[1]}}
    schema = Schema.load({"table": {"name": "t", "unit": "who", "rows": world.any([1, 2, 9])}, "columns": facts})
    pool = [None, *ends, *(world.any(NUMBERS) for _ in range(4)), *range(4)]
    table, key = Table(world.rows(schema, UNITS, lambda _: pool), schema), key_of(world)
    scan = schema.scan()
    few = build.clamp(build.column(scan, "n"), 0, 3)
    with engine(Reference, [table], key) as reference, engine(factory, [table], key) as tested:
        for shift in world.r.sample(SHIFTS, 2):
            e = few
            for i in range(world.r.randint(1, 7)):
                e = (build.subtract if i % 2 else build.add)(e, build.constant(shift))
            low, high = e.domain.lower, e.domain.upper
            consecutive, sparse = tuple(range(low, high + 1)), (high, low, low + 1)
            many = tuple(sorted({low, *world.r.sample(range(low - 400, low + 400), 90)}))
            bins = (
                consecutive,
                (low, high + 2000),
                tuple(range(low - 9000, low + 9000, 3000)),
                (low - 7000, low + 2, high),
            )
            asked: list[Measure] = [RowCount(e), UnitCount(e), ValueCount(e), Total(e), Total(e, (-1, 1 << 40))]
            asked += [BinCounts(e, edges) for edges in bins]
            for values in world.r.sample([consecutive, sparse, many, None], 2):
                plan = QueryPlan(scan, (Key("k", e, values),), tuple(asked), world.any([None, 1]))
                same(reference.answer(plan), tested.answer(plan), seed, plan)
    return 4


def joins_as_the_reference(factory: Factory, seed: int) -> int:
    """Two tables are joined on the unit, which one of them writes as a number and the other perhaps as text."""
    world = World(random.Random(seed))
    first, second = world.schema("t", "who"), world.schema("s", "whose")
    key, units = key_of(world), list(range(4))
    tables = []
    for schema in (first, second):
        own = [str(unit) for unit in units] if world.likely(0.4) else units
        pools = {name: [world.cell() for _ in range(4)] for name, _ in schema.columns}
        tables.append(Table(world.rows(schema, own, pools.__getitem__), schema))
    with engine(Reference, tables, key) as reference, engine(factory, tables, key) as tested:
        for _ in range(3):
            plan = world.plan(first.scan(), 2, second.scan())
            same(reference.answer(plan), tested.answer(plan), seed, plan)
    return 3


def keeps_cohorts_as_the_reference(factory: Factory, seed: int) -> int:
    """The rows of the units that are, or are not, in another table; and no unit moves more than its own rows."""
    world = World(random.Random(seed))
    first, second = world.schema("t", "who"), world.schema("s", "whose")
    key, tables = key_of(world), list[list[Table]]([[], []])
    for schema, units in ((first, range(6)), (second, range(3, 9))):
        own = [str(unit) for unit in units] if world.likely(0.4) else list(units)
        pools = {name: [world.cell() for _ in range(4)] for name, _ in schema.columns}
        rows = world.rows(schema, own, pools.__getitem__)
        for table, kept in zip(
            tables, (rows, [row for row in rows if str(row.get(schema.unit or "")) != "4"]), strict=True
        ):
            table.append(Table(kept, schema))
    with (
        engine(Reference, tables[0], key) as reference,
        engine(factory, tables[0], key) as tested,
        engine(factory, tables[1], key) as without,
    ):
        for inside in (True, False):
            x = world.any(list(second.scan().columns))
            members = Where(second.scan(), build.not_(build.is_missing(build.column(second.scan(), x))))
            plan = world.plan(Cohort(first.scan(), members, inside), 2)
            answer = tested.answer(plan)
            same(reference.answer(plan), answer, seed, plan)
            stable(plan, without.answer(plan), answer, seed)
    return 4


def forgets_order(factory: Factory, seed: int) -> int:
    """Rows in another order are the same table, with the same answers."""
    world = World(random.Random(seed))
    schema, key = world.schema(), key_of(world)
    rows = mixed(world, schema)
    other = world.r.sample(rows, len(rows))
    with engine(factory, [Table(rows, schema)], key) as one, engine(factory, [Table(other, schema)], key) as two:
        for _ in range(3):
            plan = world.plan(schema.scan())
            same(one.answer(plan), two.answer(plan), seed, plan)
    return 3


def is_stable(factory: Factory, seed: int) -> int:
    """When one unit, with rows of any kind, comes or goes, no measure moves farther than its distance."""
    world = World(random.Random(seed))
    schema, key = world.schema(), key_of(world)
    rows = mixed(world, schema)
    pools = {name: [world.cell() for _ in range(3)] for name, _ in schema.columns}
    more = [world.row(schema, "new", pools.__getitem__) for _ in range(1 if schema.unit is None else 12)]
    with (
        engine(factory, [Table(rows, schema)], key) as one,
        engine(factory, [Table([*rows, *more], schema)], key) as two,
    ):
        for _ in range(3):
            plan = world.plan(schema.scan())
            stable(plan, one.answer(plan), two.answer(plan), seed)
    return 3


def stable(plan: QueryPlan, one: EngineAnswer, two: EngineAnswer, seed: int) -> int:
    """Check how far each measure moved, in each norm, and the unit counts of private keys; how many were checked."""
    measured = [*zip(plan.measures, one.cells, two.cells, strict=True)]
    if plan.chosen:
        measured.append((UnitCount(), one.units, two.units))
    for measure, first, second in measured:
        distance = plan.distance(measure)
        moves = [abs(a - b) for a, b in _pairs((one.keys, first), (two.keys, second)) if a != b]
        if not near(moves, distance):
            raise Refuted(f"seed {seed}: one unit moves {measure} farther than {distance}")
    return len(measured)


def _pairs(one: tuple[Keys, Any], two: tuple[Keys, Any]) -> list[tuple[int, int]]:
    """The numbers of a measure in both answers, cell by cell; 0 where an answer lacks the key."""
    (some, x), (others, y) = one, two
    if some is None or others is None:
        return list(zip(x.ravel().tolist(), y.ravel().tolist(), strict=True))
    first, second = (dict(zip(keys, np.asarray(a).tolist(), strict=True)) for keys, a in ((some, x), (others, y)))
    width = x.shape[1:] or y.shape[1:]
    nothing: Any = [0] * width[0] if width else 0
    out: list[tuple[int, int]] = []
    for at in {**first, **second}:
        a, b = first.get(at, nothing), second.get(at, nothing)
        out += zip(a, b, strict=True) if width else [(a, b)]
    return out


def near(moves: Sequence[int], distance: Distance[Any]) -> bool:
    """Whether the moves are within the distance, in l0, l1, l2 and linf."""
    return (
        (distance.l0 is None or len(moves) <= distance.l0)
        and sum(moves) <= distance.l1
        and Fraction(sum(move * move for move in moves)) <= distance.l2_squared
        and max(moves, default=0) <= distance.linf
    )


def answers_of_one_content(factory: Factory, seed: int) -> int:
    """The engine answers about the content whose fingerprint it is given, and refuses any other fingerprint."""
    world = World(random.Random(seed))
    schema, key = world.schema(), key_of(world)
    rows = mixed(world, schema)
    plan = world.plan(schema.scan())
    with engine(factory, [Table(rows, schema)], key) as tested:
        same(tested.answer(plan), tested.answer(plan, tested.fingerprint()), seed, plan)
        try:
            tested.answer(plan, "0" * 64)
        except EngineError:
            return 1
    raise Refuted(f"seed {seed}: the engine answers about a content that it does not hold")


def names_units_as_the_reference(factory: Factory, seed: int) -> int:
    """Numbers, and text that may be one, name the units; each unit has more rows and groups than are kept."""
    cells = [
        (who, i, (i - 4) * 2**58, "ab"[i % 2], f"note {i}" if i else None)
        for who in (WHOLE, SPELLED)[seed % 2]
        for i in range(8)
    ]
    table = Table(pa.table(list(map(list, zip(*cells, strict=True))), ["who", "x", "w", "p", "t"]), HASHED)
    scan = table.schema.scan()
    x, w, t = (build.column(scan, name) for name in ("x", "w", "t"))
    keys = Key("x", x, tuple(range(8))), Key("w", w, tuple((i - 4) * 2**58 for i in range(8))), Key("t", t, None)
    key = SECRETS[seed // 2 % 2]
    plans = (*(QueryPlan(scan, (one,), (RowCount(),), 2) for one in keys), QueryPlan(scan, keys, (RowCount(),), 1))
    with engine(Reference, [table], key) as reference, engine(factory, [table], key) as tested:
        for plan in plans:
            same(reference.answer(plan), tested.answer(plan), seed, plan)
    return len(plans)


def orders_equal_hashes_by_content(factory: Factory, seed: int) -> int:
    """Where all rows and groups of a unit have one hash, their content decides which are kept."""
    users = [module for module in list(sys.modules.values()) if vars(module).get("coefficients") is coefficients]
    users = [module for module in users if module.__name__ != __name__]
    try:
        for module in users:
            vars(module)["coefficients"] = lambda _key, _choice, n: Coefficients((1,) + (0,) * n, (5, 1, 1, 1))
        return equals_the_reference(factory, seed)
    finally:
        for module in users:
            vars(module)["coefficients"] = coefficients


def reads_what_is_written(factory: Factory, seed: int) -> int:
    """Cells that are written in ways of their own, in columns of text, integers, doubles and decimals."""
    world, key = World(random.Random(seed)), SECRETS[seed % 2]
    schema = Schema.load(WRITTEN)
    kinds = pa.string(), pa.int64(), pa.float64(), pa.decimal128(12, 2), pa.int8()
    columns = {}
    for name in schema.names:
        kind = kinds[0] if name in ("d", "e", "m") else world.any(kinds)
        pool = SPELLINGS if kind == kinds[0] else [n for n in CODES if kind != kinds[-1] or -128 <= n < 128]
        own = world.r.sample(pool, 8) if name == "who" else pool
        columns[name] = pa.array([None if world.likely(0.05) else world.any(own) for _ in range(120)], kind)
    table, scan = Table(pa.table(columns), schema), schema.scan()
    x = {name: build.column(scan, name) for name, _ in schema.columns}
    since = [build.subtract(x[name], build.constant(datetime.date(1970, 1, 1))) for name in "dem"]
    numbers = [x["n"], x["r"], *since]
    measures: list[Measure] = [UnitCount(), *map(RowCount, x.values()), *map(Total, numbers)]
    measures += map(ValueCount, x.values())
    keys: list[Any] = [(), (Key("s", x["s"], None),), (Key("b", x["b"], (0, 1)), Key("c", x["c"], (0, 1, 2)))]
    with engine(Reference, [table], key) as reference, engine(factory, [table], key) as tested:
        for by in keys:
            plan = QueryPlan(scan, by, tuple(measures))
            same(reference.answer(plan), tested.answer(plan), seed, plan)
    return len(keys)


CHECKS: list[Check] = [
    equals_the_reference,
    agrees_on_every_node,
    computes_in_every_width,
    joins_as_the_reference,
    keeps_cohorts_as_the_reference,
    forgets_order,
    is_stable,
    answers_of_one_content,
    names_units_as_the_reference,
    orders_equal_hashes_by_content,
    reads_what_is_written,
]


def conform(factory: Factory, seeds: range = range(50)) -> int:
    """Run every check on every seed; returns how many answers were compared."""
    return sum(check(factory, seed) for seed in seeds for check in CHECKS)
