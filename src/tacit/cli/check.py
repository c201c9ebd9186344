"""`tacit check`: how the cells of a table are read under its schema, for the custodian's eyes only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rich.box import HEAVY
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table as Grid

from ..core.errors import BadParameter
from ..query.schema.data import Files
from .output import console
from .table_options import SchemaOptions, table_command

if TYPE_CHECKING:
    from ..engines.duckdb.inspection import ColumnFacts, Inspection
    from ..query.schema.schema import Schema

WARNING = (
    "FOR THE CUSTODIAN'S EYES ONLY\n"
    "These are exact facts about the rows. They are not a release and have no privacy at all: do not send, publish or "
    "keep them. Bounds and labels of the schema stay what is known from elsewhere."
)


@table_command
def check(options: SchemaOptions) -> None:
    """Look at the data: which cells are unreadable, missing or clamped, and whose rows are cut.  Never a release."""
    from ..engines.duckdb.inspection import inspect
    from ..engines.rows.sources import DataSource

    table = options.own_table()
    if not isinstance(table.data, Path | Files):
        says = "tacit check reads files. Export the table to a Parquet file, and check that with the same schema."
        raise BadParameter("data", str(table.data), "a file, a folder or a pattern of files", says=says)
    console.print(Panel(WARNING, box=HEAVY, style="bold red"))
    table.check()
    with console.status("reading"):
        found = inspect(DataSource(table.data, table.schema), table.schema)
    console.print(_columns(found))
    for line in (*_rows(found, table.schema), *_reasons(found), *_lines(found)):
        console.print(escape(line), soft_wrap=True)


def _columns(found: Inspection) -> Grid:
    grid = Grid("column", "type", title=f"{found.rows:,} rows")
    for title in ("missing", "unreadable", "below lower", "above upper"):
        grid.add_column(title, justify="right")
    for column in found.columns:
        counts = (column.missing, column.unreadable, column.below, column.above)
        cells = [_share(count, found.rows) for count in counts]
        grid.add_row(escape(column.name), column.type, *cells, style="bold" if column.unreadable else "")
    return grid


def _share(count: int, rows: int) -> str:
    return f"{count:,} ({100 * count / rows:.2g} %)" if count else "0"


def _reasons(found: Inspection) -> Iterator[str]:
    unread: list[ColumnFacts] = [column for column in found.columns if column.unreadable]
    if unread:
        yield "Unreadable cells count as missing. The most frequent ones:"
    for column in unread:
        yield from (f"  {column.name}: {each}" for each in column.reasons)


def _rows(found: Inspection, schema: Schema) -> Iterator[str]:
    units = found.units
    if units is None:
        yield "Every row is a unit of its own."
        return
    yield f"Rows without a unit, which are left out: {_share(found.without_unit, found.rows)}."
    yield (
        f"Units: {units.units:,}, of which {units.over:,} have more than rows = {schema.rows}; "
        f"that cuts {_share(units.cut, found.rows)} of the rows."
    )
    largest = ", ".join(f"{name[:40]!r} with {count:,}" for name, count in units.largest)
    yield f"The largest units: {largest or 'none'} rows."
    for name, count in units.suspicious:
        yield f"SUSPICIOUS: {count:,} rows belong to the unit {name[:40]!r}. If it is nobody, list it in `missing`."
    for group in found.groups:
        by = "in more than one part" if group.column == schema.partition else f"in more than groups = {schema.groups}"
        yield f"By {group.column} alone, {group.over:,} units are {by}; that cuts about {group.cut:,} rows."


def _lines(found: Inspection) -> Iterator[str]:
    if found.lines:
        yield "Lines that are not as in RFC 4180 (the first ones), so that tacit reads the file line by line:"
    yield from (f"  {line}" for line in found.lines)
