"""Which engine reads a table: the one that was told, or that of the place where its data is."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ..core.errors import BadParameter, Missing
from ..query.schema.databases import engine_of
from .base import Engine

if TYPE_CHECKING:
    from ..query.python.table import Table

NEEDS = {"duckdb": "duckdb", "postgres": "psycopg", "spark": "pyspark"}


def chosen(tables: Sequence[Table], engine: str | None = None) -> str:
    """The name of the one engine for all of these tables, if they can be read by one and it is installed."""
    names = {engine_of(table.data, engine or table.engine) for table in tables}
    if names == {"duckdb", "spark"}:  # which reads files and what is in memory too
        names = {engine_of(table.data, "spark") for table in tables}
    if len(names) > 1:
        raise BadParameter("tables", list(tables), "all in one database, or all in files and in memory")
    (name,) = names
    if find_spec(NEEDS[name]) is None:
        raise Missing(f"the engine {name!r} needs {NEEDS[name]}; pip install 'tacit[{name}]'")
    return name


def engine_for(
    tables: Sequence[Table], copies: str | os.PathLike[str] | None = None, engine: str | None = None
) -> Engine:
    """An engine for all of these tables, none of which it has read yet; `copies` is a folder, if it needs one."""
    match chosen(tables, engine):
        case "spark":
            from .spark.engine import Spark

            return Spark()
        case "postgres":
            try:
                from .postgres.engine import Postgres
            except ImportError:  # it is there, and finds no library of PostgreSQL's
                raise Missing("psycopg finds no libpq; pip install 'tacit[postgres]'") from None
            return Postgres()
    from .duckdb.engine import DuckDB

    return DuckDB(copies)
