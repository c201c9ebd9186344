"""Raw data into the bounded table, by a database of its own that is closed afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import Any

import duckdb
import numpy as np
from sqlglot import exp

from ..tables.schema import Schema
from .bounding import Hashes, Words, bounded
from .canonical_sql import canonical, unit
from .dialect import TEXT, Typed, alias, constant, there
from .duckdb_dialect import DuckDBDialect, moments, raw
from .memory import from_rows, supported
from .memory import moments as ticks
from .relations import column
from .sources import Source
from .sql import canonical_text

_CSV = (
    "READ_CSV(?, auto_detect = false, header = true, delim = ',', quote = '\"', escape = '\"', nullstr = '',"
    " ignore_errors = true, strict_mode = false, max_line_size = 33554432, columns = {columns})"
)
_PARQUET = "READ_PARQUET(?, hive_partitioning = false, file_row_number = false)"


def loader() -> duckdb.DuckDBPyConnection:
    """A database in memory that may read and write files."""
    database = duckdb.connect()
    for setting in (
        "autoload_known_extensions = false",
        "autoinstall_known_extensions = false",
        "python_enable_replacements = false",
        "preserve_insertion_order = true",  # hashes come in the order of their rows
        "temp_directory = ''",
    ):
        database.execute(f"SET {setting}")
    return database


def load(source: Source, schema: Schema, key: str, into: duckdb.DuckDBPyConnection, target: str) -> None:
    """Read the rows of a source, and make of them the table `target`, canonical and bounded."""
    d = DuckDBDialect()
    with closing(loader()) as database:
        place, given = _place(database, source, schema)
        found = database.execute(f"DESCRIBE SELECT * FROM {place}", given).fetchall()
        kinds = {name: raw(exp.column(name, quoted=True), str(kind)) for name, kind, *_ in found}
        if source.kind == "arrow":
            kinds |= {name: moments(exp.column(name, quoted=True), per) for name, per in ticks(source).items()}
        columns = [alias(canonical(kinds[name], c, d), f"c{i}") for i, (name, c) in enumerate(schema.columns)]
        if source.kind == "rows":  # these are canonical already
            columns = [alias(kinds[name].sql, f"c{i}") for i, (name, _) in enumerate(schema.columns)]
        if schema.unit is None:
            names = ", ".join(map(d.render, columns)) or "1 AS c"
            rows = database.sql(f"SELECT {names} FROM {place}", params=given).to_arrow_reader()
        else:
            owner = unit(kinds[schema.unit], d)
            names = ", ".join(map(d.render, [alias(owner, "u"), *columns]))
            present = f"SELECT {names} FROM {place} WHERE {d.render(there(owner.copy()))}"
            rows = database.sql(present, params=given).to_arrow_table()
            rows = bounded(rows, schema, _hashing(database, schema, key))
        into.register("incoming", rows)
        into.execute(f"CREATE OR REPLACE TABLE {target} AS FROM incoming")
        into.unregister("incoming")


def _hashing(database: duckdb.DuckDBPyConnection, schema: Schema, key: str) -> Hashes:
    """The keyed hashes of rows, in their order: `tables.canonical.digest`."""
    d = DuckDBDialect()

    def hashes(rows: Any, middle: str, columns: Sequence[int]) -> tuple[Words, Words]:
        cells = [Typed(column(f"c{i}"), TEXT if schema.columns[i][1].domain.kind == "text" else 64) for i in columns]
        text = d.joined([constant(f"{key}|"), d.text(column("u")), constant(middle), *canonical_text(cells, d)])
        database.register("few", rows)
        words = database.execute(
            "SELECT CAST(h & 18446744073709551615 AS UBIGINT) AS high, CAST(h >> 64 AS UBIGINT) AS low"
            f" FROM (SELECT MD5_NUMBER({d.render(text)}) AS h FROM few)"
        ).fetchnumpy()
        database.unregister("few")
        high, low = (np.ma.getdata(words[name]).byteswap() for name in ("high", "low"))  # DuckDB's lowest byte is first
        return high, low

    return hashes


def _place(database: duckdb.DuckDBPyConnection, source: Source, schema: Schema) -> tuple[str, list[Any]]:
    """Where the raw rows are, in SQL."""
    if source.kind == "parquet":
        return _PARQUET, [_literal(str(source.path))]
    if source.kind == "csv":
        named = ", ".join(f"{quoted(name)}: 'VARCHAR'" for name in source.header)
        return _CSV.replace("{columns}", f"{{{named}}}"), [_literal(str(source.path))]
    database.register(
        "raw", from_rows(source, schema, DuckDBDialect()) if source.kind == "rows" else supported(source, schema)
    )
    return "raw", []


def _literal(path: str) -> str:
    """A path in which nothing is a pattern."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in path)


def quoted(text: str) -> str:
    """Text as a literal of SQL: paths and names of the owner's, never an analyst's."""
    return "'" + text.replace("'", "''") + "'"
