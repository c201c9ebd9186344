"""PostgreSQL as an engine: it conforms, it writes nothing, it says clearly what is wrong before anything is charged."""

import datetime
import os
import threading
import traceback
from decimal import Decimal

import numpy as np
import psycopg
import pytest
from psycopg import sql

from tacit import Budget, Curator
from tacit.core.errors import (
    BadData,
    BadParameter,
    BadSchema,
    BudgetExceeded,
    EngineError,
    EngineUnavailable,
    LedgerConflict,
)
from tacit.engines.duckdb.engine import DuckDB
from tacit.engines.postgres.catalogue import connected
from tacit.engines.postgres.dialect import PostgresDialect
from tacit.engines.postgres.engine import Postgres
from tacit.engines.registry import engine_for
from tacit.engines.rows.reference import Reference
from tacit.engines.sql.raw_columns import canonical
from tacit.query.plan.plan import BinCounts, QueryPlan, RowCount, Total, UnitCount
from tacit.query.python.table import Table
from tacit.query.relation import build
from tacit.query.schema.databases import Database
from tacit.query.schema.public_table import PublicTable
from tacit.query.select.query import Key
from tacit.testing.engines import CHECKS, engine, same
from tacit.workloads import marginals

from ._hash import content_decides_where_hashes_are_equal, units_are_named_alike
from ._postgres import Loaded, put

KEY = "0123456789abcdef" * 2
SCHEMA = {
    "table": {"name": "t", "unit": "who", "rows": 2},
    "columns": {"age": {"type": "integer", "lower": 0, "upper": 120}, "note": {"type": "text"}},
}
ROWS = [{"who": i % 7, "age": 3 * i % 130, "note": f"it's {i % 5}"} for i in range(60)]


@pytest.fixture
def run(server):
    """Runs statements as the owner of the database; what the last of them gives."""

    def statements(text, given=None):
        with psycopg.connect(server.url(), autocommit=True) as connection:
            cursor = connection.execute(text, given)
            return cursor.fetchall() if cursor.description else None

    return statements


@pytest.fixture
def people(server, run):
    """A table of that name."""
    put(server, "people", Table(ROWS, SCHEMA))
    yield Table(server.url(table="people"), SCHEMA)
    run("DROP TABLE IF EXISTS people, elsewhere CASCADE")


def plan(schema, groups=None):
    scan = schema.scan()
    age = build.column(scan, "age")
    key = Key("decade", build.bin_to(age, 10), tuple(range(13)))
    return QueryPlan(scan, (key,), (RowCount(), UnitCount(), Total(age), BinCounts(age, (0, 18, 65, 120))), groups)


def rows(table, key=KEY):
    with engine(Postgres, [table], key) as tested:
        return int(tested.answer(QueryPlan(table.schema.scan(), (), (RowCount(),))).cells[0][0])


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_postgres_conforms(server, check):
    for seed in range(7):
        assert check(lambda: Loaded(server), seed) > 0


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_postgres_conforms_at_length(server, check):
    for seed in range(7, 40):
        assert check(lambda: Loaded(server), seed) > 0


def test_the_keyed_hash(server):
    units_are_named_alike(lambda: Loaded(server))
    content_decides_where_hashes_are_equal(lambda: Loaded(server), range(10))


# Cells that PostgreSQL would stumble over: each type out to its ends, against what Python makes of the same cells.

