"""The interface to a database that keeps ledgers: all that differs from one kind of database to the next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ...core.errors import LedgerError
from ..entries import Head

if TYPE_CHECKING:
    from .witness import Witness


class Cursor(Protocol):
    """The rows of a statement's result."""

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...

    def close(self) -> None:
        """Close the cursor: while rows are left to fetch, SQLite goes on to read the moment of the transaction."""


class Connection(Protocol):
    """A connection as PEP 249 has it and as sqlite3 makes it: statements name their parameters `:name`."""

    @property
    def Error(self) -> type[Exception]: ...  # noqa: N802

    @property
    def in_transaction(self) -> bool: ...

    def execute(self, statement: str, given: Mapping[str, Any] = ..., /) -> Cursor: ...

    def executemany(self, statement: str, given: Iterable[Mapping[str, Any]], /) -> object: ...

    def rollback(self) -> None:
        """Undo what was begun, if anything was."""

    def close(self) -> None: ...


class LedgerDialect(Protocol):
    """One place in one kind of database."""

    def connect(self) -> Connection:
        """A connection on which a commit is durable once it returns."""

    def alive(self, connection: Connection) -> bool:
        """Whether a connection is idle, in no transaction, and can still be used."""

    def begin(self, connection: Connection, writes: bool) -> None:
        """Begin a transaction; those that write exclude one another from their first look on."""

    def commit(self, connection: Connection) -> None:
        """Once it returns, what was written is durable."""

    def tables(self, connection: Connection) -> set[str]: ...

    def install(self, connection: Connection) -> None:
        """Make the tables, and forbid what is never done."""

    def guard(self, connection: Connection) -> None:
        """Refuse tables, indexes and triggers other than those that were installed.

        From then on each transaction checks them again, once anybody has changed any of them.
        """

    def check(self, connection: Connection) -> None:
        """Check the installed objects, and all that the database can check of itself."""

    def witness(self) -> Witness | None:
        """The witness that is kept beside a ledger in this place, or None."""

    def acknowledged(self, head: Head) -> None:
        """Note the last entry, once its commit has returned."""

    def key_path(self, identity: str) -> Path:
        """The default place of the key of a ledger in this place."""

    def backup(self, connection: Connection, target: Path) -> None:
        """Write what this transaction sees to a new file, which only its owner can read."""

    def error(self, error: BaseException) -> LedgerError | None:
        """An error of the driver in words that hold no data; None if the error is not the driver's."""

    def fatal(self, error: BaseException) -> str:
        """Why nothing may be read or written after this error, since what the disk holds is unknown; "" if it may."""
