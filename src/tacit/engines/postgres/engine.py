"""PostgreSQL: a table stays where it is, and each question about it is one that bounds its rows first.

Nothing is written there, and nothing but public cells comes from there.  Each question has a connection and a
transaction of its own, read-only and repeatable-read, so it sees one moment, and threads and forks share nothing.  What
is in the catalogue (the types of columns, whether the unit is unique) is read in that same moment.

The fingerprint is a sum of hashes over the rows, computed there, and computed again once any transaction has ended
since; so a question that is asked after the table has changed is another question.
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
from ...query.plan.plan import Plan
from ...query.schema.databases import Database
from ...query.schema.schema import Schema
from ..base import Answer, Engine, joint
from ..sql.bounded_table import bounded, registered
from ..sql.raw_columns import kinds
from ..sql.relations import Registered
from ..sql.results import Columns, gathered
from ..sql.statements import statements
from .catalogue import Description, connected, describe, words
from .credentials import unsent
from .dialect import PostgresDialect, joins
from .eager_aggregation import early

if TYPE_CHECKING:
    from ...query.python.table import Table

_PART = "SUM(CAST(CAST(CONCAT('x', SUBSTR(h, {}, 16)) AS BIT(64)) AS BIGINT))"
_D = PostgresDialect()
_INTEGERS = tuple(psycopg.postgres.types[name].oid for name in ("int2", "int4", "int8"))
T = TypeVar("T")
Seen = tuple[str, str]  # a moment, and the fingerprint at that moment


@dataclass(frozen=True)
class _Known:
    """A table that was registered, by its full name."""

    place: Database
    schema: Schema
    key: str
    name: str
    kinds: Mapping[str, str]

    def describe(self, connection: psycopg.Connection[Any]) -> Description:
        return describe(connection, self.place, self.name, self.schema)


class Postgres(Engine):
    """Tables in one PostgreSQL database; no statement takes longer than `timeout` seconds."""

    def __init__(self, timeout: float = 600) -> None:
        super().__init__()
        self._milliseconds = int(1000 * positive("timeout", timeout))
        self._tables: dict[str, _Known] = {}
        self._prints: dict[str, Seen] = {}

    def _register(self, table: Table, key: str) -> None:
        place, schema = table.data, table.schema
        if not isinstance(place, Database):
            raise BadParameter("data", repr(table), "the address of a table in PostgreSQL")
        if any(known.place.url != place.url for known in self._tables.values()):
            raise BadParameter("tables", str(place), "all of one database")
        found = self._before(place, lambda connection: describe(connection, place, place.table, schema))
        self._tables[schema.name] = _Known(place, schema, key, found.name, kinds(found.raw()))
        self._prints.pop(schema.name, None)

    def _forget(self, name: str) -> None:
        del self._tables[name]
        self._prints.pop(name, None)

    def kinds(self, name: str) -> Mapping[str, str]:
        return self._tables[name].kinds

    def _contents(self) -> Mapping[str, str]:
        """What the tables hold now."""
        for name, known in self._tables.items():
            self._prints[name] = self._before(known.place, partial(self._look, name))
        return {name: content for name, (_, content) in self._prints.items()}

    def _answer(self, plan: Plan, content: str | None) -> Answer:
        if not self._tables:
            raise EngineError
        place = next(iter(self._tables.values())).place
        with connected(place, self._milliseconds) as connection:
            found = {name: known.describe(connection) for name, known in self._tables.items()}
            if content is not None and content != joint({name: self._look(name, connection)[1] for name in found}):
                raise EngineError  # this transaction sees another
            names = {f"t{i}": name for i, name in enumerate(self._tables)}
            tables = {name: _registered(self._tables[name], found[name], t) for t, name in names.items()}

            def body(t: str, used: frozenset[str]) -> str:
                known = self._tables[names[t]]
                return _bounded(known.schema, known.key, found[names[t]], used)

            parts = statements(plan, _D, tables)
            return gathered(plan, [(part, _columns(connection, _with(body, part.tree))) for part in parts])

    def close(self) -> None:
        super().close()
        self._tables.clear()
        self._prints.clear()

    def _look(self, name: str, connection: psycopg.Connection[Any]) -> Seen:
        """The moment, and a hash of the number of rows and of sums of their hashes' halves, which have no order."""
        found, seen = self._tables[name].describe(connection), self._prints.get(name, ("", ""))
        if found.moment is not None and found.moment == seen[0]:
            return seen
        names = ", ".join(_D.render(exp.column(name, quoted=True)) for name, _ in found.columns)
        rows = f"SELECT MD5(CAST(ROW({names}) AS TEXT)) AS h FROM {_D.render(found.table())}"
        summed = f"SELECT COUNT(*), {_PART.format(1)}, {_PART.format(17)} FROM ({rows}) AS q"
        sums, kinds = connection.execute(summed).fetchone(), [[name, *column.kind] for name, column in found.columns]
        return found.moment or "", hashlib.sha256(json.dumps([kinds, *map(str, sums or ())]).encode()).hexdigest()

    def _before(self, place: Database, do: Callable[[psycopg.Connection[Any]], T]) -> T:
        """Do it where nothing is charged yet, so that its errors can be told, in our own words."""
        try:
            with connected(place, self._milliseconds) as connection:
                return do(connection)
        except psycopg.Error as error:
            reason = words(error, self._milliseconds / 1000) + unsent(place)
        raise EngineUnavailable(place, reason)


ENGINE = Postgres


def _registered(known: _Known, found: Description, name: str) -> Registered:
    table = registered(known.schema, known.key, found.raw(), name, _D)
    return replace(table, early=partial(early, known.schema, found)) if known.schema.unit is None else table


@lru_cache(maxsize=64)
def _bounded(schema: Schema, key: str, found: Description, used: frozenset[str]) -> str:
    """The bounded table, as far as it is used; the lists of labels that are not needed are not even sent."""
    unique = found.unique(schema.unit)
    hashed = schema.unit is not None and not unique and (used or schema.partition)
    raw, place = found.raw(), exp.alias_(found.table(), "raw", table=True)
    read = {n: raw[n] for i, (n, _) in enumerate(schema.columns) if hashed or f"c{i}" in used}
    place.set("joins", list(joins(schema, read)))
    return bounded(schema, key, raw | read, place, _D, unique=unique, used=used)


def _with(body: Callable[[str, frozenset[str]], str], tree: exp.Expr) -> str:
    """A statement after the bounded tables that it is about."""
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
    """An array of integers where PostgreSQL's type is one of them, else of what came, masked where it is missing."""
    mask = [value is None for value in values]
    if kind in _INTEGERS:
        return np.ma.MaskedArray(np.array([value or 0 for value in values], dtype=np.int64), mask)
    out = np.ma.MaskedArray(np.empty(len(values), dtype=object), mask)
    out[:] = values
    return out
