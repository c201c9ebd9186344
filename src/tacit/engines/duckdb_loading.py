"""Raw data into the bounded table, by a database of its own that is closed afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
from sqlglot import exp

from ..tables.canonical import steps, unit_text
from ..tables.columns import ColumnType
from ..tables.domain import TEXT as TEXT_DOMAIN
from ..tables.schema import Schema
from .bounding import bounding
from .canonical_sql import canonical, unit
from .dialect import alias, there
from .duckdb_dialect import DuckDBDialect, moments, raw
from .sources import Source, cells

_CSV = (
    "READ_CSV(?, auto_detect = false, header = true, delim = ',', quote = '\"', escape = '\"', nullstr = '',"
    " ignore_errors = true, strict_mode = false, max_line_size = 33554432, columns = {columns})"
)
_PARQUET = "READ_PARQUET(?, hive_partitioning = false, file_row_number = false)"
_SAFE = ("bool", "int", "uint", "float", "double", "decimal128", "string", "large_string", "date32", "null")


def loader(folder: Path | None) -> duckdb.DuckDBPyConnection:
    """A database in memory that may read files; what does not fit is spilled into our folder or not at all."""
    database = duckdb.connect()
    for setting in (
        "autoload_known_extensions = false",
        "autoinstall_known_extensions = false",
        "python_enable_replacements = false",
        "preserve_insertion_order = false",
        f"temp_directory = {quoted('' if folder is None else str(folder / 'spill'))}",
    ):
        database.execute(f"SET {setting}")
    return database


def load(database: duckdb.DuckDBPyConnection, source: Source, schema: Schema, key: str, target: str) -> None:
    """Make the table `target` of the rows of a source, canonical and bounded."""
    d = DuckDBDialect()
    place, given = _place(database, source, schema)
    found = database.execute(f"DESCRIBE SELECT * FROM {place}", given).fetchall()
    kinds = {name: raw(exp.column(name, quoted=True), str(kind)) for name, kind, *_ in found}
    if source.kind == "arrow":
        kinds |= {name: moments(exp.column(name, quoted=True), per) for name, per in _moments(source).items()}
    columns = [alias(canonical(kinds[name], c, d), f"c{i}") for i, (name, c) in enumerate(schema.columns)]
    if source.kind == "rows":  # these are canonical already
        columns = [alias(kinds[name].sql, f"c{i}") for i, (name, _) in enumerate(schema.columns)]
    source_columns = ", ".join(d.render(c) for c in columns)
    if schema.unit is None:
        database.execute(f"CREATE TABLE {target} AS SELECT {source_columns or '1 AS c'} FROM {place}", given)
        return
    owner = unit(kinds[schema.unit], d)
    present = d.render(there(owner.copy()))
    names = f"{d.render(owner)} AS u{source_columns and ', '}{source_columns}"
    database.execute(f"CREATE TEMP TABLE canonical AS SELECT {names} FROM {place} WHERE {present}", given)
    for statement in bounding(schema, key, d, target):
        database.execute(statement)


def _place(database: duckdb.DuckDBPyConnection, source: Source, schema: Schema) -> tuple[str, list[Any]]:
    """Where the raw rows are, in SQL."""
    if source.kind == "parquet":
        return _PARQUET, [_literal(str(source.path))]
    if source.kind == "csv":
        named = ", ".join(f"{quoted(name)}: 'VARCHAR'" for name in source.header)
        return _CSV.replace("{columns}", f"{{{named}}}"), [_literal(str(source.path))]
    database.register("raw", _from_rows(source, schema) if source.kind == "rows" else _supported(source, schema))
    return "raw", []


def _literal(path: str) -> str:
    """A path in which nothing is a pattern."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in path)


def quoted(text: str) -> str:
    """Text as a literal of SQL: paths and names of the owner's, never an analyst's."""
    return "'" + text.replace("'", "''") + "'"


def _arrow_type(column: ColumnType) -> Any:
    import pyarrow as pa

    d = column.domain
    if d.kind == "text":
        return pa.string()
    return {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[DuckDBDialect().bits(d.lower, d.upper)]


def _from_rows(source: Source, schema: Schema) -> Any:
    """Rows whose cells are of mixed types are made canonical by the reference."""
    import pyarrow as pa

    rows = list(source.rows())
    columns = {name: pa.array([steps(r.get(name), c) for r in rows], _arrow_type(c)) for name, c in schema.columns}
    if schema.unit is not None:
        columns[schema.unit] = pa.array([unit_text(r.get(schema.unit)) for r in rows], pa.string())
    return pa.table(columns or {"none": pa.nulls(len(rows), pa.int8())})


def _supported(source: Source, schema: Schema) -> Any:
    """The table of Arrow; columns of types that the two do not share are made canonical by the reference."""
    import pyarrow as pa

    table = source.arrow
    for i, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):  # as ticks: DuckDB's own moments end sooner
            table = table.set_column(i, field.name, table[i].cast(pa.int64()))
            continue
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if any(str(kind).startswith(safe) for safe in _SAFE) and str(kind) != "float16":
            continue
        if field.name == schema.unit:
            text = pa.array([unit_text(cell) for cell in cells(table[i])], pa.string())
            table = table.set_column(i, field.name, text)
        else:
            table = table.set_column(i, field.name, _labelled(table[i], schema[field.name]))
    return table


def _moments(source: Source) -> dict[str, int]:
    """The columns of moments, and how many of their ticks make a second."""
    ticks = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
    return {f.name: ticks[f.type.unit] for f in source.arrow.schema if str(f.type).startswith("timestamp")}


def _labelled(column: Any, kind: ColumnType) -> Any:
    """Canonical cells as such raw cells that mean the same."""
    import pyarrow as pa

    values = [steps(cell, kind) for cell in cells(column)]
    d = kind.domain
    if d == TEXT_DOMAIN:
        return pa.array(values, pa.string())
    if d.kind == "number" and d.grid == 1:
        return pa.array(values, pa.int64())
    if d.kind == "number":
        return pa.array([None if v is None else float(v * d.grid) for v in map(_int, values)], pa.float64())
    return pa.array([None if v is None else str(d.label(v)) for v in map(_int, values)], pa.string())


def _int(value: Any) -> int | None:
    return None if value is None else int(value)
