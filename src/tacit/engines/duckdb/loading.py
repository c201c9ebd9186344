"""Loads raw data into a bounded table, with a separate database that is closed afterwards.

The meaning of a cell depends on that cell alone.  An optimizer that uses the statistics of a file would let one cell
change the meaning of others, and false statistics would switch off the bounds; so only optimizers that use no value
are on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import count, starmap
from typing import Any, TypeVar

import duckdb
import numpy as np
from sqlglot import exp

from ...query.schema.schema import Schema
from ...query.values.domain import ValueDomain
from ..rows.keyed_hash import Integers, TextDigits
from ..rows.row_cap import kept_rows
from ..rows.sources import DataSource
from ..rows.unit_codes import where
from ..sql.arrow_for_database import from_rows, safe, supported, timestamps
from ..sql.bounded_table import value
from ..sql.dialect import TEXT, Typed, alias, there
from ..sql.keyed_hash import digit, unit_digit
from ..sql.raw_columns import RawColumn, unit
from ..sql.relations import column
from ..sql.spellings import without
from .dialect import DuckDBDialect, quoted, raw, ticks

_CSV = (
    "READ_CSV(?, auto_detect = false, header = true, delim = {delimiter}, quote = '\"', escape = '\"', nullstr = '',"
    " strict_mode = true, max_line_size = 33554432, columns = {columns})"
)
_PARQUET = "READ_PARQUET(?, hive_partitioning = false, file_row_number = false)"

T = TypeVar("T")

_OPTIMIZERS = ("unused_columns", "common_subexpressions", "column_lifetime", "in_clause")


def loader() -> duckdb.DuckDBPyConnection:
    """A database in memory that may read and write files, and evaluates expressions as they are written."""
    database = duckdb.connect()
    optimizers = [name for (name,) in database.execute("SELECT name FROM duckdb_optimizers()").fetchall()]
    for setting in (
        "autoload_known_extensions = false",
        "autoinstall_known_extensions = false",
        "python_enable_replacements = false",
        "preserve_insertion_order = false",
        f"disabled_optimizers = '{','.join(name for name in optimizers if name not in _OPTIMIZERS)}'",
        "temp_directory = ''",
        "disable_parquet_prefetching = true",  # prefetching takes memory and saves no time on local files
    ):
        database.execute(f"SET {setting}")
    return database


def load(source: DataSource, schema: Schema, key: str, into: duckdb.DuckDBPyConnection, target: str) -> None:
    """Read a source into the table `target`, with canonical cells and bounded rows."""
    parts = source.parts or [source]

    def written(rows: Any, how: str) -> None:
        into.register("incoming", rows)
        into.execute(f"{how} FROM incoming")
        into.unregister("incoming")

    if schema.unit is None:
        for i, part in enumerate(parts):
            how = f"INSERT INTO {target}" if i else f"CREATE OR REPLACE TABLE {target} AS"
            read(part, schema, lambda rows, how=how: written(rows.to_arrow_reader(), how))  # type: ignore[misc]
    else:
        rows = concatenated([read(part, schema, lambda rows: rows.to_arrow_table()) for part in parts])
        x = Typed(column("x"), TEXT)
        d = DuckDBDialect()
        of_units, of_texts = _texts(unit_digit(key, x, d)), _texts(digit(key, x, ValueDomain("text"), d))
        kept = where(rows, kept_rows(rows, schema, key, of_units, of_texts))
        written(kept, f"CREATE OR REPLACE TABLE {target} AS")
    _free_memory()


def read(
    source: DataSource, schema: Schema, use: Callable[[duckdb.DuckDBPyRelation], T], query: Query | None = None
) -> T:
    """What `use` makes of the canonical rows of a file or a table in memory, or of another query about its raw rows."""
    ways = [source.kind]
    if source.kind == "parquet":  # Arrow reads what DuckDB cannot, such as invalid UTF-8
        alike = all(starmap(_alike, source.types.values())) and not source.claims_all_missing()  # which DuckDB trusts
        ways = ["parquet", "arrow"] if alike else ["arrow"]
    if source.kind == "csv":  # a malformed line would make DuckDB lose other lines too
        ways = ["csv", "lines"] if source.uniform() else ["lines"]
    for way in ways:
        try:
            with closing(loader()) as database:
                return use((query or _canonical)(raw_rows(way, database, source, schema), schema))
        except duckdb.Error:
            if way == ways[-1]:
                raise
        except RuntimeError as error:
            if "interrupted" in str(error):  # DuckDB's message after Ctrl-C
                raise KeyboardInterrupt from None
            raise
    raise AssertionError("unreachable")


def concatenated(parts: Sequence[Any]) -> Any:
    """The rows of several parts; if their units are of different types, all units are text."""
    import pyarrow as pa

    if "u" in parts[0].column_names and len({str(part["u"].type) for part in parts}) > 1:
        parts = [part.set_column(0, "u", part["u"].cast(pa.string())) for part in parts]
    return pa.concat_tables(parts)


def _free_memory() -> None:
    """Return the memory of the rows to the system; Arrow's pool would keep it."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()


