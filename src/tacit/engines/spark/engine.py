"""The Spark engine: it bounds rows once, where they are, into a cached view, and queries that view.

Each statement is one job, and only public cells come back, as Arrow.  The engine works in a session of its own
(`session`), beside the one that holds the data.  If the session is lost, the running query fails; the next one opens a
new session, and reads the tables again if their content is unchanged.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
from sqlglot import exp

from ...core.errors import BadData, BadParameter, EngineError, EngineUnavailable, TacitError
from ...query.plan.plan import QueryPlan
from ...query.schema.databases import Database, in_spark
from ..base import Engine, EngineAnswer
from ..rows.sources import DataSource
from ..sql import raw_columns
from ..sql.bounded_table import bounded_query, bounded_table
from ..sql.relations import BoundedTable
from ..sql.results import Columns, exact_answer
from ..sql.statements import statements
from .dialect import SparkDialect
from .loading import fingerprint, frame, kinds, shared
from .session import AnySparkSession, alive, beside, buried, ended, opened

if TYPE_CHECKING:
    from ...query.python.table import Table

_D = SparkDialect()


@dataclass(frozen=True)
class _CachedTable:
    """A registered table, and the cached view of its bounded rows."""

    table: Table
    key: str
    number: int
    bounded: BoundedTable
    fingerprint: str
    kinds: Mapping[str, str]


_ADDRESS_VARIABLES = {"sc": "SPARK_REMOTE", "spark": "MASTER"}  # by scheme, as in Spark's own client


class Spark(Engine):
    """Bounded tables in one Spark application.

    `session` is a SparkSession, the address of Spark Connect (sc://...) or a master (local[2], spark://...).  By
    default it is the session of the first table if that has one, else the active session, else a new local one.
    """

    def __init__(self, session: AnySparkSession | str | None = None) -> None:
        super().__init__()
        self._given = session
        self._session: AnySparkSession = None
        self._own: AnySparkSession = None
        self._tables: dict[str, _CachedTable] = {}
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._numbers = itertools.count()

    def _register(self, table: Table, key: str) -> None:
        if isinstance(table.data, Database) and not in_spark(table.data):
            raise BadParameter("data", str(table.data), "a table that Spark knows, a file, or a table in memory")
        with self._lock:
            if self._own is None:
                self._given = self._given or _home(table.data)
                self._open()
            elif isinstance(table.data, Database) and _home(table.data, self._given) not in (None, self._given):
                raise BadParameter("tables", str(table.data), "all in one session of Spark")
            cached = self._read(table, key)
            self._release(table.schema.name)  # registered again: drop the first reading
            self._tables[table.schema.name] = cached

    def _forget(self, name: str) -> None:
        self._release(name)

    def kinds(self, name: str) -> Mapping[str, str]:
        return self._tables[name].kinds

    def _contents(self) -> Mapping[str, str]:
        return {name: table.fingerprint for name, table in self._tables.items()}

    def answer(self, plan: QueryPlan, content: str | None = None) -> EngineAnswer:
        self._ready()
        return super().answer(plan, content)

    def _answer(self, plan: QueryPlan, content: str | None) -> EngineAnswer:
        self._check(content)
        parts = statements(plan, _D, {name: table.bounded for name, table in self._tables.items()})
        own = self._own
        try:
            return exact_answer(plan, [(part, _columns(own.sql(_D.render(part.tree)).toArrow())) for part in parts])
        except KeyboardInterrupt:
            own.interruptAll()
            raise

    def close(self) -> None:
        super().close()
        for name in list(self._tables):
            self._release(name)
        try:
            ended(self._own)
            if isinstance(self._given, str):
                ended(self._session)
        except Exception:  # the session is gone already
            pass
        self._own = self._session = None

    def _open(self) -> None:
        try:
            self._session = opened(self._given)
            self._own = beside(self._session)
            return
        except TacitError:
            raise
        except Exception:  # Java did not start, or nothing listens at the address
            pass
        raise EngineUnavailable("Spark", "no session could be opened; check its address, and that Java runs")

    def _read(self, table: Table, key: str) -> _CachedTable:
        """Bound the rows of a table, and cache them in a view."""
        schema, number = table.schema, next(self._numbers)
        source = None if in_spark(table.data) else DataSource(table.data, schema)
        view, name, content = f"r{number}", f"t{number}", None
        try:
            rows = frame(self._session, table.data, source, schema)
            columns = kinds(rows, source, schema)
            shared(rows, self._own, view)
            content = fingerprint(self._own, schema, columns, view) if source is None else source.fingerprint
            query = bounded_query(schema, key, columns, exp.to_table(view), _D)
            self._own.sql(f"CACHE TABLE {name} AS {query}")
        except TacitError:
            raise
        except Exception:
            content = None
        changed = content is not None and source is not None and not source.unchanged()
        if content is None or changed:
            self._drop(number)
        if changed:
            raise BadData(
                "the table",
                "a file that changed while it was read",
                "a file that stays the same while it is read",
                says="The file changed while it was read. Try again when nobody is writing to it.",
            )
        if content is None and isinstance(table.data, Database):
            reason = "there is no such table, or Spark cannot read it (name a folder of files as parquet.`/path`)"
            raise EngineUnavailable(table.data, reason)
        if content is None:
            raise BadData(
                "the table",
                "data that Spark cannot read",
                "a complete, readable file or table",
                says="Spark cannot read this table. Check that the file or table is complete and readable.",
            )
        bounded = bounded_table(schema, key, columns, name, _D)
        return _CachedTable(table, key, number, bounded, content, raw_columns.kinds(columns))

    def _ready(self) -> None:
        """Make sure that there is a session that holds the tables; open one if it was lost.

        The error may say that the content of a table has changed: fingerprints are public.
        """
        if os.getpid() != self._process:  # a fork cannot share the connection to Spark
            raise EngineError
        with self._lock:
            if self._own is None or alive(self._own):
                return
            lost = False
            try:
                buried()
                self._open()
                again = {name: self._read(cached.table, cached.key) for name, cached in self._tables.items()}
            except Exception:  # from Spark, Java or the connection
                lost = True
            if lost:
                raise EngineError
            for name, cached in self._tables.items():
                if again[name].fingerprint != cached.fingerprint:
                    raise BadData(
                        f"the table {name}",
                        "changed content",
                        "unchanged",
                        says=f"The Spark session was lost, and the content of the table {name!r} has changed since it "
                        "was read. Open it with a new engine.",
                    )
            self._tables = again

    def _release(self, name: str) -> None:
        if name in self._tables:
            self._drop(self._tables.pop(name).number)

    def _drop(self, number: int) -> None:
        try:
            for view in (f"t{number}", f"r{number}"):
                self._own.catalog.dropTempView(view)  # this frees the cache too
        except Exception:  # the session is gone, and the view with it
            pass


ENGINE = Spark


def _home(data: Any, given: AnySparkSession | str | None = None) -> AnySparkSession | str | None:
    """The session of the data, if they name one; `given` is the session that the user named."""
    if not isinstance(data, Database):
        return data.sparkSession if in_spark(data) else None
    if data.url == "spark://":
        return None
    return _trusted_address(data, given) if data.in_file else data.url


def _trusted_address(place: Database, given: AnySparkSession | str | None) -> str:
    """The user's own address of the host that a schema names.

    Spark sends its cluster the user's environment and files, and Spark Connect its token; so the engine does not
    connect to a host that only a schema names.
    """
    host = urlsplit(place.url)
    variable = _ADDRESS_VARIABLES[host.scheme]
    for own in (given, os.environ.get(variable)):
        if host.netloc and isinstance(own, str) and urlsplit(own)[:2] == host[:2]:
            return own
    reason = "only the schema names its host, and Spark would send that host your environment"
    raise EngineUnavailable(
        place, f"{reason}; if you trust the host, set {variable} to its address, or pass the address as data="
    )


def _columns(table: Any) -> Columns:
    """Arrays of integers for Arrow's integer types, else of objects; masked where a value is missing."""
    out = {}
    for name, cells in zip(table.column_names, table.columns, strict=True):
        whole = str(cells.type) in ("int8", "int16", "int32", "int64")
        values = cells.fill_null(0).to_numpy() if whole else np.array(cells.to_pylist(), dtype=object)
        out[name] = np.ma.MaskedArray(values, cells.is_null().to_numpy())
    return out
