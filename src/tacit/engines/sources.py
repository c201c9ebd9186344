"""Where raw rows come from: files and tables in memory, what they hold told apart by a fingerprint.

.parquet, .csv, .arrow, .feather     files; the text of a CSV is not guessed at, and an empty cell is missing
Arrow, pandas, Polars                whatever speaks Arrow's protocol of streams
a list of dictionaries               cells of any type, mixed as they come
"""

from __future__ import annotations

import csv
import hashlib
import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from ..core.errors import BadData
from ..tables.canonical import row_text, steps, unit_text
from ..tables.schema import Schema


class Source:
    """Raw rows of which only the columns that the schema names are looked at."""

    def __init__(self, data: Any, schema: Schema) -> None:
        self.path = Path(data) if isinstance(data, str | os.PathLike) else None
        self._data, self._schema = _rows_or_arrow(data), schema
        self.names = [name for name in (schema.unit, *(name for name, _ in schema.columns)) if name is not None]
        self._seen = self.path and _stat(self.path)
        self.fingerprint = self._hashed()

    @property
    def kind(self) -> str:
        """parquet, csv, arrow, or rows."""
        if self.path is not None:
            return {".parquet": "parquet", ".csv": "csv"}.get(self.path.suffix.lower(), "arrow")
        return "rows" if isinstance(self._data, list | tuple) else "arrow"

    def unchanged(self) -> bool:
        """Whether a file is still the one that was hashed: checked after it was read."""
        return self.path is None or (_stat(self.path) == self._seen and self._hashed() == self.fingerprint)

    @cached_property
    def header(self) -> list[str]:
        """The names in the first line of a CSV."""
        assert self.path is not None
        try:
            with self.path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
                names = next(csv.reader(file), [])
        except csv.Error:
            names = []
        if not names:
            raise BadData("the table", "a file without a line of names in UTF-8", "a CSV with a header")
        return self._checked(names)

    @cached_property
    def arrow(self) -> Any:
        """The columns as a table of Arrow."""
        import pyarrow as pa

        try:
            if self.path is not None:
                table = _from_file(self.path)
            elif isinstance(self._data, pa.Table):
                table = self._data
            else:
                table = pa.table(self._data)
        except (pa.ArrowException, OSError, TypeError, AttributeError, ValueError):
            table = None
        if table is None:
            raise BadData("the table", "data that Arrow cannot read", "Parquet, CSV, Arrow, pandas, Polars or a list")
        self._checked(table.column_names)
        return table.select(self.names)

    def rows(self) -> Iterator[Mapping[str, object]]:
        """The raw rows, as Python sees them."""
        if self.kind == "rows":
            yield from self._data
        elif self.kind == "csv":
            assert self.path is not None
            with self.path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
                for row in csv.DictReader(file):
                    yield {name: row.get(name) or None for name in self.names}
        else:
            columns = [cells(self.arrow[name]) for name in self.names]
            yield from (dict(zip(self.names, row, strict=True)) for row in zip(*columns, strict=True))

    def _checked(self, present: list[str]) -> list[str]:
        """The names, if those that are needed are there once."""
        for name in self.names:
            if sum(name.casefold() == other.casefold() for other in present) != 1 or name not in present:
                raise BadData(
                    "the table", f"none, or several, columns named {name!r}", "a table with the schema's columns"
                )
        return present

    def _meaning(self, row: Mapping[str, object]) -> str:
        """All that a question can see of a row, whatever it holds."""
        unit = None if self._schema.unit is None else unit_text(row.get(self._schema.unit))
        return row_text([unit, *(steps(row.get(name), column) for name, column in self._schema.columns)])

    def _hashed(self) -> str:
        if self.path is not None:
            with self.path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        digest = hashlib.sha256()
        if self.kind == "rows":
            for row in self._data:
                digest.update(f"{self._meaning(row)}\n".encode())
        else:
            import pyarrow as pa

            table = self.arrow.combine_chunks()
            with pa.ipc.new_stream(pa.PythonFile(_Sink(digest), "w"), table.schema.remove_metadata()) as stream:
                stream.write_table(table.replace_schema_metadata())
        return digest.hexdigest()


def _rows_or_arrow(data: Any) -> Any:
    """The data, but for tables of pandas, whose columns may mix what Arrow does not."""
    if isinstance(data, list | tuple) and not all(isinstance(row, Mapping) for row in data):
        raise BadData("the table", "a list of something else", "a list of dictionaries")
    if not type(data).__module__.startswith("pandas"):
        return data
    import pyarrow as pa

    try:
        return pa.Table.from_pandas(data, preserve_index=False)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return data.to_dict("records")


def cells(column: Any) -> list[object]:
    """The cells of a column of Arrow; moments as numpy's, since Python's end with the year 9999."""
    import pyarrow as pa

    if pa.types.is_temporal(column.type) and not pa.types.is_time(column.type):
        return list(column.to_numpy())
    return list(column.to_pylist())


def _from_file(path: Path) -> Any:
    import pyarrow as pa
    from pyarrow import feather, parquet

    if path.suffix.lower() == ".parquet":
        return parquet.read_table(path)
    try:
        return feather.read_table(path)
    except pa.ArrowInvalid:
        with pa.memory_map(str(path)) as file, pa.ipc.open_stream(file) as stream:
            return stream.read_all()


def _stat(path: Path) -> tuple[int, ...]:
    s = path.stat()
    return s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns


class _Sink:
    """A file that is only hashed."""

    closed = False

    def __init__(self, digest: Any) -> None:
        self._digest = digest

    def write(self, data: Any) -> int:
        self._digest.update(data)
        return len(data)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass
