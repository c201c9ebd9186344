"""A schema means what it says, is written as it was read, and says what is wrong with it; nothing is read from data."""

import datetime
import os
import tomllib
from fractions import Fraction

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.errors import BadParameter, BadQuestion, BadSchema
from tacit.engines.rows.sources import DataSource
from tacit.query.python.table import Table
from tacit.query.relation import build
from tacit.query.schema.draft import describe
from tacit.query.schema.public_table import PublicTable
from tacit.query.schema.schema import ColumnType, Schema
from tacit.query.values.column_types import power
from tacit.query.values.domain import BOOLEAN, TEXT, ValueDomain, category, number

TEXT_OF = """
[table]
name = "people"
unit = "person_id"
rows = 10
groups = 3
size = 100000
partition = "region"
[columns.age]
type = "integer"
lower = 0
upper = 120
[columns."what they spend"]
type = "real"
lower = 0
upper = 500
grid = 0.0078125
total = [10, 2000]
[columns.region]
type = "category"
values = ["north", "south", "a \\"b\\" \\\\ é"]
[columns.joined]
type = "date"
lower = 2015-01-01
upper = 2025-12-31
[columns.seen]
type = "timestamp"
lower = 2015-01-01T02:00:00+02:00
upper = 2025-12-31T00:00:00
[columns.member]
type = "boolean"
[columns.note]
type = "text"
[columns.person_id]
type = "integer"
"""


def test_a_schema_means_what_it_says():
    schema = Schema.load(TEXT_OF)
    assert (schema.name, schema.unit, schema.rows) == ("people", "person_id", 10)
    assert (schema.groups, schema.size, schema.partition) == (3, 100_000, "region")
    assert dict(schema.columns) == {
        "age": ColumnType("integer", number(0, 120)),
        "what they spend": ColumnType("real", number(0, 64_000, Fraction(1, 128)), (0, 256_000)),
        "region": ColumnType("category", category("north", "south", 'a "b" \\ é')),
        "joined": ColumnType("date", ValueDomain("date", 16436, 20453)),
        "seen": ColumnType("timestamp", ValueDomain("timestamp", 16436 * 86400, 20453 * 86400)),
        "member": ColumnType("boolean", BOOLEAN),
        "note": ColumnType("text", TEXT),
    }
    assert schema.domain("age") == number(0, 120)
    assert schema.scan().rows == 10
    assert list(schema.scan().columns) == [name for name, _ in schema.columns]
    with pytest.raises(BadParameter, match="one of age"):
        schema.domain("height")


def test_what_is_not_declared_has_the_limits_of_its_type():
    columns = {kind: {"type": kind} for kind in ("integer", "real", "date", "timestamp")}
    schema = Schema.load({"table": {"name": "t", "unit": "row"}, "columns": columns})
    assert schema.unit is None
    assert schema.rows == 1
    assert schema.domain("integer") == number(-(2**40), 2**40, declared=False)
    assert schema.domain("real") == number(-(2**40), 2**40, Fraction(1, 1024), declared=False)
    assert schema.domain("date").label(schema.domain("date").lower) == datetime.date.min
    assert schema.domain("date").label(schema.domain("date").upper) == datetime.date.max
    assert schema.domain("timestamp").label(schema.domain("timestamp").upper) == datetime.datetime(
        9999, 12, 31, 23, 59, 59
    )
    assert not any(column.domain.declared for _, column in schema.columns)


def real(**facts):
    return Schema.load({"table": {"name": "t", "unit": "row"}, "columns": {"x": {"type": "real", **facts}}})["x"]


def test_bounds_go_to_the_nearest_step():
    assert real(lower=0.1, upper=0.9, grid=0.25).domain == number(0, 4, Fraction(1, 4))
    assert real(lower=-0.125, upper=0.125, grid=0.25).domain == number(0, 1, Fraction(1, 4))
    assert real(lower=3, upper=3).domain == number(3 * 1024, 3 * 1024, Fraction(1, 1024))
    assert real(total=[0.3, 0.3], grid=0.25).total == (0, 2)


@given(st.fractions(-(10**12), 10**12), st.fractions(Fraction(1, 10**6), 10**12))
def test_the_grid_has_2_to_the_30_steps_unless_doubles_have_fewer(lower, width):
    domain = real(lower=lower, upper=lower + width).domain
    assert power(domain.grid) == domain.grid
    assert max(abs(domain.lower), abs(domain.upper)) <= 1 << 52
    finest = domain.grid / 2 * (1 << 52) <= 2 * max(abs(lower), abs(lower + width))
    assert finest or (width / 2**31 < domain.grid <= width / 2**30)


