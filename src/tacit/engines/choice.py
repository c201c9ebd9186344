"""Which engine reads a table: that of the place where its data is."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..core.errors import BadParameter, Missing
from ..tables.databases import Database, in_spark
from .base import Engine

if TYPE_CHECKING:
    from ..tables.table import Table


def engine_for(tables: Sequence[Table], copies: str | os.PathLike[str] | None = None) -> Engine:
    """An engine for all of these tables, none of which it has read yet; `copies` is a folder, if it needs one."""
    if any(in_spark(table.data) for table in tables):
        from .spark import Spark

        return Spark()
    remote = [isinstance(table.data, Database) for table in tables]
    if any(remote) and not all(remote):
        raise BadParameter("tables", list(tables), "all in one database, or all in files and in memory")
    if any(remote):
        try:
            from .postgres import Postgres
        except ModuleNotFoundError:
            raise Missing("a table in PostgreSQL needs its driver; pip install 'tacit[postgres]'") from None
        return Postgres()
    from .duckdb import DuckDB

    return DuckDB(copies)
