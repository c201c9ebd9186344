"""Proposals for a schema from the values of a file, with the custodian's consent: `tacit init --look`.

Types, labels, bounds, spellings of missing values, the delimiter, the encoding, decimal commas and forms of dates are
read from all rows, so nothing here is private: whoever holds the rows checks every line before it becomes public.
"""

from __future__ import annotations

import codecs
import datetime
import math
import re
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
from sqlglot import exp

from ...query.schema.csv import DELIMITERS, Grammar, records
from ...query.schema.data import ending, form
from ...query.schema.draft import column_types
from ...query.schema.packing import UTF_8, beginning
from ...query.schema.schema import Schema
from ...query.values.cells import steps
from ...query.values.column_types import ColumnType, read_column
from ..rows.sources import DataSource
from ..sql.bounded_table import value
from ..sql.dialect import missing
from ..sql.spellings import without
from .inspection import NOTHING
from .loading import RawRows, loader, raw_rows, read

MOST_LABELS = 50
_SAMPLE = 5_000  # rows, whose cells a type must fit before it is tried on all
_DAYS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%Y%m%d")
_CLOCKS = ("%H:%M:%S", "%H:%M")
_WHOLE = re.compile(r"[ \t]*[+-]?[0-9]{1,18}[ \t]*")


@dataclass(frozen=True)
class Proposal:
    """What the values of a file suggest: the facts of the table and of each column, as a schema states them."""

    table: Mapping[str, Any]
    columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def propose(path: Path) -> Proposal:
    """The facts that the values of a file suggest."""
    table: dict[str, Any] = _text_form(path) if form(path) == "csv" else {}
    known = column_types(path, table.get("delimiter"), table.get("encoding", UTF_8))
    facts = {"name": "t", "unit": "row", **table}
    schema = Schema.load({"table": facts, "columns": {name: {"type": "text"} for name, kind in known if kind}})
    cells = read(DataSource(path, schema), schema, lambda rows: rows.to_arrow_table(), _all)
    with closing(loader()) as database:
        rows = raw_rows("arrow", database, DataSource(cells, schema), schema)
        nothing = {name: _nothing(rows, name) for name, kind in known if kind}
        some = cells[:_SAMPLE].to_pydict()
        columns = {name: _column(rows, some[name], name, kind, nothing[name]) for name, kind in known if kind}
    common = Counter(word for words in nothing.values() for word in words)
    if shared := sorted(word for word, times in common.items() if times > 1):
        table["missing"] = shared
    if any("decimal" in facts for facts in columns.values()):
        table["decimal"] = ","
    for name, column in columns.items():  # what the table says already
        column.pop("decimal", None)
        if nothing[name] and set(nothing[name]) <= set(shared):
            del column["missing"]
    return Proposal(table, columns)


def _all(rows: RawRows, schema: Schema) -> duckdb.DuckDBPyRelation:
    return rows.select(", ".join(rows.dialect.render(exp.column(name, quoted=True)) for name in schema.names))


def _text_form(path: Path) -> dict[str, Any]:
    """The encoding and the delimiter of a CSV file, where they are not the usual ones."""
    head = beginning(path, UTF_8)
    encoding = UTF_8
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    else:
        try:
            codecs.getincrementaldecoder(UTF_8)().decode(head)
        except UnicodeDecodeError:
            encoding = "cp1252"
    text = beginning(path, encoding)
    usual = "\t" if ending(path).startswith(".tsv") else ","
    fields = {mark: _fields(text, mark) for mark in (usual, *(mark for mark in DELIMITERS if mark != usual))}
    best = max(fields, key=lambda mark: fields[mark])  # the usual one, if none has more
    facts = {"encoding": encoding} if encoding != UTF_8 else {}
    return facts | ({"delimiter": best} if best != usual else {})


def _fields(text: bytes, mark: str) -> int:
    """How many fields lines have if this is the delimiter; 1 if they do not agree."""
    lines = [len(line) for line, _ in zip(records(text, Grammar(mark)), range(100), strict=False)]
    counts = Counter(lines[:-1] or lines)  # the last one may be cut
    return lines[0] if lines and counts[lines[0]] >= 0.9 * counts.total() else 1


def _nothing(rows: RawRows, name: str) -> list[str]:
    """The spellings of a missing value that occur in a column of text."""
    raw = rows.columns[name]
    if raw.kind != "text":
        return []
    cell, words = rows.dialect.render(raw.sql), ", ".join(f"'{word}'" for word in sorted(NOTHING))
    found = rows.select(f"DISTINCT {cell}", f"WHERE TRIM(LOWER({cell})) IN ({words})").fetchall()
    return sorted(cell for (cell,) in found)


