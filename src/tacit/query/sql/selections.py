"""A SELECT on the rows of an answer: on a subquery, or a common table expression, that is a question of its own.

The inner question is bought as if it were asked alone; the SELECT around it is computed from the released rows.  It may
have conditions, windows, GROUP BY with COUNT, SUM, AVG, MIN and MAX of released rows, DISTINCT, ORDER BY and LIMIT.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction

from sqlglot import exp

from ...core.errors import BadQuestion
from ..relation import build
from ..select.output_types import after, of_query
from ..select.outputs import CaseOutput, Function, Output, OutputValue, ReleasedColumn, Window, moderate
from ..select.query import Query, Selection
from ..values.column_types import BAD_NAME, written
from .allowlist import number, only
from .from_clause import MOST_COLUMNS, MOST_RELATIONS, same
from .lexer import Text
from .outputs import NOTHING, OutputReader
from .subqueries import aliased, grouped
from .windows import FUNCTIONS

CLAUSES = ("with_", "expressions", "from_", "where", "group", "having", "order", "limit", "offset", "distinct")
_OF_ROWS = frozenset((exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max))
WINDOW_IN_CONDITION = (
    "A window cannot stand in WHERE or HAVING. Name it here, put this SELECT in brackets, and filter around it:"
    " SELECT ... FROM (SELECT ...) AS x WHERE ..."
)
_REGROUPED = "Of released rows there are COUNT, SUM, AVG, MIN and MAX. Compute others from the answer."


def selected(text: Text, select: exp.Select, alias: str, inner: Query) -> Query:
    """The question whose answer is this SELECT on the answer of another."""
    only(text, select, *CLAUSES)
    if len(inner.then) >= MOST_RELATIONS:
        raise text.bad(select, f"Subqueries may be nested at most {MOST_RELATIONS} deep.")
    return replace(inner, then=(*inner.then, _Selection(text, select, alias, inner).selection()))


class _Selection:
    def __init__(self, text: Text, select: exp.Select, alias: str, inner: Query) -> None:
        self.text, self.select, self.alias = text, select, alias
        types = of_query(inner)
        for each in inner.selections:
            types = after(each, types)
        self.types, self.names = types, inner.names
        self.columns = OutputReader(text, self._column, types)
        self.keys: tuple[Output, ...] | None = None
        self.outputs: dict[str, Output] = {}
        self.aliases: dict[int, Output] = {}  # the output of each alias, by the node that it stands for

    def selection(self) -> Selection:
        """The meaning of the SELECT."""
        where, having = (self.select.args.get(name) for name in ("where", "having"))
        condition = self._condition(where, self.columns) if where else None
        self._group()
        for i, item in enumerate(self._items()):
            self._show(i, item)
        distinct = self.keys
        if self.select.args.get("distinct"):
            only(self.text, self.select.args["distinct"])
            if distinct is not None:
                raise self.text.bad(self.select, "DISTINCT beside GROUP BY is not supported. Group by fewer keys.")
            distinct = tuple(self.outputs.values())
        kept = self._condition(having, self.shown) if having else None
        by = ordered(self.text, self.select.args.get("order"), self.outputs, self._output)
        most, passed = limit(self.text, self.select), offset(self.text, self.select)
        if most == 0:
            raise self.text.bad(self.select, "LIMIT 0 is free within the subquery alone, so write it there.")
        return Selection(tuple(self.outputs.items()), condition, distinct, kept, by, most, passed)

    def _items(self) -> list[exp.Expr]:
        items = list[exp.Expr]()
        for item in self.select.expressions:
            star = item.this if isinstance(item, exp.Column) else item
            if isinstance(star, exp.Star):
                only(self.text, star)
                if isinstance(item, exp.Column):
                    self._of_this(item)
                items += [exp.column(exp.to_identifier(name, quoted=True)) for name in self.names]
            else:
                items.append(item)
        if len(items) > MOST_COLUMNS:
            raise self.text.bad(self.select, f"A SELECT may have at most {MOST_COLUMNS} columns, not {len(items)}.")
        return items

    def _group(self) -> None:
        """Read the keys of a SELECT that aggregates released rows."""
        self.shown = OutputReader(self.text, self._named, self.types)
        parts = [*self.select.expressions, *filter(None, [self.select.args.get("having")])]
        if self.select.args.get("group") is None and not any(map(_aggregates, parts)):
            if self.select.args.get("having"):
                raise self.text.bad(self.select.args["having"], "HAVING needs a GROUP BY or an aggregate. Use WHERE.")
            return
        keys = dict[Output, None]()
        for node in grouped(self.text, self.select):
            known = isinstance(node, exp.Column) and any(same(node.this, name) for name in self.names)
            meant = None if known else aliased(self.select, node)
            keys[self._checked(self.columns, node if meant is None else meant)] = None
        self.keys = tuple(keys)

    def _show(self, i: int, item: exp.Expr) -> None:
        node = item.unalias()
        name = item.alias or (node.name if isinstance(node, exp.Column) else f"column_{i + 1}")
        name = next((known for known in self.names if not item.alias and same(node.this, known)), name)
        if not written(name):
            raise self.text.bad(item, BAD_NAME)
        if name in self.outputs:
            raise self.text.bad(item, f"Two columns of the answer are called {name[:40]!r}. Rename one of them.")
        self.outputs[name] = self._output(node)

    def _output(self, node: exp.Expr) -> Output:
        return self._checked(self.shown, node)

    def _checked(self, reader: OutputReader, node: exp.Expr) -> Output:
        try:
            output = reader.read(node)
            moderate(output)
            return output
        except BadQuestion as error:
            raise error if error.position else self.text.bad(node, error.reason) from None

    def _condition(self, clause: exp.Expr, reader: OutputReader) -> Output:
        if window := clause.find(exp.Window):
            raise self.text.bad(window, WINDOW_IN_CONDITION)
        condition = self._checked(reader, clause.this)
        try:
            self.types.condition(condition)
        except BadQuestion as error:
            raise self.text.bad(clause, error.reason) from None
        return condition

    def _column(self, node: exp.Expr) -> Output | None:
        """The column of the answer that a node names."""
        if not isinstance(node, exp.Column):
            return None
        self._of_this(node)
        for name in self.names:
            if same(node.this, name):
                return ReleasedColumn(name)
        known = build.names_near(node.name, self.names)
        raise self.text.bad(
            node, f"There is no column {node.name[:40]!r} here; the columns of the subquery are {known}."
        )

    def _of_this(self, node: exp.Column) -> None:
        only(self.text, node, "this", "table")
        if node.args.get("table") is not None and not same(node.args["table"], self.alias):
            raise self.text.bad(node, f"There is no table {node.args['table'].name[:40]!r} here.")

    def _named(self, node: exp.Expr) -> Output | None:
        """The output that a part of the SELECT is: a column, an alias, a key or an aggregate of released rows."""
        if self.keys is not None:
            return self._of_group(node, self.keys)
        if not isinstance(node, exp.Column):
            if isinstance(node, exp.AggFunc | exp.Filter | exp.WithinGroup):
                raise self.text.bad(node, _REGROUPED)
            return None
        return self._alias(node) or self._column(node)

    def _alias(self, node: exp.Column) -> Output | None:
        """The output that an alias stands for, unless it is a column of the answer."""
        meant = None if any(same(node.this, name) for name in self.names) else aliased(self.select, node)
        if meant is None or meant is node:
            return None
        if id(meant) not in self.aliases:  # read once: else each alias of an alias would double the time
            self.aliases[id(meant)] = self._output(meant)
        return self.aliases[id(meant)]

    def _of_group(self, node: exp.Expr, keys: tuple[Output, ...]) -> Output | None:
        if isinstance(node, exp.Window):
            raise self.text.bad(
                node, "A window cannot stand beside GROUP BY here. Put this SELECT in brackets, and OVER around it."
            )
        if isinstance(node, exp.AggFunc | exp.Filter | exp.WithinGroup):
            return self._aggregate(node, keys)
        if isinstance(node, exp.Literal | exp.Boolean | exp.Null):
            return None
        try:
            value = self.columns.read(node)
        except BadQuestion:
            value = None
        if value in keys:
            return value
        if not isinstance(node, exp.Column):
            return None
        if (alias := self._alias(node)) is not None:
            return alias
        self._column(node)
        raise self.text.bad(
            node, f"{node.name[:40]!r} is not a key of this GROUP BY. Sum it, count it, or group by it."
        )

    def _aggregate(self, node: exp.Expr, keys: tuple[Output, ...]) -> Output:
        """An aggregate of released rows: a window over all rows of its group."""
        kept = None
        if isinstance(node, exp.Filter):
            only(self.text, node, "this", "expression")
            kept, node = self._condition(node.expression, self.columns), node.this
        if type(node) not in _OF_ROWS:
            raise self.text.bad(node, _REGROUPED)
        only(self.text, node, "this")
        rows = isinstance(node.this, exp.Star | exp.Literal) and isinstance(node, exp.Count)
        if isinstance(node.this, exp.Distinct):
            raise self.text.bad(node, "Select the DISTINCT values in a subquery, and count its rows.")
        a = None if rows else self._checked(self.columns, node.this)
        if kept is not None:
            a = CaseOutput(kept, OutputValue(Fraction(1)) if a is None else a, NOTHING)
        return Window(FUNCTIONS[type(node)], a, keys)


def _aggregates(node: exp.Expr) -> bool:
    """Whether a part of a SELECT contains an aggregate that is not a window's own function."""
    found = node.find_all(exp.AggFunc, exp.WithinGroup)
    return any(not isinstance(each.parent, exp.Window) or each.arg_key != "this" for each in found)


