"""Results of statements: columns, rows as bytes, what a client is told that was done, and notices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from . import codec, values
from .codec import Field


@dataclass(frozen=True)
class Bound:
    """The parameters of a statement, and the formats that its result is wanted in."""

    values: tuple[bytes | None, ...] = ()
    types: tuple[int, ...] = ()
    formats: tuple[int, ...] = ()
    results: tuple[int, ...] = ()


@dataclass(frozen=True)
class Result:
    """What a statement gives; one without columns gives no rows."""

    tag: str
    fields: tuple[Field, ...] = ()
    rows: Sequence[Sequence[bytes | None]] = ()
    notices: tuple[str, ...] = ()
    reported: tuple[tuple[str, str], ...] = field(default=())  # settings that changed


def columns(kinds: Sequence[tuple[str, str]]) -> tuple[Field, ...]:
    """Columns of these names and types of answers."""
    return tuple(Field(name, oid := values.OF_KIND[kind], values.SIZES[oid]) for name, kind in kinds)


def table(
    fields: tuple[Field, ...], content: Sequence[Sequence[Any]], formats: Sequence[int], notices: tuple[str, ...] = ()
) -> Result:
    """A result of these columns of values."""
    forms = codec.spread(formats, len(fields))
    coded = [values.encoded(list(each), f.oid, form) for each, f, form in zip(content, fields, forms, strict=True)]
    rows = list(zip(*coded, strict=True))
    return Result(f"SELECT {len(rows)}", fields, rows, notices)
