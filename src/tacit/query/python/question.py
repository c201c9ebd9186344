"""Questions written in Python.

    people.where(people.age >= 18).group_by("region", band=people.age // 10 * 10).mean("spend")

`Rows` are rows that belong to units; each method gives new ones.  Grouped or asked for an aggregate they become a
`Question`, whose `query` is what the same question in SQL means.  Only public facts are used: no data is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from ...core.errors import BadQuestion
from ...core.parameters import flag, whole
from ..relation import build
from ..relation.condition_ranges import Work
from ..relation.key_values import MOST_CELLS
from ..relation.relation import Derive, PerUnit, Relation, Where, scans
from ..select.aggregates import Argument, Of, UnboundAggregate
from ..select.output_types import check
from ..select.outputs import Logic, Output, Released
from ..select.query import Aggregate, Key, Query
from ..values.coercion import Plain, absent
from ..values.column_types import written
from ..values.nodes import Column, Expression
from .aggregate_methods import AggregateMethods
from .column_expressions import ColumnExpression
from .output_expressions import Given, OutputExpression, shown

if TYPE_CHECKING:
    from ..schema.public_table import PublicTable
    from .table_domain import TableDomain

Shown = OutputExpression | Callable[["Question"], OutputExpression]

_CHOSEN = "; or let keys be chosen privately, in Python by group_by(..., private=True)"


class Rows(AggregateMethods):
    """Rows that belong to units.  `rows["age"]` is a column; `rows.age` too, unless a method is called so."""

    relation: Relation
    unit: str | None  # None if each row is a unit
    groups: int | None

    def __getitem__(self, name: str) -> ColumnExpression:
        column = build.column(self.relation, name)
        return ColumnExpression(column, frozenset([column]), name)

    def __getattr__(self, name: str) -> ColumnExpression:
        if name.startswith("_") or name in ("relation", "unit", "groups", "schema", "data"):
            raise AttributeError(name)
        try:
            return self[name]
        except BadQuestion as error:
            methods = [known for known in dir(type(self)) if not known.startswith("_")]
            meant = "".join(f"; do you mean {near}()?" for near in get_close_matches(name, methods, 1, 0.8))
            raise AttributeError(f"{error.reason}{meant}") from None

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *filter(str.isidentifier, self.relation.columns)})

    def expression(self, of: Of | Plain) -> Expression:
        """The expression of a column's name, of a term of these rows, or of a function that gives a term of them."""
        if isinstance(of, str):
            return build.column(self.relation, of)
        term = of(self) if callable(of) else of
        if not isinstance(term, Argument):
            return build.constant(term)
        for column in term.columns:  # what was known of another column of this name need not hold here
            if build.column(self.relation, column.name) != column:
                raise BadQuestion(f"the column {column.name!r} is not that of these rows; take it from them: rows[...]")
        return build.moderate(term.expression)

    def where(self, *conditions: Of) -> Rows:
        """The rows for which all conditions hold."""
        if any(isinstance(condition, bool) for condition in conditions):
            raise BadQuestion('a condition is of a column; one that has the name of a method is rows["name"]')
        kept = [self.expression(condition) for condition in conditions]
        if any(absent(condition) for condition in kept):
            raise BadQuestion("a condition that is missing holds in no row; ask for missing values by .is_missing()")
        if isinstance(self.relation, Where):
            return self._with(Where(self.relation.source, build.and_(self.relation.condition, *kept)))
        return self._with(Where(self.relation, build.and_(*kept)))

    def derive(self, **named: Of | Plain) -> Rows:
        """The rows with more columns, or with columns replaced."""
        kept = {name: build.column(self.relation, name) for name in self.relation.columns}
        new = {_name(name): self.expression(of) for name, of in named.items()}
        return self._with(Derive(self.relation, tuple({**kept, **new}.items())))

    def per_unit(self, *by: str, **folds: UnboundAggregate) -> Rows:
        """One row for each unit (and each value of the columns `by`): counts, sums, least and largest of its rows."""
        keys = tuple((name, build.column(self.relation, name)) for name in by)
        found = []
        for name, wanted in folds.items():
            kind: Any = getattr(wanted, "kind", type(wanted).__name__)
            if kind not in ("count", "sum", "min", "max"):
                raise BadQuestion(f"of the rows of one unit there is a count, sum, min or max; not a {kind}")
            of = None if wanted.of is None else self.expression(wanted.of)
            found.append((_name(name), build.fold(kind, self.relation, of)))
        _different([*by, *folds])
        return self._with(PerUnit(self.relation, keys, tuple(found)))

    def join(self, other: Rows) -> Rows:
        """All pairs of a row of these and a row of others that belong to the same unit.

        A column of the other rows whose name is taken is called by its table and its name: visits_age.
        """
        if not isinstance(other, Rows):
            raise BadQuestion("rows are joined with other rows, of the same units")
        if self.unit is None or other.unit is None:
            raise BadQuestion('rows are joined on their unit, and here each row is a unit (unit = "row")')
        return self._with(build.join(self.relation, other.relation))

    def lookup(self, public: PublicTable, on: str, columns: Sequence[str], key: str | None = None) -> Rows:
        """The rows with columns of a public table, whose column `key` (by default `on`) says which of its rows."""
        from ..schema.public_table import PublicTable

        if not isinstance(public, PublicTable):
            raise BadQuestion("columns are looked up in a tacit.PublicTable")
        if isinstance(columns, str) or not isinstance(columns, Iterable):
            raise BadQuestion("columns of a public table are looked up by a list of their names")
        found = {name: self[on].lookup(public.mapping(on if key is None else key, name)) for name in columns}
        return self.derive(**found)

    def group_by(
        self,
        *names: str | ColumnExpression | Sequence[str | ColumnExpression],
        private: bool = False,
        groups: int | None = None,
        **named: Of,
    ) -> Question:
        """Groups by columns, or by terms with a name: group_by("region", band=people.age // 10 * 10).

        With `private`, keys whose values are not public are chosen privately.

        At most `groups` groups are used of each unit: those of the schema, unless told.
        """
        rows = self if groups is None else self._with(self.relation, whole("groups", groups))
        asked = Question(rows)
        for name, of in (*_columns(names), *named.items()):
            asked = asked.by(name, of, private=private)
        return asked

    def domain(self, *names: str) -> TableDomain:
        """The domain of these columns, for linear queries: each has a public list of values."""
        from .table_domain import domain

        return domain(self, names)

    def question(self) -> Question:
        return Question(self)

    def _with(self, relation: Relation, groups: int | None = None) -> Rows:
        return _Rows(relation, self.unit, groups or self.groups)


