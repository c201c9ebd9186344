"""What may be asked of groups of rows: each kind checked against the public domain of what it is asked of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from ...core.errors import BadQuestion
from ...core.parameters import Number, rational, whole
from ..python.column_expressions import Term
from ..relation import build
from ..values.coercion import unbounded
from ..values.nodes import Expression
from .query import MOST_CANDIDATES, Aggregate, Kind

if TYPE_CHECKING:
    from ..python.question import Rows

Of = str | Term | Callable[["Rows"], Term]  # a column by its name, a term, or a function of the rows that gives one

ORDERED = ("number", "date", "timestamp")
MOST_PLACES = 100
_COUNTED = ", or count them: GROUP BY the column, ORDER BY the count DESC, LIMIT k"


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
class Wanted:
    """An aggregate of rows that are yet to be named."""

    kind: Kind | Literal["min", "max"]
    of: Of | None = None
    at: Number | None = None
    k: int = 1
    called: str = ""

    @property
    def name(self) -> str:
        """What the answer calls it unless told otherwise."""
        column = self.of if isinstance(self.of, str) else self.of.name if isinstance(self.of, Term) else None
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


def count(of: Of | None = None) -> Wanted:
    """How many rows, or how many in which the value is not missing."""
    return Wanted("count", of)


def units(of: Of | None = None) -> Wanted:
    """How many different units, or how many that have a value that is not missing."""
    return Wanted("units", of)


def sum_(of: Of) -> Wanted:
    """The sum."""
    return Wanted("sum", of)


def mean(of: Of) -> Wanted:
    """The mean."""
    return Wanted("mean", of)


def variance(of: Of) -> Wanted:
    """The variance of the population."""
    return Wanted("variance", of)


def stddev(of: Of) -> Wanted:
    """The standard deviation of the population."""
    return Wanted("deviation", of, called="stddev")


def quantile(of: Of, at: Number) -> Wanted:
    """The value below which a share `at` of the values lies."""
    return Wanted("quantile", of, at)


def median(of: Of) -> Wanted:
    """The value in the middle."""
    return Wanted("quantile", of, Fraction(1, 2), called="median")


def min_(of: Of, at: Number = Fraction(1, 100)) -> Wanted:
    """Nearly the least value: the quantile at 0.01, as the least itself is one person's.  In `per_unit`, the least."""
    return Wanted("min", of, at)


def max_(of: Of, at: Number = Fraction(99, 100)) -> Wanted:
    """Nearly the largest value: the quantile at 0.99.  In `per_unit`, the largest."""
    return Wanted("max", of, at)


def mode(of: Of) -> Wanted:
    """The most common value."""
    return Wanted("top", of, called="mode")


def top(of: Of, k: int) -> Wanted:
    """The k most common values, in order; the i-th is called top_..._i."""
    return Wanted("top", of, k=whole("k", k))
