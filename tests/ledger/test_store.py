"""Transactions: all or nothing, whatever ends them; one connection, which is replaced when it is dead."""

import gc
import signal
import uuid

import psycopg
import pytest

from tacit import Budget
from tacit.core.errors import LedgerCorrupt, LedgerUnavailable
from tacit.ledger import Ledger
from tacit.ledger.book import last
from tacit.ledger.entries import Entry
from tacit.ledger.stores.sqlite import TRIGGERS
from tacit.ledger.stores.statements import APPEND
from tacit.ledger.stores.store import Store
from tacit.testing._ledger import TENTH, key

ONE = Budget(epsilon=1)


@pytest.fixture
def ledger(places):
    with places()(ONE) as ledger:
        ledger.charge(key=key(0), loss=TENTH, analyst="ann")
        yield ledger


@pytest.fixture
def distant(server):
    """A ledger in PostgreSQL, and what ends all its connections."""

    def end():
        with psycopg.connect(server.url(), autocommit=True) as connection:
            others = "FROM pg_stat_activity WHERE usename = 'postgres' AND pid <> pg_backend_pid()"
            assert connection.execute(f"SELECT pg_terminate_backend(pid, 10000) {others}").fetchall()

    with Ledger.open(server.url(schema=uuid.uuid4().hex), ONE) as ledger:
        yield ledger, end


def note(connection):
    """Append what means nothing."""
    connection.execute(APPEND, Entry.after(last(connection), "note", {}).row())


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit, LedgerUnavailable])
def test_what_raises_is_undone(ledger, kind):
    head, connection, error = ledger.head(), ledger.database._connection, kind("x", "y")

    def work():
        with ledger.database.writing() as writer:
            note(writer)
            assert last(writer).seq == head.seq + 1
            raise error

    with pytest.raises(kind) as raised:
        work()
    assert raised.value is error
    assert ledger.head() == head
    assert ledger.database._connection is connection  # which is as good as before
    ledger.charge(key=key(1), loss=TENTH, analyst="ann")
    assert ledger.verify().seq == head.seq + 1


def test_a_statement_that_fails_undoes_those_before_it(ledger):
    head = ledger.head()

    def work():
        with ledger.database.writing() as writer:
            note(writer)
            writer.execute("SELECT nothing FROM nowhere")

    with pytest.raises(LedgerUnavailable) as raised:
        work()
    assert raised.value.__context__ is None  # which could show data
    assert ledger.head() == head


def test_an_interrupt_in_the_midst_of_a_charge_undoes_it(ledger, monkeypatch):
    head = ledger.head()
    with monkeypatch.context() as patched:
        patched.setattr("tacit.ledger.book.Book.close", lambda _: signal.raise_signal(signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            ledger.charge(key=key(1), loss=TENTH, analyst="ann")
    assert ledger.head() == head and ledger.find(key(1)) is None
    ledger.charge(key=key(1), loss=TENTH, analyst="ann")
    assert ledger.verify().seq == head.seq + 1


def test_a_second_interrupt_as_the_first_is_undone_leaves_nothing_half_written(ledger, monkeypatch):
    head = ledger.head()

    def work():
        with ledger.database.writing() as writer:
            note(writer)
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Store, "_undo", lambda _: signal.raise_signal(signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            work()
    ledger.charge(key=key(1), loss=TENTH, analyst="ann")
    assert ledger.verify().seq == head.seq + 1


def test_a_transaction_within_another_is_refused(ledger):
    head = ledger.head()
    with ledger.database.writing() as writer:
        note(writer)
        for attempt in (ledger.head, lambda: ledger.charge(key=key(1), loss=TENTH, analyst="ann")):
            with pytest.raises(LedgerUnavailable, match="another transaction"):
                attempt()
    assert ledger.head().seq == head.seq + 1


class Stuck:
    """A connection that cannot roll back."""

    def __init__(self, connection, error):
        self._connection, self._error = connection, error

    def rollback(self):
        raise self._error

    def __getattr__(self, name):
        return getattr(self._connection, name)


@pytest.mark.parametrize("interrupted", [False, True])
def test_a_connection_that_cannot_roll_back_is_closed(ledger, interrupted):
    head, store = ledger.head(), ledger.database
    connection = store._connection

    def work():
        store._connection = Stuck(connection, KeyboardInterrupt() if interrupted else connection.Error("stuck"))
        with store.writing() as writer:
            note(writer)
            raise ZeroDivisionError

    with pytest.raises(KeyboardInterrupt if interrupted else ZeroDivisionError):
        work()
    with pytest.raises(connection.Error, match="closed"):
        connection.execute("SELECT 1")
    assert ledger.head() == head


def test_a_connection_that_was_closed_is_replaced(ledger):
    ledger.database._connection.close()
    ledger.charge(key=key(1), loss=TENTH, analyst="ann")


def test_a_ledger_that_is_forgotten_is_closed(places):
    ledger = places()(ONE)
    connection = ledger.database._connection
    connection.execute("SELECT 1")
    del ledger
    gc.collect()
    with pytest.raises(connection.Error, match="closed"):
        connection.execute("SELECT 1")


def test_an_error_that_is_kept_keeps_no_old_view(path):
    """A cursor that stayed open with it would, and a writer must see what is new."""
    with Ledger.open(path, ONE) as ledger, Ledger.open(path) as other:
        ledger.charge(key=key(0), loss=TENTH, analyst="ann")
        ledger.charge(key=key(1), loss=TENTH, analyst="ann")
        with ledger.database.writing() as writer:
            writer.execute("DROP TRIGGER no_update")
            writer.execute("UPDATE entries SET hash = '' WHERE seq = 2")
            writer.execute(TRIGGERS["no_update"])
        kept = []
        for read in (other.spent, other.verify, other.history, lambda: other.find(key(0))):
            with pytest.raises(LedgerCorrupt, match="Entry 2") as raised:
                read()
            kept.append(raised.value)
            ledger.charge(key=key("one", len(kept)), loss=TENTH, analyst="ben")
            other.charge(key=key("two", len(kept)), loss=TENTH, analyst="ben")


def test_a_connection_that_died_while_it_was_idle_is_replaced(distant):
    ledger, end = distant
    for use in (ledger.head, ledger.spent, lambda: ledger.charge(key=key(1), loss=TENTH, analyst="ann")):
        before = ledger.database._connection
        end()
        use()
        assert ledger.database._connection is not before
    assert ledger.verify().seq == 2


def test_a_connection_that_dies_in_the_midst_is_told_and_then_replaced(distant):
    ledger, end = distant

    def work():
        with ledger.database.writing() as writer:
            note(writer)
            end()
            writer.execute("SELECT 1")

    with pytest.raises(LedgerUnavailable, match=r"shutting down|no connection"):
        work()
    assert ledger.head().seq == 1
    ledger.charge(key=key(1), loss=TENTH, analyst="ann")
    assert ledger.verify().seq == 2


def test_the_driver_is_told_what_the_url_says(server):
    place = server.url(schema="told").replace("postgres@", "postgres:p%40ss%2F%3Aw%25rd@")
    with Ledger.open(place, ONE) as ledger:
        info = ledger.database._connection._driver.info
        assert (info.user, info.password, info.dbname) == ("postgres", "p@ss/:w%rd", "postgres")
        assert "ss%2F" not in repr(ledger) and "ss/" not in repr(ledger) and ":***@" in repr(ledger)
