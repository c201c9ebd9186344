"""Aggregates of groups of rows, each checked against the public domain of its argument."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from ...core.errors import BadQuestion
from ...core.parameters import Number, rational, whole
from ..relation import build
from ..values.coercion import kind_of, unbounded
from ..values.nodes import Column, Expression
from .query import MOST_CANDIDATES, Aggregate, AggregateKind

ORDERED = ("number", "date", "timestamp")
MOST_PLACES = 100
BAD_RANK = "The rank of a quantile must be strictly between 0 and 1, such as 0.01 or 0.99."
NAMES = {"deviation": "standard deviation"}
_COUNTED = " Or count them: GROUP BY the column, ORDER BY the count DESC, LIMIT k."


@dataclass(frozen=True, eq=False, repr=False)
class Argument:
    """The argument of an aggregate: an expression over one row.

    `columns` are the columns that a caller wrote it with; `name` is how an answer calls it, if it is a column or nearly
    one.
    """

    expression: Expression
    columns: frozenset[Column] = frozenset()
    name: str | None = None


ArgumentLike = (
    str | Argument | Callable[[Any], Argument]
)  # the name of a column, an expression, or a function of the rows


def aggregate(
    kind: AggregateKind,
    expression: Expression | None = None,
    at: Number | None = None,
    place: int = 1,
    k: int = 1,
    *,
    called: str = "",
) -> Aggregate:
    """A checked aggregate: sums need numbers with bounds, quantiles an order, most common values a public list.

    `called` is the name that a refusal uses, such as max for a quantile.
    """
    name = NAMES.get(kind, kind)
    if expression is None:
        if kind not in ("count", "units"):
            raise BadQuestion(f"A {name} needs a column or an expression.")
        return Aggregate(kind)
    domain = expression.domain
    rank = None
    match kind:
        case "sum" | "mean" | "variance" | "deviation":
            if domain.kind == "boolean":
                expression = build.cast(expression, "integer")
            elif domain.kind != "number":
                raise BadQuestion(f"A {name} needs numbers; {kind_of(expression)}.")
        case "quantile":
            if domain.kind not in ORDERED:
                computed = " is computed as a quantile and" if called in ("min", "max") else ""
                raise BadQuestion(
                    f"{(called or kind).upper()}{computed} needs numbers or dates; {kind_of(expression)}."
                )
            rank = None if at is None else rational("The rank of a quantile", at)
            if rank is None or not 0 <= rank <= 1:
                raise BadQuestion("The rank of a quantile must be from 0 to 1; the median is at 0.5.")
        case "top":
            if domain.size is not None and domain.size > MOST_CANDIDATES:
                raise BadQuestion(
                    f"The most common value can be chosen among at most {MOST_CANDIDATES} public values. Bin them."
                )
            size = len(build.keys(expression, otherwise=_COUNTED if domain.kind == "text" else ""))
            if not 1 <= place <= k <= min(size, MOST_PLACES):
                raise BadQuestion(f"k must be from 1 to {min(size, MOST_PLACES)}; the column has {size} values.")
    if kind not in ("count", "units", "distinct") and not domain.declared:
        raise unbounded(name, expression)
    return Aggregate(kind, expression, rank, place, k)


@dataclass(frozen=True)
class UnboundAggregate:
    """An aggregate whose rows are not yet known: `tacit.mean("age")`."""

    kind: AggregateKind | Literal["min", "max"]
    of: ArgumentLike | None = None
    at: Number | None = None
    k: int = 1
    called: str = ""

    @property
    def name(self) -> str:
        """The name of its column in an answer, unless the caller gives another."""
        column = self.of if isinstance(self.of, str) else self.of.name if isinstance(self.of, Argument) else None
        return f"{self.called or self.kind}_{column}" if column else self.called or self.kind

    def aggregates(self, name: str, expression: Expression | None) -> list[tuple[str, Aggregate]]:
        """The aggregates of an expression, and the name of each."""
        called = self.called or self.kind
        match self.kind:
            case "top" if self.k > 1:
                first = aggregate("top", expression, k=self.k, called=called)
                return [(f"{name}_{i}", replace(first, place=i)) for i in range(1, self.k + 1)]
            case "min" | "max":
                return [(name, aggregate("quantile", expression, self.at, called=called))]
        return [(name, aggregate(self.kind, expression, self.at, called=called))]


def count(of: ArgumentLike | None = None) -> UnboundAggregate:
    """The number of rows, or of rows in which the value is not missing."""
    return UnboundAggregate("count", of)


def units(of: ArgumentLike | None = None) -> UnboundAggregate:
    """The number of units, or of units that have a value that is not missing."""
    return UnboundAggregate("units", of)


def distinct(of: ArgumentLike) -> UnboundAggregate:
    """The number of different values, missing ones left out."""
    return UnboundAggregate("distinct", of)


def sum_(of: ArgumentLike) -> UnboundAggregate:
    """The sum."""
    return UnboundAggregate("sum", of)


def mean(of: ArgumentLike) -> UnboundAggregate:
    """The mean."""
    return UnboundAggregate("mean", of)


def variance(of: ArgumentLike) -> UnboundAggregate:
    """The variance of the population."""
    return UnboundAggregate("variance", of)


def stddev(of: ArgumentLike) -> UnboundAggregate:
    """The standard deviation of the population."""
    return UnboundAggregate("deviation", of, called="stddev")


def quantile(of: ArgumentLike, at: Number) -> UnboundAggregate:
    """The value below which a share `at` of the values lies."""
    return UnboundAggregate("quantile", of, at)


def median(of: ArgumentLike) -> UnboundAggregate:
    """The median."""
    return UnboundAggregate("quantile", of, Fraction(1, 2), called="median")


def min_(of: ArgumentLike, at: Number = Fraction(1, 100)) -> UnboundAggregate:
    """Nearly the least value: the quantile at 0.01, as the least is one person's.  In `per_unit`, the least itself."""
    return UnboundAggregate("min", of, at)


def max_(of: ArgumentLike, at: Number = Fraction(99, 100)) -> UnboundAggregate:
    """Nearly the largest value: the quantile at 0.99.  In `per_unit`, the largest."""
    return UnboundAggregate("max", of, at)


def mode(of: ArgumentLike) -> UnboundAggregate:
    """The most common value."""
    return UnboundAggregate("top", of, called="mode")


def top(of: ArgumentLike, k: int) -> UnboundAggregate:
    """The k most common values, in order, as columns top_..._1 to top_..._k."""
    return UnboundAggregate("top", of, k=whole("k", k))
