"""Continual counts through the ledger: the running totals of a count, released as its periods end, at one price.

The question groups a count by its periods, as in `SELECT DATE_TRUNC('month', day) AS month, COUNT(*) AS n ... GROUP BY
month`, and the periods are its public groups, in order.  `advance` closes all periods up to a given one: their rows are
counted as the table is then, measured with noise, and never read again; rows that arrive later for a closed period do
not count.  So each period enters the session once, and the price is that of `mechanisms.continual`.

A row lies in one period.  Where the unit of privacy is a row, it therefore adds at most 1 to all counts together.  Of a
person with many rows, those that are used may be others once the table has grown, and could add more in all than `rows`
allows: such tables are refused.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import BadParameter, BadQuestion, reading
from ..core.exact import down
from ..core.parameters import Number, exactly_one, instance, positive, probability, whole
from ..core.purpose import Purpose
from ..core.randomness import SYSTEM
from ..core.safe_text import cell
from ..mechanisms import Gaussian
from ..mechanisms.continual._continual_count import MOST_PERIODS, ContinualCount, CountState
from ..mechanisms.continual.toeplitz_count import ToeplitzCount
from ..mechanisms.continual.tree_count import TreeCount
from ..query.plan import compiler
from ..query.plan.buying import sells_gaussian
from ..query.plan.offer import BETA, Paid
from ..query.plan.plan import QueryPlan, RowCount, UnitCount
from ..query.relation.relation import Derive, Relation, Scan, Where
from ..query.select.outputs import ReleasedColumn
from ..query.values.domain import Label
from ..storage import canonical, loads
from . import identity
from .purchase import Read
from .session import InteractiveSession, Opening, open_mechanism
from .silence import silently

if TYPE_CHECKING:
    from ..ledger import Charge
    from .curator import Curator
    from .purse import Purse
    from .questions import QuestionLike

METHODS = ("toeplitz", "tree", "independent")
BRANCHES = (2, 3, 4, 6, 8, 12, 16, 24, 32)


class ContinualTerms(Paid, total=False):
    """The price of continual counts, how they are measured, and who buys them under which name."""

    method: str
    beta: Number
    name: str
    analyst: str | None


@dataclass(frozen=True)
class Way:
    """One way to measure running totals: with probability 1 - beta each, they are within `error`, in every period."""

    method: str
    mechanism: ContinualCount
    error: float

    def __str__(self) -> str:
        m = self.mechanism
        tree = f" of {m.branches} branches" if isinstance(m, TreeCount) and self.method == "tree" else ""
        noise = "Gaussian" if isinstance(m.noise, Gaussian) else "Laplace"
        return f"{self.method}{tree}, {noise} noise: each running total within {self.error:.4g}"


@dataclass(frozen=True)
class RunningTotals:
    """Running totals, or sums over the last `window` periods, at the end of each period that was closed.

    Each lies within its error of the truth with probability 1 - beta.
    """

    name: str
    periods: tuple[Label, ...]
    values: tuple[float, ...]
    errors: tuple[float, ...]
    beta: float
    window: int | None = None

    def rows(self) -> list[dict[str, Any]]:
        """One mapping for each period."""
        what = "total" if self.window is None else f"last_{self.window}"
        lines = zip(self.periods, self.values, self.errors, strict=True)
        return [{self.name: p, what: v, "lower": v - e, "upper": v + e} for p, v, e in lines]

    def to_csv(self) -> str:
        """The rows as CSV."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        for i, row in enumerate(self.rows()):
            if not i:
                writer.writerow(map(cell, row))
            writer.writerow(row.values())
        return text.getvalue()

    def __str__(self) -> str:
        lines = [f"{p}  {v:.1f} +-{e:.1f}" for p, v, e in zip(self.periods, self.values, self.errors, strict=True)]
        return "\n".join([*lines, f"with probability {1 - self.beta:g} each"])