names = st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1, max_size=128)
decimals = st.decimals(-(10**6), 10**6, places=4)
bounds = st.tuples(decimals, decimals).map(sorted)


def bounded(kind, pairs):
    return pairs.map(lambda pair: {"type": kind, "lower": pair[0], "upper": pair[1]})


columns = st.one_of(
    st.sampled_from(["integer", "real", "boolean", "date", "timestamp", "text"]).map(lambda kind: {"type": kind}),
    bounded("integer", st.tuples(st.integers(-(2**62), 2**62), st.integers(-(2**62), 2**62)).map(sorted)),
    bounded("real", bounds),
    st.tuples(bounds, st.integers(-8, 8)).map(
        lambda b: {"type": "real", "lower": b[0][0], "upper": b[0][1], "grid": Fraction(2) ** b[1], "total": b[0]}
    ),
    bounded("date", st.tuples(st.dates(), st.dates()).map(sorted)),
    bounded("timestamp", st.tuples(st.datetimes(), st.datetimes()).map(sorted)),
    st.lists(names | st.just(""), min_size=1, max_size=4, unique=True).map(
        lambda values: {"type": "category", "values": values}
    ),
)


@given(
    st.dictionaries(names.filter(lambda name: name.casefold() not in ("id", "row")), columns, max_size=4),
    st.sampled_from(["row", "id"]),
    st.none() | st.integers(1, 10**9),
)
def test_what_is_written_is_read_again(columns, unit, size):
    folded = [name.casefold() for name in columns]
    columns = {name: facts for name, facts in columns.items() if folded.count(name.casefold()) == 1}
    schema = Schema.load({"table": {"name": "t", "unit": unit, "rows": 1, "size": size}, "columns": columns})
    again = Schema.load(schema.dumps())
    assert again == schema
    assert again.dumps() == schema.dumps()
    assert again.digest == schema.digest
    tomllib.loads(schema.dumps())


def test_the_digest_tells_meanings_apart():
    schema = Schema.load(TEXT_OF)
    assert (
        Schema.load(TEXT_OF.replace("lower = 0\nupper = 500\n", "lower = 0.0\nupper = 5e2\n")).digest == schema.digest
    )
    assert Schema.load(TEXT_OF.replace("upper = 120", "upper = 121")).digest != schema.digest
    assert Schema.load(TEXT_OF.replace("size = 100000\n", "")).digest != schema.digest


