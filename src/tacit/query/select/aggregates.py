"""What may be asked of groups of rows: each kind checked against the public domain of what it is asked of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from ...core.errors import BadQuestion
from ...core.parameters import Number, rational, whole
from ..relation import build
from ..values.coercion import unbounded
from ..values.nodes import Column, Expression
from .query import MOST_CANDIDATES, Aggregate, Kind

ORDERED = ("number", "date", "timestamp")
MOST_PLACES = 100
_COUNTED = ", or count them: GROUP BY the column, ORDER BY the count DESC, LIMIT k"


@dataclass(frozen=True, eq=False, repr=False)
class Argument:
    """What an aggregate is taken of: an expression over one row.

    `columns` are the columns that a caller wrote it with; `name` is how an answer calls it, if it is a column or nearly
    one.
    """

    expression: Expression
    columns: frozenset[Column] = frozenset()
    name: str | None = None


Of = str | Argument | Callable[[Any], Argument]  # the name of a column, an expression, or a function of the rows


def aggregate(
    kind: Kind, expression: Expression | None = None, at: Number | None = None, place: int = 1, k: int = 1
) -> Aggregate:
    """An aggregate, if that can be asked: sums are of numbers with bounds, ranks need an order, tops a public list."""
    if expression is None:
        if kind not in ("count", "units"):
            raise BadQuestion(f"a {kind} is of something")
        return Aggregate(kind)
    domain = expression.domain
    rank = None
    match kind:
        case "sum" | "mean" | "variance" | "deviation":
            if domain.kind == "boolean":
                expression = build.cast(expression, "integer")
            elif domain.kind != "number":
                raise BadQuestion(f"a {kind} is of numbers; this is a {domain.kind}")
        case "quantile":
            if domain.kind not in ORDERED:
                raise BadQuestion(f"a quantile is of numbers or dates; this is a {domain.kind}")
            rank = None if at is None else rational("the rank of a quantile", at)
            if rank is None or not 0 <= rank <= 1:
                raise BadQuestion("the rank of a quantile is from 0 to 1; the median is at 0.5")
        case "top":
            if domain.size is not None and domain.size > MOST_CANDIDATES:
                raise BadQuestion(
                    f"the most common value is chosen among at most {MOST_CANDIDATES} public ones; declare or bin them"
                )
            size = len(build.keys(expression, otherwise=_COUNTED if domain.kind == "text" else ""))
            if not 1 <= place <= k <= min(size, MOST_PLACES):
                raise BadQuestion(f"k must be from 1 to {min(size, MOST_PLACES)}: there are {size} values")
    if kind not in ("count", "units") and not domain.declared:
        raise unbounded(kind, expression)
    return Aggregate(kind, expression, rank, place, k)


@dataclass(frozen=True)
class UnboundAggregate:
    """An aggregate of rows that are yet to be named."""

    kind: Kind | Literal["min", "max"]
    of: Of | None = None
    at: Number | None = None
    k: int = 1
    called: str = ""

    @property
    def name(self) -> str:
        """What the answer calls it unless told otherwise."""
        column = self.of if isinstance(self.of, str) else self.of.name if isinstance(self.of, Argument) else None
        return f"{self.called or self.kind}_{column}" if column else self.called or self.kind

    def aggregates(self, name: str, expression: Expression | None) -> list[tuple[str, Aggregate]]:
        """The aggregates of an expression, and what each is called."""
        match self.kind:
            case "top" if self.k > 1:
                first = aggregate("top", expression, k=self.k)
                return [(f"{name}_{i}", replace(first, place=i)) for i in range(1, self.k + 1)]
            case "min" | "max":
                return [(name, aggregate("quantile", expression, self.at))]
        return [(name, aggregate(self.kind, expression, self.at))]


def count(of: Of | None = None) -> UnboundAggregate:
    """How many rows, or how many in which the value is not missing."""
    return UnboundAggregate("count", of)


def units(of: Of | None = None) -> UnboundAggregate:
    """How many different units, or how many that have a value that is not missing."""
    return UnboundAggregate("units", of)


def sum_(of: Of) -> UnboundAggregate:
    """The sum."""
    return UnboundAggregate("sum", of)


def mean(of: Of) -> UnboundAggregate:
    """The mean."""
    return UnboundAggregate("mean", of)


def variance(of: Of) -> UnboundAggregate:
    """The variance of the population."""
    return UnboundAggregate("variance", of)


def stddev(of: Of) -> UnboundAggregate:
    """The standard deviation of the population."""
    return UnboundAggregate("deviation", of, called="stddev")


def quantile(of: Of, at: Number) -> UnboundAggregate:
    """The value below which a share `at` of the values lies."""
    return UnboundAggregate("quantile", of, at)


def median(of: Of) -> UnboundAggregate:
    """The value in the middle."""
    return UnboundAggregate("quantile", of, Fraction(1, 2), called="median")


def min_(of: Of, at: Number = Fraction(1, 100)) -> UnboundAggregate:
    """Nearly the least value: the quantile at 0.01, as the least itself is one person's.  In `per_unit`, the least."""
    return UnboundAggregate("min", of, at)


def max_(of: Of, at: Number = Fraction(99, 100)) -> UnboundAggregate:
    """Nearly the largest value: the quantile at 0.99.  In `per_unit`, the largest."""
    return UnboundAggregate("max", of, at)


def mode(of: Of) -> UnboundAggregate:
    """The most common value."""
    return UnboundAggregate("top", of, called="mode")


def top(of: Of, k: int) -> UnboundAggregate:
    """The k most common values, in order; the i-th is called top_..._i."""
    return UnboundAggregate("top", of, k=whole("k", k))
