"""The PostgreSQL engine: a table stays on the server, and each query about it bounds its rows first.

The engine writes nothing, and only public cells leave the server.  Each query has a connection and a transaction of its
own, read-only and repeatable-read, so it sees one snapshot, and threads and forks share nothing.  The catalogue (types
of columns, whether the unit is unique) is read in the same snapshot.

The fingerprint is a sum of hashes over the rows, computed on the server, and computed again once any transaction has
ended; so a question about a table that has changed since is another question.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import psycopg
from sqlglot import exp

from ...core.errors import BadParameter, EngineError, EngineUnavailable
from ...core.parameters import positive
from ...query.plan.plan import QueryPlan
from ...query.schema.databases import Database
from ...query.schema.schema import Schema
from ..base import Engine, EngineAnswer, joint_fingerprint
from ..sql.bounded_table import bounded_query, bounded_table
from ..sql.raw_columns import kinds
from ..sql.relations import BoundedTable
from ..sql.results import Columns, exact_answer
from ..sql.statements import statements
from .catalogue import Description, connected, describe, words
from .credentials import unsent
from .dialect import PostgresDialect, joins
from .eager_aggregation import aggregate_eagerly

if TYPE_CHECKING:
    from ...query.python.table import Table

_HALF_SUM = "SUM(CAST(CAST(CONCAT('x', SUBSTR(h, {}, 16)) AS BIT(64)) AS BIGINT))"
_D = PostgresDialect()
_INTEGERS = tuple(psycopg.postgres.types[name].oid for name in ("int2", "int4", "int8"))
T = TypeVar("T")
Fingerprint = tuple[str, str]  # a snapshot, and the hash of a table in it


@dataclass(frozen=True)
class _RegisteredTable:
    """A registered table, by its full name on the server."""

    place: Database
    schema: Schema
    key: str
    name: str
    kinds: Mapping[str, str]

    def describe(self, connection: psycopg.Connection[Any]) -> Description:
        """The description of the table in the snapshot of this connection."""
        return describe(connection, self.place, self.name, self.schema)


class Postgres(Engine):
    """Tables in one PostgreSQL database; no statement takes longer than `timeout` seconds."""

    def __init__(self, timeout: float = 600) -> None:
        super().__init__()
        self._milliseconds = int(1000 * positive("timeout", timeout))
        self._tables: dict[str, _RegisteredTable] = {}
        self._fingerprints: dict[str, Fingerprint] = {}

    def _register(self, table: Table, key: str) -> None:
        place, schema = table.data, table.schema
        if not isinstance(place, Database):
            raise BadParameter("data", repr(table), "the address of a table in PostgreSQL")
        if any(other.place.url != place.url for other in self._tables.values()):
            raise BadParameter("tables", str(place), "all in one database")
        description = self._uncharged(place, lambda connection: describe(connection, place, place.table, schema))
        self._tables[schema.name] = _RegisteredTable(place, schema, key, description.name, kinds(description.raw()))
        self._fingerprints.pop(schema.name, None)

    def _forget(self, name: str) -> None:
        del self._tables[name]
        self._fingerprints.pop(name, None)

    def kinds(self, name: str) -> Mapping[str, str]:
        return self._tables[name].kinds

    def _contents(self) -> Mapping[str, str]:
        """A hash of the content of each table, as it is now."""
        for name, table in self._tables.items():
            self._fingerprints[name] = self._uncharged(table.place, partial(self._fingerprint, name))
        return {name: content for name, (_, content) in self._fingerprints.items()}

    def _answer(self, plan: QueryPlan, content: str | None) -> EngineAnswer:
        if not self._tables:
            raise EngineError
        place = next(iter(self._tables.values())).place
        with connected(place, self._milliseconds) as connection:
            described = {name: table.describe(connection) for name, table in self._tables.items()}
            if content is not None:
                contents = {name: self._fingerprint(name, connection)[1] for name in described}
                if content != joint_fingerprint(contents):  # this snapshot has another content
                    raise EngineError
            names = {f"t{i}": name for i, name in enumerate(self._tables)}
            tables = {name: _bounded_table(self._tables[name], described[name], t) for t, name in names.items()}

            def body(t: str, used: frozenset[str]) -> str:
                table = self._tables[names[t]]
                return _bounded_query(table.schema, table.key, described[names[t]], used)

            parts = statements(plan, _D, tables)
            return exact_answer(plan, [(part, _columns(connection, _with(body, part.tree))) for part in parts])

    def close(self) -> None:
        super().close()
        self._tables.clear()
        self._fingerprints.clear()

    def _fingerprint(self, name: str, connection: psycopg.Connection[Any]) -> Fingerprint:
        """The snapshot, and a hash of the number of rows and of sums of their hashes, which have no order."""
        description, last = self._tables[name].describe(connection), self._fingerprints.get(name, ("", ""))
        if description.snapshot is not None and description.snapshot == last[0]:
            return last
        names = ", ".join(_D.render(exp.column(name, quoted=True)) for name, _ in description.columns)
        rows = f"SELECT MD5(CAST(ROW({names}) AS TEXT)) AS h FROM {_D.render(description.table())}"
        summed = f"SELECT COUNT(*), {_HALF_SUM.format(1)}, {_HALF_SUM.format(17)} FROM ({rows}) AS q"
        sums = connection.execute(summed).fetchone() or ()
        content = [[[name, *column.kind] for name, column in description.columns], *map(str, sums)]
        return description.snapshot or "", hashlib.sha256(json.dumps(content).encode()).hexdigest()

    def _uncharged(self, place: Database, do: Callable[[psycopg.Connection[Any]], T]) -> T:
        """Call `do` while nothing is charged yet, so that its errors may be reported, in words of our own."""
        try:
            with connected(place, self._milliseconds) as connection:
                return do(connection)
        except psycopg.Error as error:
            reason = words(error, self._milliseconds / 1000) + unsent(place)
        raise EngineUnavailable(place, reason)


ENGINE = Postgres


def _bounded_table(table: _RegisteredTable, description: Description, name: str) -> BoundedTable:
    """A registered table as translations refer to it, under this name."""
    bounded = bounded_table(table.schema, table.key, description.raw(), name, _D)
    if table.schema.unit is not None:
        return bounded
    return replace(bounded, eager=partial(aggregate_eagerly, table.schema, description))


@lru_cache(maxsize=64)
def _bounded_query(schema: Schema, key: str, description: Description, used: frozenset[str]) -> str:
    """The query for the bounded table with the columns that are used, without lists of labels it does not need."""
    unique = description.unique(schema.unit)
    hashed = schema.unit is not None and not unique and (used or schema.partition)
    raw, place = description.raw(), exp.alias_(description.table(), "raw", table=True)
    read = {n: raw[n] for i, (n, _) in enumerate(schema.columns) if hashed or f"c{i}" in used}
    place.set("joins", list(joins(schema, read)))
    return bounded_query(schema, key, raw | read, place, _D, unique=unique, used=used)


def _with(body: Callable[[str, frozenset[str]], str], tree: exp.Expr) -> str:
    """The statement, after a WITH clause of the bounded tables that it reads."""
    named = sorted({table.name for table in tree.find_all(exp.Table) if not table.db})
    used = frozenset(c.name for c in tree.find_all(exp.Column) if c.name.startswith("c"))
    bodies = ", ".join(f"{name} AS ({body(name, used)})" for name in named)
    return f"WITH {bodies} {_D.render(tree)}" if bodies else _D.render(tree)


def _columns(connection: psycopg.Connection[Any], statement: str) -> Columns:
    cursor = connection.execute(statement, binary=True)
    rows, described = cursor.fetchall(), cursor.description or ()
    cells = zip(*rows, strict=True) if rows else [()] * len(described)
    return {of.name: _column(of.type_code, values) for of, values in zip(described, cells, strict=True)}


def _column(kind: int, values: Sequence[Any]) -> Any:
    """An array of int64 for PostgreSQL's integer types, else of objects; masked where a value is missing."""
    mask = [value is None for value in values]
    if kind in _INTEGERS:
        return np.ma.MaskedArray(np.array([value or 0 for value in values], dtype=np.int64), mask)
    out = np.ma.MaskedArray(np.empty(len(values), dtype=object), mask)
    out[:] = values
    return out
