"""Values in the types of PostgreSQL: those of answers as bytes, in text and in binary, and parameters as SQL literals.

A parameter becomes a literal of its type, in tacit's SQL: a number is written out in digits, text is quoted, and a
value that is not of its type is refused.  So no text of a parameter is ever read as SQL.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from .errors import SqlError

BOOL, NAME, INT8, INT2, INT4, TEXT, OID, FLOAT4, FLOAT8 = 16, 19, 20, 21, 23, 25, 26, 700, 701
UNKNOWN, BPCHAR, VARCHAR, DATE, TIMESTAMP, TIMESTAMPTZ, NUMERIC = 705, 1042, 1043, 1082, 1114, 1184, 1700
OF_KIND = {"integer": INT8, "real": FLOAT8, "boolean": BOOL, "text": TEXT, "date": DATE, "timestamp": TIMESTAMP}
SIZES = {INT8: 8, FLOAT8: 8, BOOL: 1, TEXT: -1, DATE: 4, TIMESTAMP: 8}
NAMES = {"smallint": INT2, "int2": INT2, "int": INT4, "integer": INT4, "int4": INT4, "bigint": INT8, "int8": INT8}
NAMES |= {"float": FLOAT8, "double": FLOAT8, "float8": FLOAT8, "real": FLOAT4, "float4": FLOAT4, "numeric": NUMERIC}
NAMES |= {"decimal": NUMERIC, "text": TEXT, "varchar": VARCHAR, "bool": BOOL, "boolean": BOOL, "date": DATE}
NAMES |= {"timestamp": TIMESTAMP, "timestamptz": TIMESTAMPTZ}
_INTEGERS = {INT2: "!h", INT4: "!i", INT8: "!q", OID: "!I"}
_FLOATS = {FLOAT4: "!f", FLOAT8: "!d"}
_TEXTS = (TEXT, NAME, UNKNOWN, BPCHAR, VARCHAR)
_EPOCH = datetime(2000, 1, 1)  # from which days and microseconds are counted
_TRUE, _FALSE = ("t", "true", "y", "yes", "on", "1"), ("f", "false", "n", "no", "off", "0")
_LARGEST = 400  # digits of a number before the point, and behind it


def _real(x: float) -> str:
    return repr(float(x)).removesuffix(".0")


_AS_TEXT: dict[int, Callable[[Any], str]] = {
    INT8: str,
    FLOAT8: _real,
    BOOL: lambda truth: "t" if truth else "f",
    TEXT: str,
    DATE: lambda day: day.isoformat(),
    TIMESTAMP: lambda moment: moment.isoformat(" "),
}
_AS_BINARY: dict[int, Callable[[Any], bytes]] = {
    INT8: struct.Struct("!q").pack,
    FLOAT8: struct.Struct("!d").pack,
    BOOL: lambda truth: b"\1" if truth else b"\0",
    TEXT: lambda words: str(words).encode(),
    DATE: lambda day: struct.pack("!i", (day - _EPOCH.date()).days),
    TIMESTAMP: lambda moment: struct.pack("!q", (moment - _EPOCH) // timedelta(microseconds=1)),
}


def encoded(values: list[Any], oid: int, form: int) -> list[bytes | None]:
    """A column of values, each in text (0) or binary (1)."""
    if form:
        pack = _AS_BINARY[oid]
        return [None if value is None else pack(value) for value in values]
    write = _AS_TEXT[oid]
    return [None if value is None else write(value).encode() for value in values]


def literal(value: bytes | None, oid: int, form: int) -> str:
    """A parameter as a literal of SQL."""
    if value is None:
        return "NULL"
    try:
        return _literal(_binary(value, oid) if form else value.decode(), oid)
    except (ArithmeticError, ValueError, UnicodeDecodeError, struct.error):
        raise SqlError("22P02", "A parameter is not a value of its type.") from None


def _literal(value: Any, oid: int) -> str:
    if oid in _TEXTS:
        return _quoted(str(value))
    if oid in _INTEGERS:
        return _number(Decimal(int(value)))
    if oid in _FLOATS or oid == NUMERIC:
        return _number(Decimal(repr(value) if isinstance(value, float) else str(value).strip()))
    if oid == BOOL:
        word = str(value).strip().lower()
        if word not in (*_TRUE, *_FALSE):
            raise ValueError
        return "TRUE" if word in _TRUE else "FALSE"
    if oid == DATE:
        day = value if isinstance(value, date) else date.fromisoformat(value.strip())
        return f"DATE '{day.isoformat()}'"
    if oid in (TIMESTAMP, TIMESTAMPTZ):
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(value.strip())
        if moment.tzinfo is not None:
            moment = moment.astimezone(UTC).replace(tzinfo=None)
        return f"TIMESTAMP '{moment.isoformat(' ')}'"
    raise SqlError(
        "0A000", "A parameter has a type that questions do not know.", "Pass numbers, texts, dates or truths."
    )


def _quoted(words: str) -> str:
    if "\0" in words:
        raise ValueError
    return "'" + words.replace("'", "''") + "'"


def _number(x: Decimal) -> str:
    if not x.is_finite() or abs(x.adjusted()) > _LARGEST or len(x.as_tuple().digits) > _LARGEST:
        raise InvalidOperation
    return f"({x:f})" if x < 0 else f"{x:f}"


def _binary(value: bytes, oid: int) -> Any:
    """A parameter that was sent in binary."""
    if oid in _INTEGERS:
        return struct.unpack(_INTEGERS[oid], value)[0]
    if oid in _FLOATS:
        return struct.unpack(_FLOATS[oid], value)[0]
    if oid == NUMERIC:
        return _numeric(value)
    if oid == BOOL:
        return "t" if struct.unpack("!?", value)[0] else "f"
    if oid == DATE:
        return _EPOCH.date() + timedelta(days=struct.unpack("!i", value)[0])
    if oid in (TIMESTAMP, TIMESTAMPTZ):
        return _EPOCH + timedelta(microseconds=struct.unpack("!q", value)[0])
    return value.decode()


def _numeric(value: bytes) -> Decimal:
    """Digits to the base 10,000, the weight of the first, a sign."""
    count, weight, sign, _ = struct.unpack_from("!HhHH", value)
    digits = struct.unpack(f"!{count}H", value[8:])
    if sign not in (0, 0x4000) or any(digit >= 10_000 for digit in digits) or abs(weight) > _LARGEST:
        raise ValueError
    whole = int("".join(f"{digit:04}" for digit in digits) or "0")
    return Decimal(-whole if sign else whole).scaleb(4 * (weight - count + 1))
