"""Sources of raw rows: files and tables in memory, each identified by a fingerprint of its content.

.parquet, .csv, .arrow, .feather     files, or several of them; no type is inferred from the text of a CSV, which may
                                     be compressed or in another encoding; an empty cell of it is missing
Arrow, pandas, Polars                anything with Arrow's stream protocol; pandas objects are read one by one
a list of dictionaries               cells of any type, also mixed
"""

from __future__ import annotations

import hashlib
import itertools
import math
import os
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import BadData
from ...query.schema.csv import Grammar, mapped, records, uniform
from ...query.schema.data import Files, ending, form
from ...query.schema.packing import UTF_8, is_plain, unpacked
from ...query.schema.schema import Schema
from ...query.values.cells import Canonical, row_text, steps, unit_text
from ...query.values.column_types import ColumnType
from .arrow_cells import cells, is_text, labelled, unicode

_CHUNK = 1 << 16  # rows of a CSV that are read at once


class DataSource:
    """Raw rows, of which only the columns that the schema names are read; several files are `parts`, one for each.

    The columns that are `settled` hold canonical values: their cells were of several types, and were read one by one.
    """

    def __init__(self, data: Any, schema: Schema) -> None:
        self.path = Path(data) if isinstance(data, str | os.PathLike) else None
        self.parts = [DataSource(path, schema) for path in data.paths] if isinstance(data, Files) else []
        self._schema = schema
        self.names = list(schema.names)
        self.settled: set[str] = set()
        self._data = self._rows_or_arrow(data)
        self._stat = self.path and _stat(self.path)
        self.fingerprint = self._hashed()

    @property
    def kind(self) -> str:
        """parquet, csv, arrow, rows, or files."""
        if self.parts:
            return "files"
        if self.path is not None:
            return form(self.path)
        return "rows" if isinstance(self._data, list | tuple) else "arrow"

    @property
    def on_disk(self) -> bool:
        """Whether the rows are in files."""
        return self.path is not None or bool(self.parts)

    def unchanged(self) -> bool:
        """Whether the files still have the content that was hashed; checked after they were read."""
        if self.parts:
            return all(part.unchanged() for part in self.parts)
        return self.path is None or (_stat(self.path) == self._stat and self._hashed() == self.fingerprint)

    @property
    def delimiter(self) -> str:
        """What stands between the fields of a CSV: what the schema says, or else a comma, or a tab in a .tsv file."""
        usual = "\t" if self.path is not None and ending(self.path).startswith(".tsv") else ","
        return self._schema.delimiter or usual

    @cached_property
    def grammar(self) -> Grammar:
        """The grammar of a CSV."""
        return Grammar(self.delimiter)

    @cached_property
    def text(self) -> Path:
        """The plain text of a CSV in UTF-8: the file itself, or what it unpacks to."""
        assert self.path is not None
        if is_plain(self.path, self._schema.encoding):
            return self.path
        file = unpacked(self.path, self._schema.encoding)
        weakref.finalize(self, file.close)
        return Path(f"/dev/fd/{file.fileno()}")

    @cached_property
    def header(self) -> list[str]:
        """The column names in the first line of a CSV."""
        with mapped(self.text) as content:
            names = [name or "" for name in next(records(content, self.grammar), [])]
        if not any(names):
            raise BadData(
                "the table",
                "a file without a header",
                "a CSV with a header",
                says="The CSV file must begin with a line of column names, in UTF-8.",
            )
        return self._checked(names)

    def uniform(self) -> bool:
        """Whether a CSV is so regular that a strict database reader reads it alike."""
        with mapped(self.text) as content:
            return uniform(content, len(self.header), self.grammar)

    def lines(self) -> Iterator[list[str | None]]:
        """The cells of a CSV; a blank line is no row, unless the file has a single column."""
        places = [self.header.index(name) for name in self.names]
        with mapped(self.text) as content:
            for line in itertools.islice(records(content, self.grammar), 1, None):
                if len(line) > 1 or line[0] != "" or len(self.header) == 1:
                    yield [(line[place] if place < len(line) else None) or None for place in places]

    def texts(self) -> Any:
        """The cells of a CSV as an Arrow table of text."""
        import pyarrow as pa

        if not self.names:
            return pa.table({"none": pa.nulls(sum(1 for _ in self.lines()), pa.int8())})
        schema, lines = pa.schema([(name, pa.string()) for name in self.names]), self.lines()
        tables = [schema.empty_table()]
        while some := list(itertools.islice(lines, _CHUNK)):
            columns = [pa.array(cells, pa.string()) for cells in zip(*some, strict=True)]  # in chunks, if they are long
            tables.append(pa.table(columns, schema=schema))
        return pa.concat_tables(tables)

    @cached_property
    def types(self) -> dict[str, tuple[Any, str]]:
        """The Arrow type and the physical type of each column of a Parquet file; only its footer is read."""
        path = self.path
        assert path is not None
        file = _read(lambda: _parquet(path))
        schema, leaves = file.schema_arrow, map(file.schema.column, range(len(file.schema)))
        self._checked(schema.names)
        stored = {leaf.path: leaf.physical_type for leaf in leaves}
        return {name: (schema.field(name).type, stored.get(name, "nested")) for name in self.names}

    def claims_all_missing(self) -> bool:
        """Whether the footer of a Parquet file claims that a column is missing throughout some row group."""
        path = self.path
        assert path is not None
        footer = _read(lambda: _parquet(path)).metadata
        groups = [group for i in range(footer.num_row_groups) if (group := footer.row_group(i)).num_rows]
        leaves = [i for i in range(footer.num_columns) if footer.schema.column(i).path in self.names]
        statistics = ((group.num_rows, group.column(i).statistics) for group in groups for i in leaves)
        return any(s is not None and s.has_null_count and s.null_count >= rows for rows, s in statistics)

    @cached_property
    def arrow(self) -> Any:
        """The columns as an Arrow table; text that is not valid UTF-8 is missing."""
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
        """The raw rows as Python mappings."""
        if self.parts:
            yield from itertools.chain.from_iterable(part.rows() for part in self.parts)
        elif self.kind == "rows":
            yield from self._data
        elif self.kind == "csv":
            yield from (dict(zip(self.names, cells, strict=True)) for cells in self.lines())
        else:
            columns = [(name, self._cells(name)) for name in self.names]
            yield from ({name: column[i] for name, column in columns} for i in range(len(self.arrow)))

    def _cells(self, name: str) -> list[object]:
        return [Canonical(v) for v in self.arrow[name].to_pylist()] if name in self.settled else cells(self.arrow[name])

    def _rows_or_arrow(self, data: Any) -> Any:
        """The data; a pandas frame becomes an Arrow table of the schema's columns, each converted by itself."""
        if isinstance(data, list | tuple) and not all(isinstance(row, Mapping) for row in data):
            raise BadData("the table", "a list of something else", "a list of dictionaries, one for each row")
        if not type(data).__module__.startswith("pandas"):
            return data
        import pyarrow as pa

        present = self._checked([str(name) for name in getattr(data, "columns", ())])
        kinds = dict(self._schema.columns)  # the unit is not among them
        columns = {}
        for name in self.names:
            columns[name], settled = _column(data.iloc[:, present.index(name)], kinds.get(name), self._schema.missing)
            self.settled |= {name} if settled else set()
        return pa.table(columns or {"none": pa.nulls(len(data), pa.int8())})

    def _checked(self, present: list[str]) -> list[str]:
        """The names, once it is clear that each column of the schema is among them exactly once."""
        there_once(self.names, present)
        return present

    def _meaning(self, row: Mapping[str, object]) -> str:
        """Everything that a query can see of a row, as text."""
        unit = None if self._schema.unit is None else unit_text(row.get(self._schema.unit), self._schema.missing)
        return row_text([unit, *(steps(row.get(name), column) for name, column in self._schema.columns)])

    def _hashed(self) -> str:
        if self.path is not None:
            with self.path.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
            how = (self._schema.delimiter, self._schema.encoding)
            if self.kind != "csv" or how == (None, UTF_8):
                return content
            return hashlib.sha256(f"{content} {how}".encode()).hexdigest()  # the same bytes, read otherwise
        digest = hashlib.sha256("\n".join(part.fingerprint for part in self.parts).encode())
        if self.parts:
            return digest.hexdigest()
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
    """Refuse data that lack a column, or that have two whose names differ only in case."""
    for name in names:
        if sum(name.casefold() == other.casefold() for other in present) != 1 or name not in present:
            raise BadData(
                "the table",
                f"none, or several, columns named {name!r}",
                "a table with the schema's columns",
                says=f"The table must have exactly one column named {name!r}, in upper or lower case as the schema "
                "has it; it has none, or several that differ only in case.",
            )


