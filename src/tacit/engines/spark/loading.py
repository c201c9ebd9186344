"""Raw data as a Spark view, and its raw columns; tables in memory and CSV files are sent to Spark."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from itertools import starmap
from typing import Any

from sqlglot import exp

from ...core.randomness import SYSTEM
from ...query.schema.databases import Database
from ...query.schema.schema import Schema
from ...query.values.reading import PLAIN
from ..rows.sources import DataSource, there_once
from ..sql.arrow_for_database import from_rows, supported, timestamps
from ..sql.bounded_table import bounded_query
from ..sql.dialect import TEXT, Typed, case, constant, missing
from ..sql.raw_columns import RawColumn, floored
from ..sql.relations import column
from .dialect import SparkDialect, raw
from .session import AnySparkSession

Frame = Any  # a data frame of Spark in this process, or of Spark Connect
_D = SparkDialect()
_REBASE = {"datetimeRebaseMode": "CORRECTED"}
_ALIKE = ("bool", "int", "float", "double", "string", "date32", "timestamp[us")


def frame(session: AnySparkSession, data: Any, source: DataSource | None, schema: Schema) -> Frame:
    """The raw rows as a Spark frame; nothing is read yet."""
    if isinstance(data, Database):
        return session.table(data.table)
    if source is None:
        return data
    match _way(source):
        case "parquet":
            return session.read.options(**_REBASE).parquet(*map(_literal, source.parts or [source]))
        case "csv":  # a malformed line would make Spark lose other lines too
            return _made(session, *(part.texts() for part in source.parts or [source]))
        case "rows":
            return _made(session, from_rows(source, schema, _D))
    return _made(session, _sent(supported(source, schema, _D)[0]))


def _made(session: AnySparkSession, *tables: Any) -> Frame:
    """Arrow tables of one schema as a frame; without empty chunks, as Spark drops the chunks after one."""
    import pyarrow as pa

    batches = [batch for table in tables for batch in table.to_batches() if len(batch)]
    return session.createDataFrame(pa.Table.from_batches(batches, tables[0].schema))


def shared(rows: Frame, own: AnySparkSession, name: str) -> None:
    """Create a view in our own session of a frame in another, through a global name that nobody can guess."""
    passing = f"tacit_{SYSTEM.words(2).tobytes().hex()}"
    # Spark shares caches between equal queries, and frees them for all; a condition of its own keeps this one apart.
    rows.where(f"'{passing}' IS NOT NULL").createGlobalTempView(passing)
    try:
        own.table(f"global_temp.{passing}").createTempView(name)
    finally:
        rows.sparkSession.catalog.dropGlobalTempView(passing)


def kinds(rows: Frame, source: DataSource | None, schema: Schema) -> Mapping[str, RawColumn]:
    """The raw column of each column of the schema."""
    types = {field.name: field.dataType.simpleString() for field in rows.schema.fields}
    there_once(schema.names, rows.columns)
    columns = {name: exp.column(name, quoted=True) for name in schema.names}
    out = {name: raw(columns[name], types[name]) for name in schema.names}
    match source and _way(source):
        case "rows":
            return {n: r if n == schema.unit else RawColumn("canonical", columns[n]) for n, r in out.items()}
        case "arrow":
            assert source is not None
            for field in source.arrow.schema:
                if str(field.type) == "uint64":
                    out[field.name] = RawColumn("integer", columns[field.name], 128)
            out |= {n: RawColumn("timestamp", floored(columns[n], per, _D)) for n, per in timestamps(source).items()}
            if all(c.reading == PLAIN for _, c in schema.columns):
                return out
            return out | {n: RawColumn("canonical", columns[n]) for n in supported(source, schema, _D)[1]}
    return out


def fingerprint(own: AnySparkSession, schema: Schema, columns: Mapping[str, RawColumn], view: str) -> str:
    """A hash of the number of rows and of sums of the halves of their hashes, which forget the order of rows."""
    rows = bounded_query(schema, "", columns, exp.to_table(view), _D, unique=True)
    values = [
        Typed(column(f"c{i}"), TEXT if c.domain.kind == "text" else 64) for i, (_, c) in enumerate(schema.columns)
    ]
    unit = [] if schema.unit is None else [Typed(_D.text(column("u")), TEXT)]
    hashed = _D.render(_D.md5(_D.joined(_row_text([*unit, *values]))))
    parts = ", ".join(f"SUM(CAST(CONV(SUBSTR(h, {at}, 16), 16, -10) AS BIGINT)) AS s{at}" for at in (1, 17))
    sums = own.sql(f"SELECT COUNT(*) AS n, {parts} FROM (SELECT {hashed} AS h FROM ({rows}) AS q) AS q").toArrow()
    return hashlib.sha256(str([schema.digest, *sums.to_pylist()[0].values()]).encode()).hexdigest()


def _row_text(values: Sequence[Typed]) -> list[exp.Expr]:
    """The parts of the text of a row (`query.values.cells.row_text`), to be joined."""
    parts: list[exp.Expr] = []
    for i, value in enumerate(values):
        x, comma = value.sql, "," if i else ""
        here = constant(f"{comma}i")
        if value.bits == TEXT:
            here = _D.joined([constant(f"{comma}t"), _D.text(_D.octets(x.copy())), constant(":")])
        parts.append(case((missing(x.copy()), constant(f"{comma}n")), otherwise=here))
        parts.append(x.copy() if value.bits == TEXT else _D.text(x.copy()))
    return parts


def _way(source: DataSource) -> str:
    """How Spark gets the rows; it reads Parquet files itself if it reads every cell as Arrow does.

    Files whose columns are of different types are read here, row by row.
    """
    parts = source.parts or [source]
    if parts[0].kind == "csv":
        return "csv"
    types = [part.types if part.kind == "parquet" else {} for part in parts]
    alike = parts[0].kind != "parquet" or all(starmap(_alike, types[0].values()))
    if source.parts and not (parts[0].kind == "parquet" and alike and all(each == types[0] for each in types)):
        return "rows"
    return source.kind if alike and not source.parts else "parquet" if alike else "arrow"


def _alike(kind: Any, stored: str) -> bool:
    """Whether Spark reads every cell of this type in a Parquet file as Arrow does.

    It does not for decimals, unsigned integers and timestamps of 96 bits that exceed their type; and it fails on
    timestamps in milliseconds that are far away.
    """
    return str(kind).startswith(_ALIKE) and stored != "INT96"


def _literal(source: DataSource) -> str:
    """A path with its glob characters escaped."""
    return "file://" + "".join(f"\\{c}" if c in "*?[]{}\\" else c for c in str(source.path))


def _sent(table: Any) -> Any:
    """An Arrow table with columns of types that Spark has."""
    import pyarrow as pa

    signed = {"uint8": pa.int16(), "uint16": pa.int32(), "uint32": pa.int64(), "uint64": pa.decimal128(20, 0)}
    for i, field in enumerate(table.schema):
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        kind = signed.get(str(kind), kind)
        if kind != field.type:
            table = table.set_column(i, field.name, table[i].cast(kind))
    return table
