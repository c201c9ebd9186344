"""The database of the store: opening it, its transactions, its log of acts, and what may be remembered of it.

It is as durable as a ledger, by the same means (`ledger/stores`).  Readers have a connection of their own, so that who
logs in does not wait for who writes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn, Self, TypeVar

from ...core.errors import BadParameter, LedgerCorrupt, LedgerError, LedgerUnavailable, TacitError
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
_FIRST = "SELECT subject FROM entries WHERE seq = 1"
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

    def __init__(self, writer: Tables, reader: Tables) -> None:
        self._writer, self._reader, self.place = writer, reader, writer.place
        self._remembered: dict[tuple[str, ...], tuple[int, Any]] = {}

    @classmethod
    def open(cls, place: str | os.PathLike[str], create: bool = True) -> Self:
        """Open the store at a path or URL; by default, make it if there is none."""
        with _translated(place), ExitStack() as opened:
            writer = opened.enter_context(closing(Tables(place, create, STORE)))
            with writer.reading() as connection:
                there = _recognised(writer, connection)
            if not there and not create:
                raise _none(writer.place)
            if not there:
                _make(writer)
            reader = opened.enter_context(closing(Tables(place, False, STORE)))
            for tables in (writer, reader):
                with tables.reading() as connection:
                    tables.dialect.guard(connection)
            opened.pop_all()
            return cls(writer, reader)

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
        entry = {
            "seq": _version(connection) + 1,
            "time": written(now()),
            "actor": actor,
            "act": act,
            "subject": subject,
        }
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


def _recognised(tables: Tables, connection: Connection) -> bool:
    """Whether there is a store, of a format that this version reads; False if there are no tables at all."""
    names = tables.dialect.tables(connection)
    if not names:
        return False
    first = connection.execute(_FIRST).fetchone() if names >= {"entries", "people", "tokens"} else None
    name, _, written_by = ("", "", "") if first is None else first[0].partition(" ")
    if name != "format" or not written_by.isdecimal():
        raise StoreUnavailable(tables.place, "there is a database, but not a store; check the path")
    if int(written_by) > FORMAT:
        newer = f"a newer version of tacit wrote it (format {written_by}; this version reads {FORMAT}); update tacit"
        raise StoreUnavailable(tables.place, newer)
    return True


def _make(tables: Tables) -> None:
    with tables.writing() as connection:
        if not _recognised(tables, connection):  # else another process made it just now
            tables.dialect.install(connection)
            made = {"actor": "tacit", "act": "made the store", "subject": f"format {FORMAT}"}
            connection.execute(_APPEND, {"seq": 1, "time": written(now()), **made})


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
        raise StoreUnavailable(shown, reason.rstrip(".").replace("ledger", "store")) from None
    except BadParameter as error:
        if error.name != "ledger":
            raise
        says = f"The store must be {error.allowed}; got {error.given}."
        raise BadParameter("store", error.given, error.allowed, says=says) from None
