"""The database of the store: opening it, its transactions, its log of acts, and what may be remembered of it.

It is as durable as a ledger, by the same means (`ledger/stores`).  Readers have a connection of their own, so that who
logs in does not wait for who writes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn, Self, TypeVar

from ...core.errors import LedgerCorrupt, LedgerError, LedgerUnavailable, TacitError
from ...core.randomness import SYSTEM
from ...ledger.stores.address import Address
from ...ledger.stores.dialect import Connection
from ...ledger.stores.store import Store as Tables
from .layout import FORMAT, STORE
from .records import Act

T = TypeVar("T")
_MAX_REMEMBERED = 10_000
_VERSION = "SELECT MAX(seq) FROM entries"
_APPEND = "INSERT INTO entries (seq, time, actor, act, subject) VALUES (:seq, :time, :actor, :act, :subject)"
_FIRST = "SELECT act, subject FROM entries WHERE seq = 1"
_ACTS = "SELECT seq, time, actor, act, subject FROM entries WHERE seq > :after ORDER BY seq"


class StoreUnavailable(TacitError):
    """The store of the service cannot be opened, read or written, and without it nobody is let in."""

    def __init__(self, place: object, reason: str, *, says: str = "") -> None:
        super().__init__(says or f"The store of the service, {place}, cannot be used: {reason}.")
        self.place, self.reason = place, reason


class StoreConflict(TacitError):
    """What is asked of the store contradicts what it holds."""


def now() -> datetime:
    """The time, in UTC and whole seconds."""
    return datetime.now(UTC).replace(microsecond=0)


def written(time: datetime) -> str:
    """A time as the store has it."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def number() -> str:
    """A new number by which a token, an approval or a job is named; nobody guesses it, and it opens nothing."""
    return SYSTEM.words(1).tobytes().hex()


class Database:
    """The tables of one store, which threads, forks and several processes may use at once."""

    def __init__(self, place: str | os.PathLike[str], create: bool = True) -> None:
        with _translated(place):
            self._writer = Tables(place, create, STORE)
            self.place = self._writer.place
            try:
                with self._writer.reading() as connection:
                    empty = not self._recognised(connection)
                if empty and not create:
                    raise _none(self.place)
                if empty:
                    self._make()
                self._reader = Tables(place, False, STORE)
            except BaseException:
                self._writer.close()
                raise
            for tables in (self._writer, self._reader):
                with tables.reading() as connection:
                    tables.dialect.guard(connection)
        self._remembered: dict[tuple[str, ...], tuple[int, Any]] = {}

    @classmethod
    def open(cls, place: str | os.PathLike[str], create: bool = True) -> Self:
        """Open the store at a path or URL; by default, make it if there is none."""
        return cls(place, create)

    def _recognised(self, connection: Connection) -> bool:
        """Whether there is a store, of a format that this version reads; False if there are no tables at all."""
        tables = self._writer.dialect.tables(connection)
        if not tables:
            return False
        first = connection.execute(_FIRST).fetchone() if tables == STORE.tables.keys() else None
        name, _, number = first[1].partition(" ") if first is not None else ("", "", "")
        if name != "format" or not number.isdecimal():
            newer = "its tables are not those of a store; check the path, or update tacit if a newer version made it"
            raise StoreUnavailable(self.place, newer)
        if int(number) != FORMAT:
            reason = f"a newer version of tacit wrote it (format {number}; this version reads {FORMAT}); update tacit"
            raise StoreUnavailable(self.place, reason)
        return True

    def _make(self) -> None:
        with self._writer.writing() as connection:
            if not self._recognised(connection):  # else another process made it just now
                self._writer.dialect.install(connection)
                self._log(connection, "tacit", "made the store", f"format {FORMAT}")

    def reading(self) -> AbstractContextManager[Connection]:
        """A transaction that sees one moment."""
        return self._transaction(self._reader.reading())

    def writing(self) -> AbstractContextManager[Connection]:
        """A transaction that no other writer overlaps; durable when it ends, undone if it raises."""
        return self._transaction(self._writer.writing())

    @contextmanager
    def _transaction(self, transaction: AbstractContextManager[Connection]) -> Iterator[Connection]:
        with _translated(self.place), transaction as connection:
            yield connection

    def _log(self, connection: Connection, actor: str, act: str, subject: str) -> None:
        """Append an act to the log; whatever was remembered before is then read anew, in every process."""
        (last,) = connection.execute(_VERSION).fetchone()
        entry = {"seq": (last or 0) + 1, "time": written(now()), "actor": actor, "act": act, "subject": subject}
        connection.execute(_APPEND, entry)

    def acts(self, after: int = 0) -> list[Act]:
        """The log of acts: who, when and what; never a value."""
        with self.reading() as connection:
            return [Act(*row) for row in connection.execute(_ACTS, {"after": after})]

    def version(self) -> int:
        """A number that is larger after each act, of whatever process."""
        with self.reading() as connection:
            return _version(connection)

    def _known(self, key: tuple[str, ...], read: Callable[[Connection], T]) -> T:
        """What `read` reads, remembered until there is another act; what is None is not remembered."""
        with self.reading() as connection:
            version = _version(connection)
            then, value = self._remembered.get(key, (0, None))
            if then == version:
                return value  # type: ignore[no-any-return]
            found = read(connection)
        if found is not None:
            if len(self._remembered) >= _MAX_REMEMBERED:
                self._remembered.clear()
            self._remembered[key] = version, found
        return found

    def check(self) -> None:
        """Check that the file is sound, and that its tables are those that it was made with."""
        with self.reading() as connection:
            self._reader.dialect.check(connection)

    def copy(self, target: Path) -> None:
        """Copy the store to a new file, while it is in use; PostgreSQL makes its own copies."""
        with self.reading() as connection:
            self._reader.dialect.backup(connection, target)

    def close(self) -> None:
        self._reader.close()
        self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("A store cannot be copied or pickled. Open it by its path, which any process may do.")


def _version(connection: Connection) -> int:
    return int(connection.execute(_VERSION).fetchone()[0])


def _none(place: object) -> StoreUnavailable:
    says = f"There is no store at {place}. To make it, add its first owner: tacit user add NAME --role owner"
    return StoreUnavailable(place, "there is none", says=says)


@contextmanager
def _translated(place: object) -> Iterator[None]:
    """Errors of the tables in the words of the service."""
    try:
        yield
    except LedgerError as error:
        if isinstance(error, LedgerUnavailable) and error.reason == "there is none":
            raise _none(place) from None
        reason = error.reason if isinstance(error, LedgerUnavailable | LedgerCorrupt) else str(error)
        shown = str(Address.read(place)) if isinstance(place, str) and "://" in place else place  # without a password
        raise StoreUnavailable(shown, reason.rstrip(".")) from None
