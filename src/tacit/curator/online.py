"""Linear queries one after the other: private multiplicative weights, in a session that the ledger keeps.

The price is paid when a session opens, for any number of questions.  When no update is left, the public model answers
alone, and says so.  A session that its analyst opens again with the same terms goes on where it was; a question that
was asked before is answered as it was then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..core.errors import BadParameter, BadQuestion, reading
from ..core.parameters import Number, instance, whole
from ..core.purpose import Purpose
from ..core.randomness import SYSTEM, Source
from ..core.safe_text import visible
from ..core.search import least_positive
from ..mechanisms._grid import power_of_two
from ..query.python.table_domain import Counted, TableDomain
from ..query.relation import build
from ..storage import canonical, loads
from ..workloads import Price
from ..workloads.methods.weights.pmw import OnlineAnswer, OnlineState, PrivateMultiplicativeWeights
from ..workloads.methods.weights.pmw_plans import practical, proven
from ..workloads.models.multiplicative_weights import LinearQuery, Weights
from ..workloads.models.records import Arrow, drawn
from ..workloads.queries.workload import STEP
from . import identity
from .purchase import Read
from .session import Opening, open_mechanism
from .silence import silently

if TYPE_CHECKING:
    from .curator import Curator

MAX_PRICE = 2.0**20  # of epsilon or rho: more is no promise to anybody


def online_mechanism(
    domain: TableDomain, *, n: int, queries: int, updates: int | None, grid: Number
) -> Callable[[Price], PrivateMultiplicativeWeights]:
    """What makes the mechanism of a session with these terms, for a price; terms that have no meaning are refused."""
    n, queries, steps = whole("n", n), whole("queries", queries), power_of_two("grid", grid)
    most = None if updates is None else whole("updates", updates)
    if not STEP <= steps <= 1:
        raise BadParameter("grid", grid, "at least 2^-20 and at most 1")
    if most is None:
        return lambda price: proven(domain, n, price, questions=queries, grid=steps)
    return lambda price: practical(domain, n, price, questions=queries, updates=most, grid=steps)


class Online:
    """A session of private multiplicative weights over a table."""

    def __init__(
        self,
        curator: Curator,
        domain: TableDomain,
        prices: Sequence[Price],
        former: Sequence[Price],
        typed: tuple[str, Number],
        *,
        n: int,
        queries: int,
        updates: int | None,
        grid: Number,
        name: str,
        analyst: str | None,
    ) -> None:
        mechanism = online_mechanism(domain, n=n, queries=queries, updates=updates, grid=grid)
        n, queries, steps = whole("n", n), whole("queries", queries), power_of_two("grid", grid)
        updates = None if updates is None else whole("updates", updates)
        who = curator.who(analyst)  # whose it is: another pays for a session of their own, within their own allowance

        self._former_spelling = curator.ledger.former_spelling

        def keys(price: Price) -> list[str]:
            return identity.online(
                instance("name", name, str),
                who,
                domain,
                price,
                n=n,
                queries=queries,
                updates=updates,
                grid=steps,
                schema=curator.table.schema.digest,
                former_spelling=self._former_spelling,
            )

        def check(opened: PrivateMultiplicativeWeights, price: Price) -> None:
            build.bounded(domain.relation)
            if (error := opened.error()) < n:
                curator.admit(keys(price)[0], opened.loss(), None)
                return

            def good(amount: float) -> bool:
                return mechanism(price.part(Fraction(amount) / price.amount)).error() < n

            need = least_positive(good, floor=float(price.amount), ceiling=MAX_PRICE, precision=2.0**-6)
            cheapest = "" if need == math.inf else f"at least {price.part(Fraction(need) / price.amount)}, or "
            raise BadQuestion(
                f"The guaranteed error ({error:g}) is not below the number of records (about {n})."
                f" Use {cheapest}fewer queries or updates."
            )

        opening = Opening(
            offered={keys(price)[0]: price for price in prices},
            former={
                **{key: price for price in prices for key in keys(price)[1:]},
                **{key: price for price in former for key in keys(price)},
            },
            mechanism=mechanism,
            begin=lambda opened: canonical(opened.begin(SYSTEM)).encode(),
            check=check,
            typed=typed,
            purpose=lambda _: Purpose("online", f"{name}: multiplicative weights on {' x '.join(domain.names)}"),
        )
        self.domain, self._curator, purse = domain, curator, curator.purse(None, who)
        self._warm: dict[bytes, OnlineState] = {}  # the last written state, with its model; whoever takes it owns it
        self.mechanism, self._session = open_mechanism(curator._registration, curator.pace, purse, who, opening)

    def ask(self, question: LinearQuery | Mapping[str, Any]) -> OnlineAnswer:
        """How many records satisfy a condition on each of some attributes, as {"region": "north", "age": range(18)}.

        A `LinearQuery` may have any coefficients between 0 and 1 in steps of the grid that the session was opened with.
        """
        arrived, asked = self._curator.pace.arrival(), self._asked(question)

        def step(stored: bytes, read: Read) -> tuple[bytes, bytes]:
            state = self._warm.pop(stored, None) or _read(stored)
            data = Counted(self.domain, lambda plan: read(plan).cells[0])

            def answered() -> tuple[OnlineState, OnlineAnswer]:  # the exact count is in no frame of an error
                truth = 0 if self.mechanism.over(state) else asked.exactly(data)
                return self.mechanism.step(state, (asked, truth), SYSTEM)

            after, answer = silently(answered)
            then = canonical(after).encode()
            self._warm = {then: after}
            return then, canonical(answer).encode()

        identities = identity.online_question(asked, former_spelling=self._former_spelling)
        answer: OnlineAnswer = _read(self._session.ask(arrived, identities, self.domain.relation, step))
        return answer

    def _asked(self, question: LinearQuery | Mapping[str, Any]) -> LinearQuery:
        """The question, in the coarsest steps that it has, if the session answers such."""
        if isinstance(question, LinearQuery):
            asked = LinearQuery(question.factors, question.grid).coarsest  # rebuilt, with nothing remembered
        else:
            asked = LinearQuery.where(self.domain, question)
        asked.check(self.domain)
        if (asked.grid / self.mechanism.grid).denominator != 1:
            steps = "coefficients 0 and 1 alone" if self.mechanism.grid == 1 else f"steps of {self.mechanism.grid}"
            raise BadParameter(
                "question", f"one in steps of {asked.grid}", f"one of {steps}, by the grid of this session"
            )
        return asked

    def __repr__(self) -> str:
        m, names = self.mechanism, visible(" x ".join(self.domain.names))
        return f"Online({names}, n={m.n}, queries={m.questions}, updates={m.updates})"

    @property
    def model(self) -> Weights:
        """The public model, from which any linear query can be computed, free."""
        return self.mechanism.model(_read(self._session.state))

    @property
    def left(self) -> int:
        """How many more times the model may be moved."""
        return self.mechanism.updates - len(_read(self._session.state).moves)

    def synthetic(self, n: int, source: Source = SYSTEM) -> Arrow:
        """An Arrow table of n rows that follow the model."""
        return drawn(self.model, n, source)


def _read(text: bytes) -> Any:
    with reading("the state of this online session, or an answer of it,"):
        return loads(text)
