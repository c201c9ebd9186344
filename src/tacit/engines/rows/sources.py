"""Where raw rows come from: files and tables in memory, what they hold told apart by a fingerprint.

.parquet, .csv, .arrow, .feather     files; the text of a CSV (`csv_lines`) is not guessed at; an empty cell is missing
Arrow, pandas, Polars                whatever speaks Arrow's protocol of streams; objects of pandas one by one
a list of dictionaries               cells of any type, mixed as they come
"""

from __future__ import annotations

import hashlib
import itertools
import math
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import BadData
from ...query.schema.csv import mapped, records, uniform
from ...query.schema.schema import Schema
from ...query.values.cells import row_text, steps, unit_text
from ...query.values.column_types import ColumnType
from .arrow_cells import cells, is_text, labelled, unicode

_ROWS = 1 << 16  # of a CSV that are read at once


class Source:
    """Raw rows of which only the columns that the schema names are looked at."""

    def __init__(self, data: Any, schema: Schema) -> None:
        self.path = Path(data) if isinstance(data, str | os.PathLike) else None
        self._schema = schema
        self.names = list(schema.names)
        self._data = self._rows_or_arrow(data)
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
        with mapped(self.path) as content:
            names = [name or "" for name in next(records(content), [])]
        if not any(names):
            raise BadData("the table", "a file without a line of names in UTF-8", "a CSV with a header")
        return self._checked(names)

    def uniform(self) -> bool:
        """Whether a database may read a CSV by itself, if it is strict."""
        assert self.path is not None
        with mapped(self.path) as content:
            return uniform(content, len(self.header))

    def lines(self) -> Iterator[list[str | None]]:
        """The cells of a CSV; a blank line is none, unless there is but one column."""
        assert self.path is not None
        places = [self.header.index(name) for name in self.names]
        with mapped(self.path) as content:
            for line in itertools.islice(records(content), 1, None):
                if len(line) > 1 or line[0] != "" or len(self.header) == 1:
                    yield [(line[place] if place < len(line) else None) or None for place in places]

    def texts(self) -> Any:
        """The same as a table of Arrow."""
        import pyarrow as pa

        if not self.names:
            return pa.table({"none": pa.nulls(sum(1 for _ in self.lines()), pa.int8())})
        schema, lines = pa.schema([(name, pa.string()) for name in self.names]), self.lines()
        tables = [schema.empty_table()]
        while some := list(itertools.islice(lines, _ROWS)):
            columns = [pa.array(cells, pa.string()) for cells in zip(*some, strict=True)]  # in chunks, if they are long
            tables.append(pa.table(columns, schema=schema))
        return pa.concat_tables(tables)

    @cached_property
    def types(self) -> dict[str, tuple[Any, str]]:
        """The types of the columns in a Parquet file, and as what they are stored; nothing more is read."""
        path = self.path
        assert path is not None
        file = _read(lambda: _parquet(path))
        found, leaves = file.schema_arrow, map(file.schema.column, range(len(file.schema)))
        self._checked(found.names)
        stored = {leaf.path: leaf.physical_type for leaf in leaves}
        return {name: (found.field(name).type, stored.get(name, "nested")) for name in self.names}

    def told_missing(self) -> bool:
        """Whether the footer of a Parquet file says of some row group that all cells of a column are missing."""
        path = self.path
        assert path is not None
        known = _read(lambda: _parquet(path)).metadata
        groups = [group for i in range(known.num_row_groups) if (group := known.row_group(i)).num_rows]
        leaves = [i for i in range(known.num_columns) if known.schema.column(i).path in self.names]
        told = ((group.num_rows, group.column(i).statistics) for group in groups for i in leaves)
        return any(s is not None and s.has_null_count and s.null_count >= rows for rows, s in told)

    @cached_property
    def arrow(self) -> Any:
        """The columns as a table of Arrow; text that is not Unicode is missing."""
        import pyarrow as pa

        path, data = self.path, self._data
        if path is None:
            table = data if isinstance(data, pa.Table) else _read(lambda: pa.table(data))
        elif self.kind == "parquet":
            names = list(self.types)
            table = _read(lambda: _parquet(path).read(names))
        else:
            table = _read(lambda: _feather(path))
        self._checked(table.column_names)
        table = table.select(self.names)
        for i, field in enumerate(table.schema):
            if is_text(field.type.value_type if pa.types.is_dictionary(field.type) else field.type):
                table = table.set_column(i, field.name, unicode(table[i]))
        return table

    def rows(self) -> Iterator[Mapping[str, object]]:
        """The raw rows, as Python sees them."""
        if self.kind == "rows":
            yield from self._data
        elif self.kind == "csv":
            yield from (dict(zip(self.names, cells, strict=True)) for cells in self.lines())
        else:
            columns = [(name, cells(self.arrow[name])) for name in self.names]
            yield from ({name: column[i] for name, column in columns} for i in range(len(self.arrow)))

    def _rows_or_arrow(self, data: Any) -> Any:
        """The data; of a table of pandas only the columns, each by itself."""
        if isinstance(data, list | tuple) and not all(isinstance(row, Mapping) for row in data):
            raise BadData("the table", "a list of something else", "a list of dictionaries")
        if not type(data).__module__.startswith("pandas"):
            return data
        import pyarrow as pa

        present = self._checked([str(name) for name in getattr(data, "columns", ())])
        kinds = dict(self._schema.columns)  # the unit is not among them
        columns = {name: _column(data.iloc[:, present.index(name)], kinds.get(name)) for name in self.names}
        return pa.table(columns or {"none": pa.nulls(len(data), pa.int8())})

    def _checked(self, present: list[str]) -> list[str]:
        """The names, if those that are needed are there once."""
        there_once(self.names, present)
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


