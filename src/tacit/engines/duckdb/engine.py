"""The DuckDB engine: it reads a file or a table in memory once, bounds its rows, and queries the bounded table.

One database reads the raw data, and is closed when the bounded table is made.  Another answers, and is locked before it
holds any data: no files but bounded copies, no extensions, no changes of settings.  Bounded tables are in its memory,
or, if a folder for copies is given, in files that only the owner can read, for the next process.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
from sqlglot import exp

from ...core.errors import BadData, EngineError
from ...query.plan.plan import QueryPlan
from ...query.schema.schema import Schema
from ..base import Engine, EngineAnswer
from ..rows.sources import DataSource
from ..sql.bounded_table import typed
from ..sql.dialect import TEXT
from ..sql.relations import BoundedTable
from ..sql.results import Columns, exact_answer
from ..sql.statements import SQLStatement, statements
from .bounded_copies import Copies
from .dialect import DuckDBDialect, LookupTables, quoted
from .loading import load, loader

if TYPE_CHECKING:
    from ...query.python.table import Table

_MAX_CACHED_PLANS = 256  # plans whose SQL is cached
# Only optimizers that use nothing but the text of a statement.  Others plan by the content of a table (its minimum, its
# number of rows), so that one unit could change how, and how fast, a query is computed; and some reorder sums, which
# may then overflow.
_OPTIMIZERS = ("unused_columns", "common_subexpressions", "common_aggregate", "column_lifetime", "in_clause")
_Part = tuple[SQLStatement, str, Mapping[str, Any]]  # a statement, its text, and its lookup tables


class DuckDB(Engine):
    """Bounded tables in DuckDB; `copies` is a folder for them, private to its owner."""

    def __init__(self, copies: str | os.PathLike[str] | None = None) -> None:
        super().__init__()
        self._copies = None if copies is None else Copies(Path(copies))
        self._database = locked(None if self._copies is None else self._copies.folder)
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._tables: dict[str, BoundedTable] = {}
        self._fingerprints: dict[str, str] = {}
        self._dialect = DuckDBDialect()
        self._statements: dict[QueryPlan, list[_Part]] = {}

    @classmethod
    def create(cls, copies: str | os.PathLike[str] | None) -> DuckDB:
        return cls(copies)

    def _register(self, table: Table, key: str) -> None:
        schema, d = table.schema, self._dialect
        if schema.name in self._tables:  # registered again: drop the first reading
            self._release(self._tables.pop(schema.name).source)
            del self._fingerprints[schema.name]
        self._statements = {}  # a new cache: another thread may still write to the old one
        name, described = self._free_name(), None
        try:
            source = DataSource(table.data, schema)
            place = self._place(name, source, schema, key)
            described = self._database.execute(f"DESCRIBE {d.render(place)}").fetchall()
        except (duckdb.Error, OSError):
            pass
        if described is None:
            raise BadData(
                "the table",
                "data that DuckDB cannot read",
                "a complete, readable file or table",
                says="DuckDB cannot read this table. Check that the file is complete and readable.",
            )
        unit = {"BIGINT": 64, "VARCHAR": TEXT}.get(described[0][1]) if described[0][0] == "u" else None
        self._tables[schema.name] = BoundedTable(place, typed(schema, d), key, unit)
        self._fingerprints[schema.name] = source.fingerprint

    def _forget(self, name: str) -> None:
        if name not in self._tables:  # reading it again failed
            return
        self._statements = {}
        copy = self._release(self._tables.pop(name).source)
        del self._fingerprints[name]
        if copy is not None:
            copy.unlink(missing_ok=True)

    def _contents(self) -> Mapping[str, str]:
        return self._fingerprints

    def _answer(self, plan: QueryPlan, content: str | None) -> EngineAnswer:
        self._check(content)
        return exact_answer(plan, [(part, self._run(text, tables)) for part, text, tables in self._translated(plan)])

    def close(self) -> None:
        super().close()
        self._database.close()
        self._tables.clear()

    def _translated(self, plan: QueryPlan) -> list[_Part]:
        cache = self._statements
        if (parts := cache.get(plan)) is None:
            d = LookupTables()
            parts = [(p, d.render(p.tree), d.tables) for p in statements(plan, d, self._tables)]
            if len(cache) >= _MAX_CACHED_PLANS:
                cache.clear()
            cache[plan] = parts
        return parts

    def _run(self, statement: str, tables: Mapping[str, Any]) -> Columns:
        if os.getpid() != self._process:  # the threads of a database do not survive a fork
            raise EngineError
        try:
            with self._lock:
                cursor = self._database.cursor()
            with closing(cursor):
                for name, table in tables.items():
                    cursor.register(name, table)
                return cursor.execute(statement).fetchnumpy()
        except RuntimeError as error:
            if "interrupted" not in str(error):  # DuckDB's message after Ctrl-C
                raise
        raise KeyboardInterrupt

    def _place(self, name: str, source: DataSource, schema: Schema, key: str) -> exp.Expr:
        """Make the bounded table, or attach its copy; returns its name in SQL."""
        if self._copies is None or not source.on_disk:
            load(source, schema, key, self._database, name)
            _check(source)
            return exp.to_table(name)

        def make(path: Path) -> None:
            with closing(loader()) as database:
                database.execute(f"ATTACH {quoted(path.as_posix())} AS copy")
                load(source, schema, key, database, "copy.bounded")
                database.execute("DETACH copy")
            _check(source)

        with self._copies.copy(source.fingerprint, schema, key, make) as copy:
            self._database.execute(f"ATTACH {quoted(copy.as_posix())} AS {name} (READ_ONLY)")
        return exp.to_table(f"{name}.bounded")

    def _free_name(self) -> str:
        """A name that no table has yet."""
        taken = {table.source.sql().partition(".")[0] for table in self._tables.values()}
        return next(name for i in itertools.count() if (name := f"t{i}") not in taken)

    def _release(self, place: exp.Expr) -> Path | None:
        """Drop a bounded table; returns the path of its copy, if it has one, which stays."""
        assert isinstance(place, exp.Table)
        if not place.db:
            self._database.execute(f"DROP TABLE {place.name}")
            return None
        path = "SELECT path FROM duckdb_databases() WHERE database_name = ?"
        copy = self._database.execute(path, [place.db]).fetchone()
        self._database.execute(f"DETACH {place.db}")
        return None if copy is None else Path(copy[0])


ENGINE = DuckDB


def _check(source: DataSource) -> None:
    """Raise if a file changed between hashing and reading."""
    if not source.unchanged():
        raise BadData(
            "the table",
            "a file that changed while it was read",
            "a file that stays the same while it is read",
            says="The file changed while it was read. Try again when nobody is writing to it.",
        )


def locked(folder: Path | None) -> duckdb.DuckDBPyConnection:
    """A database in memory that can access nothing but this folder, with settings that are locked."""
    database = duckdb.connect()
    optimizers = [name for (name,) in database.execute("SELECT name FROM duckdb_optimizers()").fetchall()]
    ours = "" if folder is None else quoted(f"{folder.as_posix()}/")
    for setting in (
        f"allowed_directories = [{ours}]",
        f"temp_directory = {ours or quoted('')}",
        "autoload_known_extensions = false",
        "autoinstall_known_extensions = false",
        "allow_community_extensions = false",
        "python_enable_replacements = false",
        "preserve_insertion_order = false",
        f"disabled_optimizers = '{','.join(name for name in optimizers if name not in _OPTIMIZERS)}'",
        "perfect_ht_threshold = 17",  # bits: keys with so few values are counted in an array
        "enable_external_access = false",
        "lock_configuration = true",
    ):
        database.execute(f"SET {setting}")
    return database
