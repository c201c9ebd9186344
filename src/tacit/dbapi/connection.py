"""A connection: a curator, and the price of a question that states none."""

from __future__ import annotations

import os
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from . import errors
from .cursor import Cursor

if TYPE_CHECKING:
    from ..client import RemoteCurator
    from ..curator import Curator
    from ..query.plan.offer import Terms


class Connection:
    """A curator as PEP 249 has databases; `terms` are the price of a question whose text states none."""

    # PEP 249 lets a connection carry the module's errors, so that code needs no import to name them.
    Warning, Error, InterfaceError = errors.Warning, errors.Error, errors.InterfaceError
    DatabaseError, DataError, OperationalError = errors.DatabaseError, errors.DataError, errors.OperationalError
    IntegrityError, InternalError = errors.IntegrityError, errors.InternalError
    ProgrammingError, NotSupportedError = errors.ProgrammingError, errors.NotSupportedError

    def __init__(self, curator: Curator | RemoteCurator, terms: Terms, *, owned: bool) -> None:
        self._curator: Curator | RemoteCurator | None = curator
        self.terms, self._owned = terms, owned

    @property
    def curator(self) -> Curator | RemoteCurator:
        """The curator that is asked."""
        if self._curator is None:
            raise errors.InterfaceError("This connection is closed. Open another.")
        return self._curator

    def cursor(self) -> Cursor:
        """A cursor, for one question at a time."""
        self.curator  # noqa: B018  # a closed connection has none
        return Cursor(self)

    def execute(self, statement: str, parameters: Any = ()) -> Cursor:
        """A new cursor with the answer to one question, as some drivers have it."""
        return self.cursor().execute(statement, parameters)

    def commit(self) -> None:
        """Do nothing: a question is charged for good when it is asked."""

    def rollback(self) -> None:
        """Do nothing: what was bought is bought, and free when it is asked again."""

    def close(self) -> None:
        """Close the connection, and the connection to a service if `connect` opened it."""
        if self._curator is not None and self._owned:
            self._curator.close()
        self._curator = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def connect(
    source: Curator | RemoteCurator | str,
    token: str | None = None,
    dataset: str | None = None,
    *,
    timeout: float = 60.0,
    authority: str | os.PathLike[str] | None = None,
    plain: bool = False,
    **terms: Unpack[Terms],
) -> Connection:
    """A connection to a curator, or to a data set of the service at an address.

    `terms` are the price of each question whose text states none, as for `Curator.ask`: one of share, epsilon, rho,
    error and relative, and perhaps delta and beta.  The other arguments are those of `tacit.connect`, and for an
    address alone.
    """
    if not isinstance(source, str):
        if (token, dataset) != (None, None):
            raise errors.ProgrammingError("A token and a data set go with an address, and a curator needs neither.")
        return Connection(source, terms, owned=False)
    from ..client import connect as remote

    if token is None:
        raise errors.ProgrammingError("An address goes with a token: connect(address, token, dataset).")
    with errors.translated():
        curator = remote(source, token, dataset, timeout=timeout, authority=authority, plain=plain)
    return Connection(curator, terms, owned=True)