@dataclass(frozen=True, repr=False)
class _Rows(Rows):
    relation: Relation
    unit: str | None
    groups: int | None

    def __repr__(self) -> str:
        return f"<rows of {', '.join(scan.table for scan in scans(self.relation))}: {', '.join(self.relation.columns)}>"


@dataclass(frozen=True, repr=False)
class Question(AggregateMethods):
    """What is asked of rows: `query` is its meaning; what is shown of the answer is free."""

    rows: Rows
    keys: tuple[Key, ...] = ()
    aggregates: tuple[tuple[str, Aggregate], ...] = ()
    outputs: tuple[tuple[str, Output], ...] | None = None
    condition: Output | None = None
    order: tuple[tuple[Output, bool], ...] = ()
    most: int | None = None

    def question(self) -> Question:
        return self

    def __repr__(self) -> str:
        asked = ", ".join(name for name, _ in self.aggregates) or "nothing yet"
        by = f" by {', '.join(key.name for key in self.keys)}" if self.keys else ""
        return f"<question: {asked}{by}, of {', '.join(scan.table for scan in scans(self.rows.relation))}>"

    def by(self, name: str, of: Of, private: bool = False) -> Question:
        """Grouped by one more key."""
        e = self.rows.expression(of)
        chosen = flag("private", private) and (e.domain.kind == "text" or not e.domain.declared)
        values = None if chosen else build.keys(e, self.rows.relation, _CHOSEN, Work.of_key(len(self.keys)))
        return replace(self, keys=(*self.keys, Key(_name(name), e, values)))

    def __getitem__(self, name: str) -> OutputExpression:
        known, given = {**self._released, **dict(self.outputs or ())}, str(name)
        if given not in known or given != name:
            raise BadQuestion(f"the answer has no column {given[:40]!r}; it has {', '.join(known)}")
        return OutputExpression(known[name])

    def select(self, *names: str, **named: Shown | Given) -> Question:
        """The columns of the answer: some of them, and what is computed from them."""
        computed = {_name(name): shown(of(self) if callable(of) else of) for name, of in named.items()}
        chosen = {name: self[name].output for name in names}
        _different([*names, *computed])
        return replace(self, outputs=tuple({**chosen, **computed}.items()))

    def having(self, condition: Shown) -> Question:
        """Only the rows of the answer for which a condition on released figures holds."""
        new = shown(condition(self) if callable(condition) else condition)
        return replace(self, condition=new if self.condition is None else Logic("and", self.condition, new))

    def order_by(self, *by: str | Shown) -> Question:
        """The rows of the answer in the order of these columns; "-n" is from the largest n down."""
        order = []
        for each in by:
            down = isinstance(each, str) and each.startswith("-")
            figure = self[each.removeprefix("-")] if isinstance(each, str) else each(self) if callable(each) else each
            if not isinstance(figure, OutputExpression):
                raise BadQuestion("an answer is ordered by its columns, and by what is computed from them")
            order.append((figure.output, down))
        return replace(self, order=(*self.order, *order))

    def limit(self, most: int) -> Question:
        """At most so many rows of the answer."""
        return replace(self, most=whole("limit", most))

    @property
    def _released(self) -> Mapping[str, Output]:
        return {name: Released(name) for name in (*(k.name for k in self.keys), *(n for n, _ in self.aggregates))}

    @property
    def query(self) -> Query:
        """The meaning of the question."""
        if not self.aggregates:
            raise BadQuestion("nothing is asked of the groups; add .count() or another aggregate")
        _different([*(key.name for key in self.keys), *(name for name, _ in self.aggregates)])
        cells = 1
        for key in self.keys:
            cells *= len(key.values or (0,))
        if cells > MOST_CELLS:
            raise BadQuestion(f"{cells} groups are more than {MOST_CELLS}; group by fewer keys or wider bins")
        outputs = self.outputs if self.outputs is not None else tuple(self._released.items())
        groups = self.rows.groups if self.keys else None
        relation = self.rows.relation
        meant = Query(relation, self.keys, self.aggregates, outputs, groups, self.condition, self.order, self.most)
        check(meant)
        return meant


def _columns(names: Iterable[str | ColumnExpression | Sequence[str | ColumnExpression]]) -> Iterator[tuple[str, Of]]:
    """Columns by their names, as themselves, or in lists."""
    for each in names:
        if isinstance(each, list | tuple):
            yield from _columns(each)
        elif isinstance(each, str):
            yield each, each
        elif isinstance(each, ColumnExpression) and isinstance(each.expression, Column):
            yield each.expression.name, each
        else:
            raise BadQuestion(
                "groups are by names of columns, or by terms with names of their own: group_by(name=term)"
            )


def _name(name: str) -> str:
    if not written(name):
        raise BadQuestion("a column is named by 1 to 128 characters without control characters")
    return name


def _different(names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise BadQuestion(f"two columns are called {twice!r}; name one of them otherwise")