def ordered(
    text: Text, order: exp.Expr | None, outputs: Mapping[str, Output], read: Callable[[exp.Expr], Output]
) -> tuple[tuple[Output, bool], ...]:
    """What to order by, and whether descending: columns of the answer, by place or name, and other outputs."""
    found = list[tuple[Output, bool]]()
    for node in order.expressions if order is not None else ():
        if not isinstance(node, exp.Ordered):
            raise text.bad(node, "ORDER BY needs columns, with ASC or DESC.")
        only(text, node, "this", "desc", "nulls_first")
        by = _placed(text, node.this, outputs) or named(outputs, node.this) or read(node.this)
        if node.args.get("nulls_first"):
            found.append((Function("is_missing", by), True))
        found.append((by, bool(node.args.get("desc"))))
    return tuple(found)


def _placed(text: Text, by: exp.Expr, outputs: Mapping[str, Output]) -> Output | None:
    """The column of the answer at a place, if a place is given."""
    if not isinstance(by, exp.Literal) or by.is_string:
        return None
    place = number(text, by, "A column to order by")
    if place.denominator != 1 or not 1 <= place <= len(outputs):
        raise text.bad(by, f"ORDER BY needs a column from 1 to {len(outputs)}.")
    return list(outputs.values())[int(place) - 1]


