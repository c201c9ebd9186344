"""Registration: the private tables that an engine holds under a ledger, and the keys of questions about them.

A ledger keeps what must never change between processes: a secret, by which rows are chosen and questions are named;
whom it protects; and what the tables held first, as parts are paid for apart only while every unit stays in its own.
"""

from __future__ import annotations

import hmac
import os
from collections.abc import Collection, Mapping
from functools import cached_property
from threading import Lock

from ..core.accounting.budget import Budget
from ..core.errors import BadParameter, EngineUnavailable, LedgerConflict
from ..core.parameters import Number, rational
from ..core.randomness import SYSTEM
from ..core.session import private_value
from ..engines.base import Engine, EngineAnswer
from ..engines.registry import chosen, engine_for
from ..ledger import Ledger
from ..query.plan.plan import QueryPlan
from ..query.python.table import Table
from ..query.relation import partition_pruning
from ..query.relation.relation import Relation, scans
from ..query.schema.draft import suited
from ..query.schema.schema import Schema
from ..release import Provenance
from ..storage import canonical, digest


class Registration:
    """Private tables by their names, their engine and their ledger, which belongs to the first of the tables.

    All tables protect the same unit.  The engine reads them when `read_tables` is first called.
    """

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
        self._engine: Engine | None = engine if isinstance(engine, Engine) else None
        self._engine_name = None if isinstance(engine, Engine) else chosen(list(tables.values()), engine)
        self.tables, self.table = tables, next(iter(tables.values()))
        name = self.table.schema.name
        if not isinstance(ledger, Ledger):
            ledger = Ledger.open(ledger, budget, name, least_share=least_share)
        self.ledger = ledger
        if ledger.dataset != name:
            wrong = f"This ledger belongs to the table {ledger.dataset!r}, not {name!r}."
            raise BadParameter("table", name, repr(ledger.dataset), says=wrong)
        if budget not in (None, ledger.budget):
            raise BadParameter("budget", budget, f"{ledger.budget}, with which this ledger was opened")
        if least_share is not None and rational("least_share", least_share) != ledger.least_share:
            raise BadParameter("least_share", least_share, f"{ledger.least_share}, with which this ledger was opened")
        self._reading, self.registered, self._units_checked, self._closed = Lock(), False, False, False

    @cached_property
    def schemas(self) -> dict[str, Schema]:
        """The schema of each table by its name."""
        return {name: table.schema for name, table in self.tables.items()}

    def key(self, identity: object) -> str:
        """The key of a question about these versions of the tables.

        What the tables hold has no say in it: else whether a question is free would show whether anybody's rows have
        changed.
        """
        self._check_open()
        return self._keyed("question", canonical((identity, self._versions)))

    @cached_property
    def _row_keys(self) -> dict[str, str]:
        """The key of each table, by which the rows of its units are chosen."""
        return {name: self._keyed("rows", name)[:32] for name in self.tables}

    @cached_property
    def _versions(self) -> tuple[tuple[str, str], ...]:
        return tuple((name, schema.version or "") for name, schema in sorted(self.schemas.items()))

    @property
    def sold(self) -> bool:
        """Whether anything can have been bought under this ledger: without the secret there are no keys."""
        return "_secret" in vars(self) or self.ledger.find(digest(("kept", "secret"))) is not None

    def _keyed(self, purpose: str, text: str) -> str:
        return hmac.digest(self._secret, f"{purpose} {text}".encode(), "sha256").hex()

    def parts(self, relation: Relation) -> tuple[str, ...] | None:
        """The public parts of the partitioned table that a question about these rows can touch; None is all.

        Once the tables were read and have changed since the ledger was first used, a question touches all parts.
        """
        schema = self.table.schema
        if schema.partition is None or (self.registered and not self._unchanged(self.engine.fingerprint())):
            return None
        steps = partition_pruning.touched(relation, schema.name, schema.partition)
        labels = schema.domain(schema.partition).labels
        return tuple(f"{schema.partition}={labels[step]}" for step in sorted(steps)) if steps else None

    def origin(self, relation: Relation, question: str, made_with: tuple[tuple[str, str], ...]) -> Provenance:
        """Where an answer about these rows comes from, but for its charge."""
        tables, budget = self._public_facts
        read = dict.fromkeys(scan.table for scan in scans(relation))
        made_up = any(self.tables[name].made_up for name in read)
        return Provenance(question, tuple(tables[name] for name in read), budget, "", made_with, rehearsal=made_up)

    @cached_property
    def _public_facts(self) -> tuple[dict[str, tuple[str, str, str]], str]:
        """Name, unit and digest of each schema, and the budget."""
        described = {name: (name, s.unit or "row", s.digest) for name, s in self.schemas.items()}
        return described, str(self.ledger.budget)

    def exact(self, plan: QueryPlan, parts: Collection[str] | None) -> EngineAnswer:
        """The engine's exact integers for a charge on these parts; refused on some parts of tables that have changed.

        Only `purchase.reader` calls this, for a draw or a step that was charged.
        """
        if parts is None:
            return self.engine.answer(plan)
        content = self.engine.fingerprint()
        if not self._unchanged(content):
            raise LedgerConflict(
                "This was paid for on parts of a table that has changed since. Ask with fresh=True, for all of it."
            )
        return self.engine.answer(plan, content)

    def _unchanged(self, content: str) -> bool:
        """Whether the tables hold what they held first: else a unit may have gone from one part to another."""
        now = self._keyed("content", canonical((content, self._versions))).encode()
        return self._kept("content", now) == now

    @property
    def engine(self) -> Engine:
        """The engine, holding the tables."""
        self.read_tables()
        assert self._engine is not None
        return self._engine

    def read_tables(self) -> None:
        """Have the engine read the tables, unless it holds them."""
        with self._reading:
            self._check_open()
            if self._engine is None:
                self._engine = self._own_engine()
            self.check_units()
            for name, table in self.tables.items():  # another curator may have made a shared engine forget them
                key = self._row_keys[name]
                if not self.registered or not self._engine.holds(table, key):
                    self._engine.register(table, key)
                    suited(self._engine.kinds(name), table.schema)
            self.registered = True

    def _check_open(self) -> None:
        if self._closed:
            raise EngineUnavailable(f"the table {self.table.schema.name}", "this curator was closed; open another")

    def _own_engine(self) -> Engine:
        """The engine of where the tables are; one that keeps bounded copies does so beside a ledger that is a file."""
        place = self.ledger.database.place
        return engine_for(list(self.tables.values()), None if "://" in place else f"{place}.tables", self._engine_name)

    @cached_property
    def _secret(self) -> bytes:
        """Drawn once, and kept where no export shows it."""
        return self._kept("secret", SYSTEM.words(4).tobytes().hex().encode())

    def _kept(self, name: str, first: bytes) -> bytes:
        """The private value that the ledger keeps under a name: the first that was written."""
        return private_value(self.ledger, key=digest(("kept", name)), first=first, analyst="curator", name=name)

    def check_units(self) -> None:
        """Refuse other units or partitions than the ledger was first used with: sums over other units mean nothing."""
        if self._units_checked:
            return
        for name, schema in self.schemas.items():
            labels = schema.domain(schema.partition).labels if schema.partition else ()
            facts = canonical((schema.unit, schema.partition, labels)).encode()
            facts += b" made up" if self.tables[name].made_up else b""  # no ledger is for both
            if self._kept(f"unit of {name}", facts) != facts:
                wrong = f"The unit or partition of {name!r} is not the one that this ledger was first used with."
                raise BadParameter("schema", name, "of the unit and partition of this ledger", says=wrong)
        self._units_checked = True

    def close(self) -> None:
        """Let go of the tables and of the ledger."""
        self._closed = True
        if self._engine is not None:
            self._engine.close()
        self.ledger.close()
