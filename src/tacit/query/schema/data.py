"""Data that a caller may pass: regular files of known types, several of them, addresses of tables, tables in memory.

A device or a pipe could block, and an archive could hold anything.  A path is resolved once, when a table is declared,
so that a link that is changed later, or a file that is added to a folder, does not change the table.
"""

from __future__ import annotations

import glob
import os
import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...core.errors import BadSchema
from .databases import Database
from .packing import PACKED

TEXTS = (".csv", ".tsv")
TABLES = (".parquet", *TEXTS, *(f"{text}{packed}" for text in TEXTS for packed in PACKED), ".arrow", ".feather")
LIBRARIES = ("pyarrow", "pandas", "polars", "pyspark")
MOST_FILES = 100_000
_GLOB = re.compile(r"[*?\[]")


@dataclass(frozen=True)
class Files:
    """Several files that are one table: all those of a folder, or all that a pattern names."""

    paths: tuple[Path, ...]
    shown: str

    def __str__(self) -> str:
        return self.shown


def ending(path: str | os.PathLike[str]) -> str:
    """The ending of a data file, such as .csv.gz, in small letters; "" if the name has none."""
    name: object = os.fspath(path)
    return next((end for end in TABLES if isinstance(name, str) and name.lower().endswith(end)), "")


def form(path: Path) -> str:
    """The form of a data file: parquet, csv or arrow."""
    end = ending(path)
    return "csv" if end.startswith(TEXTS) else "parquet" if end == ".parquet" else "arrow"


def table_file(text: str) -> bool:
    """Whether text is the path of data and not the name of a table: it ends as a data file, or with a slash."""
    return bool(ending(text)) or text.endswith("/")


def beside(path: str | os.PathLike[str], suffix: str) -> Path | None:
    """The file of this suffix that belongs to data in files: beside a file or a folder; None if there is no such place.

    What belongs to the files of a pattern stands beside their folder.
    """
    name = str(path)
    if _GLOB.search(name) and not os.path.lexists(name):
        name = os.path.dirname(name)
        if not name or _GLOB.search(name):
            return None
    name = name.rstrip("/")
    named = os.path.basename(name) not in ("", ".", "..")
    return Path(f"{name[: len(name) - len(ending(name))]}{suffix}") if named else None


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
    if not real.name.lower().endswith(endings):
        raise BadSchema(
            name, given, f"a file that ends in {', '.join(endings)}, under its real name too; unpack archives first"
        )
    return real


def located(path: str | os.PathLike[str]) -> Path | Files:
    """The real path of a file, or those of the files of a folder or a pattern; nothing is opened."""
    given: object = os.fspath(path)
    if not isinstance(given, str) or any(ord(c) < 32 for c in given):
        raise BadSchema("data", given, "a path of plain text")
    if os.path.isdir(given):
        return _joined(given, _visible(given))
    if _GLOB.search(given) and not os.path.lexists(given):
        return _joined(given, glob.glob(given))
    return regular("data", given, TABLES)


def _visible(folder: str) -> Iterable[str]:
    """The files of a folder but for those whose names begin with a point or an underscore, as of logs and markers."""
    for name in os.listdir(folder):
        if not name.startswith((".", "_")):
            path = os.path.join(folder, name)
            if os.path.isdir(path):
                allowed = "a folder of files; for files in folders of it, write a pattern, such as visits/*/*.parquet"
                raise BadSchema("data", folder, allowed)
            yield path


def _joined(given: str, names: Iterable[str]) -> Files:
    paths = tuple(regular("data", name, TABLES) for name in sorted(names))
    if not paths or len(paths) > MOST_FILES:
        raise BadSchema("data", given, f"a folder or pattern of 1 to {MOST_FILES} files; it has {len(paths)}")
    if len({form(path) for path in paths}) > 1 or len(set(paths)) < len(paths):
        allowed = "files of one kind, all Parquet or all CSV, and each of them once; or a pattern, such as visits/*.csv"
        raise BadSchema("data", given, allowed)
    return Files(paths, given)


def handle(data: Any, engine: str | None = None) -> Any:
    """The real paths of files, the address of a table, or a table in memory; nothing is read.

    To an engine that is a database, text without the ending of data files is the name of a table there.
    """
    if isinstance(data, str) and "://" in data:
        return Database.read(data)
    if isinstance(data, str) and engine in ("postgres", "spark") and not table_file(data):
        return Database.named(data, engine)
    if isinstance(data, str | os.PathLike):
        return located(data)
    library, kind = type(data).__module__.partition(".")[0], type(data).__name__
    if library in LIBRARIES and kind in ("LazyFrame", "Series"):
        raise BadSchema("data", kind, "a whole table: collect() what is lazy, and name a single column by to_frame()")
    if isinstance(data, list | Database | Files) or library in LIBRARIES:
        return data
    allowed = "a path, the address of a table, a table of pyarrow, pandas, polars or Spark, or a list of dictionaries"
    raise BadSchema("data", type(data), allowed)
