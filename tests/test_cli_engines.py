"""Engines on the command line, in schema files and in Python: who reads what, and clear words when it cannot be."""

import json

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from curator.test_curator import ROWS, SCHEMA
from test_cli_tables import QUESTION, tacit

from tacit import Budget, Curator, Table
from tacit.core.errors import BadParameter, BadSchema, EngineUnavailable, Missing
from tacit.engines import registry
from tacit.engines.duckdb.engine import DuckDB
from tacit.engines.postgres.engine import Postgres
from tacit.query.schema.databases import Database
from tacit.query.schema.schema import Schema

TERMS = ("--epsilon", "0.25", "--budget", "epsilon=1")


def located(engine=None, source=None):
    """The schema, with where the table is."""
    facts = {"engine": engine, "source": source}
    return SCHEMA.replace("[table]\n", "[table]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in facts.items() if v))


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with the visits as a file, in which all happens."""
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "visits.parquet")
    (tmp_path / "visits.toml").write_text(SCHEMA)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def stored(place, server, monkeypatch):
    """The same in PostgreSQL, where the client's own settings lead."""
    with psycopg.connect(server.url(), autocommit=True) as connection:
        columns = "person int8, year text, age int4, cost float8, note text"
        connection.execute(f"CREATE SCHEMA shop; CREATE TABLE shop.visits ({columns})")
        with connection.cursor().copy("COPY shop.visits FROM STDIN") as copy:
            for row in ROWS:
                copy.write_row(list(row.values()))
        monkeypatch.setenv("PGHOST", str(server.folder))
        monkeypatch.setenv("PGUSER", "postgres")
        yield connection
        connection.execute("DROP SCHEMA shop CASCADE")


def test_a_schema_may_say_where_the_table_is_and_means_the_same(place):
    known, plain = Schema.load(located("spark", "lake/visits.parquet")), Schema.load(SCHEMA)
    assert (known.engine, known.source) == ("spark", "lake/visits.parquet")
    assert known == plain and known.digest == plain.digest and known.dumps() == plain.dumps()
    (place / "sub").mkdir()
    (place / "sub" / "v.toml").write_text(located(source="../visits.parquet"))
    table = Table(None, place / "sub" / "v.toml")  # a path is read from where the schema is
    assert table.data == (place / "visits.parquet").resolve() and table.engine == "duckdb"
    assert Table("visits.parquet", located("spark")).engine == "spark"
    assert Table("visits.parquet", located("spark"), engine="duckdb").engine == "duckdb"
    assert str(Table(None, located("postgres", "shop.visits")).data) == "postgresql://?table=shop.visits"


@pytest.mark.parametrize(
    ("engine", "source", "says"),
    [
        ("oracle", None, "duckdb, postgres, spark"),
        (7, None, "duckdb, postgres, spark"),
        (None, "a\nb", "a path, an address or the name"),
        (None, "mysql://host/db?table=t", "postgresql://"),
        (None, "postgresql://ann:secret@host/db?table=t", "PGPASSWORD"),
        (None, "postgresql://ann@host/db?password=secret&table=t", "PGPASSWORD"),
        (None, "sc://host:1/;token=secret?table=t", "PGPASSWORD"),
    ],
)
def test_what_a_schema_may_not_say(engine, source, says):
    with pytest.raises(BadSchema, match=says) as error:
        Schema.load(located(engine, source))
    assert "secret" not in str(error.value)


def test_an_address_may_leave_out_what_the_client_knows():
    assert Database.read("postgresql:///db?table=t").url == "postgresql:///db"
    assert Database.named('hr."Odd % Name"', "postgres").table == 'hr."Odd % Name"'
    assert Database.read("spark://host:7077?table=t").url == "spark://host:7077"


@pytest.mark.parametrize(
    ("data", "engine", "says"),
    [
        ("visits.parquet", "postgres", "a table in PostgreSQL, by its name or as postgresql://"),
        (ROWS, "postgres", "a table in PostgreSQL"),
        ("visits.parquet", "Spark", "one of duckdb, postgres, spark"),
        ("postgresql://h/d?table=t", "duckdb", "'postgres', or left out"),
        ("spark://?table=t", "postgres", "'spark', or left out"),
        ("visits", "duckdb", "a file that exists"),
        (None, None, "or set `source` in the schema"),
    ],
)
def test_an_engine_that_does_not_read_such_data_is_refused(place, data, engine, says):
    with pytest.raises(BadParameter, match=says):
        Table(data, SCHEMA, engine=engine)


def test_python_takes_an_engine_by_its_name(place):
    table = Table(ROWS, SCHEMA, engine="duckdb")
    with Curator(table, ledger=place / "l", budget=Budget(epsilon=1), engine="duckdb") as curator:
        assert isinstance(curator._registration.engine, DuckDB)
    for wrong in ("postgres", "mysql"):
        with pytest.raises(BadParameter):
            Curator(table, ledger=place / "m", budget=Budget(epsilon=1), engine=wrong)
    assert not (place / "m").exists()


@pytest.mark.parametrize(("engine", "needs"), [("postgres", "psycopg"), ("spark", "pyspark")])
def test_what_is_not_installed_is_reported_before_a_ledger_is_made(place, monkeypatch, engine, needs):
    monkeypatch.setattr(registry, "find_spec", lambda name: None if name == needs else True)
    with pytest.raises(Missing, match=rf"pip install 'tacit\[{engine}\]'"):
        registry.chosen([Table("visits", SCHEMA, engine=engine)])
    output = tacit("ask", "visits", QUESTION, *TERMS, "--engine", engine, code=2)
    assert f"needs {needs}" in " ".join(output.split()) and not (place / "visits.ledger").exists()


def test_a_table_in_postgres_by_name_by_address_and_by_its_schema(place, server, stored):
    asked = ("ask", "visits.parquet", QUESTION, *TERMS, "--ledger", "file.ledger", "--json", "--engine", "duckdb")
    columns = json.loads(tacit(*asked))["answer"].keys()
    (place / "shop.visits.toml").write_text(SCHEMA)
    (place / "v.toml").write_text(located("postgres", "shop.visits"))
    for name, words in {
        "shop.visits": ("shop.visits", "--engine", "postgres"),
        "visits": (server.url(table="shop.visits"), "--schema", "visits.toml", "--ledger", "visits.ledger"),
        "v": ("v.toml",),
    }.items():
        data, *more = words
        assert "costs 0.25" in tacit("offer", data, QUESTION, *TERMS, *more)
        assert "Laplace" in tacit("explain", data, QUESTION, *TERMS, *more)
        assert json.loads(tacit("ask", data, QUESTION, *TERMS, *more, "--json"))["answer"].keys() == columns
        assert "Free: it was asked before; 0.75 of" in tacit("ask", data, QUESTION, *TERMS, *more)
        assert "0.75 is left" in tacit("ledger", "show", f"{name}.ledger")
    with Curator(Table("shop.visits", SCHEMA, engine="postgres"), ledger=place / "l", budget=Budget(epsilon=1)) as c:
        assert isinstance(c._registration.engine, Postgres)


def test_what_is_wrong_with_a_database_is_one_clear_paragraph_and_charges_nothing(place, stored):
    (place / "nobody.toml").write_text(SCHEMA)
    (place / "shop.visits.toml").write_text(SCHEMA.replace("[columns.age]", "[columns.aged]"))
    gone = "postgresql://postgres@127.0.0.1:1/postgres?table=visits"
    for data, more, says in (
        ("nobody", ("--engine", "postgres"), "there is no such table"),
        ("shop.visits", ("--engine", "postgres"), "no column named 'aged'"),
        (gone, ("--schema", "visits.toml", "--ledger", "gone.ledger"), "there is no connection to the server"),
        ("visits.parquet", ("--engine", "postgres"), "a file is read by duckdb or spark"),
        ("visits.parquet", ("--engine", "oracle"), "one of duckdb, postgres, spark"),
    ):
        output = " ".join(tacit("ask", data, QUESTION, *TERMS, *more, code=2).split())
        assert says in output and "Traceback" not in output
    for name in ("nobody", "shop.visits", "gone"):
        assert "1 is left" in tacit("ledger", "show", f"{name}.ledger")
    assert not (place / "visits.ledger").exists()
    with pytest.raises(EngineUnavailable, match="Nothing was charged"), Postgres() as tested:
        tested.register(Table("nobody", SCHEMA, engine="postgres"), "0" * 32)


def test_a_column_that_is_no_longer_of_its_type_is_reported_before_any_charge(place, stored):
    drifted = SCHEMA.replace('type = "integer"\nlower = 0\nupper = 99', 'type = "date"')
    (place / "shop.visits.toml").write_text(drifted)
    output = " ".join(tacit("ask", "shop.visits", QUESTION, *TERMS, "--engine", "postgres", code=2).split())
    assert "columns.age must be of a type that integer values have a meaning in; got 'date'" in output
    assert "1 is left" in tacit("ledger", "show", "shop.visits.ledger")


def test_the_demonstration_names_the_engines_it_knows(place):
    output = tacit("demo", "--engine", "oracle", code=2)
    assert "one of duckdb, postgres, spark" in " ".join(output.split()) and "A shop has" not in output