def _text_or_missing(value: object) -> bool:
    """Whether a pandas cell is text, or a marker of a missing value."""
    return type(value) is str or value is None or (type(value) is float and math.isnan(value))


def _column(series: Any, kind: ColumnType | None, missing: tuple[str, ...]) -> tuple[Any, bool]:
    """A pandas column in Arrow, and whether it is settled.

    Arrow would infer a type from all objects, so these are converted one by one.
    """
    import pyarrow as pa

    values = getattr(series.dtype, "categories", series)
    whole = kind is not None and (kind.type in ("category", "text") or bool(kind.reading.true))
    if whole and values.dtype.kind == "f":
        return _whole(series.to_numpy(np.float64, na_value=np.nan)), False
    typed = values.dtype.kind != "O" or hasattr(values.array, "__arrow_array__")
    if typed or all(map(_text_or_missing, values)):
        try:
            return pa.array(series, from_pandas=True), False
        except (pa.ArrowException, TypeError, ValueError):  # a type that Arrow lacks, or invalid Unicode
            pass
    return labelled(series, kind, missing)


def _whole(values: NDArray[np.float64]) -> Any:
    """Floats as the integers they were before pandas converted a column with a missing value; others are missing."""
    import pyarrow as pa

    whole = (np.abs(values) < 2.0**63) & (values == np.floor(values))
    return pa.array(np.where(whole, values, 0).astype(np.int64), mask=~whole)