def there_once(names: Iterable[str], present: Collection[str]) -> None:
    """Refuse data that lack a column, or have another whose name differs in capitals only."""
    for name in names:
        if sum(name.casefold() == other.casefold() for other in present) != 1 or name not in present:
            raise BadData("the table", f"none, or several, columns named {name!r}", "a table with the schema's columns")


def _text_or_missing(value: object) -> bool:
    """Whether a cell of pandas is text, or what it says of one that is not there."""
    return type(value) is str or value is None or (type(value) is float and math.isnan(value))


def _column(series: Any, kind: ColumnType | None) -> Any:
    """A column of pandas.  Of objects Arrow would guess the type, by all of them: they are read one by one instead."""
    import pyarrow as pa

    held = getattr(series.dtype, "categories", series)
    if kind is not None and kind.type in ("category", "text") and held.dtype.kind == "f":
        return _whole(series.to_numpy(np.float64, na_value=np.nan))
    typed = held.dtype.kind != "O" or hasattr(held.array, "__arrow_array__")
    if typed or all(map(_text_or_missing, held)):
        try:
            return pa.array(series, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError):  # a type that Arrow lacks, text that is not Unicode
            pass
    return labelled(series, kind)


def _whole(values: NDArray[np.float64]) -> Any:
    """Whole numbers, of which pandas makes others where one is missing: labels or text, as they were before."""
    import pyarrow as pa

    whole = (np.abs(values) < 2.0**63) & (values == np.floor(values))
    return pa.array(np.where(whole, values, 0).astype(np.int64), mask=~whole)


def _read(read: Callable[[], Any]) -> Any:
    """What is read, or an error that says nothing of it."""
    import pyarrow as pa

    try:
        return read()
    except (pa.ArrowException, OSError, TypeError, AttributeError, ValueError):
        pass
    raise BadData("the table", "data that Arrow cannot read", "Parquet, CSV, Arrow, pandas, Polars or a list")


def _parquet(path: Path) -> Any:
    """A file, opened, with the types of its format alone, as a database sees it.

    What Arrow has noted of the types that it wrote is not looked at: it would refuse a dictionary of which one text is
    not Unicode.  Old moments are in microseconds, which do not end with the year 2262.
    """
    import pyarrow as pa
    from pyarrow import parquet

    with path.open("rb") as file:
        size = file.seek(-8, os.SEEK_END)
        footer = int.from_bytes(file.read(4), "little")
        file.seek(size - footer)
        noted = b"PAR1" + file.read().replace(b"ARROW:schema", b"ARROW:ignore")
    known = parquet.read_metadata(pa.BufferReader(noted))
    return parquet.ParquetFile(path, metadata=known, coerce_int96_timestamp_unit="us")


def _feather(path: Path) -> Any:
    import pyarrow as pa
    from pyarrow import feather

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
