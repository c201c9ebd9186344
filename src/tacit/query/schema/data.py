"""Data that a caller may pass: regular files of known types, addresses of tables, and tables in memory.

A device or a pipe could block, and an archive could hold anything.  A path is resolved once, when a table is declared,
so that a link that is changed later does not change the table.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

from ...core.errors import BadSchema
from .databases import Database

TABLES = (".parquet", ".csv", ".arrow", ".feather")
LIBRARIES = ("pyarrow", "pandas", "polars", "pyspark")


def regular(name: str, path: str | os.PathLike[str], endings: tuple[str, ...]) -> Path:
    """The real path of a regular file with one of these endings; nothing is opened."""
    given: object = os.fspath(path)
    if not isinstance(given, str) or any(ord(c) < 32 for c in given):
        raise BadSchema(name, given, "a path of plain text")
    try:
        real = Path(given).resolve(strict=True)
        mode = real.stat().st_mode
    except (OSError, RuntimeError, ValueError):  # a loop of links was a RuntimeError before Python 3.13
        raise BadSchema(name, given, "a file that exists and can be reached") from None
    if not stat.S_ISREG(mode) or real.is_relative_to("/proc") or real.is_relative_to("/sys"):
        raise BadSchema(name, given, "a regular file: no folder, pipe, device or view of the system")
    if real.suffix.lower() not in endings:
        raise BadSchema(
            name, given, f"a file that ends in {', '.join(endings)}, under its real name too; unpack archives first"
        )
    return real


def handle(data: Any, engine: str | None = None) -> Any:
    """The real path of a file, the address of a table, or a table in memory; nothing is read.

    To an engine that is a database, text without the ending of a data file is the name of a table there.
    """
    if isinstance(data, str) and "://" in data:
        return Database.read(data)
    if isinstance(data, str) and engine in ("postgres", "spark") and not data.lower().endswith(TABLES):
        return Database.named(data, engine)
    if isinstance(data, str | os.PathLike):
        return regular("data", data, TABLES)
    library, kind = type(data).__module__.partition(".")[0], type(data).__name__
    if library in LIBRARIES and kind in ("LazyFrame", "Series"):
        raise BadSchema("data", kind, "a whole table: collect() what is lazy, and name a single column by to_frame()")
    if isinstance(data, list | Database) or library in LIBRARIES:
        return data
    allowed = "a path, the address of a table, a table of pyarrow, pandas, polars or Spark, or a list of dictionaries"
    raise BadSchema("data", type(data), allowed)
