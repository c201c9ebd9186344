"""The Python database interface, PEP 249: a curator as a connection, for pandas, Polars, JupySQL and other tools.

    connection = tacit.dbapi.connect(curator, share="0.01")                       # in this process
    connection = tacit.dbapi.connect("https://...", token, "people")              # behind a service
    pandas.read_sql("SELECT region, COUNT(*) AS n FROM people GROUP BY region", connection)

An answer has the columns that a statement names and no others; `cursor.release` is the whole release, with intervals
and card, and `cursor.messages` says what was paid and how accurate each column is.  What was bought is bought: COMMIT
and ROLLBACK change nothing.
"""

from .connection import Connection, connect
from .cursor import BINARY, DATETIME, NUMBER, ROWID, STRING, Cursor
from .errors import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Warning,  # noqa: A004  # the name that PEP 249 gives it
)
from .values import (
    Binary,
    Date,
    DateFromTicks,
    Time,
    TimeFromTicks,
    Timestamp,
    TimestampFromTicks,
)

apilevel = "2.0"
threadsafety = 2  # threads may share the module and connections, but not cursors
paramstyle = "qmark"  # and :name, with a mapping

__all__ = [
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Binary",
    "Connection",
    "Cursor",
    "DataError",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "Warning",
    "apilevel",
    "connect",
    "paramstyle",
    "threadsafety",
]
