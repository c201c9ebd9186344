"""A schema cannot make a client join a cluster of the schema's choosing, which is sent all that the client has."""

from typing import Any

import pytest

from tacit import Table
from tacit.core.errors import BadParameter, BadSchema, EngineUnavailable
from tacit.query.schema.databases import Database

spark = pytest.importorskip("tacit.engines.spark.engine")

KEY = "0123456789abcdef" * 2
COLUMNS = {"age": {"type": "integer", "lower": 0, "upper": 99}}
FIELDS = {"table": {"name": "people", "unit": "row"}, "columns": COLUMNS}
VARIABLES = ("MASTER", "SPARK_REMOTE", "SPARK_CONNECT_AUTHENTICATE_TOKEN")
HOSTS = {"spark://127.0.0.1:7077": "MASTER", "sc://127.0.0.1:15002": "SPARK_REMOTE"}


class Reached(Exception):
    """A session would have been opened."""


@pytest.fixture(autouse=True)
def places(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What sessions are opened at, none of which is; the environment names no host."""
    found: list[Any] = []

    def opened(place: Any) -> None:
        found.append(place)
        raise Reached

    monkeypatch.setattr(spark, "opened", opened)
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    return found


def located(source: str, **more: str) -> Table:
    return Table(None, {**FIELDS, "table": {**FIELDS["table"], "source": source, **more}})


def register(table: Table, session: Any = None) -> None:
    """Until a session would be opened, if that is reached; the engine says that none could be."""
    with pytest.raises(EngineUnavailable, match="no session could be opened"):
        spark.Spark(session).register(table, KEY)


@pytest.mark.parametrize("host", [*HOSTS, "spark://a:1,b:2", "sc://127.0.0.1", "spark://u@127.0.0.1:7077", "spark:///"])
@pytest.mark.parametrize("setting", ["", "spark://other:7077", "sc://other:15002", "local[2]", "127.0.0.1:7077"])
def test_a_host_that_only_a_schema_names_is_not_asked(
    host: str, setting: str, places: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in VARIABLES:
        monkeypatch.setenv(name, setting)
    message = (
        r"cannot be read: only the schema names its host, .* set (MASTER|SPARK_REMOTE) to its address, or pass .* data="
    )
    with pytest.raises(EngineUnavailable, match=message):
        spark.Spark().register(located(f"{host}?table=people"), KEY)
    assert places == []


@pytest.mark.parametrize("host", HOSTS)
def test_one_kind_of_address_does_not_speak_for_the_other(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Database.read(f"{host}?table=people").from_file()
    other = {"MASTER": "SPARK_REMOTE", "SPARK_REMOTE": "MASTER"}[HOSTS[host]]
    monkeypatch.setenv(other, host)
    with pytest.raises(EngineUnavailable, match=f"set {HOSTS[host]} to it"):
        spark._home(place)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("more", ["", "/"])
def test_a_host_that_the_user_names_is_asked_by_the_users_own_address(
    host: str, more: str, places: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = f"{host}/;use_ssl=true;token=own" if host.startswith("sc:") else host
    monkeypatch.setenv(HOSTS[host], own)
    register(located(f"{host}{more}?table=people"))
    monkeypatch.delenv(HOSTS[host])
    register(Table(f"{host}{more}?table=people", FIELDS))
    register(located(f"{host}?table=people"), session=own)
    assert places == [own, f"{host}{more}", own]


def test_without_a_host_the_users_own_session_is_asked(places: list[Any]) -> None:
    register(located("spark://?table=hr.people"))
    register(located("people", engine="spark"))
    assert places == [None, None]


def test_later_tables_are_held_to_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    tested = spark.Spark("sc://127.0.0.1:15002")
    monkeypatch.setattr(tested, "_own", object())
    with pytest.raises(EngineUnavailable, match="only the schema names its host"):
        tested.register(located("sc://127.0.0.2:15002?table=people"), KEY)
    with pytest.raises(BadParameter, match="one session"):
        tested.register(Table("sc://127.0.0.2:15002?table=people", FIELDS), KEY)


@pytest.mark.parametrize(
    "table",
    [
        "parquet.`hdfs://127.0.0.1:9/people`",
        "parquet.`/lake/people`",
        "`people`",
        "jdbc.`x`",
        "csv.`http://127.0.0.1/x`",
        "people;x",
        "a b",
        "people.",
        ".people",
        "a..b",
        "people\u2028",
        "\uff50eople",
    ],
)
def test_a_file_names_a_table_of_spark_by_a_plain_name(table: str) -> None:
    for source, more in ((f"spark://?table={table.replace(';', '%3B')}", {}), (table, {"engine": "spark"})):
        with pytest.raises(BadSchema):
            located(source, **more)
    if table.isprintable():
        Table(f"spark://?table={table.replace(';', '%3B')}", FIELDS)  # the custodian's own word


@pytest.mark.parametrize("table", ["people", "hr.people", "lake.hr.people_2024", "global_temp.people"])
def test_plain_names_are_taken(table: str) -> None:
    assert located(f"spark://?table={table}").data == located(table, engine="spark").data


@pytest.mark.parametrize("more", ["/;use_ssl=false", "/;user_id=root", "/x"])
def test_a_file_says_nothing_of_how_spark_is_asked(more: str) -> None:
    with pytest.raises(BadSchema, match="says only where the table is"):
        located(f"sc://127.0.0.1:15002{more}?table=people")
