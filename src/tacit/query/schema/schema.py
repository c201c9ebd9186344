"""The schema of a table: public facts only, declared in TOML and never read from the data.

    [table]              name, unit (a column, or "row"), rows, and optionally groups, size, partition, version, engine,
                         source; how cells are written (missing, true, false, decimal), and of a CSV file its delimiter
                         and its encoding
    [columns.age]        type, and optionally lower and upper; grid and total of numbers; values of a category; and how
                         cells are written, if otherwise than the table says (missing, true, false, decimal, format)

`dumps` writes the canonical text: schemas with equal meaning have equal texts and digests.  The location of a table
(`source`), the form of its file and its `engine` are not part of its meaning.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from ... import storage
from ...core.errors import BadParameter, BadSchema
from ..relation.relation import Scan
from ..values.column_types import ColumnType, Facts, facts_of, read_column, written
from ..values.domain import WIDEST, ValueDomain
from ..values.reading import PLAIN, read_reading
from .csv import DELIMITERS
from .data import regular, table_file
from .databases import ENGINES, Database
from .packing import ENCODINGS, UTF_8

__all__ = ["ColumnType", "Declared", "Schema", "named"]

NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
WRITTEN = ("missing", "true", "false", "decimal")  # how the cells of all columns are written
FACTS = ("name", "unit", "rows", "groups", "size", "partition", "version", "engine", "source")
TABLE_KEYS = (*FACTS, *WRITTEN, "delimiter", "encoding")
MOST_ROWS, MOST_COLUMNS, LONGEST_PART = 10**9, 4096, 200


class Declared(Protocol):
    """A private table to a front end: whatever has a schema, be it a Table or a Schema itself."""

    @property
    def schema(self) -> Schema: ...


@dataclass(frozen=True)
class Schema:
    """The public facts about a table; if `unit` is None, each row is a unit."""

    name: str
    unit: str | None
    rows: int = 1
    columns: tuple[tuple[str, ColumnType], ...] = ()
    groups: int | None = None
    size: int | None = None
    partition: str | None = None
    version: str | None = None  # of the data
    missing: tuple[str, ...] = ()  # spellings of a missing unit; those of columns are theirs
    delimiter: str | None = field(default=None, compare=False)  # of a CSV; None is the usual one of its ending
    encoding: str = field(default=UTF_8, compare=False)
    engine: str | None = field(default=None, compare=False)
    source: str | None = field(default=None, compare=False)  # a path, an address, or a name that the engine knows

    @staticmethod
    def load(source: Schema | str | os.PathLike[str] | Mapping[str, Any]) -> Schema:
        """Read a schema from a file, from TOML text of more than one line, or from a mapping."""
        if isinstance(source, Schema):
            return source
        if isinstance(source, Mapping):
            return _schema("schema", source)
        if not isinstance(source, str | os.PathLike):
            raise BadSchema("schema", type(source).__name__, "a Schema, a file, TOML text or a mapping")
        where, text, beside = "schema", str(source), Path()
        if "\n" not in text:
            path = regular("schema", source, (".toml",))
            where, beside = path.name, path.parent
            try:
                text = path.read_text("utf-8")
            except (OSError, UnicodeDecodeError):
                raise BadSchema(where, "a file that cannot be read as UTF-8", "TOML") from None
        try:
            return _schema(where, tomllib.loads(text, parse_float=Decimal), beside)
        except tomllib.TOMLDecodeError as error:
            raise BadSchema(where, str(error), "TOML") from None
        except (ValueError, RecursionError) as error:  # an integer of thousands of digits, a list thousands deep
            if isinstance(error, BadParameter):
                raise
            raise BadSchema(where, "numbers or lists that are too large", "TOML") from None

    @property
    def schema(self) -> Schema:
        """This schema, as a front end asks for it of any declared table."""
        return self

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns that the table must have: that of the unit, if there is one, and all declared ones."""
        return (*(() if self.unit is None else (self.unit,)), *(name for name, _ in self.columns))

    def domain(self, name: str) -> ValueDomain:
        """The public domain of a column."""
        return self[name].domain

    def __getitem__(self, name: str) -> ColumnType:
        for known, column in self.columns:
            if known == name:
                return column
        raise BadParameter("column", name, f"one of {', '.join(known for known, _ in self.columns) or 'none'}")

    def scan(self) -> Scan:
        """The rows of the table, bounded."""
        return self._scan

    @cached_property
    def _scan(self) -> Scan:
        domains = tuple((name, column.domain) for name, column in self.columns)
        readings = tuple((name, _text(name, c.reading.facts)) for name, c in self.columns if c.reading != PLAIN)
        spelled = (readings, self.missing)
        identity = storage.digest((domains, spelled) if any(spelled) else domains)
        return Scan(self.name, self.rows, identity, domains)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical text."""
        return hashlib.sha256(self.dumps().encode()).hexdigest()

    def dumps(self) -> str:
        """The canonical TOML text."""
        facts: dict[str, object] = {"name": self.name, "unit": self.unit or "row", "rows": self.rows}
        facts |= {"groups": self.groups, "size": self.size, "partition": self.partition, "version": self.version}
        parts = [_text("table", facts)]
        parts += [_text(_heading(name), facts_of(c)) for name, c in self.columns]
        if self.unit is not None and self.missing:  # of the unit
            parts.append(_text(_heading(self.unit), {"type": "text", "missing": list(self.missing)}))
        return "\n".join(parts)


def _schema(where: str, given: Mapping[str, Any], beside: Path = Path()) -> Schema:
    top = Facts(where, given)
    top.only("table", "columns")
    table = Facts(f"{where}: table", top.get("table"))
    columns = Facts(f"{where}: columns", {} if top.get("columns") is None else top.get("columns"))
    table.only(*TABLE_KEYS)
    name, unit = table.get("name"), table.get("unit")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise table.bad("name", "a small letter, then at most 62 small letters, digits and underscores")
    if not written(unit):
        raise table.bad("unit", 'the name of the column that names the person, or "row"')
    if len(columns.given) > MOST_COLUMNS:
        raise BadSchema(columns.where, f"{len(columns.given)} of them", f"at most {MOST_COLUMNS}")
    seen = {} if unit == "row" else {unit.casefold(): unit}
    for key in columns.given:
        if not written(key):
            raise BadSchema(columns.where, key, "named by 1 to 128 characters without control characters")
        if key == unit == "row":
            raise BadSchema(columns.where, key, 'called otherwise where the unit is "row"')
        if seen.setdefault(key.casefold(), key) != key:  # most engines do not tell Age from age
            raise BadSchema(columns.where, key, "different from one another and from the unit in more than capitals")
    written_so = read_reading(table.where, {key: table.get(key) for key in WRITTEN if key in table.given})
    read = [(key, read_column(f"{where}: columns.{key}", value, written_so)) for key, value in columns.given.items()]
    known = tuple((key, column) for key, column in read if key != unit)  # the unit is no value of a question
    nobody = next((column.reading for key, column in read if key == unit), written_so).missing
    rows, groups, size = table.whole("rows", MOST_ROWS), table.whole("groups", MOST_ROWS), table.whole("size", WIDEST)
    if rows is None and unit != "row":
        raise table.bad("rows", "given: at most how many rows of one unit are used")
    if unit == "row" and rows not in (None, 1):
        raise table.bad("rows", '1 or left out where the unit is "row"')
    partition, engine, source = _partition(table, dict(known)), table.get("engine"), _source(table, beside)
    if engine not in (None, *ENGINES):
        raise table.bad("engine", f"one of {', '.join(ENGINES)}")
    version = table.get("version")
    if version is not None and not written(version):
        raise table.bad("version", 'text of 1 to 128 characters, such as "2026-11"')
    delimiter, encoding = _form(table)
    own, missing = (None, ()) if unit == "row" else (unit, nobody)
    return Schema(
        name, own, rows or 1, known, groups, size, partition, version, missing, delimiter, encoding, engine, source
    )


def _partition(table: Facts, known: Mapping[str, ColumnType]) -> str | None:
    """The partition column; a ledger names each part COLUMN=LABEL."""
    name = table.get("partition")
    if name is None:
        return None
    if not isinstance(name, str) or name not in known or known[name].type != "category":
        raise table.bad("partition", "a column of type category")
    for label in known[name].domain.labels:
        if len(part := f"{name}={label}") > LONGEST_PART or not part.isprintable():
            allowed = f"a column of which COLUMN=LABEL is at most {LONGEST_PART} printable characters for every label"
            raise BadSchema(f"{table.where}.partition", part, allowed)
    return name


def _form(table: Facts) -> tuple[str | None, str]:
    """The delimiter and the encoding of a CSV file."""
    delimiter, encoding = table.get("delimiter"), table.get("encoding")
    if delimiter not in (None, *DELIMITERS):
        raise table.bad("delimiter", '"," or ";" or "|" or "\\t", which is a tab')
    if encoding not in (None, *ENCODINGS):
        raise table.bad("encoding", f"one of {', '.join(ENCODINGS)}")
    return delimiter, encoding or UTF_8


def _source(table: Facts, beside: Path) -> str | None:
    """The location of the data: a file relative to the schema, an address without a password, or a name."""
    source = table.get("source")
    if source is None:
        return None
    if not written(source, 4096):
        raise table.bad("source", "a path, an address or the name of a table")
    if "://" in source and Database.read(source).secret:
        raise BadSchema(
            f"{table.where}.source", "one with a password", "an address without a password; it may be in PGPASSWORD"
        )
    return str(beside / source) if table_file(source) else source


def _heading(column: str) -> str:
    return f"columns.{json.dumps(column, ensure_ascii=False)}"


def _text(heading: str, facts: Mapping[str, object]) -> str:
    lines = [f"{key} = {toml(value)}\n" for key, value in facts.items() if value is not None]
    return f"[{heading}]\n{''.join(lines)}"


def toml(value: object) -> str:
    """A value as TOML text."""
    match value:
        case list():
            return f"[{', '.join(map(toml, value))}]"
        case str():
            return json.dumps(value, ensure_ascii=False)
        case datetime.datetime():
            return f"{value.isoformat()}Z"
        case datetime.date():
            return value.isoformat()
        case Fraction(denominator=1) | int():
            return str(value)
        case Fraction():  # a whole number over a power of two: n / 2^k = n 5^k / 10^k
            k = value.denominator.bit_length() - 1
            digits = str(abs(value.numerator) * 5**k).zfill(k + 1)
            return f"{'-' if value < 0 else ''}{digits[:-k]}.{digits[-k:]}"
    raise TypeError(type(value).__name__)


def named(name: object) -> str:
    """The name of a table, or BadSchema."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise BadSchema("name", name, "a small letter, then at most 62 small letters, digits and underscores")
    return name
