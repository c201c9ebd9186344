"""What is public about a data set, as a catalogue shows it: tables, columns, types, and remarks on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from ...core.safe_text import visible
from ...curator import Curator
from ...query.schema.schema import ColumnType, Schema
from ...query.values.column_types import facts_of
from . import values
from .shadow.databases import EmptyTable

_TYPES = {"integer": "bigint", "real": "double precision", "boolean": "boolean", "date": "date"}
_TYPES |= {"timestamp": "timestamp", "category": "text", "text": "text"}
_OIDS = {"integer": values.INT8, "real": values.FLOAT8, "boolean": values.BOOL, "date": values.DATE}
_OIDS |= {"timestamp": values.TIMESTAMP, "category": values.TEXT, "text": values.TEXT}
_SHOWN_LABELS = 20
HISTORY = (
    ("entry", "bigint", "the number of the entry in the ledger"),
    ("time", "timestamp", "when it was bought"),
    ("analyst", "text", "who bought it"),
    ("kind", "text", ""),
    ("question", "text", ""),
    ("price", "double precision", "what it took of the budget when nothing else was bought"),
    ("share", "double precision", "the price as a share of the budget"),
    ("hash", "text", "the hash of the entry"),
)
OFFERS = (
    ("question", "text", ""),
    ("price", "double precision", "what it would take of the budget"),
    ("share", "double precision", "the price as a share of the budget"),
    ("free", "boolean", "whether it was bought before"),
    ("errors", "text", "the error of each column"),
)
OWN = {"history": HISTORY, "offers": OFFERS}
_COMMENTS = {"history": "what was bought, newest first", "offers": "what EXPLAIN has offered in this connection"}


@dataclass(frozen=True)
class Layout:
    """The tables of a data set: their names, the types of their columns, samples, and empty tables for the shadow."""

    names: frozenset[str]
    columns: Mapping[str, int]  # types by the names of columns, in lower case
    samples: Mapping[str, str]  # a literal that a column may be compared with
    tables: tuple[EmptyTable, ...]

    @classmethod
    def of(cls, curator: Curator) -> Layout:
        """The layout of what a curator holds."""
        schemas = [table.schema for table in curator.tables.values()]
        columns = {name.lower(): _OIDS[column.type] for schema in schemas for name, column in schema.columns}
        samples = {
            name.lower(): "'" + column.domain.labels[0].replace("'", "''") + "'"
            for schema in schemas
            for name, column in schema.columns
            if column.type == "category" and column.domain.labels
        }
        public = [
            EmptyTable("public", name, tuple((c, _type_of(v), "") for c, v in table.values.items()), "a public table")
            for name, table in curator.public.items()
        ]
        own = [EmptyTable("tacit", name, facts, _COMMENTS[name]) for name, facts in OWN.items()]
        names = frozenset({*curator.tables, *curator.public})
        return cls(names, columns, samples, (*map(_table, schemas), *public, *own))


def _table(schema: Schema) -> EmptyTable:
    declared = dict(schema.columns)
    unit = () if schema.unit is None or schema.unit in declared else ((schema.unit, "text", "who is protected"),)
    columns = tuple((name, _TYPES[column.type], _remark(column)) for name, column in schema.columns)
    return EmptyTable("public", schema.name, unit + columns, f"private: one {schema.unit or 'row'} is protected")


def _remark(column: ColumnType) -> str:
    """What is public about a column."""
    facts = facts_of(column)
    if labels := column.domain.labels:
        more = f" and {len(labels) - _SHOWN_LABELS} more" if len(labels) > _SHOWN_LABELS else ""
        return visible(f"one of {', '.join(labels[:_SHOWN_LABELS])}{more}")
    lower, upper = facts.get("lower"), facts.get("upper")
    return "" if lower is None else visible(f"from {lower} to {upper}")


def _type_of(column: Any) -> str:
    """The type of a column of a public table, by its first value."""
    first = next((value for value in column if value is not None), None)
    match first:
        case bool():
            return "boolean"
        case int():
            return "bigint"
        case float():
            return "double precision"
        case datetime():
            return "timestamp"
        case date():
            return "date"
    return "text"