FAR = [datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31, 23, 59, 59, 999_999)]
LONG = ["1_0", "9" * 15_000, "9" * 15_001, "true" + " " * 14_996, "1" + " " * 15_000, "2024-01-31T" + "x" * 20_000]
TYPES = {
    "float8": ["NaN", "Infinity", "-Infinity", "5e-324", "-5e-324", "1.7976931348623157e308", "-0", "0.5", "2.5"],
    "float4": ["NaN", "Infinity", "1e-45", "3.4e38", "0.1"],
    "numeric": ["NaN", "1e400", "-1e400", "1e-400", "-1e-400", "0.5", "1e38", "99999999999999999999.5", "7.0", "1"],
    "numeric(1000, 500)": ["NaN", "1e-400", "1e400", "2.5"],
    "numeric(20, 2)": ["NaN", "2.50", "99999999999999.99", "-0.01"],
    "int8": ["-9223372036854775808", "9223372036854775807", "0", "1"],
    "text": [
        "1e999",
        "-1e999",
        "1e-999",
        "9" * 400,
        "0." + "0" * 400 + "1",
        " 7\t",
        "7\n",
        "NaN",
        "inf",
        "0x1",
        "1_0",
        *LONG,
    ],
    "varchar": ["2024-02-30", "2023-02-29", "1900-02-29", "2000-02-29", "0000-01-01", "9999-12-31", "2024-02-29T25:61"],
    "char(12)": ["true", "2024-01-31", "T", "a'b\\c"],
    "date": ["0001-01-01", "9999-12-31", "5874897-12-31", "4713-01-01 BC", "infinity", "-infinity"],
    "timestamp": [*map(str, FAR), "infinity", "-infinity", "294276-12-31 23:59:59.999999", "1969-12-31 23:59:59.5"],
    "timestamptz": ["2024-01-01 00:30:00+09", "infinity", "1969-12-31 23:59:59.999999-00"],
    "bool": ["t", "f"],
    "uuid": ["00000000-0000-0000-0000-00000000000a"],
    "interval": ["1 day"],
    "jsonb": ['{"a": 1}'],
    "int4[]": ["{1}"],
}
COLUMNS = {
    "i": {"type": "integer", "lower": -(2**62), "upper": 2**62},
    "r": {"type": "real", "lower": -3, "upper": 4, "grid": "2"},
    "f": {"type": "real", "lower": 0, "upper": 500},
    "b": {"type": "boolean"},
    "c": {"type": "category", "values": ["7", "true", "a'b\\c", "x", "y", "z", "é", "{}", '"', "00"]},
    "d": {"type": "date"},
    "m": {"type": "timestamp"},
    "s": {"type": "text"},
}


def as_python(kind, cell):
    """The same cell as Python would read it from a file."""
    name = kind.partition("(")[0]
    if name in ("float8", "float4"):
        return float(cell)
    if name == "numeric":
        return Decimal(cell)
    if name == "int8":
        return int(cell)
    if name == "bool":
        return cell == "t"
    if name in ("date", "timestamp", "timestamptz"):
        late = cell == "infinity" or len(cell.partition("-")[0]) > 4
        early = cell == "-infinity" or cell.endswith("BC")
        if late or early:
            return np.datetime64(3_000_000 if late else -3_000_000, "D")
        moment = datetime.datetime.fromisoformat(cell)
        return moment.date() if name == "date" else moment
    return None if name in ("interval", "jsonb", "int4[]") else cell


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("unit", ["row", "who"])
def test_no_cell_makes_it_fail(server, run, kind, unit):
    facts = {"name": "t", "unit": unit} | ({} if unit == "row" else {"rows": 2})
    schema = Table([], {"table": facts, "columns": COLUMNS}).schema
    names = list(COLUMNS) + (["who"] if unit == "who" else [])
    run(f"CREATE TABLE ends ({', '.join(f'{name} {kind}' for name in names)})")
    try:
        for cell in (*TYPES[kind], None):
            run(sql.SQL("INSERT INTO ends VALUES ({})").format(sql.SQL(", ").join([sql.Literal(cell)] * len(names))))
        cells = [run("SELECT CAST(%s AS float4)::float8", [c])[0][0] if kind == "float4" else c for c in TYPES[kind]]
        data = [dict.fromkeys(names, as_python(kind, cell)) for cell in cells] + [{}]
        table = Table(server.url(table="ends"), schema)
        columns = [build.column(schema.scan(), name) for name in COLUMNS]
        whole = [c for c in columns if c.domain.kind in ("number", "boolean")]
        asked = [QueryPlan(schema.scan(), (Key("k", c, None),), (RowCount(), UnitCount())) for c in columns]
        asked.append(QueryPlan(schema.scan(), (), (*map(RowCount, columns), *map(Total, whole[:3]))))
        with engine(Reference, [Table(data, schema)], KEY) as reference, engine(Postgres, [table], KEY) as tested:
            for each in asked:
                same(reference.answer(each), tested.answer(each), 0, each)
    finally:
        run("DROP TABLE ends")


