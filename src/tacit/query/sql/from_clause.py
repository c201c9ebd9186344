"""The FROM clause: tables, subqueries, common table expressions and joins.

A subquery keeps the unit.  It is a projection or a filter of rows, or is grouped by the unit, and then has one row for
each unit (and further keys) with counts, sums, means, least and largest values of that unit's own rows.  Private tables
are joined on their units; public ones on a key, which is a lookup: an inner join keeps the rows whose key is there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING

from sqlglot import exp

from ...core.errors import BadParameter, BadQuestion
from ..relation import build
from ..relation.relation import Relation, Where
from ..schema.schema import Declared, Schema
from ..values.nodes import Column, Constant, Expression
from .allowlist import only
from .cohorts import cohort, parted
from .lexer import Text
from .row_expressions import RowReader

if TYPE_CHECKING:
    from ..schema.public_table import PublicTable

MOST_RELATIONS = 64
_JOINED = (
    "The rows of an answer cannot be joined. Select from one aggregated subquery alone, or group the subquery by the"
    " unit."
)


class Answered(BadQuestion):
    """A subquery is no relation but a question of its own, with an answer: its rows belong to no unit."""

    @classmethod
    def at(cls, text: Text, node: exp.Expr, reason: str) -> Answered:
        """The reason why the subquery is no relation, at its position."""
        return cls(reason, text.at(node))


NO_TABLE = "A question needs a table: SELECT ... FROM ..."
SCHEMA = "public"  # which a name may have before it, as in PostgreSQL; so may the name of the first table
MOST_COLUMNS = 1000  # that one SELECT writes out


@dataclass(frozen=True)
class Visible:
    """A name in scope, with the table that it belongs to; `expression` is None for the unit.

    A `hidden` name must be qualified: in LEFT JOIN ... USING (name), the one of the right table.
    """

    table: str
    name: str
    expression: Callable[[], Expression] | None
    hidden: bool = False


@dataclass(frozen=True)
class Scope:
    """RowReader, and what names mean on them; `size` counts the relations they are made of."""

    relation: Relation
    names: tuple[Visible, ...]
    groups: int | None
    size: int = 1

    def where(self, condition: Expression) -> Scope:
        if isinstance(condition, Constant) and condition.value == 1:
            return self
        if isinstance(self.relation, Where):
            merged = build.moderate(build.and_(self.relation.condition, condition))
            return replace(self, relation=Where(self.relation.source, merged))
        return replace(self, relation=Where(self.relation, condition))

    def called(self, table: str) -> Scope:
        return replace(self, names=tuple(replace(each, table=table) for each in self.names))


def same(identifier: exp.Expr | None, name: str) -> bool:
    """Whether an identifier means a name: exactly if it is quoted, else in any case.

    PostgreSQL would fold a name without quotes to small letters; here no two names differ in capitals alone, so it may
    also mean the one that has capitals.
    """
    if not isinstance(identifier, exp.Identifier):
        return False
    given = str(identifier.this)
    return given == name if identifier.args.get("quoted") else given.casefold() == name.casefold()


def alias_of(item: exp.Expr) -> str:
    """The name that AS gives, in small letters unless it is quoted, as in PostgreSQL; "" if there is none."""
    alias = item.args.get("alias") if isinstance(item, exp.Alias) else None
    if not isinstance(alias, exp.Identifier):
        return ""
    return str(alias.this) if alias.args.get("quoted") else str(alias.this).lower()


@dataclass
class From:
    """Reads the FROM clauses of one question."""

    text: Text
    tables: Mapping[str, Declared]
    public: Mapping[str, PublicTable]
    subquery: Callable[[From, exp.Select], Scope]
    named: dict[str, Scope] = field(default_factory=dict)  # the common table expressions so far
    used: list[Schema] = field(default_factory=list)  # of all tables that were named
    answers: dict[str, tuple[From, exp.Select, Answered]] = field(default_factory=dict)  # those that are questions

    def read(self, select: exp.Select) -> Scope:
        """The rows of a SELECT: FROM, JOIN and WHERE."""
        if len(select.expressions) > MOST_COLUMNS:
            raise self.text.bad(
                select.expressions[MOST_COLUMNS],
                f"A SELECT may have at most {MOST_COLUMNS} columns, not {len(select.expressions)}.",
            )
        self._read_named(select)
        source = select.args.get("from_")
        if source is None:
            raise self.text.bad(select, NO_TABLE)
        only(self.text, source, "this")
        scope = self._source(source.this)
        for join in select.args.get("joins") or ():
            scope = self._joined(scope, join)
            if scope.size > MOST_RELATIONS:
                raise self.text.bad(join, f"Joins may be nested at most {MOST_RELATIONS} deep.")
        if where := select.args.get("where"):
            plain, cohorts = parted(where.this)
            if not cohorts:
                return scope.where(self.rows(scope).condition(where.this))
            if plain:
                rows = self.rows(scope)
                scope = scope.where(build.moderate(build.and_(*map(rows.condition, plain))))
            for node, inside in cohorts:
                scope = cohort(self, scope, node, inside)
                if scope.size > MOST_RELATIONS:
                    raise self.text.bad(node, f"Subqueries may be nested at most {MOST_RELATIONS} deep.")
        return scope

    def _read_named(self, select: exp.Select) -> None:
        tables = select.args.get("with_")
        if tables is None:
            return
        only(self.text, tables, "expressions")
        self.named, self.answers, here = dict(self.named), dict(self.answers), set[str]()
        for each in tables.expressions:
            only(self.text, each, "this", "alias")
            only(self.text, each.args["alias"], "this")
            if not isinstance(each.this, exp.Select):
                raise self.text.bad(each, "A common table expression must be a SELECT.")
            name = each.alias.casefold()
            if name in here:
                raise self.text.bad(each, f"Two common table expressions are called {each.alias[:40]!r}.")
            before = replace(self)
            self.named.pop(name, None), self.answers.pop(name, None)
            try:
                self.named[name] = self.inner(each.this)
            except Answered as found:
                self.answers[name] = before, each.this, found
            here.add(name)

    def answered(self, select: exp.Select, found: Answered) -> tuple[From, exp.Select, str]:
        """The question that a SELECT is from, as it is read, and its name there; or the refusal that was found."""
        source = select.args.get("from_")
        if joins := select.args.get("joins"):
            raise self.text.bad(joins[0], _JOINED)
        match source.this if source else None:
            case exp.Subquery(this=exp.Select() as inner) as node:
                only(self.text, node, "this", "alias")
                return replace(self), inner, self._alias(node)
            case exp.Table(this=exp.Identifier() as name) as node if name.this.casefold() in self.answers:
                only(self.text, node, "this", "alias")
                before, inner, _ = self.answers[name.this.casefold()]
                return before, inner, self._alias(node) or name.this
        raise found

    def inner(self, select: exp.Select) -> Scope:
        """The rows of a subquery."""
        inner = self.subquery(replace(self), select)
        if inner.size > MOST_RELATIONS:
            raise self.text.bad(select, f"Subqueries may be nested at most {MOST_RELATIONS} deep.")
        return replace(inner, size=inner.size + 1)

    def _source(self, node: exp.Expr) -> Scope:
        match node:
            case exp.Subquery(this=exp.Select() as inner):
                only(self.text, node, "this", "alias")
                return self.inner(inner).called(self._alias(node))
            case exp.Table(this=exp.Identifier() as name):
                self._check_prefix(node)
                only(self.text, node, "this", "alias", "db", "catalog")
                alias = self._alias(node) or name.this
                if node.args.get("db") is None and name.this.casefold() in self.answers:
                    raise self.answers[name.this.casefold()][2]
                if name.this.casefold() in self.named and node.args.get("db") is None:
                    return self.named[name.this.casefold()].called(alias)
                for known, table in self.tables.items():
                    if same(name, known):
                        return self._table(table).called(alias)
                if any(same(name, known) for known in self.public):
                    raise self.text.bad(node, "A public table can only be joined to a private one.")
                known = ", ".join((*self.tables, *self.public))
                raise self.text.bad(node, f"There is no table {name.this[:40]!r}; the tables are {known}.")
        raise self.text.bad(node, "FROM needs a table or a subquery; functions, files and sets are not supported.")

    def _check_prefix(self, node: exp.Expr) -> None:
        """Refuse a schema or a database that is not the one in which all tables are."""
        own = next(iter(self.tables), SCHEMA)
        schema, database = node.args.get("db"), node.args.get("catalog")
        if schema is not None and not any(same(schema, known) for known in (SCHEMA, own)):
            raise self.text.bad(
                node, f"There is no schema {schema.name[:40]!r}; the tables are in {SCHEMA}, as {SCHEMA}.{own}."
            )
        if database is not None and not same(database, own):
            raise self.text.bad(
                node, f"There is no database {database.name[:40]!r} here. Write the table as {SCHEMA}.{own}."
            )

    def _alias(self, node: exp.Expr) -> str:
        alias = node.args.get("alias")
        if alias is None:
            return ""
        only(self.text, alias, "this")
        return str(alias.name)

    def _table(self, table: Declared) -> Scope:
        schema = table.schema
        self.used.append(schema)
        names = [Visible("", schema.unit, None)] if schema.unit is not None else []
        scan = schema.scan()
        return Scope(scan, (*names, *visible(scan)), schema.groups)

    def _joined(self, left: Scope, join: exp.Join) -> Scope:
        if how := str(join.args.get("method") or "").upper():
            raise self.text.bad(join, f"{how} JOIN is not supported. Name the columns: JOIN ... ON, or USING.")
        only(self.text, join, "this", "on", "using", "side", "kind")
        side, kind = (str(join.args.get(name) or "").upper() for name in ("side", "kind"))
        if side not in ("", "LEFT") or kind not in (("", "OUTER") if side else ("", "INNER")):
            raise self.text.bad(
                join, f"{side or kind} JOIN is not supported. Use JOIN, or LEFT JOIN with a public table."
            )
        if isinstance(join.this, exp.Table) and join.this.name.casefold() not in self.named:
            for name, public in self.public.items():
                if same(join.this.this, name):
                    return self._looked_up(left, join, public, keep=side == "LEFT")
        right = self._source(join.this)
        if side:
            raise self.text.bad(join, "Private tables can be joined by JOIN only, not by LEFT JOIN.")
        pair = self._pair(join)
        if not any(self.is_unit(left, a) and self.is_unit(right, b) for a, b in (pair, pair[::-1])):
            raise self.text.bad(join, "Private tables can be joined only on their units.")
        try:
            return paired(left, right)
        except BadQuestion as error:
            raise self.text.bad(join, error.reason) from None

    def _pair(self, join: exp.Join) -> tuple[exp.Column, exp.Column]:
        """The two columns that a join makes equal."""
        using, on = join.args.get("using") or [], join.args.get("on")
        while isinstance(on, exp.Paren):
            on = on.this
        if len(using) == 1 and on is None:
            column = exp.Column(this=using[0])
            return column, column
        if not using and isinstance(on, exp.EQ):
            a, b = on.this, on.expression
            if isinstance(a, exp.Column) and isinstance(b, exp.Column):
                return a, b
        raise self.text.bad(join, "A join needs USING one column, or ON one column = another.")

    def _looked_up(self, left: Scope, join: exp.Join, public: PublicTable, keep: bool) -> Scope:
        only(self.text, join.this, "this", "alias", "db", "catalog")
        self._check_prefix(join.this)
        alias = self._alias(join.this) or join.this.name
        first, second = self._pair(join)
        try:
            names = list(public.columns)
            own = [name for name in names if same(first.this, name)]
            if join.args.get("using") is None:
                first, second = sorted((first, second), key=lambda column: not same(column.args.get("table"), alias))
                qualified = [same(column.args.get("table"), alias) for column in (first, second)]
                own = [name for name in names if qualified == [True, False] and same(first.this, name)]
            if not own:
                raise self.text.bad(
                    join, f"Join a public table ON x = {alias}.key, where key is one of {', '.join(names)}."
                )
            key = own[0]
            a = self._value(left, second)
            tables = {name: public.mapping(key, name) for name in names}
            there = build.lookup(a, dict.fromkeys(tables[key], True))
        except (BadParameter, TypeError) as error:
            reason = (
                error.args[0]
                if isinstance(error, BadParameter)
                else "The key column of a public table must hold plain values."
            )
            raise self.text.bad(join, reason) from None
        except BadQuestion as error:
            raise error if error.position else self.text.bad(join, error.reason) from None
        new = [Visible(alias, name, cache(partial(build.lookup, a, tables[name]))) for name in names]
        if join.args.get("using") is not None:
            merged = {"hidden": True} if keep else {"expression": lambda: a}
            new = [replace(each, **merged) if each.name == key else each for each in new]
        joined = replace(left, names=(*left.names, *new), size=left.size + 1)
        return joined if keep else joined.where(there)

    def rows(self, scope: Scope) -> RowReader:
        """The reader of expressions over the rows of a scope."""
        return RowReader(self.text, lambda column: self._value(scope, column))

    def knows(self, scope: Scope, node: exp.Expr) -> bool:
        """Whether a part of the question is the name of a column in scope."""
        return isinstance(node, exp.Column) and any(same(node.this, each.name) for each in scope.names)

    def is_unit(self, scope: Scope, node: exp.Expr) -> bool:
        """Whether a part of the question names the unit."""
        try:
            return isinstance(node, exp.Column) and self._meaning(scope, node) is None
        except BadQuestion:
            return False

    def _value(self, scope: Scope, column: exp.Column) -> Expression:
        value = self._meaning(scope, column)
        if value is None:
            name = column.name[:40]
            reason = f"{name!r} is the unit of privacy and can only be counted: COUNT(DISTINCT {name})."
            raise self.text.bad(column, reason)
        return value

    def _meaning(self, scope: Scope, column: exp.Column) -> Expression | None:
        only(self.text, column, "this", "table", "db", "catalog")
        self._check_prefix(column)
        table = column.args.get("table")
        named = [each for each in scope.names if same(column.this, each.name)]
        named = [each for each in named if (not each.hidden if table is None else same(table, each.table))]
        meanings = [each.expression and each.expression() for each in named]
        if not meanings:
            raise self.text.bad(column, _missing(scope, column))
        if any(each != meanings[0] for each in meanings[1:]):
            raise self.text.bad(column, f"{column.name[:40]!r} is a column of several tables. Write table.column.")
        return meanings[0]


def _missing(scope: Scope, column: exp.Column) -> str:
    """The reason why a name is not a column: there is no such table or column, or it is text without quotes."""
    name, table = column.name, column.args.get("table")
    tables = dict.fromkeys(each.table for each in scope.names)
    if table is not None and not any(same(table, each) for each in tables):
        return f"There is no table {table.name[:40]!r} here; the tables are {', '.join(tables)}."
    known = build.names_near(name, (each.name for each in scope.names))
    text = any(name in domain.labels for domain in scope.relation.columns.values())
    hint = f" Write text in single quotes: '{name}'." if text else ""
    return f"There is no column {name[:40]!r} here; the columns are {known}.{hint}"


def visible(relation: Relation) -> list[Visible]:
    """The columns of a relation by their names."""

    def column(name: str) -> Callable[[], Expression]:
        return lambda: Column(relation.columns[name], name)

    return [Visible("", name, column(name)) for name in relation.columns]


def paired(left: Scope, right: Scope) -> Scope:
    """All pairs of rows of the same unit, and the names of their columns."""
    relation = build.join(left.relation, right.relation)
    columns = dict(zip(right.relation.columns, visible(relation.right), strict=True))
    names = [
        each if each.expression is None else replace(columns[each.name], table=each.table, name=each.name)
        for each in right.names
    ]
    return Scope(relation, (*left.names, *names), left.groups, left.size + right.size + 1)
