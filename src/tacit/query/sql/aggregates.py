"""The aggregates of SQL.

    COUNT(*), COUNT(x), COUNT(DISTINCT unit), COUNT(DISTINCT x), COUNT_IF(c), SUM, AVG
    VARIANCE, VAR_POP, STDDEV, STDDEV_POP     of the population; VAR_SAMP, STDDEV_SAMP from it and the count, for free
    MEDIAN, QUANTILE(x, q), PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY x)    also PERCENTILE_DISC, APPROX_QUANTILE
    MIN, MAX                                  the quantiles at 1% and 99%: the extremes themselves are one person's
    BOOL_AND, EVERY, BOOL_OR                  likewise: whether at least 99%, or more than 1%, of all values are true
    MODE(x), TOP_K(x, k), APPROX_TOP_K(x, k)  k > 1 gives k columns

FILTER (WHERE c) uses only the values where c holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sqlglot import exp

from ..relation import build
from ..select.aggregates import (
    BAD_RANK,
    MOST_PLACES,
    Argument,
    UnboundAggregate,
    count,
    distinct,
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
from ..values.coercion import kind_of
from ..values.nodes import Column, Expression
from .allowlist import number, only, unsupported
from .from_clause import From, Scope
from .lexer import Text

EVERY = "EVERY"  # which the parser knows by its name alone
SIMPLE: dict[type[exp.Expr], Callable[[Argument], UnboundAggregate]] = {
    exp.Sum: sum_,
    exp.Avg: mean,
    exp.Variance: variance,
    exp.VariancePop: variance,
    exp.Stddev: stddev,
    exp.StddevPop: stddev,
    exp.Median: median,
    exp.Min: min_,
    exp.Max: max_,
    exp.Mode: mode,
}


def is_sample(text: Text, node: exp.Expr) -> bool:
    """Whether an aggregate is VAR_SAMP or STDDEV_SAMP, which the parser takes for VARIANCE and STDDEV."""
    inner = node.this if isinstance(node, exp.Filter) else node
    of_sample = isinstance(inner, exp.Variance | exp.Stddev) and text.word(inner).strip('"`').endswith("_SAMP")
    return of_sample or isinstance(inner, exp.StddevSamp)


def sample_of(node: exp.Expr) -> tuple[exp.Expr, exp.Expr, bool]:
    """The variance of the population and the count of the same values, and whether its root is asked for."""
    inner = node.this if isinstance(node, exp.Filter) else node
    made = []
    for kind in (exp.VariancePop, exp.Count):
        each: exp.Expr = kind(this=inner.this.copy())
        made.append(exp.Filter(this=each, expression=node.expression.copy()) if node is not inner else each)
    return made[0], made[1], not isinstance(inner, exp.Variance)


def is_truth(node: exp.Expr) -> bool:
    """Whether an aggregate is true or false: 1 or 0, as it is released."""
    while isinstance(node, exp.Filter):
        node = node.this
    every = isinstance(node, exp.Anonymous) and str(node.this).upper() == EVERY
    return every or isinstance(node, exp.LogicalAnd | exp.LogicalOr)


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a node is an aggregate."""
    if isinstance(node, exp.Anonymous):
        return str(node.this).upper() in (*NAMED, EVERY)
    return isinstance(node, exp.AggFunc | exp.WithinGroup | exp.Filter | exp.Window)


