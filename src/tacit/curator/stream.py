"""Streams of counts through the ledger: any number of questions, of which only those above a threshold are paid.

A stream is one life of a sparse vector mechanism, paid for when it opens.  Its state, which holds the noisy threshold,
is kept by the ledger: a stream that its analyst opens again with the same terms goes on where it was, in any process.
A question that was asked before in the stream is answered as it was then.

Under add or remove a unit moves all counts the same way, so the noise is that of monotone queries.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypedDict

from ..core.distance import ADD_REMOVE, scalar
from ..core.errors import BadParameter, BadQuestion, Exhausted, reading
from ..core.parameters import Number, instance, rational
from ..core.randomness import SYSTEM
from ..ledger.parameters import text
from ..mechanisms import NumericSparse, Sparse
from ..mechanisms.sparse_vector._comparisons import Comparisons, State
from ..query.plan import compiler
from ..query.plan.offer import BETA
from ..query.plan.outputs import Released
from ..query.plan.plan import Plan, Rows, Units
from ..storage import canonical, loads
from . import identity
from .silence import silently

if TYPE_CHECKING:
    from .curator import Curator
    from .questions import QuestionLike

Told = bool | int | float | None
QUERIES = 1000


class StreamTerms(TypedDict, total=False):
    """The price of a stream, what it may tell, and who opens it under which name."""

    epsilon: Number | None
    share: Number | None
    count: int
    queries: int
    name: str
    analyst: str | None


class Stream:
    """Asks of counts whether they reach a threshold."""

    def __init__(
        self,
        curator: Curator,
        kind: type[Sparse] | type[NumericSparse],
        *,
        threshold: int,
        epsilon: Number | None = None,
        share: Number | None = None,
        count: int = 1,
        queries: int = QUERIES,
        name: str = "stream",
        analyst: str | None = None,
        **unknown: object,
    ) -> None:
        if unknown:
            known = "epsilon or share, and perhaps count, queries, name and analyst"
            raise BadParameter("terms", " ".join(unknown), known)
        if (epsilon is None) == (share is None):
            raise BadParameter("epsilon", epsilon, "given", says="a stream needs epsilon= or share=, and one of them")
        if rational("threshold", threshold).denominator != 1:
            raise BadParameter("threshold", threshold, "whole, as counts are")
        instance("name", name, str)
        moves, who = scalar(rational("rows", curator.table.schema.rows), ADD_REMOVE), curator.who(analyst)
        purse = curator.purse(None, who)

        def life(epsilon: Number) -> Comparisons[Any, Any]:
            terms: dict[str, Any] = {"threshold": threshold, "count": count, "queries": queries}
            return kind(epsilon=epsilon, sensitivity=moves, monotone=True, **terms)

        def named(epsilon: Number) -> str:
            return identity.stream(
                text("name", name),
                who,
                kind,
                threshold=int(rational("threshold", threshold)),
                epsilon=rational("epsilon", epsilon),
                count=life(epsilon).count,
                schema=curator.table.schema.digest,
            )

        if epsilon is not None:
            paid = epsilon
            if curator.ledger.find(named(paid)) is None:
                purse.check(life(paid).loss(), ("epsilon", epsilon))
                purse.warn(life(paid).loss(), ("epsilon", epsilon))
        elif share is not None:
            ways = {named(e): e for e, _ in purse.ways(share) if e is not None}
            part, charge = rational("share", share), curator.ledger.find(*ways)
            fitting = [e for e in ways.values() if purse.affords(life(e).loss(), part)]
            if charge is None and not fitting:
                raise purse.nothing(share)
            paid = fitting[0] if charge is None else ways[charge.key]
        self.mechanism = life(paid)
        self._curator = curator
        self._session = curator.ledger.start(
            key=named(paid),
            loss=self.mechanism.loss(),
            state=_written(self.mechanism.begin(SYSTEM)),
            analyst=who,
            plan=f"{name}: {self.mechanism}",
        )

    def ask(self, question: QuestionLike) -> Told:
        """Whether the count reaches the threshold (or, in a numeric stream, about how much it is, else None)."""
        arrived, plan = self._curator.pace.arrival(), self._plan(question)

        def step(kept: bytes) -> tuple[bytes, bytes]:
            state = _read(kept)
            if self.mechanism.over(state):
                raise Exhausted("this stream", f"{self.mechanism.allowed}, and its name= stays with it")
            after, answer = silently(lambda: self.mechanism.step(state, self._count(plan), SYSTEM))
            return _written(after), json.dumps(answer).encode()

        key = self._curator.key(plan)
        told: Told = json.loads(self._curator.step(self._session, key, plan.relation, arrived, step))
        return told

    def error(self, beta: Number = BETA) -> float:
        """How far the answers to all `queries` may be off, with probability 1 - beta.

        No count that is said to reach the threshold is further below it, no other further above, no number further off.
        """
        return self.mechanism.error(beta)

    def __repr__(self) -> str:
        m = self.mechanism
        return f"Stream({type(m).__name__}, threshold={m.threshold}, count={m.count}, queries={m.queries})"

    @property
    def left(self) -> int:
        """How many more answers above the threshold there may be."""
        return self.mechanism.count - _read(self._session.read()[1]).hits

    def _plan(self, question: QuestionLike) -> Plan:
        query, terms = self._curator.read(question, {})
        plan = compiler.plan(query, {name: table.schema for name, table in self._curator.tables.items()})
        if (
            terms.keys() > {"beta"}
            or plan.keys
            or len(plan.measures) != 1
            or not isinstance(plan.measures[0], Rows | Units)
        ):
            raise BadQuestion("a stream is asked one count, without groups and without a price of its own")
        counted, shown = [Released(name) for name, _ in query.aggregates], [output for _, output in query.outputs]
        if shown != counted or query.having is not None or query.order or query.limit is not None:
            raise BadQuestion("a stream is asked a count as it is: without arithmetic on it, HAVING, ORDER BY or LIMIT")
        if plan.distance(plan.measures[0]).linf > self.mechanism.sensitivity.linf:
            raise BadQuestion(
                "one unit can move this count by more than the stream was opened for; ask about the first table alone"
            )
        return plan

    def _count(self, plan: Plan) -> int:
        return int(self._curator.engine.answer(plan).cells[0][0])


def _written(state: State) -> bytes:
    return canonical(state).encode()


def _read(state: bytes) -> State:
    with reading("the state of this stream"):
        read: State = loads(state)
    return read
