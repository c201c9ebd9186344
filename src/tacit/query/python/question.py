"""Questions written in Python.

    people.where(people.age >= 18).group_by("region", band=people.age // 10 * 10).mean("spend")

`TableRows` belong to units; each method returns new rows.  Grouping rows, or asking for an aggregate, gives a
`Question`, whose `query` equals that of the same question in SQL.  Only public facts are used: no data is read.
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
from ..relation.relation import Cohort, Derive, PerUnit, Relation, Where, scans
from ..select.aggregates import Argument, ArgumentLike, UnboundAggregate
from ..select.output_types import check
from ..select.outputs import Logic, Output, ReleasedColumn
from ..select.query import Aggregate, Key, Query
from ..values.coercion import Plain, absent
from ..values.column_types import BAD_NAME, written
from ..values.nodes import Column, Expression
from .aggregate_methods import AggregateMethods
from .column_expressions import ColumnExpression
from .output_expressions import OutputExpression, OutputLike, shown

if TYPE_CHECKING:
    from ..schema.public_table import PublicTable
    from .table_domain import TableDomain

Shown = OutputExpression | Callable[["Question"], OutputExpression]

_CHOSEN = " Or let keys be selected privately: group_by(..., private=True)."


class TableRows(AggregateMethods):
    """Rows that belong to units.  `rows["age"]` is a column, and so is `rows.age` unless a method has that name."""

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
            meant = "".join(f" Do you mean {near}()?" for near in get_close_matches(name, methods, 1, 0.8))
            raise AttributeError(f"{error.reason}{meant}") from None

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *filter(str.isidentifier, self.relation.columns)})

    def expression(self, of: ArgumentLike | Plain) -> Expression:
        """The expression of a column's name, of a column expression, or of a function of these rows that gives one."""
        if isinstance(of, str):
            return build.column(self.relation, of)
        value = of(self) if callable(of) else of
        if not isinstance(value, Argument):
            return build.constant(value)
        for column in value.columns:  # another column of this name may have another domain
            if build.column(self.relation, column.name) != column:
                raise BadQuestion(f"The column {column.name!r} belongs to other rows. Use rows[...] of these.")
        return build.moderate(value.expression)

    def where(self, *conditions: ArgumentLike) -> TableRows:
        """The rows for which all conditions hold."""
        if any(isinstance(condition, bool) for condition in conditions):
            raise BadQuestion('A condition needs a column. Write rows["name"] if a method has its name.')
        required = [self.expression(condition) for condition in conditions]
        if any(absent(condition) for condition in required):
            raise BadQuestion("A missing condition holds in no row. Use .is_missing() to ask for missing values.")
        if isinstance(self.relation, Where):
            return self._with(Where(self.relation.source, build.and_(self.relation.condition, *required)))
        return self._with(Where(self.relation, build.and_(*required)))

    def derive(self, **named: ArgumentLike | Plain) -> TableRows:
        """The rows with more columns, or with columns replaced."""
        old = {name: build.column(self.relation, name) for name in self.relation.columns}
        new = {_name(name): self.expression(of) for name, of in named.items()}
        return self._with(Derive(self.relation, tuple({**old, **new}.items())))

    def per_unit(self, *by: str, **folds: UnboundAggregate) -> TableRows:
        """One row for each unit (and each value of the columns `by`): counts, sums, least and largest of its rows."""
        keys = tuple((name, build.column(self.relation, name)) for name in by)
        folded = []
        for name, wanted in folds.items():
            kind: Any = getattr(wanted, "kind", type(wanted).__name__)
            if kind not in ("count", "sum", "min", "max"):
                raise BadQuestion(f"per_unit supports count, sum, min and max, not {kind}.")
            of = None if wanted.of is None else self.expression(wanted.of)
            folded.append((_name(name), build.fold(kind, self.relation, of)))
        _different([*by, *folds])
        return self._with(PerUnit(self.relation, keys, tuple(folded)))

    def join(self, other: TableRows) -> TableRows:
        """All pairs of a row of these and a row of `other` that belong to the same unit.

        A column of `other` whose name is taken gets the name of its table as a prefix: visits_age.
        """
        if not isinstance(other, TableRows):
            raise BadQuestion("Rows can be joined only with other rows of the same units.")
        if self.unit is None or other.unit is None:
            raise BadQuestion('Rows are joined on their unit, but here each row is a unit of its own (unit = "row").')
        return self._with(build.join(self.relation, other.relation))

    def of_units(self, members: TableRows, *, inside: bool = True) -> TableRows:
        """The rows of the units that have a row in `members`; or, unless `inside`, of those that have none there."""
        if not isinstance(members, TableRows):
            raise BadQuestion(
                "A cohort is made of other rows of the same units, such as visits.where(visits.cost > 50)."
            )
        if self.unit is None or members.unit is None:
            raise BadQuestion('A cohort is of units, but here each row is a unit of its own (unit = "row").')
        return self._with(Cohort(self.relation, members.relation, flag("inside", inside)))

    def lookup(self, public: PublicTable, on: str, columns: Sequence[str], key: str | None = None) -> TableRows:
        """The rows with columns of a public table, whose column `key` (by default `on`) says which of its rows."""
        from ..schema.public_table import PublicTable

        if not isinstance(public, PublicTable):
            raise BadQuestion("Columns can be looked up only in a tacit.PublicTable.")
        if isinstance(columns, str) or not isinstance(columns, Iterable):
            raise BadQuestion("Pass the columns of a public table as a list of names.")
        looked_up = {name: self[on].lookup(public.mapping(on if key is None else key, name)) for name in columns}
        return self.derive(**looked_up)

    def group_by(
        self,
        *names: str | ColumnExpression | Sequence[str | ColumnExpression],
        private: bool = False,
        groups: int | None = None,
        **named: ArgumentLike,
    ) -> Question:
        """Groups by columns, or by named expressions: group_by("region", band=people.age // 10 * 10).

        With `private`, keys whose values are not public are selected privately.  Each unit counts in at most `groups`
        groups, by default as many as the schema says.
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

    def _with(self, relation: Relation, groups: int | None = None) -> TableRows:
        return _Rows(relation, self.unit, groups or self.groups)


@dataclass(frozen=True, repr=False)
class _Rows(TableRows):
    relation: Relation
    unit: str | None
    groups: int | None

    def __repr__(self) -> str:
        return f"<rows of {', '.join(scan.table for scan in scans(self.relation))}: {', '.join(self.relation.columns)}>"


@dataclass(frozen=True, repr=False)
class Question(AggregateMethods):
    """Keys and aggregates of rows; `query` is the question.  Outputs, order and limits of the answer are free."""

    rows: TableRows
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

    def by(self, name: str, of: ArgumentLike, private: bool = False) -> Question:
        """The question grouped by one more key."""
        e = self.rows.expression(of)
        chosen = flag("private", private) and (e.domain.kind == "text" or not e.domain.declared)
        values = None if chosen else build.keys(e, self.rows.relation, _CHOSEN, Work.of_key(len(self.keys)))
        return replace(self, keys=(*self.keys, Key(_name(name), e, values)))

    def __getitem__(self, name: str) -> OutputExpression:
        columns, given = {**self._released, **dict(self.outputs or ())}, str(name)
        if given not in columns or given != name:
            raise BadQuestion(f"The answer has no column {given[:40]!r}; its columns are {', '.join(columns)}.")
        return OutputExpression(columns[name])

    def select(self, *names: str, **named: Shown | OutputLike) -> Question:
        """The question with these columns in its answer: released columns, and expressions of them."""
        computed = {_name(name): shown(of(self) if callable(of) else of) for name, of in named.items()}
        chosen = {name: self[name].output for name in names}
        _different([*names, *computed])
        return replace(self, outputs=tuple({**chosen, **computed}.items()))

    def having(self, condition: Shown) -> Question:
        """The question with only the rows of its answer for which a condition on released columns holds."""
        new = shown(condition(self) if callable(condition) else condition)
        return replace(self, condition=new if self.condition is None else Logic("and", self.condition, new))

    def order_by(self, *by: str | Shown) -> Question:
        """The question with its answer ordered by these columns; "-n" orders by n, largest first."""
        order = []
        for each in by:
            down = isinstance(each, str) and each.startswith("-")
            figure = self[each.removeprefix("-")] if isinstance(each, str) else each(self) if callable(each) else each
            if not isinstance(figure, OutputExpression):
                raise BadQuestion("An answer can be ordered only by its columns and by expressions of them.")
            order.append((figure.output, down))
        return replace(self, order=(*self.order, *order))

    def limit(self, most: int) -> Question:
        """The question with at most so many rows in its answer."""
        return replace(self, most=whole("limit", most))

    @property
    def _released(self) -> Mapping[str, Output]:
        return {name: ReleasedColumn(name) for name in (*(k.name for k in self.keys), *(n for n, _ in self.aggregates))}

    @property
    def query(self) -> Query:
        """The question as a checked `Query`."""
        if not self.aggregates:
            raise BadQuestion("The question has no aggregate. Add .count() or another one.")
        _different([*(key.name for key in self.keys), *(name for name, _ in self.aggregates)])
        cells = 1
        for key in self.keys:
            cells *= len(key.values or (0,))
        if cells > MOST_CELLS:
            raise BadQuestion(f"A question may have at most {MOST_CELLS} groups, not {cells}. Group by wider bins.")
        outputs = self.outputs if self.outputs is not None else tuple(self._released.items())
        groups = self.rows.groups if self.keys else None
        relation = self.rows.relation
        query = Query(relation, self.keys, self.aggregates, outputs, groups, self.condition, self.order, self.most)
        check(query)
        return query


def _columns(
    names: Iterable[str | ColumnExpression | Sequence[str | ColumnExpression]],
) -> Iterator[tuple[str, ArgumentLike]]:
    """Columns by their names, as themselves, or in lists."""
    for each in names:
        if isinstance(each, list | tuple):
            yield from _columns(each)
        elif isinstance(each, str):
            yield each, each
        elif isinstance(each, ColumnExpression) and isinstance(each.expression, Column):
            yield each.expression.name, each
        else:
            raise BadQuestion("Group by names of columns, or by named expressions: group_by(band=rows.age // 10).")


def _name(name: str) -> str:
    if not written(name):
        raise BadQuestion(BAD_NAME)
    return name


def _different(names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise BadQuestion(f"Two columns are called {twice!r}. Rename one of them.")
