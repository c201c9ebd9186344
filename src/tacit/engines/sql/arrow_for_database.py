"""Tables in memory, converted for a database that lacks some of Arrow's types and has no columns of mixed types.

What a database cannot read is made canonical in Python, by the definition (`query.values.cells`).
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from ...query.schema.schema import Schema
from ...query.values.cells import steps, unit_text
from ...query.values.column_types import ColumnType
from ..rows.arrow_cells import cells, labelled
from ..rows.sources import DataSource
from .dialect import Dialect

SAFE = ("bool", "int", "uint", "float", "double", "decimal128", "string", "large_string", "date32", "null")
_TICKS_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def from_rows(source: DataSource, schema: Schema, d: Dialect) -> Any:
    """An Arrow table of canonical cells, from rows whose cells have mixed types."""
    import pyarrow as pa

    rows = list(source.rows())
    columns = {name: pa.array([steps(r.get(name), c) for r in rows], _arrow_type(c, d)) for name, c in schema.columns}
    if schema.unit is not None:
        columns[schema.unit] = pa.array([unit_text(r.get(schema.unit), schema.missing) for r in rows], pa.string())
    return pa.table(columns or {"none": pa.nulls(len(rows), pa.int8())})


def supported(source: DataSource, schema: Schema, d: Dialect) -> tuple[Any, set[str]]:
    """The Arrow table with columns of `SAFE` types only, and which of them hold canonical values.

    Timestamps are integers, in ticks.
    """
    import pyarrow as pa

    table, settled = source.arrow, set(source.settled)
    for i, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):  # as ticks: a database's own timestamps end sooner
            table = table.set_column(i, field.name, table[i].cast(pa.int64()))
            continue
        if not safe(field.type) or (pa.types.is_decimal(field.type) and not _fits(table[i])):
            column = None if field.name == schema.unit else schema[field.name]
            canonical, known = labelled(cells(table[i]), column, schema.missing)
            table = table.set_column(i, field.name, canonical)
            settled |= {field.name} if known else set()
    for i, name in enumerate(table.column_names):
        if name in settled:
            table = table.set_column(i, name, table[name].cast(_arrow_type(schema[name], d)))
    return table if table.column_names else pa.table({"none": pa.nulls(len(table), pa.int8())}), settled


def safe(kind: Any) -> bool:
    """Whether an Arrow type, or the value type of a dictionary, is one of `SAFE`."""
    import pyarrow as pa

    name = str(kind.value_type if pa.types.is_dictionary(kind) else kind)
    return any(name.startswith(one) for one in SAFE) and name != "float16"


def _fits(decimals: Any) -> bool:
    """Whether every decimal fits its declared precision, which Arrow does not check and databases require."""
    from pyarrow import compute

    beyond = Decimal(10) ** (decimals.type.precision - decimals.type.scale)
    return all(end is None or abs(end) < beyond for end in compute.min_max(decimals).as_py().values())


def timestamps(source: DataSource) -> dict[str, int]:
    """The columns of timestamps, each with its number of ticks per second."""
    return {f.name: _TICKS_PER_SECOND[f.type.unit] for f in source.arrow.schema if str(f.type).startswith("timestamp")}


def _arrow_type(column: ColumnType, d: Dialect) -> Any:
    import pyarrow as pa

    domain = column.domain
    if domain.kind == "text":
        return pa.string()
    return {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[d.bits(domain.lower, domain.upper)]
