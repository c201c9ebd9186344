"""Spark on many worlds, compiled, and behind its addresses: run by `make spark`, after what is in test_spark."""

import pyarrow as pa
import pytest
from pyarrow import parquet

from tacit.core.errors import BadData
from tacit.engines.registry import engine_for
from tacit.engines.rows.reference import Reference
from tacit.engines.spark import session as spark_session
from tacit.engines.spark.engine import Spark
from tacit.query.plan.plan import QueryPlan, RowCount
from tacit.query.python.table import Table
from tacit.query.relation import build
from tacit.query.schema.public_table import PublicTable
from tacit.query.select.query import Key
from tacit.testing.engines import CHECKS, engine, same

from ._hash import content_decides_where_hashes_are_equal, units_are_named_alike
from ._spark import KEY, MARKS, PORT, ROWS, SCHEMA, SEEDS, equal, plan

pytestmark = MARKS


@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_spark_conforms_at_length(session, check, part):
    for seed in range(1000 * part + len(SEEDS), 1000 * part + 40):
        assert check(lambda: Spark(session), seed) > 0


@pytest.mark.parametrize("check", CHECKS[:2], ids=lambda check: check.__name__)
def test_compiled_code_conforms(session, check, monkeypatch):
    compiled = {**spark_session.SETTINGS, "spark.sql.codegen.wholeStage": "true", "spark.sql.adaptive.enabled": "true"}
    monkeypatch.setattr(spark_session, "SETTINGS", compiled)
    assert check(lambda: Spark(session), 1) > 0


def test_the_keyed_hash(session):
    units_are_named_alike(lambda: Spark(session))
    content_decides_where_hashes_are_equal(lambda: Spark(session), range(3))


def test_every_handle_is_one_table(session, tmp_path):
    data = pa.Table.from_pylist(ROWS)
    frame = session.createDataFrame(data)
    frame.createOrReplaceGlobalTempView("people")
    parquet.write_table(data, tmp_path / "t.parquet")
    folder = tmp_path / "many files"
    frame.repartition(3).write.parquet(str(folder))
    sorted_ = frame.orderBy("age")
    connected = f"sc://127.0.0.1:{PORT}"
    remote = spark_session.opened(connected).table("global_temp.people")
    equal(Table(data, SCHEMA), Spark())
    equal(Table(tmp_path / "t.parquet", SCHEMA), Spark(connected))
    prints = set()
    for handle in (
        frame,
        sorted_,
        remote,
        "spark://?table=global_temp.people",
        f"spark://?table=parquet.`{folder}`",
        f"{connected}/?table=global_temp.people",
    ):
        table = Table(handle, SCHEMA)
        prints.add(equal(table, engine_for([table])))
    assert len(prints) == 1
    assert set(PublicTable(frame, "public").mapping("age", "who")) == {3 * i % 130 for i in range(60)}
    assert not [t for t in session.catalog.listTables("global_temp") if t.name.startswith("tacit")]


def test_a_table_that_holds_something_else_has_another_fingerprint(session):
    def printed(rows):
        with Spark() as tested:
            tested.register(Table(session.createDataFrame(pa.Table.from_pylist(rows)), SCHEMA), KEY)
            return tested.fingerprint()

    changes = [ROWS[:-1], [*ROWS, ROWS[0]], [{**ROWS[0], "note": None}, *ROWS[1:]], [{**ROWS[0], "who": 8}, *ROWS[1:]]]
    assert len({printed(rows) for rows in [ROWS, *changes]}) == 5


def test_many_labels_and_many_keys(session):
    labels = [f"l{i}" for i in range(3000)]
    schema = {"table": {"name": "t", "unit": "row"}, "columns": {"c": {"type": "category", "values": labels}}}
    table = Table([{"c": f"l{i * i % 3001}"} for i in range(500)], schema)
    raw = Table(pa.table({"c": [f"l{i * i % 3001}" for i in range(500)]}), schema)
    scan = table.schema.scan()
    column = build.column(scan, "c")
    spread = tuple(range(0, 3000, 7))
    plans = [QueryPlan(scan, (Key("c", column, values),), (RowCount(),)) for values in (tuple(range(3000)), spread)]
    with engine(Reference, [table], KEY) as reference, engine(lambda: Spark(session), [raw], KEY) as tested:
        for asked in plans:
            same(reference.answer(asked), tested.answer(asked), 0, asked)


def test_a_session_that_is_gone_is_opened_again_unless_the_table_has_changed(session):
    frame = session.createDataFrame(pa.Table.from_pylist(ROWS))
    frame.createOrReplaceGlobalTempView("moving")
    table = Table(f"sc://127.0.0.1:{PORT}/?table=global_temp.moving", SCHEMA)
    asked = plan(table.schema)
    with engine(Spark, [table], KEY) as tested:
        expected = tested.answer(asked)
        tested._own.stop()
        same(expected, tested.answer(asked), 0, asked)
        frame.where("age > 3").createOrReplaceGlobalTempView("moving")
        same(expected, tested.answer(asked), 0, asked)  # it is kept as it was
        tested._own.stop()
        with pytest.raises(BadData, match=r"the content of the table .* has changed"):
            tested.answer(asked)
