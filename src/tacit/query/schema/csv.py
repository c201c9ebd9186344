"""RFC 4180 parsing of CSV; a malformed line affects only its own row.

A record is fields with commas between them, or another delimiter, up to the end of a line.  A field that begins with a
quote ends with one, has its own quotes doubled, and may hold delimiters and ends of lines.  A space before it, or some
after it, are dropped; it may also be of several such parts with spaces between them, which stay.  A quote within any
other field is itself.  Where this does not fit, because a quote is not closed or is followed by more, the line is split
at its delimiters and its quotes stay, and the next record begins with the next line.  Text that is not UTF-8 is
missing.

A line that leaves a quote open is followed to the next such line and no further, so parsing takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import NamedTuple

DELIMITERS = (",", ";", "\t", "|")
_END = rb"(\r\n|\n|\r|\Z)"
_LINE = re.compile(rb"([^\r\n]*+)%s" % _END)
_QUOTE = re.compile(rb'"(.?)', re.DOTALL)
_MARK = b"\xef\xbb\xbf"  # of UTF-8, which some programs write first
Bytes = bytes | mmap


class Record(NamedTuple):
    """The fields of a record, how it ends, where the next one begins, and whether its quotes fit."""

    fields: list[bytes]
    ending: bytes
    after: int
    regular: bool


class Grammar:
    """The grammar of records with one delimiter between fields."""

    def __init__(self, delimiter: str = ",") -> None:
        self.delimiter = delimiter.encode()
        mark = re.escape(self.delimiter)
        field = rb'(?: ?+"[^"]*+(?:" *+"[^"]*+)*+" *+|(?! ?+")[^%s\r\n]*+)' % mark
        self._record = re.compile(rb"((?:%s%s)*+%s)%s" % (field, mark, field, _END))
        self._fields = re.compile(rb"(?:\A|%s)(%s)" % (mark, field))

    def record(self, content: Bytes, at: int) -> Record:
        """The record at this place."""
        found = self._record.match(content, at)
        if found and b'"' in found[1]:
            return Record([_plain(f) for f in self._fields.findall(found[1])], found[2], found.end(), True)
        line = found or _LINE.match(content, at)
        assert line is not None  # a line may be empty
        return Record(line[1].split(self.delimiter), line[2], line.end(), found is not None)


COMMAS = Grammar()


@contextmanager
def mapped(path: Path) -> Iterator[Bytes]:
    """The content of a file, mapped into memory."""
    with path.open("rb") as file:
        if not path.stat().st_size:
            yield b""
            return
        with mmap(file.fileno(), 0, access=ACCESS_READ) as content:
            yield content


def start(content: Bytes) -> int:
    """Where the first record begins: after the mark of UTF-8, if there is one."""
    return len(_MARK) if content[: len(_MARK)] == _MARK else 0


def records(content: Bytes, grammar: Grammar = COMMAS) -> Iterator[list[str | None]]:
    """The fields of each record; a blank line is one empty field."""
    at, end = start(content), len(content)
    while at < end:
        record = grammar.record(content, at)
        yield [text(field) for field in record.fields]
        at = record.after


def uniform(content: Bytes, columns: int, grammar: Grammar = COMMAS) -> bool:
    """Whether a database can read the file: the header is well-formed and all lines have one kind of ending."""
    header = grammar.record(content, start(content))
    if not header.regular:
        return False
    if header.ending == b"\r\n":
        return _count(content, b"\r\n") == _count(content, b"\r")
    return header.ending != b"\r" and (columns > 1 or content.find(b"\r") < 0)


def _plain(field: bytes) -> bytes:
    inner = field.removeprefix(b" ").rstrip(b" ")
    return _QUOTE.sub(rb"\1", inner[1:-1]) if inner[:1] == b'"' else field


def text(field: bytes) -> str | None:
    """A field as text; missing if it is not UTF-8."""
    try:
        return field.decode()
    except UnicodeDecodeError:
        return None


def _count(content: Bytes, what: bytes) -> int:
    size = 1 << 24
    parts = range(0, len(content), size)
    return sum(content[at : at + size + len(what) - 1].count(what) for at in parts)
