"""Declared tables: the location of the data and its public schema.  Declaring a table reads no data."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ...core.errors import BadParameter, BadSchema
from ...core.parameters import whole
from ...core.safe_text import visible
from ..relation.relation import Scan
from ..schema.data import Files, beside, ending, handle
from ..schema.databases import Database, engine_of
from ..schema.schema import Schema, named
from .question import TableRows


class DeclaredTable(TableRows):
    """A table that is known by its public schema: what a question is made of."""

    schema: Schema

    @property
    def unit(self) -> str | None:  # type: ignore[override]
        """The column that identifies the unit of a row; None if each row is a unit."""
        return self.schema.unit

    @property
    def groups(self) -> int | None:  # type: ignore[override]
        """The number of groups of a question in which a unit counts, if it is bounded."""
        return self.schema.groups

    @cached_property
    def relation(self) -> Scan:  # type: ignore[override]
        return self.schema.scan()

    def rehearse(self, rows: int = 1000) -> Table:
        """A table of made-up rows, which follow from the public schema alone: to try questions, free of charge.

        Whatever is computed from the table says that it is made up.
        """
        from ..schema.rehearsal import MOST_ROWS, made_up

        if whole("rows", rows) > MOST_ROWS:
            raise BadParameter("rows", rows, f"at most {MOST_ROWS}")
        table = Table(made_up(self.schema, rows), replace(self.schema, source=None, engine=None))
        object.__setattr__(table, "made_up", True)
        return table


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Table(DeclaredTable):
    """A private table: data that only an engine reads, for the curator, and a schema of public facts.

    The schema of a file is by default the .toml file of the same name beside it.  Data, a name or an engine passed here
    override the schema's; a unit passed here must equal the schema's.  The engine is "duckdb", "postgres" or "spark",
    by default the one where the data are.
    """

    data: Any
    schema: Schema
    engine: str
    made_up: bool = False  # whether the rows were made for a rehearsal

    def __init__(
        self,
        data: Any,
        schema: Schema | str | os.PathLike[str] | Mapping[str, Any] | None = None,
        unit: str | None = None,
        name: str | None = None,
        engine: str | None = None,
    ) -> None:
        if schema is None and isinstance(data, str | os.PathLike) and (ending(data) or os.path.isdir(data)):
            schema = beside(data, ".toml")
        if schema is None:
            raise BadSchema(
                "schema",
                None,
                "given",
                says="Pass schema=. Only for data in a file may it be left out, if a .toml file lies beside it.",
            )
        declared = Schema.load(schema)
        for what, given in (("unit", unit), ("engine", engine)):
            if not isinstance(given, str | None):
                raise BadSchema(what, given, "text")
        if unit is not None and unit != (declared.unit or "row"):
            raise BadSchema("unit", unit, f"{declared.unit or 'row'!r}, as the schema says")
        object.__setattr__(self, "schema", declared if name is None else replace(declared, name=named(name)))
        if data is None and declared.source is None:
            raise BadSchema("data", None, "given", says="Pass data=, or set `source` in the schema.")
        wanted = engine or declared.engine
        place = handle(declared.source if data is None else data, wanted)
        object.__setattr__(self, "data", place.from_file() if data is None and isinstance(place, Database) else place)
        object.__setattr__(self, "engine", engine_of(self.data, wanted))

    def check(self) -> None:
        """Refuse a schema whose columns do not fit the names and types in the data; no value is read."""
        from ..schema.draft import checked

        checked(self.data, self.schema)

    def __repr__(self) -> str:
        place = str(self.data) if isinstance(self.data, Path | Files | Database) else type(self.data).__name__
        return f"Table({self.schema.name!r}, {'made up' if self.made_up else visible(place)})"
