"""CSV: a line that is not as it should be changes itself alone, and DuckDB reads it as the reference does."""

from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tacit.core.errors import BadData
from tacit.engines.duckdb import loading
from tacit.engines.duckdb.engine import DuckDB
from tacit.engines.rows.reference import Reference
from tacit.engines.rows.sources import DataSource
from tacit.query.python.table import Table
from tacit.query.schema.csv import records
from tacit.query.schema.schema import Schema
from tacit.testing.engines import engine

KEY = "0123456789abcdef" * 2
GOOD = [b"u%d,%d,ok" % (i, i % 100) for i in range(30)]
MALFORMED = [
    (b'm,1,"x"""a"', '"x"""a"'),
    (b'm,1,"a" "b"', "a b"),
    (b'm,1,"a"b"c"', '"a"b"c"'),
    (b'm,1,"open', '"open'),
    (b'm,1,"""', '"""'),
    (b'm,1,a"b', 'a"b'),
    (b'm,1, "a,b" ', "a,b"),
    (b"m,1", None),
    (b"m,1,a,b,c", "a"),
    (b"m,1,\xff", None),
    (b'm,1,"\xff,"', None),
    (b"m,1,", None),
    (b'm,1,""', None),
]
PIECES = [b'"', b'"', b",", b"a", b" ", b"\r", b"\n", b"\xff", b"\x00", b"\\", b"\r\n"]
CELLS = [b"a", b"1", b"", b'"q,q"', b'"x""y"', b'"l\nl"', b'""', "é".encode(), b" s ", b' "z" ', b'a"b']


def schema(columns, unit="u"):
    rows = {} if unit == "row" else {"rows": 100}
    facts = {"table": {"name": "t", "unit": unit, **rows}, "columns": {name: {"type": "text"} for name in columns}}
    return Schema.load(facts)


def held(factory, path, schema):
    """The rows that an engine has, and how often; those that are units themselves have no names."""
    with engine(factory, [Table(path, schema)], KEY) as tested:
        if isinstance(tested, Reference):
            of_unit = [() if schema.unit is None else (unit,) for unit, _ in tested._tables["t"][0]]
            rows = [(*u, *row.values()) for u, (_, row) in zip(of_unit, tested._tables["t"][0], strict=True)]
        else:
            rows = tested._database.execute(f"FROM {tested._tables['t'].source.sql()}").fetchall()
        return Counter(tuple(row) for row in rows)


@pytest.mark.parametrize("at", [0, 10, 30])
@pytest.mark.parametrize(("line", "text"), MALFORMED)
def test_a_malformed_line_changes_itself_alone(tmp_path, line, text, at):
    path, asked = tmp_path / "t.csv", schema(["x", "s"])
    path.write_bytes(b"\n".join([b"u,x,s", *GOOD[:at], line, *GOOD[at:], b'v,1,"q"', b""]))
    expected = Counter({(f"u{i}", str(i), "ok"): 1 for i in range(30)} | {("m", "1", text): 1, ("v", "1", "q"): 1})
    assert held(DuckDB, path, asked) == held(Reference, path, asked) == expected


@pytest.mark.parametrize("header", [b'u,x,"s', b'u,x,"s"t'])
def test_a_header_whose_quotes_do_not_fit_takes_nobody_away(tmp_path, header):
    path = tmp_path / "t.csv"
    path.write_bytes(b"\n".join([header, *GOOD, b""]))
    asked = schema(["x"])
    assert held(DuckDB, path, asked) == held(Reference, path, asked) and held(DuckDB, path, asked).total() == 30


def test_a_line_longer_than_a_database_reads_is_read(tmp_path):
    path, asked = tmp_path / "t.csv", schema(["x"])
    path.write_bytes(b"u,x,s\na,1,q\nm,1," + b"z" * 40_000_000 + b"\nb,2,q\n")
    assert held(DuckDB, path, asked) == Counter({("a", "1"): 1, ("m", "1"): 1, ("b", "2"): 1})


@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b"\r"])
def test_a_blank_line_is_a_row_where_there_is_one_column(tmp_path, ending):
    path = tmp_path / "t.csv"
    path.write_bytes(ending.join([b"x", b"1", b"", b"2", b'""', b"3", b""]))
    expected = Counter({("1",): 1, ("2",): 1, ("3",): 1, (None,): 2})
    assert held(DuckDB, path, schema(["x"], "row")) == held(Reference, path, schema(["x"], "row")) == expected
    path.write_bytes(ending.join([b"x,y", b"1,", b"", b"2,", b""]))
    expected = Counter({("1",): 1, ("2",): 1})
    assert held(DuckDB, path, schema(["x"], "row")) == held(Reference, path, schema(["x"], "row")) == expected


def test_rows_without_columns_are_counted_whatever_they_hold(tmp_path):
    path, asked = tmp_path / "t.csv", schema([], "row")
    for content in (b"x,y\n1,2\n3,4\n", b'x,y\n1,"2\n3,4\n'):
        path.write_bytes(content)
        assert held(DuckDB, path, asked).total() == held(Reference, path, asked).total() == 2


def test_names_that_are_not_there_are_missed(tmp_path):
    for content in (b"", b"\n", "u,x\na,1\n".encode("utf-16"), b"u,\xff\na,1\n"):
        path = tmp_path / "t.csv"
        path.write_bytes(content)
        for factory in (DuckDB, Reference):
            with pytest.raises(BadData):
                held(factory, path, schema(["x"]))


def test_a_whole_file_is_read_by_the_database(tmp_path, monkeypatch):
    path, asked = tmp_path / "t.csv", schema(["x", "s"])
    monkeypatch.setattr(DataSource, "texts", lambda _: pytest.fail("read line by line"))
    assert "strict_mode = true" in loading._CSV
    for ending in (b"\n", b"\r\n"):
        path.write_bytes(ending.join([b'"u","x","s"', *GOOD, b'v,1,"a ""quote"", and\nan end"', b"", b""]))
        assert held(DuckDB, path, asked).total() == 31


rubbish = st.lists(st.sampled_from(PIECES), max_size=8).map(b"".join)


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 3), st.sampled_from([b"\n", b"\r\n", b"\r"]), st.data())
@example(1, b"\n", None)
def test_whatever_the_lines_hold_both_read_the_same(tmp_path_factory, columns, ending, data):
    cells = st.lists(st.sampled_from(CELLS), min_size=columns, max_size=columns).map(b",".join)
    lines = [b"", b" ", b"\r", b'"'] if data is None else data.draw(st.lists(cells | rubbish, max_size=6))
    path, names = tmp_path_factory.getbasetemp() / "any.csv", [f"c{i}" for i in range(columns)]
    path.write_bytes(ending.join([",".join(names).encode(), *lines]))
    asked = schema(names[-2:], "row")
    assert held(DuckDB, path, asked) == held(Reference, path, asked)


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        (b'"a","b"', ["a", "b"]),
        (b'"a",', ["a", ""]),
        (b',"a"', ["", "a"]),
        (b',,"",', ["", "", "", ""]),
        (b'"a,""b""\nc",d', ['a,"b"\nc', "d"]),
        (b'"a,b,c', ['"a', "b", "c"]),
    ],
)
def test_fields_are_between_commas(line, fields):
    assert list(records(line)) == list(records(b"\xef\xbb\xbf" + line + b"\r\n")) == [fields]


def test_many_quotes_take_linear_time():
    for line in (b'"a,', b'"""a,', b'"",""', b'a,"', b'"' * 3):
        assert sum(1 for _ in records(b"\n".join([line] * 100_000))) >= 50_000
