"""A ledger in a PostgreSQL database: all that is particular to PostgreSQL.

    postgresql://user@host/database?schema=people      a ledger has a schema of its own, by default "tacit"

With synchronous_commit=on a commit is reported once its log is synced, and with fsync and full_page_writes what was
synced survives a power cut; each transaction that writes sets the first, reads all of them, and is refused if they
differ.
Writers exclude one another by a lock that belongs to the transaction and is taken before anything is read: it is gone
with its holder, however that ends.  A writer is read-committed, since its view must be of a moment after that.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from ...core.errors import LedgerCorrupt, LedgerError, LedgerUnavailable, Missing
from ..entries import Head
from ..seal import keys_folder
from .address import Address
from .dialect import Connection, Cursor
from .layout import Layout
from .postgres_shape import Shape

if TYPE_CHECKING:
    import psycopg

PATIENCE = "60s"  # to wait for other writers
DURABLE = {"synchronous_commit": "on", "fsync": "on", "full_page_writes": "on", "server_encoding": "UTF8"}
_LOCAL = """
SELECT set_config('search_path', :path, true), set_config('lock_timeout', :patience, true),
    set_config('synchronous_commit', 'on', true)
"""
_SETTINGS = ", ".join(f"current_setting('{name}')" for name in DURABLE)
_ALONE = f"SELECT {_SETTINGS}, pg_advisory_xact_lock(:lock)"
_RAISE = "RAISE EXCEPTION 'entries are only ever appended'"
FUNCTIONS = {
    "forbid": f"BEGIN {_RAISE}; END",
    "append": "BEGIN IF NEW.seq <> (SELECT COALESCE(MAX(seq), 0) + 1 FROM entries)"
    f" THEN {_RAISE}; END IF; RETURN NEW; END",
}
TRIGGERS = {
    "no_change": "BEFORE DELETE OR UPDATE OR TRUNCATE ON {} FOR EACH STATEMENT EXECUTE FUNCTION forbid()",
    "only_append": "BEFORE INSERT ON {} FOR EACH ROW EXECUTE FUNCTION append()",
}
_REASONS = {
    "42501": "the user may not do that; it must own the schema, or be allowed to CREATE one",
    "55P03": f"another writer held it for {PATIENCE}",
    "25006": "the server is a replica, or read-only",
    "53300": "the server has no more connections",
    "53100": "the disk of the server is full",
    "57P01": "the server is shutting down",
    "57P03": "the server is starting up",
}


class PostgresStore:
    """How PostgreSQL is opened, how it begins to write, and what it can check of itself."""

    def __init__(self, address: Address, place: str, create: bool, layout: Layout) -> None:
        try:
            import psycopg
        except ModuleNotFoundError:
            raise Missing("A ledger in PostgreSQL needs its driver. Run: pip install 'tacit[postgres]'") from None
        schema, *more = [value for name, value in address.query if name == "schema"] or [layout.schema]
        if more or not 0 < len(schema.encode()) < 64 or not schema.isprintable():
            raise LedgerUnavailable(place, "the URL must name one schema, of at most 63 bytes")
        self._driver, self._place, self._schema = psycopg, place, schema
        self._layout, self._shape = layout, Shape(layout)
        self._guarded: str | None = None  # the signature of the objects that were looked at
        named = {"host": address.host.strip("[]"), "port": address.port, "dbname": unquote(address.database)}
        named |= {"user": address.user, "password": address.password, **dict(address.query)}
        self._given = {name: value for name, value in named.items() if value and name != "schema"}

    def connect(self) -> Connection:
        from psycopg.conninfo import make_conninfo

        address = make_conninfo(**self._given)
        return Named(self._driver.connect(address, autocommit=True, prepare_threshold=None))

    def alive(self, connection: Connection) -> bool:
        """Whether the connection works: the server may have ended it, or have stopped, since it was last used."""
        if connection.in_transaction:  # in which a BEGIN would be no error
            return False
        try:
            connection.execute("SELECT 1")
        except connection.Error:
            return False
        return True

    def begin(self, connection: Connection, writes: bool) -> None:
        """One writer at a time, from its first look on, so that nothing comes between check and charge."""
        level = "READ COMMITTED READ WRITE" if writes else "REPEATABLE READ READ ONLY"
        connection.execute(f"BEGIN ISOLATION LEVEL {level}")
        connection.execute(_LOCAL, {"path": f"{quoted(self._schema)}, pg_temp", "patience": PATIENCE})
        if not writes:
            return
        lock = int.from_bytes(hashlib.sha256(f"tacit ledger {self._schema}".encode()).digest()[:8], signed=True)
        *settings, _ = connection.execute(_ALONE, {"lock": lock}).fetchone()
        if settings != list(DURABLE.values()):
            shown = ", ".join(f"{name}={value}" for name, value in zip(DURABLE, settings, strict=True))
            raise LedgerUnavailable(self._place, f"commits are not durable: {shown}")
        if self._guarded is not None and self._shape.signature(connection) != self._guarded:
            self.guard(connection)

    def commit(self, connection: Connection) -> None:
        """Commit.  PostgreSQL answers ROLLBACK, without an error, where a statement of the transaction failed."""
        if getattr(connection.execute("COMMIT"), "statusmessage", None) != "COMMIT":
            raise LedgerUnavailable(self._place, "a statement failed, and the transaction was undone")

    def tables(self, connection: Connection) -> set[str]:
        rows = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = :schema", {"schema": self._schema}
        )
        return {name for (name,) in rows}

    def install(self, connection: Connection) -> None:
        """Make the tables, and forbid what is never done, to replicas and superusers too."""
        there = "SELECT count(*) FROM pg_namespace WHERE nspname = :schema"
        if connection.execute(there, {"schema": self._schema}).fetchone() == (0,):
            connection.execute(f"CREATE SCHEMA {quoted(self._schema)}")
        for statement in self._layout.statements:
            connection.execute(statement.format(octets="BYTEA"))
        for name, body in FUNCTIONS.items():
            connection.execute(f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $${body}$$")
        for name, rule in TRIGGERS.items():
            connection.execute(f"CREATE TRIGGER {name} {rule.format('entries')}")
            connection.execute(f"ALTER TABLE entries ENABLE ALWAYS TRIGGER {name}")

    def witness(self) -> None:
        """None: a server has its own archive of its log, and its backups are its administrator's."""

    def acknowledged(self, head: Head) -> None:
        pass

    def key_path(self, identity: str) -> Path:
        return keys_folder() / f"{identity[:32]}.key"

    def guard(self, connection: Connection) -> None:
        """Check the objects.  A reader does not check again: it reads checked entries and charges nothing."""
        if self._shape.found(connection) != self._shape.made(FUNCTIONS):
            raise LedgerCorrupt(0, "the tables, indexes and triggers are not those that it was made with")
        self._guarded = self._shape.signature(connection)

    def check(self, connection: Connection) -> None:
        """Check that the objects are those that were made."""
        self.guard(connection)

    def backup(self, connection: Connection, target: Path) -> None:
        raise LedgerUnavailable(self._place, f"PostgreSQL makes its own backups: pg_dump --schema={self._schema}")

    def error(self, error: BaseException) -> LedgerError | None:
        """The error by its class: PostgreSQL's own words may hold data."""
        if not isinstance(error, self._driver.Error):
            return None
        state, kind = error.sqlstate, type(error).__name__
        if state is None and not isinstance(error, self._driver.OperationalError):
            return LedgerUnavailable(self._place, kind)
        if state is None:
            return LedgerUnavailable(
                self._place, "there is no connection; check that the server is up, and the address and the user"
            )
        if state.startswith("XX"):
            return LedgerCorrupt(0, f"PostgreSQL reports {state}")
        return LedgerUnavailable(self._place, _REASONS.get(state, f"PostgreSQL reports {state} ({kind})"))

    def fatal(self, error: BaseException) -> str:
        """No error is fatal: a server whose disk fails stops, and recovers from its log before it answers again."""
        return ""


class Named:
    """A connection of psycopg that takes parameters as :name, where psycopg has %(name)s."""

    def __init__(self, driver: psycopg.Connection[Any]) -> None:
        self._driver = driver
        self.Error, self.rollback, self.close = driver.Error, driver.rollback, driver.close

    @property
    def in_transaction(self) -> bool:
        return self._driver.info.transaction_status.name != "IDLE"

    def execute(self, statement: str, given: Mapping[str, Any] | None = None, /) -> Cursor:
        return self._driver.execute(_named(statement) if given else statement, given)

    def executemany(self, statement: str, given: Iterable[Mapping[str, Any]], /) -> None:
        self._driver.cursor().executemany(_named(statement), given)


@cache
def _named(statement: str) -> str:
    return re.sub(r":(\w+)", r"%(\1)s", statement)


def quoted(name: str) -> str:
    """A name, quoted for SQL."""
    return '"' + name.replace('"', '""') + '"'