def test_public_tables_and_labels_of_any_text_are_looked_up(server):
    """One by one, by an array, by the fields of an object, by a join: all ways give what the reference gives."""
    texts = [
        "",
        "it's",
        'q"',
        "a\\b",
        "{}",
        "{1,2}",
        "%s",
        "é",
        "名",
        "NULL",
        "1",
        "01",
        " 1",
        "x y",
        "\n",
        "💡",
        "nul\0",
    ]
    kinds = {
        "c": {"type": "category", "values": [t for t in texts if t.isprintable()]},
        "s": {"type": "text"},
        "i": {"type": "integer", "lower": -(10**9), "upper": 10**9},
    }
    numbers = [-(10**9), -7, 0, 1, 2, 3, 5, 8, 13, 21, 34, 10**9]
    data = [{"c": t, "s": t, "i": n} for t in texts[:-1] for n in (*numbers, 4, None)] + [{"c": "?", "s": None, "i": 6}]
    table = Table(data, {"table": {"name": "t", "unit": "row"}, "columns": kinds})
    scan = table.schema.scan()
    c, s, i = (build.column(scan, name) for name in kinds)
    tables = [
        (s, {t: 10 * n for n, t in enumerate(texts)}),
        (s, {t: n for n, t in enumerate(texts[:3])}),
        (i, {n: n % 7 for n in numbers}),
        (i, {n: -n for n in range(20) if n % 3}),
        (c, {t: n for n, t in enumerate(texts) if n % 2}),
    ]
    measures = tuple(Total(build.lookup(e, known)) for e, known in tables)
    with engine(Reference, [table], KEY) as reference, engine(lambda: Loaded(server), [table], KEY) as tested:
        for keys in ((), (Key("c", c, build.keys(c)),), (Key("i", i, tuple(numbers)),)):
            asked = QueryPlan(scan, keys, (RowCount(), *measures))
            same(reference.answer(asked), tested.answer(asked), 0, asked)


def test_text_is_compared_as_bytes(people):
    """Whatever the collation of a column: here is none that would tell, so the text of the query must."""
    with engine(Postgres, [people], KEY) as tested, connected(people.data, 1000) as connection:
        found = tested._tables["t"].describe(connection)
        for e in (found.raw()["note"].sql, canonical(found.raw()["note"], people.schema["note"], PostgresDialect())):
            kind = f"pg_collation_for({PostgresDialect().render(e)})"
            (collation,) = connection.execute(f"SELECT {kind} FROM public.people AS raw LIMIT 1").fetchone()
            assert collation == '"C"'


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York"])
def test_the_time_zone_of_a_user_is_nothing(server, run, zone):
    run(f"ALTER ROLE postgres SET TimeZone = '{zone}'")
    run("CREATE TABLE zones AS SELECT TIMESTAMPTZ '2024-01-01 00:30:00+00' AS m, TIMESTAMP '2024-01-01 00:30:00' AS d")
    try:
        schema = {"table": {"name": "t", "unit": "row"}, "columns": {"m": {"type": "timestamp"}, "d": {"type": "date"}}}
        table = Table(server.url(table="zones"), schema)
        scan = table.schema.scan()
        m, d = (Key(name, build.column(scan, name), None) for name in ("m", "d"))
        with engine(Postgres, [table], KEY) as tested:
            assert tested.answer(QueryPlan(scan, (m, d), (RowCount(),))).keys == ((1_704_069_000, 19_723),)
    finally:
        run("ALTER ROLE postgres RESET TimeZone")
        run("DROP TABLE zones")


def test_domains_and_enumerations_are_what_they_are_made_of(server, run):
    run("CREATE DOMAIN years AS int2; CREATE DOMAIN age AS years CHECK (VALUE > 0)")
    run("CREATE TYPE mood AS ENUM ('ok', 'no')")
    run("CREATE TABLE typed AS SELECT 7::age AS age, 'ok'::mood AS note, 1::age AS who")
    try:
        table = Table(server.url(table="typed"), SCHEMA)
        note = Key("n", build.column(table.schema.scan(), "note"), None)
        with engine(Postgres, [table], KEY) as tested:
            asked = QueryPlan(table.schema.scan(), (note,), (Total(build.column(table.schema.scan(), "age")),))
            answer = tested.answer(asked)
        assert answer.keys == (("ok",),) and answer.cells[0].tolist() == [7]
    finally:
        run("DROP TABLE typed; DROP TYPE mood; DROP DOMAIN age; DROP DOMAIN years")


