"""Rows as COPY sends them: in text, one line for each row; or in binary.

References.  PostgreSQL documentation, "COPY", file formats.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from . import codec

_ESCAPED = {ord("\\"): "\\\\", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r"}
_SIGNATURE = b"PGCOPY\n\xff\r\n\0" + bytes(8)  # no flags, no extension
_END = b"\xff\xff"


def copied(rows: Sequence[Sequence[bytes | None]], form: str) -> Iterator[bytes]:
    """The messages of a copy, each with a row."""
    if form == "binary":
        parts = [*map(codec.row, rows), _END]
        yield codec.copy_data(_SIGNATURE + parts[0])  # clients expect the first row with it
        yield from map(codec.copy_data, parts[1:])
        return
    for row in rows:
        cells = (b"\\N" if value is None else value.decode().translate(_ESCAPED).encode() for value in row)
        yield codec.copy_data(b"\t".join(cells) + b"\n")
