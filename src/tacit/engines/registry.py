"""Which engine reads a table: the one that the user names, or the one that belongs to the place of the data.

To add an engine, add a folder `engines/NAME`, whose module `engine` has the class of the engine as `ENGINE`, and a line
in `query.schema.databases.ENGINES`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ..core.errors import BadParameter, Missing
from ..query.schema.databases import ENGINES, engine_of
from .base import Engine

if TYPE_CHECKING:
    from ..query.python.table import Table


def chosen(tables: Sequence[Table], engine: str | None = None) -> str:
    """The name of the one engine that reads all of these tables; refused if there is none, or it is not installed."""
    names = {engine_of(table.data, engine or table.engine) for table in tables}
    if names == {"duckdb", "spark"}:  # Spark reads files and tables in memory too
        names = {engine_of(table.data, "spark") for table in tables}
    if len(names) > 1:
        raise BadParameter("tables", list(tables), "all in one database, or all in files and in memory")
    (name,) = names
    required = ENGINES[name].requires
    if find_spec(required) is None:
        raise Missing(f"The engine {name!r} needs {required}, which is not installed. Run pip install 'tacit[{name}]'.")
    return name


def engine_for(
    tables: Sequence[Table], copies: str | os.PathLike[str] | None = None, engine: str | None = None
) -> Engine:
    """A new engine for all of these tables, none of which it has read; `copies` is a folder for bounded copies."""
    name = chosen(tables, engine)
    try:
        kind: type[Engine] = import_module(f".{name}.engine", __package__).ENGINE
    except Missing:
        raise
    except ImportError:  # the Python package is there, and a library that it loads is not
        required = ENGINES[name].requires
        raise Missing(
            f"{required} is installed, but a library that it loads is not. Run pip install 'tacit[{name}]'."
        ) from None
    return kind.create(copies)
