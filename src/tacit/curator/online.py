"""Linear queries one after the other: private multiplicative weights, whose life the ledger keeps.

The price is paid when it opens, for any number of questions.  When no update is left the public model answers alone,
and says so.  Opened again by its analyst with the same terms it goes on where it was; a question asked before is
answered as then.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..core.errors import BadParameter, BadQuestion, reading
from ..core.parameters import Number, instance
from ..core.randomness import SYSTEM, Source
from ..core.safe_text import visible
from ..core.search import least_positive
from ..mechanisms._grid import power_of_two
from ..query.plan.offer import checked_share
from ..query.python.table_domain import Counted, TableDomain
from ..query.relation import build
from ..storage import canonical, loads
from ..workloads import Price
from ..workloads.methods.weights.pmw import Answer, PrivateMultiplicativeWeights, State
from ..workloads.methods.weights.pmw_plans import practical, proven
from ..workloads.models.multiplicative_weights import Question, Weights
from ..workloads.models.records import Arrow, drawn
from ..workloads.queries.workload import STEP
from . import identity
from .silence import silently

if TYPE_CHECKING:
    from .curator import Curator

_MOST = 2.0**20  # of epsilon or rho: more is no promise to anybody


class Online:
    """One life of private multiplicative weights over a table."""

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
        steps = power_of_two("grid", grid)
        if not STEP <= steps <= 1:
            raise BadParameter("grid", grid, "at least 2^-20 and at most 1")

        def life(price: Price) -> PrivateMultiplicativeWeights:
            if updates is None:
                return proven(domain, n, price, questions=queries, grid=steps)
            return practical(domain, n, price, questions=queries, updates=updates, grid=steps)

        who = curator.who(analyst)  # whose it is: another pays for a life of their own, within their own allowance

        self._spelling = curator.ledger.former_spelling

        def named(price: Price) -> list[str]:
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
                spelling=self._spelling,
            )

        ways = {key: price for price in (*prices, *former) for key in named(price)}
        purse = curator.purse(None, who)
        charge = curator.ledger.find(*ways)
        if charge is None:
            build.bounded(domain.relation)
        if charge is None and typed[0] == "share":
            part = checked_share(typed[1], purse.least_share)
            prices = [price for price in prices if purse.affords(life(price).loss(), part)]
            if not prices:
                raise purse.nothing(typed[1])
        price = prices[0] if charge is None else ways[charge.key]
        key, self.mechanism = named(price)[0] if charge is None else charge.key, life(price)
        if charge is None:
            purse.check(self.mechanism.loss(), typed)
            purse.warn(self.mechanism.loss(), typed)
        if (within := self.mechanism.error()) >= n and charge is None:
            low = float(price.amount)

            def good(amount: float) -> bool:
                return life(price.part(Fraction(amount) / price.amount)).error() < n

            need = least_positive(good, floor=low, ceiling=_MOST, precision=2.0**-6)
            enough = "no price" if need == math.inf else f"about {price.part(Fraction(need) / price.amount)}"
            raise BadQuestion(
                f"answers within {within:g} of about {n} records are no promise; {enough} would be enough,"
                " or fewer queries or updates"
            )
        self.data = Counted(domain, lambda plan: curator.engine.answer(plan).cells[0])
        self._curator = curator
        self._warm: dict[bytes, State] = {}  # the state that was written last, with its model; whoever takes it owns it
        self._session = curator.ledger.start(
            key=key,
            loss=self.mechanism.loss(),
            state=canonical(self.mechanism.begin(SYSTEM)).encode(),
            analyst=who,
            plan=f"{name}: multiplicative weights on {' x '.join(domain.names)}",
        )

    def ask(self, question: Question | Mapping[str, Any]) -> Answer:
        """How many records satisfy a condition on each of some attributes, as {"region": "north", "age": range(18)}.

        Or any `Question`, of coefficients between 0 and 1 in steps of the grid that it was opened with.
        """
        arrived = self._curator.pace.arrival()
        if isinstance(question, Question):
            asked = Question(question.factors, question.grid).coarsest  # made anew, with nothing remembered
        else:
            asked = Question.where(self.data.domain, question)
        sizes = dict(enumerate(self.data.domain.shape))
        if any(len(steps) != math.prod(sizes.get(axis, 0) for axis in axes) for axes, steps in asked.factors):
            raise BadParameter("question", asked.axes, "on attributes of the domain, a coefficient for each value")
        if (asked.grid / self.mechanism.grid).denominator != 1:
            steps = "coefficients 0 and 1 alone" if self.mechanism.grid == 1 else f"steps of {self.mechanism.grid}"
            raise BadParameter("question", f"one in steps of {asked.grid}", f"one of {steps}, by the grid of this life")

        def step(kept: bytes) -> tuple[bytes, bytes]:
            state = self._warm.pop(kept, None) or _read(kept)
            truth = 0 if self.mechanism.over(state) else silently(lambda: asked.exactly(self.data))
            after, answer = silently(lambda: self.mechanism.step(state, (asked, truth), SYSTEM))
            then = canonical(after).encode()
            self._warm = {then: after}
            return then, canonical(answer).encode()

        key, *former = map(self._curator.key, identity.online_question(asked, spelling=self._spelling))
        key = next((each for each in former if self._session.find(each) is not None), key)
        told: Answer = _read(self._curator.step(self._session, key, self.data.domain.relation, arrived, step))
        return told

    def __repr__(self) -> str:
        m, names = self.mechanism, visible(" x ".join(self.data.domain.names))
        return f"Online({names}, n={m.n}, queries={m.questions}, updates={m.updates})"

    @property
    def model(self) -> Weights:
        """The public model, from which any linear query can be computed, free."""
        return self.mechanism.model(_read(self._session.read()[1]))

    @property
    def left(self) -> int:
        """How many more times the model may be moved."""
        return self.mechanism.updates - len(_read(self._session.read()[1]).moves)

    def synthetic(self, n: int, source: Source = SYSTEM) -> Arrow:
        """n rows, as a table of Arrow, that follow the model."""
        return drawn(self.model, n, source)


def _read(text: bytes) -> Any:
    with reading("the state of this online session, or an answer of it,"):
        return loads(text)
