"""A ledger's tables, and transactions on them that threads, processes and forks may share.

A store has one connection, which its threads take turns with.  It is closed for the moment of a fork: SQLite forbids
that a connection be carried across one.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from weakref import WeakSet, finalize

from ..core.errors import BadParameter, LedgerUnavailable
from .address import Address
from .dialect import Connection, Dialect
from .postgres import Postgres
from .sqlite import SQLite

DIALECTS: dict[str, Callable[[Address, str, bool], Dialect]] = {"sqlite": SQLite, "postgresql": Postgres}


class Store:
    """The tables of one ledger."""

    def __init__(self, place: str | os.PathLike[str], create: bool) -> None:
        address = Address.read(os.fspath(place))
        if address.scheme not in DIALECTS:
            raise BadParameter("ledger", address.scheme, f"a path, or a URL of {', '.join(DIALECTS)}")
        self.place = str(address) if "://" in os.fspath(place) else os.fspath(place)
        self.dialect = DIALECTS[address.scheme](address, self.place, create)
        self._lock = threading.RLock()
        self._closed = self._busy = ""  # why it cannot be used
        self._connection: Connection | None = None
        _open.add(self)

    def reading(self) -> AbstractContextManager[Connection]:
        """A transaction that sees one moment."""
        return self._transaction(writes=False)

    def writing(self) -> AbstractContextManager[Connection]:
        """A transaction that no other writer overlaps; durable when it ends, undone if it raises."""
        return self._transaction(writes=True)

    @contextmanager
    def _transaction(self, writes: bool) -> Iterator[Connection]:
        with self._lock:
            if self._closed or self._busy:
                raise LedgerUnavailable(self.place, self._closed or self._busy)
            try:
                self._busy = "this thread is in the midst of another transaction"
                connection = self._connected()
                self.dialect.begin(connection, writes)
                yield connection
                connection.execute("COMMIT")
                return
            except BaseException as error:
                self._undo()
                failed = self.dialect.error(error)
                if failed is None:
                    raise
                if self.dialect.fatal(error):
                    self.close("a write failed, and what the disk holds is unknown; see to the disk and open it again")
            finally:
                self._busy = ""
        raise failed from None  # the driver's own text may show what it was given

    def _connected(self) -> Connection:
        """The connection, or another one if it died while it was idle."""
        if self._connection is None or not self.dialect.alive(self._connection):
            self._disconnect()
            connection = self.dialect.connect()
            self._connection, self._let_go = connection, finalize(self, connection.close)
        return self._connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection = None
            self._let_go()

    def _undo(self) -> None:
        try:
            if self._connection is not None:
                self._connection.rollback()
        except Exception:  # then its end undoes it
            self._disconnect()

    def close(self, why: str = "it was closed") -> None:
        with self._lock:
            self._closed = self._closed or why
            self._disconnect()

    def pause(self) -> None:
        self._lock.acquire()
        self._disconnect()

    def resume(self) -> None:
        self._lock.release()


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
