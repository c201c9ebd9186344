"""Tables in databases: an address that names the table too, as postgresql://user@host/database?table=people.

The table is written as in SQL: people, hr.people, "Odd Name".  The rest of the address is the database's own, so a
password is better left to the places where its client looks for one.

    spark://?table=people           in the catalogue of the active session of Spark; parquet.`path` is a table there too
    sc://host:15002/?table=people   behind Spark Connect, with its parameters after the path (/;use_ssl=true)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from ..core.errors import BadSchema

SCHEMES = ("postgresql", "spark", "sc")
_FORM = "postgresql://user@host/database?table=people, spark://?table=people or sc://host:15002?table=people"


@dataclass(frozen=True)
class Database:
    """Where a table is: a database, by its address, and the table's name there."""

    url: str = field(repr=False)  # which may hold a password
    table: str
    shown: str

    @staticmethod
    def read(address: str) -> Database:
        """An address in its parts; nothing is opened."""
        try:
            parts = urlsplit(address)
            query = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query), errors="strict")
        except ValueError:
            raise BadSchema("data", "an address that cannot be read", _FORM) from None
        tables = [value for name, value in query if name == "table"]
        if parts.scheme not in SCHEMES or len(tables) != 1 or not tables[0].isprintable() or not tables[0].strip():
            raise BadSchema("data", f"{parts.scheme}://...", _FORM)
        user, at, host = parts.netloc.rpartition("@")
        shown = f"{parts.scheme}://{user.partition(':')[0]}{at}{host}{parts.path.partition(';')[0]}?table={tables[0]}"
        rest = urlencode([(name, value) for name, value in query if name != "table"], quote_via=quote)
        return Database(parts._replace(query=rest, fragment="").geturl(), tables[0], shown)

    @property
    def scheme(self) -> str:
        return self.url.partition(":")[0]

    def __str__(self) -> str:
        return self.shown


def in_spark(data: object) -> bool:
    """Whether data is a frame of Spark's, or a table that Spark knows by name."""
    if isinstance(data, Database):
        return data.scheme in ("spark", "sc")
    return type(data).__module__.startswith("pyspark.")
