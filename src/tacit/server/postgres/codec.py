"""PostgreSQL's protocol, version 3: messages of clients as values, and messages of the server as bytes.

    client   a type, the length of the rest, the rest; before the session begins there is no type
    server   the same

Nothing here reads from a socket.  A message whose lengths and counts do not add up exactly is a `ProtocolError`, which
ends its connection.

References.  PostgreSQL documentation, "Message Formats".
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

VERSION, CANCEL, TLS, GSS = 3 << 16, 80877102, 80877103, 80877104  # what the first message of a connection asks for
_INT16, _INT32 = struct.Struct("!h"), struct.Struct("!i")
_FIELD = struct.Struct("!ihihih")  # table, column, type, size, modifier, format
_NULL = _INT32.pack(-1)


class ProtocolError(Exception):
    """A message that no client sends."""


@dataclass(frozen=True)
class Startup:
    """The first message: what is asked for, and the parameters of a session or the key of a cancellation."""

    code: int
    parameters: Mapping[str, str]
    key: tuple[int, int] | None = None


@dataclass(frozen=True)
class Parse:
    """Prepare a statement; a type of 0 is for the server to choose."""

    name: str
    sql: str
    types: tuple[int, ...]


@dataclass(frozen=True)
class Bind:
    """Give a prepared statement its parameters; formats are 0 for text and 1 for binary."""

    portal: str
    statement: str
    formats: tuple[int, ...]
    values: tuple[bytes | None, ...]
    results: tuple[int, ...]


@dataclass(frozen=True)
class Named:
    """Describe or close a statement (S) or a portal (P)."""

    kind: str
    name: str


@dataclass(frozen=True)
class Execute:
    """Run a portal, for at most so many rows; 0 is all of them."""

    portal: str
    most: int


@dataclass(frozen=True)
class Field:
    """A column of a result."""

    name: str
    oid: int
    size: int = -1
    modifier: int = -1
    table: int = 0
    column: int = 0


class _Reader:
    """Reads the rest of a message from its beginning to exactly its end."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def _take(self, count: int) -> bytes:
        if count < 0 or self._at + count > len(self._data):
            raise ProtocolError("a message is shorter than it says")
        self._at += count
        return self._data[self._at - count : self._at]

    def int16(self) -> int:
        return int(_INT16.unpack(self._take(2))[0])

    def int32(self) -> int:
        return int(_INT32.unpack(self._take(4))[0])

    def count(self) -> int:
        """A number of things, of which each takes two bytes at least."""
        number = int(struct.unpack("!H", self._take(2))[0])
        if 2 * number > len(self._data) - self._at:
            raise ProtocolError("a message has fewer parts than it says")
        return number

    def text(self) -> str:
        end = self._data.find(b"\0", self._at)
        if end < 0:
            raise ProtocolError("a text does not end")
        try:
            return self._take(end - self._at + 1)[:-1].decode()
        except UnicodeDecodeError:
            raise ProtocolError("a text is not UTF-8") from None

    def value(self) -> bytes | None:
        length = self.int32()
        return None if length == -1 else self._take(length)

    def byte(self) -> str:
        return chr(self._take(1)[0])

    @property
    def done(self) -> bool:
        return self._at == len(self._data)

    def end(self) -> None:
        if not self.done:
            raise ProtocolError("a message is longer than it says")


def startup(data: bytes) -> Startup:
    """The first message of a connection, without its length."""
    read = _Reader(data)
    code = read.int32()
    if code == CANCEL:
        key = read.int32(), read.int32()
        read.end()
        return Startup(code, {}, key)
    parameters: dict[str, str] = {}
    if code >> 16 == VERSION >> 16:
        while name := read.text():
            parameters[name] = read.text()
    read.end()
    return Startup(code, parameters)


def text(data: bytes) -> str:
    """The one text of a message: a query, or a password."""
    read = _Reader(data)
    found = read.text()
    read.end()
    return found


