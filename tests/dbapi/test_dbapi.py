"""A curator as a connection of PEP 249, used as tools use one."""

import datetime as dt
import inspect
import os
import subprocess
import sys
import warnings
from fractions import Fraction
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import tacit
from tacit import Budget, Curator, Table, dbapi

SCHEMA = """
[table]
name = "visits"
unit = "person"
rows = 1
[columns.ward]
type = "category"
values = ["north", "it's", "south"]
[columns.age]
type = "integer"
lower = 0
upper = 99
[columns.day]
type = "date"
lower = 2026-01-01
upper = 2026-01-03
"""
ROOT = Path(__file__).parents[2]
BY_WARD = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY ward"


ROWS = {
    "person": list(range(300)),
    "ward": [("north", "it's", "south")[p % 3] for p in range(300)],
    "age": [p % 100 for p in range(300)],
    "day": [dt.date(2026, 1, 1 + p % 3) for p in range(300)],
}


@pytest.fixture
def curator(tmp_path):
    with Curator(
        Table(pd.DataFrame(ROWS), SCHEMA), ledger=tmp_path / "ledger.sqlite", budget=Budget(epsilon=10)
    ) as opened:
        yield opened


@pytest.fixture
def connection(curator):
    with dbapi.connect(curator, share="0.05") as opened:
        yield opened


def test_the_module_has_what_pep_249_names():
    assert (dbapi.apilevel, dbapi.threadsafety, dbapi.paramstyle) == ("2.0", 2, "qmark")
    errors = "Warning Error InterfaceError DatabaseError DataError OperationalError IntegrityError InternalError"
    for name in (*errors.split(), "ProgrammingError", "NotSupportedError"):
        assert getattr(dbapi.Connection, name) is getattr(dbapi, name)
    assert issubclass(dbapi.ProgrammingError, dbapi.DatabaseError) and issubclass(dbapi.DatabaseError, dbapi.Error)
    for name in ("Date", "Time", "Timestamp", "DateFromTicks", "TimeFromTicks", "TimestampFromTicks", "Binary"):
        assert callable(getattr(dbapi, name))
    assert dbapi.DateFromTicks(86_400 * 2).year == 1970 and dbapi.TimestampFromTicks(0).year in (1969, 1970)
    assert dbapi.NUMBER == "integer" and dbapi.NUMBER != "text" and dbapi.STRING == "text"


def test_an_answer_has_the_columns_that_were_named(connection, curator):
    cursor = connection.cursor().execute(BY_WARD)
    assert [(name, kind) for name, kind, *_ in cursor.description] == [("ward", "text"), ("n", "integer")]
    assert cursor.rowcount == 3
    first, *rest = cursor.fetchone(), *cursor.fetchmany(1), *cursor
    assert [ward for ward, _ in (first, *rest)] == sorted(["north", "it's", "south"]) and cursor.fetchone() is None
    release = curator.ask(BY_WARD, share="0.05")
    assert cursor.release.noisy == release.noisy and [n for _, n in (first, *rest)] == release["n"].tolist()
    assert "95 %" in cursor.messages[0][1]
    assert curator.remaining == Fraction(19, 2), "asked twice, and charged once"


def test_the_types_of_columns(connection):
    cursor = connection.execute("SELECT day, AVG(age) AS a, COUNT(*) > 5 AS many FROM visits GROUP BY day")
    assert [kind for _, kind, *_ in cursor.description] == ["date", "real", "boolean"]
    assert [type(value) for value in cursor.fetchone()] == [dt.date, float, bool]


def test_pandas_and_polars(connection):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # pandas warns of every driver but its own two
        frame = pd.read_sql(BY_WARD, connection)
        half = pd.read_sql("SELECT COUNT(*) AS n FROM visits WHERE age < ?", connection, params=(50,))
    assert list(frame.columns) == ["ward", "n"] and half["n"].dtype == "int64"
    assert pl.read_database(BY_WARD, connection).to_dict(as_series=False) == frame.to_dict(orient="list")


