"""What the tests of Spark share: rows and a question about them, and settings under which small tables are fast."""

import os

import pytest

from tacit.engines.rows.reference import Reference
from tacit.query.plan.plan import BinCounts, QueryPlan, RowCount, Total, UnitCount
from tacit.query.python.table import Table
from tacit.query.relation import build
from tacit.query.select.query import Key
from tacit.testing.engines import engine, same
from tacit.testing.hostile import TEXTS

MARKS = [
    pytest.mark.xdist_group("spark"),  # one Java machine is enough
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets of py4j, closed by its own threads
]
SEEDS = range(2)
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
    options = " ".join(f"--conf {name}={value}" for name, value in settings.items())
    return f"{options} --driver-java-options '{JAVA}' pyspark-shell"


def plan(schema, *, groups=None):
    scan = schema.scan()
    age = build.column(scan, "age")
    key = Key("decade", build.bin_to(age, 10), tuple(range(13)))
    return QueryPlan(scan, (key,), (RowCount(), UnitCount(), Total(age), BinCounts(age, (0, 18, 65, 120))), groups)


def equal(table, tested):
    """Whether an engine answers as the reference does for the rows above."""
    with engine(Reference, [Table(ROWS, SCHEMA)], KEY) as reference, tested:
        tested.register(table, KEY)
        for groups in (None, 1):
            asked = plan(table.schema, groups=groups)
            same(reference.answer(asked), tested.answer(asked), 0, asked)
        return tested.fingerprint()
