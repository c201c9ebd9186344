"""Where entries are kept: three tables, and transactions that threads, processes and forks may share.

    entries    the facts, append-only; `seq` counts from 1 without gaps
    totals     sums of amounts by account and part, which the entries imply: `verify` adds them up again
    sessions   the last state of each session, which is as private as the data; entries hold a commitment to it

A store has one connection, which its threads take turns with.  It is closed for the moment of a fork: SQLite forbids
that a connection be carried across one.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol
from weakref import WeakSet, finalize

from sqlalchemy import Column, Connection, Engine, Index, Integer, LargeBinary, MetaData, Table, Text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from ..core.errors import BadParameter, LedgerError, LedgerUnavailable
from .postgres import Postgres, shown
from .sqlite import SQLite

metadata = MetaData()
entries = Table(
    "entries",
    metadata,
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("key", Text),
    Column("draw", Integer),
    Column("charge", Integer),
    Column("step", Integer),
    Column("body", Text, nullable=False),
    Column("data", LargeBinary),
    Column("hash", Text, nullable=False),
    Index("one_draw", "kind", "key", "draw", unique=True),
    Index("one_step", "charge", "step", unique=True),  # a release is step 0
)
totals = Table(
    "totals",
    metadata,
    Column("account", Text, primary_key=True),
    Column("part", Text, primary_key=True),
    Column("amounts", Text, nullable=False),
    Column("relation", Text),  # of all losses so far; kept where account and part are those of all
)
sessions = Table(
    "sessions",
    metadata,
    Column("charge", Integer, primary_key=True, autoincrement=False),
    Column("step", Integer, nullable=False),
    Column("salt", LargeBinary, nullable=False),
    Column("state", LargeBinary, nullable=False),
)


class Dialect(Protocol):
    """What differs from one database to the next."""

    def engine(self, url: URL, create: bool) -> Engine:
        """Connections on which a commit is durable once it returns, and whose transactions with the execution option
        `writes` exclude one another from their first statement on."""

    def install(self, connection: Connection) -> None: ...

    def check(self, connection: Connection) -> None: ...

    def error(self, place: object, error: BaseException | None) -> LedgerError: ...

    def fatal(self, error: BaseException | None) -> bool: ...


DIALECTS: dict[str, Dialect] = {"sqlite": SQLite(), "postgresql": Postgres()}


class Store:
    """The tables of one ledger."""

    def __init__(self, place: str | os.PathLike[str], create: bool) -> None:
        url = _url(os.fspath(place))
        self.place = shown(url) if "://" in os.fspath(place) else os.fspath(place)
        if url.get_backend_name() not in DIALECTS:
            raise BadParameter("ledger", url.get_backend_name(), f"a path, or a URL of {', '.join(DIALECTS)}")
        self.dialect = DIALECTS[url.get_backend_name()]
        self._lock = threading.RLock()
        self._closed = ""
        self._engine = self.dialect.engine(url, create)
        finalize(self, self._engine.dispose)
        _open.add(self)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one moment."""
        with self._transaction(writes=False) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that no other writer overlaps; durable when it ends, undone if it raises."""
        with self._transaction(writes=True) as connection:
            yield connection

    @contextmanager
    def _transaction(self, writes: bool) -> Iterator[Connection]:
        with self._lock:
            if self._closed:
                raise LedgerUnavailable(self.place, self._closed)
            try:
                with self._engine.connect() as connection, connection.execution_options(writes=writes).begin():
                    yield connection
            except DBAPIError as error:  # whose text would show the statement
                failed = self.dialect.error(self.place, error.orig)
                if self.dialect.fatal(error.orig):
                    self.close("a write failed, and what the disk holds is unknown; see to the disk and open it again")
            except SQLAlchemyError as error:
                failed = LedgerUnavailable(self.place, type(error).__name__)
            else:
                return
        raise failed

    def close(self, why: str = "it was closed") -> None:
        with self._lock:
            self._closed = self._closed or why
            self._engine.dispose()

    def pause(self) -> None:
        self._lock.acquire()
        self._engine.dispose()

    def resume(self) -> None:
        self._lock.release()


def _url(place: str) -> URL:
    try:
        return make_url(place) if "://" in place else URL.create("sqlite", database=str(Path(place)))
    except ArgumentError:
        raise BadParameter("ledger", "an unreadable URL", "a path or a database URL") from None


_open: WeakSet[Store] = WeakSet()
_forking = threading.RLock()
_paused: list[Store] = []


def _before_fork() -> None:
    _forking.acquire()
    _paused.extend(_open)
    for store in _paused:
        store.pause()


def _after_fork() -> None:
    while _paused:
        _paused.pop().resume()
    _forking.release()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
