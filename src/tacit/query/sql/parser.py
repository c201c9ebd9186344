"""Questions in SQL.

A parser turns the text into a tree, and only nodes that a reader knows become parts of the `Query`; any other node is
refused with its line, its column and the reason.  No text of the question ever reaches an engine.

    parameters        $1, ? and :name, before anything else
    lexer             tokens and positions
    options           the options of SELECT WITH DIFFERENTIAL_PRIVACY
    allowlist         the clauses that a node may have, and the constants in it
    row_expressions   expressions over one row; dates in `calendar`, labels in `texts`
    from_clause       tables, joins and names
    subqueries        subqueries, which keep the unit
    cohorts           units that have rows elsewhere, or none there
    aggregates        aggregates
    statistics        statistics of pairs, from sums
    outputs           outputs computed from released columns
    windows           functions of several rows of an answer
    selections        a SELECT on the rows of an answer
    no_rows           questions that have no rows whatever the data are, such as LIMIT 0
    functions         every function that is understood

A question without aggregates that public facts answer is free: SELECT DISTINCT region, SELECT 1.

Groups by text, whose values are not public, are selected privately, which needs a delta.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from itertools import count
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.errors import SqlglotError

from ...core.errors import BadQuestion
from ..relation import build
from ..relation.condition_ranges import Work
from ..relation.key_values import MOST_CELLS
from ..select.aggregates import Argument
from ..select.output_types import OutputType, OutputTypes, of_aggregate, of_domain
from ..select.outputs import Arithmetic, Comparison, Function, Output, ReleasedColumn, moderate
from ..select.query import MOST_AGGREGATES, Aggregate, Key, Query
from ..values.column_types import BAD_NAME, written
from ..values.nodes import Column, Expression
from .aggregates import AggregateReader, is_aggregate, is_sample, is_truth, sample_of
from .allowlist import only
from .from_clause import NO_TABLE, Answered, From, Scope, alias_of
from .lexer import UNREADABLE, Text
from .no_rows import NoRows, empty
from .options import Options
from .outputs import ONE, OutputReader
from .selections import WINDOW_IN_CONDITION, limit, named, offset, ordered, selected
from .statistics import DEPENDENT_FIRST, STATISTICS, PairSums
from .subqueries import aliased, grouped, subquery

if TYPE_CHECKING:
    from ..schema.public_table import PublicTable
    from ..schema.schema import Declared

CLAUSES = ("with_", "expressions", "from_", "joins", "where", "group", "having", "order", "limit", "offset", "distinct")


@dataclass(frozen=True)
class Parsed:
    """A question, and the options in its text."""

    query: Query
    options: Options


def parse(
    text: str,
    tables: Mapping[str, Declared],
    public: Mapping[str, PublicTable] | None = None,
    today: date | None = None,
) -> Parsed:
    """The question that SQL text asks, or BadQuestion with the position and the reason.

    CURRENT_DATE in it is `today`, by default the date in UTC: on another day the text is another question.
    """
    try:
        source = Text(text, today)
        tree, options = source.read()
        if not isinstance(tree, exp.Select):
            raise source.bad(
                tree, "A question must be one SELECT; set operations and other statements are not supported."
            )
        return Parsed(_query(From(source, tables, public or {}, subquery), tree, options), options)
    except BadQuestion as error:
        raise error if error.position else BadQuestion(error.reason, (1, 1)) from None
    except RecursionError:
        raise BadQuestion("The question is nested too deeply.", (1, 1)) from None
    except SqlglotError:
        raise BadQuestion(UNREADABLE, (1, 1)) from None


def _query(source: From, select: exp.Select, options: Options) -> Query:
    """The question that a SELECT asks of tables, or the one that it is computed from."""
    looked_up = source.text.looked_up
    try:
        return _Question(source, select, options).query()
    except Answered as found:
        source.text.looked_up = looked_up
        inner, question, alias = source.answered(select, found)
        return selected(source.text, select, alias, _query(inner, question, options))


def is_statistic(node: exp.Expr) -> bool:
    """Whether a node is a statistic of pairs, perhaps of some of the rows."""
    return type(node.this if isinstance(node, exp.Filter) else node) in STATISTICS


class _Question:
    """Reads a SELECT on tables."""

    def __init__(self, source: From, select: exp.Select, options: Options) -> None:
        self.source, self.select, self.options, self.text = source, select, options, source.text
        self.scope = source.read(select) if select.args.get("from_") else self._nowhere()
        if (distinct := select.args.get("distinct")) and distinct.args.get("on"):
            raise self.text.bad(select, "SELECT DISTINCT ON is not supported. Use GROUP BY.")
        only(self.text, select, *CLAUSES)
        self.rows = source.rows(self.scope)
        self.asked = AggregateReader(source, self.scope)
        self.types: dict[str, OutputType] = {}  # of what is released
        self.labels: dict[str, tuple[str, ...]] = {}
        self.shown = OutputReader(self.text, self._released, OutputTypes(self.types, self.labels))
        self.keys: list[Key] = []
        self.aggregates: dict[str, Aggregate] = {}
        self.outputs: dict[str, Output] = {}
        self.aliases: dict[int, Output] = {}  # the output of each alias, by the node that it stands for

    def _nowhere(self) -> Scope:
        """The scope of a SELECT without FROM, which has no columns."""
        if not self.source.tables or any(
            self.select.args.get(clause) for clause in ("with_", "joins", "where", "group")
        ):
            raise self.text.bad(self.select, NO_TABLE)
        return Scope(next(iter(self.source.tables.values())).schema.scan(), (), None)

    def query(self) -> Query:
        """The meaning of the text."""
        self._check_options()
        most = limit(self.text, self.select)
        if empty(self.scope.relation) or most == 0:
            return NoRows(self.source, self.scope, self.select, most == 0).query()
        for node in grouped(self.text, self.select):
            self._group(node)
            cells = math.prod(len(key.values or (0,)) for key in self.keys)
            if cells > MOST_CELLS:
                raise self.text.bad(
                    node,
                    f"A question may have at most {MOST_CELLS} groups, not {cells}. Group by fewer keys or wider bins.",
                )
        for i, item in enumerate(self.select.expressions):
            self._show(i, item)
        having = self.select.args.get("having")
        if having and (window := having.find(exp.Window)):
            raise self.text.bad(window, WINDOW_IN_CONDITION)
        condition = self._output(having.this, condition=True) if having else None
        order = self.select.args.get("order")
        by = ordered(self.text, order, self.outputs, self._output)
        if self.aggregates and not self.select.args.get("from_"):
            raise self.text.bad(self.select, NO_TABLE)
        if not self.aggregates and not self.keys and self.select.args.get("from_"):
            raise self.text.bad(self.select, "The question has no aggregate. Add COUNT(*) or another one.")
        if self.select.args.get("distinct") and not self._distinct():
            raise self.text.bad(self.select, "SELECT DISTINCT must show all keys of its GROUP BY.")
        groups = (self.options.groups or self.scope.groups) if self.keys else None
        aggregates, outputs = tuple(self.aggregates.items()), tuple(self.outputs.items())
        keys, passed = tuple(self.keys), offset(self.text, self.select)
        relation = self.scope.relation
        return Query(relation, keys, aggregates, outputs, groups, condition, by, most, offset=passed)

    def _distinct(self) -> bool:
        """Whether no two rows of the answer are alike, since each shows all keys."""
        return all(ReleasedColumn(key.name) in self.outputs.values() for key in self.keys)

    def _check_options(self) -> None:
        for schema in self.source.used:
            if (unit := self.options.unit) is not None and unit[0].casefold() != (schema.unit or "row").casefold():
                raise BadQuestion(
                    f"privacy_unit_column must be {schema.unit or 'row'}, which the schema of {schema.name} protects.",
                    self.text.place(unit[1]),
                )
            if self.options.rows is not None and self.options.rows < schema.rows:
                raise BadQuestion(
                    f"max_rows_contributed must be at least {schema.rows}, which the schema of {schema.name} sets.",
                    (1, 1),
                )

    def _group(self, node: exp.Expr) -> None:
        meant = None if self.source.knows(self.scope, node) else aliased(self.select, node)
        node = node if meant is None else meant
        if self.source.is_unit(self.scope, node):
            raise self.text.bad(node, "Groups by the unit are single people. Group by the unit in a subquery instead.")
        e = build.moderate(self.rows.read(node))
        if any(key.expression == e for key in self.keys):
            return
        shown = (item for item in self.select.expressions if item.alias and self._value(item.this) == e)
        alias = next(map(alias_of, shown), "")
        name = alias or (e.name if isinstance(e, Column) else node.name if isinstance(node, exp.Column) else "")
        try:
            values = (
                None
                if e.domain.kind == "text"
                else build.keys(e, self.scope.relation, work=Work.of_key(len(self.keys)))
            )
        except BadQuestion as error:
            raise self.text.bad(node, error.reason) from None
        self.keys.append(Key(self._free(node, name or f"key_{len(self.keys) + 1}"), e, values))
        name = self.keys[-1].name
        self.types[name], self.labels[name] = of_domain(e.domain), e.domain.labels

    def _value(self, node: exp.Expr) -> Expression | None:
        """The expression over one row that a part of the question means, if it means one."""
        try:
            return build.moderate(self.rows.read(node))
        except BadQuestion:
            return None

    def _free(self, node: exp.Expr, name: str) -> str:
        """A name that no key or aggregate has yet."""
        if not written(name):
            raise self.text.bad(node, BAD_NAME)
        taken = {key.name for key in self.keys} | self.aggregates.keys()
        return next(found for i in count(1) if (found := name if i == 1 else f"{name}_{i}") not in taken)

    def _show(self, i: int, item: exp.Expr) -> None:
        node, alias = item.unalias(), alias_of(item)
        if is_sample(self.text, node):
            found: list[tuple[str, Output]] = [(alias or f"column_{i + 1}", self._sample(node))]
        elif is_aggregate(node) and not isinstance(node, exp.Window) and not is_statistic(node):
            found = self._asked(node, alias)
        else:
            output = self._output(node)
            name = output.name if isinstance(output, ReleasedColumn) else f"column_{i + 1}"
            found = [(alias or name, output)]
        for name, output in found:
            if not written(name):
                raise self.text.bad(item, BAD_NAME)
            if name in self.outputs:
                raise self.text.bad(item, f"Two columns of the answer are called {name[:40]!r}. Rename one of them.")
            self.outputs[name] = output

    def _sample(self, node: exp.Expr) -> Output:
        """VAR_SAMP and STDDEV_SAMP: the variance of the population times n / (n - 1), for n values."""
        population, number_of, deviation = sample_of(node)
        (_, variance), (_, n) = (self._asked(each)[0] for each in (population, number_of))
        of_sample = Arithmetic("/", Arithmetic("*", variance, n), Arithmetic("-", n, ONE))
        return Function("sqrt", of_sample) if deviation else of_sample

    def _asked(self, node: exp.Expr, alias: str = "") -> list[tuple[str, Output]]:
        """The released columns of an aggregate, and their names; an aggregate that occurs twice is bought once."""
        try:
            wanted = self.asked.read(node)
            of = wanted.of.expression if isinstance(wanted.of, Argument) else None
            pairs = wanted.aggregates(alias or wanted.name, of)
        except BadQuestion as error:
            raise error if error.position else self.text.bad(node, error.reason) from None
        found: list[tuple[str, Output]] = []
        for called, aggregate in pairs:
            name = self._bought(node, called, aggregate)
            column = ReleasedColumn(name)
            found.append((called if alias else name, Comparison("=", column, ONE) if is_truth(node) else column))
        return found

    def _bought(self, node: exp.Expr, called: str, aggregate: Aggregate) -> str:
        """The name of an aggregate, which is bought once."""
        name = next((known for known, other in self.aggregates.items() if other == aggregate), None)
        if name is None:
            name = self._free(node, called)
            self.aggregates[name], self.types[name] = aggregate, of_aggregate(aggregate)
            if len(self.aggregates) > MOST_AGGREGATES:
                raise self.text.bad(
                    node, f"A question may have at most {MOST_AGGREGATES} aggregates. Ask several questions."
                )
        return name

    def _statistic(self, node: exp.Expr) -> Output:
        """A statistic of pairs, from the sums that it needs."""
        kept, inner = None, node
        if isinstance(node, exp.Filter):
            only(self.text, node, "this", "expression")
            kept, inner = self.rows.condition(node.expression.this), node.this
        only(self.text, inner, "this", "expression")
        first, second = self.rows.read(inner.this), self.rows.read(inner.expression)
        x, y = (second, first) if type(inner) in DEPENDENT_FIRST else (first, second)
        try:
            sums = PairSums.of(x, y, kept, lambda called, a: ReleasedColumn(self._bought(node, called, a)))
            return STATISTICS[type(inner)](sums)
        except BadQuestion as error:
            raise error if error.position else self.text.bad(node, error.reason) from None

    def _released(self, node: exp.Expr) -> Output | None:
        """The released column that a part of the question is, if it is one."""
        if isinstance(node, exp.Window):
            return None
        if is_statistic(node):
            return self._statistic(node)
        if is_sample(self.text, node):
            return self._sample(node)
        if is_aggregate(node):
            found = self._asked(node)
            if len(found) > 1:
                raise self.text.bad(node, "TOP_K(x, k) gives several columns and must stand alone in the SELECT.")
            return found[0][1]
        if isinstance(node, exp.Literal | exp.Boolean | exp.Null):
            return None
        value = self._value(node) if self.keys else None
        for key in self.keys:
            if value == key.expression:
                return ReleasedColumn(key.name)
        if isinstance(node, exp.Column) and (known := named(self.outputs, node)) is not None:
            return known
        meant = aliased(self.select, node)
        if meant is None and isinstance(node, exp.Column) and isinstance(node.this, exp.Identifier):
            self._known(node)
        if meant is None or meant is node:
            return None
        if id(meant) not in self.aliases:  # read once: else each alias of an alias would double the time
            self.aliases[id(meant)] = self._output(meant)
        return self.aliases[id(meant)]

    def _known(self, node: exp.Column) -> None:
        """Refuse a name that is neither a column of the rows nor one of the answer."""
        try:
            self.rows.read(node)
        except BadQuestion as error:
            if node.args.get("table") is None and not self.source.knows(self.scope, node) and self.outputs:
                reason = f"{error.reason} The columns of the answer are {', '.join(self.outputs)}."
                raise BadQuestion(reason, error.position) from None
            raise

    def _output(self, node: exp.Expr, condition: bool = False) -> Output:
        try:
            output = self.shown.read(node)
            moderate(output)
            if condition:
                self.shown.types.condition(output)
            return output
        except BadQuestion as error:
            raise error if error.position else self.text.bad(node, error.reason) from None
