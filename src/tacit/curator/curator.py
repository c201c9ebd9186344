"""The curator: the straight line from a question to a release.

    read       text or expression -> Query                           no data
    offer      Query -> price and accuracy                           no data, nothing charged
    charge     the ledger has an answer, admits the price, or refuses
    answer     the engine's exact integers, between two lines of `_complete` and nowhere else
    draw       one draw from the law
    store      the ledger keeps it; then it is handed out

A question is known by its closed plan, the price that was asked, and the public versions of the tables: asked again it
is free.
What is shown of an answer, such as its order or arithmetic on its columns, is computed from what was stored.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any, Unpack

from .. import storage
from ..core.accounting.budget import Amounts, Budget
from ..core.accounting.currency import Amount
from ..core.accounting.loss import zero
from ..core.errors import BadParameter, reading
from ..core.parameters import Number, flag, probability
from ..core.safe_text import visible
from ..core.session import answer_once
from ..engines.base import Engine
from ..ledger import Ledger
from ..ledger.entries import Charge
from ..ledger.names import analyst_name
from ..ledger.session import Session
from ..mechanisms import NumericSparse, Sparse
from ..query.plan.calibration import Step
from ..query.plan.compiler import Compiled, compiled
from ..query.plan.draw import draw
from ..query.plan.offer import BETA, Offer, Paid, Terms, offer
from ..query.plan.query import Query
from ..query.python.table import PublicTable, Table
from ..query.relation import build
from ..query.relation.relation import Relation, scans
from ..query.sql import parser
from ..release import Provenance, Release, versions
from .bounds import Bounds, BoundsTerms, buy
from .pace import Pace
from .purse import Purse
from .questions import QuestionLike, identities, parse_question, tables_by_name
from .registration import Holding
from .silence import silently
from .stream import Stream, StreamTerms

if TYPE_CHECKING:
    from ..query.python.table_domain import TableDomain
    from ..release.purchased_answers import Bought
    from ..workloads import Answered, Plan, Workload
    from .online import Online

_TEXTS = 32  # questions whose meaning is kept


class Curator(Holding):
    """Answers questions about one or several tables of the same units, within the budget of a ledger.

    A new ledger is opened with a budget; one that is there knows its own.  `analyst` is who asks, unless told.  An
    engine may be given by its name too; unless it is given, it is that of the tables.  `least_share`, with which a new
    ledger is opened, is the share of the budget that every question takes at least: 1/10000 by default.

    With a `time_grid`, in seconds, whatever depends on data leaves at a whole multiple of it after the question
    arrived, and a question that has no answer by the `deadline` (ten multiples, unless given) fails and may be asked
    again (`pace.py`).  Use one wherever questions come over a network.
    """

    def __init__(
        self,
        *tables: Table,
        ledger: Ledger | str | os.PathLike[str],
        budget: Budget | None = None,
        public: Iterable[PublicTable] = (),
        analyst: str = "analyst",
        engine: Engine | str | None = None,
        least_share: Number | None = None,
        time_grid: Number | None = None,
        deadline: Number | None = None,
    ) -> None:
        own, self.public = tables_by_name(tables, public)
        self.analyst = analyst_name(analyst)
        self.pace = Pace(time_grid, deadline)
        super().__init__(own, ledger, budget, engine, least_share)
        if self.pace.on:
            self.read_tables()  # else the first question would tell how long that takes

    @property
    def budget(self) -> Budget:
        """That of the ledger."""
        return self.ledger.budget

    def who(self, analyst: str | None) -> str:
        """Who asks, unless told."""
        return self.analyst if analyst is None else analyst_name(analyst)

    @property
    def remaining(self) -> Amount:
        """What is left to who asks."""
        return self.ledger.remaining(self.analyst)

    def remaining_for(self, question: QuestionLike, *, analyst: str | None = None) -> Amount:
        """What is left to who asks on the parts of the data that a question looks at; reads the tables."""
        query, _ = self.read(question, {})
        self.read_tables()  # those that have changed are looked at as a whole
        parts = self.parts(query.relation) or (None,)
        return min(self.ledger.remaining(self.who(analyst), part) for part in parts)

    def covers(self, offer: Offer, *, analyst: str | None = None) -> bool:
        """Whether what is left to who asks pays for an offer."""
        if not isinstance(offer, Offer):
            raise BadParameter("offer", offer, "an offer of this curator")
        query, _ = self.read(offer.query, {})
        accounts = self._accounts(query, analyst)
        paid = (b.price(offer.loss, before) <= b.remaining(before) for b, spent in accounts for before in spent)
        return self.ledger.sells_to(self.who(analyst)) and all(paid)

    def history(self) -> list[Charge]:
        """Every charge of the ledger that cost something, with its release."""
        return [charge for charge in self.ledger.history() if charge.loss.terms]

    def read(self, question: QuestionLike, given: Mapping[str, Any]) -> tuple[Query, dict[str, Any]]:
        """The meaning of a question about these tables, and its price."""
        return parse_question(question, self.tables, self.public, given, self._parse)

    @cached_property
    def _parse(self) -> Callable[[str], parser.Parsed]:
        """The last texts are not read again: one question is often asked at several prices."""
        return lru_cache(_TEXTS)(lambda text: parser.parse(text, self.tables, self.public))

    @cached_property
    def _compiled(self) -> Callable[[Query], Compiled]:
        """The same for their plans."""
        return lru_cache(_TEXTS)(lambda query: compiled(query, self._schemas))

    def offer(self, question: QuestionLike, *, analyst: str | None = None, **terms: Unpack[Terms]) -> Offer:
        """What a question costs and how accurate its answer will be; reads no data and charges nothing.

        Give one of these:
            epsilon     what the answer alone guarantees: epsilon-differential privacy, or with delta (epsilon, delta)-.
                        The offer says what that takes of the budget
            share       how much of the budget it may take, as a fraction: 0.1 is a tenth.  The offer says what the
                        answer alone guarantees.  In a budget with a delta this buys the smallest errors
            rho         what the answer alone guarantees in zCDP
            error       the largest error of each count and sum, or of means alone where the number of rows is public,
                        for which the least price is found
            relative    the same as a share of the table's public size
        and, if need be:
            delta       with epsilon, the delta of the answer's guarantee; else what private keys may fail with, by
                        default a share of the budget's
            beta        the probability with which an error may be larger, 0.05 by default
            analyst     who asks, by default the curator's analyst

        A question takes at least a share of the budget that was set when the ledger was opened, 1/10000 by default.
        Less is refused; an error that could be had for less is made smaller, for that price.
        """
        query, said = self.read(question, terms)
        build.bounded(query.relation)
        return self._offer(query, said, analyst)

    def ask(
        self, question: QuestionLike, *, fresh: bool = False, analyst: str | None = None, **terms: Unpack[Terms]
    ) -> Release:
        """Buy an answer, once: asked again, the question is free; `fresh` buys another draw.

        Give one of these:
            epsilon     what the answer alone guarantees: epsilon-differential privacy, or with delta (epsilon, delta)-
            share       how much of the budget it may take, as a fraction: 0.1 is a tenth
            rho         what the answer alone guarantees in zCDP
            error       the largest error of each count and sum, or of means alone where the number of rows is public
            relative    the same as a share of the table's public size
        and perhaps delta, beta and analyst, all as for `offer`, which says beforehand what an answer takes.
        """
        arrived = self.pace.arrival()
        query, said = self.read(question, terms)
        made, beta, who = self._compiled(query), probability("beta", said["beta"]), self.who(analyst)
        known = identities(made, said, self.budget, self._schemas, self.ledger.former_words)
        keys = [self.key(identity) for identity in known]
        charge, priced = None if flag("fresh", fresh) else self.ledger.find(*keys), None
        if charge is None or charge.release is None:
            build.bounded(query.relation)
        if charge is None:
            priced = self._offer(query, said, analyst, made)
            plan = storage.canonical((made.plan, [step.mechanism for step in priced.steps], priced.beta))
            charge = self.ledger.charge(
                key=keys[0],
                loss=priced.loss,
                analyst=who,
                parts=self.parts(query.relation),
                plan=plan,
                fresh=fresh,
            )
            priced = priced if charge.plan == plan else None  # another asker's, that was bought before
        if charge.release is None:
            text = question if isinstance(question, str) else ""
            completed = partial(self._complete, charge, query, made, text, priced)
            release = self.pace.let_out(arrived, charge.seq, completed)
        else:
            self.pace.hold(charge.seq)
            release = Release.from_json(charge.release)
        return replace(release, query=query, recipes=made.recipes, beta=beta)  # as this question wants it shown

    def __repr__(self) -> str:
        return (
            f"Curator({visible(', '.join(self.tables))}; ledger={self.ledger.database.place!r}, budget={self.budget})"
        )

    def above_threshold(self, threshold: int, **terms: Unpack[StreamTerms]) -> Stream:
        """Open a stream that says of each count whether it reaches the threshold.

        Give epsilon, what all its answers together guarantee, or share, how much of the budget it may take, as a
        fraction; and perhaps count, how many answers above there may be (1), queries, how many its stated errors are
        for (1000), a name, by which several are told apart, and analyst.
        """
        return Stream(self, Sparse, threshold=threshold, **terms)

    def numeric_sparse(self, threshold: int, **terms: Unpack[StreamTerms]) -> Stream:
        """Open a stream that says about how much each count is that reaches the threshold; as `above_threshold`."""
        return Stream(self, NumericSparse, threshold=threshold, **terms)

    def plan(self, workload: Workload, *, n: int | None = None, beta: Number = BETA, **price: Unpack[Paid]) -> Plan:
        """Every way to answer linear queries, with predicted error and time, and what the best takes of the budget.

        Give epsilon, or epsilon and delta, or rho: what the answers alone guarantee; or share, how much of the budget
        they may take, as a fraction.
        `n` is the exact number of records, a promise; the schema's size, which is rough, only ranks methods.
        """
        from . import workloads

        return workloads.plan(self.tables, workload, n, beta, partial(self.purse, analyst=None), **price)

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
    ) -> Bought:
        """Buy the answers of all linear queries at once; asked again they are free.

        Give epsilon, or epsilon and delta, or rho: what the answers alone guarantee, and `plan` says beforehand what
        that takes of the budget; or share, how much of it they may take, as a fraction.  The `method` is the best by
        default, and `n` as for `plan`.
        """
        from . import workloads

        return workloads.answer(self, workload, method, n, beta=beta, fresh=fresh, analyst=analyst, **price)

    def query(self, workload: Workload) -> Answered:
        """Answers to any linear queries from what was released before, free, with what is known of their errors."""
        from . import workloads

        return workloads.query(self, workload)

    def online(
        self,
        domain: TableDomain,
        *,
        queries: int = 10_000,
        updates: int | None = None,
        grid: Number = 1,
        n: int | None = None,
        name: str = "online",
        analyst: str | None = None,
        **price: Unpack[Paid],
    ) -> Online:
        """Open private multiplicative weights: one price for any number of linear queries, asked one after the other.

        Give epsilon, or epsilon and delta, or rho: what all answers together guarantee; or share, how much of the
        budget they may take, as a fraction.  The model has so many `updates`, or as many as promise the smallest
        error for all `queries`.  Coefficients are 0 and 1, or with a `grid`, a power of two such as 1/8, its multiples.
        """
        from . import workloads

        terms = {"queries": queries, "updates": updates, "grid": grid, "name": name, "analyst": analyst}
        return workloads.online(self, domain, n, terms, **price)

    def bounds(self, column: str, **terms: Unpack[BoundsTerms]) -> Bounds:
        """Buy bounds of a column of the first table, for its schema.

        Give epsilon, or epsilon and delta, or rho: what the bounds alone guarantee; or share, how much of the budget
        they may take, as a fraction; and perhaps beta, with which probability they may be wrong, and analyst.
        """
        return buy(self, column, **terms)

    def _complete(self, charge: Charge, query: Query, made: Compiled, text: str, priced: Offer | None) -> Release:
        """The release of a charge, by the mechanisms that it paid for, which an offer of today might not name.

        The truth lives in the line of `exact` and nowhere else.  Between the draw and its storage nothing runs that the
        question could make fail: a draw that is lost would be drawn again, and one charge would pay for two.
        """
        if priced is None:
            with reading("this charge"):
                _, mechanisms, beta = storage.loads(charge.plan)
            measured = (*made.plan.measures, *([None] if made.plan.chosen else []))
            steps = tuple(Step(measure, (m,), beta) for measure, m in zip(measured, mechanisms, strict=True))
        else:
            steps, beta = priced.steps, priced.beta
        price = self.budget.price(charge.loss)
        paid = Offer(query, made.plan, made.recipes, steps, charge.loss, price, self.budget, beta)
        told = self.provenance(charge, query.relation, text, versions())
        release = Release.of(paid, silently(lambda: draw(paid, self.exact(made.plan, charge.parts))), told)
        facts = release.facts()
        stored = self.ledger.store(charge, facts)
        return release if stored == facts else Release.from_json(stored)  # another asker's draw, stored before

    def step(
        self,
        session: Session,
        key: str,
        rows: Relation,
        arrived: float,
        step: Callable[[bytes], tuple[bytes, bytes]],
    ) -> bytes:
        """The answer to a question of a session about these rows: as it was before, or by a step of its state."""
        work = session.charge.seq, key
        if (known := session.find(key)) is not None:
            self.pace.hold(work)
            return known
        build.bounded(rows)
        return self.pace.let_out(arrived, work, lambda: answer_once(session, key, step))

    def provenance(
        self, charge: Charge, relation: Relation, question: str, made_with: tuple[tuple[str, str], ...]
    ) -> Provenance:
        """Where the release of a charge comes from."""
        tables, budget = self._public_facts
        read = dict.fromkeys(scan.table for scan in scans(relation))
        about = tuple(tables[name] for name in read)
        return Provenance(question, about, budget, charge.time, made_with, charge.seq, charge.hash)

    @cached_property
    def _public_facts(self) -> tuple[dict[str, tuple[str, str, str]], str]:
        """Name, unit and digest of each schema, and the budget."""
        return {name: (name, s.unit or "row", s.digest) for name, s in self._schemas.items()}, str(self.budget)

    def _accounts(self, query: Query, analyst: str | None) -> list[tuple[Budget, list[Amounts]]]:
        """What is spent where the question looks, of the budget and of an allowance."""
        return self.ledger.accounts(self.who(analyst), self.parts(query.relation))

    def _offer(self, query: Query, said: Mapping[str, Any], analyst: str | None, made: Compiled | None = None) -> Offer:
        """The offer; of a budget of two sums, or with keys to be chosen, after what is spent where it looks."""
        made, who = self._compiled(query) if made is None else made, self.who(analyst)
        facts: dict[str, Any] = {"schemas": self._schemas, "made": made, "least_share": self.ledger.least_share}
        if len(self.budget.sums) == 1 and not made.plan.chosen:
            return offer(query, self.budget, **facts, **said)
        (_, spent), *allowed = self._accounts(query, who)
        allowance = allowed[0] if allowed else None
        return offer(query, self.budget, spent=spent, allowance=allowance, **facts, **said)

    def purse(self, relation: Relation | None, analyst: str | None) -> Purse:
        """What a purchase about these rows, or about all, is paid from.

        Of a single sum, a price is the same whatever was bought.
        """
        who = self.who(analyst)
        if len(self.budget.sums) == 1:
            return Purse([(self.budget, [zero])], self.ledger.least_share)
        return Purse(
            self.ledger.accounts(who, None if relation is None else self.parts(relation)), self.ledger.least_share
        )