def _column(rows: RawRows, some: list[Any], name: str, kind: str, nothing: list[str]) -> dict[str, Any]:
    """The first type that all cells of a column have, with its labels or bounds; `some` cells are tried first."""
    spelled: dict[str, Any] = {"missing": nothing} if nothing else {}
    text = rows.columns[name].kind == "text"
    there = [cell for cell in some if cell is not None and cell not in nothing]
    for facts in _candidates() if text else [{"type": kind}]:
        column = read_column(name, {**facts, **spelled})
        if not text or (there and all(_written_as(cell, column) for cell in there)):
            least, largest, unreadable = _tried(rows, name, column)
            if not unreadable:
                return {**facts, **_bounds(column, least, largest), **spelled}
    labels = _labels(rows, name, column) if text else None
    return ({"type": "category", "values": labels} if labels else {"type": kind}) | spelled


def _written_as(cell: str, column: ColumnType) -> bool:
    """Whether a text is a cell of this type; a fraction is no integer, nor a date alone a timestamp."""
    if column.type == "integer" and not _WHOLE.fullmatch(cell):
        return False
    return steps(cell, column) is not None and not (column.type == "timestamp" and len(cell) <= 10)


def _candidates() -> list[dict[str, Any]]:
    """The types that text may have, from the narrowest to the widest."""
    dates = [{"type": "date"}, *({"type": "date", "format": day} for day in _DAYS)]
    times = [{"type": "timestamp", "format": f"{day} {clock}"} for day in _DAYS for clock in _CLOCKS]
    words = [
        {"type": "boolean", "true": [t], "false": [f]} for t, f in (("Y", "N"), ("J", "N"), ("S", "N"), ("O", "N"))
    ]
    numbers = [{"type": "integer"}, {"type": "real"}, {"type": "real", "decimal": ","}]
    return [{"type": "boolean"}, *words, *numbers, {"type": "timestamp"}, *dates, *times]


def _tried(rows: RawRows, name: str, column: ColumnType) -> tuple[Any, Any, int]:
    """The least and the largest value of a column as this type, and how many cells are unreadable."""
    d, raw = rows.dialect, rows.columns[name]
    gone, cell = d.render(missing(without(raw, column.reading.missing).sql.copy())), d.render(value(raw, column, d))
    if raw.kind == "text" and column.type == "integer":  # a fraction would be rounded
        cell = f"CASE WHEN REGEXP_FULL_MATCH({d.render(raw.sql)}, '{_WHOLE.pattern}') THEN {cell} END"
    found = "SELECT MIN(v), MAX(v), COUNT(*) FILTER (NOT m AND v IS NULL) FROM looked_at"
    least, largest, unreadable = rows.about(f"{gone} AS m, {cell} AS v", found).fetchall()[0]
    return least, largest, unreadable


def _labels(rows: RawRows, name: str, column: ColumnType) -> list[str] | None:
    """All labels of a column, if there are few and most occur more than once."""
    cell = rows.dialect.render(without(rows.columns[name], column.reading.missing).sql)
    few = f"SELECT v, COUNT(*) FROM looked_at WHERE v IS NOT NULL GROUP BY v LIMIT {MOST_LABELS + 1}"
    found = dict(rows.about(f"{cell} AS v", few).fetchall())
    repeated = 0 < len(found) <= MOST_LABELS and sum(found.values()) >= 2 * len(found)
    return sorted(found) if repeated and all(label.isprintable() for label in found) else None


def _bounds(column: ColumnType, low: Any, high: Any) -> dict[str, Any]:
    """Round bounds around the least and the largest value."""
    d = column.domain
    if low is None or d.kind not in ("number", "date", "timestamp"):
        return {}
    first, last = d.label(int(low)), d.label(int(high))
    if isinstance(first, datetime.datetime) and isinstance(last, datetime.datetime):
        return {"lower": datetime.datetime(first.year, 1, 1), "upper": datetime.datetime(last.year, 12, 31, 23, 59, 59)}
    if isinstance(first, datetime.date) and isinstance(last, datetime.date):
        return {"lower": datetime.date(first.year, 1, 1), "upper": datetime.date(last.year, 12, 31)}
    return {"lower": min(0, -_round(-float(first))), "upper": _round(float(last))}  # type: ignore[arg-type]


def _round(x: float) -> int:
    """The least of 0, 1, 2, 5, 10, 20, ... that is not below x."""
    if x <= 0:
        return 0
    power: int = 10 ** max(0, math.ceil(math.log10(x)) - 1)
    return next(n * power for n in (1, 2, 5, 10, 20) if n * power >= x)
