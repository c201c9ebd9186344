"""The shadow sees parsed SELECTs over the catalogue, and nothing else; attacks get nowhere."""

import os
import subprocess
import sys
import threading
import time

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import Dialect

from tacit.server.postgres.errors import SqlError
from tacit.server.postgres.results import Bound
from tacit.server.postgres.session import SHADOWED, Session
from tacit.server.postgres.shadow import Cluster, Shadow, checked, databases
from tacit.server.postgres.shadow.databases import EmptyTable

ACCEPTED = [
    "SELECT 1",
    "select pg_catalog.version()",
    "SELECT current_database(), current_schema(), current_schemas(true), current_user, now()",
    "SELECT datname FROM pg_catalog.pg_database",
    "SELECT pg_catalog.pg_database.datname FROM pg_catalog.pg_database",
    "SELECT relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname !~ '^pg_'",
    "SELECT * FROM information_schema.tables WHERE table_schema = 'public'",
    "WITH x AS (SELECT oid FROM pg_type) SELECT COUNT(*) FROM x",
    "SELECT 'people'::regclass::oid, ARRAY[1, 2] @> ARRAY[1], (SELECT 1), CASE WHEN true THEN 1 END",
    "SELECT a.attname FROM pg_attribute a WHERE a.attrelid = 'people'::regclass AND a.attnum = ANY (ARRAY[1, 2])",
    "SELECT (information_schema._pg_expandarray(i.indkey)).n FROM pg_index i",
    "VALUES (1, 'a')",
    "SELECT set_config('search_path', '', false)",
]
ATTACKS = [
    "SELECT pg_sleep(10)",
    "SELECT ('select 1'::text).ts_stat",
    "SELECT (x.a).pg_database_size FROM (SELECT 'postgres'::name AS a) x",
    "SELECT x.ts_stat FROM unnest(ARRAY['select 1']) AS x",
    "SELECT (3::float8).pg_sleep",
    "SELECT (1::int).pg_stat_get_activity",
    "SELECT pg_catalog.pg_sleep(10)",
    'SELECT "pg_sleep"(10)',
    "SELECT * FROM pg_sleep(10)",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_read_binary_file('/etc/passwd'), pg_ls_dir('/'), pg_stat_file('/')",
    "SELECT lo_import('/etc/passwd')",
    "SELECT lo_create(1), lo_export(1, '/tmp/x'), loread(1, 1)",
    "SELECT query_to_xml('SELECT pg_sleep(10)', true, true, '')",
    "SELECT table_to_xml('people', true, true, ''), database_to_xml(true, true, '')",
    "SELECT pg_advisory_lock(1)",
    "SELECT pg_notify('a', 'b')",
    "SELECT pg_terminate_backend(1), pg_cancel_backend(1), pg_reload_conf(), pg_rotate_logfile()",
    "SELECT set_config('role', 'postgres', false)",
    "SELECT set_config('session_authorization', 'postgres', false)",
    "SELECT set_config('sta' || 'tement_timeout', '0', false)",
    "SELECT set_config('statement_timeout', '0', false) FROM pg_stat_activity",
    "SELECT repeat('x', 1000000000)",
    "SELECT rpad('x', 1000000000), lpad('x', 1000000000), format('%1000000000s', 'x')",
    "SELECT has_database_privilege('other', 'CONNECT'), pg_database_size('other')",
    "SELECT dblink('host=elsewhere', 'SELECT 1')",
    "SELECT nextval('x'), setval('x', 1)",
    "SELECT * FROM pg_stat_activity",
    "SELECT * FROM pg_authid",
    "SELECT * FROM pg_shadow",
    "SELECT * FROM pg_largeobject",
    "SELECT * FROM pg_file_settings",
    "SELECT * FROM pg_hba_file_rules",
    "SELECT * FROM pg_locks",
    "SELECT * FROM people",
    "SELECT 1 INTO x",
    "SELECT * FROM pg_class FOR UPDATE",
    "WITH x AS (DELETE FROM pg_class RETURNING 1) SELECT * FROM x",
    "WITH x AS (INSERT INTO people VALUES (1) RETURNING 1) SELECT * FROM x",
    "SELECT 1; SELECT pg_sleep(1)",
    "DO $$ BEGIN PERFORM pg_sleep(10); END $$",
    "COPY (SELECT 1) TO PROGRAM 'id'",
    "CREATE TABLE x (a int)",
    "SET ROLE postgres",
    "LOAD 'x'",
    "CALL x()",
    "SELECT U&'\\0041'",
    "SELECT E'\\x41\\''",
    "SELECT $$a$$",
    "SELECT" + "(" * 500 + "1" + ")" * 500,
    "SELECT '" + "x" * 40_000 + "'",
]


@pytest.fixture(scope="module")
def shadow():
    cluster = Cluster()
    made = Shadow(cluster)
    yield made
    made.close()
    cluster.close()
    assert not cluster.folder.exists()


TABLES = (EmptyTable("public", "people", (("person", "text", "who"), ("age", "bigint", "from 0 to '99'"))),)


def run(shadow, sql, database="people"):
    settings = {name: Session({}).settings[name] for name in SHADOWED}
    return shadow.run(database, TABLES, sql, settings, Bound()).rows


@pytest.mark.parametrize("sql", ACCEPTED)
def test_what_clients_ask_is_answered(shadow, sql):
    assert run(shadow, checked(sql)) is not None


@pytest.mark.parametrize("sql", ATTACKS)
def test_attacks_do_not_reach_it(sql):
    with pytest.raises(SqlError):
        checked(sql)


def test_only_one_database_is_seen(shadow):
    run(shadow, "SELECT 1", "other")
    for sql in ("SELECT datname FROM pg_database", "SELECT d.datname FROM pg_catalog.pg_database AS d ORDER BY 1"):
        assert run(shadow, checked(sql)) == [(b"people",)]


@pytest.mark.parametrize(
    ("sql", "state"),
    [
        ("CREATE TABLE x (a int)", "25006"),
        ("SET TRANSACTION READ WRITE", "25001"),
        ("INSERT INTO people VALUES ('a', 1)", "25006"),
        ("SELECT pg_read_file('/etc/passwd')", "42501"),
        ("SELECT * FROM pg_authid", "42501"),
        ("SET ROLE postgres", "42501"),
        ("COPY (SELECT 1) TO PROGRAM 'id'", "42501"),
        ("SELECT lo_import('/etc/passwd')", "42501"),
        ("CREATE TEMP TABLE x (a int)", "25006"),
        ("SELECT pg_sleep(30)", "42501"),
        ("SELECT ('select 1'::text).ts_stat", "42501"),
        ("SELECT (1::int).pg_terminate_backend", "42501"),
        ("SELECT count(*) FROM (SELECT generate_series(1, 1000000000)) AS x", "57014"),
        ("SELECT 1; SELECT 2", "42601"),
    ],
)
def test_even_what_reached_it_would_fail(shadow, sql, state):
    """The list is one wall; the role, its read-only transaction and its time are another."""
    begun = time.monotonic()
    with pytest.raises(SqlError) as caught:
        run(shadow, sql)
    assert caught.value.state == state
    assert time.monotonic() < begun + 12
    assert run(shadow, "SELECT 1") == [(b"1",)]


def test_a_result_without_end_is_refused(shadow, monkeypatch):
    monkeypatch.setattr(databases, "_MOST_BYTES", 1 << 16)
    with pytest.raises(SqlError) as caught:
        run(shadow, checked("SELECT a.* FROM pg_proc a, pg_proc b"))
    assert caught.value.state == "54000" and run(shadow, "SELECT 1") == [(b"1",)]


def test_a_connection_that_was_lost_is_made_anew(shadow):
    run(shadow, "SELECT 1")
    with shadow._administering("template1") as administer:
        administer("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'analyst'")
    assert run(shadow, "SELECT 1") == [(b"1",)]


def test_other_threads_go_on_while_it_works(shadow):
    """The library that waits for it must not hold the interpreter."""
    thread = threading.Thread(
        target=run, args=(shadow, "SELECT count(*) FROM (SELECT generate_series(1, 20000000)) AS x")
    )
    begun = time.monotonic()
    thread.start()
    time.sleep(0.1)
    assert time.monotonic() < begun + 2 and thread.is_alive()
    thread.join(20)


def test_the_folder_is_its_owners_alone_and_ends_with_the_service(shadow):
    assert shadow.cluster.folder.stat().st_mode & 0o077 == 0
    code = "import os; from tacit.server.postgres import Cluster as C; print(C().folder, flush=True); os.killpg(0, 9)"
    folder = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, start_new_session=True
    ).stdout.strip()
    until = time.monotonic() + 20
    while os.path.exists(folder) and time.monotonic() < until:
        time.sleep(0.05)
    assert folder and not os.path.exists(folder)


def test_it_does_not_listen_on_the_network(shadow):
    assert run(shadow, "SHOW listen_addresses") == [(b"",)]
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(host=str(shadow.cluster.folder), dbname="people", user="postgres", password="guessed")


WORDS = st.sampled_from(
    [
        "SELECT",
        "FROM",
        "WHERE",
        "pg_class",
        "pg_sleep",
        "(",
        ")",
        ",",
        "1",
        "'a'",
        '"b"',
        "*",
        ".",
        "::",
        "text",
        ";",
        "--",
        "/*",
        "*/",
        "$$",
        "E'\\''",
        "U&''",
        "||",
        "AS",
        "WITH",
        "x",
        "INTO",
        "people",
        "UNION",
        "LIMIT",
        "ORDER",
        "BY",
        "INSERT",
        "DELETE",
        "pg_read_file",
        "lo_import",
        "FOR",
        "UPDATE",
    ]
)


@given(st.lists(WORDS, max_size=25).map(" ".join))
def test_what_is_accepted_is_written_from_its_tree(text):
    """Whatever is sent parses again to the same text: no comment, escape or second statement is carried along."""
    try:
        sent = checked(text)
    except SqlError:
        return
    (tree,) = Dialect.get_or_raise("postgres").parse(sent)
    assert checked(sent) == sent and tree is not None
    assert not any(word in sent.lower() for word in ("pg_sleep(", "pg_read_file(", "lo_import(", "insert ", "--", "/*"))
