"""What a ledger asks of a database: all that differs from one to the next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ...core.errors import LedgerError
from ..entries import Head

if TYPE_CHECKING:
    from .witness import Witness


class Cursor(Protocol):
    """Rows that a statement found."""

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...

    def close(self) -> None:
        """While rows are left that were not fetched, SQLite goes on to see the moment of the transaction."""


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


class Dialect(Protocol):
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
        """See that tables, indexes and triggers are those that were installed, and none besides.

        From then on each transaction sees to it again, once anybody has changed any of them.
        """

    def check(self, connection: Connection) -> None:
        """See that what is forbidden still is, and all that the database can check of itself."""

    def witness(self) -> Witness | None:
        """What was acknowledged of a ledger in this place, if that is noted beside it."""

    def acknowledged(self, head: Head) -> None:
        """Note the last entry, once its commit has returned."""

    def key_path(self, identity: str) -> Path:
        """Where the key of a ledger in this place is, unless it was told."""

    def backup(self, connection: Connection, target: Path) -> None:
        """Write what this transaction sees to a new file, which only its owner can read."""

    def error(self, error: BaseException) -> LedgerError | None:
        """What the driver raised, in our words, which hold no data; None if it was not the driver."""

    def fatal(self, error: BaseException) -> str:
        """Why nothing may be read or written after this, or nothing: what the disk holds is unknown."""
