"""A ledger in one SQLite file: all that is particular to SQLite.

In a write-ahead log with synchronous=FULL every commit is synced before it is reported, so what was reported survives
a power cut; with NORMAL it would be consistent and might be gone.  Both settings are of a connection, not of the file,
so each connection sets them, reads them back, and is refused if they differ.  SQLite syncs the directory when it makes
the log, but not when it makes the file: that is done here.

The log is found by the name of the file, so a file has one name: a second one, or a mount of the file without its
directory, would have a log of its own, and a budget of its own.  SQLite's locks are lost if anybody in this process
opens and closes the file, to copy it, say; then another process that ends would take itself for the last, and the log
away.  So each connection holds a lock more, of its open file description, where the system has such; and nothing is
acknowledged before it was seen, after the commit, that the log is still the one there was.
"""

from __future__ import annotations

import errno
import fcntl
import os
import sqlite3
import stat
import struct
import threading
import time
from contextlib import closing
from pathlib import Path
from urllib.parse import quote
from weakref import finalize

from ...core.errors import BadParameter, LedgerCorrupt, LedgerError, LedgerMoved, LedgerUnavailable
from ..entries import Head
from .address import Address
from .dialect import Connection
from .layout import Layout
from .witness import Witness

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
_STATISTICS = {"CREATE TABLE sqlite_stat1(tbl,idx,stat)", "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"}
_MOUNTS = Path("/proc/self/mountinfo")
_SETLK: int | None = getattr(fcntl, "F_OFD_SETLK", None) if struct.calcsize("P") == 8 else None
_SHARED = 0x40000002, 510  # the first byte of SQLite's shared locks, and how many there are
_creating = threading.Lock()


class _Locked(sqlite3.Connection):
    """A connection that holds SQLite's shared lock of the file once more, until just before it is closed."""

    _file: int | None = None

    def hold(self, path: Path) -> None:
        if _SETLK is None:
            return
        try:
            self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
            fcntl.fcntl(self._file, _SETLK, struct.pack("hhqqi", fcntl.F_RDLCK, os.SEEK_SET, *_SHARED, 0))
        except OSError as error:
            if error.errno != errno.EINVAL:  # there are no such locks here
                raise LedgerUnavailable(path, f"the file cannot be locked: {os.strerror(error.errno or 0)}") from None

    def close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            os.close(file)
        super().close()


