"""A question: what both doors, SQL and Python, mean.

    relation     the rows, each of which belongs to a unit
    keys         what they are grouped by
    aggregates   what is to be released of each group, by name
    outputs      the columns of the answer: keys, aggregates, and arithmetic on them
    having, order, limit    what is shown of the answer, and how

Only `relation`, `keys`, `aggregates` and `groups` reach the data; the rest is post-processing of what is released.
Two texts with one meaning have equal queries.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from ...storage import stored
from ..relation.relation import Relation
from ..values.domain import Domain, Label
from ..values.nodes import Expression
from .outputs import Output

MOST_AGGREGATES = 300  # of one question
MOST_CANDIDATES = 1 << 12  # public values among which the most common one is chosen

Kind = Literal["count", "units", "sum", "mean", "variance", "deviation", "quantile", "top"]


@stored("Key", ("name", "expression", "values"), keep=True)
@dataclass(frozen=True)
class Key:
    """What rows are grouped by; `values` are the steps of its public cells, or None where keys are chosen privately."""

    name: str
    expression: Expression
    values: tuple[int, ...] | None

    @property
    def domain(self) -> Domain:
        return self.expression.domain

    def labels(self) -> list[Label]:
        """The public values, as a person would write them."""
        return [self.domain.label(step) for step in self.values or ()]


@stored("Aggregate", ("kind", "expression", "at", "place", "k"))
@dataclass(frozen=True)
class Aggregate:
    """What to release of each group.

    count       of rows, or of values that are there
    units       of different units
    sum, mean, variance, deviation (the square root of the variance; both of the population)
    quantile    at rank `at`
    top         the `place`-th most common value, of the `k` most common; the mode is the first of one
    """

    kind: Kind
    expression: Expression | None = None
    at: Fraction | None = None
    place: int = 1
    k: int = 1


@stored("Query", ("relation", "keys", "aggregates", "outputs", "groups", "having", "order", "limit"))
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
