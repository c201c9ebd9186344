"""Tables that anybody may read."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ...core.errors import BadParameter, BadSchema
from .data import Files, ending, form, handle
from .databases import Database
from .schema import named

_AS_ITS_FILE = ""


@dataclass(frozen=True, eq=False)
class PublicTable:
    """A table that anybody may read, such as the countries of cities; one of its columns identifies its rows.

    Its name is by default that of its file.
    """

    data: Any = field(repr=False)
    name: str = _AS_ITS_FILE

    def __post_init__(self) -> None:
        if self.name is _AS_ITS_FILE and isinstance(self.data, str | os.PathLike):
            object.__setattr__(self, "name", Path(self.data).name.removesuffix(ending(self.data)))
        object.__setattr__(self, "data", handle(self.data))
        named(self.name)

    @cached_property
    def values(self) -> Mapping[str, Sequence[Any]]:
        """All values, column by column."""
        try:
            table = arrow(self.data)
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
        """The entries of the column `value` by those of the column `key`."""
        names: tuple[object, object] = key, value
        for name in names:
            if not isinstance(name, str) or name not in self.values:
                raise BadParameter("column", name, f"one of {', '.join(self.columns)} of the public table {self.name}")
        entries: dict[Any, Any] = {}
        for k, v in zip(self.values[key], self.values[value], strict=True):
            if not isinstance(k, Hashable) or k in entries:
                raise BadParameter("key", k, f"unique in the column {key} of the public table {self.name}")
            entries[k] = v
        return entries


def arrow(data: Any) -> Any:
    """Public data as an Arrow table."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.feather
    import pyarrow.parquet

    if isinstance(data, Database):
        raise BadSchema("data", str(data), "a file or a table in memory, where a table is public")
    if isinstance(data, Files):
        return pa.concat_tables([arrow(path) for path in data.paths])
    if isinstance(data, Path):
        match form(data):
            case "parquet":
                return pa.parquet.read_table(data)
            case "csv":
                tabs = pa.csv.ParseOptions(delimiter="\t" if ending(data).startswith(".tsv") else ",")
                return pa.csv.read_csv(data, parse_options=tabs)
        return pa.feather.read_table(data)
    if isinstance(data, list):
        if not all(isinstance(row, Mapping) for row in data):
            raise BadSchema("data", "a list of others", "a list of dictionaries")
        return pa.Table.from_pylist(data)
    if type(data).__module__.startswith("pandas"):
        return pa.Table.from_pandas(data, preserve_index=False)
    if type(data).__module__.startswith("pyspark."):
        return data.toArrow()
    return data.toarrow() if type(data).__module__.startswith("polars") else data
