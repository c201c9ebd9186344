"""A ledger in PostgreSQL: durable or refused, one writer at a time, and whole after any kill."""

import json
import os
import random
import subprocess
import sys
import threading
import time
import uuid
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import psycopg
import pytest

from tacit import BadParameter, Budget
from tacit.core.errors import BudgetExceeded, LedgerCorrupt, LedgerUnavailable
from tacit.ledger import Ledger
from tacit.ledger.entries import Request
from tacit.testing._ledger import TENTH, key, pure

ONE = Budget(epsilon=1)
KILLS = 60
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # later Pythons warn of any other thread


@pytest.fixture
def schema():
    return f'50% "{uuid.uuid4().hex}'


@pytest.fixture
def place(server, schema):
    return server.url(schema=schema)


@pytest.fixture
def run(server, schema):
    """Runs a statement in the schema of the ledger, as its owner; what it gives."""

    def statement(text, before=""):
        with psycopg.connect(server.url(), autocommit=True) as connection:
            quoted = '"' + schema.replace('"', '""') + '"'
            connection.execute(f"SET search_path = {quoted}; {before}")
            cursor = connection.execute(text)
            return cursor.fetchall() if cursor.description else None

    return statement


def test_what_was_told_survives_workers_being_killed(place):
    command = [sys.executable, "-m", "tests.ledger.killing", place, str(KILLS), "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["faults"] == []
    assert found["charges"] == KILLS  # the budget was filled, exactly
    assert found["cut"] > 0 and found["told"] > KILLS / 4


def test_what_was_told_survives_the_server_being_killed(server, place):
    """Askers go on asking while the server is killed and started again; none ever asks twice for nothing."""
    limit, price, told, failures, rng = 500, pure(Fraction(1, 1000)), {}, [], random.Random(1)
    Ledger.open(place, Budget(epsilon=Fraction(limit, 1000))).close()

    def ask(who):
        with Ledger.open(place) as ledger:
            for question in range(limit):
                while True:
                    try:
                        charge = ledger.charge(key=key(who, question), loss=price, analyst=f"a{who}")
                        answer = charge.release or ledger.store(charge, f"{who} {question} {rng.random()}".encode())
                        told[charge.key] = charge.seq, answer
                        break
                    except LedgerUnavailable:
                        failures.append(who)
                        time.sleep(0.02)
                    except BudgetExceeded:
                        return

    askers = [threading.Thread(target=ask, args=(who,)) for who in range(3)]
    for asker in askers:
        asker.start()
    kills = 0
    while kills < 3 and any(asker.is_alive() for asker in askers):
        time.sleep(rng.uniform(0.2, 0.4))
        server.kill()
        server.start()
        kills += 1
    for asker in askers:
        asker.join()
    with Ledger.open(place) as ledger:
        ledger.verify()
        kept = {charge.key: (charge.seq, charge.release) for charge in ledger.history()}
        assert {question: kept.get(question) for question in told} == told
        assert len(kept) == limit and ledger.remaining() == 0
    assert kills == 3 and len(failures) >= 3


def test_a_commit_is_durable_or_is_not_made(server, place, run):
    with Ledger.open(place, ONE) as ledger:
        run("ALTER ROLE postgres SET synchronous_commit = off")
        try:
            with ledger.database.writing() as connection:
                assert connection.execute("SHOW synchronous_commit").fetchone()[0] == "on"
            next(ledger.database.paused())  # the next connection is one that the role's setting holds for
            with ledger.database.writing() as connection:
                assert connection.execute("SHOW synchronous_commit").fetchone()[0] == "on"
        finally:
            run("ALTER ROLE postgres RESET synchronous_commit")
        for setting in ("fsync", "full_page_writes"):
            set_to(run, setting, "off")
            try:
                with pytest.raises(LedgerUnavailable, match=f"not durable.*{setting}=off"):
                    ledger.charge(key=key(1), loss=TENTH, analyst="ann")
            finally:
                set_to(run, setting, "on")
        ledger.charge(key=key(1), loss=TENTH, analyst="ann")
        assert ledger.verify().seq == 2


def test_what_was_not_committed_is_not_told_as_if_it_were(place):
    with Ledger.open(place, ONE) as ledger:

        def fail(book):
            book.charge(Request(key(1), TENTH, "ann"))
            with suppress(psycopg.Error):  # after which PostgreSQL commits nothing, and calls it no error
                book.connection.execute("SELECT nothing FROM nowhere")
            book.close = lambda: None

        with pytest.raises(LedgerUnavailable, match="undone"):
            ledger.write(fail)
        assert ledger.verify().seq == 1


def test_no_statement_is_left_on_the_server(place):
    with Ledger.open(place, ONE) as ledger:
        for _ in range(8):  # the driver would prepare what is asked often
            ledger.find(key(1))
        with ledger.database.reading() as connection:
            assert connection.execute("SELECT count(*) FROM pg_prepared_statements").fetchone() == (0,)


def set_to(run, setting, value):
    """A setting of the server; it takes a moment."""
    run(f"ALTER SYSTEM SET {setting} = {value}")
    run("SELECT pg_reload_conf()")
    while run(f"SHOW {setting}") != [(value,)]:
        time.sleep(0.01)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET body = body",
        "DELETE FROM entries WHERE seq = 2",
        "TRUNCATE entries",
        "INSERT INTO entries (seq, kind, body, hash) VALUES (9, '', '', '')",
    ],
)
@pytest.mark.parametrize("before", ["", "SET session_replication_role = replica"])
def test_entries_are_only_appended(place, run, statement, before):
    with Ledger.open(place, ONE) as ledger:
        ledger.charge(key=key(1), loss=TENTH, analyst="ann")
        with pytest.raises(psycopg.Error, match="only ever appended"):
            run(statement, before)
        assert ledger.verify().seq == 2


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE entries DISABLE TRIGGER no_change",
        "DROP TRIGGER only_append ON entries",
        "CREATE OR REPLACE FUNCTION forbid() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
        "ALTER TABLE entries SET UNLOGGED",
        "ALTER TABLE entries DISABLE TRIGGER ALL; UPDATE entries SET body = replace(body, 'ann', 'eve')",
        "UPDATE totals SET amounts = replace(amounts, '1', '0')",
        "DELETE FROM totals",
    ],
)
def test_what_was_tampered_with_does_not_verify(place, run, statement):
    with Ledger.open(place, ONE) as ledger:
        ledger.charge(key=key(1), loss=TENTH, analyst="ann")
        ledger.verify()
        run(statement)
        with pytest.raises(LedgerCorrupt):
            ledger.verify()


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE RULE keep AS ON UPDATE TO totals DO INSTEAD NOTHING",
        "CREATE TRIGGER more AFTER UPDATE ON totals FOR EACH ROW EXECUTE FUNCTION append()",
        "CREATE TRIGGER more BEFORE UPDATE ON sessions FOR EACH ROW EXECUTE FUNCTION append()",
        "ALTER TABLE entries DISABLE TRIGGER no_change",
        "CREATE OR REPLACE FUNCTION append() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
        "ALTER FUNCTION append() SET search_path = public",
        "ALTER TABLE totals ALTER amounts SET DEFAULT ''",
        "ALTER TABLE totals ADD note TEXT",
        "CREATE INDEX odd ON totals (length(amounts))",
        "DROP INDEX one_step",
        "ALTER TABLE totals DROP CONSTRAINT totals_pkey",
        "ALTER TABLE totals ENABLE ROW LEVEL SECURITY",
        "CREATE TABLE more () INHERITS (totals)",
        "ALTER TABLE totals SET UNLOGGED",
    ],
)
def test_an_object_that_was_added_or_altered_is_seen_at_the_next_charge_and_on_opening(place, run, statement):
    with Ledger.open(place, ONE) as ledger:
        ledger.charge(key=key(1), loss=TENTH, analyst="ann")
        run(statement)
        with pytest.raises(LedgerCorrupt, match="triggers"):
            ledger.charge(key=key(2), loss=TENTH, analyst="ann")
    with pytest.raises(LedgerCorrupt, match="triggers"):
        Ledger.open(place)


