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
    """The parts of a URL; a path is the database of an address without other parts."""

    scheme: str
    database: str
    user: str = ""
    password: str = field(default="", repr=False)
    host: str = ""
    port: str = ""
    query: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @classmethod
    def read(cls, place: str) -> Address:
        """Read a path or URL; reserved characters of user, password, host and query may be written as %40."""
        if "://" not in place:
            return cls("sqlite", str(Path(place)))
        match = _URL.fullmatch(place)
        if match is None:
            raise BadParameter("ledger", "an unreadable URL", "a path or a database URL")
        if match["password"] is not None and "@" in place[match.end("password") + 1 :]:  # part of the password?
            raise BadParameter(
                "ledger", "a URL with one '@' too many", "a URL where the '@' of a password is written %40"
            )
        part = match.groupdict(default="")
        query = tuple(parse_qsl(part.pop("query")))
        scheme, database, port = (part.pop(name) for name in ("scheme", "database", "port"))
        login = {name: unquote(text) for name, text in part.items()}
        return cls(scheme.partition("+")[0], database, port=port, query=query, **login)

    def __str__(self) -> str:
        login = quote(self.user, "") + (":***" if self.password else "") + ("@" if self.user or self.password else "")
        port = f":{self.port}" if self.port else ""
        shown = (f"{name}={quote(value) if name in _SHOWN else '***'}" for name, value in self.query)
        query = "?" + "&".join(shown) if self.query else ""
        return f"{self.scheme}://{login}{quote(self.host, safe='[]:')}{port}/{self.database}{query}"
