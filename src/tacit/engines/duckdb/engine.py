"""DuckDB: a file or a table in memory is read once, bounded, and asked from then on.

Two databases do the work.  One reads the raw data, and is gone when the bounded table is made.  The other answers, and
is locked before it holds anything: no files but kept copies, no extensions, no settings.  Bounded tables are in its
memory, or, where a folder for copies is given, in files that only the owner can read, kept for the next process.
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
from ...query.plan.plan import Plan
from ...query.schema.schema import Schema
from ..base import Answer, Engine
from ..rows.sources import Source
from ..sql.bounded_table import typed
from ..sql.dialect import TEXT
from ..sql.relations import Registered
from ..sql.results import Columns, gathered
from ..sql.statements import Statement, statements
from .bounded_copies import Copies
from .dialect import DuckDBDialect, WithTables, quoted
from .loading import load, loader

if TYPE_CHECKING:
    from ...query.python.table import Table

_KNOWN = 256  # plans whose SQL is kept
# Only optimizers that look at the text of a statement alone.  Others plan by what a table holds (its least and largest
# values, how many there are), and so one unit would change how a question is computed, and how long that takes; and
# some change sums to another order, which overflows where ours does not.
_OPTIMIZERS = ("unused_columns", "common_subexpressions", "common_aggregate", "column_lifetime", "in_clause")
_Part = tuple[Statement, str, Mapping[str, Any]]  # with its text, and tables of what it looks up


class DuckDB(Engine):
    """Tables in DuckDB; `copies` is a folder for bounded tables, private to its owner."""

    def __init__(self, copies: str | os.PathLike[str] | None = None) -> None:
        super().__init__()
        self._copies = None if copies is None else Copies(Path(copies))
        self._database = locked(None if self._copies is None else self._copies.folder)
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._tables: dict[str, Registered] = {}
        self._prints: dict[str, str] = {}
        self._dialect = DuckDBDialect()
        self._statements: dict[Plan, list[_Part]] = {}

    @classmethod
    def beside(cls, copies: str | os.PathLike[str] | None) -> DuckDB:
        return cls(copies)

    def _register(self, table: Table, key: str) -> None:
        schema, d = table.schema, self._dialect
        if schema.name in self._tables:  # registered again: what was read before is let go of
            self._release(self._tables.pop(schema.name).source)
            del self._prints[schema.name]
        self._statements = {}  # a new one: what another thread is translating goes into the old
        name, known = self._free(), None
        try:
            source = Source(table.data, schema)
            place = self._place(name, source, schema, key)
            known = self._database.execute(f"DESCRIBE {d.render(place)}").fetchall()
        except (duckdb.Error, OSError):
            pass
        if known is None:
            raise BadData("the table", "data that DuckDB cannot read", "a whole, readable file or table")
        unit = {"BIGINT": 64, "VARCHAR": TEXT}.get(known[0][1]) if known[0][0] == "u" else None
        self._tables[schema.name] = Registered(place, typed(schema, d), key, unit)
        self._prints[schema.name] = source.fingerprint

    def _forget(self, name: str) -> None:
        if name not in self._tables:  # it could not be read again
            return
        self._statements = {}
        copy = self._release(self._tables.pop(name).source)
        del self._prints[name]
        if copy is not None:
            copy.unlink(missing_ok=True)

    def _contents(self) -> Mapping[str, str]:
        return self._prints

    def _answer(self, plan: Plan, content: str | None) -> Answer:
        self._check(content)
        return gathered(plan, [(part, self._run(text, tables)) for part, text, tables in self._translated(plan)])

    def close(self) -> None:
        super().close()
        self._database.close()
        self._tables.clear()

    def _translated(self, plan: Plan) -> list[_Part]:
        known = self._statements
        if (parts := known.get(plan)) is None:
            d = WithTables()
            parts = [(p, d.render(p.tree), d.tables) for p in statements(plan, d, self._tables)]
            if len(known) >= _KNOWN:
                known.clear()
            known[plan] = parts
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
            if "interrupted" not in str(error):  # so DuckDB says that a key was pressed
                raise
        raise KeyboardInterrupt

    def _place(self, name: str, source: Source, schema: Schema, key: str) -> exp.Expr:
        """Where the bounded table is, once it is there."""
        if self._copies is None or source.path is None:
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

    def _free(self) -> str:
        """A name that no table has."""
        taken = {table.source.sql().partition(".")[0] for table in self._tables.values()}
        return next(name for i in itertools.count() if (name := f"t{i}") not in taken)

    def _release(self, place: exp.Expr) -> Path | None:
        """Let go of a bounded table; its copy, if there is one, stays."""
        assert isinstance(place, exp.Table)
        if not place.db:
            self._database.execute(f"DROP TABLE {place.name}")
            return None
        path = "SELECT path FROM duckdb_databases() WHERE database_name = ?"
        found = self._database.execute(path, [place.db]).fetchone()
        self._database.execute(f"DETACH {place.db}")
        return None if found is None else Path(found[0])


ENGINE = DuckDB


def _check(source: Source) -> None:
    """What was read is what was hashed."""
    if not source.unchanged():
        raise BadData("the table", "a file that changed while it was read", "left alone until it is registered")


def locked(folder: Path | None) -> duckdb.DuckDBPyConnection:
    """A database in memory that reaches nothing but this folder, and cannot be told otherwise."""
    database = duckdb.connect()
    known = [name for (name,) in database.execute("SELECT name FROM duckdb_optimizers()").fetchall()]
    ours = "" if folder is None else quoted(f"{folder.as_posix()}/")
    for setting in (
        f"allowed_directories = [{ours}]",
        f"temp_directory = {ours or quoted('')}",
        "autoload_known_extensions = false",
        "autoinstall_known_extensions = false",
        "allow_community_extensions = false",
        "python_enable_replacements = false",
        "preserve_insertion_order = false",
        f"disabled_optimizers = '{','.join(name for name in known if name not in _OPTIMIZERS)}'",
        "perfect_ht_threshold = 17",  # bits: keys of so few values are counted in place, without a hash
        "enable_external_access = false",
        "lock_configuration = true",
    ):
        database.execute(f"SET {setting}")
    return database
