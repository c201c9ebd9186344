"""A layout: the tables and unique indexes that a database is made with, as SQL that SQLite and PostgreSQL both read.

One of the tables is `entries`, which is only ever appended to, numbered by `seq` from 1.  {octets} is the type of
bytes, for which each database has a name of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

_TABLE = re.compile(r"CREATE TABLE (\w+) \( (.*), PRIMARY KEY \(([^()]*)\) \)")
_INDEX = re.compile(r"CREATE UNIQUE INDEX (\w+) ON \w+ \(([^()]*)\)")
_COLUMN = re.compile(r"(\w+) (INTEGER|TEXT|\{octets\})( NOT NULL)?")


@dataclass(frozen=True)
class Table:
    """The columns of a table, each with its type and whether it is NOT NULL, and its primary key."""

    columns: dict[str, tuple[str, bool]]
    key: str


@dataclass(frozen=True)
class Layout:
    """What a database is made with; `schema` is the default name of its schema in PostgreSQL."""

    create: str
    schema: str

    @cached_property
    def statements(self) -> tuple[str, ...]:
        """The statements, each on one line, in which {octets} is still to be named."""
        return tuple(" ".join(statement.split()) for statement in self.create.split(";"))

    @cached_property
    def tables(self) -> dict[str, Table]:
        """The tables by their names."""
        found = (_TABLE.fullmatch(statement.replace('"', "")) for statement in self.statements)
        return {match[1]: Table(_columns(match[2]), match[3]) for match in found if match}

    @cached_property
    def indexes(self) -> dict[str, str]:
        """The columns of each unique index by its name."""
        found = (_INDEX.fullmatch(statement.replace('"', "")) for statement in self.statements)
        return {match[1]: match[2] for match in found if match}

    def __post_init__(self) -> None:
        assert "entries" in self.tables
        assert len(self.tables) + len(self.indexes) == len(self.statements)


def _columns(listed: str) -> dict[str, tuple[str, bool]]:
    columns = {}
    for column in listed.split(", "):
        match = _COLUMN.fullmatch(column)
        assert match, column
        columns[match[1]] = match[2], match[3] is not None
    return columns
