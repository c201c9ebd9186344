"""tacit.history and tacit.offers as tables: SELECT of columns, with ORDER BY and LIMIT."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from ..service import Access, Service, records
from .codec import Field
from .errors import SqlError
from .layouts import OWN
from .results import Result, columns, table
from .session import Session

_KINDS = {"bigint": "integer", "double precision": "real", "timestamp": "timestamp", "boolean": "boolean"}
_MOST = 1000  # rows
_SELECT = re.compile(
    r"select\s+(\*|[\w\s,\"]+?)\s+from\s+\"?tacit\"?\.\"?(\w+)\"?(?:\s+(?:as\s+)?(?!order|limit)\w+)?"
    r"(?:\s+order\s+by\s+\"?(\w+)\"?(\s+asc|\s+desc)?)?(?:\s+limit\s+([0-9]{1,9}))?\s*\Z",
    re.IGNORECASE,
)


def _read(text: str) -> tuple[str, list[tuple[int, str, str]], re.Match[str]]:
    """The table, and of each column that is asked for its place, its name and its type."""
    found = _SELECT.match(text)
    if found is None or (name := found[2].lower()) not in OWN:
        says = "tacit.history and tacit.offers are read by SELECT of columns, with ORDER BY one of them and LIMIT."
        raise SqlError("0A000", says, "Write SELECT * FROM tacit.history LIMIT 10.")
    known = [column for column, _, _ in OWN[name]]
    asked = known if found[1] == "*" else [part.strip().strip('"').lower() for part in found[1].split(",")]
    if unknown := [column for column in asked if column not in known]:
        raise SqlError(
            "42703", f"tacit.{name} has no such column.", f"It has {', '.join(known)}.", text.find(unknown[0]) + 1
        )
    return name, [(known.index(c), c, _KINDS.get(OWN[name][known.index(c)][1], "text")) for c in asked], found


def fields_of(text: str) -> tuple[Field, ...]:
    """The columns of a SELECT."""
    return columns([(name, kind) for _, name, kind in _read(text)[1]])


def select(service: Service, access: Access, text: str, session: Session, formats: Sequence[int]) -> Result:
    """The rows of a SELECT."""
    name, asked, found = _read(text)
    rows = list(session.offers) if name == "offers" else _history(service, access)
    if found[3]:
        known = [column for column, _, _ in OWN[name]]
        if found[3].lower() not in known:
            raise SqlError("42703", f"tacit.{name} has no such column.", f"It has {', '.join(known)}.")
        at = known.index(found[3].lower())
        rows.sort(key=lambda row: row[at], reverse=(found[4] or "").strip().lower() == "desc")
    rows = rows[: int(found[5])] if found[5] else rows
    return table(fields_of(text), [[row[place] for row in rows] for place, _, _ in asked], formats)


def _history(service: Service, access: Access) -> list[tuple[Any, ...]]:
    limit = service.curator(access).budget.limit
    lines = []
    for record in records.history(service, access, before=None, count=_MOST):
        charge, price = record.charge, float(record.price)
        moment = datetime.fromisoformat(charge.time).astimezone(UTC).replace(tzinfo=None)
        share = float(Fraction(record.price) / limit) if price < float("inf") else 1.0
        what = charge.purpose.kind, charge.purpose.description
        lines.append((charge.seq, moment, charge.analyst, *what, price, share, charge.hash))
    return lines
