"""The curator: the straight line from a question to a release.

    read       text or expression -> Query                           no data
    offer      Query -> price and accuracy                           no data, nothing charged
    charge     the ledger has an answer, admits the price, or refuses
    answer     the engine's exact integers, between two lines of `_complete` and nowhere else
    draw       one draw from the law
    store      the ledger keeps it; then it is handed out

A question is known by its closed plan, the price that was asked, and the content of the tables: asked again it is free.
What is shown of an answer, such as its order or arithmetic on its columns, is computed from what was stored.
"""

from __future__ import annotations

import hmac
import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from threading import Lock
from typing import TYPE_CHECKING, Any, Unpack

from ..core.budget import Amounts, Budget
from ..core.currency import Amount
from ..core.errors import BadParameter, EngineError, EngineUnavailable
from ..core.exact import Number, flag
from ..core.loss import zero
from ..core.randomness import SYSTEM
from ..engines.base import Answer, Engine
from ..engines.choice import chosen, engine_for
from ..ledger import Ledger, parameters
from ..ledger.entries import Charge
from ..mechanisms import NumericSparse, Sparse
from ..release import Provenance, Release, versions
from ..tables import codec, partition, sql
from ..tables.calibration import Step
from ..tables.draw import drawn
from ..tables.init import suited
from ..tables.measures import Compiled, compiled
from ..tables.plan import Plan as Closed
from ..tables.price import BETA, Offer, Paid, Terms, offer, risk
from ..tables.query import Query
from ..tables.relation import Relation, scans
from ..tables.schema import Schema
from ..tables.table import PublicTable, Table
from .bounds import Bounds, BoundsTerms, buy
from .reading import Asked, asked, identities, known
from .stream import Stream, StreamTerms

if TYPE_CHECKING:
    from ..tables.linear import TableDomain
    from ..workloads import Answered, Plan, Released, Workload
    from .online import Online

_TEXTS = 32  # questions whose meaning is kept


