"""Private tables that an engine holds under a ledger: read when they are first needed, and known by their versions.

A ledger keeps what must never change between processes: a secret, by which rows are chosen and questions are named;
whom it protects; and what the tables held first, as parts are paid for apart only while every unit stays in its own.
"""

from __future__ import annotations

import hmac
import os
from collections.abc import Collection, Mapping
from functools import cached_property
from threading import Lock
from typing import Self

from ..core.accounting.budget import Budget
from ..core.accounting.loss import zero
from ..core.errors import BadParameter, EngineUnavailable, LedgerConflict
from ..core.parameters import Number, rational
from ..core.randomness import SYSTEM
from ..engines.base import Answer, Engine
from ..engines.registry import chosen, engine_for
from ..ledger import Ledger
from ..query.plan.plan import Plan
from ..query.python.table import Table
from ..query.relation import partition_pruning
from ..query.relation.relation import Relation
from ..query.schema.draft import suited
from ..query.schema.schema import Schema
from ..storage import canonical, digest


class Holding:
    """The private tables by their names: the ledger belongs to the first of them, and all protect the same unit."""

    def __init__(
        self,
        tables: Mapping[str, Table],
        ledger: Ledger | str | os.PathLike[str],
        budget: Budget | None,
        engine: Engine | str | None,
        least_share: Number | None = None,
    ) -> None:
        if not isinstance(engine, Engine | str | None):
            raise BadParameter("engine", engine, "an engine, or its name")
        for table in tables.values():
            table.check()
        if not isinstance(engine, Engine):
            self._told = chosen(list(tables.values()), engine)
        self.tables, self.table = tables, next(iter(tables.values()))
        if not isinstance(ledger, Ledger):
            ledger = Ledger.open(ledger, budget, self.table.schema.name, least_share=least_share)
        self.ledger = ledger
        if self.ledger.dataset != self.table.schema.name:
            raise BadParameter("table", self.table.schema.name, f"{self.ledger.dataset!r}, of which this ledger is")
        if budget not in (None, self.ledger.budget):
            raise BadParameter("budget", budget, f"{self.ledger.budget}, with which this ledger was opened")
        if least_share is not None and rational("least_share", least_share) != ledger.least_share:
            raise BadParameter("least_share", least_share, f"{ledger.least_share}, with which this ledger was opened")
        self._engine, self._reading = engine if isinstance(engine, Engine) else None, Lock()
        self._registered = self._closed = False

    @property
    def _schemas(self) -> dict[str, Schema]:
        return {name: table.schema for name, table in self.tables.items()}

    def key(self, question: object) -> str:
        """The name of a question about these versions of the tables.

        What they hold has no say in it: else whether a question is free would tell whether anybody's rows have changed.
        """
        self.read_tables()  # what cannot be read is refused before anything is charged
        return self._keyed("question", canonical((question, self._versions)))

    @cached_property
    def _versions(self) -> tuple[tuple[str, str], ...]:
        return tuple((name, schema.version or "") for name, schema in sorted(self._schemas.items()))

    def _keyed(self, purpose: str, text: str) -> str:
        return hmac.new(self._secret, f"{purpose} {text}".encode(), "sha256").hexdigest()

    def parts(self, relation: Relation) -> tuple[str, ...] | None:
        """The public parts of the partitioned table that a question about these rows can touch; None is all."""
        schema = self.table.schema
        if schema.partition is None or (self._registered and not self._first(self.engine.fingerprint())):
            return None
        steps = partition_pruning.touched(relation, schema.name, schema.partition)
        labels = schema.domain(schema.partition).labels
        return tuple(f"{schema.partition}={labels[step]}" for step in sorted(steps)) if steps else None

    def exact(self, plan: Plan, parts: Collection[str] | None) -> Answer:
        """What the engine says, for a charge on some parts: only of tables in which every unit is where it was."""
        if parts is None:
            return self.engine.answer(plan)
        content = self.engine.fingerprint()
        if not self._first(content):
            raise LedgerConflict(
                "this was paid for on parts of a table that has changed since; ask afresh, for all of it"
            )
        return self.engine.answer(plan, content)

    def _first(self, content: str) -> bool:
        """Whether this is what the tables held first: else a unit may have gone from one part to another."""
        now = self._keyed("content", canonical((content, self._versions))).encode()
        return self._kept("content", now) == now

    @property
    def engine(self) -> Engine:
        """The engine, which reads the tables when it is first needed."""
        return self.read_tables()

    def read_tables(self) -> Engine:
        """Have the engine read the tables, unless it holds them."""
        with self._reading:
            if self._closed:
                raise EngineUnavailable(f"the table {self.table.schema.name}", "this curator was closed; open another")
            if self._engine is None:
                self._engine = self._own()
            if not self._registered:
                self._pin()
            for name, table in self.tables.items():  # by somebody else an engine may be told to forget them
                key = self._keyed("rows", name)[:32]
                if not self._registered or not self._engine.holds(table, key):
                    self._engine.register(table, key)
                    suited(self._engine.kinds(name), table.schema)
            self._registered = True
        return self._engine

    def _own(self) -> Engine:
        """The engine of where the tables are; one that keeps bounded copies does so beside a ledger that is a file."""
        place = self.ledger.database.place
        return engine_for(list(self.tables.values()), None if "://" in place else f"{place}.tables", self._told)

    @cached_property
    def _secret(self) -> bytes:
        """Drawn once, and kept where no export shows it."""
        return self._kept("secret", SYSTEM.words(4).tobytes().hex().encode())

    def _kept(self, name: str, first: bytes) -> bytes:
        """A private value that the ledger keeps under a name, as a session that costs nothing: the first writer's."""
        kept = self.ledger.start(key=digest(("kept", name)), loss=zero, state=first, analyst="curator")
        return kept.read()[1]

    def _pin(self) -> None:
        """Whom a ledger protects, and in which parts they live, never changes: sums over other units mean nothing."""
        for name, schema in self._schemas.items():
            labels = schema.domain(schema.partition).labels if schema.partition else ()
            told = canonical((schema.unit, schema.partition, labels)).encode()
            if self._kept(f"unit of {name}", told) != told:
                raise BadParameter("schema", name, "of the same unit and partition as when this ledger was first used")

    def close(self) -> None:
        self._closed = True
        if self._engine is not None:
            self._engine.close()
        self.ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
