"""Sums over groups of raw rows, in PostgreSQL: what the reference says, from one scan that reads few rows in full."""

from dataclasses import replace

import psycopg
import pytest

from tacit.engines.postgres import engine as postgres
from tacit.engines.postgres.eager_aggregation import aggregate_eagerly
from tacit.engines.postgres.engine import Postgres
from tacit.engines.rows.reference import Reference
from tacit.engines.sql.relations import RowQuery
from tacit.query.plan.plan import BinCounts, QueryPlan, RowCount, Total
from tacit.query.python.table import Table
from tacit.query.relation import build
from tacit.query.relation.relation import Where
from tacit.query.select.query import Key
from tacit.query.values.domain import ValueDomain
from tacit.query.values.nodes import Lookup
from tacit.testing.engines import engine, same

from ._postgres import Loaded

KEY = "0123456789abcdef" * 2
LABELS = ["north", "it's", 'q"\\', "NULL", "", "é", "{a,b}"]
# Names that our own could be taken for; columns that are grouped by, read in each row, and neither.
COLUMNS = {
    "c1": {"type": "integer", "lower": -3, "upper": 9},
    "c0": {"type": "category", "values": LABELS},
    "v0": {"type": "real", "lower": 0, "upper": 500, "grid": "0.0078125"},
    "n": {"type": "boolean"},
    "raw": {"type": "category", "values": ["x", "y"]},
    "t": {"type": "text"},
    "rc0": {"type": "integer", "lower": -(2**40), "upper": 2**40},
}
CELLS = {
    "c1": [-4, -3, 0, 5, 9, 10, 2**31 - 1, None],
    "c0": [*LABELS, "North", "north ", "?", None],
    "v0": [0.0, 0.00390625, 17.25, 499.998, 500.0, 1e300, -1.0, float("inf"), float("-inf"), float("nan"), None],
    "n": [True, False, None],
    "raw": ["x", "y", "z", None],
    "t": ["it's", "", "x", None],
    "rc0": [-(2**62), -(2**40), -1, 0, 7, 2**40, 2**62, None],
}


@pytest.fixture(scope="module")
def table():
    rows = [
        {name: cells[(i * step) % len(cells)] for step, (name, cells) in enumerate(CELLS.items(), 1)}
        for i in range(900)
    ]
    return Table(rows, {"table": {"name": "t", "unit": "row"}, "columns": COLUMNS})


def asked(schema):
    """Plans, and whether rows are grouped for them."""
    scan = schema.scan()
    c1, c0, v0, n, raw, t, rc0 = (build.column(scan, name) for name in COLUMNS)
    label, sign = Key("l", c0, tuple(range(len(LABELS)))), Key("s", n, (0, 1))
    large, far = build.compare(">", v0, build.constant(17)), build.compare("<", rc0, build.constant(3))
    southern = build.compare("=", c0, build.constant("it's"))
    squares = build.multiply(v0, v0)
    looked_up = Lookup(ValueDomain("number", 0, 144), c1, tuple(range(-3, 10)), tuple(i * i for i in range(13)))
    few, never = build.compare("<", looked_up, build.constant(50)), build.compare("<", c1, build.constant(-9))
    return [
        (QueryPlan(scan, (), (Total(looked_up),)), True),
        (QueryPlan(scan, (label,), (RowCount(looked_up),)), True),
        (QueryPlan(Where(scan, few), (sign,), (RowCount(),)), True),
        (QueryPlan(scan, (Key("k", looked_up, None),), (RowCount(),)), True),
        (
            QueryPlan(Where(scan, never), (Key("k", build.constant(1), None),), (RowCount(),)),
            False,
        ),  # no row, so no such key
        (QueryPlan(scan, (), (RowCount(), RowCount(v0), Total(v0))), True),
        (
            QueryPlan(
                scan,
                (label,),
                (RowCount(), RowCount(v0), RowCount(c1), RowCount(rc0), RowCount(n), RowCount(t), Total(rc0)),
            ),
            True,
        ),
        (QueryPlan(scan, (label, sign), (Total(v0), Total(squares), Total(c1, (-1, 2)))), True),
        (QueryPlan(scan, (sign,), (BinCounts(c1, (-3, 0, 4, 9)), BinCounts(n, (0, 1)), RowCount(), Total(v0))), True),
        (
            QueryPlan(scan, (Key("b", build.bin_to(c1, 4), (-1, 0, 1, 2)),), (RowCount(), Total(build.add(c1, v0)))),
            True,
        ),
        (QueryPlan(scan, (Key("k", c1, None),), (RowCount(), Total(c1))), True),
        (QueryPlan(Where(Where(scan, large), far), (label,), (RowCount(), Total(v0))), True),
        (QueryPlan(Where(Where(scan, southern), large), (sign,), (RowCount(), Total(c1))), True),
        (QueryPlan(Where(scan, build.like(t, "%x%")), (Key("r", raw, (0, 1)),), (RowCount(raw), Total(n))), True),
        (QueryPlan(scan, (sign,), (RowCount(c0),)), False),  # a list of labels for each row
        (QueryPlan(scan, (Key("t", t, None),), (RowCount(),)), False),
        (QueryPlan(scan, (), (BinCounts(v0, (0, 10, 64000)),)), False),
        (QueryPlan(scan, (Key("f", rc0, (0, 7)),), (RowCount(),)), False),  # too many values
    ]