PARTS = '[table]\nname = "t"\nunit = "row"\npartition = "g"\n[columns.g]\ntype = "category"\nvalues = ["a", "{}"]\n'
AGE = '[columns.age]\ntype = "integer"\nlower = 0\nupper = 120\n'
BAD = [
    ("[table", "TOML"),
    ("a = 1\na = 2", "TOML"),
    ("\nx = " + "[" * 100_000, "TOML"),
    ("\nx = " + "9" * 5000, "TOML"),
    ("[columns.age]\ntype = 'text'", "table must be"),
    ("table = 3\n", "table must be a table of TOML; got 3"),
    ("[table]\nunit = 'row'", "table.name must be"),
    ("[table]\nname = 'People'\nunit = 'row'", "small letter"),
    ("[table]\nname = '../etc'\nunit = 'row'", "small letter"),
    ("[table]\nname = 'a\u0661'\nunit = 'row'", "small letter"),
    (f"[table]\nname = '{'a' * 64}'\nunit = 'row'", "small letter"),
    ("[table]\nname = 't'\n", "table.unit must be"),
    ("[table]\nname = 't'\nunit = ''", "table.unit must be"),
    ('[table]\nname = "t"\nunit = "a\\u0000"', "table.unit must be"),
    ("[table]\nname = 't'\nunit = ['id']", "table.unit must be"),
    ("[table]\nname = 't'\nunit = 'id'", "rows must be given"),
    ("[table]\nname = 't'\nunit = 'id'\nrows = 0", "whole number from 1"),
    ("[table]\nname = 't'\nunit = 'id'\nrows = true", "whole number from 1"),
    ("[table]\nname = 't'\nunit = 'id'\nrows = 1.0", "whole number from 1"),
    ("[table]\nname = 't'\nunit = 'row'\nrows = 2", "1 or left out"),
    ("[table]\nname = 't'\nunit = 'row'\ngroups = -1", "groups must be"),
    ("[table]\nname = 't'\nunit = 'row'\nsize = 'big'", "size must be"),
    ("[table]\nname = 't'\nunit = 'row'\nepsilon = 1", "has no key 'epsilon'"),
    (
        "[table]\nname = 't'\nunit = 'id'\nrow = 3",
        "has no key 'row'; the keys are name, unit, rows, groups, size, partition, version, engine, source",
    ),
    ("[tabel]\nname = 't'\nunit = 'row'", "has no key 'tabel'; the keys are table, columns"),
    ("[table]\nname = 't'\nunit = 'row'\npartition = 'age'\n" + AGE, "type category"),
    ("[table]\nname = 't'\nunit = 'row'\npartition = 'nowhere'", "type category"),
    ("[table]\nname = 't'\nunit = 'row'\npartition = ['age']\n" + AGE, "type category"),
    (PARTS.format("x" * 199), "printable characters"),
    (PARTS.format("\\u00a0"), "printable characters"),
    ("[table]\nname = 't'\nunit = 'row'\n[privacy]\nepsilon = 1", "has no key 'privacy'"),
    ("[table]\nname = 't'\nunit = 'Age'\nrows = 1\n" + AGE, "different from one another"),
    (AGE + "[columns.AGE]\ntype = 'text'", "different from one another"),
    ("[columns.row]\ntype = 'text'", "called otherwise"),
    ("[columns.'']\ntype = 'text'", "1 to 128 characters"),
    (f"[columns.{'a' * 129}]\ntype = 'text'", "1 to 128 characters"),
    ('[columns."a\\nb"]\ntype = "text"', "control characters"),
    ("columns = 3\n", "got 3"),
    ("[columns]\nage = 3", "columns.age must be a table"),
    ("[columns.age]\nlower = 3", "columns.age.type must be one of integer"),
    ("[columns.age]\ntype = 'int'", "got 'int'"),
    ("[columns.age]\ntype = ['integer']", "columns.age.type must be one of"),
    ("[columns.age]\ntype = 'integer'\nlower = 3", "both lower and upper"),
    ("[columns.age]\ntype = 'integer'\nlower = 3\nupper = 2", "columns.age.lower must be at most upper"),
    ("[columns.age]\ntype = 'integer'\nlower = 3\nupper = 4.0", "columns.age.upper must be a whole number"),
    ("[columns.age]\ntype = 'integer'\nlower = false\nupper = 4", "columns.age.lower must be a number"),
    ("[columns.age]\ntype = 'integer'\nlower = 0\nupper = 4611686018427387905", "2^62 steps"),
    ("[columns.age]\ntype = 'integer'\ngrid = 2", "has no key 'grid'"),
    (
        "[columns.age]\ntype = 'integer'\nlower = 0\nuper = 2",
        "has no key 'uper'; the keys are type, lower, upper, total",
    ),
    ("[columns.age]\ntyp = 'integer'", "has no key 'typ'"),
    ("[columns.age]\ntype = 'category'\nvalue = ['a']", "has no key 'value'"),
    ("[columns.age]\ntype = 'integer'\nvalues = ['a']", "has no key 'values'"),
    ("[columns.x]\ntype = 'real'\nlower = nan\nupper = 1", "columns.x.lower must be a finite number"),
    ("[columns.x]\ntype = 'real'\nlower = 0\nupper = inf", "columns.x.upper must be a finite number"),
    ("[columns.x]\ntype = 'real'\nlower = 0\nupper = [1]", "columns.x.upper must be a number"),
    ("[columns.x]\ntype = 'real'\ngrid = 0.1", "power of two"),
    ("[columns.x]\ntype = 'real'\ngrid = 0", "power of two"),
    ("[columns.x]\ntype = 'real'\ngrid = -2", "power of two"),
    ("[columns.x]\ntype = 'real'\ngrid = 3", "power of two"),
    ("[columns.x]\ntype = 'real'\nlower = 0\nupper = 1e300", "columns.x.upper must be within 2^286 of zero"),
    ("[columns.x]\ntype = 'real'\nlower = -1e300\nupper = 1", "columns.x.lower must be within 2^286 of zero"),
    (f"[columns.x]\ntype = 'real'\ngrid = {2**257}", "columns.x.grid must be between 2^-256 and 2^256"),
    ("[columns.x]\ntype = 'real'\nlower = 0\nupper = 1e12\ngrid = 0.0000019073486328125", "2^52 steps"),
    ("[columns.x]\ntype = 'real'\ntotal = 3", "a list of two"),
    ("[columns.x]\ntype = 'real'\ntotal = [3, 2]", "lower first"),
    ("[columns.x]\ntype = 'real'\ntotal = [0, 1e30]", "2^62 steps"),
    ("[columns.x]\ntype = 'real'\ntotal = ['a', 1]", "columns.x.total must be"),
    ("[columns.c]\ntype = 'category'", "columns.c.values must be a list"),
    ("[columns.c]\ntype = 'category'\nvalues = []", "columns.c.values must be a list"),
    ("[columns.c]\ntype = 'category'\nvalues = 'ab'", "columns.c.values must be a list"),
    ("[columns.c]\ntype = 'category'\nvalues = [1]", "text, in quotes"),
    ("[columns.c]\ntype = 'category'\nvalues = ['a', 'a']", "different from one another"),
    ('[columns.c]\ntype = "category"\nvalues = ["\\u0000"]', "control characters"),
    ("[columns.d]\ntype = 'date'\nlower = '2015-1-1'\nupper = 2016-01-01", "a date, such as 2015-01-01"),
    ("[columns.d]\ntype = 'date'\nlower = 2015-01-01T00:00:00\nupper = 2016-01-01", "a date, such as 2015-01-01"),
    ("[columns.d]\ntype = 'date'\nlower = 2017-01-01\nupper = 2016-01-01", "at most upper"),
    ("[columns.d]\ntype = 'timestamp'\nlower = 2015-01-01\nupper = 2016-01-01", "a date and a time, such as"),
    ("[columns.d]\ntype = 'boolean'\nlower = 0", "has no key 'lower'"),
    ("[columns.d]\ntype = 'text'\nupper = 'z'", "has no key 'upper'"),
]


