"""The PostgreSQL catalogue's description of a table, read in one read-only transaction with fixed settings."""

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
from ..sql.raw_columns import RawColumn
from .credentials import demanded, withheld
from .dialect import raw

MIN_VERSION = 140000
_CONNECT_TIMEOUT = 10  # seconds
_SETTINGS = {"TimeZone": "UTC", "DateStyle": "ISO", "IntervalStyle": "iso_8601", "extra_float_digits": "1"}
_SETTINGS |= {"standard_conforming_strings": "on", "bytea_output": "hex"}
_SETTINGS |= {
    "constraint_exclusion": "off",
    "enable_partition_pruning": "off",
}  # constraints of foreign tables are not enforced
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
    "53": "the server is out of connections, memory or disk space",
}
_NO_CONNECTION = "there is no connection to the server; check that it runs, and its address"
_CONNECTING = {
    "authentication": "28",
    "no pg_hba.conf": "28",
    "role": "28",
    "database": "3D",
    "too many": "53",
}


@dataclass(frozen=True)
class CatalogueColumn:
    """A column: `kind` is its type's name, whether the type is an enumeration, and its modifier.

    `unique`: no value occurs twice.  `equal`: values that PostgreSQL takes for equal are identical, as they are not in
    all collations.
    """

    kind: tuple[str, bool, int]
    unique: bool
    equal: bool

    def raw(self, name: str) -> RawColumn:
        """The raw column of this name."""
        return raw(exp.column(name, "raw", quoted=True), *self.kind)


@dataclass(frozen=True)
class Description:
    """A table by its full name, the columns that the schema names, and the snapshot in which it was described.

    No transaction ended between two equal snapshots.  Only plain tables have one.
    """

    path: tuple[str, str]
    columns: tuple[tuple[str, CatalogueColumn], ...]
    snapshot: str | None = field(compare=False)

    @property
    def name(self) -> str:
        """The full name of the table, quoted."""
        return self.table().sql(dialect="postgres")

    def table(self) -> exp.Table:
        """The table in SQL."""
        schema, name = (exp.to_identifier(part, quoted=True) for part in self.path)
        return exp.Table(this=name, db=schema)

    def raw(self) -> dict[str, RawColumn]:
        """The raw columns of the table, under the alias `raw`."""
        return {name: column.raw(name) for name, column in self.columns}

    def unique(self, unit: str | None) -> bool:
        """Whether each unit has at most one row."""
        return unit is not None and dict(self.columns)[unit].unique


@contextmanager
def connected(place: Database, milliseconds: int) -> Iterator[psycopg.Connection[Any]]:
    """A connection with one transaction that sees one snapshot and can write nothing."""
    address = psycopg.conninfo.conninfo_to_dict(place.url)
    options: dict[str, Any] = {
        "connect_timeout": _CONNECT_TIMEOUT,
        "application_name": "tacit",
        **address,
        "client_encoding": "utf8",
        **withheld(place),
        **demanded(place),
    }
    with psycopg.connect(**options, prepare_threshold=None) as connection:
        connection.read_only, connection.isolation_level = True, psycopg.IsolationLevel.REPEATABLE_READ
        settings = {**_SETTINGS, "statement_timeout": str(milliseconds), "lock_timeout": str(milliseconds)}
        calls = ", ".join(f"set_config('{name}', '{value}', true)" for name, value in settings.items())
        connection.execute(f"SELECT {calls}")
        yield connection
        connection.rollback()


def describe(connection: psycopg.Connection[Any], place: Database, name: str, schema: Schema) -> Description:
    """The description of a table, after checking that it can be read as the schema says."""
    state = connection.execute(f"SELECT {_STATE}").fetchone()
    if state is None or state[:2] != ("on", "repeatable read"):
        raise EngineUnavailable(place, "the server does not honour read-only transactions")
    if state[2] != "UTF8" or state[3] < MIN_VERSION:
        raise EngineUnavailable(place, "the database must be in UTF8, on PostgreSQL 14 or later")
    try:
        row = connection.execute(_TABLE, [name]).fetchone()
    except psycopg.ProgrammingError:  # an invalid name, or one in a schema that the user may not use
        row = None
    if row is None:
        raise EngineUnavailable(place, "there is no such table, or the user may not use its schema")
    oid, *path, kind, inherited, snapshot = row
    listed = connection.execute(_COLUMNS, {"table": oid}).fetchall()
    alone = kind == "p" or not inherited  # an index does not cover tables that inherit
    columns = {
        c: CatalogueColumn((type_, enum, mod), unique and alone, equal)
        for c, type_, enum, mod, _, unique, equal in listed
    }
    readable = {c for c, *_, may, _, _ in listed if may}
    for column in schema.names:
        if column not in columns:
            raise BadData(
                "the table",
                f"no column named {column!r}",
                "a table with the schema's columns",
                says=f"The table has no column named {column!r}, which the schema names.",
            )
        if column not in readable:
            raise EngineUnavailable(place, _REASONS["42501"])
    connection.execute("SELECT set_config('search_path', 'pg_catalog', true)")
    plain = kind in ("r", "m") and not inherited  # others may show the rows of other tables
    return Description((path[0], path[1]), tuple((c, columns[c]) for c in schema.names), snapshot if plain else None)


def words(error: psycopg.Error, timeout: float) -> str:
    """The reason of an error in words of our own: PostgreSQL's may hold cells, and a client's a password."""
    state = error.sqlstate or next((code for part, code in _CONNECTING.items() if part in str(error)), "")
    for code, reason in _REASONS.items():
        if state.startswith(code):
            return reason.format(timeout=timeout)
    return f"PostgreSQL reports {state}" if error.sqlstate else _NO_CONNECTION
