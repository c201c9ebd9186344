"""Where a ledger is: a path, or scheme://user:password@host:port/database?name=value.

The text of an address, which errors show, hides its passwords and all that may be one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote

from ...core.errors import BadParameter

_LOGIN = r"(?:(?P<user>[^:/?]*)(?::(?P<password>[^@]*))?@)?"
_HOST = r"(?P<host>\[[^]/?]*\]|[^:/?]*)(?::(?P<port>\d*))?"
_URL = re.compile(rf"(?P<scheme>[\w+]+)://{_LOGIN}{_HOST}(?:/(?P<database>[^?]*))?(?:\?(?P<query>.*))?", re.DOTALL)

_SHOWN = {"host", "port", "user", "dbname", "schema", "sslmode", "application_name", "connect_timeout"}


@dataclass(frozen=True)
class Address:
    """The parts of a URL; of a path, its database."""

    scheme: str
    database: str
    user: str = ""
    password: str = field(default="", repr=False)
    host: str = ""
    port: str = ""
    query: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @classmethod
    def read(cls, place: str) -> Address:
        """What is reserved in a URL may be written %40 in the user, the password, the host and the query."""
        if "://" not in place:
            return cls("sqlite", str(Path(place)))
        found = _URL.fullmatch(place)
        if found is None:
            raise BadParameter("ledger", "an unreadable URL", "a path or a database URL")
        if found["password"] is not None and "@" in place[found.end("password") + 1 :]:  # is it of the password?
            raise BadParameter(
                "ledger", "a URL with one '@' too many", "a URL where the '@' of a password is written %40"
            )
        part = found.groupdict(default="")
        query = tuple(parse_qsl(part.pop("query")))
        scheme, database, port = (part.pop(name) for name in ("scheme", "database", "port"))
        login = {name: unquote(text) for name, text in part.items()}
        return cls(scheme.partition("+")[0], database, port=port, query=query, **login)

    def __str__(self) -> str:
        login = quote(self.user, "") + (":***" if self.password else "") + ("@" if self.user or self.password else "")
        port = f":{self.port}" if self.port else ""
        told = (f"{name}={quote(value) if name in _SHOWN else '***'}" for name, value in self.query)
        query = "?" + "&".join(told) if self.query else ""
        return f"{self.scheme}://{login}{quote(self.host, safe='[]:')}{port}/{self.database}{query}"