def test_jupysql(tmp_path):
    quiet = {"PLOOMBER_STATS_ENABLED": "false", "PLOOMBER_VERSION_CHECK_DISABLED": "true", "HOME": str(tmp_path)}
    program = [sys.executable, "-W", "ignore", "-m", "tests.dbapi.jupysql", str(tmp_path / "ledger.sqlite")]
    environment = {**os.environ, **quiet, "IPYTHONDIR": str(tmp_path)}
    done = subprocess.run(program, check=False, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "the same" in done.stdout, done.stderr


def test_an_offer_is_free(connection, curator):
    lines = [line for (line,) in connection.execute(f"explain {BY_WARD}")]
    assert lines == str(curator.offer(BY_WARD, share="0.05")).splitlines()
    assert curator.remaining == 10


def test_a_price_is_that_of_the_text_or_of_the_settings_or_of_the_connection(connection, curator):
    cursor = connection.execute("SET tacit.share = 0.1")
    assert cursor.description is None and connection.terms == {"share": Fraction(1, 10)}
    connection.execute("SELECT COUNT(*) AS n FROM visits")
    assert curator.remaining == 9
    connection.execute("set tacit.epsilon TO '0.5';")
    assert connection.terms == {"epsilon": Fraction(1, 2)}
    connection.execute("SELECT COUNT(*) AS n FROM visits WHERE age < 9")
    assert curator.remaining == Fraction(17, 2)
    connection.execute(
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1.5) COUNT(*) AS n FROM visits WHERE age < 7"
    )
    assert curator.remaining == 7
    with pytest.raises(dbapi.ProgrammingError, match=r"no setting tacit\.role"):
        connection.execute("SET tacit.role = 1")
    with pytest.raises(dbapi.ProgrammingError, match=r"tacit\.share must be"):
        connection.execute("SET tacit.share = 'all'")


def test_errors_are_those_of_pep_249_with_the_words_of_tacit(connection, curator):
    with pytest.raises(dbapi.ProgrammingError, match="line 1, column 8"):
        connection.execute("SELECT person FROM visits")
    with pytest.raises(dbapi.OperationalError, match="costs 100"):
        connection.execute("SET tacit.epsilon = 100").execute("SELECT COUNT(*) FROM visits")
    with pytest.raises(dbapi.InterfaceError, match="no question was asked"):
        connection.cursor().fetchall()
    with pytest.raises(dbapi.NotSupportedError):
        connection.cursor().executemany(BY_WARD, [])
    cursor = connection.execute("BEGIN").execute("rollback;")
    cursor.close()
    with pytest.raises(dbapi.InterfaceError, match="cursor is closed"):
        cursor.execute(BY_WARD)
    connection.commit()
    connection.rollback()
    connection.close()
    with pytest.raises(dbapi.InterfaceError, match="connection is closed"):
        connection.cursor()
    assert curator.remaining == 10, "the curator of a caller is not closed"
    with pytest.raises(dbapi.ProgrammingError, match="goes with a token"):
        dbapi.connect("https://tacit.example.org")
    with pytest.raises(dbapi.ProgrammingError, match="needs neither"):
        dbapi.connect(curator, "token")


def test_a_question_with_parameters_is_the_question_with_its_values(connection, curator):
    text = "SELECT COUNT(*) AS n FROM visits WHERE ward = ? AND age < ? AND day >= ?"
    one = connection.execute(text, ("it's", 50, dt.date(2026, 1, 2))).fetchall()
    numbered = text.replace("ward = ?", "ward = $2").replace("age < ?", "age < $1").replace("day >= ?", "day >= $3")
    assert connection.execute(numbered, (50, "it's", dt.date(2026, 1, 2))).fetchall() == one
    named = "SELECT COUNT(*) AS n FROM visits WHERE ward = :w AND age < :a AND day >= :d"
    assert connection.execute(named, {"w": "it's", "a": 50, "d": dt.date(2026, 1, 2)}).fetchall() == one
    assert curator.remaining == Fraction(19, 2)


def test_parameters_that_cannot_be_used_are_refused_with_a_sentence(connection):
    for parameters in ([float("nan")], [b"x"], [1, 2], {"age": 3}):
        with pytest.raises(dbapi.ProgrammingError, match=r"parameter|value"):
            connection.execute("SELECT COUNT(*) AS n FROM visits WHERE age < ?", parameters)


def test_public_functions_are_documented():
    for _, member in inspect.getmembers(dbapi.Cursor, inspect.isfunction):
        assert member.__name__.startswith("_") or member.__doc__, member


def test_it_is_loaded_when_it_is_named():
    assert tacit.dbapi is dbapi
