"""Made-up rows for rehearsals: they follow from the public schema alone, and so tell nothing about anybody.

Every value is drawn evenly from what the schema allows: between its bounds, from its labels.  Where the schema has no
bounds, a plain choice stands in for them.  The rows are those of a hash function, and the same every time.
"""

from __future__ import annotations

import hashlib
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..values.column_types import ColumnType
from ..values.domain import DAY, EPOCH
from .schema import Schema

if TYPE_CHECKING:
    from pyarrow import Array, Table

MOST_ROWS = 10**6
_MOST_OF_A_UNIT = 4  # rows, even where the schema allows more
_WORDS = 20  # different texts in a column of text
_DAYS = (date(2000, 1, 1) - EPOCH).days, (date(2019, 12, 31) - EPOCH).days  # where dates have no bounds
_STEPS = {"number": (0, 100), "date": _DAYS, "timestamp": (_DAYS[0] * DAY, _DAYS[1] * DAY)}


def made_up(schema: Schema, rows: int) -> Table:
    """So many rows that a table of this schema could have."""
    import pyarrow as pa

    each = min(schema.rows, _MOST_OF_A_UNIT)
    units = np.arange(rows) // each
    columns: dict[str, Any] = {} if schema.unit is None else {schema.unit: pa.array(units)}
    for name, column in schema.columns:
        at = units if name == schema.partition else np.arange(rows)  # a unit is in one part alone
        columns[name] = _values(column, _evenly(name, rows)[at])
    return pa.table(columns)


def _evenly(name: str, rows: int) -> NDArray[np.uint64]:
    """Numbers that look even, and differ from column to column."""
    return np.frombuffer(hashlib.shake_256(name.encode()).digest(8 * rows), "<u8")


def _values(column: ColumnType, numbers: NDArray[np.uint64]) -> Array:
    import pyarrow as pa

    domain = column.domain
    if column.type == "text":
        return pa.array([f"text {n % _WORDS + 1}" for n in numbers.tolist()])
    low, high = (domain.lower, domain.upper) if domain.declared else _STEPS[domain.kind]
    steps = (numbers % np.uint64(high - low + 1)).astype(np.int64) + low
    match column.type:
        case "category":
            return pa.array([domain.labels[step] for step in steps.tolist()], pa.string())
        case "real":
            return pa.array(steps * float(domain.grid))
        case "boolean":
            return pa.array(steps.astype(bool))
        case "date":
            return pa.array(steps.astype("datetime64[D]"))
        case "timestamp":
            return pa.array(steps.astype("datetime64[s]"))
    return pa.array(steps)