def test_it_is_what_the_reference_says(server, table, monkeypatch):
    found = []
    monkeypatch.setattr(
        postgres, "aggregate_eagerly", lambda *given: found.append(aggregate_eagerly(*given)) or found[-1]
    )
    with engine(Reference, [table], KEY) as reference, engine(lambda: Loaded(server), [table], KEY) as tested:
        for plan, grouped in asked(table.schema):
            same(reference.answer(plan), tested.answer(plan), 0, plan)
            assert (found[-1] is not None) is grouped, plan


def test_where_equal_texts_are_read_otherwise_rows_are_not_grouped_by_them(server, table):
    """As in collations to which letters of either case are equal; they are so declared in the catalogue."""
    with psycopg.connect(server.url()) as connection:
        connection.execute("CREATE TABLE alike (c0 text, c1 int4, v0 float8, n bool, raw text, t text, rc0 int8)")
    try:
        with engine(Postgres, [Table(server.url(table="alike"), table.schema)], KEY) as tested:
            known = tested._tables["t"]
            with postgres.connected(known.place, 1000) as connection:
                found = known.describe(connection)
            rows = postgres._bounded_table(known, found, "t0")
            given = RowQuery(rows.source, rows.columns, None), [rows.columns["c0"].sql], {}
            assert aggregate_eagerly(table.schema, found, *given) is not None
            otherwise = tuple((name, replace(column, equal=name != "c0")) for name, column in found.columns)
            assert aggregate_eagerly(table.schema, replace(found, columns=otherwise), *given) is None
    finally:
        with psycopg.connect(server.url()) as connection:
            connection.execute("DROP TABLE alike")


def test_where_no_column_is_asked_for_rows_are_only_counted(server, monkeypatch):
    """Which rows of a unit are used is then all the same: none is hashed, and no label is sent."""
    columns = {"c": {"type": "category", "values": LABELS}, "x": {"type": "integer", "lower": 0, "upper": 9}}
    rows = [{"who": i * i % 41, "c": LABELS[i % 7], "x": i % 10} for i in range(400)] + [{"who": None, "x": 1}]
    sent = []
    run = postgres._columns
    monkeypatch.setattr(postgres, "_columns", lambda connection, text: sent.append(text) or run(connection, text))
    for facts in ({}, {"partition": "c"}):
        table = Table(rows, {"table": {"name": "t", "unit": "who", "rows": 3, **facts}, "columns": columns})
        plan = QueryPlan(table.schema.scan(), (), (RowCount(),))
        with engine(Reference, [table], KEY) as reference, engine(lambda: Loaded(server), [table], KEY) as tested:
            same(reference.answer(plan), tested.answer(plan), 0, plan)
        assert ("north" in sent[-1], "ORDER BY" in sent[-1]) == (bool(facts), bool(facts))