class ContinualCounts:
    """Running totals of a count over public periods."""

    def __init__(
        self,
        curator: Curator,
        question: QuestionLike,
        *,
        method: str = "auto",
        beta: Number = BETA,
        name: str = "counts",
        analyst: str | None = None,
        **price: Any,
    ) -> None:
        if unknown := price.keys() - Paid.__annotations__.keys():
            allowed = "epsilon (and delta), rho or share, and perhaps method, beta, name and analyst"
            raise BadParameter("terms", " ".join(unknown), allowed)
        if method not in ("auto", *METHODS):
            raise BadParameter("method", method, f"one of auto, {', '.join(METHODS)}")
        self._curator, self._name, self._who = curator, instance("name", name, str), curator.who(analyst)
        self._method, self.beta = method, probability("beta", beta)
        self._price: Mapping[str, Any] = {"delta": None, **price}
        self._typed: tuple[str, Number] = exactly_one(**{p: price.get(p) for p in ("epsilon", "rho", "share")})
        if self._price["delta"] is not None and self._typed[0] != "epsilon":
            raise BadParameter("delta", self._price["delta"], "given with epsilon alone")
        self.plan = counted(curator, question)
        (key,) = self.plan.keys
        self.name, self.periods = key.name, tuple(key.labels())
        self._session: InteractiveSession | None = None

    @property
    def ways(self) -> tuple[Way, ...]:
        """The best way of each method to measure the totals for this price, best first; no data, nothing charged."""
        best: dict[str, Way] = {}
        for way in self._ways:
            best.setdefault(way.method, way)
        return tuple(best.values())

    @cached_property
    def _ways(self) -> tuple[Way, ...]:
        """Every way that this price buys, best first."""
        moves = self.plan.distance(self.plan.measures[0])
        given: dict[str, Any] = {"periods": len(self.periods), "sensitivity": moves}
        found: list[tuple[str, ContinualCount]] = []
        for paid in _paid(self._curator.unspent, self._price, self._typed):
            if "rho" in paid or "delta" in paid:
                found.append(("toeplitz", ToeplitzCount(**given, **paid)))
            trees = (b for b in BRANCHES if b <= len(self.periods))
            found += [("tree", TreeCount(**given, **paid, branches=b)) for b in trees]
            found.append(("independent", TreeCount(**given, **paid, levels=1)))
        beta = down(self.beta)
        ways = [Way(how, m, float(np.max(m.radii(beta)))) for how, m in found if self._method in ("auto", how)]
        if not ways:
            wrong = "The square root of running totals needs Gaussian noise. Give rho, or epsilon and delta."
            raise BadParameter("method", self._method, "one that this price buys", says=wrong)
        return tuple(sorted(ways, key=lambda way: way.error))

    @property
    def _opening(self) -> Opening[ContinualCount]:
        def key(mechanism: ContinualCount) -> str:
            return identity.continual(self._name, self._who, self.plan, mechanism)

        return Opening(
            offered={key(way.mechanism): way.mechanism for way in self._ways},
            former={},
            mechanism=lambda mechanism: mechanism,
            begin=lambda mechanism: canonical(mechanism.begin(SYSTEM)).encode(),
            check=lambda mechanism, _: self._curator.admit(key(mechanism), mechanism.loss(), None),
            typed=self._typed,
            purpose=lambda mechanism: Purpose("stream", f"{self._name}: continual counts by {self.name}, {mechanism}"),
        )

    def _open(self) -> InteractiveSession:
        """The session: that which was opened before, or a new one that is charged."""
        if self._session is None:
            c = self._curator
            purse = c.purse(None, self._who)
            self.mechanism, self._session = open_mechanism(c._registration, c.pace, purse, self._who, self._opening)
        return self._session

    @property
    def charge(self) -> Charge | None:
        """The charge that paid for these counts, or None if nothing was bought yet."""
        if self._session is None and self._curator.ledger.find(*self._opening.offered) is None:
            return None
        return self._open().stored.charge

    def advance(self, through: Label | str) -> RunningTotals:
        """Close all periods up to this one, and return the running totals at the end of each closed period.

        A period is named by its label in an answer that is grouped by it, such as 2026-11-01; 2026-11 will do.  The
        first call pays for all periods; a period that was closed before is free, and is not read again.
        """
        arrived, wanted, session = self._curator.pace.arrival(), self._place(through) + 1, self._open()
        (key,), plan = self.plan.keys, self.plan
        assert key.values is not None
        values = key.values

        def step(stored: bytes, read: Read) -> tuple[bytes, bytes]:
            state = _read(stored)
            done = len(state.counts)
            if done >= wanted:  # another process was there first
                return stored, b"[]"

            def measured() -> CountState:  # exact counts are in no frame of an error
                open_periods = replace(key, values=values[done:wanted])
                exact = read(replace(plan, keys=(open_periods,))).cells[0]
                return self.mechanism.extend(state, exact, SYSTEM)[0]

            after = silently(measured)
            return canonical(after).encode(), canonical(list(after.measured[len(state.measured) :])).encode()

        if self.closed < wanted:
            session.ask(arrived, [("close periods", wanted)], plan.relation, step)
        return self.totals()

    def totals(self, window: int | None = None) -> RunningTotals:
        """The running totals at the end of each closed period, or the sums of the last `window` periods; free."""
        if window is not None:
            window = whole("window", window)
        state = CountState() if self.charge is None else _read(self._open().state)
        measured, closed = state.measured, len(state.counts)
        if not closed:
            return RunningTotals(self.name, (), (), (), float(self.beta), window)
        values = self.mechanism.windows(measured, window)
        errors = self.mechanism.radii(down(self.beta), window, range(1, closed + 1))
        return RunningTotals(
            self.name, self.periods[:closed], tuple(values.tolist()), tuple(errors.tolist()), float(self.beta), window
        )

    @property
    def closed(self) -> int:
        """How many periods were closed."""
        return 0 if self.charge is None else len(_read(self._open().state).counts)

    @property
    def left(self) -> int:
        """How many periods are still open."""
        return len(self.periods) - self.closed

    def _place(self, through: Label | str) -> int:
        names = {str(label): i for i, label in enumerate(self.periods)}
        text = through.isoformat(" ") if isinstance(through, datetime) else str(through)
        for ending in ("", "-01", "-01-01"):
            if (place := names.get(f"{text}{ending}")) is not None:
                return place
        raise BadParameter("through", text, f"a period from {self.periods[0]} to {self.periods[-1]}, by its label")

    def __repr__(self) -> str:
        return f"ContinualCounts({len(self.periods)} periods from {self.periods[0]} to {self.periods[-1]})"