def test_a_unique_unit_is_not_hashed_and_an_index_that_is_gone_is_missed_at_once(server, run, people):
    """Uniqueness is looked up in the moment of the question: rows that come later are bounded."""
    run("CREATE TABLE elsewhere (who int8 PRIMARY KEY, age int4, note text)")
    run("INSERT INTO elsewhere SELECT i, 1, '' FROM generate_series(1, 5) AS i")
    table = Table(server.url(table="elsewhere"), SCHEMA)
    with engine(Postgres, [table], KEY) as tested:
        asked = QueryPlan(table.schema.scan(), (), (RowCount(),))
        assert tested.answer(asked).cells[0].tolist() == [5]
        run("ALTER TABLE elsewhere DROP CONSTRAINT elsewhere_pkey")
        run("INSERT INTO elsewhere SELECT 1, i, '' FROM generate_series(1, 50) AS i")
        assert tested.answer(asked).cells[0].tolist() == [6]
    run("CREATE TABLE child () INHERITS (elsewhere); DELETE FROM elsewhere; CREATE UNIQUE INDEX ON elsewhere (who)")
    run("INSERT INTO child SELECT 1, i, '' FROM generate_series(1, 50) AS i")
    assert rows(table) == 2


def test_the_fingerprint_is_of_what_it_holds(server, run, people):
    with engine(Postgres, [people], KEY) as tested, engine(Postgres, [people], KEY) as other:
        first = tested.fingerprint()
        assert first == tested.fingerprint() == other.fingerprint()
        run("CREATE TABLE elsewhere AS SELECT who, age, note, 1 AS more FROM people ORDER BY random()")
        assert tested.fingerprint() == first  # a transaction has ended, and nothing has changed
        run("ALTER TABLE people RENAME TO before; ALTER TABLE elsewhere RENAME TO people")
        assert tested.fingerprint() == first  # other rows in another order, and a column that no schema names
        run("UPDATE people SET age = 1 WHERE ctid = (SELECT min(ctid) FROM people)")
        changed = tested.fingerprint()
        assert changed not in (first, other._fingerprints)
        run("INSERT INTO people SELECT who, age, note, 2 FROM people LIMIT 1")
        assert len({first, changed, tested.fingerprint()}) == 3
        run("DROP TABLE before")


def test_a_question_after_a_change_is_the_same_question(server, run, people, tmp_path):
    """What is free does not tell whether anybody's rows changed; of the new ones another draw can be bought."""
    with Curator(people, ledger=tmp_path / "l", budget=Budget(epsilon=1), engine=engine_for([people])) as curator:
        first, again = (curator.ask("SELECT COUNT(*) FROM t", epsilon="0.1") for _ in range(2))
        assert curator.remaining == Budget(epsilon="0.9").limit and first.to_json() == again.to_json()
        run("INSERT INTO people SELECT 99, 1, ''")
        assert curator.ask("SELECT COUNT(*) FROM t", epsilon="0.1").to_json() == first.to_json()
        curator.ask("SELECT COUNT(*) FROM t", epsilon="0.1", fresh=True)
        assert len([charge for charge in curator.history() if charge.release]) == 2


def test_parts_are_answered_of_the_content_that_was_charged(server, run, tmp_path):
    """People who move to another part between a charge and its answer would be in two parts, at the price of one."""
    run("CREATE TABLE living AS SELECT i AS who, 'north' AS side FROM generate_series(1, 50) AS i")
    facts = {"table": {"name": "t", "unit": "who", "rows": 1, "partition": "side"}}
    facts |= {"columns": {"side": {"type": "category", "values": ["north", "south"]}}}
    table = Table(server.url(table="living"), facts)
    with Curator(table, ledger=tmp_path / "l", budget=Budget(epsilon=1)) as curator:
        asked = "SELECT COUNT(*) AS n FROM t WHERE side = '{}'"
        curator.ask(asked.format("north"), epsilon=1)
        charge = curator.ledger.charge

        def charged(**given):
            made = charge(**given)
            run("UPDATE living SET side = 'south'")
            return made

        curator.ledger.charge = charged
        for _ in range(2):
            with pytest.raises(LedgerConflict, match=r"a table that has changed since\. Ask with fresh=True"):
                curator.ask(asked.format("south"), epsilon=1)
        with pytest.raises(BudgetExceeded):
            curator.ask(asked.format("south"), epsilon=1, fresh=True)
        assert [bool(charge.release) for charge in curator.history() if charge.parts] == [True, False]
    run("DROP TABLE living")