def _read(read: Callable[[], Any]) -> Any:
    """Call `read`; if Arrow fails, raise an error that says nothing about the data."""
    import pyarrow as pa

    try:
        return read()
    except (pa.ArrowException, OSError, TypeError, AttributeError, ValueError):
        pass
    raise BadData(
        "the table",
        "data that Arrow cannot read",
        "Parquet, CSV, Arrow, pandas, Polars or a list of dictionaries",
        says="Arrow cannot read this table. Give Parquet, CSV, Arrow, pandas, Polars or a list of dictionaries.",
    )


def _parquet(path: Path) -> Any:
    """Open a Parquet file with the types of the format alone, as a database sees them.

    The Arrow schema in the footer is ignored: with it, Arrow would refuse a dictionary in which one text is not valid
    UTF-8.  Timestamps of 96 bits are read in microseconds, since nanoseconds end with the year 2262.
    """
    import pyarrow as pa
    from pyarrow import parquet

    with path.open("rb") as file:
        size = file.seek(-8, os.SEEK_END)
        footer = int.from_bytes(file.read(4), "little")
        file.seek(size - footer)
        without_arrow_schema = b"PAR1" + file.read().replace(b"ARROW:schema", b"ARROW:ignore")
    metadata = parquet.read_metadata(pa.BufferReader(without_arrow_schema))
    return parquet.ParquetFile(path, metadata=metadata, coerce_int96_timestamp_unit="us")


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
    """A writable file that only hashes what is written to it."""

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
