"""The tables of a ledger, or of another layout, and transactions on them that threads, processes and forks may share.

A store has one connection, which its threads take turns with.  It is closed for the moment of a fork: SQLite forbids
that a connection be carried across one.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from weakref import WeakSet, finalize

from ...core.errors import BadParameter, LedgerUnavailable
from ..parameters import text
from .address import Address
from .dialect import Connection, LedgerDialect
from .layout import Layout
from .postgres import PostgresStore
from .sqlite import SQLiteStore
from .statements import LEDGER

# By the scheme of a ledger's address.  Adding a store is a file and a line here.
DIALECTS: dict[str, Callable[[Address, str, bool, Layout], LedgerDialect]] = {
    "sqlite": SQLiteStore,
    "postgresql": PostgresStore,
}


class Store:
    """The tables of one ledger, unless another layout is given."""

    def __init__(self, place: str | os.PathLike[str], create: bool, layout: Layout = LEDGER) -> None:
        allowed = f"a path, or a URL of {', '.join(DIALECTS)}"
        if not isinstance(place, str | os.PathLike):
            raise BadParameter("ledger", place, allowed)
        written = text("ledger", os.fspath(place))
        address = Address.read(written)
        if address.scheme not in DIALECTS:
            raise BadParameter("ledger", address.scheme, allowed)
        self.place = str(address) if "://" in written else written
        self._lock = threading.RLock()
        self._closed = self._busy = ""  # why it cannot be used
        self._connection: Connection | None = None
        with _forking:  # a fork knows of a store before it can connect
            self.dialect = DIALECTS[address.scheme](address, self.place, create, layout)
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
                self._busy = "this thread is in another transaction"
                connection = self._connected()
                self.dialect.begin(connection, writes)
                yield connection
                self.dialect.commit(connection)
                return
            except BaseException as error:
                self._undo()
                failed = self.dialect.error(error)
                if failed is None:
                    raise
                if why := self.dialect.fatal(error):
                    self.close(why)
            finally:
                self._busy = ""
        try:
            raise failed from None
        finally:
            failed.__context__ = None  # the driver's own text may show what it was given

    def _connected(self) -> Connection:
        """The connection, or a new one if it died while it was idle, or was left in a transaction."""
        idle = self._connection
        if idle is None or not self.dialect.alive(idle):
            self._disconnect()
            connection = self.dialect.connect()
            self._connection, self._let_go = connection, finalize(self, connection.close)
            return connection
        return idle

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()  # before it is forgotten: an interrupt may come between
            self._connection = None
            self._let_go.detach()

    def _undo(self) -> None:
        try:
            if self._connection is not None:
                self._connection.rollback()
        except BaseException as error:
            self._disconnect()  # whose end undoes it
            if not isinstance(error, Exception):
                raise

    def close(self, why: str = "it was closed") -> None:
        """Close the connection for good; later use is refused with this reason."""
        with self._lock:
            self._closed = self._closed or why
            self._disconnect()

    def paused(self) -> Iterator[None]:
        """A generator that, once begun, holds the lock, with no connection, until it is dropped."""
        with self._lock:
            self._disconnect()
            yield


_open: WeakSet[Store] = WeakSet()
_forking = threading.RLock()
_held: list[Iterator[None]] = []  # what holds a lock for the time of the fork; only who has _forking touches it


def _alone() -> Iterator[None]:
    with _forking:
        yield


def _before_fork() -> None:
    """Pause every store.  A fork goes on whatever is raised here, so an interrupt has to wait until it is done."""
    interrupted = False
    for _ in range(100):  # what comes each time is no interrupt
        try:
            alone = _alone()
            next(alone)
            _held.append(alone)
            for store in list(_open):
                _held.append(store.paused())
                next(_held[-1])
            if interrupted:
                threading.Thread(target=_interrupt).start()
            return
        except BaseException:
            interrupted = True  # what is held by now is held once more by the next attempt


def _interrupt() -> None:
    """Once the fork is done; the child does not have this thread."""
    with _forking:
        pass
    time.sleep(0.01)  # who forked is to have the number of the child
    os.kill(os.getpid(), signal.SIGINT)


# Not by a function of ours, as whose entry an interrupt that came during the fork would be raised, and ignored.
os.register_at_fork(before=_before_fork, after_in_parent=_held.clear, after_in_child=_held.clear)