def test_what_the_server_does_by_itself_is_no_change(place, run):
    with Ledger.open(place, ONE) as ledger:
        ledger.charge(key=key(1), loss=TENTH, analyst="ann")
        run("ANALYZE entries")
        run("REINDEX TABLE entries")
        ledger.charge(key=key(2), loss=TENTH, analyst="ann")
    Ledger.open(place).verify()


def test_a_total_that_was_edited_is_seen_on_opening(place, run):
    with Ledger.open(place, ONE) as ledger:
        ledger.charge(key=key(1), loss=TENTH, analyst="ann")
    run("UPDATE totals SET amounts = replace(amounts, '1/10', '1/100')")
    with pytest.raises(LedgerCorrupt, match="totals"):
        Ledger.open(place)


def test_a_writer_waits_and_a_reader_does_not(server, place, monkeypatch):
    monkeypatch.setattr("tacit.ledger.stores.postgres.PATIENCE", "200ms")
    with Ledger.open(place, ONE) as one, Ledger.open(place) as two:
        with one.database.writing():
            with pytest.raises(LedgerUnavailable, match="another writer"):
                two.charge(key=key(1), loss=TENTH, analyst="ann")
            assert two.find(key(1)) is None
        two.charge(key=key(1), loss=TENTH, analyst="ann")
        with Ledger.open(server.url(schema="another"), ONE) as other, one.database.writing():
            other.charge(key=key(1), loss=TENTH, analyst="ann")