class Curator:
    """Answers questions about one or several tables of the same units, within the budget of a ledger.

    A new ledger is opened with a budget; one that is there knows its own.  `analyst` is who asks, unless told.  An
    engine may be given by its name too; unless it is given, it is that of the tables.
    """

    def __init__(
        self,
        *tables: Table,
        ledger: Ledger | str | os.PathLike[str],
        budget: Budget | None = None,
        public: Iterable[PublicTable] = (),
        analyst: str = "analyst",
        engine: Engine | str | None = None,
    ) -> None:
        self.tables, self.public = known(tables, public)
        if not isinstance(engine, Engine | str | None):
            raise BadParameter("engine", engine, "an engine, or its name")
        for table in tables:
            table.check()
        if not isinstance(engine, Engine):
            self._told = chosen(tables, engine)
        self.table, self.analyst = tables[0], parameters.name("analyst", analyst)
        self.ledger = ledger if isinstance(ledger, Ledger) else Ledger.open(ledger, budget, self.table.schema.name)
        if self.ledger.dataset != self.table.schema.name:
            raise BadParameter("table", self.table.schema.name, f"{self.ledger.dataset!r}, of which this ledger is")
        if budget not in (None, self.ledger.budget):
            raise BadParameter("budget", budget, f"{self.ledger.budget}, with which this ledger was opened")
        self._engine, self._reading = engine if isinstance(engine, Engine) else None, Lock()
        self._registered = self._closed = False

    @property
    def budget(self) -> Budget:
        return self.ledger.budget

    def who(self, analyst: str | None) -> str:
        """Who asks, unless told."""
        return self.analyst if analyst is None else parameters.name("analyst", analyst)

    @property
    def remaining(self) -> Amount:
        """What is left to who asks."""
        return self.ledger.remaining(self.analyst)

    def left(self, question: Asked, *, analyst: str | None = None) -> Amount:
        """What is left to who asks on the parts of the data that a question looks at; reads the tables."""
        query, _ = self.read(question, {})
        self.engine.fingerprint()  # tables that have changed are looked at as a whole
        parts = self.parts(query.relation) or (None,)
        return min(self.ledger.remaining(self.who(analyst), part) for part in parts)

    def covers(self, made: Offer, *, analyst: str | None = None) -> bool:
        """Whether what is left to who asks pays for an offer."""
        if not isinstance(made, Offer):
            raise BadParameter("made", made, "an offer of this curator")
        accounts = self._accounts(made.query, analyst)
        paid = (b.price(made.loss, before) <= b.remaining(before) for b, spent in accounts for before in spent)
        return self.ledger.sells_to(self.who(analyst)) and all(paid)

    def history(self) -> list[Charge]:
        """Every charge of the ledger, with its release."""
        return self.ledger.history()

    def read(self, question: Asked, given: Mapping[str, Any]) -> tuple[Query, dict[str, Any]]:
        """The meaning of a question about these tables, and its price."""
        return asked(question, self.tables, self.public, given, self._parse)

    @cached_property
    def _parse(self) -> Callable[[str], sql.Parsed]:
        """The last texts are not read again: one question is often asked at several prices."""
        return lru_cache(_TEXTS)(lambda text: sql.parse(text, self.tables, self.public))

    @cached_property
    def _compiled(self) -> Callable[[Query], Compiled]:
        """The same for their plans."""
        return lru_cache(_TEXTS)(lambda query: compiled(query, self._schemas))

    def offer(self, question: Asked, *, analyst: str | None = None, **terms: Unpack[Terms]) -> Offer:
        """What a question costs and how accurate its answer will be; reads no data and charges nothing."""
        return self._offer(*self.read(question, terms), analyst)

    def ask(
        self, question: Asked, *, fresh: bool = False, analyst: str | None = None, **terms: Unpack[Terms]
    ) -> Release:
        """Buy an answer, once: asked again, the question is free; `fresh` buys another draw."""
        query, said = self.read(question, terms)
        made, beta, who = self._compiled(query), risk(said["beta"]), self.who(analyst)
        keys = [self.key(name) for name in identities(made, said, self.budget)]
        known = next(filter(None, map(self.ledger.find, keys)), None)
        charge, priced = None if flag("fresh", fresh) else known, None
        if charge is None:
            priced = self._offer(query, said, analyst, made)
            plan = codec.canonical((made.plan, [step.mechanism for step in priced.steps], priced.beta))
            charge = self.ledger.charge(
                key=known.key if known else keys[-1],
                loss=priced.loss,
                analyst=who,
                parts=self.parts(query.relation),
                plan=plan,
                fresh=fresh,
            )
            priced = priced if charge.plan == plan else None  # another asker's, that was bought before
        if charge.release is None:
            release = self._complete(charge, query, made, question if isinstance(question, str) else "", priced)
        else:
            release = Release.from_json(charge.release)
        return replace(release, query=query, recipes=made.recipes, beta=beta)  # as this question wants it shown

    def above_threshold(self, threshold: int, **terms: Unpack[StreamTerms]) -> Stream:
        """Open a stream that says of each count whether it reaches the threshold: say epsilon, count, queries."""
        return Stream(self, Sparse, threshold=threshold, **terms)

    def numeric_sparse(self, threshold: int, **terms: Unpack[StreamTerms]) -> Stream:
        """Open a stream that says about how much each count is that reaches the threshold."""
        return Stream(self, NumericSparse, threshold=threshold, **terms)

    def plan(self, workload: Workload, *, n: int | None = None, beta: Number = BETA, **price: Unpack[Paid]) -> Plan:
        """Every way to answer linear queries, with predicted error and time: say epsilon, rho, or epsilon and delta.

        `n` is the exact number of records, a promise; the schema's size, which is rough, only ranks methods.
        """
        from . import linear

        return linear.plan(self.tables, workload, n, beta, self, **price)

    def answer(
        self,
        workload: Workload,
        *,
        method: str = "auto",
        n: int | None = None,
        beta: Number = BETA,
        fresh: bool = False,
        analyst: str | None = None,
        **price: Unpack[Paid],
    ) -> Released:
        """Buy the answers of all linear queries at once, by the best method unless told; asked again they are free."""
        from . import linear

        return linear.answer(self, workload, method, n, beta=beta, fresh=fresh, analyst=analyst, **price)

    def query(self, workload: Workload) -> Answered:
        """Answers to any linear queries from what was released before, free, with what is known of their errors."""
        from . import linear

        return linear.query(self, workload)

    def online(
        self,
        domain: TableDomain,
        *,
        queries: int = 10_000,
        updates: int | None = None,
        n: int | None = None,
        name: str = "online",
        analyst: str | None = None,
        **price: Unpack[Paid],
    ) -> Online:
        """Open private multiplicative weights: one price for any number of linear queries, asked one after the other.

        With so many `updates` of the model, or as many as promise the smallest error for all `queries`.
        """
        from . import linear

        terms = {"queries": queries, "updates": updates, "name": name, "analyst": analyst}
        return linear.online(self, domain, n, terms, **price)

    def bounds(self, column: str, **terms: Unpack[BoundsTerms]) -> Bounds:
        """Buy bounds of a column of the first table, for its schema: say epsilon or rho, and perhaps beta."""
        return buy(self, column, **terms)

    def _complete(self, charge: Charge, query: Query, made: Compiled, text: str, priced: Offer | None) -> Release:
        """The release of a charge, by the mechanisms that it paid for, which an offer of today might not name.

        The truth lives in the line of `drawn` and nowhere else.  Between the draw and its storage nothing runs that the
        question could make fail: a draw that is lost would be drawn again, and one charge would pay for two.
        """
        if priced is None:
            mechanisms, beta = codec.read(json.loads(charge.plan)[1:])
            measured = (*made.plan.measures, *([None] if made.plan.chosen else []))
            steps = tuple(Step(measure, (m,), beta) for measure, m in zip(measured, mechanisms, strict=True))
        else:
            steps, beta = priced.steps, priced.beta
        price = self.budget.price(charge.loss)
        paid = Offer(query, made.plan, made.recipes, steps, charge.loss, price, self.budget, beta)
        tables, budget = self._public_facts
        read = dict.fromkeys(scan.table for scan in scans(query.relation))
        about = tuple(tables[name] for name in read)
        told = Provenance(text, about, budget, charge.time, versions(), charge.seq, charge.hash)
        release = Release.of(paid, drawn(paid, partial(self.exact, parts=charge.parts)), told)
        facts = release.facts()
        stored = self.ledger.store(charge, facts)
        return release if stored == facts else Release.from_json(stored)  # another asker's draw, stored before

    def key(self, question: object) -> str:
        """The name of a question about the tables as they are now.

        A hash of the content stands in it, so it is keyed: else whoever knows all rows but one could try that one.
        """
        return self._keyed("question", codec.canonical((question, self.engine.fingerprint())))

    def _keyed(self, purpose: str, text: str) -> str:
        return hmac.new(self._secret, f"{purpose} {text}".encode(), "sha256").hexdigest()

    @cached_property
    def _public_facts(self) -> tuple[dict[str, tuple[str, str, str]], str]:
        """Name, unit and digest of each schema, and the budget."""
        return {name: (name, s.unit or "row", s.digest) for name, s in self._schemas.items()}, str(self.budget)

    def _accounts(self, query: Query, analyst: str | None) -> list[tuple[Budget, list[Amounts]]]:
        """What is spent where the question looks, of the budget and of an allowance."""
        return self.ledger.accounts(self.who(analyst), self.parts(query.relation))

    def _offer(self, query: Query, said: Mapping[str, Any], analyst: str | None, made: Compiled | None = None) -> Offer:
        """The offer after what is spent where the question looks: in a budget of two sums it depends on that."""
        (_, spent), *allowed = self._accounts(query, analyst)
        allowance = allowed[0] if allowed else None
        return offer(query, self.budget, schemas=self._schemas, made=made, spent=spent, allowance=allowance, **said)

    @property
    def _schemas(self) -> dict[str, Schema]:
        return {name: table.schema for name, table in self.tables.items()}

    def parts(self, relation: Relation) -> tuple[str, ...] | None:
        """The public parts of the partitioned table that a question about these rows can touch; None is all."""
        schema = self.table.schema
        if schema.partition is None or (self._registered and not self._first(self.engine.fingerprint())):
            return None
        steps = partition.touched(relation, schema.name, schema.partition)
        labels = schema.domain(schema.partition).labels
        return tuple(f"{schema.partition}={labels[step]}" for step in sorted(steps)) if steps else None

    def exact(self, plan: Closed, parts: Collection[str] | None) -> Answer:
        """What the engine says, for a charge on some parts: only of tables in which every unit is where it was."""
        if parts is None:
            return self.engine.answer(plan)
        content = self.engine.fingerprint()
        if not self._first(content):
            raise EngineError
        return self.engine.answer(plan, content)

    def _first(self, content: str) -> bool:
        """Whether this is what the tables held first: else a unit may have gone from one part to another."""
        now = self._keyed("content", content).encode()
        return self._kept("content", now) == now

    @property
    def engine(self) -> Engine:
        """The engine, which reads the tables when it is first needed."""
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
        place = self.ledger.tables.place
        return engine_for(list(self.tables.values()), None if "://" in place else f"{place}.tables", self._told)

    @cached_property
    def _secret(self) -> bytes:
        """Drawn once, and kept where no export shows it: by it rows are chosen and questions are named."""
        return self._kept("secret", SYSTEM.words(4).tobytes().hex().encode())

    def _kept(self, name: str, first: bytes) -> bytes:
        """What the ledger keeps under a name, privately: what it was first given."""
        kept = self.ledger.start(key=codec.digest(("kept", name)), loss=zero, state=first, analyst="curator")
        return kept.read()[1]

    def _pin(self) -> None:
        """Whom a ledger protects, and in which parts they live, never changes: sums over other units mean nothing.

        The first table is the one that the ledger is of, and all the others are of its unit.
        """
        for name, schema in self._schemas.items():
            labels = schema.domain(schema.partition).labels if schema.partition else ()
            told = codec.canonical((schema.unit, schema.partition, labels)).encode()
            if self._kept(f"unit of {name}", told) != told:
                raise BadParameter("schema", name, "of the same unit and partition as when this ledger was first used")

    def close(self) -> None:
        self._closed = True
        if self._engine is not None:
            self._engine.close()
        self.ledger.close()

    def __enter__(self) -> Curator:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