class SQLiteStore:
    """How SQLite is opened, how it begins to write, and what it can check of itself."""

    def __init__(self, address: Address, place: str, create: bool, layout: Layout) -> None:
        if address.database in ("", ":memory:") or address != Address("sqlite", address.database):
            raise LedgerUnavailable(place, "a ledger in SQLite must be a file, given by its path alone")
        self._place, self._path = place, Path(address.database).absolute()
        self._made = (*(each.format(octets="BLOB") for each in layout.statements), *TRIGGERS.values())
        self._home, self._witness = _place(self._path, create), Witness(self._path)
        finalize(self, self._witness.close)
        self._beside = f"{self._path}-wal", f"{self._path}-shm"  # the log, and its index
        self._logs: list[Home | None] = []  # of the connection there is
        self._writes = False  # what was begun
        self._guarded: int | None = None  # the version of the schema that was looked at

    def connect(self) -> Connection:
        self._logs = []
        self._guarded = None if self._guarded is None else -1
        self._stayed()  # before another database is made to keep a log
        only_this = f"file:{quote(os.fsencode(self._path))}?mode=rw"  # never a new one
        connection = sqlite3.connect(
            only_this, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False, factory=_Locked
        )
        try:
            _durable(connection, self._path)
            self.tables(connection)  # which opens the log
            connection.hold(self._path)
            self._logs = list(map(_home, self._beside))
            if None in self._logs:
                raise LedgerUnavailable(self._path, "SQLite keeps no log beside it")
        except BaseException:
            connection.close()
            raise
        return connection

    def _stayed(self) -> None:
        if _home(self._path) != self._home:
            reason = "its file was moved or replaced, or given a second name, while it was open; open it again"
            raise LedgerMoved(self._path, reason)
        if self._logs and [*map(_home, self._beside)] != self._logs:
            reason = "its log was taken away while it was open; open the ledger again, and let nothing else in this"
            raise LedgerMoved(self._path, f"{reason} process open the file, not even to copy it")

    def alive(self, connection: Connection) -> bool:
        try:
            return not connection.in_transaction
        except sqlite3.Error:  # it is closed
            return False

    def begin(self, connection: Connection, writes: bool) -> None:
        """One writer at a time, from its first look on, so that nothing comes between check and charge.

        What is written to a file that was moved away or replaced would be gone, so that is looked at too.
        """
        self._stayed()
        self._writes = writes
        connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
        checked = (self._guarded,)
        if writes and checked != (None,) and connection.execute("PRAGMA schema_version").fetchone() != checked:
            self.guard(connection)

    def commit(self, connection: Connection) -> None:
        connection.execute("COMMIT")
        if self._writes:
            self._stayed()

    def tables(self, connection: Connection) -> set[str]:
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return {name for (name,) in rows if not name.startswith("sqlite_")}

    def install(self, connection: Connection) -> None:
        """Make the tables, and forbid what is never done."""
        for statement in self._made:
            connection.execute(statement)

    def guard(self, connection: Connection) -> None:
        """Compare every object by its text, so that no table, trigger, index or view was added, altered or dropped."""
        rows = connection.execute("SELECT type, sql FROM sqlite_master").fetchall()
        objects = {" ".join(sql.split()) for kind, sql in rows if sql is not None or kind != "index"}
        if objects - _STATISTICS != set(self._made):
            raise LedgerCorrupt(0, "the tables, indexes and triggers are not those that it was made with")
        (self._guarded,) = connection.execute("PRAGMA schema_version").fetchone()

    def check(self, connection: Connection) -> None:
        """Check that the pages are sound, and the objects those that were made."""
        (report,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if report != "ok":
            raise LedgerCorrupt(0, f"SQLite reports {report}")
        self.guard(connection)

    def witness(self) -> Witness:
        return self._witness

    def acknowledged(self, head: Head) -> None:
        self._witness.note(self._home[1], head)

    def key_path(self, identity: str) -> Path:
        return self._path.with_name(f"{self._path.name}.key")

    def backup(self, connection: Connection, target: Path) -> None:
        """Copy by SQLite itself: a copy of the file would miss its log, and drop the locks of this process."""
        assert isinstance(connection, sqlite3.Connection)
        make(target)
        with closing(sqlite3.connect(target)) as copy:
            connection.backup(copy)
        with target.open("rb") as file:
            os.fsync(file.fileno())

    def error(self, error: BaseException) -> LedgerError | None:
        """The error in SQLite's own words, which hold no data."""
        if isinstance(error, LedgerMoved):
            return error
        if not isinstance(error, sqlite3.Error):
            return None
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return LedgerCorrupt(0, f"SQLite reports {error}")
        return LedgerUnavailable(self._place, str(error))

    def fatal(self, error: BaseException) -> str:
        """Why the ledger is closed: after a failed write, a second sync would hide that the disk may hold anything."""
        if isinstance(error, LedgerMoved):
            return error.reason
        failed = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_IOERR
        return "a write failed, and what the disk holds is unknown; see to the disk and open it again" if failed else ""


def _durable(connection: sqlite3.Connection, path: Path) -> None:
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
        raise LedgerUnavailable(path, f"commits are not durable: journal_mode={journal}, synchronous={synchronous}")


def _home(path: str | Path) -> Home | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    alone = stat.S_ISREG(status.st_mode) and status.st_nlink == 1  # a link may have the number it had
    return (status.st_dev, status.st_ino) if alone else None


def _mounted(path: Path) -> bool:
    """Whether the file is a mount of its own, as far as the system says."""
    name = os.path.join(os.path.realpath(path.parent), path.name)
    for odd in "\\ \t\n":  # which are written as numbers
        name = name.replace(odd, f"\\{ord(odd):03o}")
    try:
        mounts = _MOUNTS.read_text(errors="surrogateescape").split("\n")
    except OSError:
        return False
    return any(line.split(" ")[4:5] == [name] for line in mounts)


def _place(path: Path, create: bool) -> Home:
    """The device and number of a file, which must be a regular file of the owner's alone.

    A file that exists is not opened here: to close it would drop the locks of other connections of this process.
    """
    try:
        with _creating:
            if create and not os.path.lexists(path):
                make(path)
            status = os.lstat(path)
    except FileNotFoundError:
        if not path.parent.is_dir():
            raise LedgerUnavailable(path, "there is no such directory") from None
        missing = f"There is no ledger at {path}. Check the path, or give a budget to open a new ledger."
        raise LedgerUnavailable(path, "there is none", says=missing) from None
    except OSError as error:
        raise LedgerUnavailable(path, os.strerror(error.errno or 0)) from None
    except ValueError:
        raise BadParameter("ledger", str(path), "a path that the system can name") from None
    if not stat.S_ISREG(status.st_mode):
        raise LedgerUnavailable(path, "the path is not a regular file; symbolic links are not followed")
    if status.st_nlink > 1 or _mounted(path):
        reason = "the file has a second name, or is mounted without its directory, and would be another ledger there"
        raise LedgerUnavailable(path, f"{reason}; remove that name, or mount the directory")
    if status.st_mode & 0o077:
        raise LedgerUnavailable(path, "other users may read or write the file; chmod 600 it, if it is a ledger")
    if not os.access(path, os.R_OK | os.W_OK) or not os.access(path.parent, os.W_OK):
        raise LedgerUnavailable(path, "the file, or its directory, is read-only")
    return status.st_dev, status.st_ino


def make(path: Path) -> None:
    """Make an empty file whose name survives a power cut."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return  # by another process, just now
    synced(path.parent)


def synced(folder: Path) -> None:
    """Sync a folder: once this returns, the names in it survive a power cut."""
    directory = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