def test_a_writer_sees_what_was_written_while_it_waited(place):
    with Ledger.open(place, ONE) as one, Ledger.open(place) as two:
        waiting = threading.Thread(target=lambda: two.charge(key=key(2), loss=TENTH, analyst="ben"))
        with one.database.writing() as connection:
            waiting.start()
            time.sleep(0.1)
            connection.execute("UPDATE totals SET amounts = amounts")
        one.charge(key=key(1), loss=TENTH, analyst="ann")
        waiting.join()
        assert one.verify().seq == 3


def test_a_fork_has_a_connection_of_its_own(place):
    with Ledger.open(place, ONE) as ledger:
        ledger.charge(key=key(1), loss=TENTH, analyst="ann")
        children = []
        for i in range(3):
            if not (child := os.fork()):
                ledger.charge(key=key("child", i), loss=TENTH, analyst="ann")
                os._exit(0)
            children.append(child)
        for i in range(3):
            ledger.charge(key=key("parent", i), loss=TENTH, analyst="ann")
        assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
        assert ledger.verify().seq == 8


def test_what_cannot_be_used_is_said(server, place, run):
    with pytest.raises(LedgerUnavailable, match="give a budget"):
        Ledger.open(place)
    for address in (
        "postgresql://postgres:secret@127.0.0.1:1/x",
        server.url(database="nowhere"),
        server.url(user="nobody"),
    ):
        with pytest.raises(LedgerUnavailable, match="no connection") as error:
            Ledger.open(address, ONE)
        assert "secret" not in str(error.value)
    with pytest.raises(LedgerUnavailable, match="one schema"):
        Ledger.open(server.url(schema="x" * 64), ONE)
    with Ledger.open(place.replace("postgres@", "postgres:secret@"), ONE) as ledger:
        assert "secret" not in repr(ledger)
        with pytest.raises(BadParameter, match="opened"):
            Ledger.open(place, Budget(epsilon=2))
    run("CREATE ROLE reader LOGIN")
    try:
        with pytest.raises(LedgerUnavailable, match="may not do that"):
            Ledger.open(server.url(user="reader", schema="mine"), ONE)
    finally:
        run("DROP ROLE reader")


def test_another_table_is_left_alone(server, place, run, schema):
    quoted = '"' + schema.replace('"', '""') + '"'
    run(f"CREATE SCHEMA {quoted}; CREATE TABLE {quoted}.entries (mine int)")
    with pytest.raises(LedgerUnavailable, match="not a ledger"):
        Ledger.open(place, ONE)
