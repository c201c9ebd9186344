"""Tables as they are declared: where the data is and what is public about it.  Nothing is read from a sensitive one."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ...core.errors import BadParameter, BadSchema
from ...core.safe_text import visible
from ..relation.relation import Scan
from ..schema.databases import Database, engine_of
from ..schema.files import TABLES, regular
from ..schema.schema import NAME, Schema
from .question import Rows

_AS_ITS_FILE = ""
LIBRARIES = ("pyarrow", "pandas", "polars", "pyspark")


def handle(data: Any, engine: str | None = None) -> Any:
    """What was given as data: the real path of a file, the address of a table, or one in memory; nothing is read.

    To an engine that is a database, text that ends like no file is the name of a table there.
    """
    if isinstance(data, str) and "://" in data:
        return Database.read(data)
    if isinstance(data, str) and engine in ("postgres", "spark") and not data.lower().endswith(TABLES):
        return Database.named(data, engine)
    if isinstance(data, str | os.PathLike):
        return regular("data", data, TABLES)
    library, kind = type(data).__module__.partition(".")[0], type(data).__name__
    if library in LIBRARIES and kind in ("LazyFrame", "Series"):
        raise BadSchema("data", kind, "a whole table: collect() what is lazy, and name a single column by to_frame()")
    if isinstance(data, list | Database) or library in LIBRARIES:
        return data
    allowed = "a path, the address of a table, a table of pyarrow, pandas, polars or Spark, or a list of dictionaries"
    raise BadSchema("data", type(data), allowed)


def named(name: object) -> str:
    """A name that a table may have."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise BadSchema("name", name, "a small letter, then at most 62 small letters, digits and underscores")
    return name


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


@dataclass(frozen=True, eq=False)
class PublicTable:
    """A table that anybody may read, such as which country a city is in; one of its columns names its rows.

    It is called as its file is, unless told.
    """

    data: Any = field(repr=False)
    name: str = _AS_ITS_FILE

    def __post_init__(self) -> None:
        if self.name is _AS_ITS_FILE and isinstance(self.data, str | os.PathLike):
            object.__setattr__(self, "name", Path(self.data).stem)
        object.__setattr__(self, "data", handle(self.data))
        named(self.name)

    @cached_property
    def values(self) -> Mapping[str, Sequence[Any]]:
        """All of it, column by column."""
        try:
            table = _arrow(self.data)
        except BadSchema:
            raise
        except Exception as error:  # whatever pandas, Arrow and others may raise on data that they cannot read
            raise BadSchema(f"the public table {self.name}", str(error), "a table that can be read") from None
        return {name: table.column(i).to_pylist() for i, name in enumerate(table.column_names)}

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns."""
        return tuple(self.values)

    def mapping(self, key: str, value: str) -> dict[Any, Any]:
        """What the column `value` says of each entry of the column `key`."""
        asked: tuple[object, object] = key, value
        for name in asked:
            if not isinstance(name, str) or name not in self.values:
                raise BadParameter("column", name, f"one of {', '.join(self.columns)} of the public table {self.name}")
        found: dict[Any, Any] = {}
        for k, v in zip(self.values[key], self.values[value], strict=True):
            if not isinstance(k, Hashable) or k in found:
                raise BadParameter("key", k, f"there once only in the column {key} of the public table {self.name}")
            found[k] = v
        return found


def _arrow(data: Any) -> Any:
    """Public data as an Arrow table."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.feather
    import pyarrow.parquet

    if isinstance(data, Database):
        raise BadSchema("data", str(data), "a file or a table in memory, where a table is public")
    if isinstance(data, Path):
        match data.suffix.lower():
            case ".parquet":
                return pa.parquet.read_table(data)
            case ".csv":
                return pa.csv.read_csv(data)
        return pa.feather.read_table(data)
    if isinstance(data, list):
        if not all(isinstance(row, Mapping) for row in data):
            raise BadSchema("data", "a list of others", "a list of dictionaries")
        return pa.Table.from_pylist(data)
    if type(data).__module__.startswith("pandas"):
        return pa.Table.from_pandas(data, preserve_index=False)
    if type(data).__module__.startswith("pyspark."):
        return data.toArrow()
    return data.to_arrow() if type(data).__module__.startswith("polars") else data
