"""Questions that have no rows whatever the data are: LIMIT 0, WHERE 1 = 0.

Programs ask them to learn the names and types of columns.  Public facts answer them, so they are free and read nothing:
each column is a key with a single public value of its type, of which LIMIT 0 shows none.  Aggregates of no rows at all
are one row: a count or a sum is 0, and anything else is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from sqlglot import exp

from ...core.errors import BadQuestion
from ..relation.relation import Derive, Join, PerUnit, Relation, Where
from ..select.aggregates import Argument
from ..select.output_types import OutputType, OutputTypes, of_domain
from ..select.outputs import CaseOutput, Comparison, Output, OutputValue, ReleasedColumn
from ..select.query import Aggregate, Key, Query
from ..values.column_types import BAD_NAME, written
from ..values.domain import BOOLEAN, ValueDomain, category, number
from ..values.nodes import Constant
from .aggregates import AggregateReader, is_aggregate, is_sample, is_truth, sample_of
from .allowlist import only
from .from_clause import From, Scope, alias_of, same
from .outputs import OutputReader
from .subqueries import aggregates, aliased

ZERO = ("count", "units", "distinct", "sum")  # of no rows
MEAN = number(0, 0, Fraction(1, 2))  # a real, which a mean and a variance are


def empty(relation: Relation) -> bool:
    """Whether a relation has no rows whatever the data are: a condition in it is false, or missing, for all of them."""
    match relation:
        case Where(source=source, condition=condition):
            return (isinstance(condition, Constant) and condition.value != 1) or empty(source)
        case Derive(source=source) | PerUnit(source=source):
            return empty(source)
        case Join(left=left, right=right):
            return empty(left) or empty(right)
    return False


class NoRows:
    """Reads the outermost SELECT of such a question; `limited` says that even one row of aggregates is cut off."""

    def __init__(self, source: From, scope: Scope, select: exp.Select, limited: bool) -> None:
        self.source, self.scope, self.select, self.text = source, scope, select, source.text
        self.rows, self.asked = source.rows(scope), AggregateReader(source, scope)
        grouped = select.args.get("group") or select.args.get("distinct")
        self.one = not limited and not grouped and any(map(aggregates, select.expressions))
        self.keys: dict[str, Key] = {}
        self.types: dict[str, OutputType] = {}
        self.shown = OutputReader(self.text, self._column, OutputTypes(self.types, {}))
        self.outputs: dict[str, Output] = {}

    def query(self) -> Query:
        """The names and types of the columns, with no row or with one."""
        for i, item in enumerate(self.select.expressions):
            for name, output in self._shown(i, item):
                if not written(name):
                    raise self.text.bad(item, BAD_NAME)
                if name in self.outputs:
                    raise self.text.bad(item, f"Two columns are called {name[:40]!r}. Rename one of them.")
                self.outputs[name] = output
        having = self.select.args.get("having")
        condition = self.shown.read(having.this) if self.one and having else None
        if condition is not None:
            self.shown.types.condition(condition)
        keys, outputs = tuple(self.keys.values()), tuple(self.outputs.items())
        return Query(self.scope.relation, keys, (), outputs, having=condition, limit=None if self.one else 0)

    def _shown(self, i: int, item: exp.Expr) -> Iterator[tuple[str, Output]]:
        node = item.unalias()
        if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star)):
            yield from self._all(node)
            return
        if not self.one and self.source.is_unit(self.scope, node):
            yield alias_of(item) or node.name, self._key(category(""))
            return
        output = self.shown.read(node)
        name = node.name if isinstance(node, exp.Column) else ""
        if is_aggregate(node) and not is_sample(self.text, node):
            name = self.asked.read(node).name
        yield alias_of(item) or name or f"column_{i + 1}", output

    def _all(self, node: exp.Expr) -> Iterator[tuple[str, Output]]:
        """The columns that * stands for."""
        only(self.text, node, "this", "table")
        if self.one:
            raise self.text.bad(node, "* cannot stand beside an aggregate.")
        table = node.args.get("table")
        for each in self.scope.names:
            if not each.hidden and (table is None or same(table, each.table)):
                yield each.name, self._key(category("") if each.expression is None else each.expression().domain)

    def _column(self, node: exp.Expr) -> Output | None:
        """The column that a node is: an aggregate, or in an answer without rows any value of a row."""
        if is_aggregate(node):
            return self._aggregate(node)
        if isinstance(node, exp.Literal | exp.Boolean | exp.Null):
            return None
        if isinstance(node, exp.Column) and not self.source.knows(self.scope, node):
            meant = aliased(self.select, node)
            if meant is not None:
                return self.shown.read(meant)
        if self.one or aggregates(node):
            return None
        return self._key(self.rows.read(node).domain)

    def _aggregate(self, node: exp.Expr) -> Output:
        node = sample_of(node)[0] if is_sample(self.text, node) else node
        try:
            wanted = self.asked.read(node)
            of = wanted.of.expression if isinstance(wanted.of, Argument) else None
            ((_, first), *others) = wanted.aggregates(wanted.name, of)
        except BadQuestion as error:
            raise error if error.position else self.text.bad(node, error.reason) from None
        if others:
            raise self.text.bad(node, "TOP_K(x, k) gives several columns, which this question cannot show.")
        column = self._key(BOOLEAN if is_truth(node) else _domain(first))
        if first.kind in ZERO:
            return column
        if is_truth(node):
            return Comparison("=", column, OutputValue(None))
        return CaseOutput(OutputValue(False), column, OutputValue(None))

    def _key(self, domain: ValueDomain) -> ReleasedColumn:
        """A key with one value: 0 if it may be."""
        value = min(max(0, domain.lower), domain.upper)
        domain = category("") if domain.kind == "text" else domain
        if domain.kind == "category":
            domain, value = category(domain.labels[0]), 0
        elif domain.kind != "boolean":
            domain = replace(domain, lower=value, upper=value, declared=True)
        name = f"column_{len(self.keys) + 1}"
        self.keys[name], self.types[name] = Key(name, Constant(domain, value), (value,)), of_domain(domain)
        return ReleasedColumn(name)


def _domain(a: Aggregate) -> ValueDomain:
    """The domain of an aggregate's values."""
    if a.expression is None or a.kind in ("count", "units", "distinct"):
        return number(0, 0)
    if a.kind in ("quantile", "top", "sum"):
        return a.expression.domain if a.kind != "sum" else number(0, 0, a.expression.domain.grid)
    return MEAN
