"""Copies are of one schema and of their owner alone; no value lies beyond a bound, whatever numbers can hold."""

from decimal import Decimal

import pyarrow as pa
import pytest
from pyarrow import parquet

from tacit import BadParameter
from tacit.engines.duckdb.engine import DuckDB
from tacit.query.plan.plan import QueryPlan, RowCount, Total, UnitCount
from tacit.query.select.query import Key

from .test_named_defects import KEY, ask, of, table


def test_a_copy_is_not_used_for_another_schema(tmp_path):
    """Else a cap that was lowered would keep the rows of the old one: more than a unit is promised to move."""
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"who": [1] * 5, "x": [3] * 5}), path)
    for rows in (3, 1):
        t = table(path, rows=rows, x={"type": "integer", "lower": 0, "upper": 9})
        with DuckDB(tmp_path / "copies") as tested:
            tested.register(t, KEY)
            assert tested.answer(QueryPlan(t.schema.scan(), (), (RowCount(),))).cells[0].tolist() == [rows]


def test_rows_in_no_group_take_no_place_under_a_cap():
    t = table(
        [{"who": w, "x": x} for w in range(8) for x in range(10)],
        rows=10,
        x={"type": "integer", "lower": 0, "upper": 9},
    )
    (x,) = of(t, "x")
    answer = ask([t], QueryPlan(t.schema.scan(), (Key("x", x, (0,)),), (RowCount(),), 1))
    assert answer.cells[0].tolist() == [8]


def test_a_double_beyond_a_bound_that_no_double_is_stays_within():
    for top in (2**53 + 3, 2**61 + 300):
        t = table(pa.table({"x": [1e19, -1e19]}), unit="row", x={"type": "integer", "lower": -top, "upper": top})
        (x,) = of(t, "x")
        answer = ask([t], QueryPlan(t.schema.scan(), (Key("x", x, (-top, top)),), (RowCount(), Total(x))))
        assert [c.tolist() for c in answer.cells] == [[1, 1], [-top, top]]


def test_whole_numbers_beyond_a_bound_that_is_not_whole():
    t = table(pa.table({"x": [2, -2]}), unit="row", x={"type": "real", "lower": -1.5, "upper": 1.5, "grid": "1/2"})
    (x,) = of(t, "x")
    answer = ask([t], QueryPlan(t.schema.scan(), (Key("x", x, (-3, 3)),), (RowCount(),)))
    assert answer.cells[0].tolist() == [1, 1]


def test_a_decimal_that_is_not_whole_names_no_unit():
    who = pa.array([Decimal("1.0"), Decimal("1.5"), Decimal("1.9")], pa.decimal128(5, 1))
    t = table(pa.table({"who": who, "x": [1, 1, 1]}), rows=1, x={"type": "integer", "lower": 0, "upper": 9})
    assert ask([t], QueryPlan(t.schema.scan(), (), (RowCount(), UnitCount()))).cells[0].tolist() == [1]


def test_a_unit_with_no_value_is_not_counted_among_those_that_have_one():
    t = table(
        [{"who": 1, "x": None}, {"who": 1, "x": None}, {"who": 2, "x": 3}],
        rows=2,
        x={"type": "integer", "lower": 0, "upper": 9},
    )
    (x,) = of(t, "x")
    answer = ask([t], QueryPlan(t.schema.scan(), (), (UnitCount(), UnitCount(x), Total(x, (0, 9)))))
    assert [c.tolist() for c in answer.cells] == [[2], [1], [3]]


def test_a_folder_that_a_group_can_open_keeps_no_copies(tmp_path):
    (tmp_path / "copies").mkdir()
    (tmp_path / "copies").chmod(0o750)
    with pytest.raises(BadParameter, match="only its owner"):
        DuckDB(tmp_path / "copies")