def parse(data: bytes) -> Parse:
    read = _Reader(data)
    found = Parse(read.text(), read.text(), tuple(read.int32() for _ in range(read.count())))
    read.end()
    return found


def bind(data: bytes) -> Bind:
    read = _Reader(data)
    portal, statement = read.text(), read.text()
    formats = tuple(read.int16() for _ in range(read.count()))
    values = tuple(read.value() for _ in range(read.count()))
    results = tuple(read.int16() for _ in range(read.count()))
    read.end()
    if {*formats, *results} - {0, 1} or len(formats) not in (0, 1, len(values)):
        raise ProtocolError("a format is neither text nor binary")
    return Bind(portal, statement, formats, values, results)


def named(data: bytes) -> Named:
    read = _Reader(data)
    found = Named(read.byte(), read.text())
    read.end()
    if found.kind not in "SP":
        raise ProtocolError("only statements and portals have names")
    return found


def execute(data: bytes) -> Execute:
    read = _Reader(data)
    found = Execute(read.text(), read.int32())
    read.end()
    return found


def spread(formats: Sequence[int], count: int) -> tuple[int, ...]:
    """A format for each of so many values: none given is text, one is that of all."""
    if len(formats) not in (0, 1, count):
        raise ProtocolError("there are not as many formats as values")
    return tuple(formats) if len(formats) == count else tuple(formats or (0,)) * count


def message(kind: bytes, content: bytes = b"") -> bytes:
    """A message of the server."""
    return kind + _INT32.pack(len(content) + 4) + content


def _text(words: str) -> bytes:
    return words.replace("\0", "").encode("utf-8", "replace") + b"\0"


AUTHENTICATED = message(b"R", _INT32.pack(0))
CLEARTEXT_PASSWORD = message(b"R", _INT32.pack(3))
PARSED, BOUND, CLOSED, NO_DATA = message(b"1"), message(b"2"), message(b"3"), message(b"n")
SUSPENDED, EMPTY, COPY_DONE = message(b"s"), message(b"I"), message(b"c")


def parameter(name: str, value: str) -> bytes:
    return message(b"S", _text(name) + _text(value))


def newest_version(unknown: Sequence[str]) -> bytes:
    """The newest minor version that is spoken here, and the options of the protocol that are not known."""
    return message(b"v", struct.pack("!ii", 0, len(unknown)) + b"".join(map(_text, unknown)))


def key(process: int, secret: int) -> bytes:
    return message(b"K", struct.pack("!ii", process, secret))


def ready(state: bytes) -> bytes:
    return message(b"Z", state)


def complete(tag: str) -> bytes:
    return message(b"C", _text(tag))


def error(fields: Mapping[str, str], *, notice: bool = False) -> bytes:
    """An error or a notice, by the letters of its parts."""
    parts = b"".join(letter.encode() + _text(words) for letter, words in fields.items())
    return message(b"N" if notice else b"E", parts + b"\0")


def parameter_types(types: Sequence[int]) -> bytes:
    return message(b"t", struct.pack(f"!H{len(types)}I", len(types), *types))


def row_description(fields: Sequence[Field], formats: Sequence[int]) -> bytes:
    parts = [
        _text(f.name) + _FIELD.pack(f.table, f.column, f.oid, f.size, f.modifier, form)
        for f, form in zip(fields, formats, strict=True)
    ]
    return message(b"T", struct.pack("!H", len(parts)) + b"".join(parts))


def row(values: Sequence[bytes | None]) -> bytes:
    """A row without its type and length: also a row of a binary copy."""
    parts = [_NULL if value is None else _INT32.pack(len(value)) + value for value in values]
    return struct.pack("!H", len(values)) + b"".join(parts)


def rows(values: Iterable[Sequence[bytes | None]]) -> bytes:
    return b"".join(message(b"D", row(each)) for each in values)


def copy_out(columns: int, form: int) -> bytes:
    return message(b"H", struct.pack(f"!bH{columns}H", form, columns, *([form] * columns)))


def copy_data(content: bytes) -> bytes:
    return message(b"d", content)
