"""A draft of a schema: names and types of columns from the metadata of a file, with blanks for a person to fill.

No value is read, nor any statistics of values: bounds, categories and the unit must be known from elsewhere.  Of a CSV
file only the first line is read, and every column is text until a person gives its type.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from ...core.errors import BadSchema
from ..values.column_types import Type, written
from .csv import Grammar, mapped, records
from .data import TABLES, Files, ending, form, regular
from .packing import UTF_8, beginning, is_plain
from .schema import Schema, toml

_TABLE = """\
# A schema holds public facts only: anybody may know what is written here.  Do not look bounds or categories up in the
# data; write what is known of them from elsewhere.
{more}[table]
name = "{name}"
# unit = "..."        the column that names the person, or "row" if each row is another person
# rows = ...          at most this many rows of one person are used
# groups = ...        optional: the rows of a person count in at most so many groups of a question
# size = ...          optional: about how many rows there are, if that is public
# partition = "..."   optional: a category column of which each person has one value only
# version = "..."     optional: to be changed when the data change, so that questions are answered anew
"""

_ASKED: dict[Type, str] = {
    "integer": "# lower = ...\n# upper = ...\n",
    "real": "# lower = ...\n# upper = ...\n"
    "# grid = ...          optional: a power of two, of which values become multiples\n"
    "# total = [..., ...]  optional: what one person adds to a sum in one group is clamped to this\n",
    "date": "# lower = ...         such as 2015-01-01\n# upper = ...\n",
    "timestamp": "# lower = ...         such as 2015-01-01T00:00:00Z\n# upper = ...\n",
    "text": '# or type = "category" and values = ["...", "..."], if they are public\n',
}
_NUMBERS, _TIMES = frozenset({"integer", "real", "boolean", "text"}), frozenset({"date", "timestamp", "text"})
_MEANT: dict[str, frozenset[str]] = {  # the types in the data that have a meaning in each declared type: `cells`
    "integer": _NUMBERS,
    "real": _NUMBERS,
    "boolean": _NUMBERS,
    "category": frozenset({"integer", "boolean", "text"}),
    "date": _TIMES,
    "timestamp": _TIMES,
    "text": frozenset({"integer", "text"}),
    "unit": frozenset({"integer", "real", "text"}),
}
_DTYPES: dict[str, Type | None] = {  # how the names of types begin in pandas and in Polars
    "bool": "boolean",
    "datetime": "timestamp",
    "date": "date",
    **dict.fromkeys(("timedelta", "duration", "time", "complex", "period", "interval"), None),
    **dict.fromkeys(("list", "array", "struct", "binary"), None),
    "float": "real",
    **dict.fromkeys(("int", "uint"), "integer"),  # after intervals
}
_OTHER = "times, lists and the like"  # of types for which a schema has no word
_FIRST_LINE = "# The names below are the first line of the file: if that is no header, do not use them.\n"
_LOOKED = """\
# The values of the file were READ to propose what stands below: types, labels, bounds and spellings.  Check every line.
# Replace bounds and labels that were not public before by ones that are: as they stand, they may betray somebody.
"""
_MARKS = {";": "semicolons", "\t": "tabs", "|": "bars"}
_COMMAS = "names in UTF-8 with commas between them"
_CSV = "# or integer, real, boolean, date, timestamp with lower = ... and upper = ...\n"


def checked(data: Any, schema: Schema) -> None:
    """Refuse a schema whose columns do not fit the names and types in the data; no value is read."""
    if not isinstance(data, Path | Files):
        suited(dict(_typed(data)), schema)
    for path in (data,) if isinstance(data, Path) else data.paths if isinstance(data, Files) else ():
        if form(path) == "csv":
            suited(dict(header(path, schema.delimiter, schema.encoding)), schema)
        else:
            suited(dict(_metadata(path)), schema)


def suited(columns: Mapping[str, str | None], schema: Schema) -> None:
    """Refuse a schema that does not fit data with these columns and types."""
    if missing := [name for name in schema.names if columns and name not in columns]:
        there = ", ".join(columns)
        if len(missing) == len(schema.names):  # these may be no names, but somebody's row in a file without a header
            there = f"{len(columns)} others; has the file a line of names?"
        wanted = f"columns that the data have: {there}"
        says = f"The unit {schema.unit!r} of the schema is not a column of the data; the columns are {there}."
        raise BadSchema("columns", ", ".join(missing), wanted, says=says if schema.unit in missing else "")
    if schema.unit is not None and (held := _meaningless(columns, schema.unit, "unit")):
        raise BadSchema("table.unit", schema.unit, f"a column of text or whole numbers; {held} name nobody")
    for name, column in schema.columns:
        spelled = "category" if column.reading.true else column.type  # words are labels
        if held := _meaningless(columns, name, spelled):
            fitting = f"left out, as {held} have a meaning in none of the types"
            if held != _OTHER:
                fitting = f"of a type that {held} have a meaning in"
            raise BadSchema(f"columns.{name}", column.type, fitting)


def _meaningless(columns: Mapping[str, str | None], name: str, declared: str) -> str:
    """The values of a column in words, if they have no meaning in the declared type, else ""."""
    actual = columns.get(name, "canonical")
    if actual == "canonical" or actual in _MEANT[declared]:
        return ""
    return _OTHER if actual in (None, "other") else f"{actual} values"


def describe(path: str | os.PathLike[str], proposal: Proposed | None = None) -> str:
    """The TOML text of a draft schema for a Parquet, CSV or Arrow file, perhaps with what its values suggest."""
    file = regular("data", path, TABLES)
    text, table = form(file) == "csv", {} if proposal is None else dict(proposal.table)
    columns = column_types(file, table.get("delimiter"), table.get("encoding", UTF_8))
    name = re.sub("[^a-z0-9_]+", "_", file.name[: -len(ending(file))].lower()).strip("_")[:63]
    more = (_FIRST_LINE if text else "") + ("" if proposal is None else _LOOKED)
    parts = [_TABLE.format(name=name if name[:1].isalpha() else "people", more=more) + _proposed(table)]
    for name, kind in columns:
        title = json.dumps(name, ensure_ascii=False)
        if kind is None:
            parts.append(f"# The column {title} is of a type that no question can see, and is left out.\n")
        elif proposal is not None:
            parts.append(f"[columns.{title}]\n{_proposed(proposal.columns[name])}")
        else:
            asked = _ASKED.get(kind, "") + (_CSV if text else "")
            parts.append(f'[columns.{title}]\ntype = "{kind}"\n{asked}')
    return "\n".join(parts)


class Proposed(Protocol):
    """What the values of a file suggest, as a schema states it."""

    @property
    def table(self) -> Mapping[str, Any]: ...
    @property
    def columns(self) -> Mapping[str, Mapping[str, Any]]: ...


def _proposed(facts: Mapping[str, Any]) -> str:
    return "".join(f"{key} = {toml(value)}\n" for key, value in facts.items())


def column_types(file: Path, delimiter: str | None = None, encoding: str = UTF_8) -> list[tuple[str, Type | None]]:
    """The names of the columns of a file, and their types as far as the file declares them; no value is read."""
    text = form(file) == "csv"
    columns = header(file, delimiter, encoding) if text else _metadata(file)
    if not columns:
        says = f"{file.name} has no {'header line' if text else 'columns'}"
        raise BadSchema(file.name, "no columns", "a table that has some", says=says)
    if text and len(columns) == 1 and (other := [word for mark, word in _MARKS.items() if mark in columns[0][0]]):
        raise BadSchema(f"the first line of {file.name}", f"{other[0]} and no commas", _COMMAS)
    seen: dict[str, int] = {}
    for place, (name, _) in enumerate(columns, 1):
        if not written(name) or name.casefold() in seen:  # what is there may be no name, and is not shown
            what = f"the columns of {file.name}"
            allowed = "names of 1 to 128 characters without control characters, different in more than capitals"
            first = seen.get(name.casefold())
            says = f"{what} must be {allowed}; column {place} has the name of column {first}"
            raise BadSchema(what, f"number {place}", allowed, says=says if first else "")
        seen[name.casefold()] = place
    return columns


def _typed(data: Any) -> list[tuple[str, Type | None]]:
    """The columns of a table in memory; types are never guessed from values."""
    import pyarrow as pa

    if isinstance(data, pa.Table | pa.RecordBatch):
        return [(field.name, _type(field.type)) for field in data.schema]
    names = [str(name) for name in getattr(data, "column_names", getattr(data, "columns", ()))]
    kinds = map(_dtype, getattr(data, "dtypes", ["object"] * len(names)))
    return list(zip(names, kinds, strict=True))


def _dtype(kind: Any) -> Type | None:
    """The type of a column of pandas or Polars, as far as it is declared; objects may be anything, so text too."""
    if arrow := getattr(kind, "pyarrow_dtype", None):
        return _type(arrow)
    if getattr(kind, "kind", "") == "f" and type(kind).__module__.startswith("numpy"):  # in pandas
        return "integer"  # whole numbers are floats in pandas if one is missing, and the type must not depend on that
    name = str(kind).lower()
    return next((declared for beginning, declared in _DTYPES.items() if name.startswith(beginning)), "text")


def header(file: Path, delimiter: str | None = None, encoding: str = UTF_8) -> list[tuple[str, Type | None]]:
    """The names in the first line of a CSV file; nothing else of it is looked at."""
    grammar = Grammar(delimiter or ("\t" if ending(file).startswith(".tsv") else ","))
    try:
        if is_plain(file, encoding):
            with mapped(file) as content:
                names = next(records(content, grammar), [])
        else:
            names = next(records(beginning(file, encoding), grammar), [])
    except OSError:
        raise BadSchema(file.name, "a file that cannot be read", "a CSV file") from None
    readable = [name for name in names if name is not None and not name.startswith('"')]  # an open quote stays
    if len(readable) < len(names):
        raise BadSchema(f"the first line of {file.name}", "an open quote, or text that is not UTF-8", _COMMAS)
    return [] if readable == [""] else [(name, "text") for name in readable]


def _metadata(file: Path) -> list[tuple[str, Type | None]]:
    import pyarrow as pa
    import pyarrow.parquet

    try:
        if file.suffix.lower() == ".parquet":
            schema = pa.parquet.read_schema(file)
        else:
            with pa.OSFile(str(file)) as stream:
                schema = _arrow(stream)
    except (pa.ArrowException, OSError):
        raise BadSchema(file.name, "another kind of file", f"a {file.suffix[1:].lower()} file") from None
    return [(field.name, _type(field.type)) for field in schema]


def _arrow(stream: Any) -> Any:
    """The schema of an Arrow file, which may be in the form of a stream."""
    import pyarrow as pa

    try:
        return pa.ipc.open_file(stream).schema
    except pa.ArrowInvalid:
        stream.seek(0)
        return pa.ipc.open_stream(stream).schema


def _type(arrow: Any) -> Type | None:
    """The schema type of an Arrow type, or None if its values have no meaning in any."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_dictionary(arrow) or types.is_run_end_encoded(arrow):
        return _type(arrow.value_type)
    if isinstance(arrow, pa.BaseExtensionType):
        return "text" if arrow.extension_name == "arrow.uuid" else _type(arrow.storage_type)
    if types.is_decimal(arrow) and arrow.scale < 0:  # which no engine reads
        return None
    if types.is_integer(arrow) or (types.is_decimal(arrow) and arrow.scale == 0):
        return "integer"
    if types.is_floating(arrow) or types.is_decimal(arrow):
        return "real"
    if types.is_boolean(arrow):
        return "boolean"
    if types.is_date(arrow):
        return "date"
    if types.is_timestamp(arrow):
        return "timestamp"
    if types.is_string(arrow) or types.is_large_string(arrow) or types.is_string_view(arrow) or types.is_null(arrow):
        return "text"
    return None
