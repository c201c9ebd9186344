"""The aggregate methods of rows and of groups; each returns a new question."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from ...core.errors import BadQuestion
from ...core.parameters import Number, rational, several, whole
from ..relation import build
from ..relation.key_values import MOST_CELLS
from ..select.aggregates import (
    ArgumentLike,
    UnboundAggregate,
    count,
    max_,
    mean,
    median,
    min_,
    mode,
    quantile,
    stddev,
    sum_,
    top,
    units,
    variance,
)
from ..values.nodes import Expression
from .column_expressions import ColumnExpression

if TYPE_CHECKING:
    from .question import Question


class AggregateMethods:
    """Rows, or groups of them."""

    def question(self) -> Question:
        """The question so far."""
        raise NotImplementedError

    def aggregate(self, *wanted: UnboundAggregate, **named: UnboundAggregate) -> Question:
        """Several aggregates at once: aggregate(n=tacit.count(), m=tacit.mean("age"))."""
        asked = self.question()
        if not all(isinstance(each, UnboundAggregate) for each in (*wanted, *named.values())):
            raise BadQuestion("An aggregate must be tacit.count(), tacit.mean(...) or the like.")
        for name, each in (*((each.name, each) for each in wanted), *named.items()):
            of = None if each.of is None else asked.rows.expression(each.of)
            asked = replace(asked, aggregates=(*asked.aggregates, *each.aggregates(name, of)))
        return asked

    def count(self, of: ArgumentLike | None = None) -> Question:
        """The number of rows, or of rows in which the value is not missing."""
        return self.aggregate(count(of))

    def units(self, of: ArgumentLike | None = None) -> Question:
        """The number of units, or of units that have a value that is not missing."""
        return self.aggregate(units(of))

    def sum(self, of: ArgumentLike) -> Question:
        """The sum."""
        return self.aggregate(sum_(of))

    def mean(self, of: ArgumentLike) -> Question:
        """The mean."""
        return self.aggregate(mean(of))

    def variance(self, of: ArgumentLike) -> Question:
        """The variance of the population."""
        return self.aggregate(variance(of))

    def stddev(self, of: ArgumentLike) -> Question:
        """The standard deviation of the population."""
        return self.aggregate(stddev(of))

    def quantile(self, of: ArgumentLike, at: Number) -> Question:
        """The value below which a share `at` of the values lies."""
        return self.aggregate(quantile(of, at))

    def median(self, of: ArgumentLike) -> Question:
        """The median."""
        return self.aggregate(median(of))

    def min(self, of: ArgumentLike, at: Number = Fraction(1, 100)) -> Question:
        """Nearly the least value: the quantile at 0.01, since the least itself is one person's."""
        return self.aggregate(min_(of, at))

    def max(self, of: ArgumentLike, at: Number = Fraction(99, 100)) -> Question:
        """Nearly the largest value: the quantile at 0.99."""
        return self.aggregate(max_(of, at))

    def mode(self, of: ArgumentLike) -> Question:
        """The most common value."""
        return self.aggregate(mode(of))

    def top(self, of: ArgumentLike, k: int) -> Question:
        """The k most common values, in order."""
        return self.aggregate(top(of, k))

    def histogram(self, of: ArgumentLike, bins: int = 10, edges: Iterable[Number] | None = None) -> Question:
        """The number of rows between public edges: by default in at most `bins` of equal width between the bounds.

        A bin has the name of its lower edge and includes it; the last bin includes its upper edge too.
        """
        asked = self.question()
        e = asked.rows.expression(of)
        if e.domain.kind != "number" or (edges is None and not e.domain.declared):
            raise BadQuestion("A histogram needs numbers with declared bounds. Declare bounds, or pass edges=.")
        if edges is None:
            n, low, grid = whole("bins", bins), e.domain.lower * e.domain.grid, e.domain.grid
            span = e.domain.upper * grid - low
            width = max(span / n, grid)
            width = Fraction(math.ceil(width)) if grid == 1 else width  # so that edges are whole, too
            ends = [low + i * width for i in range(min(n, span // width + 1) + 1)]  # none begins beyond the bounds
        else:
            ends = [*several("edges", edges, rational)]
        if not 2 <= len(ends) <= MOST_CELLS or any(a >= b for a, b in pairwise(ends)):
            raise BadQuestion("The edges of a histogram must increase, and there must be at least two.")
        inside = build.between(e, build.constant(ends[0]), build.constant(ends[-1]))
        name = of if isinstance(of, str) else of.name if isinstance(of, ColumnExpression) else None
        return asked.by(name or "bin", ColumnExpression(build.case([(inside, _left(e, ends[:-1]))]))).count()


def _left(e: Expression, edges: Sequence[Fraction]) -> Expression:
    """The last edge not above e, where e is at least the first edge; a balanced tree of comparisons."""
    if len(edges) == 1:
        return build.constant(edges[0])
    middle = len(edges) // 2
    below = build.compare("<", e, build.constant(edges[middle]))
    return build.case([(below, _left(e, edges[:middle]))], _left(e, edges[middle:]))
