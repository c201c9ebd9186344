"""Rehearsals: a question is answered on made-up rows, as it would be on the data, and the ledger is not touched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from threading import Lock

from ..engines.base import Engine
from ..engines.registry import engine_for
from ..query.plan.draw import Drawn, draw
from ..query.plan.offer import Offer
from ..query.python.table import DeclaredTable
from ..release import Provenance, Release
from ..storage import digest


class Rehearsal:
    """Made-up tables in an engine of their own, which is started by the first question."""

    def __init__(self, tables: Mapping[str, DeclaredTable]) -> None:
        self._tables, self._lock = tables, Lock()
        self._engine: Engine | None = None
        self._rows = 0

    def release(self, offer: Offer, provenance: Provenance, rows: int) -> Release:
        """One draw for an offer on so many rows of each table; what was drawn before has no say in it.

        What public facts answer is no rehearsal: the answer is the true one.
        """
        if offer.free:
            return Release.of(offer, Drawn(None, (), seeded=False), replace(provenance, rehearsal=False))
        with self._lock:
            answer = self._holding(rows).answer(offer.plan)
        return Release.of(offer, draw(offer, answer), provenance)

    def _holding(self, rows: int) -> Engine:
        """The engine with so many rows of each table."""
        if self._engine is None or rows != self._rows:
            tables = [table.rehearse(rows) for table in self._tables.values()]
            self._engine = engine_for(tables) if self._engine is None else self._engine
            for table in tables:
                self._engine.register(table, digest(("rehearsal", table.schema.name))[:32])
            self._rows = rows
        return self._engine

    def close(self) -> None:
        """Let go of the engine."""
        with self._lock:
            if self._engine is not None:
                self._engine.close()
                self._engine = None
