"""What one row holds changes nothing of how the others are read, and is no error, in whatever form the table is."""

import datetime
import decimal
import math
import struct
import uuid

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from tacit.core.errors import BadData
from tacit.engines.duckdb.engine import DuckDB
from tacit.engines.rows.reference import Reference
from tacit.query.plan.plan import QueryPlan, RowCount
from tacit.query.python.table import Table
from tacit.query.schema.schema import Schema
from tacit.query.values.cells import steps, unit_text
from tacit.testing.engines import engine

KEY = "0123456789abcdef" * 2
TYPES = {
    "integer": {"lower": 0, "upper": 9},
    "real": {"lower": 0, "upper": 9},
    "category": {"values": ["1", "2", "true", "false"]},
    "boolean": {},
    "date": {},
    "timestamp": {},
    "text": {},
}
D, date, moment = decimal.Decimal, datetime.date, datetime.datetime
LAST = 2**63 - 1
SETTLED = {  # pairs of cells that one type of Arrow holds
    "int": [1, 2],
    "float": [1.0, 2.5],
    "str": ["1", "true"],
    "bool": [True, False],
    "date": [date(2020, 1, 1), date(2020, 2, 2)],
    "moment": [moment(2020, 1, 1, 5), moment(2020, 2, 2, 6)],
    "decimal": [D(1), D(2)],
}
FAR = pd.Timestamp(np.datetime64(1 << 40, "s"))
OBJECTS = [7, 2**70, 2.5, float("nan"), float("inf"), None, "q", "\ud800", True, date(2021, 1, 1), b"1", b"\xff"]
OBJECTS += [moment(2021, 1, 1, 1, 1, 1, 1), moment(2021, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=5)))]
OBJECTS += [D("0.1"), D("1e30"), D("nan"), D("Infinity"), uuid.UUID(int=9), [1], {"a": 1}, {1}, 1j, object()]
OBJECTS += [datetime.timedelta(1), datetime.time(1), np.datetime64("2021-01-01"), np.datetime64("NaT"), np.int8(3)]
OBJECTS += [np.float32(0.5), pd.NaT, pd.NA, pd.Timestamp("2021-01-01", tz="Asia/Tokyo"), FAR, FAR.tz_localize("UTC")]
OBJECTS += [FAR.tz_localize("Asia/Tokyo"), pd.Timestamp(np.datetime64(-(1 << 40), "s")), pd.Timedelta(1)]
NOT_UNICODE = [b"\xff\xfe", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82"]


def schema_of(columns, unit="who"):
    return Schema.load(
        {
            "table": {"name": "t", "unit": unit} | ({} if unit == "row" else {"rows": 1}),
            "columns": {name: {"type": kind} | TYPES[kind] for name, kind in columns.items()},
        }
    )


def read(factory, data, schema):
    """What an engine has of each unit."""
    with engine(factory, [Table(data, schema)], KEY) as tested:
        if isinstance(tested, Reference):
            return {unit: (*row.values(),) for unit, row in tested._tables["t"][0]}
        place = tested._tables["t"].source.sql()
        return {str(unit): tuple(row) for unit, *row in tested._database.execute(f"FROM {place}").fetchall()}


def objects(cells):
    column = pd.Series([None] * len(cells), dtype=object)
    for i, cell in enumerate(cells):
        column.iat[i] = cell
    return column


@pytest.mark.parametrize("held", SETTLED)
def test_objects_of_pandas_mean_what_each_of_them_means(held):
    schema = schema_of({kind: kind for kind in TYPES})
    for hostile in OBJECTS:
        cells = [*SETTLED[held], hostile]
        data = pd.DataFrame({"who": ["a", "b", "c"]} | dict.fromkeys(TYPES, objects(cells)))
        expected = {
            who: tuple(steps(cell, c) for _, c in schema.columns) for who, cell in zip("abc", cells, strict=True)
        }
        assert read(Reference, data, schema) == expected
        if held in ("int", "str"):  # of which there are most
            assert read(DuckDB, data, schema) == expected


@pytest.mark.parametrize("hostile", [None, 2.5, math.nan, math.inf, 1e300, 2**70, "x", b"x", True, pd.NA])
@pytest.mark.parametrize("factory", [Reference, DuckDB])
def test_one_row_does_not_change_how_pandas_reads_the_others(factory, hostile):
    """Of whole numbers pandas makes floats where one is missing, or is none."""
    schema = schema_of({kind: kind for kind in TYPES})
    for as_is in (True, False):
        found = []
        for cells in ([1, 2, 2], [1, 2, 2, hostile]):
            column = pd.Series(cells) if as_is else pd.Series(cells).astype("category")
            data = pd.DataFrame({"who": range(len(cells))} | dict.fromkeys(TYPES, column))
            found.append(read(factory, data, schema))
        assert found[0] == {who: found[1][who] for who in "012"}
        assert found[0]["1"][list(TYPES).index("category")] is not None


@pytest.mark.parametrize("held", ["int", "str"])
def test_units_that_are_objects_of_pandas_are_read_one_by_one(held):
    schema = schema_of({})
    for hostile in (2.5, 3.0, 2**70, b"x", "\ud800", None, [1], pd.NaT, FAR):
        cells = [*SETTLED[held], hostile]
        units = {unit for unit in map(unit_text, cells) if unit is not None}
        data = pd.DataFrame({"who": objects(cells)})
        assert {*read(DuckDB, data, schema)} == {*read(Reference, data, schema)} == units


@pytest.mark.parametrize(
    "column",
    [
        objects([1, "1", 2.5, b"1"]).astype("category"),
        objects(["1", "2", "1", b"1"]).astype("category"),
        objects(["1", None, float("nan"), pd.NA]),
        pd.Series(pd.arrays.SparseArray([1, "1", 2.5, b"1"], dtype=pd.SparseDtype(object))),
        pd.Series(pd.arrays.SparseArray([1, 0, 2, 2])),
        pd.Series([1, None, 2, 2], dtype="Int64"),
        pd.Series(["1", None, "2", "\ud800"], dtype="string[python]"),
        pd.Series([1j, 2j, 1, 2]),
        pd.Series(np.array([0, 1 << 40, -(1 << 40), 1], "datetime64[s]")),
    ],
    ids=lambda column: str(column.dtype),
)
def test_columns_of_pandas_mean_what_their_cells_mean(column):
    schema = schema_of({kind: kind for kind in TYPES})
    data = pd.DataFrame({"who": range(4)} | dict.fromkeys(TYPES, column))
    cells = column.tolist()
    expected = {str(i): tuple(steps(cells[i], c) for _, c in schema.columns) for i in range(4)}
    assert read(Reference, data, schema) == expected
    assert read(DuckDB, data, schema) == expected


def test_a_table_of_pandas_has_the_columns_of_the_schema():
    schema = schema_of({"a": "text"})
    for data in (
        pd.DataFrame({"who": [1], "b": [object()]}),
        pd.DataFrame([[1, 2, object()]], columns=["who", "a", "a"]),
        pd.DataFrame([[1, 2, object()]], columns=["who", "a", "A"]),
    ):
        with DuckDB() as tested, pytest.raises(BadData, match=r"'a'|'who'"):
            tested.register(Table(data, schema), KEY)


def text(cells, kind=None):
    """A column of text in bytes, which need not be Unicode."""
    kind = kind or pa.string()
    raw = pa.array(cells, {"string": pa.binary(), "large_string": pa.large_binary()}[str(kind)])
    return pa.Array.from_buffers(kind, len(raw), raw.buffers(), raw.null_count)


def ticks(kind, *values):
    return pa.array([0, None, *values], pa.int32() if kind.bit_width == 32 else pa.int64()).view(kind)


def full(*whole):
    """Decimals of 38 digits, two after the point, or of more than that."""
    parts = [0, 0, *whole]
    cells = pa.py_buffer(b"".join(part.to_bytes(16, "little", signed=True) for part in parts))
    there = pa.py_buffer(bytes([0b11111101]))
    return pa.Array.from_buffers(pa.decimal128(38, 2), len(parts), [there, cells])


HOSTILE = {  # columns of a harmless cell, a missing one, and hostile ones
    "dictionary": pa.DictionaryArray.from_arrays([0, None, 1, 0], text([b"1", NOT_UNICODE[0]])),
    "large": text([b"1", None, *NOT_UNICODE], pa.large_string()),
    "double": pa.array([1, None, float("nan"), float("inf"), -1e308, 5e-324]),
    "float16": pa.array([np.float16(1), None, np.float16("inf"), np.float16("nan")]),
    "unsigned": pa.array([1, None, 2**64 - 1], pa.uint64()),
    "decimal": pa.array([D(1), None, D(10**38 - 1)], pa.decimal128(38, 0)),
    "fine decimal": pa.array([D(0), None, *(D(f"{sign}0.{10**38 - 1}") for sign in "+-")], pa.decimal128(38, 38)),
    "full decimal": full(100, 10**38, -(10**38), 2**127 - 1, -(2**127)),
    "wide decimal": pa.array([D(1), None, D(10**70)], pa.decimal256(76, 0)),
    "uuid": pa.array([uuid.UUID(int=1).bytes, None, b"\xff" * 16], pa.uuid()),
    "binary": pa.array([b"1", None, b"\xff"]),
    "json": pa.array(["1", None, "{"], pa.json_()),
    "date32": ticks(pa.date32(), 2**31 - 1, -(2**31), -(2**31) + 1),
    "infinite ms": ticks(pa.timestamp("ms"), LAST, -LAST),
    "time": ticks(pa.time64("us"), 1),
    "duration": ticks(pa.duration("us"), LAST),
    "list": pa.array([[0], None, [LAST]], pa.list_(pa.int64())).cast(pa.list_(pa.timestamp("us"))),
}
HOSTILE |= {f"text {bad!r}": text([b"1", None, bad, b"2"]) for bad in NOT_UNICODE}
HOSTILE |= {
    f"{unit} {zone}": ticks(pa.timestamp(unit, zone), 2**62, LAST, LAST - 1, -LAST, -LAST - 1)
    for unit in ("s", "ms", "us", "ns")
    for zone in (None, "Asia/Tokyo")
}


def stored(table, form, folder):
    """The table, or a file of it."""
    if form == "arrow":
        return table
    path = folder / f"t{len(table)}.{form}"
    if form == "feather":
        feather.write_feather(table, path)
    else:
        parquet.write_table(table, path)
    return path


@pytest.mark.parametrize(
    ("hostile", "form"),
    [*((hostile, "arrow") for hostile in HOSTILE)]
    + [(hostile, "parquet") for hostile in HOSTILE if hostile[:2] != "s "],  # which has no moments in seconds
)
def test_a_cell_of_arrow_is_an_error_to_nobody(tmp_path, hostile, form):
    column, schema = HOSTILE[hostile], schema_of({kind: kind for kind in TYPES})
    table = pa.table({"who": [*map(str, range(len(column)))]} | dict.fromkeys(TYPES, column))
    with_it, without = (stored(part, form, tmp_path) for part in (table, table[:2]))
    found = read(DuckDB, with_it, schema)
    assert found == read(Reference, with_it, schema)
    assert {who: found[who] for who in "01"} == read(DuckDB, without, schema) == read(Reference, without, schema)


@pytest.mark.parametrize("bad", NOT_UNICODE)
def test_a_unit_whose_name_is_not_unicode_is_left_out(tmp_path, bad):
    schema, table = schema_of({"n": "integer"}), pa.table({"who": text([b"a", bad, b"b"]), "n": [1, 2, 3]})
    for form in ("arrow", "feather", "parquet"):
        data = stored(table, form, tmp_path)
        assert read(DuckDB, data, schema) == read(Reference, data, schema) == {"a": (1,), "b": (3,)}


@pytest.mark.parametrize("digits", [1, 10, 37, 38])
def test_a_unit_that_is_no_whole_number_is_left_out_however_large(tmp_path, digits):
    """Rounded down, the lowest has a digit more than a decimal of 38."""
    fine, whole = f"{10**38 - 1}e-{digits}", str(10 ** (38 - digits) - 1)
    units = [None, *(D(f"{sign}{cell}") for cell in (fine, "0.5", whole) for sign in "+-")]
    table = pa.table({"who": pa.array(units, pa.decimal128(38, digits)), "n": range(len(units))})
    schema = schema_of({"n": "integer"})
    for form in ("arrow", "feather", "parquet"):
        data = stored(table, form, tmp_path)
        found = read(DuckDB, data, schema)
        assert found == read(Reference, data, schema)
        assert found.keys() == ({whole, f"-{whole}"} if digits < 38 else {"0"})


@pytest.mark.parametrize("copies", [False, True])
def test_a_cell_far_down_in_a_file_is_no_error(tmp_path, copies):
    n = 300_000
    schema, path = schema_of({"n": "text"}, unit="row"), tmp_path / "t.parquet"
    table = pa.table({"n": text([*(b"%d" % i for i in range(n)), b"\xff"])})
    parquet.write_table(table, path, row_group_size=20_000, use_dictionary=False)
    with DuckDB(tmp_path / "copies" if copies else None) as tested:
        tested.register(Table(path, schema), KEY)
        assert tested.answer(QueryPlan(schema.scan(), (), (RowCount(),))).cells[0].tolist() == [n + 1]


def test_old_moments_of_parquet_and_folders_that_look_like_columns(tmp_path):
    (tmp_path / "who=9").mkdir()
    path, schema = tmp_path / "who=9" / "t.parquet", schema_of({"at": "timestamp"})
    cells = [moment(1, 1, 1), moment(2020, 2, 29, 5), moment(9999, 12, 31, 23, 59, 59)]
    table = pa.table({"who": [1, 2, 3], "at": pa.array(cells, pa.timestamp("us"))})
    parquet.write_table(table, path, use_deprecated_int96_timestamps=True)
    expected = {str(i): (steps(cell, schema["at"]),) for i, cell in enumerate(cells, 1)}
    assert read(DuckDB, path, schema) == read(Reference, path, schema) == expected


@pytest.mark.parametrize(
    ("cells", "kind", "plain", "hostile"),
    [
        ([moment(2020, 2, 29, 5)], "timestamp", struct.pack("<qi", 5 * 3600 * 10**9, 2458909), bytes(12)),
        ([moment(2020, 2, 29, 5)], "timestamp", struct.pack("<qi", 5 * 3600 * 10**9, 2458909), b"\xff" * 8 + bytes(4)),
        ([D("77.77")], "real", struct.pack("<i", 7777), struct.pack("<i", 2**30 + 5)),
    ],
    ids=["day 0", "before it", "digits"],
)
def test_one_cell_does_not_choose_how_others_are_read(tmp_path, cells, kind, plain, hostile):
    """DuckDB reads some cells of these types otherwise than Arrow, which reads them all if one text is not Unicode."""
    kept = pa.array(cells * 3, pa.timestamp("us") if kind == "timestamp" else pa.decimal128(4, 2))
    schema, found = schema_of({"x": kind, "note": "text"}), []
    for note in (b"QQQQ", b"\xff\xfe\xfd\xfc"):
        table, path = pa.table({"who": [1, 2, 3], "x": kept, "note": ["", "", "QQQQ"]}), tmp_path / "t.parquet"
        old = {"use_deprecated_int96_timestamps": True, "store_decimal_as_integer": True}
        parquet.write_table(table, path, compression="none", use_dictionary=False, write_statistics=False, **old)
        written = path.read_bytes()
        assert written.count(plain) == 3 and written.count(b"QQQQ") == 1
        path.write_bytes(written.replace(plain, hostile).replace(b"QQQQ", note))
        assert read(DuckDB, path, schema) == read(Reference, path, schema)
        found.append(read(DuckDB, path, schema))
    assert all(found[0][who] == found[1][who] for who in "12")


def test_a_parquet_file_without_a_column_is_refused_by_name(tmp_path):
    parquet.write_table(pa.table({"who": [1]}), tmp_path / "t.parquet")
    for factory in (DuckDB, Reference):
        with factory() as tested, pytest.raises(BadData, match="'n'"):
            tested.register(Table(tmp_path / "t.parquet", schema_of({"n": "text"})), KEY)


@pytest.mark.parametrize("form", ["arrow", "parquet", "rows", "pandas"])
def test_rows_are_counted_where_no_column_is_declared(tmp_path, form):
    table = pa.table({"a": [1, 2, 3]})
    given = {"rows": table.to_pylist(), "pandas": table.to_pandas()}
    data = given[form] if form in given else stored(table, form, tmp_path)
    schema = schema_of({}, unit="row")
    for factory in (DuckDB, Reference):
        with engine(factory, [Table(data, schema)], KEY) as tested:
            assert tested.answer(QueryPlan(schema.scan(), (), (RowCount(),))).cells[0].tolist() == [3]


def test_columns_of_pandas_that_arrow_cannot_take_out_of_dictionaries_are_read():
    """Intervals, as `pandas.cut` makes them; and one number that no comparison bears."""
    table = {"table": {"name": "t", "unit": "row", "rows": 1}, "columns": {"c": {"type": "category", "values": ["x"]}}}
    for cells in (pd.cut([0.5, 1.5], [0, 1, 2]), pd.Series(["x", decimal.Decimal("sNaN")], dtype=object)):
        with DuckDB() as database:
            made = Table(pd.DataFrame({"c": cells}), table)
            database.register(made, "0" * 32)
            assert database.answer(QueryPlan(made.schema.scan(), (), (RowCount(),))).cells[0].tolist() == [2]
