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
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from ..core.distance import Distance
from ..core.errors import BadParameter, BadQuestion
from ..core.exact import from_above
from ..core.parameters import Number, exactly_one, probability
from ..core.safe_text import json_text, visible
from ..mechanisms import Gaussian, Laplace
from ..tables import build
from ..tables.domain import DAY, EPOCH, Domain, Label
from ..tables.draw import noisy
from ..tables.plan import Histogram, Plan
from .silence import silently

if TYPE_CHECKING:
    from .curator import Curator

_CENTURIES, _YEARS = range(100, 10_000, 100), range(1900, 2101)


class BoundsTerms(TypedDict, total=False):
    """The price of bounds, in epsilon or rho, with which probability they may be wrong, and who buys them."""

    epsilon: Number | None
    rho: Number | None
    beta: Number
    analyst: str | None


@dataclass(frozen=True)
class Bounds:
    """What was bought: about where a column lies.

    With probability 1 - beta there are values in the outermost cells, and at most `beyond` in each cell outside.
    """

    column: str
    lower: Label | None
    upper: Label | None
    beta: Fraction
    beyond: float

    def __str__(self) -> str:
        if self.lower is None:
            return (
                f"no bounds were found: too few values of {visible(self.column)} are alike for this price; ask for more"
            )
        times = isinstance(self.lower, date)
        there = "in the first and in the last year" if times else "within a factor of two of both"
        each = f"year (or century, before {_YEARS[0]} and after {_YEARS[-1]})" if times else "doubling"
        sure = f"# with probability {float(1 - self.beta):g} there are values {there},"
        sure += f" and at most {from_above(self.beyond, 3)} in each {each} beyond"
        name, lower, upper = json.dumps(self.column, ensure_ascii=False), _toml(self.lower), _toml(self.upper)
        return f"[columns.{json_text(name)}]\nlower = {lower}\nupper = {upper}\n{sure}"


def _toml(label: Label | None) -> str:
    """A bound as a schema has it."""
    return f"{label.isoformat()}Z" if isinstance(label, datetime) else str(label)


def edges(domain: Domain) -> tuple[int, ...]:
    """The public edges between the bounds of a domain, and these, in steps."""
    lower, upper = domain.lower, domain.upper
    if domain.kind == "number":
        powers = [1 << k for k in range(max(abs(lower), abs(upper)).bit_length() + 1)]
        between = {0, *powers, *(-p for p in powers)}
    else:
        steps = DAY if domain.kind == "timestamp" else 1
        between = {(date(year, 1, 1) - EPOCH).days * steps for year in {*_CENTURIES, *_YEARS}}
    return tuple(sorted({lower, upper + 1} | {e for e in between if lower < e <= upper}))


def buy(
    curator: Curator,
    column: str,
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    beta: Number = "0.01",
    analyst: str | None = None,
    **unknown: object,
) -> Bounds:
    """Bounds of a column; with probability 1 - beta both are of values that are there.  Asked again it is free."""
    if unknown:
        raise BadParameter("terms", " ".join(unknown), "epsilon or rho, and perhaps beta and analyst")
    arrived, relation = curator.pace.arrival(), curator.table.relation
    values = build.column(relation, column)
    domain = values.domain
    if domain.kind not in ("number", "date", "timestamp"):
        raise BadQuestion(f"the column {column!r} holds a {domain.kind}; bounds are of numbers and dates")
    histogram = Histogram(values, edges(domain))
    plan, cells = Plan(relation, (), (histogram,)), len(histogram.edges) - 1
    noise = _noise(epsilon, rho, plan.distance(histogram))
    told = probability("beta", beta)  # before it is charged
    most = noise.error(beta=told, size=cells)
    charge = curator.ledger.charge(
        key=curator.key(("bounds", plan, noise)),
        loss=noise.loss(),
        analyst=curator.who(analyst),
        plan=f"bounds of {column}",
    )
    stored = charge.release
    if stored is None:

        def draw() -> bytes:
            drawn = silently(lambda: noisy(noise, curator.engine.answer(plan).cells[0][0]))
            return curator.ledger.store(charge, json.dumps(drawn).encode(), form="bounds")

        stored = curator.pace.let_out(arrived, charge.seq, draw)
    found = np.flatnonzero(np.array(json.loads(stored)) > most)
    if not found.size:
        return Bounds(column, None, None, told, 2 * most)
    low, high = histogram.edges[found[0]], histogram.edges[found[-1] + 1]
    last = min(high, domain.upper) if domain.kind == "number" else high - 1  # of a year
    return Bounds(column, domain.label(low), domain.label(last), told, 2 * most)


def _noise(epsilon: Number | None, rho: Number | None, moves: Distance[Any]) -> Laplace | Gaussian:
    exactly_one(epsilon=epsilon, rho=rho)
    return Gaussian(rho=rho, sensitivity=moves) if epsilon is None else Laplace(epsilon=epsilon, sensitivity=moves)
