"""What PostgreSQL says of a table, and how it is asked: in one read-only transaction, with settings of our own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg
from sqlglot import exp

from ...core.errors import BadData, EngineUnavailable
from ...query.schema.databases import Database
from ...query.schema.schema import Schema
from ..sql.raw_columns import Raw
from .credentials import demanded, withheld
from .dialect import raw

OLDEST = 140000
_CONNECT = 10  # seconds to wait for a connection
_SETTINGS = {"TimeZone": "UTC", "DateStyle": "ISO", "IntervalStyle": "iso_8601", "extra_float_digits": "1"}
_SETTINGS |= {"standard_conforming_strings": "on", "bytea_output": "hex"}
_SETTINGS |= {"constraint_exclusion": "off", "enable_partition_pruning": "off"}  # nobody checks those of foreign tables
_STATE = (
    "current_setting('transaction_read_only'), current_setting('transaction_isolation'),"
    " current_setting('server_encoding'), CAST(current_setting('server_version_num') AS INT)"
)
_TABLE = """
SELECT c.oid, n.nspname, c.relname, c.relkind, c.relhassubclass,
    CONCAT(pg_postmaster_start_time(), ' ', pg_current_snapshot(), ' ', c.oid)
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.oid = to_regclass(%s) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
"""
_COLUMNS = """
WITH RECURSIVE base (attnum, type, modifier) AS (
    SELECT attnum, atttypid, atttypmod FROM pg_catalog.pg_attribute
    WHERE attrelid = %(table)s AND attnum > 0 AND NOT attisdropped
  UNION ALL
    SELECT attnum, typbasetype, typtypmod FROM base JOIN pg_catalog.pg_type t ON t.oid = type WHERE typtype = 'd'
)
SELECT attname, CASE WHEN typnamespace = 'pg_catalog'::regnamespace OR typname = 'citext' THEN typname ELSE '' END,
    typtype = 'e', modifier, has_column_privilege(attrelid, attnum, 'SELECT'),
    EXISTS (SELECT FROM pg_catalog.pg_index WHERE indrelid = attrelid AND indkey[0] = attnum AND indnkeyatts = 1
        AND indisunique AND indisvalid AND indpred IS NULL),
    typname <> 'citext' AND COALESCE(collisdeterministic, TRUE)
FROM base JOIN pg_catalog.pg_type t ON t.oid = type JOIN pg_catalog.pg_attribute USING (attnum)
    LEFT JOIN pg_catalog.pg_collation c ON c.oid = attcollation
WHERE attrelid = %(table)s AND typtype <> 'd' ORDER BY attnum
"""
_REASONS = {
    "28": "the server does not admit this user",
    "3D": "there is no such database",
    "42501": "the user may not read it; GRANT SELECT on the table, and USAGE on its schema",
    "57014": "a statement took longer than {timeout:g} seconds",
    "55P03": "it was locked for longer than {timeout:g} seconds",
    "53": "the server is out of connections or of room",
}
_CONNECTING = {
    "authentication": "28",
    "no pg_hba.conf": "28",
    "role": "28",
    "database": "3D",
    "too many": "53",
}


@dataclass(frozen=True)
class Column:
    """The name of a type, whether it is an enumeration, its modifier; and whether each value is there once only.

    `equal` says that what PostgreSQL takes for equal is read alike, which it is not in all collations.
    """

    kind: tuple[str, bool, int]
    unique: bool
    equal: bool

    def raw(self, name: str) -> Raw:
        return raw(exp.column(name, "raw", quoted=True), *self.kind)


@dataclass(frozen=True)
class Description:
    """A table by its full name, those of its columns that a schema names, and the moment at which it was seen.

    No transaction has ended between two moments that are the same; there is none for what is not a plain table.
    """

    path: tuple[str, str]
    columns: tuple[tuple[str, Column], ...]
    moment: str | None = field(compare=False)

    @property
    def name(self) -> str:
        return self.table().sql(dialect="postgres")

    def table(self) -> exp.Table:
        schema, name = (exp.to_identifier(part, quoted=True) for part in self.path)
        return exp.Table(this=name, db=schema)

    def raw(self) -> dict[str, Raw]:
        """The columns of the table, where it is called raw."""
        return {name: column.raw(name) for name, column in self.columns}

    def unique(self, unit: str | None) -> bool:
        return unit is not None and dict(self.columns)[unit].unique


@contextmanager
def connected(place: Database, milliseconds: int) -> Iterator[psycopg.Connection[Any]]:
    """A transaction of its own, which sees one moment and can write nothing."""
    given = psycopg.conninfo.conninfo_to_dict(place.url)
    more: dict[str, Any] = {
        "connect_timeout": _CONNECT,
        "application_name": "tacit",
        **given,
        "client_encoding": "utf8",
        **withheld(place),
        **demanded(place),
    }
    with psycopg.connect(**more, prepare_threshold=None) as connection:
        connection.read_only, connection.isolation_level = True, psycopg.IsolationLevel.REPEATABLE_READ
        settings = {**_SETTINGS, "statement_timeout": str(milliseconds), "lock_timeout": str(milliseconds)}
        calls = ", ".join(f"set_config('{name}', '{value}', true)" for name, value in settings.items())
        connection.execute(f"SELECT {calls}")
        yield connection
        connection.rollback()


def describe(connection: psycopg.Connection[Any], place: Database, name: str, schema: Schema) -> Description:
    """The table of this name, once it is seen to be one that can be read as the schema says."""
    state = connection.execute(f"SELECT {_STATE}").fetchone()
    if state is None or state[:2] != ("on", "repeatable read"):
        raise EngineUnavailable(place, "the server does not keep to read-only transactions")
    if state[2] != "UTF8" or state[3] < OLDEST:
        raise EngineUnavailable(place, "it must be a database in UTF8, of PostgreSQL 14 or later")
    try:
        row = connection.execute(_TABLE, [name]).fetchone()
    except psycopg.ProgrammingError:  # no name at all, or one in a schema that is closed to the user
        row = None
    if row is None:
        raise EngineUnavailable(place, "there is no such table, or the user may not use its schema")
    oid, *path, kind, inherited, moment = row
    known = connection.execute(_COLUMNS, {"table": oid}).fetchall()
    alone = kind == "p" or not inherited  # an index says nothing of tables that inherit
    found = {c: Column((type_, enum, mod), unique and alone, equal) for c, type_, enum, mod, _, unique, equal in known}
    readable = {c for c, *_, may, _, _ in known if may}
    for column in schema.names:
        if column not in found:
            raise BadData("the table", f"no column named {column!r}", "a table with the schema's columns")
        if column not in readable:
            raise EngineUnavailable(place, _REASONS["42501"])
    connection.execute("SELECT set_config('search_path', 'pg_catalog', true)")
    plain = kind in ("r", "m") and not inherited  # others may hold what lives elsewhere
    return Description((path[0], path[1]), tuple((c, found[c]) for c in schema.names), moment if plain else None)


def words(error: psycopg.Error, timeout: float) -> str:
    """An error in our words: PostgreSQL's may hold cells, and a client's what it took for a host."""
    state = error.sqlstate or next((code for part, code in _CONNECTING.items() if part in str(error)), "")
    for code, reason in _REASONS.items():
        if state.startswith(code):
            return reason.format(timeout=timeout)
    return f"PostgreSQL reports {state}" if error.sqlstate else "there is no connection; is the server up, and there?"