def _alike(kind: Any, stored: str) -> bool:
    """Whether DuckDB reads every cell of this type in a Parquet file as Arrow does, or fails.

    It reads timestamps of 96 bits that are far away, and decimals with too many digits in integers, differently.
    """
    if stored == "INT96" or (str(kind).startswith("decimal") and stored.startswith("INT")):
        return False
    # without nanoseconds with a time zone, which DuckDB cannot query
    others = ("timestamp[ms", "timestamp[us", "timestamp[ns]", "extension<arrow.uuid>")
    return safe(kind) or str(kind).startswith(others)


@dataclass(frozen=True)
class RawRows:
    """Raw rows in a database: the FROM clause with its parameters, and the raw columns by name."""

    database: duckdb.DuckDBPyConnection
    place: str
    parameters: list[Any]
    columns: Mapping[str, RawColumn]
    way: str
    dialect: DuckDBDialect

    def select(self, columns: str, condition: str = "") -> duckdb.DuckDBPyRelation:
        """These columns of the rows, where a condition holds."""
        return self.database.sql(f"SELECT {columns} FROM {self.place} {condition}", params=self.parameters)

    def about(self, columns: str, question: str, condition: str = "") -> duckdb.DuckDBPyRelation:
        """The answer to a question `SELECT ... FROM looked_at ...` about these columns of the rows."""
        looked_at = f"SELECT {columns} FROM {self.place} {condition}"
        return self.database.sql(f"WITH looked_at AS ({looked_at}) {question}", params=self.parameters)


Query = Callable[[RawRows, Schema], duckdb.DuckDBPyRelation]


def raw_rows(way: str, database: duckdb.DuckDBPyConnection, source: DataSource, schema: Schema) -> RawRows:
    """The raw rows of a source, read in this way."""
    place, parameters, settled = _place(way, database, source, schema)
    described = database.execute(f"DESCRIBE SELECT * FROM {place}", parameters).fetchall()
    kinds = {name: raw(exp.column(name, quoted=True), str(kind)) for name, kind, *_ in described}
    if way == "arrow":
        kinds |= {name: ticks(exp.column(name, quoted=True), per) for name, per in timestamps(source).items()}
    kinds |= {name: RawColumn("canonical", exp.column(name, quoted=True)) for name in settled}
    return RawRows(database, place, parameters, kinds, way, _NamedTypes(database))


def _canonical(rows: RawRows, schema: Schema) -> duckdb.DuckDBPyRelation:
    """The canonical rows, each with its unit u; rows without a unit are left out."""
    d, kinds = rows.dialect, rows.columns
    columns = [alias(value(kinds[name], c, d), f"c{i}") for i, (name, c) in enumerate(schema.columns)]
    if schema.unit is None:
        return rows.select(", ".join(map(d.render, columns)) or "1 AS c")
    owner = unit(without(kinds[schema.unit], schema.missing), d)
    names = ", ".join(map(d.render, [alias(owner, "u"), *columns]))
    return rows.select(names, f"WHERE {d.render(there(owner.copy()))}")


class _NamedTypes(DuckDBDialect):
    """DuckDB with named ENUM types: DuckDB would parse a type within a statement again and again."""

    def __init__(self, database: duckdb.DuckDBPyConnection) -> None:
        self._database, self._names = database, count()

    def enum(self, labels: Sequence[str]) -> str:
        name = f"labels{next(self._names)}"
        self._database.execute(f"CREATE TYPE {name} AS {super().enum(labels)}")
        return name


def _texts(digit: exp.Expr) -> TextDigits:
    """A function that computes the digits of a column of texts x, in DuckDB."""

    def texts(column: Any) -> Integers:
        import pyarrow as pa

        query = f"SELECT {DuckDBDialect().render(digit)} AS digit FROM few"
        with closing(loader()) as database:
            database.execute("SET preserve_insertion_order = true")
            database.register("few", pa.table({"x": column}))
            return np.ma.getdata(database.execute(query).fetchnumpy()["digit"])

    return texts


def _place(
    way: str, database: duckdb.DuckDBPyConnection, source: DataSource, schema: Schema
) -> tuple[str, list[Any], set[str]]:
    """The FROM clause for the raw rows, its parameters, and the columns that hold canonical values."""
    settled: set[str] = set()
    if way == "parquet":
        return _PARQUET, [_literal(str(source.path))], settled
    if way == "csv":
        named = ", ".join(f"{quoted(name)}: 'VARCHAR'" for name in source.header)
        reader = _CSV.format(columns=f"{{{named}}}", delimiter=quoted(source.delimiter))
        return reader, [_literal(str(source.text))], settled
    match way:
        case "rows":
            rows, settled = from_rows(source, schema, DuckDBDialect()), {name for name, _ in schema.columns}
        case "lines":
            rows = source.texts()
        case _:
            rows, settled = supported(source, schema, DuckDBDialect())
    database.register("raw", rows)
    return "raw", [], settled


def _literal(path: str) -> str:
    """A path with its glob characters escaped."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in path)
