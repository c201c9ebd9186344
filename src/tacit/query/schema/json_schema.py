"""The JSON Schema of a schema's TOML file, by which editors complete and check it as it is written.

It is made of the parser's own lists.  The parser refuses more: bounds in the wrong order, forms of dates that cannot be
meant, labels that are also missing.
"""

from __future__ import annotations

from typing import Any

from ..values.column_types import KEYS, TYPES, Type
from .csv import DELIMITERS
from .databases import ENGINES
from .packing import ENCODINGS
from .schema import MOST_ROWS, NAME, TABLE_KEYS

Fact = dict[str, Any]


def _fact(description: str, **fact: Any) -> Fact:
    return {"description": description, **fact}


def _spellings(description: str) -> Fact:
    return _fact(description, anyOf=[{"type": "string"}, {"type": "array", "items": {"type": "string"}}])


_COUNT: Fact = {"type": "integer", "minimum": 1, "maximum": MOST_ROWS}
_TEXT: Fact = {"type": "string", "minLength": 1}
_WRITTEN = {
    "missing": _spellings('Spellings of a missing value, such as ["NA", ""].'),
    "true": _spellings('Words for true, such as ["Y"]; `false` must be given too.'),
    "false": _spellings('Words for false, such as ["N"]; `true` must be given too.'),
    "decimal": _fact("The decimal mark of numbers in text.", enum=[".", ","]),
}
_TABLE = _WRITTEN | {
    "name": _fact("The name of the table in questions.", type="string", pattern=f"^{NAME.pattern}$"),
    "unit": _fact('Whom to protect: the column that names the person, or "row".', **_TEXT),
    "rows": _fact("At most this many rows of one unit are used.", **_COUNT),
    "groups": _fact("The rows of a unit count in at most so many groups of a question.", **_COUNT),
    "size": _fact("About how many rows there are, if that is public.", type="integer", minimum=1),
    "partition": _fact("A category of which each unit has one value only.", **_TEXT),
    "version": _fact("The state of the data; a new version makes all questions new.", **_TEXT),
    "engine": _fact("The engine that reads the table.", enum=[*ENGINES]),
    "source": _fact("Where the table is: a path, an address, or a name that the engine knows.", **_TEXT),
    "delimiter": _fact("What stands between the fields of a CSV file.", enum=[*DELIMITERS]),
    "encoding": _fact("The encoding of a CSV file.", enum=[*ENCODINGS]),
}
_COLUMN = _WRITTEN | {
    "lower": _fact("Values below this are moved to it.", type=["number", "string"]),  # dates of TOML are texts here
    "upper": _fact("Values above this are moved to it.", type=["number", "string"]),
    "grid": _fact("The step that a real is rounded to: a power of two.", type=["number", "string"]),
    "total": _fact("What one unit adds to a sum is moved into this interval.", type="array", minItems=2, maxItems=2),
    "values": _fact("The labels of a category.", type="array", minItems=1, items={"type": "string"}, uniqueItems=True),
    "format": _fact("The form of dates in text, such as %d.%m.%Y.", type="string"),
}


def json_schema() -> Fact:
    """The JSON Schema of the TOML file of a schema."""
    columns = [_column(kind) for kind in TYPES]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The schema of a table for tacit: public facts only",
        "type": "object",
        "required": ["table"],
        "additionalProperties": False,
        "properties": {
            "table": {
                "type": "object",
                "required": ["name", "unit"],
                "additionalProperties": False,
                "properties": {key: _TABLE[key] for key in TABLE_KEYS},
            },
            "columns": {"type": "object", "additionalProperties": {"oneOf": columns}},
        },
    }


def _column(kind: Type) -> Fact:
    """The facts of a column of one type."""
    return {
        "type": "object",
        "title": kind,
        "required": ["type", *(["values"] if kind == "category" else [])],
        "additionalProperties": False,
        "properties": {"type": {"const": kind}, **{key: _COLUMN[key] for key in KEYS[kind]}},
    }
