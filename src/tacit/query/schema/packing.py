"""CSV files that are compressed, or in another encoding than UTF-8: their plain text.

The plain text goes into a temporary file without a name, which is gone as soon as nobody has it open, even if the
process is killed.  A byte that the encoding does not have becomes one that UTF-8 does not have, so that, as in a file
in UTF-8, it makes its own cell missing and no other.
"""

from __future__ import annotations

import codecs
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from ...core.errors import BadData

UTF_8 = "utf-8"
ENCODINGS = (UTF_8, "utf-16", "latin-1", "cp1252", "iso-8859-15", "cp1250", "cp1251", "shift_jis", "gb18030")
PACKED = {".gz": "gzip", ".zst": "zstd"}  # endings, and the names of their compressions
_CHUNK = 1 << 20  # bytes
_INVALID = "tacit.invalid"
codecs.register_error(_INVALID, lambda error: ("\udcff", error.end))  # type: ignore[attr-defined]


def is_plain(path: Path, encoding: str) -> bool:
    """Whether a file needs no unpacking: it is neither compressed nor in another encoding than UTF-8."""
    return encoding == UTF_8 and path.suffix.lower() not in PACKED


def unpacked(path: Path, encoding: str) -> IO[bytes]:
    """The plain text of a file, in UTF-8, in a temporary file that vanishes when it is closed."""
    with ExitStack() as failing:
        file = failing.enter_context(tempfile.TemporaryFile())
        file.writelines(_plain_parts(path, encoding))
        file.flush()
        failing.pop_all()  # from here on its reader closes it
        return file


def beginning(path: Path, encoding: str, least: int = _CHUNK) -> bytes:
    """The first bytes of the plain text of a file: at least so many, or all."""
    text = b""
    for part in _plain_parts(path, encoding):
        text += part
        if len(text) >= least:
            break
    return text


def _plain_parts(path: Path, encoding: str) -> Iterator[bytes]:
    decoder = None if encoding == UTF_8 else codecs.getincrementaldecoder(encoding)(_INVALID)
    for part in _bytes(path):
        yield part if decoder is None else decoder.decode(part).encode("utf-8", "surrogateescape")
    if decoder is not None:
        yield decoder.decode(b"", final=True).encode("utf-8", "surrogateescape")


def _bytes(path: Path) -> Iterator[bytes]:
    """The content of a file, unpacked; an error says nothing about it."""
    import pyarrow as pa

    broken = False
    with path.open("rb") as file:
        stream = file
        if how := PACKED.get(path.suffix.lower()):
            stream = pa.CompressedInputStream(file, how)
        while not broken:
            try:
                part = stream.read(_CHUNK)
            except (OSError, pa.ArrowException):
                broken = True
                continue
            if not part:
                return
            yield part
    raise BadData(
        "the table",
        "a compressed file that is broken",
        "a complete file",
        says="The compressed file cannot be unpacked. Check that it is complete, and compressed as its ending says.",
    )
