"""What tools tell an agent: every number with its interval, its price, and the hash by which it can be verified."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..query.plan.answer_schema import answer_schema
from ..release.export import sentence

if TYPE_CHECKING:
    from ..client import RemoteCurator
    from ..curator import Curator
    from ..query.plan.offer import Offer
    from ..release import Release

MOST_ROWS = 1000  # of one answer; an agent reads every one of them


def offered(offer: Offer, curator: Curator | RemoteCurator) -> dict[str, Any]:
    """What a question costs, and how accurate its answer is."""
    return {
        "free": bool(offer.bought),
        "share_of_budget": 0.0 if offer.bought else float(Fraction(offer.price) / curator.budget.limit),
        "affordable": bool(offer.bought) or curator.covers(offer),
        "columns": [{"name": name, "type": kind} for name, kind in offer.schema],
        "accuracy": [f"{each.name}: {each}" for each in offer.errors if each.theorem],
        "confidence": float(1 - offer.beta),
        "says": str(offer),
    }


def answered(release: Release) -> dict[str, Any]:
    """The rows of an answer; noisy values with the ends of their intervals."""
    columns, noisy = release.columns, release.noisy_names - release.ranks().keys()
    schema = answer_schema(release.query, release.recipes)
    cells = {
        name: _with_ends(columns[name]) if name in noisy and kind in ("integer", "real") else columns[name].tolist()
        for name, kind in schema
    }
    rows = [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]
    return {
        "rows": rows[:MOST_ROWS],
        "rows_left_out": max(0, len(rows) - MOST_ROWS),
        "confidence": float(1 - release.beta),
        "says": sentence(release),
        "entry": release.provenance.entry_hash,
    }


def _with_ends(column: Any) -> list[dict[str, float | None]]:
    ends = zip(column.tolist(), column.lower.tolist(), column.upper.tolist(), strict=True)
    return [{"value": value, "low": _finite(low), "high": _finite(high)} for value, low, high in ends]


def _finite(x: float) -> float | None:
    return x if math.isfinite(x) else None


def left(curator: Curator | RemoteCurator) -> dict[str, Any]:
    """What is left to who asks."""
    remaining = Fraction(curator.remaining)
    return {
        "budget": str(curator.budget),
        "left": float(remaining),
        "share_left": float(remaining / curator.budget.limit),
    }


def described(curator: Curator | RemoteCurator) -> dict[str, Any]:
    """The public facts of the tables, as the custodian wrote them; nothing here was read from the data."""
    tables = {name: table.schema.dumps() for name, table in curator.tables.items()}
    return {"tables": tables, "lookups": sorted(curator.public), **left(curator)}
