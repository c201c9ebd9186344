"""A service as one person sees it: which data sets there are, and a curator for each."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Self
from urllib.parse import quote

from ..core.errors import BadParameter
from ..core.parameters import instance, positive
from .connection import Connection
from .curator import RemoteCurator

if TYPE_CHECKING:
    from .board import RemoteBoard


class Remote:
    """A service, for whoever bears a token."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        me = connection.request("GET", "/v1/me").json()
        self.analyst, self.role = str(me["name"]), str(me["role"])

    @property
    def datasets(self) -> list[str]:
        """The names of the data sets that one may see."""
        return [each["name"] for each in self.connection.request("GET", "/v1/datasets").json()["datasets"]]

    def dataset(self, name: str) -> RemoteCurator:
        """The curator of a data set."""
        facts = self.connection.request("GET", f"/v1/datasets/{quote(instance('dataset', name, str), safe='')}").json()
        return RemoteCurator(self.connection, facts, self.analyst)

    def board(self, name: str = "board") -> RemoteBoard:
        """A leaderboard."""
        from .board import RemoteBoard

        return RemoteBoard(self.connection, name)

    def close(self) -> None:
        """Close the connections."""
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Remote({self.connection.url!r}, analyst={self.analyst!r})"


def connect(
    url: str,
    token: str,
    dataset: str | None = None,
    *,
    timeout: float = 60.0,
    authority: str | os.PathLike[str] | None = None,
    plain: bool = False,
) -> RemoteCurator:
    """The curator of a data set behind a service, with the methods of a curator in this process.

    `dataset` may be left out where one may see a single data set.  `timeout` are the seconds for which an answer is
    waited for.  `authority` is a file with the certificate by which the service is trusted, if the system does not
    know it.  An address that begins with http:// is taken for this machine alone, unless `plain`.
    """
    connection = Connection(url, token, timeout=float(positive("timeout", timeout)), authority=authority, plain=plain)
    try:
        service = Remote(connection)
        return service.dataset(_only(service.datasets) if dataset is None else dataset)
    except BaseException:
        connection.close()
        raise


def _only(names: list[str]) -> str:
    """The only data set there is."""
    if len(names) != 1:
        says = f"Pass dataset=, one of {', '.join(names)}." if names else "You may see no data set. Ask an owner."
        raise BadParameter("dataset", None, "the name of a data set", says=says)
    return names[0]
