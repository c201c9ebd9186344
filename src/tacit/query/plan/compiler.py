r"""The compiler: from the aggregates of a question to the measures of a closed plan, and a recipe for each answer.

    count, units   Rows, Units; where a unit has one row they are the same
    distinct       Values
    sum            Total; what a unit adds is clamped to the schema's `total` of a column, if one is declared
    mean           Rows of its values, and their Total less the middle of the public range, which halves what one row
                   can add; the Total of a SUM of the same question serves too, if it is no more than twice as wide
    variance       these, and the Total of centred squares, again less half of the largest
    quantile       all quantiles of one expression from one Histogram, of at most 2^12 cells of one width
    top            a Histogram over the labels

For sums, means, variances and quantiles, values are clamped to the range that the conditions of the question leave.  It
changes no value and reduces the noise.  Equal measures are taken once, so a question pays for no number twice, and in a
canonical order, so questions that need the same measures have one plan and share answers.  Only public facts are used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from ...core.distance import AddRemove, Distance
from ...core.errors import BadQuestion
from ...storage import canonical, stored_name
from ..relation.condition_ranges import Work
from ..relation.key_values import narrowed
from ..relation.relation import Cohort, Derive, Join, PerUnit, Relation, Scan, Where
from ..schema.schema import Schema
from ..select.aggregates import BAD_RANK
from ..select.output_types import check
from ..select.query import MOST_AGGREGATES, MOST_CANDIDATES, Aggregate, Query
from ..soundness import checks
from ..values.coercion import columns_of
from ..values.domain import ValueDomain, number
from ..values.nodes import Add, Column, Constant, Divide, Expression, Multiply
from .estimators import Recipe, Squares
from .plan import BinCounts, Measure, QueryPlan, RowCount, Total, UnitCount, ValueCount, max_abs

FINEST = 1 << 12  # cells of the histogram behind a quantile
MOST_CELLS = 1 << 24  # of all histograms of a question, in all of its groups
MOST_NUMBERS = 10**7  # counts and sums of a question, in all of its groups
KEYS = -1  # the index of the counts that the selection of keys releases
_WHOLE, _NOTHING = number(0, 1 << 62), Constant(number(0, 0), None)
_WORK = 20_000  # operations to find the range that conditions leave of measured values
ChoiceArguments = tuple[Fraction, ...] | int | None  # quantiles, or how many labels; None where noise is added


@dataclass(frozen=True)
class Compiled:
    """A plan, the recipe of each aggregate, and the choice to make from each measure of the plan."""

    plan: QueryPlan
    recipes: tuple[tuple[str, Recipe], ...]
    choices: tuple[ChoiceArguments, ...]

    @cached_property
    def moves(self) -> tuple[Distance[AddRemove], ...]:
        """The distance that one unit can move each measure and, last, the counts by which keys are selected."""
        measured = (*self.plan.measures, *([UnitCount()] if self.plan.chosen else []))
        return tuple(self.plan.distance(measure) for measure in measured)

    @cached_property
    def nameless(self) -> QueryPlan:
        """The plan without names of keys: with the choices, it determines the work of an engine and of a draw."""
        return replace(self.plan, keys=tuple(replace(key, name="") for key in self.plan.keys))


def plan(query: Query, schemas: Mapping[str, Schema] | None = None) -> QueryPlan:
    """The closed plan of a question; `schemas` are those of its tables, by name."""
    return compiled(query, schemas).plan


def compiled(query: Query, schemas: Mapping[str, Schema] | None = None) -> Compiled:
    """The plan of a question and how to read its answer; a question that is not sound is refused."""
    if len(query.aggregates) > MOST_AGGREGATES:
        raise BadQuestion(f"A question may have at most {MOST_AGGREGATES} aggregates. Ask several questions.")
    checks.check(query)
    check(query)
    return _Compiler(query, schemas or {}).compiled()


class _Compiler:
    def __init__(self, query: Query, schemas: Mapping[str, Schema]) -> None:
        self.query, self.schemas = query, schemas
        self.bare = QueryPlan(query.relation, query.keys, (), query.groups)
        self.measured: list[tuple[Measure, ChoiceArguments]] = []
        aggregates = [a for _, a in query.aggregates]
        self.sums = {a.expression for a in aggregates if a.kind == "sum" and a.expression is not None}
        self.aims: dict[Expression, tuple[Fraction, ...]] = {}
        self.most: dict[Expression, int] = {}
        self.narrow: dict[Expression, Expression] = {}
        self.work = _WORK // max(1, len({a.expression for a in aggregates}))  # the same for each, whatever their order
        for a in aggregates:
            if a.kind == "quantile" and a.expression is not None and a.at is not None:
                if not 0 < a.at < 1:
                    raise BadQuestion(BAD_RANK)
                self.aims[a.expression] = tuple(sorted({*self.aims.get(a.expression, ()), a.at}))
            elif a.kind == "top" and a.expression is not None:
                self.most[a.expression] = max(a.k, a.place, self.most.get(a.expression, 0))

    def compiled(self) -> Compiled:
        if self.query.public and not self.query.outputs:
            raise BadQuestion("A question needs at least one aggregate, such as a count.")
        for _, a in self.query.aggregates:
            self._recipe(a)
        self.measured.sort(key=_rank)  # one plan, whatever the order of the aggregates
        recipes = tuple((name, self._recipe(a)) for name, a in self.query.aggregates)
        measures, choices = tuple(m for m, _ in self.measured), tuple(choice for _, choice in self.measured)
        added = sum(not m.bins for m in measures)
        if (numbers := added * (self.bare.cells or 1)) > MOST_NUMBERS:
            raise BadQuestion(
                f"{added} counts and sums in each of {self.bare.cells} groups are {numbers} numbers; an answer may have"
                f" at most {MOST_NUMBERS}. Group by wider bins, or ask for fewer aggregates at a time."
            )
        bins = sum(m.bins for m in measures)
        if bins * (self.bare.cells or 1) > MOST_CELLS:
            raise BadQuestion(
                f"Quantiles and most common values need {bins} counts in each of {self.bare.cells} groups, more than"
                f" {MOST_CELLS} in all. Group by wider bins, or ask for fewer aggregates at a time."
            )
        return Compiled(QueryPlan(self.query.relation, self.query.keys, measures, self.query.groups), recipes, choices)

    def _place(self, measure: Measure, choice: ChoiceArguments = None) -> int:
        """The index of a measure, with the choice made from it, in the plan."""
        one = self.query.relation.rows == 1
        if isinstance(measure, UnitCount) and one:
            measure = RowCount(measure.expression)
        if self.bare.chosen and measure == (RowCount() if one else UnitCount()):
            return KEYS
        if (measure, choice) not in self.measured:
            self.measured.append((measure, choice))
        return self.measured.index((measure, choice))

    def _recipe(self, a: Aggregate) -> Recipe:
        e = a.expression
        if a.kind in ("count", "units"):
            return Recipe(a.kind, (self._place(RowCount(e) if a.kind == "count" else UnitCount(e)),), _WHOLE)
        if e is None:
            raise BadQuestion(f"A {a.kind} needs a column or an expression.")
        if a.kind == "distinct":
            return Recipe("distinct", (self._place(ValueCount(e)),), _WHOLE)
        d = e.domain
        if a.kind == "top":
            return Recipe("top", (self._place(self._labels(e), self.most[e]),), d, place=a.place - 1)
        if a.kind == "quantile":
            histogram = self._edges(e)
            step, d = histogram.edges[1] - histogram.edges[0], histogram.expression.domain
            place = self.aims[e].index(a.at) if a.at is not None else 0
            at = self._place(histogram, self.aims[e])
            return Recipe("quantile", (at,), d, coarse=step, place=place)
        _summable(a.kind, d)
        x = self._narrowed(e)
        if a.kind == "sum":
            most = self._per_unit(e)
            return Recipe("sum", (self._place(Total(x, most)),), x.domain, per_unit=most)
        count, (total, shift) = self._place(RowCount(e)), self._total(e)
        if a.kind == "mean":
            return Recipe("mean", (count, total), x.domain, shift=shift)
        middle = _middle(x.domain)
        squares = self._place(Total(_squares(x, middle)))
        return Recipe(a.kind, (count, total, squares), x.domain, centre=middle, shift=shift)

    def _narrowed(self, e: Expression) -> Expression:
        if e not in self.narrow:
            self.narrow[e] = narrowed(e, self.query.relation, Work(self.work))
        return self.narrow[e]

    def _total(self, e: Expression) -> tuple[int, int]:
        """The index of the total for the mean of e, and the number of steps subtracted from each value."""
        x = self._narrowed(e)
        d = x.domain
        if e in self.sums and self._per_unit(e) is None and max_abs(d.lower, d.upper) <= d.upper - d.lower:
            return self._place(Total(x)), 0
        middle = _middle(d)
        return self._place(Total(_less(x, middle))), middle

    def _per_unit(self, e: Expression) -> tuple[int, int] | None:
        """The schema's `total`, if e is a column of a table."""
        source = source_column(self.query.relation, e)
        if source is None or source[0] not in self.schemas:
            return None
        return self.schemas[source[0]][source[1]].total

    def _edges(self, e: Expression) -> BinCounts:
        d = e.domain
        if d.kind in ("text", "category") or d.size is None:
            raise BadQuestion("A quantile needs numbers or dates with declared bounds.")
        x = self._narrowed(e)
        d = x.domain
        cells = max(16, min(FINEST, MOST_CELLS // (len(self.aims) * (self.bare.cells or 1))))
        step = -(-(d.upper - d.lower + 1) // cells)
        return BinCounts(x, tuple(range(d.lower, d.upper + step + 1, step)))

    def _labels(self, e: Expression) -> BinCounts:
        d = e.domain
        if d.size is None or d.size > MOST_CANDIDATES:
            raise BadQuestion(
                f"The most common value can be chosen among at most {MOST_CANDIDATES} public values. Bin them."
            )
        if self.most[e] > d.size:
            raise BadQuestion(f"k must be at most {d.size}; the column has {d.size} values.")
        return BinCounts(e, tuple(range(d.lower, d.upper + 2)))


def _rank(measured: tuple[Measure, ChoiceArguments]) -> tuple[str, str]:
    return stored_name(type(measured[0])), canonical(measured)


def _summable(kind: str, d: ValueDomain) -> None:
    if d.kind not in ("number", "boolean"):
        raise BadQuestion(f"A {kind} needs numbers; this is {'text' if d.kind == 'text' else f'a {d.kind}'}.")
    if not d.declared:
        raise BadQuestion(f"A {kind} needs bounds. Put lower and upper in the schema, or CLAMP the values.")


def _middle(d: ValueDomain) -> int:
    return (d.lower + d.upper) // 2


def _less(e: Expression, middle: int) -> Expression:
    """e - middle."""
    if not middle:
        return e
    d = number(e.domain.lower - middle, e.domain.upper - middle, e.domain.grid)
    return Add(d, e, Constant(number(-middle, -middle, e.domain.grid), -middle))


def _squares(e: Expression, centre: int) -> Expression:
    """floor((e - centre) / coarse)^2 - middle."""
    s, y = Squares.of(e.domain, centre), _less(e, centre)
    if s.coarse > 1:
        y = Divide(number(s.low, s.high), y, Constant(number(s.coarse, s.coarse), s.coarse))
    return _less(Multiply(number(0, s.largest), y, y), s.middle)


def read_columns(relation: Relation, e: Expression) -> Iterator[Column]:
    """The columns of tables from which an expression over the rows of a relation is computed.

    A stored question does not list the columns of its tables: there any name may be a column.
    """
    for column in columns_of([e]):
        match relation:
            case Scan() if not relation.known or column.name in relation.columns:
                yield column
            case Where(source=source) | Cohort(source=source):
                yield from read_columns(source, column)
            case Join(left=left, right=right):
                yield from read_columns(left, column)
                yield from read_columns(right, column)
            case Derive(source=source, derived=derived):
                yield from read_columns(source, dict(derived).get(column.name, _NOTHING))
            case PerUnit(source=source, keys=keys, folds=folds):
                yield from read_columns(source, {**dict(keys), **dict(folds)}.get(column.name, _NOTHING))


def source_column(relation: Relation, e: Expression) -> tuple[str, str] | None:
    """The table and the column that an expression names, if it is a plain column of a table."""
    match relation:
        case Scan() if isinstance(e, Column):
            return relation.table, e.name
        case Where() | Cohort():
            return source_column(relation.source, e)
        case Derive() if isinstance(e, Column):
            return source_column(relation.source, dict(relation.derived)[e.name])
    return None
