"""Spark: rows are bounded once, where they are, and kept there in a cached view, which is asked from then on.

Each question is one job (`sql.statements`), and only its public cells come here, as Arrow.  The engine works in a
session of its own (`spark_session`), beside the one that holds the data.  If that is gone, with the machine it was on,
the question that was being asked fails; the next one opens it anew, and reads the tables again if they are as before.
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
from ...query.plan.plan import Plan
from ...query.schema.databases import Database, in_spark
from ..base import Answer, Engine
from ..rows.sources import Source
from ..sql import raw_columns
from ..sql.bounded_table import bounded, registered
from ..sql.relations import Registered
from ..sql.results import Columns, gathered
from ..sql.statements import statements
from .dialect import SparkDialect
from .loading import fingerprint, frame, kinds, shared
from .session import Session, alive, beside, buried, ended, opened

if TYPE_CHECKING:
    from ...query.python.table import Table

_D = SparkDialect()


@dataclass(frozen=True)
class _Known:
    """A table as it was registered, and where it is now."""

    table: Table
    key: str
    number: int
    place: Registered
    print: str
    kinds: Mapping[str, str]


_HOSTS = {"sc": "SPARK_REMOTE", "spark": "MASTER"}  # where Spark's own client looks for an address


class Spark(Engine):
    """Tables in one application of Spark.

    `session` is a SparkSession, the address of Spark Connect (sc://...) or a master (local[2], spark://...).  If it is
    not given, it is that of the first table, if that has one, or the active one, or else one that is started here.
    """

    def __init__(self, session: Session | str | None = None) -> None:
        super().__init__()
        self._given = session
        self._session: Session = None
        self._own: Session = None
        self._tables: dict[str, _Known] = {}
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
            known = self._read(table, key)
            self._release(table.schema.name)  # registered again: what was read before is let go of
            self._tables[table.schema.name] = known

    def _forget(self, name: str) -> None:
        self._release(name)

    def kinds(self, name: str) -> Mapping[str, str]:
        return self._tables[name].kinds

    def _contents(self) -> Mapping[str, str]:
        return {name: known.print for name, known in self._tables.items()}

    def answer(self, plan: Plan, content: str | None = None) -> Answer:
        self._ready()
        return super().answer(plan, content)

    def _answer(self, plan: Plan, content: str | None) -> Answer:
        self._check(content)
        parts = statements(plan, _D, {name: known.place for name, known in self._tables.items()})
        own = self._own
        try:
            return gathered(plan, [(part, _columns(own.sql(_D.render(part.tree)).toArrow())) for part in parts])
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
        except Exception:  # then it is gone already
            pass
        self._own = self._session = None

    def _open(self) -> None:
        try:
            self._session = opened(self._given)
            self._own = beside(self._session)
            return
        except TacitError:
            raise
        except Exception:  # Java did not start, or nobody listens at an address
            pass
        raise EngineUnavailable("Spark", "no session could be opened; is its address right, and does Java run?")

    def _read(self, table: Table, key: str) -> _Known:
        """Bound the rows of a table, and keep them."""
        schema, number = table.schema, next(self._numbers)
        source = None if in_spark(table.data) else Source(table.data, schema)
        view, name, found = f"r{number}", f"t{number}", None
        try:
            rows = frame(self._session, table.data, source, schema)
            columns = kinds(rows, source, schema)
            shared(rows, self._own, view)
            found = fingerprint(self._own, schema, columns, view) if source is None else source.fingerprint
            query = bounded(schema, key, columns, exp.to_table(view), _D)
            self._own.sql(f"CACHE TABLE {name} AS {query}")
        except TacitError:
            raise
        except Exception:
            found = None
        changed = found is not None and source is not None and not source.unchanged()
        if found is None or changed:
            self._drop(number)
        if changed:
            raise BadData("the table", "a file that changed while it was read", "left alone until it is registered")
        if found is None and isinstance(table.data, Database):
            reason = "there is no such table, or Spark cannot read it (a folder of files is parquet.`/path` to it)"
            raise EngineUnavailable(table.data, reason)
        if found is None:
            raise BadData("the table", "data that Spark cannot read", "a whole, readable file or table")
        place = registered(schema, key, columns, name, _D)
        return _Known(table, key, number, place, found, raw_columns.kinds(columns))

    def _ready(self) -> None:
        """A session that holds the tables: the one there is, or one that is opened in its place.

        That the tables are no longer as they were is told: it is public, as a fingerprint is.
        """
        if os.getpid() != self._process:  # the connection to Spark is not shared with a fork
            raise EngineError
        with self._lock:
            if self._own is None or alive(self._own):
                return
            lost = False
            try:
                buried()
                self._open()
                again = {name: self._read(known.table, known.key) for name, known in self._tables.items()}
            except Exception:  # of Spark, of Java, of a connection
                lost = True
            if lost:
                raise EngineError
            for name, known in self._tables.items():
                if again[name].print != known.print:
                    raise BadData(f"the table {name}", "content that is not as it was", "registered by a new engine")
            self._tables = again

    def _release(self, name: str) -> None:
        if name in self._tables:
            self._drop(self._tables.pop(name).number)

    def _drop(self, number: int) -> None:
        try:
            for view in (f"t{number}", f"r{number}"):
                self._own.catalog.dropTempView(view)  # and what is cached of it
        except Exception:  # then it is gone with the session
            pass


ENGINE = Spark


def _home(data: Any, given: Session | str | None = None) -> Session | str | None:
    """The session where data is, if it says so; `given` is the one that the user named."""
    if not isinstance(data, Database):
        return data.sparkSession if in_spark(data) else None
    if data.url == "spark://":
        return None
    return _named_by_the_user(data, given) if data.in_file else data.url


def _named_by_the_user(place: Database, given: Session | str | None) -> str:
    """The user's own address of the host that a schema names.

    Spark sends its cluster the user's environment and files, and Spark Connect its token; so a host that only a schema
    names is sent nothing, and is not asked.
    """
    host = urlsplit(place.url)
    variable = _HOSTS[host.scheme]
    for own in (given, os.environ.get(variable)):
        if host.netloc and isinstance(own, str) and urlsplit(own)[:2] == host[:2]:
            return own
    reason = "its host is named by the schema alone, and Spark would send it what is in your environment"
    raise EngineUnavailable(
        place, f"{reason}; if you trust it, set {variable} to it, or give its address yourself, as data="
    )


def _columns(table: Any) -> Columns:
    """Arrays of integers where Arrow's type is one of them, else of what came, masked where it is missing."""
    out = {}
    for name, cells in zip(table.column_names, table.columns, strict=True):
        whole = str(cells.type) in ("int8", "int16", "int32", "int64")
        values = cells.fill_null(0).to_numpy() if whole else np.array(cells.to_pylist(), dtype=object)
        out[name] = np.ma.MaskedArray(values, cells.is_null().to_numpy())
    return out
