"""Streams of counts through the ledger: any number of questions, of which only those above a threshold are paid.

A stream is one session of a sparse vector mechanism, paid for when it opens.  The ledger keeps its state, which holds
the noisy threshold: a stream that its analyst opens again with the same terms goes on where it was, in any process.  A
question that was asked before in the stream is answered as it was then.

Under add or remove a unit moves all counts the same way, so the noise is that of monotone queries.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypedDict

from ..core.distance import ADD_REMOVE, scalar
from ..core.errors import BadParameter, BadQuestion, Exhausted, reading
from ..core.parameters import Number, instance, rational
from ..core.purpose import Purpose
from ..core.randomness import SYSTEM
from ..ledger.parameters import text
from ..mechanisms import NumericSparse, Sparse
from ..mechanisms.sparse_vector._comparisons import ComparisonState
from ..query.plan import compiler
from ..query.plan.offer import BETA
from ..query.plan.plan import QueryPlan, RowCount, UnitCount
from ..query.select.outputs import ReleasedColumn
from ..storage import canonical, loads
from . import identity
from .purchase import Read
from .session import Opening, open_mechanism
from .silence import silently

if TYPE_CHECKING:
    from ..query.python.table import DeclaredTable
    from .curator import Curator
    from .questions import QuestionLike
    from .reader import QuestionReader

StreamAnswer = bool | int | float | None
QUERIES = 1000  # for which errors are stated, by default


class StreamTerms(TypedDict, total=False):
    """The price of a stream, how much it may answer, and who opens it under which name."""

    epsilon: Number | None
    share: Number | None
    count: int
    queries: int
    name: str
    analyst: str | None


Kind = type[Sparse] | type[NumericSparse]


def stream_mechanism(
    table: DeclaredTable,
    kind: Kind,
    *,
    threshold: int,
    epsilon: Number | None = None,
    share: Number | None = None,
    count: int = 1,
    queries: int = QUERIES,
    name: str = "stream",
    **unknown: object,
) -> Callable[[Number], Sparse | NumericSparse]:
    """What makes the mechanism of a stream with these terms, for an epsilon; terms that have no meaning are refused."""
    if unknown:
        allowed = "epsilon or share, and perhaps count, queries, name and analyst"
        raise BadParameter("terms", " ".join(unknown), allowed)
    if (epsilon is None) == (share is None):
        raise BadParameter("epsilon", epsilon, "given", says="A stream needs epsilon= or share=, and not both.")
    if rational("threshold", threshold).denominator != 1:
        raise BadParameter("threshold", threshold, "a whole number, as counts are")
    instance("name", name, str)
    moves = scalar(rational("rows", table.schema.rows), ADD_REMOVE)
    terms: dict[str, Any] = {"threshold": threshold, "count": count, "queries": queries}
    return lambda epsilon: kind(epsilon=epsilon, sensitivity=moves, monotone=True, **terms)


class Stream:
    """Asks of counts whether they reach a threshold."""

    def __init__(
        self,
        curator: Curator,
        kind: Kind,
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
        terms: dict[str, Any] = {"threshold": threshold, "count": count, "queries": queries, "name": name}
        terms |= {"epsilon": epsilon, "share": share, **unknown}
        mechanism = stream_mechanism(curator.table, kind, **terms)
        who = curator.who(analyst)
        purse = curator.purse(None, who)

        def key(epsilon: Number) -> str:
            return identity.stream(
                text("name", name),
                who,
                kind,
                threshold=int(rational("threshold", threshold)),
                epsilon=rational("epsilon", epsilon),
                count=mechanism(epsilon).count,
                schema=curator.table.schema.digest,
            )

        if epsilon is not None:
            typed, ways = ("epsilon", epsilon), [epsilon]
        else:
            assert share is not None
            typed, ways = ("share", share), [e for e, _ in purse.ways(share) if e is not None]
        opening = Opening(
            offered={key(each): each for each in ways},
            former={},
            mechanism=mechanism,
            begin=lambda opened: _written(opened.begin(SYSTEM)),
            check=lambda opened, price: curator.admit(key(price), opened.loss(), None),
            typed=typed,
            purpose=lambda opened: Purpose("stream", f"{name}: {opened}"),
        )
        self._curator: Curator = curator
        self._reader: QuestionReader = curator
        self.mechanism, self._session = open_mechanism(curator._registration, curator.pace, purse, who, opening)

    def ask(self, question: QuestionLike) -> StreamAnswer:
        """Whether the count reaches the threshold (or, in a numeric stream, about how much it is, else None)."""
        arrived, plan = self._curator.pace.arrival(), self._plan(question)

        def step(stored: bytes, read: Read) -> tuple[bytes, bytes]:
            state = _read(stored)
            if self.mechanism.over(state):
                allowed = self.mechanism.allowed
                over = f"This stream is exhausted: it has given its {allowed}."
                raise Exhausted(
                    "this stream", allowed, says=f"{over} Open another under a new name=, at its full price."
                )
            after, answer = silently(lambda: self.mechanism.step(state, int(read(plan).cells[0][0]), SYSTEM))
            return _written(after), json.dumps(answer).encode()

        answer: StreamAnswer = json.loads(self._session.ask(arrived, [plan], plan.relation, step))
        return answer

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
        return self.mechanism.count - _read(self._session.state).hits

    def _plan(self, question: QuestionLike) -> QueryPlan:
        query, terms = self._reader.read(question, {})
        plan = compiler.plan(query, self._reader.schemas)
        if (
            terms.keys() > {"beta"}
            or plan.keys
            or len(plan.measures) != 1
            or not isinstance(plan.measures[0], RowCount | UnitCount)
        ):
            raise BadQuestion("A stream answers one count, without groups and without a price of its own.")
        counted, shown = [ReleasedColumn(name) for name, _ in query.aggregates], [output for _, output in query.outputs]
        cut = query.limit is not None or query.offset or query.then
        if shown != counted or query.having is not None or query.order or cut:
            raise BadQuestion(
                "A stream answers a plain count, without arithmetic on it, HAVING, ORDER BY, LIMIT or OFFSET."
            )
        if plan.distance(plan.measures[0]).linf > self.mechanism.sensitivity.linf:
            raise BadQuestion(
                "One unit can move this count by more than the stream was opened for. Ask about the first table alone."
            )
        return plan


def _written(state: ComparisonState) -> bytes:
    return canonical(state).encode()


def _read(state: bytes) -> ComparisonState:
    with reading("the state of this stream"):
        read: ComparisonState = loads(state)
    return read
