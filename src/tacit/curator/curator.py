"""The curator: the straight line from a question to a release.

    read      text or expression -> Query                           `questions`   no data
    offer     Query -> price and accuracy                           `offer`       no data, nothing charged
    buy       find, price, register, charge, read, draw, store      `purchase`    all that is bought at once
    session   open once, then find, register, step                  `session`     streams and online queries

A question is known by its closed plan, the price that was asked, and the public versions of the tables: asked again it
is free.  What is shown of an answer, such as its order or arithmetic on its columns, is computed from what was stored.
Exact integers exist only inside the draw or the step that `purchase` and `session` call.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Self, Unpack

from ..core.accounting.budget import Amounts, Budget
from ..core.accounting.currency import Amount, Readable
from ..core.accounting.loss import Loss, zero
from ..core.errors import BadParameter
from ..core.parameters import Number
from ..core.safe_text import visible
from ..engines.base import Engine
from ..ledger import Charge, Head, Ledger
from ..ledger.names import analyst_name
from ..mechanisms import NumericSparse, Sparse
from ..query.plan.offer import BETA, Offer, Paid, Terms, offer
from ..query.python.table import Table
from ..query.relation import build
from ..query.relation.relation import Relation
from ..query.schema.public_table import PublicTable
from ..release import Provenance, Release, versions
from .ask import Asked
from .bounds import Bounds, BoundsTerms, buy_bounds
from .continual import ContinualCounts, ContinualTerms
from .pace import Pace
from .purchase import Admit, Parts, admitted, buy, checked_fresh
from .purse import Purse
from .questions import QuestionLike, tables_by_name
from .reader import QuestionReader
from .records import release_of, verified
from .registration import Registration
from .rehearsal import Rehearsal
from .stream import Stream, StreamTerms

if TYPE_CHECKING:
    from ..query.python.table_domain import TableDomain
    from ..release.purchased_answers import Bought
    from ..workloads import Answered, Plan, Workload
    from .online import Online


class Curator(QuestionReader):
    """Answers questions about one or several tables of the same units, within the budget of a ledger.

    A new ledger is opened with a budget; an existing ledger has its own.  `analyst` is who asks by default.  `engine`
    is an engine or its name; by default it is the engine of the tables.  `least_share`, with which a new ledger is
    opened, is the share of the budget that every question takes at least: 1/10000 by default.

    With a `time_grid`, in seconds, whatever depends on data leaves at a whole multiple of it after the question
    arrived, and a question that has no answer by the `deadline` (ten multiples by default) fails and may be asked
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
        self.tables: dict[str, Table]
        self.tables, self.public = tables_by_name(tables, public)
        self.analyst = analyst_name(analyst)
        self.pace = Pace(time_grid, deadline)
        self.admit: Admit = admitted
        self._registration = Registration(self.tables, ledger, budget, engine, least_share)
        self.ledger, self.table = self._registration.ledger, self._registration.table
        self._rehearsal = Rehearsal(self.tables)
        if self.pace.on:
            self.read_tables()  # else the time of the first question would show how long that takes

    @property
    def budget(self) -> Budget:
        """The budget of the ledger."""
        return self.ledger.budget

    def seen_by(self, analyst: str, admit: Admit | None = None) -> Curator:
        """This curator as an analyst uses it, who asks by default; both share tables, ledger, engine and pace.

        `admit` may refuse a loss before it is charged: it is called once for each purchase, with the key and the loss
        that will be charged if it returns.  What was bought before is free, and not put to it.
        """
        self._parse, self._compiled, self.unspent  # noqa: B018 - remembered, for all views
        view = copy.copy(self)
        view.analyst, view.admit = analyst_name(analyst), admitted if admit is None else admit
        return view

    def who(self, analyst: str | None) -> str:
        """The checked name of an analyst; by default, of who asks this curator."""
        return self.analyst if analyst is None else analyst_name(analyst)

    @property
    def remaining(self) -> Amount:
        """What is left of the budget to who asks."""
        return Readable(self.ledger.remaining(self.analyst))

    def remaining_for(self, question: QuestionLike, *, analyst: str | None = None) -> Amount:
        """What is left to who asks on the parts of the data that a question looks at; reads the tables."""
        query, _ = self.read(question, {})
        self.read_tables()  # on tables that have changed, a question looks at all parts
        parts = self.parts(query.relation) or (None,)
        return Readable(min(self.ledger.remaining(self.who(analyst), part) for part in parts))

    def covers(self, offer: Offer, *, analyst: str | None = None) -> bool:
        """Whether what is left to who asks pays for an offer; what was bought before is free."""
        if not isinstance(offer, Offer):
            raise BadParameter("offer", offer, "an offer of this curator")
        who = self.who(analyst)
        return offer.free or bool(offer.bought) or self.questions_left(offer, analyst=who) > 0

    def accounts(self, relation: Relation | None = None) -> list[tuple[Budget, list[Amounts]]]:
        """The budgets that a purchase about these rows, or about all, is paid from, each with what is spent of it."""
        return self.ledger.accounts(self.analyst, None if relation is None else self.parts(relation))

    @property
    def sells(self) -> bool:
        """Whether anything is sold to who asks: where an allowance is required, whether there is one."""
        return self.ledger.sells_to(self.analyst)

    @property
    def newest(self) -> int:
        """The number of the last entry of the ledger."""
        return self.ledger.head().seq

    def charges_since(self, entry: int) -> list[Charge]:
        """The charges after an entry."""
        return [Charge.read(each) for each in self.ledger.entries(entry) if each.kind == "charge"]

    def history(self) -> list[Charge]:
        """Every charge of the ledger that cost something, with its purpose and its release."""
        return [charge for charge in self.ledger.history() if charge.loss.terms]

    def read_tables(self) -> None:
        """Have the engine read the tables now, unless it holds them; otherwise the first purchase does."""
        self._registration.read_tables()

    def parts(self, relation: Relation) -> Parts:
        """The public parts of the partitioned table that a question about these rows can touch; None is all."""
        return self._registration.parts(relation)

    def offer(self, question: QuestionLike, *, analyst: str | None = None, **terms: Unpack[Terms]) -> Offer:
        """What a question costs and how accurate its answer will be; reads no data and charges nothing.

        Give one of these:
            epsilon     what the answer alone guarantees: epsilon-differential privacy, or with delta (epsilon, delta)-
            share       how much of the budget it may take, as a fraction: in a budget with a delta, the smallest errors
            rho         what the answer alone guarantees in zCDP
            error       the largest error of each count and sum, or of means alone where the number of rows is public
            relative    the largest error as a share of the table's public size
        and, if need be:
            delta       with epsilon, the delta of the answer's guarantee; else what private keys may fail with, by
                        default a share of the budget's
            beta        the probability with which an error may be larger, 0.05 by default
            analyst     who asks, by default the curator's analyst

        A question takes at least a share of the budget that was set when the ledger was opened, 1/10000 by default.
        Less is refused; an error that could be had for less is made smaller, for that price.
        """
        asked, who = self._asked(question, terms), self.who(analyst)
        offered, charge = self._priced(asked, who), asked.charge(self._registration, who)
        return offered if charge is None or charge.failed else replace(offered, bought=charge.time)

    def bought(
        self, question: QuestionLike, *, fresh: bool | str = False, analyst: str | None = None, **terms: Unpack[Terms]
    ) -> Charge | None:
        """The charge by which a question, on terms of `ask`, was bought before: free, unless its draw `failed`."""
        return self._asked(question, terms).charge(self._registration, self.who(analyst), checked_fresh(fresh))

    def questions_left(
        self, question: QuestionLike | Offer, *, analyst: str | None = None, **terms: Unpack[Terms]
    ) -> int:
        """How many more questions of this price (an offer, or the terms of one) what is left to who asks pays for."""
        who = self.who(analyst)
        offered = question if isinstance(question, Offer) else self._priced(self._asked(question, terms), who)
        query, _ = self.read(offered.query, {})
        accounts = self.ledger.accounts(who, self.parts(query.relation))
        times = (budget.repeats(offered.loss, before) for budget, spent in accounts for before in spent)
        return min(times) if self.ledger.sells_to(who) else 0

    def rehearse(
        self, question: QuestionLike, *, rows: int = 1000, analyst: str | None = None, **terms: Unpack[Terms]
    ) -> Release:
        """The answer to a question about made-up rows, which follow from the public schemas: free, and it says so.

        Give the terms of `ask`.  No data are read, and nothing is charged or kept.
        """
        asked = self._asked(question, terms)
        offered = self._priced(asked, self.who(analyst))
        origin = replace(self._registration.origin(asked.query.relation, asked.text, versions()), rehearsal=True)
        return self._rehearsal.release(offered, origin, rows)

    def release_of(self, entry_hash: str) -> Release | Bought:
        """The release that the ledger keeps of the charge with this hash, which a release's card names."""
        return release_of(self, entry_hash)

    def verify(self, release: Release | Bought) -> Head:
        """The head of a sound ledger that keeps this very release and is within its budget; else an error says why."""
        return verified(self, release)

    def ask(
        self, question: QuestionLike, *, fresh: bool | str = False, analyst: str | None = None, **terms: Unpack[Terms]
    ) -> Release:
        """Buy an answer, once: asked again, the question is free; `fresh` buys another draw.

        A text as `fresh` names that draw: asked again by the same analyst, it is free too.  So is what public facts
        answer.  Give one of these, and perhaps delta, beta and analyst, all as for `offer`:
            epsilon     what the answer alone guarantees: epsilon-differential privacy, or with delta (epsilon, delta)-
            share       how much of the budget it may take, as a fraction: 0.1 is a tenth
            rho         what the answer alone guarantees in zCDP
            error       the largest error of each count and sum, or of means alone where the number of rows is public
            relative    the largest error as a share of the table's public size
        """
        arrived = self.pace.arrival()
        asked, who = self._asked(question, terms), self.who(analyst)
        if asked.query.public:
            return asked.public_release(self._registration)
        order = asked.order(
            self._registration,
            lambda parts: self._offer(asked, who, parts),
            lambda charge: self.provenance(charge, asked.query.relation, asked.text, versions()),
            analyst=who,
            admit=self.admit,
            fresh=checked_fresh(fresh),
        )
        _, stored = buy(self._registration, self.pace, arrived, order)
        return asked.shown(asked.release(stored))

    def __repr__(self) -> str:
        names = visible(", ".join(self.tables))
        return f"Curator({names}; ledger={self.ledger.database.place!r}, budget={self.budget})"

    def above_threshold(self, threshold: int, **terms: Unpack[StreamTerms]) -> Stream:
        """Open a stream that says of each count whether it reaches the threshold.

        Give epsilon, what all its answers together guarantee, or share, how much of the budget it may take, as a
        fraction; and perhaps count, how many answers above there may be (1), queries, how many its stated errors are
        for (1000), a name, which distinguishes several streams, and analyst.
        """
        return Stream(self, Sparse, threshold=threshold, **terms)

    def numeric_sparse(self, threshold: int, **terms: Unpack[StreamTerms]) -> Stream:
        """Open a stream that says about how much each count is that reaches the threshold; terms as before."""
        return Stream(self, NumericSparse, threshold=threshold, **terms)

    def continual_counts(self, question: QuestionLike, **terms: Unpack[ContinualTerms]) -> ContinualCounts:
        """Running totals of a count, period after period, at one price, which the first `advance` pays.

        The question groups a count by its periods.  Give epsilon (and delta), rho or share: what all totals together
        guarantee or take; and perhaps method (auto, toeplitz, tree, independent), beta, name and analyst.
        """
        return ContinualCounts(self, question, **terms)

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
        fresh: bool | str = False,
        analyst: str | None = None,
        **price: Unpack[Paid],
    ) -> Bought:
        """Buy the answers of all linear queries at once; asked again they are free.

        Give epsilon, or epsilon and delta, or rho: what the answers alone guarantee, and `plan` says beforehand what
        that takes of the budget; or share, how much of it they may take, as a fraction.  By default `method` is the
        best.  `n` is the exact number of records, which is a promise, or None.
        """
        from . import workloads

        return workloads.answer(self, workload, method, n, beta=beta, fresh=fresh, analyst=analyst, **price)

    def query(self, workload: Workload) -> Answered:
        """Answers to any linear queries from what was released before, free, with what is known of their errors."""
        from . import past_answers

        return past_answers.query(self, workload)

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
        budget they may take, as a fraction.  The model is updated at most `updates` times; by default, as often as
        promises the smallest error for all `queries`.  Coefficients are 0 and 1, or with a `grid`, a power of two such
        as 1/8, its multiples.
        """
        from . import workloads

        terms = {"queries": queries, "updates": updates, "grid": grid, "name": name, "analyst": analyst}
        return workloads.online(self, domain, n, terms, **price)

    def bounds(self, column: str, **terms: Unpack[BoundsTerms]) -> Bounds:
        """Buy bounds of a column of the first table, for its schema.

        Give epsilon, or epsilon and delta, or rho: what the bounds alone guarantee; or share, how much of the budget
        they may take, as a fraction; and perhaps beta, with which probability they may be wrong, and analyst.
        Asked again they are free; `fresh` buys another draw.
        """
        return buy_bounds(self, column, **terms)

    def provenance(
        self, charge: Charge, relation: Relation, question: str, made_with: tuple[tuple[str, str], ...]
    ) -> Provenance:
        """Where the release of a charge comes from."""
        origin = self._registration.origin(relation, question, made_with)
        return replace(origin, time=charge.time, entry=charge.seq, entry_hash=charge.hash)

    def _priced(self, asked: Asked, who: str) -> Offer:
        """The offer for a question on the parts that it touches."""
        relation = asked.query.relation
        build.bounded(relation)
        needs_parts = len(self.budget.sums) > 1 or asked.compiled.plan.chosen
        return self._offer(asked, who, self.parts(relation) if needs_parts else None)

    def _offer(self, asked: Asked, who: str, parts: Parts) -> Offer:
        """The offer; with a budget of two sums, or keys to be chosen, after what is spent on these parts."""
        schemas, least_share = self.schemas, self.ledger.least_share
        facts: dict[str, Any] = {"schemas": schemas, "compiled_query": asked.compiled, "least_share": least_share}
        if asked.query.public or (len(self.budget.sums) == 1 and not asked.compiled.plan.chosen):
            return offer(asked.query, self.budget, **facts, **asked.terms)
        (_, spent), *allowed = self.ledger.accounts(who, parts)
        allowance = allowed[0] if allowed else None
        return offer(asked.query, self.budget, spent=spent, allowance=allowance, **facts, **asked.terms)

    def purse(self, relation: Relation | None, analyst: str | None) -> Purse:
        """What a purchase about these rows, or about all, is paid from."""
        one_sum = len(self.budget.sums) == 1
        return self._purse(None if relation is None or one_sum else self.parts(relation), self.who(analyst))

    def takes(self, loss: Loss, parts: Parts = None, *, analyst: str | None = None) -> Amount:
        """What a loss on these parts takes of the budget, after what was spent."""
        return self._purse(parts, self.who(analyst)).takes(loss)

    def _purse(self, parts: Parts, who: str) -> Purse:
        """What a purchase on these parts is paid from; with a budget of one sum, a price is always the same."""
        if len(self.budget.sums) == 1:
            return self.unspent
        return Purse(self.ledger.accounts(who, parts), self.ledger.least_share)

    @cached_property
    def unspent(self) -> Purse:
        """The budget as if nothing were spent of it."""
        return Purse([(self.budget, [zero])], self.ledger.least_share)

    def close(self) -> None:
        """Let go of the tables and of the ledger."""
        self._rehearsal.close()
        self._registration.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
