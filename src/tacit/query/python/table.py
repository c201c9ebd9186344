"""Tables as they are declared: where the data is and what is public about it.  Nothing is read from a sensitive one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ...core.errors import BadSchema
from ...core.safe_text import visible
from ..relation.relation import Scan
from ..schema.data import TABLES, handle
from ..schema.databases import Database, engine_of
from ..schema.schema import Schema, named
from .question import Rows


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Table(Rows):
    """A sensitive table: data that is read only by an engine, for the curator, and a schema of public facts.

    The schema of a file is by default the .toml of its name beside it.  Data, a name or an engine given here are used
    instead of the schema's; a unit given here must be the schema's.  The engine is "duckdb", "postgres" or "spark", by
    default that of the place where the data are.
    """

    data: Any
    schema: Schema
    engine: str

    def __init__(
        self,
        data: Any,
        schema: Schema | str | os.PathLike[str] | Mapping[str, Any] | None = None,
        unit: str | None = None,
        name: str | None = None,
        engine: str | None = None,
    ) -> None:
        if schema is None and isinstance(data, str | os.PathLike) and Path(data).suffix.lower() in TABLES:
            schema = Path(data).with_suffix(".toml")
        if schema is None:
            raise BadSchema("schema", None, "given, for data that are no file; that of a file may be a .toml beside it")
        known = Schema.load(schema)
        for what, given in (("unit", unit), ("engine", engine)):
            if not isinstance(given, str | None):
                raise BadSchema(what, given, "text")
        if unit is not None and unit != (known.unit or "row"):
            raise BadSchema("unit", unit, f"{known.unit or 'row'!r}, as the schema says")
        object.__setattr__(self, "schema", known if name is None else replace(known, name=named(name)))
        if data is None and known.source is None:
            raise BadSchema("data", None, "given, or named in the schema as source")
        told = engine or known.engine
        place = handle(known.source if data is None else data, told)
        object.__setattr__(self, "data", place.from_file() if data is None and isinstance(place, Database) else place)
        object.__setattr__(self, "engine", engine_of(self.data, told))

    def check(self) -> None:
        """Refuse a schema that is not of these data, by their names and types alone."""
        from ..schema.draft import checked

        checked(self.data, self.schema)

    @property
    def unit(self) -> str | None:  # type: ignore[override]
        """The column that names whom a row is of; None if each row is a unit."""
        return self.schema.unit

    @property
    def groups(self) -> int | None:  # type: ignore[override]
        """In how many groups of a question a unit may be, if that is bounded."""
        return self.schema.groups

    @cached_property
    def relation(self) -> Scan:  # type: ignore[override]
        return self.schema.scan()

    def __repr__(self) -> str:
        place = str(self.data) if isinstance(self.data, Path | Database) else type(self.data).__name__
        return f"Table({self.schema.name!r}, {visible(place)})"