@pytest.mark.parametrize(("text", "fragment"), BAD, ids=range(len(BAD)))
def test_a_bad_schema_is_refused_by_name(text, fragment):
    if "[table" not in text and not text.startswith(("table", "a =", "\nx =", "[columns.age]\ntype = 'text'")):
        head = "[table]\nname = 't'\nunit = 'row'\n"
        text = text + head if text.startswith("columns") else head + text
    with pytest.raises(BadSchema) as caught:
        Schema.load(text if "\n" in text else f"{text}\n")
    assert fragment in str(caught.value)
    assert len(str(caught.value)) < 600


def test_a_schema_file_is_named_in_its_errors(tmp_path):
    path = tmp_path / "people.toml"
    path.write_text(TEXT_OF)
    assert Schema.load(path) == Schema.load(str(path)) == Schema.load(TEXT_OF)
    path.write_text(TEXT_OF.replace("upper = 120", "upper = -1"))
    with pytest.raises(BadSchema, match=r"people\.toml: columns\.age\.lower must be at most upper; got 0"):
        Schema.load(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(BadSchema, match="UTF-8"):
        Schema.load(path)


def places(folder):
    """What is no table, in a folder."""
    os.mkfifo(folder / "pipe.parquet")
    (folder / "folder.csv").mkdir()
    (folder / "people.zip").write_bytes(b"PK")
    (folder / "people.parquet.gz").write_bytes(b"\x1f\x8b")
    (folder / "link.csv").symlink_to(folder / "people.zip")
    (folder / "loop.csv").symlink_to(folder / "loop.csv")
    (folder / "null.csv").symlink_to("/dev/null")
    (folder / "proc.csv").symlink_to("/proc/self/status")
    return [*folder.iterdir(), folder / "absent.csv", "a\0b.csv", "a\n.csv", "", "/dev/zero", "http://host/a.csv"]


def test_only_regular_files_are_tables(tmp_path):
    for place in places(tmp_path):
        for declare in (lambda p: Table(p, TEXT_OF), lambda p: PublicTable(p, "geo"), describe):
            with pytest.raises(BadSchema, match="data must be"):
                declare(place)


def test_a_link_is_followed_once(tmp_path):
    for name in ("one", "two"):
        (tmp_path / f"{name}.csv").write_text("id\n")
    link = tmp_path / "link.csv"
    link.symlink_to("one.csv")
    table = Table(str(tmp_path / "." / ".." / tmp_path.name / "link.csv"), TEXT_OF)
    link.unlink()
    link.symlink_to("two.csv")
    assert table.data == (tmp_path / "one.csv").resolve()


def test_a_table_holds_its_data_and_its_schema_and_shows_no_value(tmp_path):
    poison = tmp_path / "people.csv"
    poison.write_bytes(b"\xff" * 100)
    assert Table(poison, TEXT_OF).data == poison
    rows = [{"person_id": "secret"}]
    table = Table(rows, TEXT_OF, unit="person_id", name="others")
    assert table.data is rows
    assert table.schema.name == "others"
    assert "secret" not in repr(table)
    assert "secret" not in repr(PublicTable(rows, "geo"))
    with pytest.raises(BadSchema, match="'person_id', as the schema says"):
        Table(rows, TEXT_OF, unit="id")
    with pytest.raises(BadSchema, match="small letter"):
        Table(rows, TEXT_OF, name="Others")
    with pytest.raises(BadSchema, match="data must be a path"):
        Table({"secret": [1]}, TEXT_OF)
    with pytest.raises(AttributeError):
        table.data = []


def completed(text):
    return Schema.load(text.replace('# unit = "..."', 'unit = "id" #').replace("# rows = ...", "rows = 3 #"))


MEANT = {  # of what types the cells may be of which a column of a type can have any that is not missing
    "integer": "integer real boolean text",
    "real": "integer real boolean text",
    "boolean": "integer real boolean text",
    "category": "integer boolean text",
    "date": "date timestamp text",
    "timestamp": "date timestamp text",
    "text": "integer text",
    "unit": "integer real text",
}
HELD = {
    "integer": [pa.int8(), pa.uint64(), pa.decimal128(5, 0)],
    "real": [pa.float32(), pa.decimal128(5, 2)],
    "boolean": [pa.bool_()],
    "text": [pa.string(), pa.dictionary(pa.int8(), pa.string()), pa.null(), pa.uuid()],
    "date": [pa.date32()],
    "timestamp": [pa.timestamp("us"), pa.timestamp("ns", "UTC")],
    "nothing": [
        pa.binary(),
        pa.binary(16),
        pa.time64("us"),
        pa.duration("s"),
        pa.list_(pa.int8()),
        pa.decimal128(5, -2),
    ],
}
BOUNDS = {"integer": {"lower": 0, "upper": 1}, "real": {"lower": 0, "upper": 1}, "category": {"values": ["1", "true"]}}


@pytest.mark.parametrize("said", MEANT)
@pytest.mark.parametrize("held", HELD)
def test_a_column_of_which_no_cell_could_mean_anything_is_refused(tmp_path, said, held):
    for kind in HELD[held]:
        data = pa.table({"x": pa.nulls(1, kind), "id": ["a"]})
        columns = {} if said == "unit" else {"x": {"type": said, **BOUNDS.get(said, {})}}
        facts = {"table": {"name": "t", "unit": "x" if said == "unit" else "id", "rows": 1}, "columns": columns}
        pa.feather.write_feather(data, tmp_path / "t.feather", compression="uncompressed")
        for table in (Table(data, facts), Table(tmp_path / "t.feather", facts)):
            if held in MEANT[said].split():
                table.check()
            else:
                reason = (
                    "left out, as times, lists and the like"
                    if held == "nothing"
                    else "a type that .* have a meaning in"
                )
                with pytest.raises(BadSchema, match="name nobody" if said == "unit" else reason):
                    table.check()


def test_a_unit_that_is_no_column_is_told_as_the_unit():
    said = r"^The unit 'nope' of the schema is not a column of the data; the columns are id, age\.$"
    facts = {"table": {"name": "t", "unit": "nope", "rows": 1}, "columns": {"age": {"type": "text"}}}
    with pytest.raises(BadSchema, match=said):
        Table(pa.table({"id": ["a"], "age": [3]}), facts).check()


def test_what_frames_declare_is_looked_at_and_what_their_objects_are_is_not():
    facts = {"table": {"name": "t", "unit": "x", "rows": 1}, "columns": {}}
    moment = datetime.datetime(2020, 1, 1)
    for cell in (True, moment, datetime.timedelta(1), 1j):
        with pytest.raises(BadSchema, match="name nobody"):
            Table(pd.DataFrame({"x": [cell]}), facts).check()
        Table(pd.DataFrame({"x": pd.Series([cell], dtype=object)}), facts).check()
    for cell in (b"x", moment.date(), moment, moment.time(), [1], True):
        with pytest.raises(BadSchema, match="name nobody"):
            Table(pl.DataFrame({"x": [cell]}), facts).check()
    for cell in ("a", 3, 3.0):
        Table(pd.DataFrame({"x": [cell]}), facts).check()
        Table(pl.DataFrame({"x": [cell]}), facts).check()
    coded = {"table": {"name": "t", "unit": "row"}, "columns": {"x": {"type": "category", "values": ["1", "2"]}}}
    for library in (pd, pl):
        Table(library.DataFrame({"x": [1, 2]}), coded).check()
    with pytest.raises(BadSchema, match="real values"):
        Table(pl.DataFrame({"x": [1.0, 2.0]}), coded).check()
    Table(pd.DataFrame({"x": [1.0, None]}), coded).check()  # of which pandas makes the same
    dated = coded | {"columns": {"x": {"type": "date"}}}
    with pytest.raises(BadSchema, match="integer values"):
        Table(pd.DataFrame({"x": [1.0, None]}), dated).check()
    Table(pd.DataFrame({"x": pd.array([1, None], "Int64")}), coded).check()
    with pytest.raises(BadSchema, match="times, lists and the like"):
        Table(pd.DataFrame({"x": pd.interval_range(0, 1)}), coded).check()


@pytest.mark.parametrize("data", [pd.Series([1]), pl.Series([1]), pl.LazyFrame({"x": [1]})])
def test_what_is_no_whole_table_is_refused(data, recwarn):
    with pytest.raises(BadSchema, match=r"collect\(\) what is lazy"):
        Table(data, {"table": {"name": "t", "unit": "row"}})
    assert not recwarn.list


@pytest.mark.parametrize("source", [3, None, b"x", [1]])
def test_what_is_no_schema_is_refused(source):
    with pytest.raises(BadSchema, match="^schema must be" if source is not None else "^Pass schema="):
        Table([], source)


def test_of_a_csv_file_only_the_first_line_is_read(tmp_path):
    path = tmp_path / "My people 2020.csv"
    path.write_bytes(b'\xef\xbb\xbfid,"a, ""b""",age\r\n' + b"\xff\x00\xfe,secret\n" * 9)
    text = describe(path)
    assert "secret" not in text
    schema = completed(text)
    assert schema.name == "my_people_2020"
    assert schema.columns == (('a, "b"', ColumnType("text", TEXT)), ("age", ColumnType("text", TEXT)))
    with pytest.raises(BadSchema, match="unit"):
        Schema.load(text)


@pytest.mark.parametrize(
    ("first", "says"),
    [
        ("", "^people.csv has no header line$"),
        ("\n1\n", "^people.csv has no header line$"),
        ("id,Day,day\n", "different in more than capitals; column 3 has the name of column 2$"),
        ("person_id;day;amount\n", "with commas between them; got 'semicolons and no commas'"),
        ("person_id\tday\n", "got 'tabs and no commas'"),
    ],
)
def test_a_first_line_without_names_or_with_other_marks_between_them_is_refused(tmp_path, first, says):
    (tmp_path / "people.csv").write_text(first)
    with pytest.raises(BadSchema, match=says):
        describe(tmp_path / "people.csv")


@pytest.mark.parametrize("unit", ["p", "row"])
def test_a_row_that_stands_where_names_should_is_not_shown(tmp_path, unit):
    path = tmp_path / "people.csv"
    path.write_text("alice@example.org,HIV positive,48213\nbob@example.org,healthy,1\n")
    schema = {"table": {"name": "people", "unit": unit, "rows": 1}, "columns": {"health": {"type": "text"}}}
    with pytest.raises(BadSchema, match="3 others; has the file a line of names") as caught:
        Table(path, schema).check()
    assert "alice" not in str(caught.value) and "HIV" not in str(caught.value)


@pytest.mark.parametrize("header", [b"\xff,a\n", b'"a\nb,c\n', b"secret,secret\n", b"secret,\n", b"secret,Secret\n"])
def test_a_first_line_that_is_no_header_is_not_shown(tmp_path, header):
    path = tmp_path / "people.csv"
    path.write_bytes(header)
    with pytest.raises(BadSchema) as caught:
        describe(path)
    assert "secret" not in str(caught.value).lower()


@pytest.mark.parametrize("content", ['id, "age"\n1,2\n', "id,age\r1,2\r", '\ufeff"id","age"\r\n1,2\r\n'])
def test_a_header_is_read_as_the_engine_reads_it(tmp_path, content):
    path = tmp_path / "people.csv"
    path.write_bytes(content.encode())
    assert {"id", "age"} <= tomllib.loads(describe(path))["columns"].keys()
    table = Table(path, {"table": {"name": "people", "unit": "id", "rows": 1}, "columns": {"age": {"type": "text"}}})
    assert DataSource(table.data, table.schema).header == ["id", "age"]


def test_of_other_files_only_names_and_types_are_read(tmp_path):
    arrow = {
        "id": pa.int64(),
        "age": pa.uint8(),
        "spend": pa.float32(),
        "price": pa.decimal128(9, 2),
        "number": pa.decimal128(9, 0),
        "member": pa.bool_(),
        "joined": pa.date32(),
        "seen": pa.timestamp("ns", "Asia/Tokyo"),
        "region": pa.dictionary(pa.int8(), pa.string()),
        "note": pa.large_string(),
        "blob": pa.binary(),
        "list": pa.list_(pa.int8()),
    }
    empty = pa.schema(arrow.items(), metadata={"pandas": "secret"}).empty_table()
    one = pa.Table.from_pylist([{"age": 117, "region": "secret", "note": "secret"}], empty.schema)
    texts = set()
    for name, table in (("empty", empty), ("one", one)):
        folder = tmp_path / name
        folder.mkdir()
        pa.parquet.write_table(table, folder / "people.parquet")
        pa.feather.write_feather(table, folder / "people.feather")
        with pa.ipc.new_stream(folder / "people.arrow", table.schema) as stream:
            stream.write_table(table)
        texts |= {describe(folder / f"people.{ending}") for ending in ("parquet", "feather", "arrow")}
    (text,) = texts  # the same, whatever the values and the statistics of them
    assert "secret" not in text
    assert "117" not in text
    assert {name: column.type for name, column in completed(text).columns} == {
        "age": "integer",
        "spend": "real",
        "price": "real",
        "number": "integer",
        "member": "boolean",
        "joined": "date",
        "seen": "timestamp",
        "region": "text",
        "note": "text",
    }
    assert '# The column "blob"' in text
    for ending in ("parquet", "arrow"):
        (tmp_path / f"people.{ending}").write_bytes(b"secret")
        with pytest.raises(BadSchema, match=f"must be a {ending} file; got 'another kind of file'"):
            describe(tmp_path / f"people.{ending}")


def test_no_page_of_a_parquet_file_is_read(tmp_path):
    path = tmp_path / "people.parquet"
    pa.parquet.write_table(pa.table({"id": [1, 2], "age": [30, 40]}), path, compression="none")
    before, content = describe(path), bytearray(path.read_bytes())
    footer = int.from_bytes(content[-8:-4], "little")
    content[4 : len(content) - 8 - footer] = b"\xff" * (len(content) - 12 - footer)
    path.write_bytes(content)
    assert describe(path) == before
    with pytest.raises((OSError, pa.ArrowException)):
        pa.parquet.read_table(path)


def test_a_real_is_too_fine_to_group_by_and_it_is_said_what_helps() -> None:
    fine = Schema.load(
        {"table": {"name": "t", "unit": "row"}, "columns": {"x": {"type": "real", "lower": 0, "upper": 9}}}
    )
    with pytest.raises(BadQuestion, match="wider bins, or declare a coarser grid"):
        build.keys(build.column(fine.scan(), "x"))


def test_what_decides_a_units_rows_is_in_the_digest() -> None:
    columns = {"x": {"type": "category", "values": ["a", "b"]}}
    table = {"name": "t", "unit": "id", "rows": 2, "partition": "x"}
    schema = Schema.load({"table": table, "columns": columns})
    others = [{**table, "rows": 3}, {**table, "unit": "who"}, {k: v for k, v in table.items() if k != "partition"}]
    assert len({schema.digest, *(Schema.load({"table": t, "columns": columns}).digest for t in others)}) == 4
