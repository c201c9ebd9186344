"""Bounds that are bought: where the values of a column lie, for a share of the budget.

The values are counted between public edges, and noise is added to the counts.  With probability 1 - beta no noise
exceeds t, so where a noisy count does there are values; the outermost such counts give the bounds.  At most 2 t values
lie in each cell outside of them.

The edges of numbers double, ..., -4, -2, -1, 0, 1, 2, 4, ... steps of the grid, so that bounds are found to within a
factor of two.  Those of dates and timestamps are where years begin, or centuries before 1900 and after 2100.

The answer is lines for a schema, which its owner may write there; nothing is clamped to them unseen.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..core.distance import Distance
from ..core.errors import BadParameter, BadQuestion
from ..core.exact import from_above
from ..core.parameters import Number, exactly_one, positive, probability
from ..core.purpose import Purpose
from ..core.safe_text import json_text, visible
from ..ledger import Charge
from ..mechanisms import Gaussian, Laplace
from ..query.plan.buying import sells_gaussian
from ..query.plan.draw import noisy
from ..query.plan.offer import Paid, checked_share
from ..query.plan.plan import BinCounts, QueryPlan
from ..query.relation import build
from ..query.values.domain import DAY, EPOCH, Label, ValueDomain
from . import identity
from .purchase import Draw, Order, Parts, Priced, buy, checked_fresh

if TYPE_CHECKING:
    from ..query.python.table import DeclaredTable
    from ..query.relation.relation import Relation
    from .curator import Curator
    from .purse import Purse

_CENTURIES, _YEARS = range(100, 10_000, 100), range(1900, 2101)


class Asker(Protocol):
    """Whoever may buy bounds: what is public of the first table, and what a purchase is paid from."""

    @property
    def table(self) -> DeclaredTable: ...
    @property
    def unspent(self) -> Purse: ...
    def who(self, analyst: str | None) -> str: ...
    def purse(self, relation: Relation | None, analyst: str | None) -> Purse: ...


class BoundsTerms(Paid, total=False):
    """The price of bounds, with which probability they may be wrong, whether to draw anew, and who buys them."""

    beta: Number
    fresh: bool | str
    analyst: str | None


@dataclass(frozen=True)
class Bounds:
    """The bounds that were bought: about where the values of a column lie.

    With probability 1 - beta there are values in the outermost cells, and at most `beyond` in each cell outside.
    """

    column: str
    lower: Label | None
    upper: Label | None
    beta: Fraction
    beyond: float

    def __str__(self) -> str:
        if self.lower is None:
            too_few = f"too few values of {visible(self.column)} lie together for this price"
            return f"No bounds were found: {too_few}. Buy them at a higher price."
        times = isinstance(self.lower, date)
        there = "in the first and in the last year" if times else "within a factor of two of both"
        each = f"year (or century, before {_YEARS[0]} and after {_YEARS[-1]})" if times else "doubling"
        sure = f"# with probability {float(1 - self.beta):g} there are values {there},"
        sure += f" and at most {from_above(self.beyond, 3)} in each {each} beyond"
        name, lower, upper = json.dumps(self.column, ensure_ascii=False), _toml(self.lower), _toml(self.upper)
        return f"[columns.{json_text(name)}]\nlower = {lower}\nupper = {upper}\n{sure}"


def _toml(label: Label | None) -> str:
    """A bound as it is written in a schema."""
    return f"{label.isoformat()}Z" if isinstance(label, datetime) else str(label)


def edges(domain: ValueDomain) -> tuple[int, ...]:
    """The public edges of the cells in steps of the grid: the bounds of a domain, and those between them."""
    lower, upper = domain.lower, domain.upper
    if domain.kind == "number":
        powers = [1 << k for k in range(max(abs(lower), abs(upper)).bit_length() + 1)]
        between = {0, *powers, *(-p for p in powers)}
    else:
        steps = DAY if domain.kind == "timestamp" else 1
        between = {(date(year, 1, 1) - EPOCH).days * steps for year in {*_CENTURIES, *_YEARS}}
    return tuple(sorted({lower, upper + 1} | {e for e in between if lower < e <= upper}))


def buy_bounds(
    curator: Curator,
    column: str,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    share: Number | None = None,
    beta: Number = "0.01",
    fresh: bool | str = False,
    analyst: str | None = None,
    **unknown: object,
) -> Bounds:
    """Bounds of a column; with probability 1 - beta both are of values that are there.  Asked again they are free."""
    if unknown:
        allowed = "epsilon (and delta), rho or share, and perhaps beta, fresh and analyst"
        raise BadParameter("terms", " ".join(unknown), allowed)
    arrived, price = curator.pace.arrival(), {"epsilon": epsilon, "delta": delta, "rho": rho, "share": share}
    plan, who, failure = bounds_plan(curator, column), curator.who(analyst), probability("beta", beta)
    histogram, typed = plan.measures[0], _typed(price)
    assert isinstance(histogram, BinCounts)
    cells, moves = len(histogram.edges) - 1, plan.distance(histogram)
    noises = _noises(curator.unspent, price, moves)
    noises.sort(key=lambda noise: noise.error(beta=failure, size=cells))
    registration, draw = curator._registration, checked_fresh(fresh)
    candidates = {registration.key(identity.draw(identity.bounds(plan, noise), draw, who)): noise for noise in noises}

    def priced(parts: Parts) -> Priced:
        purse = curator._purse(parts, who)
        affordable = _affordable(purse, noises, price)
        if not affordable:
            raise purse.nothing(typed[1])
        loss = affordable[0].loss()
        purse.check(loss, typed)
        purse.warn(loss, typed)
        key = next(key for key, noise in candidates.items() if noise == affordable[0])
        return Priced(key, loss, Purpose("bounds", f"bounds of {column}"))

    def prepare(charge: Charge) -> Draw:
        noise = candidates[charge.key]
        return lambda read, source: json.dumps(noisy(noise, read(plan).cells[0][0], source)).encode()

    order = Order(
        relation=plan.relation,
        keys=[*candidates],
        analyst=who,
        price=priced,
        admit=curator.admit,
        prepare=prepare,
        form="bounds",
        fresh=draw is True,
        whole=True,
    )
    charge, stored = buy(registration, curator.pace, arrived, order)
    return read_bounds(column, histogram, json.loads(stored), candidates[charge.key], failure)


def read_bounds(
    column: str, histogram: BinCounts, counts: Sequence[int], noise: Laplace | Gaussian, failure: Fraction
) -> Bounds:
    """The bounds that noisy counts between the edges show."""
    domain, most = histogram.expression.domain, noise.error(beta=failure, size=len(histogram.edges) - 1)
    occupied = np.flatnonzero(np.array(counts) > most)
    if not occupied.size:
        return Bounds(column, None, None, failure, 2 * most)
    low, high = histogram.edges[occupied[0]], histogram.edges[occupied[-1] + 1]
    last = min(high, domain.upper) if domain.kind == "number" else high - 1  # of a year
    return Bounds(column, domain.label(low), domain.label(last), failure, 2 * most)


def check_bounds(
    curator: Asker,
    column: str,
    *,
    beta: Number = "0.01",
    fresh: bool | str = False,
    analyst: str | None = None,
    **price: Any,
) -> dict[str, Any]:
    """The price and the beta of bounds; what public facts refuse is refused.  A service may set the price."""
    if unknown := price.keys() - Paid.__annotations__.keys():
        allowed = "epsilon (and delta), rho or share, and perhaps beta, fresh and analyst"
        raise BadParameter("terms", " ".join(unknown), allowed)
    plan, _ = bounds_plan(curator, column), curator.who(analyst)
    probability("beta", beta)
    if _given(price):
        _noises(curator.unspent, price, plan.distance(plan.measures[0]))
    checked_fresh(fresh)
    return {**price, "beta": beta}


def surcharge(curator: Asker, column: str, *, beta: Number = "0.01", **price: Any) -> str:
    """A clause that says so where bounds would take more of the budget than the number that was typed; else ""."""
    if not _given(price):
        return ""
    plan, purse = bounds_plan(curator, column), curator.purse(None, None)
    (histogram,), failure = plan.measures, probability("beta", beta)
    noises = _affordable(purse, _noises(purse, price, plan.distance(histogram)), price)
    if not noises:
        raise purse.nothing(_typed(price)[1])
    best = min(noises, key=lambda noise: noise.error(beta=failure, size=len(histogram.edges) - 1))  # type: ignore[union-attr]
    return purse.surcharge(best.loss(), _typed(price))


def bounds_plan(curator: Asker, column: str) -> QueryPlan:
    """The plan of the counts of a column between public edges."""
    relation = curator.table.relation
    values = build.column(relation, column)
    if values.domain.kind not in ("number", "date", "timestamp"):
        kind = values.domain.kind
        raise BadQuestion(f"Bounds can be bought for numbers and dates; the column {column!r} is of type {kind}.")
    return QueryPlan(relation, (), (BinCounts(values, edges(values.domain)),))


def _given(price: Mapping[str, Any]) -> bool:
    return any(number is not None for number in price.values())


def _typed(price: Mapping[str, Any]) -> tuple[str, Number]:
    """Which of epsilon, rho and share was given, and how much."""
    typed: tuple[str, Number] = exactly_one(**{name: price.get(name) for name in ("epsilon", "rho", "share")})
    if price.get("delta") is not None and typed[0] != "epsilon":
        raise BadParameter("delta", price["delta"], "given with epsilon alone")
    return typed


def _noises(purse: Purse, price: Mapping[str, Any], moves: Distance[Any]) -> list[Laplace | Gaussian]:
    """The noises that may be added: for a share, every kind that the budget sells; at a delta, Gaussian noise too."""
    name, number = _typed(price)
    if name == "share":
        ways = purse.ways(number)
    else:
        ways = [(positive(name, number), None) if name == "epsilon" else (None, positive(name, number))]
    noises = [Laplace(epsilon=e, sensitivity=moves) if e else Gaussian(rho=r, sensitivity=moves) for e, r in ways]
    if (delta := price.get("delta")) is not None and probability("delta", delta) and sells_gaussian(purse.budget):
        noises.append(Gaussian(epsilon=number, delta=delta, sensitivity=moves))
    return noises


def _affordable(
    purse: Purse, noises: Sequence[Laplace | Gaussian], price: Mapping[str, Any]
) -> Sequence[Laplace | Gaussian]:
    """The noises that take no more of the budget than the share, if one was given."""
    if (share := price.get("share")) is None:
        return noises
    return [noise for noise in noises if purse.affords(noise.loss(), checked_share(share, purse.least_share))]