def test_linear_answers_on_parts_that_have_changed_are_not_lost(server, run, tmp_path):
    """Nothing is stored under their charge, so it can be completed if the content comes back."""
    run("CREATE TABLE living AS SELECT i AS who, 'north' AS side, i % 2 AS kind FROM generate_series(1, 50) AS i")
    facts = {"table": {"name": "t", "unit": "who", "rows": 1, "partition": "side"}}
    facts |= {"columns": {"side": {"type": "category", "values": ["north", "south"]}}}
    facts["columns"]["kind"] = {"type": "category", "values": ["0", "1"]}
    table = Table(server.url(table="living"), facts)
    with Curator(table, ledger=tmp_path / "l", budget=Budget(epsilon=10)) as curator:
        charge, asked = curator.ledger.charge, marginals(table.where(table.side == "north").domain("kind"), k=1)

        def charged(**given):
            made = charge(**given)
            run("UPDATE living SET side = 'south' WHERE who = 1")
            return made

        curator.ledger.charge = charged
        with pytest.raises(LedgerConflict, match="Ask with fresh=True"):
            curator.answer(asked, epsilon=1, method="histogram")
        run("UPDATE living SET side = 'north' WHERE who = 1")
        curator.ledger.charge = charge
        assert np.isfinite(curator.answer(asked, epsilon=1, method="histogram").answers).all()
        assert len([charge for charge in curator.history() if charge.parts]) == 1
    run("DROP TABLE living")


def test_nothing_is_written(server, run, people):
    """A transaction of ours can write nothing, and none of ours was given a number."""
    before = run("SELECT pg_current_xact_id_if_assigned(), pg_snapshot_xmax(pg_current_snapshot())")
    with engine(Postgres, [people], KEY) as tested:
        tested.fingerprint()
        tested.answer(plan(people.schema, 1))
    after = run("SELECT pg_current_xact_id_if_assigned(), pg_snapshot_xmax(pg_current_snapshot())")
    assert before == after
    for statement in ("DELETE FROM people", "CREATE TEMP TABLE x (a int)", "SELECT nextval('s')", "VACUUM people"):
        with pytest.raises(psycopg.Error), connected(Database.read(f"{server.url()}&table=x"), 1000) as connection:
            connection.execute(statement)