class AggregateReader:
    """Reads the aggregates of one scope."""

    def __init__(self, source: From, scope: Scope) -> None:
        self.source, self.scope, self.text, self.rows = source, scope, source.text, source.rows(scope)

    def read(self, node: exp.Expr, kept: Expression | None = None) -> UnboundAggregate:
        """The aggregate that a node means, of the rows for which `kept` holds."""
        if isinstance(node, exp.Anonymous):
            named = NAMED.get(str(node.this).upper())
            if str(node.this).upper() == EVERY and len(node.expressions) == 1:
                return self._all_or_any(node.expressions[0], kept)
            if named is not None and len(node.expressions) == 2:
                of, parameter = node.expressions
                return named(self, of, parameter, kept)
        elif type(node) in READERS:
            return READERS[type(node)](self, node, kept)
        return self._simple(node, kept)

    def _filtered(self, node: exp.Expr, kept: Expression | None) -> UnboundAggregate:
        if kept is not None or not isinstance(node.this, exp.Expr):
            return self._simple(node, kept)
        only(self.text, node, "this", "expression")
        return self.read(node.this, self.rows.condition(node.expression.this))

    def _count_if(self, node: exp.Expr, kept: Expression | None) -> UnboundAggregate:
        only(self.text, node, "this")
        condition = self.rows.condition(node.this)
        return count(_ones(condition if kept is None else build.and_(kept, condition)))

    def _quantile(self, node: exp.Expr, kept: Expression | None) -> UnboundAggregate:
        only(self.text, node, "this", "quantile", "expression")
        rank = node.args.get("quantile") or node.args.get("expression")
        if rank is None:
            raise self.text.bad(node, "Write PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY x), or QUANTILE(x, q).")
        return self._at(node.this, rank, kept)

    def _at(self, of: exp.Expr, rank: exp.Expr, kept: Expression | None) -> UnboundAggregate:
        return quantile(self._of(of, kept), self._rank(rank))

    def _top_k(self, node: exp.Expr, kept: Expression | None) -> UnboundAggregate:
        if not isinstance(node.this, exp.Expr) or not isinstance(node.expression, exp.Expr):
            return self._simple(node, kept)
        only(self.text, node, "this", "expression")
        return self._top(node.this, node.expression, kept)

    def _simple(self, node: exp.Expr, kept: Expression | None) -> UnboundAggregate:
        """An aggregate of one argument and no parameter."""
        written = self.text.word(node).strip('"`')
        if written.endswith("_SAMP") or written == "STDEV":  # which the parser takes for VARIANCE and STDDEV
            of_all = "VAR_POP" if written.startswith("VAR") else "STDDEV_POP"
            raise self.text.bad(node, f"{written} is not supported. Use {of_all}, of the population.")
        if type(node) in SIMPLE and node.this is not None:
            only(self.text, node, "this")
            return SIMPLE[type(node)](self._of(node.this, kept))
        if isinstance(node, exp.Window):
            raise self.text.bad(node, unsupported(self.text, node))
        if isinstance(node, exp.GroupConcat | exp.ArrayAgg | exp.AnyValue):
            raise self.text.bad(node, "This would list values of single rows, which are people's. Count them instead.")
        raise self.text.bad(
            node, f"The aggregate {self.text.word(node)} is not supported. `tacit docs tables` lists those that are."
        )

    def _of(self, node: exp.Expr, kept: Expression | None) -> Argument:
        """The argument of an aggregate, with the name of its column."""
        if isinstance(node, exp.Distinct):
            raise self.text.bad(node, unsupported(self.text, node))
        e = build.moderate(self.rows.read(node))
        name = e.name if isinstance(e, Column) else node.name if isinstance(node, exp.Column) else None
        return Argument(e if kept is None else build.case([(kept, e)]), name=name)

    def _count(self, count_of: exp.Expr, kept: Expression | None) -> UnboundAggregate:
        only(self.text, count_of, "this")
        node = count_of.this
        if isinstance(node, exp.Column) and isinstance(node.this, exp.Star):  # COUNT(p.*)
            node = node.this
        match node:
            case exp.Star() | exp.Literal():
                only(self.text, node, "this")
                return count() if kept is None else count(_ones(kept))
            case exp.Distinct(expressions=[only_one]):
                return self._different(only_one, kept)
            case exp.Distinct():
                raise self.text.bad(node, "Only one value can be counted DISTINCT. Use GROUP BY to count combinations.")
        if self.source.is_unit(self.scope, node):  # every row that is used has one
            return count() if kept is None else count(_ones(kept))
        return count(self._of(node, kept))

    def _different(self, node: exp.Expr, kept: Expression | None) -> UnboundAggregate:
        """The number of different values, or of units."""
        node = node.unnest()
        if self.source.is_unit(self.scope, node):
            return units() if kept is None else units(_ones(kept))
        return distinct(self._of(node, kept))

    def _approximate(self, node: exp.Expr, kept: Expression | None) -> UnboundAggregate:
        only(self.text, node, "this")
        return self._different(node.this, kept)

    def _truth(self, node: exp.Expr, kept: Expression | None) -> UnboundAggregate:
        """BOOL_OR is the maximum of 0 and 1, and BOOL_AND the minimum: quantiles, as the extremes are one person's."""
        only(self.text, node, "this")
        return self._all_or_any(node.this, kept, any_=isinstance(node, exp.LogicalOr))

    def _all_or_any(self, node: exp.Expr, kept: Expression | None, *, any_: bool = False) -> UnboundAggregate:
        of, called = self._of(node, kept), "bool_or" if any_ else "bool_and"
        if of.expression.domain.kind != "boolean":
            raise self.text.bad(node, f"{called.upper()} needs a condition; {kind_of(of.expression)}.")
        numbers = replace(of, expression=build.cast(of.expression, "integer"))
        return replace(max_(numbers) if any_ else min_(numbers), called=called)

    def _ranked(self, node: exp.WithinGroup, kept: Expression | None) -> UnboundAggregate:
        only(self.text, node, "this", "expression")
        order = node.expression
        if not isinstance(order, exp.Order) or len(order.expressions) != 1:
            raise self.text.bad(node, "WITHIN GROUP needs ORDER BY with one value.")
        (by,) = order.expressions
        of = self._of(by.this, kept)
        match node.this:
            case exp.Mode(this=None):
                return mode(of)
            case exp.PercentileCont() | exp.PercentileDisc():
                only(self.text, node.this, "this")
                at = self._rank(node.this.this)
                return quantile(of, 1 - at if by.args.get("desc") else at)
        raise self.text.bad(node, "WITHIN GROUP needs PERCENTILE_CONT, PERCENTILE_DISC or MODE before it.")

    def _rank(self, node: exp.Expr) -> Fraction:
        at = number(self.text, node, "The rank of a quantile")
        if not 0 < at < 1:
            raise self.text.bad(node, BAD_RANK)
        return at

    def _top(self, of: exp.Expr, k: exp.Expr, kept: Expression | None) -> UnboundAggregate:
        places = number(self.text, k, "The k of TOP_K")
        if places.denominator != 1 or not 1 <= places <= MOST_PLACES:
            raise self.text.bad(k, f"The k of TOP_K must be a whole number from 1 to {MOST_PLACES}.")
        return top(self._of(of, kept), int(places))


READERS: dict[type[exp.Expr], Callable[[AggregateReader, Any, Expression | None], UnboundAggregate]] = {
    exp.Filter: AggregateReader._filtered,
    exp.WithinGroup: AggregateReader._ranked,
    exp.Count: AggregateReader._count,
    exp.CountIf: AggregateReader._count_if,
    exp.Quantile: AggregateReader._quantile,
    exp.ApproxQuantile: AggregateReader._quantile,
    exp.PercentileCont: AggregateReader._quantile,
    exp.PercentileDisc: AggregateReader._quantile,
    exp.ApproxTopK: AggregateReader._top_k,
    exp.ApproxDistinct: AggregateReader._approximate,
    exp.LogicalAnd: AggregateReader._truth,
    exp.LogicalOr: AggregateReader._truth,
}
NAMED: dict[str, Callable[[AggregateReader, exp.Expr, exp.Expr, Expression | None], UnboundAggregate]] = {
    "TOP_K": AggregateReader._top,
    "QUANTILE_CONT": AggregateReader._at,
    "QUANTILE_DISC": AggregateReader._at,
}


def _ones(condition: Expression) -> Argument:
    """1 where a condition holds, else missing."""
    return Argument(build.case([(condition, build.constant(1))]))
