"""Several files, and files as the world writes them, are in Spark the table that they are in the reference."""

import gzip

import pyarrow as pa
import pytest
from pyarrow import parquet

from tacit.engines.rows.reference import Reference
from tacit.engines.spark.engine import Spark
from tacit.query.plan.plan import QueryPlan, RowCount, Total, UnitCount
from tacit.query.python.table import Table
from tacit.query.relation import build
from tacit.query.schema.schema import Schema
from tacit.testing.engines import engine, same

from ._spark import KEY, MARKS

pytestmark = MARKS
SCHEMA = Schema.load(
    {
        "table": {"name": "t", "unit": "who", "rows": 2, "missing": ["NA"], "decimal": ",", "delimiter": ";"},
        "columns": {"x": {"type": "real", "lower": 0, "upper": 9, "grid": "0.5"}},
    }
)


def csv(folder):
    for i, pack in enumerate((bytes, gzip.compress)):
        (folder / f"{i}.csv{'.gz' * i}").write_bytes(pack(b"who;x\r\na;1,5\r\nNA;2\r\nb;%d\r\n" % i))


def typed(*kinds):
    def write(folder):
        for i, kind in enumerate(kinds):
            parquet.write_table(
                pa.table({"who": ["a", "NA", "c"], "x": pa.array([1, 2, i]).cast(kind)}), folder / f"{i}.parquet"
            )

    return write


WAYS = {"CSV": csv, "Parquet": typed(pa.int64(), pa.int64()), "Parquet of two types": typed(pa.int64(), pa.string())}


@pytest.mark.parametrize("write", WAYS.values(), ids=WAYS)
def test_a_folder_means_what_the_reference_says(session, tmp_path, write):
    (tmp_path / "t").mkdir()
    write(tmp_path / "t")
    table, scan = Table(tmp_path / "t", SCHEMA, engine="spark"), SCHEMA.scan()
    plan = QueryPlan(scan, (), (RowCount(), UnitCount(), Total(build.column(scan, "x"))))
    with engine(Reference, [table], KEY) as reference, engine(lambda: Spark(session), [table], KEY) as tested:
        same(reference.answer(plan), tested.answer(plan), 0, plan)
        assert int(reference.answer(plan).cells[0][0]) == 4


def test_no_row_is_lost_after_an_empty_chunk(session):
    some = pa.table({"who": ["a", "b"], "x": [1.0, 2.0]})
    table = Table(pa.concat_tables([some[:0], some, some[:0], some, some[:0]]), SCHEMA, engine="spark")
    plan = QueryPlan(SCHEMA.scan(), (), (RowCount(),))
    with engine(lambda: Spark(session), [table], KEY) as tested:
        assert int(tested.answer(plan).cells[0][0]) == 4