def counted(curator: Curator, question: QuestionLike) -> QueryPlan:
    """The plan of a count that is grouped by its periods alone; what else cannot be counted continually is refused."""
    query, terms = curator.read(question, {})
    plan = replace(compiler.plan(query, curator.schemas), groups=None)
    shown = {name for name, _ in query.aggregates} | {key.name for key in query.keys}
    plain = all(isinstance(output, ReleasedColumn) and output.name in shown for _, output in query.outputs)
    one = len(plan.keys) == len(plan.measures) == 1 and isinstance(plan.measures[0], RowCount | UnitCount)
    if not one or not plain or terms.keys() > {"beta"} or query.having is not None or query.limit is not None:
        raise BadQuestion(
            "Continual counts are of one count, grouped by its periods alone: SELECT DATE_TRUNC('month', day) AS month,"
            " COUNT(*) AS n FROM visits GROUP BY month."
        )
    (key,) = plan.keys
    if key.values is None or key.domain.kind not in ("date", "timestamp", "number"):
        raise BadQuestion("The periods of continual counts need a public order: group by dates, or by numbers.")
    if len(key.values) > MOST_PERIODS:
        raise BadQuestion(f"Continual counts have at most {MOST_PERIODS} periods, not {len(key.values)}.")
    _check_unit(curator, plan.relation)
    return plan


def _check_unit(curator: Curator, relation: Relation) -> None:
    """Refuse where one unit could add more to all counts together than the plan says, as the table grows."""
    source = relation
    while isinstance(source, Where | Derive):
        source = source.source
    if not isinstance(source, Scan):
        raise BadQuestion("Continual counts are of the rows of one table, without joins and without rows per unit.")
    schema = curator.schemas[source.table]
    if schema.unit is not None:
        raise BadQuestion(
            f"The rows of one {schema.unit} that are used may change as the table grows, so they could count more often"
            " than `rows` allows. Continual counts need a table in which each row is a unit of its own."
        )


def _paid(purse: Purse, price: Mapping[str, Any], typed: tuple[str, Number]) -> list[dict[str, Any]]:
    """The noises that the price buys: for a share, every kind that the budget sells; at a delta, Gaussian noise too."""
    name, number = typed
    if name == "share":
        return [{"rho": rho} if epsilon is None else {"epsilon": epsilon} for epsilon, rho in purse.ways(number)]
    paid: list[dict[str, Any]] = [{name: positive(name, number)}]
    if (delta := price["delta"]) is not None and probability("delta", delta) and sells_gaussian(purse.budget):
        paid.append({"epsilon": number, "delta": delta})
    return paid


def _read(state: bytes) -> CountState:
    with reading("the state of these continual counts"):
        read: CountState = loads(state)
    return read
