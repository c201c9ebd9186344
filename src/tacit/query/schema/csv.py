"""RFC 4180 parsing of CSV; a malformed line affects only its own row.

A record is fields with commas between them, up to the end of a line.  A field that begins with a quote ends with one,
has its own quotes doubled, and may hold commas and ends of lines.  A space before it, or some after it, are dropped; it
may also be of several such parts with spaces between them, which stay.  A quote within any other field is itself.
Where this does not fit, because a quote is not closed or is followed by more, the line is split at its commas and its
quotes stay, and the next record begins with the next line.  Text that is not UTF-8 is missing.

A line that leaves a quote open is followed to the next such line and no further, so parsing takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from mmap import ACCESS_READ, mmap
from pathlib import Path

_FIELD = rb'(?: ?+"[^"]*+(?:" *+"[^"]*+)*+" *+|(?! ?+")[^,\r\n]*+)'
_END = rb"(\r\n|\n|\r|\Z)"
_RECORD = re.compile(rb"((?:%s,)*+%s)%s" % (_FIELD, _FIELD, _END))
_LINE = re.compile(rb"([^\r\n]*+)%s" % _END)
_FIELDS = re.compile(rb"(?:\A|,)(%s)" % _FIELD)
_QUOTE = re.compile(rb'"(.?)', re.DOTALL)
_MARK = b"\xef\xbb\xbf"  # of UTF-8, which some programs write first
Bytes = bytes | mmap


@contextmanager
def mapped(path: Path) -> Iterator[Bytes]:
    """The content of a file, mapped into memory."""
    with path.open("rb") as file:
        if not path.stat().st_size:
            yield b""
            return
        with mmap(file.fileno(), 0, access=ACCESS_READ) as content:
            yield content


def records(content: Bytes) -> Iterator[list[str | None]]:
    """The fields of each record; a blank line is one empty field."""
    at, end = _start(content), len(content)
    while at < end:
        record, _, after = _record(content, at)
        yield [_text(field) for field in record]
        at = after


def uniform(content: Bytes, columns: int) -> bool:
    """Whether a database can read the file: the header is well-formed and all lines have one kind of ending."""
    if not _RECORD.match(content, _start(content)):
        return False
    _, ending, _ = _record(content, _start(content))
    if ending == b"\r\n":
        return _count(content, b"\r\n") == _count(content, b"\r")
    return ending != b"\r" and (columns > 1 or content.find(b"\r") < 0)


def _start(content: Bytes) -> int:
    return len(_MARK) if content[: len(_MARK)] == _MARK else 0


def _record(content: Bytes, at: int) -> tuple[list[bytes], bytes, int]:
    """The fields of a record, how it ends, and where the next one begins."""
    if (found := _RECORD.match(content, at)) and b'"' in found[1]:
        return [_plain(field) for field in _FIELDS.findall(found[1])], found[2], found.end()
    found = found or _LINE.match(content, at)
    assert found is not None  # a line may be empty
    return found[1].split(b","), found[2], found.end()


def _plain(field: bytes) -> bytes:
    inner = field.removeprefix(b" ").rstrip(b" ")
    return _QUOTE.sub(rb"\1", inner[1:-1]) if inner[:1] == b'"' else field


def _text(field: bytes) -> str | None:
    try:
        return field.decode()
    except UnicodeDecodeError:
        return None


def _count(content: Bytes, what: bytes) -> int:
    size = 1 << 24
    parts = range(0, len(content), size)
    return sum(content[at : at + size + len(what) - 1].count(what) for at in parts)
