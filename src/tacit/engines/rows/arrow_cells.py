"""Arrow columns to Python cells and back, cell by cell.

The meaning of a cell never depends on another cell: no type is inferred from values, and an invalid value affects only
its own cell.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...query.values.cells import steps, unit_text
from ...query.values.column_types import ColumnType
from ...query.values.domain import TEXT
from ...query.values.reading import PLAIN

_FIRST_TICK = 1 - (1 << 63)  # the tick before it is NumPy's NaT


def cells(column: Any) -> list[object]:
    """The cells of an Arrow column; timestamps as NumPy's, since Python's end with the year 9999."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_dictionary(kind):
        try:
            return cells(column.cast(kind.value_type))
        except pa.ArrowException:  # a value type for which Arrow cannot decode a dictionary
            return [_read(cell) for cell in column]
    if pa.types.is_timestamp(kind):
        ticks = pc.max_element_wise(column.cast(pa.int64()), pa.scalar(_FIRST_TICK), skip_nulls=False)
        return list(ticks.cast(pa.timestamp(kind.unit)).to_numpy())
    if pa.types.is_date(kind):
        return list(column.to_numpy())
    plain = pa.types.is_primitive(kind) and not pa.types.is_temporal(kind)
    if plain or pa.types.is_null(kind) or pa.types.is_decimal(kind) or is_text(kind):
        return list(column.to_pylist())
    return [_read(cell) for cell in column]


def labelled(values: Iterable[object], column: ColumnType | None, missing: tuple[str, ...] = ()) -> tuple[Any, bool]:
    """Cells of any types as an Arrow column of one type and of equal meaning; without `column`, they are units.

    Where the cells of a column are written in a way of their own, the Arrow column is settled: it holds canonical
    values, since a plain spelling of them might mean something else there.
    """
    import pyarrow as pa

    if column is None:
        return pa.array([unit_text(value, missing) for value in values], pa.string()), False
    canonical, d = [steps(value, column) for value in values], column.domain
    if d == TEXT:
        return pa.array(canonical, pa.string()), column.reading != PLAIN
    whole = [None if value is None else int(value) for value in canonical]
    if column.reading != PLAIN or (d.kind == "number" and d.grid == 1):
        return pa.array(whole, pa.int64()), column.reading != PLAIN
    if d.kind == "number":
        return pa.array([None if v is None else float(v * d.grid) for v in whole], pa.float64()), False
    return pa.array([None if v is None else str(d.label(v)) for v in whole], pa.string()), False


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is text."""
    return str(kind) in ("string", "large_string", "string_view")


def unicode(column: Any) -> Any:
    """A column of text (plain or dictionary-encoded) in which cells that are not valid UTF-8 are missing."""
    import pyarrow as pa

    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        pass
    else:
        return column
    if pa.types.is_dictionary(column.type):
        return pa.chunked_array([pa.array([_read(cell) for cell in column], pa.string())])
    if len(column) == 1:
        return pa.chunked_array([pa.nulls(1, column.type)])
    half = len(column) // 2
    return pa.chunked_array(unicode(column[:half]).chunks + unicode(column[half:]).chunks)


def _read(cell: Any) -> object:
    """The Python value of an Arrow cell, or None where Python has no such value."""
    try:
        return cell.as_py()
    except Exception:  # any error concerns this cell alone
        return None
