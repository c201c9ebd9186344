"""Raw data into the bounded table, by a database of its own that is closed afterwards.

What a cell means rests on that cell alone.  An optimiser that reasons from the statistics of a file would let one cell
change what others mean, and a file with false statistics switch off its bounds: of DuckDB's optimisers only those are
on that no value has a part in.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from itertools import count, starmap
from typing import Any

import duckdb
import numpy as np
from sqlglot import exp

from ...query.schema.schema import Schema
from ...query.values.domain import Domain
from ..rows.keyed_hash import Integers, Texts
from ..rows.row_cap import bounded
from ..rows.sources import Source
from ..rows.unit_codes import where
from ..sql.arrow_for_database import from_rows, safe, supported
from ..sql.arrow_for_database import moments as ticks
from ..sql.dialect import TEXT, Typed, alias, there
from ..sql.keyed_hash import digit, unit_digit
from ..sql.raw_columns import canonical, unit
from ..sql.relations import column
from .dialect import DuckDBDialect, moments, quoted, raw

_CSV = (
    "READ_CSV(?, auto_detect = false, header = true, delim = ',', quote = '\"', escape = '\"', nullstr = '',"
    " strict_mode = true, max_line_size = 33554432, columns = {columns})"
)
_PARQUET = "READ_PARQUET(?, hive_partitioning = false, file_row_number = false)"

_OPTIMIZERS = ("unused_columns", "common_subexpressions", "column_lifetime", "in_clause")


def loader() -> duckdb.DuckDBPyConnection:
    """A database in memory that may read and write files, and computes what is written, cell by cell."""
    database = duckdb.connect()
    known = [name for (name,) in database.execute("SELECT name FROM duckdb_optimizers()").fetchall()]
    for setting in (
        "autoload_known_extensions = false",
        "autoinstall_known_extensions = false",
        "python_enable_replacements = false",
        "preserve_insertion_order = false",
        f"disabled_optimizers = '{','.join(name for name in known if name not in _OPTIMIZERS)}'",
        "temp_directory = ''",
        "disable_parquet_prefetching = true",  # it takes memory, and no less time, where files are at hand
    ):
        database.execute(f"SET {setting}")
    return database


def load(source: Source, schema: Schema, key: str, into: duckdb.DuckDBPyConnection, target: str) -> None:
    """Read the rows of a source, and make of them the table `target`, canonical and bounded."""
    ways = [source.kind]
    if source.kind == "parquet":  # what DuckDB cannot read, such as text that is not Unicode, is read by Arrow
        alike = all(starmap(_alike, source.types.values())) and not source.told_missing()  # which DuckDB believes
        ways = ["parquet", "arrow"] if alike else ["arrow"]
    if source.kind == "csv":  # of lines that are not as they should be DuckDB would drop, or swallow, more than those
        ways = ["csv", "lines"] if source.uniform() else ["lines"]
    for way in ways:
        try:
            with closing(loader()) as database:
                into.register("incoming", _bounded(way, database, source, schema, key))
                into.execute(f"CREATE OR REPLACE TABLE {target} AS FROM incoming")
                into.unregister("incoming")
            _let_go()
            return
        except duckdb.Error:
            if way == ways[-1]:
                raise
        except RuntimeError as error:
            if "interrupted" in str(error):  # so DuckDB says that a key was pressed
                raise KeyboardInterrupt from None
            raise


def _let_go() -> None:
    """Give back the memory that the rows took: Arrow would keep it for others."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()


def _alike(kind: Any, stored: str) -> bool:
    """Whether every cell of this type in a Parquet file is to DuckDB what it is to Arrow, or else an error.

    Of moments of 96 bits it is not if they are far away, nor of decimals in integers if they have too many digits.
    """
    if stored == "INT96" or (str(kind).startswith("decimal") and stored.startswith("INT")):
        return False
    others = ("timestamp[ms", "timestamp[us", "timestamp[ns]", "extension<arrow.uuid>")  # zoned ns it cannot ask
    return safe(kind) or str(kind).startswith(others)


def _bounded(way: str, database: duckdb.DuckDBPyConnection, source: Source, schema: Schema, key: str) -> Any:
    """The canonical rows, read in this way; where there are units, those that are kept of theirs."""
    d = _Named(database)
    place, given = _place(way, database, source, schema)
    found = database.execute(f"DESCRIBE SELECT * FROM {place}", given).fetchall()
    kinds = {name: raw(exp.column(name, quoted=True), str(kind)) for name, kind, *_ in found}
    if way == "arrow":
        kinds |= {name: moments(exp.column(name, quoted=True), per) for name, per in ticks(source).items()}
    columns = [alias(canonical(kinds[name], c, d), f"c{i}") for i, (name, c) in enumerate(schema.columns)]
    if way == "rows":  # these are canonical already
        columns = [alias(kinds[name].sql, f"c{i}") for i, (name, _) in enumerate(schema.columns)]
    if schema.unit is None:
        names = ", ".join(map(d.render, columns)) or "1 AS c"
        return database.sql(f"SELECT {names} FROM {place}", params=given).to_arrow_reader()
    owner = unit(kinds[schema.unit], d)
    names = ", ".join(map(d.render, [alias(owner, "u"), *columns]))
    present = f"SELECT {names} FROM {place} WHERE {d.render(there(owner.copy()))}"
    rows = database.sql(present, params=given).to_arrow_table()
    x = Typed(column("x"), TEXT)
    of_units, of_texts = _texts(unit_digit(key, x, d)), _texts(digit(key, x, Domain("text"), d))
    return where(rows, bounded(rows, schema, key, of_units, of_texts))


class _Named(DuckDBDialect):
    """Types of labels by their names in a database, which would read a list within a statement again and again."""

    def __init__(self, database: duckdb.DuckDBPyConnection) -> None:
        self._database, self._names = database, count()

    def enum(self, labels: Sequence[str]) -> str:
        name = f"labels{next(self._names)}"
        self._database.execute(f"CREATE TYPE {name} AS {super().enum(labels)}")
        return name


def _texts(digit: exp.Expr) -> Texts:
    """The digits of texts x, by a database."""

    def texts(column: Any) -> Integers:
        import pyarrow as pa

        query = f"SELECT {DuckDBDialect().render(digit)} AS digit FROM few"
        with closing(loader()) as database:
            database.execute("SET preserve_insertion_order = true")
            database.register("few", pa.table({"x": column}))
            return np.ma.getdata(database.execute(query).fetchnumpy()["digit"])

    return texts


def _place(way: str, database: duckdb.DuckDBPyConnection, source: Source, schema: Schema) -> tuple[str, list[Any]]:
    """Where the raw rows are, in SQL."""
    if way == "parquet":
        return _PARQUET, [_literal(str(source.path))]
    if way == "csv":
        named = ", ".join(f"{quoted(name)}: 'VARCHAR'" for name in source.header)
        return _CSV.replace("{columns}", f"{{{named}}}"), [_literal(str(source.path))]
    match way:
        case "rows":
            rows = from_rows(source, schema, DuckDBDialect())
        case "lines":
            rows = source.texts()
        case _:
            rows = supported(source, schema)
    database.register("raw", rows)
    return "raw", []


def _literal(path: str) -> str:
    """A path in which nothing is a pattern."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in path)
