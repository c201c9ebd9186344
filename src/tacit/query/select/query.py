"""A question, as both front ends state it.

    relation     the rows, each of which belongs to a unit
    keys         the expressions by which rows are grouped
    aggregates   the aggregates to release of each group, by name
    outputs      the columns of the answer: keys, aggregates, and arithmetic on them
    having, order, limit, offset    which rows of the answer to show, and in which order
    then         further selections, each on the rows that the one before it left

Only `relation`, `keys`, `aggregates` and `groups` concern the data; the rest is post-processing of the release.  A
question without aggregates whose keys are public concerns no data: the schema answers it.
Two texts with one meaning have equal queries.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from ...storage import stored
from ..relation.relation import Relation
from ..values.domain import Label, ValueDomain
from ..values.nodes import Expression
from .outputs import Output

MOST_AGGREGATES = 300  # of one question
MOST_CANDIDATES = 1 << 12  # public values among which the most common one is chosen

AggregateKind = Literal["count", "units", "distinct", "sum", "mean", "variance", "deviation", "quantile", "top"]


@stored("Key", ("name", "expression", "values"), keep=True)
@dataclass(frozen=True)
class Key:
    """An expression by which rows are grouped; `values` are the steps of its public cells, None if private."""

    name: str
    expression: Expression
    values: tuple[int, ...] | None

    @property
    def domain(self) -> ValueDomain:
        return self.expression.domain

    def labels(self) -> list[Label]:
        """The public values, as a person would write them."""
        return [self.domain.label(step) for step in self.values or ()]


@stored("Aggregate", ("kind", "expression", "at", "place", "k"))
@dataclass(frozen=True)
class Aggregate:
    """An aggregate to release of each group.

    count       of rows, or of values that are there
    units       of different units
    distinct    of different values
    sum, mean, variance, deviation (the square root of the variance; both of the population)
    quantile    at rank `at`
    top         the `place`-th most common value, of the `k` most common; the mode is the first of one
    """

    kind: AggregateKind
    expression: Expression | None = None
    at: Fraction | None = None
    place: int = 1
    k: int = 1


@stored(
    "Selection",
    ("outputs", "where", "distinct", "having", "order", "limit", "offset"),
    optional={"offset": 0},
)
@dataclass(frozen=True)
class Selection:
    """A SELECT on the rows of an answer: columns computed from those of the answer, where a condition holds.

    With `distinct`, one row is left of those in which all these are equal, and of the rows left those for which
    `having` holds.  With () that is one row in all, even if there was none.
    """

    outputs: tuple[tuple[str, Output], ...]
    where: Output | None = None
    distinct: tuple[Output, ...] | None = None
    having: Output | None = None
    order: tuple[tuple[Output, bool], ...] = ()  # the flag says descending
    limit: int | None = None
    offset: int = 0  # rows that are passed over before any is shown


@stored(
    "Query",
    ("relation", "keys", "aggregates", "outputs", "groups", "having", "order", "limit", "then", "offset"),
    optional={"then": (), "offset": 0},
    keep=True,
)
@dataclass(frozen=True)
class Query:
    """A question about one table's people."""

    relation: Relation
    keys: tuple[Key, ...]
    aggregates: tuple[tuple[str, Aggregate], ...]
    outputs: tuple[tuple[str, Output], ...]
    groups: int | None = None
    having: Output | None = None
    order: tuple[tuple[Output, bool], ...] = ()  # the flag says descending
    limit: int | None = None
    then: tuple[Selection, ...] = ()
    offset: int = 0  # rows that are passed over before any is shown

    @property
    def public(self) -> bool:
        """Whether public facts answer the question: it measures nothing, and no key is selected privately."""
        return not self.aggregates and all(key.values is not None for key in self.keys)

    @property
    def selections(self) -> tuple[Selection, ...]:
        """What is made of the released columns, step by step."""
        first = Selection(self.outputs, self.having, None, None, self.order, self.limit, self.offset)
        return first, *self.then

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns of the answer."""
        return tuple(name for name, _ in self.selections[-1].outputs)
