"""Tables in databases: an address that includes the table, such as postgresql://user@host/database?table=people.

The table is written as in SQL: people, hr.people, "Odd Name".  The rest of the address is the database's own; for parts
that it leaves out (a host, a user, a password) the client uses its usual settings, so it need not hold a password.

An address in a schema may come from somebody else than the custodian: whoever wrote the file chose the host.  So it may
only say where the table is.  A client of PostgreSQL sends that host no password, certificate or ticket of its user, and
a client of Spark, which trusts its cluster with everything, does not connect there at all, unless the user's own
settings (PGHOST and PGPORT; SPARK_REMOTE; MASTER) name the same host.  A file names a table of Spark by a plain name:
between backticks there could be a path, and with it another host.

    postgresql://?table=people      in the database that PGHOST, PGDATABASE, PGUSER, PGSERVICE, ~/.pgpass say
    spark://?table=people           in the catalogue of the active session of Spark; parquet.`path` is a table there too
    sc://host:15002/?table=people   behind Spark Connect, with its parameters after the path (/;use_ssl=true)
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from ...core.errors import BadParameter, BadSchema


@dataclass(frozen=True)
class EngineFacts:
    """What is needed to choose an engine without importing it: a Python package, and the schemes of its addresses."""

    requires: str
    schemes: tuple[str, ...] = ()


# One line for each engine, whose code is the package `tacit.engines.NAME`.
ENGINES = {
    "duckdb": EngineFacts("duckdb"),
    "postgres": EngineFacts("psycopg", ("postgresql",)),
    "spark": EngineFacts("pyspark", ("spark", "sc")),
}
_OF = {scheme: name for name, engine in ENGINES.items() for scheme in engine.schemes}
_FORM = "postgresql://user@host/database?table=people, spark://?table=people or sc://host:15002?table=people"
_SECRET = ("password", "sslpassword", "token")
_IN_FILE = {"table", "host", "port", "user", "dbname", "sslmode", "connect_timeout", "application_name"}
_PLAIN = re.compile(r"\w+(\.\w+)*", re.ASCII)
_ENCRYPTED = ("require", "verify-ca", "verify-full")


@dataclass(frozen=True)
class Database:
    """The address of a database and the name of a table there; `secret` if the address has a password."""

    url: str = field(repr=False)  # which may hold a password
    table: str
    shown: str
    secret: bool = False
    in_file: bool = False  # whether the address comes from a schema and not from the caller

    @staticmethod
    def read(address: str) -> Database:
        """The parts of an address; nothing is opened."""
        try:
            parts = urlsplit(address)
            query = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query), errors="strict")
        except ValueError:
            raise BadSchema("data", "an address that cannot be read", _FORM) from None
        tables = [value for name, value in query if name == "table"]
        if parts.scheme not in _OF or len(tables) != 1 or not tables[0].isprintable() or not tables[0].strip():
            raise BadSchema("data", f"{parts.scheme}://...", _FORM)
        user, at, host = parts.netloc.rpartition("@")
        path, _, parameters = parts.path.partition(";")
        shown = f"{parts.scheme}://{user.partition(':')[0]}{at}{host}{path}?table={tables[0]}"
        rest = urlencode([(name, value) for name, value in query if name != "table"], quote_via=quote)
        # written out, since `geturl` drops the slashes of an address without a host
        url = f"{parts.scheme}://{parts.netloc}{parts.path}{f'?{rest}' if rest else ''}"
        names = [name for name, _ in query] + [each.partition("=")[0] for each in parameters.split(";")]
        return Database(url, tables[0], shown, ":" in user or any(name.strip().lower() in _SECRET for name in names))

    @staticmethod
    def named(table: str, engine: str) -> Database:
        """A table by its name alone, in the database of the engine's own settings."""
        scheme = next(scheme for scheme, whose in _OF.items() if whose == engine)
        return Database.read(f"{scheme}://?table={quote(table)}")

    def from_file(self) -> Database:
        """This address as one from a file, which may only locate the table and holds no credentials."""
        parts = urlsplit(self.url)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        if odd := query.keys() - _IN_FILE:
            raise BadSchema(
                "source", f"one with {', '.join(sorted(odd))}", "an address that says only where the table is"
            )
        if query.get("sslmode", "require") not in _ENCRYPTED:
            raise BadSchema("source", f"one with sslmode={query['sslmode']}", f"one with {' or '.join(_ENCRYPTED)}")
        if self.engine == "spark" and parts.path.strip("/"):
            raise BadSchema("source", "one with a path or parameters", "an address that says only where the table is")
        if self.engine == "spark" and not _PLAIN.fullmatch(self.table):
            form = "the address of a table with a name of letters, digits, underscores and points"
            raise BadSchema("source", "one of another form", f"{form}; give any other yourself, as data=")
        return replace(self, in_file=True)

    @property
    def engine(self) -> str:
        return _OF[self.url.partition(":")[0]]

    def __str__(self) -> str:
        return self.shown


def in_spark(data: object) -> bool:
    """Whether data is a Spark frame, or the name of a table in Spark."""
    if isinstance(data, Database):
        return data.engine == "spark"
    return type(data).__module__.startswith("pyspark.")


def engine_of(data: Any, wanted: str | None) -> str:
    """The engine that reads these data: the wanted one, if it can, or else the one where the data are."""
    if wanted not in (None, *ENGINES):
        raise BadParameter("engine", wanted, f"one of {', '.join(ENGINES)}")
    home = data.engine if isinstance(data, Database) else "spark" if in_spark(data) else None
    if home not in (None, wanted or home):
        shown = str(data) if isinstance(data, Database) else "a Spark frame"
        raise BadParameter("engine", wanted, f"{home!r}, or left out, for {shown}")
    if wanted == "postgres" and home is None:
        form = "postgresql://user@host/database?table=people"
        allowed = f"a table in PostgreSQL, by its name or as {form} (a file is read by duckdb or spark)"
        raise BadSchema("data", "a file, or a table in memory", allowed)
    return wanted or home or "duckdb"