def named(outputs: Mapping[str, Output], node: exp.Expr) -> Output | None:
    """The column of the answer with this name."""
    if not isinstance(node, exp.Column) or node.args.get("table") is not None:
        return None
    return next((output for name, output in outputs.items() if same(node.this, name)), None)


def limit(text: Text, select: exp.Select) -> int | None:
    """The most rows to show."""
    node = select.args.get("limit")
    if node is None:
        return None
    if isinstance(node, exp.Fetch):
        only(text, node, "direction", "count", "limit_options")
        if (how := node.args.get("limit_options")) is not None:
            only(text, how, "rows")
        return _whole(text, node.args["count"], "FETCH") if node.args.get("count") else 1
    if isinstance(node.expression, exp.Null | exp.Column) and node.expression.name.upper() in ("", "ALL"):
        return None
    only(text, node, "expression")
    return _whole(text, node.expression, "LIMIT")


def offset(text: Text, select: exp.Select) -> int:
    """The rows to pass over before any is shown."""
    node = select.args.get("offset")
    return _whole(text, node.expression, "OFFSET") if node else 0


def _whole(text: Text, node: exp.Expr, what: str) -> int:
    rows = number(text, node, what)
    if rows.denominator != 1 or not 0 <= rows <= 1 << 62:
        raise text.bad(node, f"{what} must be a whole number of at least 0.")
    return int(rows)
