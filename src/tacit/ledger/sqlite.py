"""A ledger in one SQLite file: all that is particular to SQLite.

In a write-ahead log with synchronous=FULL every commit is synced before it is told, so what was told survives a power
cut; with NORMAL it would be consistent and might be gone.  Both settings are of a connection, not of the file, so each
connection sets them, reads them back, and is refused if they differ.  SQLite syncs the directory when it makes the log,
but not when it makes the file: that is done here.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL

from ..core.errors import LedgerCorrupt, LedgerError, LedgerUnavailable

Home = tuple[int, int]  # device and number of a file
JOURNAL, SYNCHRONOUS = "wal", 2  # FULL
PATIENCE = 60.0  # seconds to wait for other processes
_GUARD = "SELECT RAISE(ABORT, 'entries are only ever appended')"
TRIGGERS = {
    "no_update": f"CREATE TRIGGER no_update BEFORE UPDATE ON entries BEGIN {_GUARD}; END",
    "no_delete": f"CREATE TRIGGER no_delete BEFORE DELETE ON entries BEGIN {_GUARD}; END",
    "only_append": "CREATE TRIGGER only_append BEFORE INSERT ON entries "
    f"WHEN NEW.seq <> (SELECT COALESCE(MAX(seq), 0) + 1 FROM entries) BEGIN {_GUARD}; END",
}
_creating = threading.Lock()


class SQLite:
    """How SQLite is opened, how it begins to write, and what it can check of itself."""

    def engine(self, url: URL, create: bool) -> Engine:
        if url.database in (None, "", ":memory:") or url.query:
            raise LedgerUnavailable(url, "it must be a file, given by its path alone")
        path = Path(str(url.database)).absolute()
        home = _place(path, create)
        only_this = url.set(database=f"file:{quote(str(path))}", query={"mode": "rw", "uri": "true"})  # never a new one
        arguments = {"timeout": PATIENCE, "isolation_level": None, "check_same_thread": False}
        engine = create_engine(only_this, connect_args=arguments, hide_parameters=True, pool_size=1, max_overflow=0)
        event.listen(engine, "connect", lambda connection, _: _durable(connection, path))
        event.listen(engine, "begin", lambda connection: _begin(connection, path, home))
        return engine

    def install(self, connection: Connection) -> None:
        """Forbid what is never done."""
        for trigger in TRIGGERS.values():
            connection.exec_driver_sql(trigger)

    def check(self, connection: Connection) -> None:
        """The pages are sound and the triggers are there."""
        found = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar()
        if found != "ok":
            raise LedgerCorrupt(0, f"SQLite reports {found}")
        known = connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        if {row.name: row.sql for row in known} != TRIGGERS:
            raise LedgerCorrupt(0, "the triggers that forbid changes are not those it was made with")

    def error(self, place: object, error: BaseException | None) -> LedgerError:
        """The same in our words.  SQLite's hold no data."""
        if not isinstance(error, sqlite3.Error):
            return LedgerUnavailable(place, type(error).__name__)
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return LedgerCorrupt(0, f"SQLite reports {error}")
        return LedgerUnavailable(place, str(error))

    def fatal(self, error: BaseException | None) -> bool:
        """Whether a write or sync failed: what the disk holds is then unknown, and a second sync would hide it."""
        return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_IOERR


def _begin(connection: Connection, path: Path, home: Home) -> None:
    """One writer at a time, from its first look on, so that nothing comes between check and charge.

    What is written to a file that was moved away or replaced would be gone, so that is looked at too.
    """
    if _home(path) != home:
        raise LedgerUnavailable(path, "its file was moved or replaced while it was open; open it again")
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _durable(connection: Any, path: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            (journal,) = connection.execute(f"PRAGMA journal_mode={JOURNAL}").fetchone()
            break
        except sqlite3.OperationalError as error:  # this pragma does not wait for a lock by itself
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
    for pragma in (f"synchronous={SYNCHRONOUS}", "fullfsync=ON", "checkpoint_fullfsync=ON", "recursive_triggers=ON"):
        connection.execute(f"PRAGMA {pragma}")
    (synchronous,) = connection.execute("PRAGMA synchronous").fetchone()
    if (journal, synchronous) != (JOURNAL, SYNCHRONOUS):
        raise LedgerUnavailable(path, f"it is not durable: journal_mode={journal}, synchronous={synchronous}")


def _home(path: Path) -> Home | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _place(path: Path, create: bool) -> Home:
    """See that it is a regular file of the owner's alone; which it is.

    A file that exists is not opened here: to close it would drop the locks of other connections of this process.
    """
    try:
        with _creating:
            if create and not os.path.lexists(path):
                make(path)
            found = os.lstat(path)
    except FileNotFoundError:
        reason = "there is none; give a budget to open one" if path.parent.is_dir() else "there is no such directory"
        raise LedgerUnavailable(path, reason) from None
    except OSError as error:
        raise LedgerUnavailable(path, os.strerror(error.errno or 0)) from None
    if not stat.S_ISREG(found.st_mode):
        raise LedgerUnavailable(path, "it is not a regular file; symbolic links are not followed")
    if found.st_mode & 0o077:
        raise LedgerUnavailable(path, "others may read or write it; chmod 600 it")
    if not os.access(path, os.R_OK | os.W_OK) or not os.access(path.parent, os.W_OK):
        raise LedgerUnavailable(path, "it, or its directory, is read-only")
    return found.st_dev, found.st_ino


def make(path: Path) -> None:
    """An empty file whose name survives a power cut."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return  # by another process, just now
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