def test_a_user_who_may_only_read_can_be_asked(server, run, people):
    run("CREATE ROLE reader LOGIN; GRANT SELECT (who, age) ON people TO reader")
    try:
        place = server.url(user="reader", table="people")
        with pytest.raises(EngineUnavailable, match="GRANT SELECT"):
            rows(Table(place, SCHEMA))
        run("GRANT SELECT (note) ON people TO reader")
        assert rows(Table(place, SCHEMA)) == rows(people) == 14
        run("REVOKE ALL ON people FROM reader; CREATE SCHEMA hidden; CREATE TABLE hidden.people (who int8)")
        with pytest.raises(EngineUnavailable, match="no such table"):
            rows(Table(server.url(user="reader", table="hidden.people"), SCHEMA))
    finally:
        run("DROP SCHEMA hidden CASCADE; DROP OWNED BY reader; DROP ROLE reader")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("postgresql://postgres@/postgres?host={}&table=nobody", "no such table"),
        ("postgresql://postgres@/postgres?host={}&table=a.b.c.d", "no such table"),
        ("postgresql://postgres@/postgres?host={}&table=%22open", "no such table"),
        ("postgresql://postgres@/postgres?host={}&table=pg_class_oid_index", "no such table"),
        ("postgresql://postgres@/nowhere?host={}&table=people", "no such database"),
        ("postgresql://nobody@/postgres?host={}&table=people", "does not admit"),
        ("postgresql://postgres:secret@127.0.0.1:1/postgres?table=people", "no connection"),
        ("postgresql://postgres@/postgres?host={}&sslmode=odd&table=people", "no connection"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_charged(server, tmp_path, address, said):
    table = Table(address.format(server.folder), SCHEMA)
    with Curator(table, ledger=tmp_path / "l", budget=Budget(epsilon=1), engine=engine_for([table])) as curator:
        with pytest.raises(EngineUnavailable, match=said) as error:
            curator.ask("SELECT COUNT(*) FROM t", epsilon="0.1")
        assert curator.remaining == 1
    assert "secret" not in "".join(traceback.format_exception(error.value)) + repr(table)


def test_a_column_that_is_not_there_is_named(server, run, people):
    run("ALTER TABLE people RENAME note TO remark")
    with Postgres() as tested, pytest.raises(BadData, match="note"):
        tested.register(people, KEY)
    run("ALTER TABLE people RENAME remark TO note")
    with engine(Postgres, [people], KEY) as tested:
        run("ALTER TABLE people DROP COLUMN note")
        with pytest.raises(BadData, match="note"):
            tested.fingerprint()
        with pytest.raises(EngineError, match="The charge is kept"):
            tested.answer(plan(people.schema))


def test_what_takes_too_long_ends(server, run, people):
    run("CREATE VIEW elsewhere_v AS SELECT who, age, note FROM people, LATERAL (SELECT pg_sleep(0.1 + 0 * age)) AS s")
    table = Table(server.url(table="elsewhere_v"), SCHEMA)
    with Postgres(timeout=0.3) as tested:
        tested.register(table, KEY)
        with pytest.raises(EngineUnavailable, match=r"longer than 0\.3 seconds"):
            tested.fingerprint()
        with pytest.raises(EngineError, match="The charge is kept"):
            tested.answer(plan(table.schema))


def test_an_error_of_the_server_is_not_repeated(server, run, people):
    run("CREATE VIEW elsewhere_v AS SELECT who, CAST(note AS int4) AS age, note FROM people")
    table = Table(server.url(table="elsewhere_v"), SCHEMA)
    with engine(Postgres, [table], KEY) as tested:
        for call in (tested.fingerprint, lambda: tested.answer(plan(table.schema))):
            with pytest.raises(EngineError) as error:
                call()
            assert error.value.__context__ is None and "it's" not in str(error.value)


def test_threads_and_forks_share_an_engine(people):
    asked, found = plan(people.schema, 1), []
    with engine(Postgres, [people], KEY) as tested:
        expected = tested.answer(asked)
        threads = [threading.Thread(target=lambda: found.append(tested.answer(asked))) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        reader, writer = os.pipe()
        if not (child := os.fork()):
            os.write(writer, repr(tested.answer(asked)).encode())
            os._exit(0)
        os.waitpid(child, 0)
        assert os.read(reader, 1 << 16).decode() == repr(expected)
        os.close(reader)
        os.close(writer)
    assert len(found) == 6
    for answer in found:
        same(expected, answer, 0, asked)


def test_a_server_that_was_restarted_is_found_again(people, server):
    with engine(Postgres, [people], KEY) as tested:
        expected, fingerprint = tested.answer(plan(people.schema)), tested.fingerprint()
        server.kill()
        with pytest.raises(EngineError):
            tested.answer(plan(people.schema))
        server.start()
        same(expected, tested.answer(plan(people.schema)), 0, plan(people.schema))
        assert tested.fingerprint() == fingerprint


@pytest.mark.parametrize(
    "address", ["postgresql://h/d", "mysql://h/d?table=t", "postgresql://h/d?table=a&table=b", "://"]
)
def test_an_address_names_one_table(address):
    with pytest.raises(BadSchema, match="table=people"):
        Table(address, SCHEMA)


def test_the_engine_is_that_of_the_data(people):
    assert isinstance(engine_for([people]), Postgres)
    with engine_for([Table(ROWS, SCHEMA)]) as other:
        assert isinstance(other, DuckDB)
    with pytest.raises(BadParameter, match="one database"):
        engine_for([people, Table(ROWS, SCHEMA, name="s")])
    with Postgres() as tested:
        with pytest.raises(BadParameter, match="address"):
            tested.register(Table(ROWS, SCHEMA), KEY)
        with pytest.raises(BadParameter, match="hexadecimal"):
            tested.register(people, "'" * 32)
    with pytest.raises(BadSchema, match="public"):
        _ = PublicTable(str(people.data.url) + "&table=people", "p").values
